//===- CheckerState.h - Inside of the checker -----------------------------===//
//
// Agents of a cluster, in groups of 32: the warps of its threads, then for each warp what cp.async
// does for its threads, then the other engines.  A thread's cp.async operations are numbered on
// their own, and complete in order.  The wgmma of a warpgroup, and the bulk stores of a thread,
// complete in order too.  Bulk loads do not: each takes the next of 64 agents of its block.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_CHECKERSTATE_H
#define SWAGE_LIB_SIMT_CHECKERSTATE_H

#include "Addresses.h"
#include "Machine.h"
#include "Shadow.h"

#include <optional>

namespace swage::simt {

/// One of the engines' agents.
struct EngineAgent {
  Engine engine;
  const Thread *issuer; ///< of the last operation
};

struct BlockState {
  BlockState(unsigned bytes, unsigned genericGroups) : shadow(bytes, genericGroups) {}

  Shadow shadow;
  std::vector<Agent> loads; ///< round robin
  size_t nextLoad = 0;
  std::vector<Agent> stores;     ///< by thread
  std::vector<Agent> multiplies; ///< by warpgroup
  /// By other blocks: must happen before the block ends.
  struct Remote {
    Agent agent;
    uint32_t epoch;
    const Thread *thread;
    const void *code;
    bool isWrite;
  };
  std::vector<Remote> remotes;
  static constexpr size_t kRemotes = 4096;
  size_t remoteLimit = kRemotes; ///< when to drop those that the block knows
};

/// A thread's memory that an engine uses.
struct Lent {
  uintptr_t begin;
  unsigned bytes;
  const void *code;
};

/// A result that the next threads are likely to need too.
struct Memo {
  enum class What : uint8_t { None, Join, Fence, Raise } what = What::None;
  ClockRef from, other, result;
  Agent agent;
  uint32_t epoch = 0;
};

struct Checker::State {
  explicit State(Cluster &cluster);

  Agent agentOf(const Thread &thread) const {
    return {uint16_t(thread.home->rank * warpsPerBlock + thread.warp()), uint16_t(thread.lane())};
  }
  size_t indexOf(const Thread &thread) const {
    return thread.home->rank * warpsPerBlock * kGroupAgents + thread.thread;
  }
  Agent copiesOf(const Thread &thread) const {
    Agent agent = agentOf(thread);
    agent.group = uint16_t(agent.group + threadGroups);
    return agent;
  }
  Agent newAgent(Engine engine, const Thread &issuer);
  Agent agentOf(Engine engine, const Thread &issuer);
  uint32_t fullMask(unsigned group) const {
    return (group + 1) % warpsPerBlock == 0 ? lastWarpMask : ~0u;
  }
  bool isStrict() const { return cluster.worker && cluster.worker->options().strict; }

  uint32_t pack(const void *code) {
    if (!code)
      return 0;
    auto at = reinterpret_cast<uintptr_t>(code);
    if (!codeBase)
      codeBase = at - (uintptr_t(1) << 31);
    return uint32_t(at - codeBase);
  }
  const void *unpack(uint32_t code) const {
    return code ? reinterpret_cast<const void *>(codeBase + code) : nullptr;
  }

  /// The last of these is forgotten for it.
  Memo &remember(Memo::What what, const ClockRef &from, const ClockRef &other) {
    Memo &memo = memos[nextMemo++ % memos.size()];
    memo.what = what;
    memo.from = from;
    memo.other = other;
    return memo;
  }
  const Memo *recall(Memo::What what, const ClockRef &from, const ClockRef &other) const {
    for (const Memo &memo : memos)
      if (memo.what == what && memo.from == from && memo.other == other)
        return &memo;
    return nullptr;
  }
  ClockRef join(const ClockRef &a, const ClockRef &b);
  void raise(ClockRef &clock, Agent agent, uint32_t epoch);

  /// A new epoch for the thread, unless nothing happened in the present one.
  void advance(Thread &thread) {
    if (thread.clock.isNews)
      thread.clock.epoch = ++time;
  }
  uint32_t fencedBefore(const ThreadClock &clock) const {
    return clock.isUnfenced ? clock.fenced : clock.epoch;
  }
  void publish(Thread *const *threads, size_t count, ClockData &clock, uint32_t now);
  void publish(const Thread &thread, ClockData &clock) const;
  ClockRef knownTo(const Block &block);

  Accessor accessor(Thread &thread, const void *code);
  Accessor accessor(const EngineOperation &operation, const Thread &issuer, const void *code);
  Conflict tryAccess(Thread &thread, Block &block, SharedAddress at, unsigned bytes, Use use,
                     const void *code);
  void touch(Thread &thread, Block &block, SharedAddress at, unsigned bytes, Use use,
             const char *what, const void *code);
  void requireStarted(const Block &block, const ClockRef &known, const Thread &thread,
                      const char *what, const void *code);
  void noteRemote(Block &block, Agent agent, uint32_t epoch, const Thread &thread, bool write,
                  const void *code);
  std::string describe(Agent agent, const Block &viewer) const;
  [[noreturn]] void report(const Thread &thread, const Block &block, const Conflict &conflict,
                           unsigned bytes, Use use, const char *what, const void *code);
  void checkLent(const Thread &thread, uintptr_t at, uint64_t bytes, bool write, const void *code);
  [[noreturn]] void refuse(Thread &thread, const void *at, uint64_t bytes, bool write,
                           const void *code);

  Cluster &cluster;
  std::optional<Addresses> addresses; ///< none without a launch
  unsigned warpsPerBlock, threadGroups;
  uint32_t lastWarpMask;
  std::vector<BlockState> blocks;
  std::vector<EngineAgent> engines;
  std::vector<std::vector<Lent>> lent; ///< by thread of the cluster; empty: nothing yet
  uint32_t time = 1;
  bool anyFences = false;
  std::array<Memo, 4> memos;
  size_t nextMemo = 0;
  uintptr_t codeBase = 0;
  /// Of each warp: the lanes that publish, and what they say.
  struct Together {
    uint32_t lanes = 0, fenced = 0, copiesBefore = 0, copiesFenced = 0;
    bool agree = true;
  };
  std::vector<Together> together;
  std::vector<unsigned> touched; ///< warps
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_CHECKERSTATE_H
