//===- MutationFile.h - Kernels, and bugs to plant in them ------*- C++ -*-===//
//
// The text of mutations.txt:
//
//   kernel Kernels/transpose.cu                  below test/
//     launch blocks=4 threads=256 cluster=1 shared=0
//     in f32 4096                                arguments in order: random numbers,
//     out f32 4096                               poison,
//     zero u32 1                                 zeros;
//     map bf16 in dims=64,128 box=64,64 swizzle=128 [seed=1]
//     value i32 64 f32 0.5 i32 3                 a number or a struct of numbers
//
//   bug missing-barrier                          in the last kernel
//     file templates/swage/collective.cuh        where; the kernel itself unless said
//     = unchanged line                           what is there, as in a diff: it must match once
//     - removed line
//     + added line
//     @                                          another change in the same file
//     expect shared-race [deadlock ...]          how the report may call it
//     line the text of a line                    which lines of the changed file it must name, all
//                                                of them; a statement may go on below; \n
//                                                stands for a line end, and the last line counts
//     launch blocks=2                            another launch than the kernel's
//     only order=forward,async=late              instead of the usual modes
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_SIMT_MUTATIONS_MUTATIONFILE_H
#define SWAGE_TEST_SIMT_MUTATIONS_MUTATIONFILE_H

#include "swage/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace swage::test {

struct MutationArgument {
  enum class Kind { In, Out, Zero, Map, Value } kind = Kind::Value;
  std::string element;
  uint64_t count = 0;
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box;
  unsigned swizzle = 0;
  bool isOutput = false;
  std::string value; ///< bytes
};

struct MutationLaunch {
  unsigned blocks = 1, threads = 32, cluster = 1, shared = 0;
};

struct MutationKernel {
  std::string path; ///< below test/
  MutationLaunch launch;
  std::vector<MutationArgument> arguments;

  std::string name() const; ///< of the file and the kernel
};

struct Mutation {
  size_t kernel = 0;
  std::string name;
  std::string file; ///< "templates/swage/...", or the kernel's path
  struct Change {
    std::string from, to;
  };
  std::vector<Change> changes;
  std::vector<std::string> kinds;
  std::vector<std::string> lines;
  MutationLaunch launch;
  std::string only;
};

struct MutationFile {
  std::vector<MutationKernel> kernels;
  std::vector<Mutation> mutations;
};

unsigned bytesOfElement(std::string_view element);
Expected<MutationFile> parseMutations(const std::string &text);

} // namespace swage::test

#endif // SWAGE_TEST_SIMT_MUTATIONS_MUTATIONFILE_H
