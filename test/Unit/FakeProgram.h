//===- FakeProgram.h - A program without a compiler -----------------------===//
//
// y = x + bias for any rows and columns, as a source of variants whose kernels the stand-in driver
// takes: what the runtime does with variants, tested without MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_UNIT_FAKEPROGRAM_H
#define SWAGE_TEST_UNIT_FAKEPROGRAM_H

#include "swage/Runtime/Program.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace swage::test {

class FakeSource : public VariantSource {
public:
  using Op = SizeExpression::Op;

  static std::vector<TensorType> inputTypes() {
    return {{"f32", 4, {TensorType::kDynamic, TensorType::kDynamic}},
            {"f32", 4, {TensorType::kDynamic}}};
  }
  static std::vector<TensorType> resultTypes() {
    return {{"f32", 4, {TensorType::kDynamic, TensorType::kDynamic}}};
  }

  /// Rows do not matter, columns do.
  Expected<std::vector<ExtentNeeds>> needs() override {
    ExtentNeeds rows, columns;
    columns.multiple = columns.limit = true;
    return std::vector<ExtentNeeds>{rows, columns, columns};
  }

  Expected<std::shared_ptr<const Variant>> make(const Guards &guards,
                                                const std::string &reason) override {
    int running = ++active;
    int seen = mostActive;
    while (running > seen && !mostActive.compare_exchange_weak(seen, running)) {
    }
    if (delayMilliseconds)
      std::this_thread::sleep_for(std::chrono::milliseconds(delayMilliseconds));
    {
      std::lock_guard<std::mutex> lock(mutex);
      made.push_back(guards);
      reasons.push_back(reason);
    }
    --active;
    if (failures > 0) {
      --failures;
      return makeError(Stage::Compile, "as the test asked");
    }
    return std::shared_ptr<const Variant>(variant(guards));
  }

  Expected<Artifact> artifact(const Guards &guards) override {
    Artifact artifact;
    artifact.guards = guards;
    return artifact;
  }

  static std::shared_ptr<Variant> variant(const Guards &guards) {
    auto variant = std::make_shared<Variant>();
    variant->entryName = "main";
    variant->guards = guards;
    variant->inputs = inputTypes();
    variant->results = resultTypes();
    auto binary = std::make_shared<KernelBinary>();
    binary->name = "add";
    binary->arch = guards.arch;
    binary->image = "kernels: add";
    KernelInfo info;
    info.name = "add";
    info.schedule = "#fake";
    info.threads = 256;
    info.indexBits = guards.indexBits;
    info.binary = binary;
    variant->kernels = {info};
    auto constant = [](int64_t value) { return SizeExpression{{{Op::Constant, value}}}; };
    auto symbol = [](int64_t number) { return SizeExpression{{{Op::Symbol, number}}}; };
    SizeExpression elements{{{Op::Symbol, 0}, {Op::Symbol, 1}, {Op::Multiply, 0}}};
    SizeExpression blocks = elements;
    blocks.steps.push_back({Op::Constant, 256});
    blocks.steps.push_back({Op::CeilDivide, 0});
    auto alignment = [&](size_t i) { return uint64_t(guards.alignment[i]); };
    SymbolicView x{
        0, "f32", 4, alignment(0), {symbol(0), symbol(1)}, {symbol(1), constant(1)}, constant(0)};
    SymbolicView bias{1,          "f32", 4, alignment(1), {symbol(1)}, {constant(0), constant(1)},
                      constant(0)};
    SymbolicView y = x;
    y.alignment = alignment(2);
    SymbolicKernel kernel;
    kernel.extents = {symbol(0), symbol(1)};
    kernel.isReduced = {false, false};
    kernel.blocks = blocks;
    kernel.largestOffsets = {elements};
    kernel.bytesMoved = elements;
    kernel.inputs = {x, bias};
    kernel.outputs = {y};
    variant->symbolic = {kernel};
    SymbolicLaunch launch;
    launch.sizes = {{0, 0}, {0, 1}};
    launch.inputs = {{BufferKind::Input, 0}, {BufferKind::Input, 1}};
    launch.outputs = {{BufferKind::Output, 0}};
    variant->launches = {launch};
    return variant;
  }

  std::atomic<int> delayMilliseconds{0}, failures{0}, active{0}, mostActive{0};
  std::mutex mutex;
  std::vector<Guards> made;
  std::vector<std::string> reasons;
};

/// A context that keeps nothing on disk and records its events.
struct RecordingContext {
  explicit RecordingContext(size_t planLimit = 4096)
      : context([&] {
          ContextOptions options;
          options.environment.cacheMode = CacheMode::Off;
          options.planLimit = planLimit;
          options.compileThreads = 4;
          options.events = [this](const TraceEvent &event) {
            std::lock_guard<std::mutex> lock(mutex);
            events.push_back(event);
          };
          return options;
        }()) {}

  size_t count(TraceEvent::Kind kind) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t count = 0;
    for (const TraceEvent &event : events)
      count += event.kind == kind;
    return count;
  }

  std::mutex mutex;
  std::vector<TraceEvent> events;
  Context context;
};

} // namespace swage::test

#endif // SWAGE_TEST_UNIT_FAKEPROGRAM_H
