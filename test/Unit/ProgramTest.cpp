//===- ProgramTest.cpp - Variants, plans and runs without a compiler ------===//

#include "FakeCudaTest.h"
#include "FakeProgram.h"
#include "HotPath.h"
#include "VariantSet.h"

#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace swage;
using namespace swage::cuda;
using namespace swage::test;

namespace {
class ProgramTest : public FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    source = std::make_shared<FakeSource>();
  }
  Program program(RecordingContext &recording) {
    return Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(), source,
                           recording.context);
  }
  Program program() { return program(recording); }

  static std::vector<Dims> dims(int64_t rows, int64_t columns) {
    return {{rows, columns}, {columns}};
  }
  static TensorView view(const void *data, const Dims &shape) {
    return {const_cast<void *>(data), ElementType::F32, unsigned(shape.size()), shape.data(),
            nullptr};
  }
  /// x + bias with these sizes, at addresses that nobody follows.
  Status run(const Program &program, const Device &gpu, int64_t rows, int64_t columns,
             StreamHandle stream = nullptr, uint64_t shift = 0) {
    Dims matrix{rows, columns}, row{columns};
    auto at = [&](uint64_t address) { return reinterpret_cast<void *>(address); };
    TensorView inputs[] = {view(at(0x10000000 + shift), matrix), view(at(0x20000000), row)};
    TensorView outputs[] = {view(at(0x30000000), matrix)};
    return program.run(gpu, stream, inputs, 2, outputs, 1, nullptr, 0);
  }
  static std::string message(const Status &status) {
    return status ? "success" : status.error().message;
  }
  static void expectPart(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
  }

  RecordingContext recording;
  std::shared_ptr<FakeSource> source;
};
} // namespace

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, AVariantServesAllShapesOfItsClasses) {
  Program p = program();
  Device gpu = device();
  for (int64_t rows = 1; rows <= 1000; ++rows)
    ASSERT_TRUE(p.plan(gpu, dims(rows, 768)));
  EXPECT_EQ(source->made.size(), 1u) << "rows do not matter";
  EXPECT_EQ(recording.count(TraceEvent::Kind::Variant), 1u);
  EXPECT_EQ(recording.count(TraceEvent::Kind::Plan), 1000u);
  EXPECT_EQ(recording.count(TraceEvent::Kind::Load), 1u);
  ASSERT_TRUE(p.plan(gpu, dims(4, 776)));
  EXPECT_EQ(source->made.size(), 1u);
  ASSERT_TRUE(p.plan(gpu, dims(4, 777)));
  EXPECT_EQ(source->made.size(), 2u);
  ASSERT_TRUE(p.plan(gpu, dims(4, 1 << 20)));
  EXPECT_EQ(source->made.size(), 3u);
  EXPECT_EQ(source->made[0].extents[1].multipleOf, 8);
  EXPECT_EQ(source->made[0].extents[1].atMost, 1024);
  EXPECT_EQ(source->made[0].extents[0].multipleOf, 1);
  EXPECT_EQ(source->made[1].extents[1].multipleOf, 1);
  EXPECT_EQ(source->made[2].extents[1].atMost, 0);
  expectPart(source->reasons[0], "there is no variant yet");
  expectPart(source->reasons[1], "dimension 1 of input 0, here 777, a multiple of 8");
  expectPart(source->reasons[2], "dimension 1 of input 0, here 1048576, at most 1024");
}

TEST_F(ProgramTest, WideOffsetsAreMadeWhereTheyAreNeeded) {
  Program p = program();
  Device gpu = device();
  ASSERT_TRUE(p.plan(gpu, dims(1 << 20, 1024)));
  ASSERT_TRUE(p.plan(gpu, dims(1 << 22, 1024)));
  ASSERT_EQ(source->made.size(), 2u);
  EXPECT_EQ(source->made[0].indexBits, 32);
  EXPECT_EQ(source->made[1].indexBits, 64);
  expectPart(source->reasons[1], "has 32-bit offsets; needed: 64");
  // Between what an input alone needs and what the kernel's margin needs, the layout tells.
  ASSERT_TRUE(p.plan(gpu, dims((1 << 21) - 1, 1024)));
  EXPECT_EQ(source->made.size(), 2u);
}

TEST_F(ProgramTest, AlignmentIsAGuard) {
  Program p = program();
  Device gpu = device();
  auto stream = gpu.createStream();
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle()));
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle(), 256));
  EXPECT_EQ(source->made.size(), 1u);
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle(), 8));
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle(), 4));
  ASSERT_EQ(source->made.size(), 2u);
  EXPECT_EQ(source->made[1].alignment, (std::vector<uint8_t>{4, 16, 16}));
  expectPart(source->reasons[1], "has input 0 aligned to 16 bytes; here it is aligned to 4");
  expectPart(message(run(p, gpu, 4, 768, stream->handle(), 2)),
             "is at 0x10000002; needed: an address divisible by 4");
  auto loose = p.plan(gpu, dims(4, 768), PlanMode::Blocking, {4, 16, 16});
  ASSERT_TRUE(loose) << loose.error().str();
  EXPECT_EQ(loose->inputs()[0].alignment, 4u);
  EXPECT_EQ(source->made.size(), 2u);
  auto bad = p.plan(gpu, dims(4, 768), PlanMode::Blocking, {4, 16});
  ASSERT_FALSE(bad);
  expectPart(bad.error().message, "2 alignments are given; needed: 1 or 3");
  EXPECT_FALSE(p.plan(gpu, dims(4, 768), PlanMode::Blocking, {4, 16, 12}));
}

TEST_F(ProgramTest, RarePatternsOfAlignmentShareAVariant) {
  const size_t tensors = 6;
  VariantSet set("main", FakeSource::inputTypes(), std::vector<uint8_t>(tensors, 4), source,
                 recording.context);
  for (unsigned pattern = 0; pattern < 1u << tensors; ++pattern) {
    Guards guards;
    guards.extents.resize(3);
    for (size_t i = 0; i < tensors; ++i)
      guards.alignment.push_back(pattern >> i & 1 ? 16 : 4);
    auto variant = set.get(guards, {4, 768, 768});
    ASSERT_TRUE(variant);
    for (size_t i = 0; i < tensors; ++i)
      EXPECT_LE((**variant).guards.alignment[i], guards.alignment[i]);
  }
  EXPECT_EQ(source->made.size(), 9u) << "eight, that of any element among them, and the full one";
  EXPECT_EQ(source->made.back().alignment, std::vector<uint8_t>(tensors, 16));
}

TEST_F(ProgramTest, WhatIsCachedServesWhereItsGuardsHold) {
  Program p = program();
  Device gpu = device();
  auto missing = p.plan(gpu, dims(4, 777), PlanMode::CachedOnly);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().stage, Stage::Launch);
  expectPart(missing.error().message, "not ready for 4x777xf32, 777xf32 on device 0");
  expectPart(missing.error().message, "call warmup(device, {{{4, 777}, {777}}}) before");
  EXPECT_TRUE(source->made.empty());
  ASSERT_TRUE(p.plan(gpu, dims(4, 777)));
  ASSERT_TRUE(p.plan(gpu, dims(4, 768), PlanMode::CachedOnly)) << "a weaker variant serves";
  ASSERT_TRUE(p.plan(gpu, dims(4, 768))) << "and its plan stays";
  EXPECT_EQ(source->made.size(), 1u);
  EXPECT_FALSE(p.plan(gpu, dims(4, 8000), PlanMode::CachedOnly));
  EXPECT_TRUE(p.plan(gpu, dims(5, 776)));
  EXPECT_EQ(source->made.size(), 2u) << "who waits gets the class of its own";
}

TEST_F(ProgramTest, FailuresAreNotKept) {
  Program p = program();
  Device gpu = device();
  source->failures = 1;
  auto failed = p.plan(gpu, dims(4, 768));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "as the test asked");
  EXPECT_TRUE(p.plan(gpu, dims(4, 768)));
  EXPECT_EQ(source->made.size(), 2u);
}

TEST_F(ProgramTest, ThreadsThatWantTheSameWaitForOne) {
  Program p = program();
  Device gpu = device();
  source->delayMilliseconds = 30;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { EXPECT_TRUE(p.plan(gpu, dims(4 + i, 768))); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(source->made.size(), 1u);
}

TEST_F(ProgramTest, DifferentVariantsAreMadeInParallel) {
  Program p = program();
  Device gpu = device();
  source->delayMilliseconds = 50;
  Status warm = p.warmup(
      gpu, {dims(1, 8), dims(2, 8), dims(1, 9), dims(1, 2048), dims(1, 2049), dims(1, 8192)});
  ASSERT_TRUE(warm) << warm.error().str();
  EXPECT_EQ(source->made.size(), 5u);
  EXPECT_GT(source->mostActive, 1);
  EXPECT_EQ(recording.count(TraceEvent::Kind::Progress), 5u);
  EXPECT_EQ(recording.count(TraceEvent::Kind::Plan), 6u);
  EXPECT_TRUE(p.isReady(gpu, dims(77, 8)));
  source->failures = 1;
  EXPECT_FALSE(p.warmup(gpu, {dims(1, 100000)}));
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, ExplainsWhatServesAndWhyNot) {
  Program p = program();
  Device gpu = device();
  auto none = p.explain(gpu, dims(4, 768));
  ASSERT_TRUE(none) << none.error().str();
  EXPECT_FALSE(none->hasPlan || none->hasVariant);
  EXPECT_EQ(none->reason, "there is no variant yet");
  ASSERT_TRUE(p.plan(gpu, dims(4, 768)));
  auto planned = p.explain(gpu, dims(4, 768));
  EXPECT_TRUE(planned->hasPlan && planned->hasVariant);
  EXPECT_EQ(planned->kernels, std::vector<std::string>{"add: #fake"});
  expectPart(planned->str(), "planned: a call costs a lookup\nvariant: sm_90a, 32-bit offsets");
  auto compiled = p.explain(gpu, dims(5, 768));
  EXPECT_TRUE(!compiled->hasPlan && compiled->hasVariant);
  auto other = p.explain(gpu, dims(4, 767));
  EXPECT_FALSE(other->hasVariant);
  EXPECT_EQ(other->reason, "the nearest variant has dimension 1 of input 0, here 767, a multiple "
                           "of 8");
  EXPECT_FALSE(p.isReady(gpu, dims(4, 767)));
  EXPECT_TRUE(p.isReady(gpu, dims(400, 768)));
  EXPECT_EQ(source->made.size(), 1u) << "questions compile nothing";
}

TEST_F(ProgramTest, ResultShapes) {
  Program p = program();
  Device gpu = device();
  auto shapes = p.resultShapes(gpu, dims(4, 768));
  ASSERT_TRUE(shapes) << shapes.error().str();
  EXPECT_EQ(*shapes, (std::vector<Dims>{{4, 768}}));
  EXPECT_EQ(source->made.size(), 1u);
  shapes = p.resultShapes(gpu, dims(9, 776));
  ASSERT_TRUE(shapes);
  EXPECT_EQ(*shapes, (std::vector<Dims>{{9, 776}}));
  EXPECT_EQ(source->made.size(), 1u);
}

TEST_F(ProgramTest, WrongShapesAreNamed) {
  Program p = program();
  Device gpu = device();
  auto problem = [&](const std::vector<Dims> &shapes) {
    auto plan = p.plan(gpu, shapes);
    return plan ? "planned" : plan.error().message;
  };
  expectPart(problem({{4, 768}}), "the shapes of 1 inputs are given; needed: 2");
  expectPart(problem({{4}, {768}}), "input 0 has 1 dimensions {4}; needed: 2 (?x?xf32)");
  expectPart(problem({{4, -1}, {768}}), "input 0 has extent -1 in dimension 1; needed: 0 or more");
  expectPart(problem({{4, 768}, {767}}), "input 1 (767xf32) has extent 767");
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, RunChecksItsTensors) {
  Program p = program();
  Device gpu = device();
  auto stream = gpu.createStream();
  alignas(16) static char memory[3][64];
  Dims matrix{2, 3}, row{3}, column{2}, strides{3, 1}, gaps{4, 1}, free{100, 1};
  TensorView x = view(memory[0], matrix), bias = view(memory[1], row), y = view(memory[2], matrix);
  auto outcome = [&](TensorView x, TensorView bias, TensorView y) {
    TensorView inputs[] = {x, bias};
    return message(p.run(gpu, stream->handle(), inputs, 2, &y, 1, nullptr, 0));
  };
  EXPECT_EQ(outcome(x, bias, y), "success");
  TensorView changed = x;
  changed.type = ElementType::F16;
  EXPECT_EQ(outcome(changed, bias, y), "program 'main': input 0 is 2x3xf16; needed: ?x?xf32");
  EXPECT_EQ(outcome(bias, bias, y), "program 'main': input 0 is 3xf32; needed: ?x?xf32");
  EXPECT_EQ(outcome(x, bias, bias), "program 'main': output 0 is 3xf32; needed: ?x?xf32");
  changed = x;
  changed.strides = strides.data();
  EXPECT_EQ(outcome(changed, bias, y), "success");
  changed.strides = gaps.data();
  expectPart(outcome(changed, bias, y), "input 0 is 2x3xf32 with strides {4, 1}; needed: ?x?xf32");
  Dims single{1, 3};
  TensorView one = view(memory[0], single), oneOut = view(memory[2], single);
  one.strides = free.data();
  EXPECT_EQ(outcome(one, bias, oneOut), "success") << "the stride of a single row is free";
  Dims other{3, 3};
  EXPECT_EQ(outcome(x, bias, view(memory[2], other)),
            "program 'main': output 0 is 3x3xf32; needed: 2x3xf32");
  changed = x;
  changed.shape = nullptr;
  expectPart(outcome(changed, bias, y), "of rank 2 without a shape");
  changed = x;
  changed.data = nullptr;
  expectPart(outcome(changed, bias, y), "input 0 'argument 0' is null");
  TensorView inputs[] = {x};
  EXPECT_EQ(message(p.run(gpu, stream->handle(), inputs, 1, &y, 1, nullptr, 0)),
            "program 'main': 1 inputs and 1 outputs are given; needed: 2 and 1");
}

/// As the driver's, with no recording in the way.
static Result launchNothing(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, unsigned, StreamHandle, void **, void **) {
  return kSuccess;
}

TEST_F(ProgramTest, AHotCallMakesOneDriverCallAndAllocatesNothing) {
  Program p = program();
  Device gpu = device();
  auto stream = gpu.createStream();
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle()));
  fake->calls.clear();
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle()));
  EXPECT_EQ(fake->calls, std::vector<std::string>{"cuLaunchKernel add"});
  fake->calls.clear();
  ASSERT_TRUE(run(p, gpu, 4, 768)) << "on the null stream the context is made current";
  EXPECT_EQ(fake->count("cuCtxPushCurrent"), 1u);
  EXPECT_EQ(fake->count("cuCtxPopCurrent"), 1u);
  for (uintptr_t special : {1, 2}) // the legacy and the thread's own default stream
    ASSERT_TRUE(run(p, gpu, 4, 768, reinterpret_cast<StreamHandle>(special)));
  EXPECT_EQ(fake->count("cuCtxPushCurrent"), 3u);

  auto quick = std::make_shared<Driver>(*driver());
  quick->cuLaunchKernel = launchNothing;
  auto fast = Device::open(quick, 0);
  Dims matrix{4, 768}, other{5, 768}, row{768};
  alignas(16) static char memory[3][5 * 768 * 4];
  TensorView inputs[] = {view(memory[0], matrix), view(memory[1], row)};
  TensorView outputs[] = {view(memory[2], matrix)};
  auto call = [&] {
    return bool(p.run(*fast, stream->handle(), inputs, 2, outputs, 1, nullptr, 0));
  };
  ASSERT_TRUE(call());
  ASSERT_TRUE(call());
  const int repeats = 100000;
  HotPathCounts before = hotPathCounts();
  auto start = threadTime();
  bool ok = true;
  for (int i = 0; i < repeats; ++i)
    ok &= call();
  auto elapsed = threadTime() - start;
  HotPathCounts after = hotPathCounts();
  EXPECT_TRUE(ok);
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.locks - before.locks, countsAll() ? size_t(repeats) : 0)
      << "one that no other thread holds";
  std::printf("Program::run without the driver: %.0f ns\n", elapsed.count() / repeats);
  EXPECT_LT(elapsed.count() / repeats, 2000);
  // Two shapes in turn miss the thread's last plan and find the table's.
  inputs[0].shape = outputs[0].shape = other.data();
  ASSERT_TRUE(call());
  inputs[0].shape = outputs[0].shape = matrix.data();
  ASSERT_TRUE(call());
  before = hotPathCounts();
  start = threadTime();
  for (int i = 0; i < repeats; ++i) {
    inputs[0].shape = outputs[0].shape = (i % 2 ? matrix : other).data();
    ok &= call();
  }
  elapsed = threadTime() - start;
  EXPECT_TRUE(ok);
  EXPECT_EQ(hotPathCounts().allocations, before.allocations);
  std::printf("with two shapes in turn: %.0f ns\n", elapsed.count() / repeats);
}

TEST_F(ProgramTest, PlansAreBounded) {
  RecordingContext small(/*planLimit=*/3);
  Program p = program(small);
  Device gpu = device();
  auto hasPlan = [&](int64_t rows) { return p.explain(gpu, dims(rows, 768))->hasPlan; };
  for (int64_t rows : {1, 2, 3})
    ASSERT_TRUE(p.plan(gpu, dims(rows, 768)));
  ASSERT_TRUE(p.plan(gpu, dims(1, 768))); // 2 is now unused for longest
  ASSERT_TRUE(p.plan(gpu, dims(4, 768)));
  EXPECT_TRUE(hasPlan(1) && hasPlan(3) && hasPlan(4));
  EXPECT_FALSE(hasPlan(2));
  EXPECT_EQ(small.count(TraceEvent::Kind::Evict), 1u);
  EXPECT_EQ(small.context.stats().plansEvicted, 1u);
  EXPECT_EQ(small.context.stats().plans, 4u);
}

TEST_F(ProgramTest, UnderCaptureOnlyWhatIsReadyRuns) {
  Program p = program();
  Device gpu = device();
  auto stream = gpu.createStream();
  ASSERT_TRUE(stream->beginCapture());
  Status early = run(p, gpu, 4, 768, stream->handle());
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().stage, Stage::Launch);
  expectPart(early.error().message,
             "program 'main' is not ready for 4x768xf32, 768xf32 on device 0, and a stream that is "
             "being captured allows neither compiling nor loading; call warmup(device, {{{4, 768}, "
             "{768}}}) before");
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 0u);
  ASSERT_TRUE(stream->endCapture());

  ASSERT_TRUE(p.warmup(gpu, {dims(4, 768)}));
  ASSERT_TRUE(stream->beginCapture());
  Status ready = run(p, gpu, 4, 768, stream->handle());
  EXPECT_TRUE(ready) << message(ready);
  Status sameVariant = run(p, gpu, 5, 768, stream->handle());
  EXPECT_TRUE(sameVariant) << message(sameVariant) << ": a plan of loaded kernels loads nothing";
  EXPECT_FALSE(run(p, gpu, 5, 767, stream->handle()));
  // A warm-up would not help.
  Status shifted = run(p, gpu, 4, 768, stream->handle(), 4);
  expectPart(message(shifted), "on device 0 at addresses aligned to {4, 16, 16} bytes, and");
  expectPart(message(shifted), "call plan(device, {{4, 768}, {768}}, PlanMode::Blocking, {4, 16, "
                               "16}) before, or pass tensors aligned to 16");
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph);
  EXPECT_EQ(*graph->nodeCount(), 2u);
  ASSERT_TRUE(p.plan(gpu, dims(4, 768), PlanMode::Blocking, {4, 16, 16}));
  ASSERT_TRUE(stream->beginCapture());
  EXPECT_TRUE(run(p, gpu, 4, 768, stream->handle(), 4));
  ASSERT_TRUE(stream->endCapture());

  // The null stream, while a capture elsewhere forbids its use.
  fake->failures["cuStreamIsCapturing"] = {kStreamCaptureImplicit};
  EXPECT_FALSE(run(p, gpu, 6, 767));
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, SeveralDevicesShareAProgram) {
  fake->deviceCount = 2;
  Program p = program();
  Device first = device(0), second = device(1);
  auto streamA = first.createStream(), streamB = second.createStream();
  ASSERT_TRUE(run(p, first, 4, 768, streamA->handle()));
  ASSERT_TRUE(run(p, second, 4, 768, streamB->handle()));
  ASSERT_TRUE(run(p, first, 4, 768, streamA->handle()));
  EXPECT_EQ(source->made.size(), 1u);
  ASSERT_EQ(fake->launches.size(), 3u);
  EXPECT_EQ(fake->launches[0].device, 0);
  EXPECT_EQ(fake->launches[1].device, 1);
  EXPECT_EQ(fake->launches[2].device, 0);
  fake->ccMajor = 8;
  Device old = device(1);
  auto drv = std::make_shared<Driver>(old.driver());
  auto other = Device::open(drv, 1);
  ASSERT_TRUE(p.plan(*other, dims(4, 768)));
  ASSERT_EQ(source->made.size(), 2u);
  EXPECT_EQ(source->made[1].arch, "sm_80");
  EXPECT_EQ(source->reasons[1], "the nearest variant is for sm_90a, the device is sm_80");
}

TEST_F(ProgramTest, TheFirstStickyErrorIsTheOneThatIsTold) {
  Program p = program();
  Device gpu = device();
  auto stream = gpu.createStream();
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle()));
  auto plan = p.plan(gpu, dims(4, 768));
  fake->failures["cuLaunchKernel"] = {kIllegalAddress, 1};
  Status first = run(p, gpu, 4, 768, stream->handle());
  ASSERT_FALSE(first);
  expectPart(first.error().message, "kernel @add, 12x1x1 blocks");
  expectPart(first.error().message, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  fake->calls.clear();
  const std::string told = "device 0 cannot be used since an earlier error: kernel @add";
  void *pointer = reinterpret_cast<void *>(0x1000);
  const void *inputs[] = {pointer, pointer};
  for (const Status &later :
       {run(p, gpu, 4, 768, stream->handle()), plan->launch(stream->handle(), inputs, &pointer),
        gpu.synchronize(), p.warmup(gpu, {dims(9, 9)}), gpu.makeCurrent(), stream->synchronize()}) {
    ASSERT_FALSE(later);
    expectPart(later.error().message, told);
    EXPECT_EQ(later.error().stage, Stage::Launch);
  }
  EXPECT_FALSE(p.plan(gpu, dims(4, 768)));
  EXPECT_FALSE(gpu.allocate(16));
  EXPECT_TRUE(fake->calls.empty()) << fake->calls[0];
  // Another error, and another device, are no reason.
  Device again = device();
  fake->failures["cuCtxSynchronize"] = {2, 1};
  EXPECT_FALSE(again.synchronize());
  EXPECT_TRUE(again.synchronize());
}

TEST_F(ProgramTest, AForkedChildGetsErrorsAndNoHang) {
  Program p = program();
  Device gpu = device();
  auto stream = gpu.createStream();
  ASSERT_TRUE(run(p, gpu, 4, 768, stream->handle()));
  auto plan = p.plan(gpu, dims(4, 768));
  source->delayMilliseconds = 300;
  std::thread compiling([&] { EXPECT_TRUE(p.plan(gpu, dims(4, 767))); });
  while (source->active == 0)
    std::this_thread::yield();
  auto start = std::chrono::steady_clock::now();
  pid_t child = fork();
  if (child == 0) {
    auto isForkError = [](const Error &error) {
      return error.stage == Stage::Input && error.message.find("forked") != std::string::npos;
    };
    void *pointer = reinterpret_cast<void *>(0x1000);
    const void *inputs[] = {pointer, pointer};
    int wrong = 0;
    auto expect = [&](const Status &status) { wrong += status || !isForkError(status.error()); };
    expect(run(p, gpu, 4, 768, stream->handle()));
    expect(run(p, gpu, 4, 767, stream->handle()));
    expect(plan->launch(stream->handle(), inputs, &pointer));
    expect(p.warmup(gpu, {dims(1, 1)}));
    expect(gpu.synchronize());
    auto missing = p.plan(gpu, dims(4, 767));
    wrong += missing || !isForkError(missing.error());
    auto shapes = p.resultShapes(gpu, dims(4, 767));
    wrong += shapes || !isForkError(shapes.error());
    wrong += p.isReady(gpu, dims(4, 768));
    expect(p.save("/tmp/never", {"sm_90a"}, {dims(1, 1)}));
    _exit(wrong);
  }
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(5))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto took = std::chrono::steady_clock::now() - start;
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_LT(took, std::chrono::seconds(1));
  compiling.join();
}
