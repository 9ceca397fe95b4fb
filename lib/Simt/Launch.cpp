//===- Launch.cpp - One launch on the simulator ---------------------------===//

#include "Scheduler.h"
#include "TensorMap.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <thread>

using namespace swage;
using namespace swage::simt;

static std::string problemOf(const Launch &launch) {
  if (launch.threads == 0 || launch.threads > kMaxThreads)
    return fmt::format("{} threads in a block; allowed: 1 to {}", launch.threads, kMaxThreads);
  if (launch.clusterSize == 0 || launch.clusterSize > kMaxClusterSize)
    return fmt::format("{} blocks in a cluster; allowed: 1 to {}", launch.clusterSize,
                       kMaxClusterSize);
  if (launch.blocks == 0 || launch.blocks % launch.clusterSize != 0)
    return fmt::format("{} blocks are not a positive multiple of the cluster's {}", launch.blocks,
                       launch.clusterSize);
  if (launch.dynamicSharedBytes > kMaxDynamicSharedBytes)
    return fmt::format("{} bytes of dynamic shared memory; allowed: {}", launch.dynamicSharedBytes,
                       kMaxDynamicSharedBytes);
  return "";
}

char *swage::simt::pointedTo(const ParameterInfo &parameter, const void *argument) {
  if (parameter.isPointer)
    return *static_cast<char *const *>(argument);
  if (parameter.bytes != kTensorMapBytes ||
      reinterpret_cast<uintptr_t>(argument) % kTensorMapAlignment != 0)
    return nullptr;
  const TensorMapData *map = tensorMapAt(argument);
  return map ? map->base : nullptr;
}

/// A seed stands for one run only where one worker takes all clusters.
static unsigned defaultWorkers(const SimulatorOptions &options) {
  bool isRandom = options.order == Order::Random || options.async == Asynchrony::Random;
  return isRandom ? 1 : std::thread::hardware_concurrency();
}

std::optional<Finding> swage::simt::run(const Launch &launch, const SimulatorOptions &options,
                                        LaunchStats *stats) {
  if (std::string problem = problemOf(launch); !problem.empty()) {
    Finding finding;
    finding.kind = FindingKind::BadInstruction;
    finding.message = "launch: " + problem;
    finding.kernel = launch.kernel->name;
    return finding;
  }
  // Other launches of the module may write the same now.
  __atomic_store_n(launch.module->info().abi, &abiTable(launch.capability), __ATOMIC_RELAXED);

  LaunchState state;
  state.clusters = launch.blocks / launch.clusterSize;
  if (options.order == Order::Reverse) {
    state.multiplier = state.clusters - 1;
    state.offset = state.clusters - 1;
  } else if (options.order == Order::Random) {
    state.offset = options.seed % state.clusters;
    state.multiplier = options.seed * 7919 % state.clusters;
    while (std::gcd(state.multiplier, uint64_t(state.clusters)) != 1)
      ++state.multiplier;
  }
  unsigned count = options.workers ? options.workers : defaultWorkers(options);
  count = std::max(1u, std::min(count, state.clusters));
  state.looked = std::vector<std::atomic<std::chrono::steady_clock::time_point>>(count);
  std::vector<std::unique_ptr<WorkerImpl>> workers;
  for (unsigned i = 0; i < count; ++i)
    workers.push_back(std::make_unique<WorkerImpl>(launch, options, state, i));
  state.running = int(count);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i)
    threads.emplace_back([&workers, i] {
      blockSignalsOfHost();
      workers[i]->run();
    });
  workers[0]->run();
  for (std::thread &thread : threads)
    thread.join();

  std::optional<Finding> found;
  unsigned cluster = 0;
  for (auto &worker : workers) {
    if (worker->finding && (!found || worker->findingCluster < cluster)) {
      found = std::move(worker->finding);
      cluster = worker->findingCluster;
    }
    if (stats) {
      stats->switches += worker->stats.switches;
      stats->meetings += worker->stats.meetings;
    }
  }
  if (!found && launch.overlap && !state.waitedForGrids) {
    found.emplace();
    found->kind = FindingKind::EarlyAccess;
    found->message =
        "the launch overlaps the grids before it and no thread waits for them; needed: "
        "waitForPriorGrids, or grids behind it do not wait for them either";
  }
  if (found) {
    found->kernel = launch.kernel->name;
    launch.module->describe(*found);
  }
  return found;
}
