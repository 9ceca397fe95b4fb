//===- WarmStartTest.cpp - A new process with a warm cache ----------------===//
//
// Each context here has a kernel cache of its own on one directory, as a process of its own has.
//
//===----------------------------------------------------------------------===//
#include "AnySource.h"
#include "FakeCudaTest.h"
#include "swage/Support/Text.h"

#include <filesystem>
#include <mutex>
#include <sys/stat.h>

using namespace swage;
namespace fs = std::filesystem;

namespace {
const char *const kStatic = "func.func @main(%x: tensor<64x768xf32>) -> tensor<64x768xf32> {\n"
                            "  %a = math.exp %x : tensor<64x768xf32>\n"
                            "  %y = swage.softmax %a axis 1 : tensor<64x768xf32> -> "
                            "tensor<64x768xf32>\n"
                            "  return %y : tensor<64x768xf32>\n}";
const char *const kDynamic = "func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {\n"
                             "  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> "
                             "tensor<?x?xf16>\n"
                             "  return %y : tensor<?x?xf16>\n}";

class WarmStartTest : public FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    std::string pattern = testing::TempDir() + "swage-warm-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    environment.cacheDir = pattern;
    environment.cacheBase.clear();
    environment.cacheMode = CacheMode::ReadWrite;
  }
  void TearDown() override {
    std::error_code error;
    fs::remove_all(environment.cacheDir, error);
  }

  struct Start {
    ContextStats stats;
    size_t lowerings = 0, hits = 0; ///< by events
    std::string kernels;            ///< what there is to launch, as text
  };

  /// A process that plans for the shapes.
  Start start(const std::string &text, const std::vector<Dims> &shapes) {
    Start result;
    ContextOptions options;
    options.environment = environment;
    options.compiler = std::make_shared<AnySource>();
    std::mutex mutex;
    options.events = [&](const TraceEvent &event) {
      std::lock_guard<std::mutex> lock(mutex);
      result.lowerings += event.kind == TraceEvent::Kind::Lower;
      result.hits += event.kind == TraceEvent::Kind::VariantHit;
    };
    Context context(options);
    auto program = Program::parse(text, {}, context);
    EXPECT_TRUE(program) << program.error().str();
    Device gpu = device();
    auto plan = program->plan(gpu, shapes);
    EXPECT_TRUE(plan) << plan.error().str();
    auto explanation = program->explain(gpu, shapes);
    EXPECT_TRUE(explanation && explanation->hasPlan);
    result.kernels = explanation->str();
    if (inspect)
      inspect(*program, gpu);
    result.stats = context.stats();
    return result;
  }
  Start start() { return start(kStatic, {{64, 768}}); }

  std::vector<std::string> entries() const {
    std::vector<std::string> paths;
    for (const auto &file : fs::directory_iterator(environment.cacheDir))
      paths.push_back(file.path());
    return paths;
  }
  /// The entries of results of passes, or of kernels.
  std::vector<std::string> entries(bool ofPasses) const {
    std::vector<std::string> chosen;
    for (const std::string &path : entries())
      if (auto bytes = readFile(path); bytes && (bytes->find("kind ") != bytes->npos) == ofPasses)
        chosen.push_back(path);
    return chosen;
  }
  static void rewrite(const std::string &path, const std::string &bytes) {
    ASSERT_TRUE(writeFile(path, bytes));
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  }

  Options environment;
  std::function<void(const Program &, const Device &)> inspect;
};
} // namespace

TEST_F(WarmStartTest, RunsNoPass) {
  Start cold = start();
  EXPECT_EQ(cold.lowerings, 1u);
  EXPECT_EQ(cold.stats.cache.variantHits, 0u);
  ASSERT_EQ(entries(/*ofPasses=*/true).size(), 1u);
  struct stat info = {};
  ASSERT_EQ(stat(entries(/*ofPasses=*/true)[0].c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);

  Start warm = start();
  EXPECT_EQ(warm.lowerings, 0u);
  EXPECT_EQ(warm.hits, 1u);
  EXPECT_EQ(warm.stats.variants, 0u);
  EXPECT_EQ(warm.stats.cache.variantHits, 1u);
  EXPECT_EQ(warm.stats.kernelsCompiled, 0u);
  EXPECT_EQ(warm.stats.cache.diskHits, cold.stats.cache.misses);
  EXPECT_EQ(warm.kernels, cold.kernels);
}

TEST_F(WarmStartTest, RunsNoPassForShapesOfTheSameClasses) {
  start(kDynamic, {{64, 768}});
  EXPECT_EQ(entries(/*ofPasses=*/true).size(), 2u); // which guards are worth having is one
  Start warm = start(kDynamic, {{48, 512}});
  EXPECT_EQ(warm.lowerings, 0u);
  EXPECT_EQ(warm.stats.cache.variantHits, 2u);
  // Of another class: the guards are known, the variant is not.
  Start other = start(kDynamic, {{48, 513}});
  EXPECT_EQ(other.lowerings, 1u);
  EXPECT_EQ(other.stats.cache.variantHits, 1u);
}

// What is written must be what the reader's checks let through, whatever the graph.
TEST_F(WarmStartTest, WhateverPassesMakeIsFound) {
  std::vector<std::string> texts = {
      "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
      "  return %x, %x : tensor<4xf32>, tensor<4xf32>\n}",
      "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
      "  %y = math.exp %x : tensor<4xf32>\n"
      "  return %y, %y : tensor<4xf32>, tensor<4xf32>\n}",
      "func.func @main(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {\n"
      "  %y = math.exp %x : tensor<0x8xf32>\n"
      "  return %y : tensor<0x8xf32>\n}",
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
      "  %y = math.exp %x : tensor<f32>\n"
      "  return %y : tensor<f32>\n}"};
  for (const auto &file : fs::directory_iterator(SWAGE_EXAMPLES))
    if (file.path().extension() == ".mlir")
      texts.push_back(*readFile(file.path()));
  EXPECT_GE(texts.size(), 8u);
  for (const std::string &text : texts) {
    auto program = Program::parse(text);
    ASSERT_TRUE(program) << program.error().str();
    std::vector<Dims> shapes;
    for (const TensorType &type : program->inputs()) {
      shapes.push_back(type.shape);
      for (size_t dim = 0; dim < type.shape.size(); ++dim)
        if (type.shape[dim] == TensorType::kDynamic)
          shapes.back()[dim] = dim == 0 && type.shape.size() > 2 ? 2 : 64;
    }
    Start cold = start(text, shapes), warm = start(text, shapes);
    EXPECT_EQ(cold.lowerings, 1u) << text;
    EXPECT_EQ(warm.lowerings, 0u) << text;
    EXPECT_EQ(warm.stats.cache.rejected, 0u) << text;
    EXPECT_EQ(warm.kernels, cold.kernels);
  }
}

TEST_F(WarmStartTest, WhatIsKeptIsFoundForTheSameTextOnly) {
  start();
  EXPECT_EQ(start(std::string("// moved\n") + kStatic, {{64, 768}}).lowerings, 1u);
  EXPECT_EQ(start().lowerings, 0u);
}

TEST_F(WarmStartTest, AMissingKernelIsCompiledWithoutPasses) {
  Start cold = start();
  for (const std::string &path : entries(/*ofPasses=*/false))
    fs::remove(path);
  Start warm = start();
  EXPECT_EQ(warm.lowerings, 0u);
  EXPECT_EQ(warm.stats.kernelsCompiled, cold.stats.kernelsCompiled);
  EXPECT_EQ(warm.kernels, cold.kernels);
  EXPECT_EQ(start().stats.kernelsCompiled, 0u);
}

TEST_F(WarmStartTest, DamageIsAMissAndIsReplaced) {
  Start cold = start();
  std::string path = entries(/*ofPasses=*/true)[0];
  const std::string whole = *readFile(path);
  std::vector<std::string> damaged = {"", whole.substr(0, 60), whole.substr(0, whole.size() / 2),
                                      whole.substr(0, whole.size() - 1)};
  for (size_t at = 0; at < whole.size(); at += whole.size() / 40) {
    damaged.push_back(whole);
    damaged.back()[at] ^= 0x10;
  }
  for (const std::string &bytes : damaged) {
    rewrite(path, bytes);
    Start again = start();
    EXPECT_EQ(again.lowerings, 1u);
    EXPECT_EQ(again.stats.cache.rejected, 1u);
    EXPECT_EQ(again.stats.kernelsCompiled, 0u);
    EXPECT_EQ(again.kernels, cold.kernels);
    EXPECT_EQ(*readFile(path), whole);
  }
}

TEST_F(WarmStartTest, ModesHold) {
  environment.cacheMode = CacheMode::ReadOnly;
  start();
  EXPECT_TRUE(entries().empty());
  environment.cacheMode = CacheMode::ReadWrite;
  start();
  environment.cacheMode = CacheMode::ReadOnly;
  EXPECT_EQ(start().lowerings, 0u);
  environment.cacheMode = CacheMode::Require;
  EXPECT_EQ(start().lowerings, 0u);
  // Passes are no compile: what they made may be gone.
  fs::remove(entries(/*ofPasses=*/true)[0]);
  EXPECT_EQ(start().lowerings, 1u);
  environment.cacheMode = CacheMode::Off;
  EXPECT_EQ(start().lowerings, 1u);
}

TEST_F(WarmStartTest, WhoLooksAtThePassesHasThemRun) {
  start();
  inspect = [](const Program &program, const Device &gpu) {
    auto artifact = program.artifact(gpu, {{64, 768}});
    ASSERT_TRUE(artifact) << artifact.error().str();
    EXPECT_FALSE(artifact->passes.empty());
    EXPECT_FALSE(artifact->kernels.at(0).info.source.empty());
  };
  Start looked = start();
  EXPECT_EQ(looked.hits, 1u);
  EXPECT_EQ(looked.lowerings, 1u);
  inspect = nullptr;

  environment.dump.directory = environment.cacheDir + "-dump";
  EXPECT_EQ(start().lowerings, 1u);
  EXPECT_TRUE(fs::exists(environment.dump.directory + "/01-swage-materialize-results.mlir"));
  fs::remove_all(environment.dump.directory);
  environment.dump.directory.clear();
  environment.overrides = {{"nothing_*", "/nonexistent"}};
  EXPECT_EQ(start().lowerings, 1u);
}

TEST_F(WarmStartTest, ABundleOfWhatWasFoundIsTheSame) {
  std::string first = environment.cacheDir + ".first", second = environment.cacheDir + ".second";
  std::string path = first;
  inspect = [&](const Program &program, const Device &) {
    EXPECT_TRUE(program.save(path, {"sm_90a"}, {{{64, 768}}}));
  };
  start();
  path = second;
  EXPECT_EQ(start().lowerings, 0u);
  EXPECT_EQ(*readFile(first), *readFile(second));
  fs::remove(first);
  fs::remove(second);
}

// How long, for people: the times of a machine that does other things prove nothing.
TEST_F(WarmStartTest, OfGpt2) {
  auto text = readFile(SWAGE_EXAMPLES "/gpt2_block.mlir");
  ASSERT_TRUE(text);
  std::vector<Dims> shapes;
  auto program = Program::parse(*text);
  ASSERT_TRUE(program);
  for (const TensorType &type : program->inputs())
    shapes.push_back(type.shape);
  for (const char *what : {"cold", "warm", "warm"}) {
    auto begin = std::chrono::steady_clock::now();
    Start once = start(*text, shapes);
    std::printf(
        "gpt2_block %s: %.2f ms to the plan, passes %.2f\n", what,
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(),
        once.stats.lowerMilliseconds);
    EXPECT_EQ(once.lowerings, what == std::string("cold"));
  }
}
