//===- Clock.cpp - What is known to have happened -------------------------===//

#include "Clock.h"

#include <algorithm>

using namespace swage::simt;

EpochVector::Lanes &EpochVector::split(Group &entry) {
  if (!entry.lanes) {
    lanes.emplace_back().fill(entry.all);
    entry.lanes = uint32_t(lanes.size());
  }
  return lanes[entry.lanes - 1];
}

void EpochVector::join(const EpochVector &other) {
  if (other.groups.size() > groups.size())
    groups.resize(other.groups.size());
  for (size_t i = 0; i < other.groups.size(); ++i) {
    Group &entry = groups[i];
    const Group &from = other.groups[i];
    if (!entry.lanes && !from.lanes) {
      entry.all = std::max(entry.all, from.all);
    } else if (!from.lanes) {
      if (from.all)
        for (uint32_t &epoch : split(entry))
          epoch = std::max(epoch, from.all);
    } else {
      const Lanes &added = other.lanes[from.lanes - 1];
      Lanes &kept = split(entry);
      for (unsigned lane = 0; lane < kGroupAgents; ++lane)
        kept[lane] = std::max(kept[lane], added[lane]);
    }
  }
}

void EpochVector::intersect(const EpochVector &other) {
  if (other.groups.size() < groups.size())
    groups.resize(other.groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    Group &entry = groups[i];
    const Group &from = other.groups[i];
    if (!entry.lanes && !from.lanes) {
      entry.all = std::min(entry.all, from.all);
    } else {
      Lanes &kept = split(entry);
      for (unsigned lane = 0; lane < kGroupAgents; ++lane)
        kept[lane] = std::min(kept[lane], other.get(unsigned(i), lane));
    }
  }
}

bool EpochVector::covers(const EpochVector &other) const {
  for (size_t i = 0; i < other.groups.size(); ++i) {
    const Group &from = other.groups[i];
    if (!from.lanes && from.all == 0)
      continue;
    if (i >= groups.size() && !from.lanes)
      return false;
    if (i < groups.size() && !groups[i].lanes && !from.lanes) {
      if (groups[i].all < from.all)
        return false;
      continue;
    }
    for (unsigned lane = 0; lane < kGroupAgents; ++lane)
      if (get(unsigned(i), lane) < other.get(unsigned(i), lane))
        return false;
  }
  return true;
}

void EpochVector::raise(unsigned group, unsigned lane, uint32_t epoch) {
  reach(group);
  Group &entry = groups[group];
  if (!entry.lanes && entry.all >= epoch)
    return;
  uint32_t &value = split(entry)[lane];
  value = std::max(value, epoch);
}

void EpochVector::raiseGroup(unsigned group, uint32_t epoch) {
  reach(group);
  Group &entry = groups[group];
  if (!entry.lanes) {
    entry.all = std::max(entry.all, epoch);
    return;
  }
  Lanes &own = lanes[entry.lanes - 1];
  if (*std::max_element(own.begin(), own.end()) > epoch) {
    for (uint32_t &value : own)
      value = std::max(value, epoch);
    return;
  }
  // One number again; the last one's place takes the free one.
  uint32_t freed = entry.lanes;
  entry = {epoch, 0};
  if (freed != lanes.size()) {
    for (Group &other : groups)
      if (other.lanes == lanes.size())
        other.lanes = freed;
    lanes[freed - 1] = lanes.back();
  }
  lanes.pop_back();
}
