//===- Wgmma.cpp - Matrix instructions of a warpgroup ---------------------===//
//
// The arithmetic is in TensorCore.cpp.
//
// A wgmma reads shared memory when it takes effect, but its accumulators belong to the threads,
// whose registers are variables on the stacks of their fibers.  D of a sequence of wgmmas on the
// same registers is therefore collected in one matrix here (Accumulation): each thread brings its
// part to the first of them, and takes it back after the wait that covers the last.  In between its
// registers hold NaNs, or in eager mode what they held before.  A kernel that touches them too
// early is wrong here in every mode.  Nothing else of a thread is touched outside of its own calls.
//
// Fences and commits are no meetings of the warpgroup; that all threads came through the same ones
// is seen at the next multiplication or wait.  None of these orders the memory accesses of threads.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "MatrixElements.h"
#include "TensorCore.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage::simt;

static constexpr unsigned kRows = 64, kMaxColumns = 256;
static constexpr unsigned kWarps = kWarpgroupThreads / kWarpLanes;

//===----------------------------------------------------------------------===//
// Accumulations and their steps
//===----------------------------------------------------------------------===//

namespace {
struct Step;

/// Row and first column of a thread's part of a matrix of 64 rows: two elements there, two more
/// eight rows below, and the same again every eight columns.
struct Part {
  unsigned row, column;
  explicit Part(unsigned thread)
      : row(thread / kWarpLanes * 16 + thread % kWarpLanes / 4), column(thread % 4 * 2) {}
};

/// D in flight.
struct Accumulation {
  explicit Accumulation(unsigned columns) : columns(columns), d(new float[kRows * columns]) {}

  const unsigned columns;
  std::unique_ptr<float[]> d; ///< [row][column]
  std::array<float *, kWarpgroupThreads> registers{};
  std::vector<Step *> steps; ///< those from `performed` on are alive
  size_t performed = 0, waited = 0;
  const void *code = nullptr; ///< of the last step
  unsigned fences = 0;        ///< that there had been when the threads took their parts back

  /// Whether the registers that begin at `other` are partly those of the thread.
  bool overlaps(unsigned thread, const float *other, unsigned otherColumns) const {
    const float *own = registers[thread];
    return other < own + columns / 2 && own < other + otherColumns / 2;
  }
  /// Calls function(two floats of the matrix, two of the thread's registers) for each pair.
  template <class Function> void forEachPair(unsigned thread, Function function) {
    const Part part(thread);
    float *upper = &d[part.row * columns + part.column], *lower = upper + 8 * columns;
    float *own = registers[thread];
    for (unsigned column = 0; column < columns; column += 8, own += 4) {
      function(upper + column, own);
      function(lower + column, own + 2);
    }
  }
  void performUpTo(size_t number);
};

/// One wgmma.
struct Step : AsyncOperation {
  Step() {}
  void perform() override { into->performUpTo(number); }
  void multiply();

  std::shared_ptr<Accumulation> into;
  size_t number = 0; ///< among its steps
  MatrixElement elementA, elementB;
  bool accumulate = false, fromRegisters = false;
  MatrixOperand operandA, operandB;
  MatrixDescriptor descriptorA, descriptorB;
  std::array<unsigned, kOperandWords * kRows> aWords; ///< [word][row], if from registers
  std::vector<EngineOperation> engine;                ///< what the checker knows it as
};
} // namespace

/// In order, whichever of them is asked for.
void Accumulation::performUpTo(size_t number) {
  for (; performed <= number; ++performed)
    steps[performed]->multiply();
}

void Step::multiply() {
  static thread_local Factor a, b;
  const char *shared = issuer->home->shared;
  if (fromRegisters)
    a.set(MatrixUnit::Warpgroup, elementA, kRows, aWords.data());
  else
    a.set(elementA, shared, descriptorA, operandA);
  b.set(elementB, shared, descriptorB, operandB);
  multiplyFactors(MatrixUnit::Warpgroup, a, b, accumulate, into->d.get());
}

namespace swage::simt {
/// What a warpgroup has in flight.
struct MultiplyState {
  using Ref = std::shared_ptr<Accumulation>;

  /// Of each thread: warpgroupFence and warpgroupCommit so far.
  std::array<unsigned, kWarpgroupThreads> fences{}, commits{};
  unsigned committed = 0;    ///< groups
  unsigned fencesAtWait = 0; ///< that there had been at the last wait
  bool anyMultiply = false;
  std::vector<Ref> pending;
  std::vector<Ref> landed;  ///< by the last wait: each thread takes its part when it goes on
  std::vector<Ref> earlier; ///< landed before; checked launches only

  // The multiplication that threads are coming to.
  WarpgroupMultiply operation{};
  Ref into;
  bool begins = false; ///< `into` is new
  int different = -1;  ///< a thread that passed something else
  int changed = -1;    ///< a thread that has written its accumulators since they landed
  std::array<unsigned, kOperandWords * kRows> aWords;
};
} // namespace swage::simt

//===----------------------------------------------------------------------===//
// warpgroupMultiply
//===----------------------------------------------------------------------===//

static constexpr const char *kMultiply = "warpgroupMultiply";

static unsigned indexInGroup(const Thread &thread) { return thread.thread % kWarpgroupThreads; }
static Warpgroup &groupOf(Thread &thread) { return thread.home->warpgroups[thread.warpgroup()]; }
static MultiplyState &stateOf(Thread &thread) {
  std::shared_ptr<MultiplyState> &state = groupOf(thread).multiplyState;
  if (!state)
    state = std::make_shared<MultiplyState>();
  return *state;
}

static bool isSame(const WarpgroupMultiply &a, const WarpgroupMultiply &b) {
  return a.element == b.element && a.elementB == b.elementB && a.n == b.n && !a.a == !b.a &&
         a.descriptorA == b.descriptorA && a.descriptorB == b.descriptorB &&
         a.accumulate == b.accumulate && a.transposeA == b.transposeA &&
         a.transposeB == b.transposeB;
}

static MatrixOperand operandA(const WarpgroupMultiply &multiply) {
  return {kRows, !multiply.transposeA, elementBytes(multiply.element)};
}
static MatrixOperand operandB(const WarpgroupMultiply &multiply) {
  return {multiply.n, !multiply.transposeB, elementBytes(multiply.elementB)};
}

/// What the hardware forbids about the instruction; empty if nothing.
static std::string problemOf(const WarpgroupMultiply &multiply, bool suspicious) {
  if (multiply.n < 8 || multiply.n > kMaxColumns || multiply.n % 8)
    return fmt::format("{} columns; possible: multiples of 8 from 8 to {}", multiply.n,
                       kMaxColumns);
  if (!canMultiply(multiply.element, multiply.elementB) || isInteger(multiply.element))
    return fmt::format("no instruction multiplies {} by {}", name(multiply.element),
                       name(multiply.elementB));
  if (multiply.a && multiply.transposeA)
    return "A in registers cannot be transposed";
  if (!multiply.a)
    if (std::string problem = problemOf(multiply.descriptorA, operandA(multiply), suspicious);
        !problem.empty())
      return fmt::format("the descriptor of A (0x{:x}) {}", multiply.descriptorA, problem);
  if (std::string problem = problemOf(multiply.descriptorB, operandB(multiply), suspicious);
      !problem.empty())
    return fmt::format("the descriptor of B (0x{:x}) {}", multiply.descriptorB, problem);
  return "";
}

/// The first thread that comes says what is multiplied.
static void beginMultiply(Thread &thread, MultiplyState &state, const WarpgroupMultiply &multiply,
                          const void *code) {
  Worker &worker = Worker::current();
  const bool checked = thread.home->cluster->checker != nullptr;
  if (std::string problem = problemOf(multiply, checked); !problem.empty())
    worker.fail(thread, FindingKind::BadInstruction, code,
                fmt::format("{}: {}", kMultiply, problem));
  const unsigned index = indexInGroup(thread);
  const auto *d = static_cast<const float *>(multiply.d);
  state.operation = multiply;
  state.different = state.changed = -1;
  state.into = nullptr;
  for (const MultiplyState::Ref &pending : state.pending) {
    if (pending->registers[index] == d && pending->columns == multiply.n)
      state.into = pending;
    else if (pending->overlaps(index, d, multiply.n))
      worker.fail(thread, FindingKind::BadInstruction, code,
                  fmt::format("{}: its accumulators are in use by a multiplication of another "
                              "shape that nobody has waited for",
                              kMultiply),
                  {{"the multiplication", pending->code}});
  }
  state.begins = !state.into;
  if (state.begins)
    state.into = std::make_shared<Accumulation>(multiply.n);
}

/// The thread's registers go into the operation: A, and D unless it is in flight already.
static void bringRegisters(Thread &thread, MultiplyState &state, const WarpgroupMultiply &multiply,
                           const void *code) {
  const unsigned index = indexInGroup(thread);
  if (multiply.a) {
    const unsigned row = Part(index).row, word = index % 4;
    state.aWords[word * kRows + row] = multiply.a[0];
    state.aWords[word * kRows + row + 8] = multiply.a[1];
    state.aWords[(word + 4) * kRows + row] = multiply.a[2];
    state.aWords[(word + 4) * kRows + row + 8] = multiply.a[3];
  }
  if (!state.begins)
    return;
  Accumulation &into = *state.into;
  auto *d = static_cast<float *>(multiply.d);
  into.registers[index] = d;
  if (multiply.accumulate) {
    into.forEachPair(index, [](float *matrix, const float *own) { std::memcpy(matrix, own, 8); });
    for (const MultiplyState::Ref &earlier : state.earlier)
      if (earlier->registers[index] == d && earlier->columns == into.columns &&
          earlier->fences == state.fences[index])
        earlier->forEachPair(index, [&](const float *matrix, const float *own) {
          if (std::memcmp(matrix, own, 8) != 0)
            state.changed = int(index);
        });
  }
  const unsigned bytes = into.columns / 2 * sizeof(float);
  if (Worker::current().options().async != Asynchrony::Eager)
    std::memset(d, kPoisonByte, bytes);
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->lend(thread, d, bytes, code);
}

/// Fails unless all threads of the group have come through as many fences and commits.
static void checkUniform(Thread &thread, const MultiplyState &state, const void *code) {
  const auto check = [&](const std::array<unsigned, kWarpgroupThreads> &counts, const char *what) {
    for (unsigned i = 1; i < kWarpgroupThreads; ++i)
      if (counts[i] != counts[0])
        Worker::current().fail(
            thread, FindingKind::Divergence, code,
            fmt::format("thread {} of the warpgroup has come through {} {} times, thread 0 {} "
                        "times; the whole warpgroup must",
                        i, what, counts[i], counts[0]));
  };
  check(state.fences, "warpgroupFence");
  check(state.commits, "warpgroupCommit");
}

/// The descriptor, its start in the block's shared memory: of the end of a large static arena,
/// which is elsewhere on the hardware, 18 bits of address show the lower ones only.
static MatrixDescriptor decode(const Block &block, uint64_t bits) {
  constexpr SharedAddress kBeyond = 1u << 18;
  MatrixDescriptor descriptor = MatrixDescriptor::decode(bits);
  if (!block.holds(descriptor.start, kPieceBytes) &&
      block.holds(descriptor.start + kBeyond, kPieceBytes))
    descriptor.start += kBeyond;
  return descriptor;
}

/// Fails unless the operand lies in the shared memory of the block.
static void checkBounds(Thread &thread, const MatrixDescriptor &descriptor,
                        const MatrixOperand &operand, const char *which, uint64_t bits,
                        const void *code) {
  Block &block = *thread.home;
  bool inside = true;
  SharedAddress outside = 0;
  forEachPiece(descriptor, operand, [&](SharedAddress at, unsigned) {
    if (inside && !block.holds(at, kPieceBytes)) {
      inside = false;
      outside = at;
    }
  });
  if (inside)
    return;
  const bool dynamic = outside < kStaticSharedBase;
  Worker::current().fail(
      thread, FindingKind::OutOfBounds, code,
      fmt::format("{}: the descriptor of {} (0x{:x}) leads to offset {} of {} shared memory, of "
                  "which the block has {} bytes",
                  kMultiply, which, bits,
                  int64_t(outside) - (dynamic ? kDynamicSharedBase : kStaticSharedBase),
                  dynamic ? "dynamic" : "static",
                  dynamic ? block.dynamicSharedBytes : block.staticSharedBytes));
}

/// What is wrong with the fences before this multiplication.
static void checkFences(Thread &thread, const MultiplyState &state, const void *code) {
  Worker &worker = Worker::current();
  const unsigned fences = state.fences[0];
  if (!state.anyMultiply && fences == 0)
    worker.fail(thread, FindingKind::MissingFence, code,
                fmt::format("{} without any warpgroupFence before: what threads wrote to its "
                            "registers may not have arrived",
                            kMultiply));
  if (state.changed >= 0)
    worker.fail(
        thread, FindingKind::MissingFence, code,
        fmt::format(
            "{}: no warpgroupFence since thread {} wrote to its accumulators", kMultiply,
            thread.home->threads[thread.warpgroup() * kWarpgroupThreads + unsigned(state.changed)]
                .thread));
  if (worker.options().strict && fences == state.fencesAtWait &&
      (state.begins || state.operation.a))
    worker.fail(thread, FindingKind::MissingFence, code,
                fmt::format("{}: no warpgroupFence since the last warpgroupWait, after which its "
                            "registers were free to be used",
                            kMultiply));
}

/// Tells the checker what the step reads.  A warp's rows of A are read by that warp alone, which
/// attention kernels rely on and PTX does not promise.
static void tellChecker(Checker &checker, Thread &thread, Step &step, bool strict,
                        const void *code) {
  static thread_local PieceSet pieces;
  pieces.clear(); // a report ends a launch in the middle of a visit
  Thread *const first = &thread.home->threads[thread.warpgroup() * kWarpgroupThreads];
  std::array<Thread *, kWarpgroupThreads> threads;
  for (unsigned i = 0; i < kWarpgroupThreads; ++i)
    threads[i] = first + i;
  const auto read = [&](EngineOperation &operation) {
    pieces.drain([&](SharedAddress at, unsigned bytes) {
      checker.sharedAccess(operation, thread, *thread.home, at, bytes, false, kMultiply, code);
    });
  };

  step.engine.push_back(checker.begin(Engine::Wgmma, threads.data(), kWarpgroupThreads));
  forEachPiece(step.descriptorB, step.operandB,
               [&](SharedAddress at, unsigned) { pieces.add(at); });
  if (!step.fromRegisters && strict)
    forEachPiece(step.descriptorA, step.operandA,
                 [&](SharedAddress at, unsigned) { pieces.add(at); });
  read(step.engine.back());
  if (step.fromRegisters || strict)
    return;
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    forEachPiece(step.descriptorA, step.operandA, [&](SharedAddress at, unsigned row) {
      if (row / (kRows / kWarps) == warp)
        pieces.add(at);
    });
    step.engine.push_back(
        checker.begin(Engine::Wgmma, threads.data() + warp * kWarpLanes, kWarpLanes));
    read(step.engine.back());
  }
}

/// All threads have come: the operation is issued.
static void issueMultiply(void *const *, void *context) {
  const void *code = context;
  Worker &worker = Worker::current();
  Thread &thread = Worker::thread();
  MultiplyState &state = *groupOf(thread).multiplyState;
  const WarpgroupMultiply &operation = state.operation;
  if (state.different >= 0)
    worker.fail(thread, FindingKind::BadInstruction, code,
                fmt::format("{}: thread {} of the warpgroup passes other operands than the first "
                            "one to come",
                            kMultiply, state.different));
  checkUniform(thread, state, code);
  Checker *checker = thread.home->cluster->checker.get();
  if (checker)
    checkFences(thread, state, code);

  auto step = std::make_shared<Step>();
  step->issuer = &thread;
  step->code = code;
  step->into = state.into;
  step->number = state.into->steps.size();
  step->elementA = operation.element;
  step->elementB = operation.elementB;
  step->accumulate = operation.accumulate;
  step->fromRegisters = operation.a != nullptr;
  step->operandA = operandA(operation);
  step->operandB = operandB(operation);
  step->descriptorB = decode(*thread.home, operation.descriptorB);
  checkBounds(thread, step->descriptorB, step->operandB, "B", operation.descriptorB, code);
  if (step->fromRegisters) {
    step->aWords = state.aWords;
  } else {
    step->descriptorA = decode(*thread.home, operation.descriptorA);
    checkBounds(thread, step->descriptorA, step->operandA, "A", operation.descriptorA, code);
  }
  if (checker)
    tellChecker(*checker, thread, *step, worker.options().strict, code);

  state.anyMultiply = true;
  if (state.begins)
    state.pending.push_back(state.into);
  state.into->code = code;
  state.into->steps.push_back(step.get());
  state.into = nullptr;
  groupOf(thread).multiplies.open.push_back(step);
  worker.issue(step);
}

static void warpgroupMultiply(const WarpgroupMultiply *multiply) {
  const void *code = SWAGE_SIMT_CALLER;
  Thread &thread = Worker::thread();
  MultiplyState &state = stateOf(thread);
  if (groupOf(thread).arrived == 0)
    beginMultiply(thread, state, *multiply, code);
  // Not in this operation, or in no such operation: the meeting below says which.
  if (state.into && isSame(state.operation, *multiply))
    bringRegisters(thread, state, *multiply, code);
  else
    state.different = int(indexInGroup(thread));
  meetWarpgroup(kMultiply, code, false, nullptr, issueMultiply, const_cast<void *>(code));
}

//===----------------------------------------------------------------------===//
// Fences, commits and waits
//===----------------------------------------------------------------------===//

static void warpgroupFence() {
  Thread &thread = Worker::thread();
  ++stateOf(thread).fences[indexInGroup(thread)];
}

/// The first thread to come commits for all: none of them can multiply again before all have come.
static void warpgroupCommit() {
  Thread &thread = Worker::thread();
  MultiplyState &state = stateOf(thread);
  if (++state.commits[indexInGroup(thread)] <= state.committed)
    return;
  ++state.committed;
  AsyncGroups &multiplies = groupOf(thread).multiplies;
  multiplies.committed.push_back(std::move(multiplies.open));
  multiplies.open.clear();
}

/// Every thread knows now that the steps are done.
static void acquireAll(Checker &checker, Thread &thread, const std::vector<AsyncRef> &steps) {
  // Of each agent the last: the ones before are behind it.
  std::vector<const EngineOperation *> last;
  for (const AsyncRef &operation : steps)
    for (const EngineOperation &engine : static_cast<const Step &>(*operation).engine) {
      auto known = std::find_if(last.begin(), last.end(), [&](const EngineOperation *other) {
        return other->agent == engine.agent;
      });
      if (known == last.end())
        last.push_back(&engine);
      else if ((*known)->epoch < engine.epoch)
        *known = &engine;
    }
  Thread *const first = &thread.home->threads[thread.warpgroup() * kWarpgroupThreads];
  for (const EngineOperation *engine : last)
    for (unsigned i = 0; i < kWarpgroupThreads; ++i)
      checker.acquire(first[i], *engine);
}

namespace {
struct MultiplyWait {
  unsigned pending;
  const void *code;
};
} // namespace

/// All threads have come: the oldest groups are finished.
static void finishGroups(void *const *, void *context) {
  const auto &wait = *static_cast<const MultiplyWait *>(context);
  Worker &worker = Worker::current();
  Thread &thread = Worker::thread();
  MultiplyState &state = *groupOf(thread).multiplyState;
  AsyncGroups &multiplies = groupOf(thread).multiplies;
  Checker *checker = thread.home->cluster->checker.get();
  checkUniform(thread, state, wait.code);
  state.fencesAtWait = state.fences[0];
  state.landed.clear();

  std::vector<AsyncRef> finished;
  while (multiplies.committed.size() > wait.pending) {
    for (AsyncRef &operation : multiplies.committed.front())
      finished.push_back(std::move(operation));
    multiplies.committed.pop_front();
  }
  for (const AsyncRef &operation : finished) {
    worker.finish(*operation);
    ++static_cast<const Step &>(*operation).into->waited;
  }
  if (checker && !finished.empty())
    acquireAll(*checker, thread, finished);
  const auto isOver = [](const MultiplyState::Ref &accumulation) {
    return accumulation->waited == accumulation->steps.size();
  };
  for (const MultiplyState::Ref &accumulation : state.pending)
    if (isOver(accumulation)) {
      state.landed.push_back(accumulation);
      accumulation->fences = state.fencesAtWait;
      if (checker) {
        const auto replaced = [&](const MultiplyState::Ref &other) {
          return other->overlaps(0, accumulation->registers[0], accumulation->columns);
        };
        auto &earlier = state.earlier;
        earlier.erase(std::remove_if(earlier.begin(), earlier.end(), replaced), earlier.end());
        earlier.push_back(accumulation);
      }
    }
  state.pending.erase(std::remove_if(state.pending.begin(), state.pending.end(), isOver),
                      state.pending.end());
}

/// The thread takes its part of an accumulation back.
static void takeRegisters(Thread &thread, Accumulation &accumulation) {
  const unsigned index = indexInGroup(thread);
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->takeBack(thread, accumulation.registers[index]);
  accumulation.forEachPair(index,
                           [](const float *matrix, float *own) { std::memcpy(own, matrix, 8); });
}

static void warpgroupWait(unsigned pending) {
  const void *code = SWAGE_SIMT_CALLER;
  Thread &thread = Worker::thread();
  MultiplyState &state = stateOf(thread);
  MultiplyWait wait{pending, code};
  meetWarpgroup("warpgroupWait", code, false, nullptr, finishGroups, &wait);
  for (const MultiplyState::Ref &landed : state.landed)
    takeRegisters(thread, *landed);
}

void swage::simt::addWarpgroupFunctions(Abi &abi) {
  abi.warpgroupFence = warpgroupFence;
  abi.warpgroupMultiply = warpgroupMultiply;
  abi.warpgroupCommit = warpgroupCommit;
  abi.warpgroupWait = warpgroupWait;
}
