//===- KernelCache.cpp - Compiled kernels, kept in memory and on disk -----===//
//
// Memory first, then disk, then the compiler.  The mutex guards maps and counters only; files are
// read, compiled and written outside of it, by the one thread that owns the flight of a key.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/KernelCache.h"
#include "CacheDirectory.h"
#include "swage/Support/Text.h"

#include <condition_variable>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <unordered_map>

using namespace swage;

using KernelPointer = std::shared_ptr<const KernelBinary>;

namespace {
/// A key that one thread is working on and others may wait for.
struct Flight {
  std::condition_variable landed;
  std::optional<Expected<KernelPointer>> outcome;
};
} // namespace

struct KernelCache::State {
  State(const Options &options, Warn warn)
      : mode(options.cacheMode), warn(std::move(warn)),
        directory(options.cacheDir, options.cacheBase) {
    reads = writes = mode != CacheMode::Off && !options.cacheDir.empty();
    writes = reads && mode == CacheMode::ReadWrite;
  }

  const CacheMode mode;
  const Warn warn;
  const CacheDirectory directory;

  mutable std::mutex mutex;
  bool reads;
  bool writes;
  bool warned = false;
  bool swept = false;
  CacheStats stats;
  // Keyed by the whole text: what is found is what was asked for, whatever the hash.
  std::unordered_map<std::string, KernelPointer> memory;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights;

  KernelPointer readEntry(const CacheKey &key);
  void writeEntry(const CacheKey &key, const KernelBinary &binary);
  void giveUp(bool &ability, const std::string &message);
};

/// Stops using the disk for reading or writing, with one line to the user.
void KernelCache::State::giveUp(bool &ability, const std::string &message) {
  bool speak;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ability = false;
    speak = !std::exchange(warned, true);
  }
  if (speak)
    warn(message + "; kernels are kept in memory only, set SWAGE_CACHE_DIR to a directory of "
                   "yours (or SWAGE_CACHE=off)");
}

KernelPointer KernelCache::State::readEntry(const CacheKey &key) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!reads)
      return nullptr;
  }
  std::string bytes, reason;
  CacheDirectory::ReadOutcome outcome = directory.read(entryFileName(key.hash), bytes, reason);
  if (outcome == CacheDirectory::ReadOutcome::Unusable) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      writes = false;
    }
    giveUp(reads, fmt::format("kernel cache '{}' cannot be used: {}", printable(directory.name()),
                              reason));
    return nullptr;
  }
  if (outcome == CacheDirectory::ReadOutcome::Absent)
    return nullptr;
  if (outcome == CacheDirectory::ReadOutcome::Found) {
    if (Expected<KernelBinary> binary = parseEntry(bytes, &key))
      return std::make_shared<const KernelBinary>(std::move(*binary));
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++stats.rejected;
  return nullptr;
}

void KernelCache::State::writeEntry(const CacheKey &key, const KernelBinary &binary) {
  bool sweep;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!writes)
      return;
    sweep = !std::exchange(swept, true);
  }
  if (sweep)
    directory.sweep();
  if (Status status = directory.publish(entryFileName(key.hash), serializeEntry(key, binary));
      !status) {
    giveUp(writes, status.error().message);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++stats.published;
}

static void warnOnStderr(const std::string &message) {
  std::fprintf(stderr, "swage: warning: %s\n", message.c_str());
}

KernelCache::KernelCache(const Options &options, Warn warn)
    : state(std::make_unique<State>(options, warn ? std::move(warn) : warnOnStderr)) {}

KernelCache::~KernelCache() = default;

Expected<KernelPointer> KernelCache::getOrCompile(const CacheKey &key, const Compile &compile) {
  auto flight = std::make_shared<Flight>();
  {
    std::unique_lock<std::mutex> lock(state->mutex);
    if (auto found = state->memory.find(key.text); found != state->memory.end()) {
      ++state->stats.memoryHits;
      return found->second;
    }
    auto [place, isOurs] = state->flights.emplace(key.text, flight);
    if (!isOurs) {
      flight = place->second;
      flight->landed.wait(lock, [&] { return flight->outcome.has_value(); });
      ++state->stats.memoryHits;
      return *flight->outcome;
    }
  }

  KernelPointer kernel = state->readEntry(key);
  bool fromDisk = kernel != nullptr;
  Expected<KernelPointer> outcome = kernel;
  if (!fromDisk) {
    if (Expected<KernelBinary> compiled = compile()) {
      outcome = kernel = std::make_shared<const KernelBinary>(std::move(*compiled));
      state->writeEntry(key, *kernel);
    } else {
      outcome = compiled.takeError();
    }
  }

  std::lock_guard<std::mutex> lock(state->mutex);
  ++(fromDisk ? state->stats.diskHits : state->stats.misses);
  if (kernel)
    state->memory.emplace(key.text, kernel);
  flight->outcome = outcome;
  flight->landed.notify_all();
  state->flights.erase(key.text);
  return outcome;
}

CacheStats KernelCache::stats() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->stats;
}

std::string KernelCache::directory() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->reads ? state->directory.name() : std::string();
}
