//===- Checker.h - What orders what, and who touched what -----------------===//
//
// Happens-before over vector clocks (FastTrack, Flanagan and Freund, PLDI 2009), one clock entry
// for each thread of the cluster and for each of its engines.  A shadow of shared memory holds the
// last write and the reads since of every byte.  Engines (copies, wgmma) work through the async
// proxy: what threads wrote reaches them only across fence.proxy.async.
//
// One Checker belongs to one cluster; null where a launch is not checked.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_CHECKER_H
#define SWAGE_LIB_SIMT_CHECKER_H

#include "Clock.h"
#include "swage/device/cpu/abi.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace swage::simt {

struct Block;
struct Cluster;
struct Thread;

/// What a thread knows of the others, and how far it is itself.
struct ThreadClock {
  ClockRef data;
  uint32_t epoch = 1;
  /// The async proxy sees what the thread wrote in epochs before this one; all, unless
  /// `isUnfenced`.
  uint32_t fenced = 0;
  uint32_t copies = 0, copiesBefore = 0, copiesFenced = 0; ///< cp.async: issued; waited for; fenced
  bool isUnfenced = false; ///< wrote shared memory since the last fence
  bool isNews = false;     ///< something has happened that those it last met do not know
  bool hasLent = false;    ///< some of its memory
};

/// What those knew who released a barrier or mbarrier; empty: nothing.
struct SyncClock {
  ClockRef data;
  ClockRef joined; ///< what the last to release knew
};

/// The engines of a block.
enum class Engine : unsigned char {
  CopyAsync, ///< cp.async: generic proxy, on behalf of its thread
  BulkLoad,  ///< into shared memory, async proxy
  BulkStore, ///< out of shared memory, async proxy
  Wgmma,     ///< async proxy
};

/// One operation of an engine, from its issue to its completion.
struct EngineOperation {
  Engine engine = Engine::BulkLoad;
  Agent agent;
  uint32_t epoch = 0; ///< of the agent
  ClockRef issued;    ///< what its issuers knew
  /// A single issuer, and what it did before.
  Agent issuer = {0xffff, 0};
  uint32_t issuerBefore = 0, issuerFenced = 0, copiesBefore = 0, copiesFenced = 0;
};

class Checker {
public:
  explicit Checker(Cluster &cluster);
  ~Checker();
  /// For new blocks in the same cluster object, whose threads have fresh clocks.
  void reset();
  /// The block has got its static shared memory: bytes of it are uninitialised.
  void forget(Block &block);
  /// All threads of the block have finished, so that its shared memory is gone.
  void end(Block &block);

  // Order among threads.
  /// All that each did before is visible to all after.
  void meet(Thread *const *threads, size_t count);
  void release(Thread &thread, SyncClock &clock);
  void acquire(Thread &thread, const SyncClock &clock);
  void fenceProxyAsync(Thread &thread);

  // Accesses; a violation ends the launch.
  /// Any address, from instrumented code.
  void access(Thread &thread, const void *at, uint64_t bytes, bool write, const void *code);
  void sharedAccess(Thread &thread, Block &block, SharedAddress at, unsigned bytes, bool write,
                    const char *what, const void *code);
  /// An atomic: ordered with other atomics at the same place, a race with anything else.
  void sharedAtomic(Thread &thread, Block &block, SharedAddress at, unsigned bytes,
                    const char *what, const void *code);

  // Engines.  An operation begins, and its accesses are told, when it is issued.
  /// With several issuers: lanes of a warp issue together, warps one by one, so that the operation
  /// has only what each warp knows.
  EngineOperation begin(Engine engine, Thread *const *issuers, size_t count);
  void sharedAccess(EngineOperation &operation, Thread &issuer, Block &block, SharedAddress at,
                    unsigned bytes, bool write, const char *what, const void *code);
  /// Whoever acquires `clock` (an mbarrier's) has the operation behind it.
  void complete(const EngineOperation &operation, SyncClock &clock);
  /// The thread has waited for it itself.
  void acquire(Thread &thread, const EngineOperation &operation);
  /// Accumulators of the thread belong to wgmma, until it takes them back.
  void lend(Thread &thread, const void *begin, unsigned bytes, const void *code);
  void takeBack(Thread &thread, const void *begin);

private:
  friend struct CheckerPeer; ///< of the unit tests
  struct State;
  std::unique_ptr<State> state;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_CHECKER_H
