//===- KernelProblem.h - Hand-written kernels and what they must compute --===//
//
// A kernel of test/Simt/Kernels says in its comments which problems it is to be run on,
//
//   // run: attention heads=3 queries=200 keys=300 causal=0 grid=2
//   // variant: kHeadDim=128
//
// each for the text as it stands and with the constants of each variant.  This is where the words
// get their meaning: inputs, launch, and a reference in double precision with a bound of the error.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_KERNELPROBLEM_H
#define SWAGE_TEST_LIB_KERNELPROBLEM_H

#include "KernelRun.h"

#include <functional>
#include <map>
#include <optional>

namespace swage::test {

struct Judgement {
  std::string failure; ///< empty: accepted
  double worst = 0;    ///< largest error as a share of its bound
};

struct KernelProblem {
  std::string title; ///< "attention_wgmma kHeadDim=128: attention heads=3 ..."
  KernelRun run;
  double flops = 0; ///< multiplications and additions of matrices, masked or not
  /// Of the buffers after the run.
  std::function<Judgement(const std::vector<std::string> &)> judge;
};

/// "key=value" words.
using Words = std::map<std::string, std::string>;
int64_t number(const Words &words, const std::string &key, int64_t otherwise);

/// The problems of a file, by all of its variants; an error names the line that has no meaning.
Expected<std::vector<KernelProblem>> problemsOf(const std::string &path);
/// One problem: `line` is what follows "run:".
Expected<KernelProblem> makeProblem(const std::string &path, const std::string &text,
                                    const std::string &line, uint64_t seed = 1);
/// The problem of a kernel of test/Templates, which say nothing themselves.
std::optional<KernelProblem> templateProblem(const std::string &kernel, uint64_t seed = 1);
/// The .cu files of a directory, sorted.
std::vector<std::string> kernelFiles(const std::string &directory);

} // namespace swage::test

#endif // SWAGE_TEST_LIB_KERNELPROBLEM_H
