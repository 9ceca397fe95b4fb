//===- Memory.cpp - Addresses, atomics and what a kernel may touch --------===//

#include "Scheduler.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

#define CODE SWAGE_SIMT_CALLER

static constexpr SharedAddress kOffsetBits = 24, kOffsetMask = (1u << kOffsetBits) - 1;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static std::string extent(const Block &block) {
  if (block.staticSharedBytes && block.dynamicSharedBytes)
    return fmt::format("the block has {} static and {} dynamic bytes", block.staticSharedBytes,
                       block.dynamicSharedBytes);
  return fmt::format("the block has {} bytes", block.staticSharedBytes + block.dynamicSharedBytes);
}

/// The offset of an address in its region, for messages.
static int64_t offsetOf(SharedAddress at) {
  return int64_t(at) - int64_t(isStaticShared(at) ? kStaticSharedBase : kDynamicSharedBase);
}

SharedPlace swage::simt::sharedPlace(Thread &thread, SharedAddress at, unsigned bytes,
                                     unsigned alignment, const char *what, const void *code) {
  Worker &worker = Worker::current();
  Block *block = thread.home;
  if (unsigned rank = at >> kOffsetBits) {
    Cluster &cluster = *block->cluster;
    if (rank > cluster.blocks.size())
      worker.fail(thread, FindingKind::OutOfBounds, code,
                  fmt::format("{}: shared address 0x{:x} names block {} of a cluster of {}", what,
                              at, rank - 1, cluster.blocks.size()));
    block = cluster.blocks[rank - 1].get();
    at &= kOffsetMask;
  }
  if (block != thread.home && isStaticShared(at) && block->staticSharedBytes == 0)
    worker.fail(thread, FindingKind::SharedRace, code,
                fmt::format("{} in the shared memory of block {}, which has not begun; needed: a "
                            "clusterBarrier before",
                            what, block->index));
  if (!block->holds(at, bytes))
    worker.fail(thread, FindingKind::OutOfBounds, code,
                fmt::format("{} of {} bytes of shared memory at offset {}: {}", what, bytes,
                            offsetOf(at), extent(*block)));
  if (at % alignment != 0)
    worker.fail(thread, FindingKind::Misaligned, code,
                fmt::format("{} at offset {} of shared memory, which is not a multiple of {}", what,
                            offsetOf(at), alignment));
  if (block->live == 0 && block != thread.home)
    worker.fail(
        thread, FindingKind::OutOfBounds, code,
        fmt::format("{} of the shared memory of block {}, which has finished", what, block->index));
  return {block, at};
}

SharedPlace swage::simt::accessShared(Thread &thread, SharedAddress at, unsigned bytes,
                                      unsigned alignment, bool write, const char *what,
                                      const void *code) {
  SharedPlace place = sharedPlace(thread, at, bytes, alignment, what, code);
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->sharedAccess(thread, *place.block, place.at, bytes, write, what, code);
  return place;
}

static char *arena(unsigned bytes) {
  Worker &worker = Worker::current();
  Thread &thread = Worker::thread();
  Block &block = *thread.home;
  if (bytes > kMaxDeclaredArena) {
    if (bytes > block.dynamicSharedBytes)
      worker.fail(thread, FindingKind::BadInstruction, CODE,
                  fmt::format("arena<{}> in a launch that asks for {} bytes of shared memory; "
                              "needed: as many, because a kernel may declare no more than {}",
                              bytes, block.dynamicSharedBytes, kMaxDeclaredArena));
    return thread.dynamicShared;
  }
  if (block.staticSharedBytes != bytes) {
    if (block.staticSharedBytes)
      worker.fail(thread, FindingKind::BadInstruction, CODE,
                  fmt::format("arena<{}> in a kernel that has arena<{}>: there is one arena", bytes,
                              block.staticSharedBytes));
    if (bytes + block.dynamicSharedBytes > kMaxDynamicSharedBytes)
      worker.fail(thread, FindingKind::BadInstruction, CODE,
                  fmt::format("arena<{}> beside {} bytes of dynamic shared memory: a block may "
                              "have {}",
                              bytes, block.dynamicSharedBytes, kMaxDynamicSharedBytes));
    block.staticSharedBytes = bytes;
    std::memset(block.shared + kStaticSharedBase, kPoisonByte, bytes);
    if (Checker *checker = block.cluster->checker.get())
      checker->forget(block);
  }
  return block.shared + kStaticSharedBase;
}

static SharedAddress sharedAddress(const void *pointer) {
  Thread &thread = Worker::thread();
  for (const auto &block : thread.home->cluster->blocks) {
    ptrdiff_t at = static_cast<const char *>(pointer) - block->shared;
    if (at >= 0 && at < ptrdiff_t(kSharedEnd) && block->holds(SharedAddress(at), 0))
      return SharedAddress(at) |
             (block.get() == thread.home ? 0 : (block->rank + 1) << kOffsetBits);
  }
  Worker::current().fail(thread, FindingKind::OutOfBounds, CODE,
                         "sharedAddress of a pointer that is not into shared memory");
}

static char *sharedPointer(SharedAddress at) {
  return sharedPlace(Worker::thread(), at, 0, 1, "sharedPointer", CODE).data();
}

static SharedAddress mapShared(SharedAddress at, unsigned rank) {
  Thread &thread = Worker::thread();
  if (rank >= thread.clusterSize)
    Worker::current().fail(
        thread, FindingKind::OutOfBounds, CODE,
        fmt::format("mapShared: block {} of a cluster of {}", rank, thread.clusterSize));
  return (at & kOffsetMask) | (rank + 1) << kOffsetBits;
}

static void loadCluster(SharedAddress from, void *value, unsigned bytes) {
  SharedPlace place =
      accessShared(Worker::thread(), from, bytes, bytes, false, "loadCluster", CODE);
  std::memcpy(value, place.data(), bytes);
}

static void storeCluster(SharedAddress to, const void *value, unsigned bytes) {
  SharedPlace place = accessShared(Worker::thread(), to, bytes, bytes, true, "storeCluster", CODE);
  std::memcpy(place.data(), value, bytes);
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The allocation that begins at or before the address; null if none does.
static const MemoryRange *allocationBefore(const Launch &launch, const void *at) {
  const std::vector<MemoryRange> &memory = *launch.memory;
  auto after = std::upper_bound(memory.begin(), memory.end(), at,
                                [](const void *a, const MemoryRange &b) { return a < b.begin; });
  return after == memory.begin() ? nullptr : &*std::prev(after);
}

void swage::simt::checkHasWaited(const Thread &thread, const void *at, bool write,
                                 const void *code) {
  Worker &worker = Worker::current();
  const MemoryRange *range = allocationBefore(worker.launch(), at);
  if (range && static_cast<const char *>(at) < range->begin + range->bytes)
    worker.fail(thread, FindingKind::EarlyAccess, code,
                fmt::format("a {} of global memory that grids before this one may still use; "
                            "needed: waitForPriorGrids before",
                            write ? "write" : "read"));
}

void swage::simt::accessGlobal(Thread &thread, const void *at, uint64_t bytes, unsigned alignment,
                               bool write, const char *what, const void *code) {
  Worker &worker = Worker::current();
  if (reinterpret_cast<uintptr_t>(at) % alignment != 0)
    worker.fail(thread, FindingKind::Misaligned, code,
                fmt::format("{} at an address of global memory that is not a multiple of {}", what,
                            alignment));
  if (Checker *checker = thread.home->cluster->checker.get()) {
    checker->access(thread, at, bytes, write, code);
    return;
  }
  if (thread.mustWaitForGrids)
    checkHasWaited(thread, at, write, code);
  // Beyond the allocations is the host's own memory, which it may hand to kernels (arrays in
  // Python), as plain accesses have it too.
  const MemoryRange *range = allocationBefore(worker.launch(), at);
  const char *begin = static_cast<const char *>(at);
  const char *end = range ? range->begin + range->bytes : begin;
  if (begin < end && begin + bytes > end)
    worker.fail(thread, FindingKind::OutOfBounds, code,
                fmt::format("{} of {} bytes that reach beyond an allocation of global memory", what,
                            bytes));
}

static void access(const void *at, unsigned long bytes, bool write, const void *code) {
  WorkerImpl *worker = currentWorker;
  if (!worker || !worker->running)
    return;
  Thread &thread = *worker->running;
  // Most are of its own variables.
  if (thread.fiber.stack->contains(at) && !thread.clock.hasLent)
    return;
  thread.home->cluster->checker->access(thread, at, bytes, write, code);
}

static void undefined(const char *what, const void *code) {
  Worker::current().fail(Worker::thread(), FindingKind::Undefined, code, what);
}

static void misaligned(const void *at, unsigned alignment, bool write, const void *code) {
  Worker::current().fail(Worker::thread(), FindingKind::Misaligned, code,
                         fmt::format("{} at an address that is not a multiple of {}: 0x{:x}",
                                     write ? "store" : "load", alignment,
                                     reinterpret_cast<uintptr_t>(at)));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

template <class Number> static Number minMax(Number a, Number b, AtomicOp op) {
  return op == AtomicOp::Min ? std::min(a, b) : std::max(a, b);
}

/// atom.add.f32 on global memory takes denormals for zero, that on shared memory does not (PTX ISA,
/// atom).
static float flushed(float value) {
  return std::abs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

template <class Word>
static Word updated(Word old, Word operand, Word comparand, AtomicOp op, NumberKind kind,
                    bool flush) {
  switch (op) {
  case AtomicOp::And:
    return old & operand;
  case AtomicOp::Or:
    return old | operand;
  case AtomicOp::Xor:
    return old ^ operand;
  case AtomicOp::Exchange:
  case AtomicOp::Store:
    return operand;
  case AtomicOp::CompareExchange:
    return old == comparand ? operand : old;
  case AtomicOp::Load:
    return old;
  case AtomicOp::Min:
  case AtomicOp::Max:
    if (kind == NumberKind::Signed) {
      using Signed = std::make_signed_t<Word>;
      return Word(minMax(Signed(old), Signed(operand), op));
    }
    return minMax(old, operand, op);
  case AtomicOp::Add:
    break;
  }
  if (kind != NumberKind::Float)
    return Word(old + operand);
  if constexpr (sizeof(Word) == 8) {
    return llvm::bit_cast<Word>(llvm::bit_cast<double>(old) + llvm::bit_cast<double>(operand));
  } else if constexpr (sizeof(Word) == 4) {
    float a = llvm::bit_cast<float>(old), b = llvm::bit_cast<float>(operand);
    return llvm::bit_cast<Word>(flush ? flushed(flushed(a) + flushed(b)) : a + b);
  } else {
    return old;
  }
}

/// Whether it has changed what is there.
template <class Word>
static bool atomicAt(void *at, AtomicOp op, NumberKind kind, const void *operand,
                     const void *comparand, void *old, bool flush) {
  auto *place = static_cast<Word *>(at);
  Word value = 0, compared = 0;
  if (operand)
    std::memcpy(&value, operand, sizeof(Word));
  if (comparand)
    std::memcpy(&compared, comparand, sizeof(Word));
  Word before = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  if (op != AtomicOp::Load)
    while (!__atomic_compare_exchange_n(place, &before,
                                        updated(before, value, compared, op, kind, flush), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      ;
  if (old)
    std::memcpy(old, &before, sizeof(Word));
  return op != AtomicOp::Load && before != updated(before, value, compared, op, kind, flush);
}

static bool atomicAt(void *at, unsigned bytes, AtomicOp op, NumberKind kind, const void *operand,
                     const void *comparand, void *old, bool flush) {
  switch (bytes) {
  case 2:
    return atomicAt<uint16_t>(at, op, kind, operand, comparand, old, flush);
  case 4:
    return atomicAt<uint32_t>(at, op, kind, operand, comparand, old, flush);
  default:
    return atomicAt<uint64_t>(at, op, kind, operand, comparand, old, flush);
  }
}

/// A thread that reads flags so often, or fails to take locks, waits for them, whether it says so
/// or not.
static constexpr unsigned kReadsUntilPause = 16;

/// After each atomic access: a change may be what others wait for in loops.
static void noteAtomic(Thread &thread, AtomicOp op, bool changed, const void *code) {
  if (changed)
    currentWorker->noteProgress();
  else if ((op == AtomicOp::Load || op == AtomicOp::Exchange || op == AtomicOp::CompareExchange) &&
           ++thread.atomicReads % kReadsUntilPause == 0)
    Worker::current().pause(code);
}

static void atomicGlobal(void *at, unsigned bytes, AtomicOp op, NumberKind kind,
                         const void *operand, const void *comparand, void *old) {
  const void *code = CODE;
  Thread &thread = Worker::thread();
  accessGlobal(thread, at, bytes, bytes, op != AtomicOp::Load, "an atomic access", code);
  bool changed = atomicAt(at, bytes, op, kind, operand, comparand, old, true);
  noteAtomic(thread, op, changed, code);
}

static void atomicShared(SharedAddress at, unsigned bytes, AtomicOp op, NumberKind kind,
                         const void *operand, const void *comparand, void *old) {
  const void *code = CODE;
  Thread &thread = Worker::thread();
  SharedPlace place = sharedPlace(thread, at, bytes, bytes, "an atomic access", code);
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->sharedAtomic(thread, *place.block, place.at, bytes, "an atomic access", code);
  bool changed = atomicAt(place.data(), bytes, op, kind, operand, comparand, old, false);
  noteAtomic(thread, op, changed, code);
}

/// Threads of a cluster see each other's accesses in order anyway.
static void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static void pauseThread() { Worker::current().pause(CODE); }

void swage::simt::addMemoryFunctions(Abi &abi) {
  abi.access = access;
  abi.arena = arena;
  abi.sharedAddress = sharedAddress;
  abi.sharedPointer = sharedPointer;
  abi.mapShared = mapShared;
  abi.loadCluster = loadCluster;
  abi.storeCluster = storeCluster;
  abi.atomicGlobal = atomicGlobal;
  abi.atomicShared = atomicShared;
  abi.fence = fence;
  abi.pause = pauseThread;
  abi.undefined = undefined;
  abi.misaligned = misaligned;
}
