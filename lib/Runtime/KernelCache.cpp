//===- KernelCache.cpp - Compiled kernels, kept in memory and on disk -----===//
//
// Memory first, then disk, then the compiler.  The mutex guards maps and counters only; files are
// read, compiled and written outside of it, by the one thread that owns the flight of a key.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/KernelCache.h"
#include "CacheDirectory.h"
#include "FailedSources.h"
#include "swage/Support/Text.h"

#include <algorithm>
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
  State(const Options &options, Warn warn, FileSystem &files)
      : mode(options.cacheDir.empty() ? CacheMode::Off : options.cacheMode),
        isRequired(options.cacheMode == CacheMode::Require), limit(options.cacheLimit),
        warn(std::move(warn)), base(options.cacheBase), files(files),
        directory(options.cacheDir, options.cacheBase, files,
                  mode == CacheMode::ReadWrite ? CacheDirectory::Owner::User
                                               : CacheDirectory::Owner::UserOrRoot) {}

  const CacheMode mode;
  const bool isRequired;
  const uint64_t limit;
  const Warn warn;
  const std::string base;
  FileSystem &files;
  const CacheDirectory directory;

  mutable std::mutex mutex;
  bool warned = false;
  /// Bytes that this process may publish before the directory is looked through again.
  uint64_t allowance = 0;
  CacheStats stats;
  // Keyed by the whole text: what is found is what was asked for, whatever the hash.
  std::unordered_map<std::string, KernelPointer> memory;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights;

  KernelPointer readEntry(const CacheKey &key, std::string &reason);
  void writeEntry(const CacheKey &key, const KernelBinary &binary);
  void tidy(const std::string &published, uint64_t bytes);
  void warnOnce(const std::string &message);
  Error missError(const CacheKey &key, const std::string &reason) const;
};

/// One line to the user, however much goes wrong.  Later kernels try the disk again: it may be
/// less full, and a failed call costs little beside a compile.
void KernelCache::State::warnOnce(const std::string &message) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (std::exchange(warned, true))
      return;
  }
  warn(message);
}

static constexpr const char *kAdvice =
    "; kernels are kept in memory only, set SWAGE_CACHE_DIR to a directory of yours (or "
    "SWAGE_CACHE=off)";

KernelPointer KernelCache::State::readEntry(const CacheKey &key, std::string &reason) {
  if (mode == CacheMode::Off)
    return nullptr;
  std::string bytes;
  // Nothing changes in a directory that is only read.
  bool stamp = mode != CacheMode::ReadOnly;
  CacheDirectory::ReadOutcome outcome =
      directory.read(entryFileName(key.hash), bytes, reason, stamp);
  if (outcome == CacheDirectory::ReadOutcome::Absent)
    return nullptr;
  if (outcome == CacheDirectory::ReadOutcome::Unusable) {
    if (!isRequired)
      warnOnce(fmt::format("kernel cache '{}' cannot be used: {}{}", printable(directory.name()),
                           reason, kAdvice));
    return nullptr;
  }
  if (outcome == CacheDirectory::ReadOutcome::Found) {
    Expected<KernelBinary> binary = parseEntry(bytes, &key);
    if (binary)
      return std::make_shared<const KernelBinary>(std::move(*binary));
    reason = binary.takeError().message;
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++stats.rejected;
  return nullptr;
}

void KernelCache::State::writeEntry(const CacheKey &key, const KernelBinary &binary) {
  if (mode != CacheMode::ReadWrite)
    return;
  std::string file = entryFileName(key.hash), bytes = serializeEntry(key, binary);
  if (limit != 0 && bytes.size() > limit)
    return warnOnce(
        fmt::format("the entry of {} takes {} bytes, more than all of the kernel cache may "
                    "(SWAGE_CACHE_LIMIT: {}); it is kept in memory only",
                    key.what, bytes.size(), limit));
  if (Status status = directory.publish(file, bytes); !status)
    return warnOnce(status.error().message + kAdvice);
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++stats.published;
  }
  tidy(file, bytes.size());
}

/// Keeps the directory within its limit.  To look through it for each kernel would cost more than
/// the kernel where there are tens of thousands, so that processes that publish together may exceed
/// the limit for a while, by a hundredth part of it each.
void KernelCache::State::tidy(const std::string &published, uint64_t bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (bytes <= allowance) {
      allowance -= bytes;
      return;
    }
  }
  Expected<CacheDirectory::Upkeep> upkeep = directory.tidy(limit, published);
  if (!upkeep)
    return warnOnce(upkeep.error().message + "; it may grow beyond SWAGE_CACHE_LIMIT");
  uint64_t room = upkeep->total < limit ? limit - upkeep->total : 0;
  std::lock_guard<std::mutex> lock(mutex);
  stats.evicted += upkeep->evicted;
  allowance = limit == 0 ? UINT64_MAX : std::min(room, limit / 100);
}

Error KernelCache::State::missError(const CacheKey &key, const std::string &reason) const {
  std::string where = directory.name().empty()
                          ? "there is no directory for the kernel cache (SWAGE_CACHE_DIR)"
                          : fmt::format("it is not in the kernel cache '{}' as {}",
                                        printable(directory.name()), entryFileName(key.hash));
  return makeError(
      Stage::Cache,
      fmt::format("kernel {} may not be compiled (SWAGE_CACHE=require), and {}{}{}; to "
                  "warm the cache, run the same program with the same versions, "
                  "shapes and device once with SWAGE_CACHE=read-write",
                  key.what, where, reason.empty() ? "" : ": ", reason));
}

static void warnOnStderr(const std::string &message) {
  std::fprintf(stderr, "swage: warning: %s\n", message.c_str());
}

KernelCache::KernelCache(const Options &options, Warn warn)
    : KernelCache(options, std::move(warn), FileSystem::real()) {}

KernelCache::KernelCache(const Options &options, Warn warn, FileSystem &files)
    : state(std::make_unique<State>(options, warn ? std::move(warn) : warnOnStderr, files)) {}

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

  std::string reason;
  KernelPointer kernel = state->readEntry(key, reason);
  bool fromDisk = kernel != nullptr;
  Expected<KernelPointer> outcome = kernel;
  if (!fromDisk && state->isRequired) {
    outcome = state->missError(key, reason);
  } else if (!fromDisk) {
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

bool KernelCache::findVariant(const CacheKey &key,
                              const std::function<Status(std::string_view)> &take) {
  std::string reason;
  KernelPointer entry = state->readEntry(key, reason);
  if (!entry)
    return false;
  bool isTaken = bool(take(entry->image));
  std::lock_guard<std::mutex> lock(state->mutex);
  ++(isTaken ? state->stats.variantHits : state->stats.rejected);
  return isTaken;
}

void KernelCache::keepVariant(const CacheKey &key, const std::string &name, const std::string &arch,
                              std::string bytes) {
  KernelBinary entry;
  entry.name = name;
  entry.arch = arch;
  entry.image = std::move(bytes);
  state->writeEntry(key, entry);
}

std::string KernelCache::keepFailedSource(std::string_view source, std::string_view log) const {
  if (state->mode != CacheMode::ReadWrite)
    return {};
  return swage::keepFailedSource(state->directory.name(), state->base, state->files, source, log);
}

CacheStats KernelCache::stats() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->stats;
}

std::string KernelCache::directory() const {
  return state->mode == CacheMode::Off ? std::string() : state->directory.name();
}
