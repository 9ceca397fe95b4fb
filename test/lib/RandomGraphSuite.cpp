//===- RandomGraphSuite.cpp - Random graphs against the reference ---------===//
//
// Everything is compiled first, in many threads; then each graph runs fused and, unless told
// otherwise, unfused, twice with different poisons between guard bands, and every result is judged.
//
//===----------------------------------------------------------------------===//
#include "RandomGraphSuite.h"

#include "CompilePool.h"
#include "GuardedRun.h"
#include "RandomGraph.h"

#include "swage/JIT/ProgramIR.h"
#include "swage/Reference/Acceptance.h"
#include "swage/Reference/Interpreter.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::test;

namespace {
struct Case {
  uint64_t seed = 0;
  RandomGraph graph;
  std::optional<Program> program;
  std::optional<Executable> executables[2]; ///< fused, unfused: the second may be missing
  std::string failure;                      ///< of compiling
};

/// Mean errors over all dense results, each result's as a share of the larger of its two, so that a
/// result of few or of coarse elements counts as much as any other.
struct Errors {
  double fused = 0, unfused = 0;
};

class Suite {
public:
  Suite(const Device &device, const RandomGraphOptions &options)
      : device(device), options(options) {}
  /// Empty, or what failed.
  std::string run(const Case &test);

  Errors errors;
  size_t kernels[2] = {0, 0};
  int64_t invalid = 0;

private:
  std::string runFamily(const Case &test, reference::InputFamily family, bool isGate);

  const Device &device;
  const RandomGraphOptions &options;
};
} // namespace

static void compileOne(Case &test, const std::string &arch, const RandomGraphOptions &how,
                       const std::shared_ptr<KernelCache> &cache) {
  ParseOptions parsing;
  parsing.filename = fmt::format("seed{}", test.seed);
  auto program = Program::parse(test.graph.text, parsing);
  if (!program) {
    test.failure = program.error().str();
    return;
  }
  test.program = *program;
  for (int unfused = 0; unfused < 1 + how.unfused; ++unfused) {
    CompileOptions options;
    options.arch = arch;
    options.compiler = how.compiler;
    options.fuse = !unfused;
    options.threads = 1;
    options.cache = cache;
    auto executable = program->compile(options);
    if (!executable) {
      test.failure = (unfused ? "unfused: " : "fused: ") + executable.error().str();
      return;
    }
    // CUDA's sine and cosine of f64 have a table there.
    auto isTurn = [](const std::string &op) {
      return op.rfind("math.sin", 0) == 0 || op.rfind("math.cos", 0) == 0;
    };
    for (const KernelInfo &kernel : executable->kernels())
      if (kernel.binary && kernel.binary->resources.stackFrame != 0 &&
          std::none_of(kernel.ops.begin(), kernel.ops.end(), isTurn))
        test.failure =
            fmt::format("{}: @{} has {} bytes of local memory", unfused ? "unfused" : "fused",
                        kernel.name, kernel.binary->resources.stackFrame);
    test.executables[unfused] = *executable;
  }
}

static void compileAll(std::vector<Case> &cases, const std::string &arch,
                       const RandomGraphOptions &how) {
  compileInPool(cases, how.threads,
                [&](Case &test, auto &cache) { compileOne(test, arch, how, cache); });
}

static std::vector<Case> makeCases(const RandomGraphOptions &options) {
  std::vector<Case> cases(options.count);
  for (uint64_t i = 0; i < options.count; ++i) {
    cases[i].seed = options.begin + i;
    cases[i].graph = makeRandomGraph(options.begin + i);
  }
  return cases;
}

int swage::test::compileRandomGraphs(const std::string &arch, const RandomGraphOptions &options) {
  std::vector<Case> cases = makeCases(options);
  compileAll(cases, arch, options);
  int failed = 0;
  for (const Case &test : cases) {
    if (test.failure.empty())
      continue;
    ++failed;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(test.seed),
                test.failure.c_str());
  }
  std::printf("compile: %d passed, %d failed\n", int(cases.size()) - failed, failed);
  return failed;
}

std::string Suite::runFamily(const Case &test, reference::InputFamily family, bool isGate) {
  std::string familyName = reference::name(family).str();
  std::vector<reference::Tensor> inputs;
  std::vector<Dims> dims;
  for (const InputSpec &spec : inputSpecs(*test.program, test.program->inputs())) {
    auto input = spec.make(family, test.seed, inputs.size());
    if (!input)
      return input.error().str();
    dims.push_back(spec.type.shape);
    inputs.push_back(std::move(*input));
  }
  std::vector<const reference::Tensor *> pointers;
  for (const reference::Tensor &input : inputs)
    pointers.push_back(&input);
  std::vector<double> means[2];
  bool comparable = isGate && !test.graph.exact && options.unfused;
  for (int unfused = 0; unfused < 1 + options.unfused; ++unfused) {
    const Executable &executable = *test.executables[unfused];
    std::string how = fmt::format("{} on {} inputs", unfused ? "unfused" : "fused", familyName);
    auto layout = executable.layout(dims);
    if (!layout)
      return how + ": " + layout.error().str();
    auto plan = executable.plan(device, dims);
    if (!plan)
      return how + ": " + plan.error().str();
    auto actual = options.brief ? runGuarded(device, *plan, *layout, inputs)
                                : runTwice(device, *plan, *layout, inputs);
    if (!actual)
      return how + ": " + actual.error().str();
    DiagnosticCollector diagnostics(test.program->ir()->context);
    reference::EvaluateOptions evaluating;
    evaluating.stored.insert(executable.storedLocations().begin(),
                             executable.storedLocations().end());
    auto expected = reference::evaluate(test.program->ir()->entry, pointers, evaluating);
    if (mlir::failed(expected))
      return how + ": reference: " + diagnostics.errors;
    for (size_t i = 0; i < actual->size(); ++i) {
      reference::AcceptanceOptions judging;
      std::string name = fmt::format("{}, result {}", how, i);
      judging.name = name;
      auto verdict = reference::judge((*actual)[i], (*expected)[i], judging);
      if (verdict.kind == reference::Verdict::Kind::Rejected)
        return verdict.line();
      if (verdict.kind == reference::Verdict::Kind::Invalid) {
        invalid += isGate && !unfused;
        comparable = false;
      }
      if (isGate && test.graph.exact &&
          verdict.statistics.bitEqual + verdict.statistics.nans != verdict.statistics.elements)
        return fmt::format("{}: {} of {} elements are bit-equal; needed: all", name,
                           verdict.statistics.bitEqual, verdict.statistics.elements);
      if (std::isfinite(verdict.statistics.meanErrorUlp))
        means[unfused].push_back(verdict.statistics.meanErrorUlp);
      else
        comparable = false;
    }
  }
  if (comparable) {
    for (auto [fused, unfused] : llvm::zip_equal(means[0], means[1]))
      if (double larger = std::max(fused, unfused); larger > 0) {
        errors.fused += fused / larger;
        errors.unfused += unfused / larger;
      }
  }
  return {};
}

std::string Suite::run(const Case &test) {
  if (!test.failure.empty())
    return test.failure;
  for (int unfused = 0; unfused < 1 + options.unfused; ++unfused)
    kernels[unfused] += test.executables[unfused]->kernels().size();
  using reference::InputFamily;
  InputFamily own = test.graph.exact ? InputFamily::Exact : InputFamily::Dense;
  InputFamily other = test.graph.exact ? InputFamily::Dense : InputFamily::Exact;
  std::string failure = runFamily(test, own, true);
  return failure.empty() && !options.brief ? runFamily(test, other, false) : failure;
}

int swage::test::runRandomGraphs(const Device &device, const RandomGraphOptions &options) {
  using Clock = std::chrono::steady_clock;
  auto secondsSince = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::vector<Case> cases = makeCases(options);
  Suite suite(device, options);
  auto start = Clock::now();
  compileAll(cases, device.properties().arch, options);
  std::printf("compiled %zu graphs, fused%s, in %.1f s\n", cases.size(),
              options.unfused ? " and unfused" : "", secondsSince(start));
  std::fflush(stdout);
  start = Clock::now();
  int passed = 0, failed = 0, exact = 0;
  for (Case &test : cases) {
    std::string failure = suite.run(test);
    exact += test.graph.exact;
    passed += failure.empty();
    if (!failure.empty()) {
      ++failed;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(test.seed), failure.c_str());
      std::fflush(stdout);
    }
    for (auto &executable : test.executables)
      executable.reset();
  }
  double ratio = suite.errors.unfused > 0 ? suite.errors.fused / suite.errors.unfused : 1;
  std::printf("ran them in %.1f s: %d exact, %zu dense; %zu kernels fused, %zu unfused; %lld "
              "results too weak to judge\n",
              secondsSince(start), exact, cases.size() - size_t(exact), suite.kernels[0],
              suite.kernels[1], static_cast<long long>(suite.invalid));
  if (options.unfused)
    std::printf("mean error fused / unfused: %.4f (needed: at most 1.05)\n", ratio);
  if (ratio > 1.05)
    ++failed;
  std::printf("random graphs on %s: %d passed, %d failed\n", device.properties().name.c_str(),
              passed, failed);
  return failed;
}
