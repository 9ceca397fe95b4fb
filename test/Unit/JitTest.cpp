//===- JitTest.cpp - From text to plans -----------------------------------===//
//
// Kernels are really compiled, for sm_90a; the device is the stand-in driver, which does not look
// into them.
//
//===----------------------------------------------------------------------===//
#include "FakeCudaTest.h"
#include "RecordingCompiler.h"
#include "swage/JIT/CompileKernel.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/JIT/Program.h"
#include "swage/Support/Text.h"

#include <cstring>
#include <filesystem>
#include <thread>

using namespace swage;

namespace {
const char *const kNorm = R"(
func.func @main(%x: tensor<?x768xf32>, %r: tensor<?x768xf32>, %g: tensor<768xf32>)
    -> (tensor<?x768xf32>, tensor<?x768xf32>) {
  %s = arith.addf %x, %r : tensor<?x768xf32>
  %y = swage.rms_norm %s gamma %g axis 1 eps 1.0e-5
      : (tensor<?x768xf32>, tensor<768xf32>) -> tensor<?x768xf32>
  return %s, %y : tensor<?x768xf32>, tensor<?x768xf32>
})";

/// Four kernels without fusion, with a chain of intermediates.
const char *const kChain = R"(
func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %a = math.exp %x : tensor<64x256xf32>
  %b = math.sqrt %a : tensor<64x256xf32>
  %c = math.exp %b : tensor<64x256xf32>
  %d = math.tanh %c : tensor<64x256xf32>
  return %d : tensor<64x256xf32>
})";

class JitTest : public FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    Options options;
    options.cacheMode = CacheMode::Off;
    cache = std::make_shared<KernelCache>(options);
  }
  static bool hasNvrtc() { return bool(Nvrtc::get()); }

  static std::string parseError(const std::string &text, const std::string &entry = "main") {
    ParseOptions options;
    options.filename = "graph.mlir";
    options.entry = entry;
    auto program = Program::parse(text, options);
    return program ? "" : program.error().str();
  }
  Expected<Executable> compile(const std::string &text, CompileOptions options = {}) {
    auto program = Program::parse(text);
    if (!program)
      return program.takeError();
    options.cache = cache;
    return program->compile(options);
  }

  std::shared_ptr<KernelCache> cache;
};

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}
} // namespace

#define NEEDS_NVRTC()                                                                              \
  if (!hasNvrtc())                                                                                 \
  GTEST_SKIP() << Nvrtc::get().error().message

TEST_F(JitTest, ParseErrorsHaveAPlace) {
  std::string error = parseError("func.func @main(%x: tensor<4xf32>) {\n  nonsense\n}");
  expectPart(error, "parse error");
  expectPart(error, "graph.mlir:2:3");
  expectPart(parseError(std::string(100000, '(')), "nested");
}

TEST_F(JitTest, WhatDoesNotVerifyHasAPlace) {
  std::string error = parseError("func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
                                 "  %y = swage.softmax %x axis 5 : tensor<4x8xf32> -> "
                                 "tensor<4x8xf32>\n"
                                 "  return %y : tensor<4x8xf32>\n}");
  expectPart(error, "verify error");
  expectPart(error, "graph.mlir:2:");
}

TEST_F(JitTest, AMissingEntryNamesWhatThereIs) {
  std::string text = "func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "  return %x : tensor<4xf32>\n}";
  expectPart(parseError(text), "there is no function @main; the module has @forward");
  EXPECT_EQ(parseError(text, "forward"), "");
  expectPart(parseError("module {}"), "the module has no functions");
}

TEST_F(JitTest, ArgumentsMustBeTensorsOfKnownTypes) {
  expectPart(parseError("func.func @main(%x: f32) { return }"), "argument 0 of @main has type f32");
  expectPart(parseError("func.func @main(%x: tensor<4xi4>) { return }"),
             "argument 0 of @main has type tensor<4xi4>");
  expectPart(parseError("func.func @main(%x: tensor<*xf32>) { return }"),
             "needed: a ranked tensor");
}

TEST_F(JitTest, AnUnknownArchitectureIsNamed) {
  CompileOptions options;
  options.arch = "sm_42";
  auto executable = compile(kChain, options);
  ASSERT_FALSE(executable);
  expectPart(executable.error().message, "sm_42");
}

TEST_F(JitTest, AnUnwritableDumpIsRefusedAtOnce) {
  CompileOptions options;
  options.environment.dump.directory = "/proc/swage-dump";
  auto executable = compile(kChain, options);
  ASSERT_FALSE(executable);
  expectPart(executable.error().message, "/proc/swage-dump");
  EXPECT_EQ(cache->stats().misses, 0u);
}

TEST_F(JitTest, AFailedCompileLeavesItsDump) {
  NEEDS_NVRTC();
  namespace fs = std::filesystem;
  fs::path folder = testing::TempDir() + "swage-jit-dump-" + std::to_string(getpid());
  fs::create_directories(folder / "templates" / "swage");
  ASSERT_TRUE(writeFile(folder / "templates" / "swage" / "pointwise.cuh", "#error planted\n"));
  CompileOptions options;
  options.environment.dump.directory = folder / "dump";
  options.templateDir = folder / "templates";
  auto executable = compile(kChain, options);
  ASSERT_FALSE(executable);
  const Error &error = executable.error();
  expectPart(error.str(), "planted");
  EXPECT_TRUE(readFile(error.sourcePath)) << error.sourcePath;
  EXPECT_EQ(error.reproduce, "swage-translate --swage-compile-cu " + error.sourcePath +
                                 " --arch=sm_90a --template-dir=" + options.templateDir);
  auto log = readFile(fs::path(error.sourcePath).replace_extension(".log"));
  ASSERT_TRUE(log);
  expectPart(*log, "planted");
  EXPECT_TRUE(fs::exists(folder / "dump" / "01-swage-materialize-results.mlir"));
  fs::remove_all(folder);
}

TEST_F(JitTest, NewShapesCompileNothing) {
  NEEDS_NVRTC();
  auto executable = compile(kNorm);
  ASSERT_TRUE(executable) << executable.error().str();
  uint64_t misses = cache->stats().misses;
  EXPECT_EQ(misses, executable->kernels().size());
  Device gpu = device();
  size_t loads = 0;
  for (int64_t rows : {1, 8192, 777}) {
    auto shapes = executable->shapes({{rows, 768}, {rows, 768}, {768}});
    ASSERT_TRUE(shapes) << shapes.error().str();
    EXPECT_EQ(*shapes, (std::vector<Dims>{{rows, 768}, {rows, 768}}));
    auto plan = executable->plan(gpu, {{rows, 768}, {rows, 768}, {768}});
    ASSERT_TRUE(plan) << plan.error().str();
    EXPECT_EQ(plan->outputs()[0].bytes, uint64_t(rows) * 768 * 4);
    if (loads == 0)
      loads = fake->count("cuLibraryLoadData");
  }
  EXPECT_EQ(cache->stats().misses, misses);
  EXPECT_EQ(fake->count("cuLibraryLoadData"), loads);
}

TEST_F(JitTest, LargeShapesGetWideIndicesOnce) {
  NEEDS_NVRTC();
  auto executable = compile(kNorm);
  ASSERT_TRUE(executable) << executable.error().str();
  auto narrow = executable->layout({{1000, 768}, {1000, 768}, {768}});
  ASSERT_TRUE(narrow) << narrow.error().str();
  EXPECT_EQ(narrow->indexBits, 32);
  uint64_t misses = cache->stats().misses;
  for (int round = 0; round < 2; ++round) {
    auto wide = executable->layout({{4000000, 768}, {4000000, 768}, {768}});
    ASSERT_TRUE(wide) << wide.error().str();
    EXPECT_EQ(wide->indexBits, 64);
    EXPECT_EQ(cache->stats().misses, misses + executable->kernels(64).size());
    EXPECT_EQ(executable->kernels(64)[0].indexBits, 64);
    EXPECT_EQ(executable->kernels()[0].indexBits, 32);
  }
  for (const LaunchInfo &launch : narrow->launches)
    if (!launch.sizes.empty()) {
      int32_t rows = 0;
      std::memcpy(&rows, launch.sizes.data(), sizeof rows);
      EXPECT_EQ(rows, 1000);
    }
}

TEST_F(JitTest, ShapesThatDisagreeAreNamed) {
  NEEDS_NVRTC();
  auto executable = compile(kNorm);
  ASSERT_TRUE(executable) << executable.error().str();
  auto message = [&](const std::vector<Dims> &dims) {
    auto layout = executable->layout(dims);
    return layout ? std::string() : layout.error().message;
  };
  expectPart(message({{4, 768}, {4, 768}}), "the shapes of 2 inputs are given; @main has 3");
  expectPart(message({{4, 768}, {4, 768}, {1, 768}}), "input 2 has 2 dimensions");
  expectPart(message({{4, 700}, {4, 768}, {768}}),
             "input 0 has extent 700 in dimension 1; needed: 768");
  expectPart(message({{4, 768}, {5, 768}, {768}}), "has extent 5 in dimension 0; needed: 4");
  expectPart(message({{-4, 768}, {4, 768}, {768}}), "extent -4");
}

TEST_F(JitTest, NothingIsLaunchedForEmptyTensors) {
  NEEDS_NVRTC();
  auto executable = compile(kNorm);
  ASSERT_TRUE(executable) << executable.error().str();
  Device gpu = device();
  auto plan = executable->plan(gpu, {{0, 768}, {0, 768}, {768}});
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_TRUE(plan->kernels().empty());
  char gamma[768 * 4];
  const void *inputs[] = {nullptr, nullptr, gamma};
  void *outputs[] = {nullptr, nullptr};
  Status launched = plan->launch(nullptr, inputs, outputs);
  EXPECT_TRUE(launched) << launched.error().str();
  EXPECT_TRUE(fake->launches.empty());

  auto empty = compile("func.func @main(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {\n"
                       "  %y = math.exp %x : tensor<0x8xf32>\n  return %y : tensor<0x8xf32>\n}");
  ASSERT_TRUE(empty) << empty.error().str();
  auto layout = empty->layout({{0, 8}});
  ASSERT_TRUE(layout) << layout.error().str();
  for (const LaunchInfo &launch : layout->launches)
    EXPECT_EQ(launch.blocks, 0u);
}

TEST_F(JitTest, WorkspaceIsReused) {
  NEEDS_NVRTC();
  CompileOptions options;
  options.fuse = false;
  auto executable = compile(kChain, options);
  ASSERT_TRUE(executable) << executable.error().str();
  auto layout = executable->layout({{64, 256}});
  ASSERT_TRUE(layout) << layout.error().str();
  ASSERT_EQ(layout->launches.size(), 4u);
  // Three intermediates, each computed in the place of the one before.
  uint64_t bytes = 64 * 256 * 4;
  EXPECT_EQ(layout->workspaceBytes, bytes);
  EXPECT_EQ(layout->workspaceLowerBound, bytes);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(layout->launches[i].outputs[0].offset, 0u);
  EXPECT_EQ(layout->launches[3].outputs[0].kind, BufferKind::Output);
  EXPECT_EQ(executable->storedLocations().size(), 3u);
}

TEST_F(JitTest, OnlyWholeBlocksOfPointwiseKernelsWorkInPlace) {
  NEEDS_NVRTC();
  CompileOptions options;
  options.fuse = false;
  // A softmax reads its rows on several threads.
  auto softmax = compile(R"(
func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %a = math.exp %x : tensor<64x256xf32>
  %b = swage.softmax %a axis 1 : tensor<64x256xf32> -> tensor<64x256xf32>
  %c = math.exp %b : tensor<64x256xf32>
  return %c : tensor<64x256xf32>
})",
                         options);
  ASSERT_TRUE(softmax) << softmax.error().str();
  auto layout = softmax->layout({{64, 256}});
  ASSERT_TRUE(layout) << layout.error().str();
  EXPECT_EQ(layout->workspaceBytes, 2u * 64 * 256 * 4);

  // In a block that is not full, threads read what others write.
  auto chain = compile(R"(
func.func @main(%x: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %a = math.exp %x : tensor<?x256xf32>
  %b = math.sqrt %a : tensor<?x256xf32>
  %c = math.exp %b : tensor<?x256xf32>
  return %c : tensor<?x256xf32>
})",
                       options);
  ASSERT_TRUE(chain) << chain.error().str();
  for (int64_t rows : {64, 63}) {
    auto dynamic = chain->layout({{rows, 256}});
    ASSERT_TRUE(dynamic) << dynamic.error().str();
    EXPECT_EQ(dynamic->workspaceBytes, uint64_t(rows == 64 ? rows : 2 * rows) * 256 * 4);
  }

  // The first value is still needed when the second is computed, and again after.
  auto both = compile(R"(
func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %a = math.exp %x : tensor<64x256xf32>
  %b = math.sqrt %a : tensor<64x256xf32>
  %c = arith.addf %a, %b : tensor<64x256xf32>
  %d = math.exp %c : tensor<64x256xf32>
  return %d : tensor<64x256xf32>
})",
                      options);
  ASSERT_TRUE(both) << both.error().str();
  auto held = both->layout({{64, 256}});
  ASSERT_TRUE(held) << held.error().str();
  EXPECT_EQ(held->workspaceBytes, 2u * 64 * 256 * 4);
}

TEST_F(JitTest, AResultMayBeTheMemoryOfAnArgument) {
  NEEDS_NVRTC();
  const std::string type = "tensor<64x256xf32>";
  auto graph = [&](const std::string &attr, const std::string &body) {
    return compile("func.func @main(%x: " + type + ", %y: " + type + ") -> (" + type + " {" + attr +
                   "}) {\n" + body + "}");
  };
  const std::string add = "  %z = arith.addf %x, %y : " + type + "\n  return %z : " + type + "\n";
  const std::string softmax =
      "  %z = swage.softmax %x axis 1 : " + type + " -> " + type + "\n  return %z : " + type + "\n";
  auto pointer = [](uintptr_t address) { return reinterpret_cast<void *>(address); };
  const void *inputs[] = {pointer(0x100000), pointer(0x200000)};
  void *outputs[] = {pointer(0x200000)};
  Device gpu = device();
  auto stream = gpu.createStream();
  ASSERT_TRUE(stream) << stream.error().str();
  for (bool allowed : {true, false}) {
    auto executable = graph(allowed ? "swage.alias = 1" : "", add);
    ASSERT_TRUE(executable) << executable.error().str();
    auto plan = executable->plan(gpu, {{64, 256}, {64, 256}});
    ASSERT_TRUE(plan) << plan.error().str();
    EXPECT_EQ(bool(plan->launch(stream->handle(), inputs, outputs)), allowed);
  }
  auto error = [&](const std::string &attr, const std::string &body) {
    auto executable = graph(attr, body);
    return executable ? std::string() : executable.error().message;
  };
  expectPart(error("swage.alias = 2", add),
             "result 0 has swage.alias = 2 : i64; needed: the number of one of the 2 arguments");
  const std::string sum = "  %s = arith.addf %x, %y : " + type +
                          "\n  %z = swage.layer_norm %s axis 1 eps 1.0e-5 : (" + type + ") -> " +
                          type + "\n";
  const std::string both = ") -> (" + type + " {swage.alias = 1}, " + type + ") {\n" + sum;
  auto twoResults = [&](const std::string &rest) {
    auto executable = compile("func.func @main(%x: " + type + ", %y: " + type + both + rest +
                              " : " + type + ", " + type + "\n}");
    return executable ? std::string() : executable.error().message;
  };
  EXPECT_EQ(error("swage.alias = 0", softmax), "") << "the row is read before it is written";
  EXPECT_EQ(twoResults("  return %s, %z"), "") << "the sum is written by who read it";
  expectPart(twoResults("  %u = arith.mulf %z, %y : " + type + "\n  return %s, %u"),
             "cannot be the memory of argument 1: kernel @"); // which is read again behind the norm
  expectPart(error("swage.alias = 0", "  %t = swage.reshape %x : " + type +
                                          " -> tensor<256x64xf32>\n  %z = swage.permute %t [1, 0] "
                                          ": tensor<256x64xf32> -> " +
                                          type + "\n  return %z : " + type + "\n"),
             "cannot be the memory of argument 0: kernel @");
  EXPECT_EQ(error("swage.alias = 1", softmax), "") << "the argument is not read";
}

TEST_F(JitTest, ALaunchPassesPointersAndSizes) {
  NEEDS_NVRTC();
  auto executable = compile(kNorm);
  ASSERT_TRUE(executable) << executable.error().str();
  Device gpu = device();
  auto plan = executable->plan(gpu, {{64, 768}, {64, 768}, {768}});
  ASSERT_TRUE(plan) << plan.error().str();
  auto stream = gpu.createStream();
  ASSERT_TRUE(stream) << stream.error().str();
  auto pointer = [](uintptr_t address) { return reinterpret_cast<void *>(address); };
  const void *inputs[] = {pointer(0x100000), pointer(0x200000), pointer(0x300000)};
  void *outputs[] = {pointer(0x400000), pointer(0x500000)};
  Status launched = plan->launch(stream->handle(), inputs, outputs);
  ASSERT_TRUE(launched) << launched.error().str();
  EXPECT_EQ(fake->launches.size(), executable->kernels().size());
  outputs[1] = pointer(0x500004);
  Status misaligned = plan->launch(stream->handle(), inputs, outputs);
  ASSERT_FALSE(misaligned);
  expectPart(misaligned.error().message, "needed: an address divisible by 16");

  CompileOptions options;
  options.alignment = {4};
  auto unaligned = compile(kNorm, options);
  ASSERT_TRUE(unaligned) << unaligned.error().str();
  auto loose = unaligned->plan(gpu, {{64, 768}, {64, 768}, {768}});
  ASSERT_TRUE(loose) << loose.error().str();
  EXPECT_TRUE(loose->launch(stream->handle(), inputs, outputs));
}

TEST_F(JitTest, TheSameTextGivesTheSameSources) {
  NEEDS_NVRTC();
  auto first = compile(kNorm), second = compile(kNorm);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->kernels().size(), second->kernels().size());
  for (size_t i = 0; i < first->kernels().size(); ++i) {
    EXPECT_EQ(first->kernels()[i].name, second->kernels()[i].name);
    EXPECT_EQ(first->kernels()[i].source, second->kernels()[i].source);
    EXPECT_EQ(first->kernels()[i].binary.get(), second->kernels()[i].binary.get());
  }
}

TEST_F(JitTest, CommentsAreNotPartOfTheKey) {
  NEEDS_NVRTC();
  auto first = compile(kChain);
  ASSERT_TRUE(first) << first.error().str();
  uint64_t misses = cache->stats().misses;
  auto second = compile("\n\n" + std::string(kChain));
  ASSERT_TRUE(second) << second.error().str();
  EXPECT_NE(first->kernels()[0].source, second->kernels()[0].source);
  EXPECT_EQ(first->kernels()[0].binary.get(), second->kernels()[0].binary.get());
  EXPECT_EQ(cache->stats().misses, misses);
}

TEST_F(JitTest, PtxIsCachedOnceItWasWanted) {
  NEEDS_NVRTC();
  auto nvrtc = Nvrtc::get();
  ASSERT_TRUE(nvrtc);
  CompileRequest request;
  request.source = "extern \"C\" __global__ void k(int *p) { *p = 1; } // a comment\n";
  request.name = "k.cu";
  request.entry = "k";
  request.arch = "sm_90a";
  auto misses = [&] {
    auto binary = compileKernel(**nvrtc, *cache, request);
    EXPECT_TRUE(binary);
    EXPECT_EQ(binary && !(*binary)->ptx.empty(), request.wantPtx);
    return cache->stats().misses;
  };
  EXPECT_EQ(misses(), 1u);
  request.wantPtx = true;
  EXPECT_EQ(misses(), 2u);
  EXPECT_EQ(misses(), 2u);
  request.wantPtx = false;
  EXPECT_EQ(misses(), 2u);
}

TEST_F(JitTest, ACompilerForTheSimulatorGetsItsTwinOfTheDeviceLayer) {
  auto compiler = std::make_shared<RecordingCompiler>();
  CompileOptions options;
  options.compiler = compiler;
  auto executable = compile(kNorm, options);
  ASSERT_TRUE(executable) << executable.error().str();
  ASSERT_FALSE(compiler->requests.empty());
  const CompileRequest &request = compiler->requests.front();
  EXPECT_EQ(request.arch, "sm_90a");
  EXPECT_FALSE(request.wantPtx);
  size_t cpu = 0;
  for (const auto &[name, text] : request.headers) {
    EXPECT_EQ(name.find("swage/device/cuda/"), std::string::npos) << name;
    cpu += name.find("swage/device/cpu/") == 0;
  }
  EXPECT_GT(cpu, 0u);
  // Another place in the model changes the comments, and with them what a report says.
  size_t before = compiler->requests.size();
  ASSERT_TRUE(compile(kNorm, options));
  EXPECT_EQ(compiler->requests.size(), before);
  ASSERT_TRUE(compile(std::string("\n\n") + kNorm, options));
  EXPECT_GT(compiler->requests.size(), before);
}

TEST_F(JitTest, AKernelForTheSimulatorIsNotPlannedOnAGpu) {
  CompileOptions options;
  options.compiler = std::make_shared<RecordingCompiler>();
  auto executable = compile(kChain, options);
  ASSERT_TRUE(executable) << executable.error().str();
  auto plan = executable->plan(device(), {{64, 256}});
  ASSERT_FALSE(plan);
  expectPart(plan.error().message, "was compiled for the simulator (sim:sm_90a)");
}

TEST_F(JitTest, AFailedCompileForTheSimulatorNamesItsOwnCommand) {
  auto compiler = std::make_shared<RecordingCompiler>();
  compiler->fails = true;
  CompileOptions options;
  options.compiler = compiler;
  options.environment.dump.directory = testing::TempDir() + "swage-simulated-dump";
  auto executable = compile(kChain, options);
  ASSERT_FALSE(executable);
  expectPart(executable.error().reproduce, "swage-sim --compile-only ");
  expectPart(executable.error().log, "a log");
}

TEST_F(JitTest, OneExecutableServesSeveralThreads) {
  NEEDS_NVRTC();
  auto executable = compile(kNorm);
  ASSERT_TRUE(executable) << executable.error().str();
  std::vector<std::thread> threads;
  for (int64_t rows = 1; rows <= 8; ++rows)
    threads.emplace_back([&, rows] {
      for (int i = 0; i < 20; ++i) {
        auto layout = executable->layout({{rows, 768}, {rows, 768}, {768}});
        ASSERT_TRUE(layout);
        EXPECT_EQ(layout->results[0].shape[0], rows);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
