//===- CheckerReport.cpp - What the checker says --------------------------===//

#include "CheckerState.h"

#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

void Checker::State::refuse(Thread &thread, const void *at, uint64_t bytes, bool write,
                            const void *code) {
  for (const auto &block : cluster.blocks) {
    auto offset = static_cast<const char *>(at) - block->shared;
    if (offset < 0 || offset >= ptrdiff_t(kSharedEnd))
      continue;
    if (block.get() != thread.home)
      cluster.worker->fail(
          thread, FindingKind::OutOfBounds, code,
          fmt::format("a {} of {} bytes through a pointer into the shared memory of block {}; "
                      "needed: loadCluster or storeCluster",
                      write ? "write" : "read", bytes, block->index));
    bool isDynamic = !isStaticShared(SharedAddress(offset));
    auto base = ptrdiff_t(isDynamic ? kDynamicSharedBase : kStaticSharedBase);
    cluster.worker->fail(
        thread, FindingKind::OutOfBounds, code,
        fmt::format("a {} of {} bytes at offset {} of {} shared memory, which has {} bytes",
                    write ? "write" : "read", bytes, offset - base,
                    isDynamic ? "dynamic" : "static",
                    isDynamic ? block->dynamicSharedBytes : block->staticSharedBytes));
  }
  Addresses::Refusal refusal = addresses->refusal(reinterpret_cast<uintptr_t>(at), bytes, write);
  cluster.worker->fail(thread, refusal.kind, code, std::move(refusal.message));
}

std::string Checker::State::describe(Agent agent, const Block &viewer) const {
  auto threadOf = [&](unsigned group, unsigned lane) {
    unsigned rank = group / warpsPerBlock, warp = group % warpsPerBlock;
    const Block &block = *cluster.blocks[rank];
    std::string place = &block == &viewer ? "" : fmt::format(" of block {}", block.index);
    return fmt::format("thread {} (warp {}){}", warp * kWarpLanes + lane, warp, place);
  };
  if (agent.group < threadGroups)
    return threadOf(agent.group, agent.lane);
  if (agent.group < 2 * threadGroups)
    return "cp.async of " + threadOf(agent.group - threadGroups, agent.lane);
  const EngineAgent &engine = engines[(agent.group - 2 * threadGroups) * kGroupAgents + agent.lane];
  Agent issuer = agentOf(*engine.issuer);
  if (engine.engine == Engine::Wgmma)
    return fmt::format("wgmma of warpgroup {}{}", engine.issuer->warpgroup(),
                       engine.issuer->home == &viewer
                           ? ""
                           : fmt::format(" of block {}", engine.issuer->home->index));
  return fmt::format("a bulk {} of {}", engine.engine == Engine::BulkLoad ? "copy" : "store",
                     threadOf(issuer.group, issuer.lane));
}

void Checker::State::report(const Thread &thread, const Block &block, const Conflict &conflict,
                            unsigned bytes, Use use, const char *what, const void *code) {
  bool isDynamic = !isStaticShared(conflict.at);
  std::string place =
      fmt::format("{} shared memory at offset {}", isDynamic ? "dynamic" : "static",
                  conflict.at - (isDynamic ? kDynamicSharedBase : kStaticSharedBase));
  if (&block != thread.home)
    place += fmt::format(" of block {}", block.index);
  const char *verb = use == Use::Read ? "reads" : use == Use::Write ? "writes" : "uses";
  std::string access = what ? fmt::format("{} {} {}", what, verb, place)
                            : fmt::format("a {} of {} bytes of {}",
                                          use == Use::Read ? "read" : "write", bytes, place);
  memos = {};
  if (conflict.kind == Conflict::Kind::Uninitialized)
    cluster.worker->fail(thread, FindingKind::Uninitialized, code,
                         access + ", which nothing has written yet");
  const char *otherUse = conflict.otherUse == Use::Read    ? "read"
                         : conflict.otherUse == Use::Write ? "write"
                                                           : "atomic access";
  std::string other = fmt::format("the {} by {}", otherUse, describe(conflict.other, block));
  std::vector<RelatedPlace> related = {{other, unpack(conflict.otherCode)}};
  bool isFence = conflict.kind == Conflict::Kind::Fence;
  std::string message =
      isFence ? fmt::format("{} through the async proxy; no fenceProxyAsync orders that after {}",
                            access, other)
              : fmt::format("{}; nothing orders that after {}", access, other);
  cluster.worker->fail(thread, isFence ? FindingKind::MissingFence : FindingKind::SharedRace, code,
                       std::move(message), std::move(related));
}
