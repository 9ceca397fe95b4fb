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

/// The mbarrier of its block that the thread waits for, or null.
static const Mbarrier *awaited(const Thread &thread) {
  if (thread.wait.kind != Wait::For::Mbarrier)
    return nullptr;
  auto found = thread.home->mbarriers.find(thread.wait.a);
  return found == thread.home->mbarriers.end() ? nullptr : &found->second;
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
  case Wait::For::Mbarrier:
    if (const Mbarrier *mbarrier = awaited(thread))
      text += fmt::format(" (mbarrier 0x{:x}, parity {}: phase {}, {} of {} arrivals pending, {} "
                          "bytes expected)",
                          wait.a, wait.b, mbarrier->phase, mbarrier->pending, mbarrier->count,
                          mbarrier->transactions);
    break;
  case Wait::For::Nothing:
  case Wait::For::Pause:
    break;
  }
  if (!at.lines.empty())
    text += " at " + at.str();
  return text;
}

/// The lanes that a thread in a collective of its warp waits for.  Those that have finished are
/// waited for by matrix instructions only.
static std::vector<const Thread *> missingLanes(const Thread &waiting) {
  std::vector<const Thread *> missing, finished;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    unsigned number = waiting.warp() * kWarpLanes + lane;
    if (!(waiting.wait.a >> lane & 1) || number >= waiting.threads)
      continue;
    const Thread &thread = waiting.home->threads[number];
    if (thread.finished)
      finished.push_back(&thread);
    else if (thread.wait.kind != Wait::For::Warp || thread.wait.code != waiting.wait.code)
      missing.push_back(&thread);
  }
  return missing.empty() ? finished : missing;
}

/// Whether its warp is where it is because one of its lanes does for all what others must answer.
static bool isHeldUp(const Thread &waiting) {
  for (const Thread *thread : missingLanes(waiting))
    if (thread->wait.kind == Wait::For::Mbarrier || thread->wait.kind == Wait::For::Pause)
      return true;
  return false;
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
    const Thread *first = nullptr, *inWarp = nullptr, *forMbarrier = nullptr;
    size_t waiting = 0;
    for (const auto &cluster : resident)
      for (const auto &block : cluster->blocks) {
        size_t begin = groups.size();
        for (const Thread &thread : block->threads) {
          if (!thread.finished) {
            ++waiting;
            if (!first)
              first = &thread;
            if (!inWarp && thread.wait.kind == Wait::For::Warp && !isHeldUp(thread))
              inWarp = &thread;
            // One that lacks only bytes is the cause: no copy is under way any more.
            const Mbarrier *mbarrier = awaited(thread);
            if (mbarrier &&
                (!forMbarrier || (mbarrier->pending == 0 && awaited(*forMbarrier)->pending)))
              forMbarrier = &thread;
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
    uint64_t begun = std::min<uint64_t>(state.next.load(), state.clusters);
    if (loops && begun < state.clusters)
      result.message += fmt::format("; {} blocks have not begun, as a device holds no more at once",
                                    (state.clusters - begun) * launch.clusterSize);
    const Thread *shown = first;
    if (forMbarrier && !loops) {
      shown = forMbarrier;
      if (const Mbarrier &mbarrier = *awaited(*shown); mbarrier.pending == 0)
        result.message =
            fmt::format("{} bytes that an mbarrier expects never come: {} threads wait",
                        mbarrier.transactions, waiting);
    }
    if (inWarp) {
      // The others of the warp are elsewhere, and will not come.
      shown = inWarp;
      std::vector<unsigned> missing;
      const Thread *other = nullptr;
      const Wait &wait = inWarp->wait;
      for (const Thread *thread : missingLanes(*inWarp)) {
        missing.push_back(thread->lane());
        other = thread;
      }
      result.kind = FindingKind::Divergence;
      result.message = fmt::format("{} {} of the warp {} not take part in {}",
                                   missing.size() == 1 ? "lane" : "lanes", ranges(missing),
                                   missing.size() == 1 ? "does" : "do", wait.what);
      if (other && other->finished)
        result.message += missing.size() == 1 ? ": it has finished" : ": they have finished";
      else if (other)
        result.related.push_back(
            {fmt::format("they wait in {}", other->wait.what), other->wait.code});
    }
    if (shown) {
      result.place = shown->wait.code;
      result.thread = shown->str();
      if (const Mbarrier *mbarrier = awaited(*shown))
        result.related = historyOf(*mbarrier);
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
