//===- Deadlock.cpp - Who waits for what ----------------------------------===//

#include "Scheduler.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

/// "0-3, 7"
static std::string ranges(const std::vector<unsigned> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    if (!text.empty())
      text += ", ";
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

/// What a thread waits for, with the state of it.
static std::string describe(const Thread &thread, const Module &module) {
  if (thread.finished)
    return "finished";
  const Wait &wait = thread.wait;
  CodePlace at(wait.code);
  at.lines = module.lines(wait.code);
  std::string text = fmt::format("in {}", wait.what ? wait.what : "nothing");
  switch (wait.kind) {
  case Wait::For::Warp:
    text += fmt::format(" (lanes 0x{:08x} take part)", wait.a);
    break;
  case Wait::For::Warpgroup:
    text += fmt::format(" ({} of {} threads of the warpgroup have come)",
                        thread.home->warpgroups[thread.warpgroup()].arrived, kWarpgroupThreads);
    break;
  case Wait::For::Barrier: {
    const Barrier &barrier = thread.home->barriers[wait.a];
    text += fmt::format(" (barrier {}: {} of {} threads have come)", wait.a, barrier.arrived,
                        barrier.expected ? barrier.expected : thread.home->live);
    break;
  }
  case Wait::For::ClusterBarrier:
    text += fmt::format(" ({} of {} threads of the cluster have come)",
                        thread.home->cluster->barrier.arrived, thread.home->cluster->live);
    break;
  case Wait::For::Mbarrier: {
    unsigned rank = wait.a >> 24;
    const Block &block = rank ? *thread.home->cluster->blocks[rank - 1] : *thread.home;
    auto found = block.mbarriers.find(wait.a & 0xffffff);
    if (found != block.mbarriers.end())
      text += fmt::format(" (mbarrier 0x{:x}, parity {}: phase {}, {} of {} arrivals pending, {} "
                          "bytes expected)",
                          wait.a & 0xffffff, wait.b, found->second.phase, found->second.pending,
                          found->second.count, found->second.transactions);
    break;
  }
  case Wait::For::Nothing:
  case Wait::For::Pause:
    break;
  }
  if (!at.lines.empty())
    text += " at " + at.str();
  return text;
}

Finding WorkerImpl::deadlock() {
  Finding result;
  handle.onMainStack([&] {
    struct Group {
      unsigned block;
      std::string what;
      std::vector<unsigned> threads;
    };
    std::vector<Group> groups;
    const Thread *first = nullptr, *inWarp = nullptr;
    size_t waiting = 0;
    for (const auto &cluster : resident)
      for (const auto &block : cluster->blocks) {
        size_t begin = groups.size();
        for (const Thread &thread : block->threads) {
          if (!thread.finished) {
            ++waiting;
            if (!first)
              first = &thread;
            if (!inWarp && thread.wait.kind == Wait::For::Warp)
              inWarp = &thread;
          }
          std::string what = describe(thread, *launch.module);
          auto same = std::find_if(groups.begin() + ptrdiff_t(begin), groups.end(),
                                   [&](const Group &group) { return group.what == what; });
          if (same == groups.end())
            same = groups.insert(groups.end(), {block->index, what, {}});
          same->threads.push_back(thread.thread);
        }
      }
    bool loops = !paused.empty();
    result.kind = loops ? FindingKind::NoProgress : FindingKind::Deadlock;
    result.message = loops ? fmt::format("{} threads wait in loops for what never happens", waiting)
                           : fmt::format("no thread can run: {} wait", waiting);
    const Thread *shown = first;
    if (inWarp) {
      // The others of the warp are elsewhere, and will not come.
      shown = inWarp;
      std::vector<unsigned> missing;
      const Thread *other = nullptr;
      const Wait &wait = inWarp->wait;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        unsigned number = inWarp->warp() * kWarpLanes + lane;
        if (!(wait.a >> lane & 1) || number >= inWarp->threads)
          continue;
        const Thread &thread = inWarp->home->threads[number];
        if (thread.finished || thread.wait.kind != Wait::For::Warp ||
            thread.wait.code != wait.code) {
          missing.push_back(lane);
          other = &thread;
        }
      }
      result.kind = FindingKind::Divergence;
      result.message = fmt::format("{} {} of the warp {} not take part in {}",
                                   missing.size() == 1 ? "lane" : "lanes", ranges(missing),
                                   missing.size() == 1 ? "does" : "do", wait.what);
      if (other && !other->finished)
        result.related.push_back(
            {fmt::format("they wait in {}", other->wait.what), other->wait.code});
    }
    if (shown) {
      result.place = shown->wait.code;
      result.thread = shown->str();
    }
    for (const Group &group : groups) {
      if (result.details.size() == 16) {
        result.details.push_back("...");
        break;
      }
      result.details.push_back(
          fmt::format("block {}, threads {}: {}", group.block, ranges(group.threads), group.what));
    }
  });
  return result;
}
