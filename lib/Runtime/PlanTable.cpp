//===- PlanTable.cpp - Plans by exact shapes ------------------------------===//

#include "PlanTable.h"

#include "ContextState.h"

#include <algorithm>

using namespace swage;

static uint64_t hashOf(const PlanKey &key) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < key.size(); ++i) {
    hash = (hash ^ key.data()[i]) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

/// One shard where the limit is small: then what was used least recently is known exactly.
static size_t shardCount(size_t limit) { return limit < 1024 ? 1 : 16; }

PlanTable::PlanTable(size_t limit)
    : shards(shardCount(limit)),
      shardLimit(std::max<size_t>(1, (limit + shards.size() - 1) / shards.size())) {}

std::list<PlanTable::Entry>::iterator PlanTable::Shard::find(uint64_t hash, const PlanKey &key) {
  auto [first, last] = byHash.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if ((*it->second)->isFor(key))
      return it->second;
  return entries.end();
}

PlanTable::Entry PlanTable::find(const PlanKey &key) {
  Slot &slot = slots[threadNumber() % kSlots];
  {
    std::lock_guard<std::mutex> lock(slot.mutex);
    if (slot.last && slot.last->isFor(key))
      return slot.last;
  }
  Entry found;
  {
    uint64_t hash = hashOf(key);
    Shard &shard = shardOf(hash);
    std::lock_guard<std::mutex> lock(shard.mutex);
    auto it = shard.find(hash, key);
    if (it == shard.entries.end())
      return nullptr;
    shard.entries.splice(shard.entries.begin(), shard.entries, it);
    found = *it;
  }
  // What was there goes after the lock: a plan that nobody else holds is released here.
  Entry before = found;
  std::lock_guard<std::mutex> lock(slot.mutex);
  std::swap(slot.last, before);
  return found;
}

bool PlanTable::contains(const PlanKey &key) const {
  uint64_t hash = hashOf(key);
  Shard &shard = shardOf(hash);
  std::lock_guard<std::mutex> lock(shard.mutex);
  return shard.find(hash, key) != shard.entries.end();
}

PlanTable::Entry PlanTable::insert(Entry entry, Entry &evicted, bool &isNew) {
  PlanKey key(entry->key.size());
  std::copy(entry->key.begin(), entry->key.end(), key.data());
  uint64_t hash = hashOf(key);
  Shard &shard = shardOf(hash);
  std::lock_guard<std::mutex> lock(shard.mutex);
  auto it = shard.find(hash, key);
  isNew = it == shard.entries.end();
  if (!isNew)
    return *it;
  if (shard.entries.size() >= shardLimit) {
    evicted = shard.entries.back();
    PlanKey gone(evicted->key.size());
    std::copy(evicted->key.begin(), evicted->key.end(), gone.data());
    auto [first, last] = shard.byHash.equal_range(hashOf(gone));
    shard.byHash.erase(
        std::find_if(first, last, [&](const auto &each) { return *each.second == evicted; }));
    shard.entries.pop_back();
  }
  shard.entries.push_front(entry);
  shard.byHash.emplace(hash, shard.entries.begin());
  return entry;
}
