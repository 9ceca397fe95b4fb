//===- Fuzz.h - What the fuzz targets share -------------------------------===//
#ifndef SWAGE_TEST_FUZZ_FUZZ_H
#define SWAGE_TEST_FUZZ_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// Ends the process, which libFuzzer reports together with the input: a promise is broken.
[[noreturn]] inline void fuzzFailure(const char *what, std::string_view details) {
  std::fprintf(stderr, "fuzz: %s\n%.*s\n", what, int(details.size()), details.data());
  std::abort();
}

#endif // SWAGE_TEST_FUZZ_FUZZ_H
