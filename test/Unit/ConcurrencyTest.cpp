//===- ConcurrencyTest.cpp - Programs from many threads -------------------===//
//
// Everything that hosts may do at once, against the stand-in driver.  A build of this file and of
// the runtime with ThreadSanitizer is one of the tests, in every build directory.
//
//===----------------------------------------------------------------------===//
#include "FakeCudaTest.h"
#include "FakeProgram.h"

#include <array>
#include <thread>

using namespace swage;
using namespace swage::test;

namespace {
class ConcurrencyTest : public FakeCudaTest {
protected:
  static std::vector<Dims> dims(int64_t rows, int64_t columns) {
    return {{rows, columns}, {columns}};
  }
  /// x + bias with these sizes, at addresses that nobody follows.
  static Status run(const Program &program, const Device &gpu, cuda::StreamHandle stream,
                    int64_t rows, int64_t columns) {
    int64_t matrix[] = {rows, columns}, row[] = {columns};
    auto view = [](uint64_t address, unsigned rank, const int64_t *shape) {
      return TensorView{reinterpret_cast<void *>(address), ElementType::F32, rank, shape, nullptr};
    };
    TensorView inputs[] = {view(uint64_t(1) << 40, 2, matrix), view(uint64_t(2) << 40, 1, row)};
    TensorView outputs[] = {view(uint64_t(3) << 40, 2, matrix)};
    return program.run(gpu, stream, inputs, 2, outputs, 1, nullptr, 0);
  }
  /// `body` on so many threads, which begin together.
  static void together(int count, const std::function<void(int)> &body) {
    std::atomic<int> waiting{count};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        for (--waiting; waiting > 0;)
          std::this_thread::yield();
        body(i);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  RecordingContext recording;
  std::shared_ptr<FakeSource> source = std::make_shared<FakeSource>();
};
} // namespace

TEST_F(ConcurrencyTest, EightThreadsRunFiftyShapes) {
  source->delayMilliseconds = 1;
  Program program = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                    source, recording.context);
  Device gpu = device();
  std::atomic<int> failures{0};
  together(8, [&](int thread) {
    auto stream = gpu.createStream();
    for (int round = 0; round < 4; ++round)
      for (int i = 0; i < 50; ++i) {
        int64_t shape = (i * 7 + thread * 5) % 50;
        failures += !run(program, gpu, stream->handle(), 1 + shape, 760 + shape);
      }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(source->made.size(), 2u) << "multiples of 8, and the rest";
  EXPECT_EQ(fake->launches.size(), 8u * 4 * 50);
  EXPECT_EQ(recording.context.stats().launches, 8u * 4 * 50);
  EXPECT_EQ(recording.context.stats().plans, 50u);
}

TEST_F(ConcurrencyTest, ManyThreadsShareWhatFewHaveApart) {
  Program program = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                    source, recording.context);
  Device gpu = device();
  auto stream = gpu.createStream();
  std::atomic<int> failures{0};
  together(80, [&](int thread) {
    for (int i = 0; i < 20; ++i)
      failures += !run(program, gpu, stream->handle(), 1 + (thread + i) % 3, 768);
  });
  EXPECT_EQ(failures, 0);
}

TEST_F(ConcurrencyTest, PlansComeAndGoWhileTheyRun) {
  RecordingContext small(/*planLimit=*/3);
  Program program = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                    source, small.context);
  Device gpu = device();
  std::atomic<int> failures{0};
  together(8, [&](int thread) {
    auto stream = gpu.createStream();
    for (int i = 0; i < 200; ++i)
      failures += !run(program, gpu, stream->handle(), 1 + (i + thread) % 10, 768);
  });
  EXPECT_EQ(failures, 0);
  EXPECT_GT(small.context.stats().plansEvicted, 0u);
}

TEST_F(ConcurrencyTest, QuestionsWarmUpsAndRunsDoNotDisturbEachOther) {
  Program program = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                    source, recording.context);
  fake->deviceCount = 2;
  std::array<Device, 2> devices{device(0), device(1)};
  std::atomic<int> failures{0};
  together(8, [&](int thread) {
    const Device &gpu = devices[size_t(thread % 2)];
    auto stream = gpu.createStream();
    for (int i = 0; i < 20; ++i)
      switch ((thread / 2 + i) % 4) {
      case 0:
        failures += !run(program, gpu, stream->handle(), 1 + i, 768);
        break;
      case 1:
        failures += !program.warmup(gpu, {dims(i, 2048), dims(i, 2049), dims(i, 768)});
        break;
      case 2:
        failures += !program.explain(gpu, dims(i, 768)) || !program.resultShapes(gpu, dims(i, 7));
        (void)program.isReady(gpu, dims(i, 8));
        (void)recording.context.stats();
        break;
      case 3:
        failures += !program.plan(gpu, dims(i, 768));
        (void)program.plan(gpu, dims(i, 5000), PlanMode::CachedOnly);
        break;
      }
  });
  EXPECT_EQ(failures, 0);
}

TEST_F(ConcurrencyTest, TheFirstOfSeveralStickyErrorsIsKept) {
  Program program = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                    source, recording.context);
  Device gpu = device();
  ASSERT_TRUE(program.warmup(gpu, {dims(4, 768)}));
  fake->failures["cuLaunchKernel"] = {cuda::kIllegalAddress};
  std::mutex mutex;
  std::vector<std::string> later;
  together(8, [&](int) {
    auto stream = reinterpret_cast<cuda::StreamHandle>(16);
    (void)run(program, gpu, stream, 4, 768);
    Status second = run(program, gpu, stream, 4, 768);
    ASSERT_FALSE(second);
    std::lock_guard<std::mutex> lock(mutex);
    later.push_back(second.error().message);
  });
  for (const std::string &message : later)
    EXPECT_EQ(message, later[0]);
}

/// What a host may leave behind: a program with plans and a device, in static storage.
static std::optional<Program> leftProgram;
static std::optional<Plan> leftPlan;

TEST_F(ConcurrencyTest, AProcessMayEndWithEverythingAlive) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto end = [&] {
    Context &process = Context::process();
    source->delayMilliseconds = 20;
    leftProgram = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                  source, process);
    Device gpu = device();
    auto plan = leftProgram->plan(gpu, dims(4, 768));
    leftPlan.emplace(*plan);
    // A thread that warms up for much longer than the process lasts.
    std::thread([gpu, program = *leftProgram] {
      for (int64_t limit = 1;; limit = limit % 3 + 1)
        (void)program.warmup(gpu, {dims(1, 1024 * limit), dims(1, 1024 * limit + 1),
                                   dims(1, 8192 * limit), dims(1, 8192 * limit + 1)});
    }).detach();
    while (source->active < 2)
      std::this_thread::yield();
    std::exit(7);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "");
}

TEST_F(ConcurrencyTest, ProgramsEndWhileOthersRun) {
  Device gpu = device();
  together(8, [&](int thread) {
    auto stream = gpu.createStream();
    for (int i = 0; i < 10; ++i) {
      Program program = Program::create("main", FakeSource::inputTypes(), FakeSource::resultTypes(),
                                        source, recording.context);
      EXPECT_TRUE(run(program, gpu, stream->handle(), 1 + thread, 768));
    }
  });
  EXPECT_EQ(recording.context.stats().launches, 80u);
}
