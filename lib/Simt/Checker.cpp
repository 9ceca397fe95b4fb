//===- Checker.cpp - What orders what, and who touched what ---------------===//

#include "CheckerState.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

static constexpr unsigned kLoadAgents = 64;

Checker::State::State(Cluster &cluster) : cluster(cluster) {
  if (cluster.worker)
    addresses.emplace(cluster);
  size_t threads = cluster.blocks[0]->threads.size();
  warpsPerBlock = unsigned((threads + kWarpLanes - 1) / kWarpLanes);
  threadGroups = unsigned(warpsPerBlock * cluster.blocks.size());
  unsigned rest = threads % kWarpLanes;
  lastWarpMask = rest ? (1u << rest) - 1 : ~0u;
  together.resize(threadGroups);
  for (size_t i = 0; i < cluster.blocks.size(); ++i)
    blocks.emplace_back(kSharedEnd, 2 * threadGroups);
}

Checker::Checker(Cluster &cluster) : state(std::make_unique<State>(cluster)) {}
Checker::~Checker() = default;

void Checker::reset() {
  State &s = *state;
  for (BlockState &block : s.blocks) {
    block.shadow.reset();
    block.loads.clear();
    block.nextLoad = 0;
    block.stores.clear();
    block.multiplies.clear();
    block.remotes.clear();
  }
  s.engines.clear();
  for (std::vector<Lent> &ranges : s.lent)
    ranges.clear();
  s.time = 1;
  s.anyFences = false;
  s.memos = {};
}

void Checker::forget(Block &block) {
  state->blocks[block.rank].shadow.resetFrom(kStaticSharedBase);
}

//===----------------------------------------------------------------------===//
// Order among threads
//===----------------------------------------------------------------------===//

ClockRef Checker::State::join(const ClockRef &a, const ClockRef &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  if (const Memo *memo = recall(Memo::What::Join, a, b))
    return memo->result;
  Memo &memo = remember(Memo::What::Join, a, b);
  if (a->seen.covers(b->seen) && a->fenced.covers(b->fenced)) {
    memo.result = a;
  } else if (b->seen.covers(a->seen) && b->fenced.covers(a->fenced)) {
    memo.result = b;
  } else {
    memo.result = ClockRef::copyOf(a.get());
    memo.result.own().join(*b.get());
  }
  return memo.result;
}

void Checker::State::raise(ClockRef &clock, Agent agent, uint32_t epoch) {
  if (clock && clock->seen.get(agent.group, agent.lane) >= epoch)
    return;
  for (const Memo &memo : memos)
    if (memo.what == Memo::What::Raise && memo.from == clock && memo.agent == agent &&
        memo.epoch == epoch) {
      clock = memo.result;
      return;
    }
  Memo &memo = remember(Memo::What::Raise, clock, ClockRef());
  memo.agent = agent;
  memo.epoch = epoch;
  memo.result = ClockRef::copyOf(clock.get());
  memo.result.own().seen.raise(agent.group, agent.lane, epoch);
  clock = memo.result;
}

/// What these threads did so far, and copies they waited for, into a clock; all of it before `now`,
/// their next epoch.  A warp that is at one point takes one number.
void Checker::State::publish(Thread *const *threads, size_t count, ClockData &clock, uint32_t now) {
  touched.clear();
  for (size_t i = 0; i < count; ++i) {
    ThreadClock &own = threads[i]->clock;
    Agent agent = agentOf(*threads[i]);
    Together &warp = together[agent.group];
    own.epoch = now;
    uint32_t fenced = own.isUnfenced ? own.fenced : now;
    if (warp.lanes == 0) {
      warp = {0, fenced, own.copiesBefore, own.copiesFenced, true};
      touched.push_back(agent.group);
    }
    warp.lanes |= 1u << agent.lane;
    warp.agree &= warp.fenced == fenced && warp.copiesBefore == own.copiesBefore &&
                  warp.copiesFenced == own.copiesFenced;
  }
  bool anyLeft = false;
  for (unsigned group : touched) {
    Together &warp = together[group];
    if (!warp.agree || warp.lanes != fullMask(group)) {
      anyLeft = true;
      continue;
    }
    warp.lanes = 0;
    clock.seen.raiseGroup(group, now);
    if (warp.copiesBefore)
      clock.seen.raiseGroup(group + threadGroups, warp.copiesBefore);
    if (anyFences) {
      clock.fenced.raiseGroup(group, warp.fenced);
      if (warp.copiesFenced)
        clock.fenced.raiseGroup(group + threadGroups, warp.copiesFenced);
    }
  }
  if (!anyLeft)
    return;
  for (size_t i = 0; i < count; ++i)
    if (together[agentOf(*threads[i]).group].lanes)
      publish(*threads[i], clock);
  for (unsigned group : touched)
    together[group].lanes = 0;
}

/// The same for one thread, all of it before its present epoch.
void Checker::State::publish(const Thread &thread, ClockData &clock) const {
  const ThreadClock &own = thread.clock;
  Agent agent = agentOf(thread);
  clock.seen.raise(agent.group, agent.lane, own.epoch);
  if (own.copiesBefore)
    clock.seen.raise(agent.group + threadGroups, agent.lane, own.copiesBefore);
  if (anyFences) {
    clock.fenced.raise(agent.group, agent.lane, fencedBefore(own));
    if (own.copiesFenced)
      clock.fenced.raise(agent.group + threadGroups, agent.lane, own.copiesFenced);
  }
}

/// Whether some of them know or did what others do not know.
static bool isAnyNew(Thread *const *threads, size_t count) {
  const ClockRef &known = threads[0]->clock.data;
  for (size_t i = 0; i < count; ++i)
    if (threads[i]->clock.isNews || threads[i]->clock.data != known)
      return true;
  return false;
}

void Checker::meet(Thread *const *threads, size_t count) {
  State &s = *state;
  if (count == 0 || !isAnyNew(threads, count))
    return;
  uint32_t now = ++s.time;
  ClockRef result = ClockRef::copyOf(threads[0]->clock.data.get());
  ClockData &clock = result.own();
  if (threads[0]->clock.data)
    threads[0]->clock.data.visit(now);
  for (size_t i = 0; i < count; ++i) {
    ThreadClock &own = threads[i]->clock;
    if (own.data && own.data.visit(now))
      clock.join(*own.data.get());
    own.isNews = false;
  }
  s.publish(threads, count, clock, now);
  for (size_t i = 0; i < count; ++i)
    threads[i]->clock.data = result;
}

void Checker::release(Thread &thread, SyncClock &clock) {
  State &s = *state;
  s.advance(thread);
  const ClockRef &known = thread.clock.data;
  ClockData &joined = clock.data.own();
  if (known && known != clock.joined) {
    joined.join(*known.get());
    clock.joined = known;
  }
  s.publish(thread, joined);
}

void Checker::acquire(Thread &thread, const SyncClock &clock) {
  ClockRef &known = thread.clock.data;
  ClockRef joined = state->join(known, clock.data);
  if (joined != known)
    known = std::move(joined);
}

void Checker::fenceProxyAsync(Thread &thread) {
  State &s = *state;
  ThreadClock &own = thread.clock;
  s.anyFences = true;
  if (own.isUnfenced) {
    own.epoch = ++s.time;
    own.fenced = own.epoch;
    own.isUnfenced = false;
  }
  own.copiesFenced = own.copiesBefore;
  own.isNews = true;
  // The fence is on the way from what others wrote, to whatever comes after it.  Strictly, the one
  // who writes puts it behind the write.
  if (s.isStrict() || !own.data || own.data->fenced.covers(own.data->seen))
    return;
  if (const Memo *memo = s.recall(Memo::What::Fence, own.data, ClockRef())) {
    own.data = memo->result;
    return;
  }
  Memo &memo = s.remember(Memo::What::Fence, own.data, ClockRef());
  memo.result = ClockRef::copyOf(own.data.get());
  ClockData &clock = memo.result.own();
  clock.fenced.join(clock.seen);
  own.data = memo.result;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Accessor Checker::State::accessor(Thread &thread, const void *code) {
  const ThreadClock &own = thread.clock;
  Accessor accessor;
  accessor.agent = accessor.thread = agentOf(thread);
  accessor.epoch = own.epoch;
  accessor.threadBefore = ~0u;
  accessor.known = own.data.get();
  if (own.copies) {
    accessor.copies = copiesOf(thread);
    accessor.copiesBefore = own.copiesBefore;
  }
  accessor.code = pack(code);
  return accessor;
}

Accessor Checker::State::accessor(const EngineOperation &operation, const Thread &issuer,
                                  const void *code) {
  Accessor accessor;
  accessor.agent = operation.agent;
  accessor.epoch = operation.epoch;
  accessor.known = operation.issued.get();
  accessor.thread = operation.issuer;
  accessor.threadBefore = operation.issuerBefore;
  accessor.threadFenced = operation.issuerFenced;
  if (operation.copiesBefore) {
    accessor.copies = copiesOf(issuer);
    accessor.copiesBefore = operation.copiesBefore;
    accessor.copiesFenced = operation.copiesFenced;
  }
  accessor.isAsync = operation.engine != Engine::CopyAsync;
  accessor.code = pack(code);
  return accessor;
}

/// What all the block's threads together know.
ClockRef Checker::State::knownTo(const Block &block) {
  ClockRef known;
  uint32_t now = ++time;
  for (const Thread &thread : block.threads)
    if (thread.clock.data && thread.clock.data.visit(now))
      known = join(known, thread.clock.data);
  return known;
}

static bool isKnown(const BlockState::Remote &remote, const ClockRef &known) {
  return known && remote.epoch < known->seen.get(remote.agent.group, remote.agent.lane);
}

/// The blocks of a cluster run at the same time, but one that another block has heard nothing of
/// may not have begun.
void Checker::State::requireStarted(const Block &block, const ClockRef &known, const Thread &thread,
                                    const char *what, const void *code) {
  unsigned first = block.rank * warpsPerBlock;
  for (unsigned group = first; known && group < first + warpsPerBlock; ++group)
    for (unsigned lane = 0; lane < kGroupAgents; ++lane)
      if (known->seen.get(group, lane))
        return;
  cluster.worker->fail(thread, FindingKind::SharedRace, code,
                       fmt::format("{} the shared memory of block {}, which may not have begun; "
                                   "needed: a clusterBarrier before",
                                   what ? fmt::format("{} in", what) : "an access of",
                                   block.index));
}

void Checker::State::noteRemote(Block &block, Agent agent, uint32_t epoch, const Thread &thread,
                                bool write, const void *code) {
  BlockState &home = blocks[block.rank];
  auto &remotes = home.remotes;
  constexpr size_t kTries = 4;
  for (size_t i = remotes.size(); i-- > 0 && remotes.size() - i <= kTries;)
    if (remotes[i].agent == agent && remotes[i].epoch == epoch)
      return;
  remotes.push_back({agent, epoch, &thread, code, write});
  if (remotes.size() < home.remoteLimit)
    return;
  ClockRef known = knownTo(block);
  remotes.erase(std::remove_if(remotes.begin(), remotes.end(),
                               [&](const auto &remote) { return isKnown(remote, known); }),
                remotes.end());
  home.remoteLimit = std::max(BlockState::kRemotes, 2 * remotes.size());
}

Conflict Checker::State::tryAccess(Thread &thread, Block &block, SharedAddress at, unsigned bytes,
                                   Use use, const void *code) {
  Conflict conflict = blocks[block.rank].shadow.access(accessor(thread, code), at, bytes, use);
  thread.clock.isNews = true;
  thread.clock.isUnfenced |= use != Use::Read;
  return conflict;
}

void Checker::State::touch(Thread &thread, Block &block, SharedAddress at, unsigned bytes, Use use,
                           const char *what, const void *code) {
  if (thread.home != &block)
    requireStarted(block, thread.clock.data, thread, what, code);
  if (Conflict conflict = tryAccess(thread, block, at, bytes, use, code))
    report(thread, block, conflict, bytes, use, what, code);
  if (thread.home != &block)
    noteRemote(block, agentOf(thread), thread.clock.epoch, thread, use != Use::Read, code);
}

void Checker::sharedAccess(Thread &thread, Block &block, SharedAddress at, unsigned bytes,
                           bool write, const char *what, const void *code) {
  state->touch(thread, block, at, bytes, write ? Use::Write : Use::Read, what, code);
}

void Checker::sharedAtomic(Thread &thread, Block &block, SharedAddress at, unsigned bytes,
                           const char *what, const void *code) {
  state->touch(thread, block, at, bytes, Use::Atomic, what, code);
}

void Checker::end(Block &block) {
  State &s = *state;
  auto &remotes = s.blocks[block.rank].remotes;
  if (remotes.empty())
    return;
  ClockRef known = s.knownTo(block);
  for (const BlockState::Remote &remote : remotes)
    if (!isKnown(remote, known)) {
      known = ClockRef();
      s.memos = {};
      s.cluster.worker->fail(
          *remote.thread, FindingKind::SharedRace, remote.code,
          fmt::format("a {} of the shared memory of block {}, which may have finished by then",
                      remote.isWrite ? "write" : "read", block.index));
    }
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

Agent Checker::State::newAgent(Engine engine, const Thread &issuer) {
  size_t index = engines.size();
  engines.push_back({engine, &issuer});
  return {uint16_t(2 * threadGroups + index / kGroupAgents), uint16_t(index % kGroupAgents)};
}

Agent Checker::State::agentOf(Engine engine, const Thread &issuer) {
  BlockState &block = blocks[issuer.home->rank];
  if (engine == Engine::BulkLoad) {
    size_t slot = block.nextLoad++ % kLoadAgents;
    if (slot == block.loads.size())
      block.loads.push_back(newAgent(engine, issuer));
    Agent agent = block.loads[slot];
    engines[(agent.group - 2 * threadGroups) * kGroupAgents + agent.lane].issuer = &issuer;
    return agent;
  }
  auto &agents = engine == Engine::Wgmma ? block.multiplies : block.stores;
  unsigned index = engine == Engine::Wgmma ? issuer.warpgroup() : issuer.thread;
  if (index >= agents.size())
    agents.resize(index + 1, {Accessor::kNobody, 0});
  if (agents[index].group == Accessor::kNobody)
    agents[index] = newAgent(engine, issuer);
  return agents[index];
}

EngineOperation Checker::begin(Engine engine, Thread *const *issuers, size_t count) {
  State &s = *state;
  Thread &first = *issuers[0];
  EngineOperation operation;
  operation.engine = engine;
  if (engine == Engine::CopyAsync) {
    operation.agent = s.copiesOf(first);
    operation.epoch = ++first.clock.copies;
  } else {
    s.advance(first);
    operation.agent = s.agentOf(engine, first);
    operation.epoch = ++s.time;
  }
  if (count == 1) {
    const ThreadClock &own = first.clock;
    operation.issued = own.data;
    operation.issuer = s.agentOf(first);
    operation.issuerBefore = engine == Engine::CopyAsync ? ~0u : own.epoch;
    operation.issuerFenced = s.fencedBefore(own);
    operation.copiesBefore = own.copiesBefore;
    operation.copiesFenced = own.copiesFenced;
    return operation;
  }
  if (!isAnyNew(issuers, count)) {
    operation.issued = first.clock.data;
    return operation;
  }
  // The lanes of a warp go together, the warps each on its own.
  uint32_t now = ++s.time;
  for (size_t i = 0; i < count;) {
    ClockRef known = ClockRef::copyOf(issuers[i]->clock.data.get());
    ClockData &clock = known.own();
    uint32_t mark = ++s.time;
    size_t begin = i;
    for (; i < count && issuers[i]->warp() == issuers[begin]->warp(); ++i)
      if (const ClockRef &other = issuers[i]->clock.data; other && other.visit(mark))
        clock.join(*other.get());
    s.publish(issuers + begin, i - begin, clock, now);
    if (begin == 0) {
      operation.issued = std::move(known);
    } else {
      ClockData &issued = operation.issued.own();
      issued.seen.intersect(clock.seen);
      issued.fenced.intersect(clock.fenced);
    }
  }
  return operation;
}

void Checker::sharedAccess(EngineOperation &operation, Thread &issuer, Block &block,
                           SharedAddress at, unsigned bytes, bool write, const char *what,
                           const void *code) {
  State &s = *state;
  if (issuer.home != &block)
    s.requireStarted(block, operation.issued, issuer, what, code);
  Conflict conflict = s.blocks[block.rank].shadow.access(s.accessor(operation, issuer, code), at,
                                                         bytes, write ? Use::Write : Use::Read);
  if (conflict)
    s.report(issuer, block, conflict, bytes, write ? Use::Write : Use::Read, what, code);
  if (issuer.home != &block)
    s.noteRemote(block, operation.agent, operation.epoch, issuer, write, code);
}

void Checker::complete(const EngineOperation &operation, SyncClock &clock) {
  clock.data.own().seen.raise(operation.agent.group, operation.agent.lane, operation.epoch + 1);
}

void Checker::acquire(Thread &thread, const EngineOperation &operation) {
  ThreadClock &own = thread.clock;
  if (operation.engine == Engine::CopyAsync) {
    own.copiesBefore = std::max(own.copiesBefore, operation.epoch + 1);
    own.isNews = true;
    return;
  }
  state->raise(own.data, operation.agent, operation.epoch + 1);
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

void Checker::lend(Thread &thread, const void *begin, unsigned bytes, const void *code) {
  State &s = *state;
  if (s.lent.empty())
    s.lent.resize(s.threadGroups * kGroupAgents);
  s.lent[s.indexOf(thread)].push_back({reinterpret_cast<uintptr_t>(begin), bytes, code});
  thread.clock.hasLent = true;
}

void Checker::takeBack(Thread &thread, const void *begin) {
  std::vector<Lent> &lent = state->lent[state->indexOf(thread)];
  auto address = reinterpret_cast<uintptr_t>(begin);
  lent.erase(std::remove_if(lent.begin(), lent.end(),
                            [&](const Lent &range) { return range.begin == address; }),
             lent.end());
  thread.clock.hasLent = !lent.empty();
}

void Checker::State::checkLent(const Thread &thread, uintptr_t at, uint64_t bytes, bool write,
                               const void *code) {
  for (const Lent &range : lent[indexOf(thread)])
    if (at < range.begin + range.bytes && range.begin < at + bytes)
      cluster.worker->fail(thread, FindingKind::BadInstruction, code,
                           fmt::format("a {} of accumulators that a multiplication is still using; "
                                       "needed: warpgroupWait before",
                                       write ? "write" : "read"),
                           {{"the multiplication", range.code}});
}

//===----------------------------------------------------------------------===//
// Any address
//===----------------------------------------------------------------------===//

void Checker::access(Thread &thread, const void *at, uint64_t bytes, bool write, const void *code) {
  auto address = reinterpret_cast<uintptr_t>(at);
  if (thread.fiber.stack->contains(at)) {
    if (thread.clock.hasLent)
      state->checkLent(thread, address, bytes, write, code);
    return;
  }
  Block &block = *thread.home;
  uintptr_t offset = address - reinterpret_cast<uintptr_t>(block.shared);
  if (offset < kSharedEnd) {
    if (bytes < kSharedEnd && block.holds(SharedAddress(offset), unsigned(bytes)))
      state->touch(thread, block, SharedAddress(offset), unsigned(bytes),
                   write ? Use::Write : Use::Read, nullptr, code);
    else
      state->refuse(thread, at, bytes, write, code);
    return;
  }
  if (thread.mustWaitForGrids)
    checkHasWaited(thread, at, write, code);
  if (!state->addresses->allows(address, bytes, write))
    state->refuse(thread, at, bytes, write, code);
}
