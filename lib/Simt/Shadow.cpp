//===- Shadow.cpp - Who touched shared memory last ------------------------===//

#include "Shadow.h"

#include <algorithm>

using namespace swage::simt;

bool Accessor::knows(Agent other, uint32_t otherEpoch) const {
  if (other == thread)
    return otherEpoch < threadBefore;
  if (other == copies && otherEpoch < copiesBefore)
    return true;
  if (other == agent && otherEpoch == epoch)
    return true;
  return known && otherEpoch < known->seen.get(other.group, other.lane);
}

bool Accessor::seesThroughProxy(Agent other, uint32_t otherEpoch) const {
  if ((other == thread && otherEpoch < threadFenced) ||
      (other == copies && otherEpoch < copiesFenced))
    return true;
  return known && otherEpoch < known->fenced.get(other.group, other.lane);
}

Shadow::Shadow(unsigned bytes, unsigned genericGroups)
    : genericGroups(genericGroups), pages((bytes + kPageBytes - 1) / kPageBytes) {}

void Shadow::reset() {
  generation = ++lastGeneration;
  upperBegin = ~0u;
  freeLists.clear();
  usedLists = 0;
}

void Shadow::resetFrom(SharedAddress begin) {
  upperGeneration = ++lastGeneration;
  upperBegin = begin;
}

void Shadow::renew(Page &page, unsigned pieceLog2, uint32_t wanted) {
  page.generation = wanted;
  page.pieceLog2 = uint8_t(std::min<unsigned>(page.pieceLog2, pieceLog2));
  size_t count = kPageBytes >> page.pieceLog2;
  if (page.cells && page.capacityLog2 <= page.pieceLog2) {
    std::fill_n(page.cells.get(), count, Cell());
    return;
  }
  page.cells = std::make_unique<Cell[]>(count);
  page.capacityLog2 = page.pieceLog2;
}

/// Index + 1 of an empty list.
uint32_t Shadow::newList() {
  if (!freeLists.empty()) {
    uint32_t list = freeLists.back();
    freeLists.pop_back();
    return list;
  }
  if (usedLists == lists.size())
    lists.emplace_back();
  lists[usedLists].clear();
  return ++usedLists;
}

/// Smaller pieces start with what the larger one had seen.
void Shadow::split(Page &page, unsigned pieceLog2) {
  size_t count = kPageBytes >> pieceLog2;
  unsigned ratioLog2 = page.pieceLog2 - pieceLog2;
  auto cells = std::make_unique<Cell[]>(count);
  for (size_t i = 0; i < count; ++i) {
    const Cell &from = page.cells[i >> ratioLog2];
    cells[i] = from;
    if (from.more && i & ((1u << ratioLog2) - 1)) {
      cells[i].more = newList();
      lists[cells[i].more - 1] = lists[from.more - 1];
    }
  }
  page.cells = std::move(cells);
  page.pieceLog2 = page.capacityLog2 = uint8_t(pieceLog2);
}

bool Shadow::checkWrite(const Cell &cell, const Accessor &accessor, Conflict &conflict) const {
  if (cell.writeEpoch == 0)
    return true;
  if (!accessor.knows(cell.writer, cell.writeEpoch))
    conflict.kind = Conflict::Kind::Race;
  else if (accessor.isAsync && cell.writer.group < genericGroups &&
           !accessor.seesThroughProxy(cell.writer, cell.writeEpoch))
    conflict.kind = Conflict::Kind::Fence;
  else
    return true;
  conflict.other = cell.writer;
  conflict.otherUse = Use::Write;
  conflict.otherEpoch = cell.writeEpoch;
  conflict.otherCode = cell.writeCode;
  return false;
}

bool Shadow::isBefore(const Reads &reads, const Accessor &accessor) const {
  uint32_t mask = reads.mask;
  if (reads.group == accessor.thread.group && reads.epoch < accessor.threadBefore)
    mask &= ~(1u << accessor.thread.lane);
  if (reads.group == accessor.agent.group && reads.epoch == accessor.epoch)
    mask &= ~(1u << accessor.agent.lane);
  return !mask || (accessor.known && accessor.known->seen.isAbove(reads.group, mask, reads.epoch));
}

bool Shadow::checkReads(const Reads &reads, const Accessor &accessor, Conflict &conflict) const {
  bool fences = accessor.isAsync && reads.isAtomic;
  if (!fences && isBefore(reads, accessor))
    return true;
  for (uint32_t mask = reads.mask; mask; mask &= mask - 1) {
    Agent other{reads.group, uint16_t(__builtin_ctz(mask))};
    if (!accessor.knows(other, reads.epoch))
      conflict.kind = Conflict::Kind::Race;
    else if (fences && !accessor.seesThroughProxy(other, reads.epoch))
      conflict.kind = Conflict::Kind::Fence;
    else
      continue;
    conflict.other = other;
    conflict.otherUse = reads.isAtomic ? Use::Atomic : Use::Read;
    conflict.otherEpoch = reads.epoch;
    conflict.otherCode = reads.code;
    return false;
  }
  return true;
}

void Shadow::addReader(Cell &cell, const Accessor &accessor, bool isAtomic) {
  uint32_t bit = 1u << accessor.agent.lane;
  Reads added{accessor.epoch, accessor.code, bit, accessor.agent.group, isAtomic};
  // What happened before needs no place of its own: whoever comes after this one comes after both.
  // A read and an atomic cannot stand for each other: what races with them is not the same.
  auto takes = [&](Reads &reads) {
    if (reads.epoch == added.epoch && reads.group == added.group && reads.isAtomic == isAtomic) {
      reads.mask |= bit;
      return true;
    }
    if (reads.isAtomic != isAtomic || !isBefore(reads, accessor))
      return false;
    reads = added;
    return true;
  };
  if (cell.reads.epoch == 0) {
    cell.reads = added;
    return;
  }
  if (takes(cell.reads))
    return;
  if (!cell.more)
    cell.more = newList();
  std::vector<Reads> &list = lists[cell.more - 1];
  for (size_t i = list.size(); i-- > 0;)
    if (takes(list[i]))
      return;
  list.push_back(added);
}

bool Shadow::touch(Cell &cell, const Accessor &accessor, Use use, Conflict &conflict) {
  bool sameWriter = cell.writer == accessor.agent && cell.writeEpoch == accessor.epoch;
  switch (use) {
  case Use::Read:
    if (sameWriter && cell.reads.epoch == 0)
      return true;
    if (cell.reads.epoch == accessor.epoch && cell.reads.group == accessor.agent.group &&
        cell.reads.mask >> accessor.agent.lane & 1 && !cell.reads.isAtomic && !cell.more)
      return true;
    if (cell.writeEpoch == 0) {
      conflict.kind = Conflict::Kind::Uninitialized;
      return false;
    }
    if (!checkWrite(cell, accessor, conflict))
      return false;
    if (cell.reads.isAtomic && !checkReads(cell.reads, accessor, conflict))
      return false;
    if (cell.more)
      for (const Reads &reads : lists[cell.more - 1])
        if (reads.isAtomic && !checkReads(reads, accessor, conflict))
          return false;
    if (!sameWriter)
      addReader(cell, accessor, false);
    return true;

  case Use::Write:
    if (cell.reads.epoch != 0) {
      if (!checkReads(cell.reads, accessor, conflict))
        return false;
      if (cell.more) {
        for (const Reads &reads : lists[cell.more - 1])
          if (!checkReads(reads, accessor, conflict))
            return false;
        lists[cell.more - 1].clear();
        freeLists.push_back(std::exchange(cell.more, 0));
      }
      cell.reads = Reads();
    } else if (sameWriter) {
      return true;
    }
    if (!checkWrite(cell, accessor, conflict))
      return false;
    cell.writer = accessor.agent;
    cell.writeEpoch = accessor.epoch;
    cell.writeCode = accessor.code;
    return true;

  case Use::Atomic:
    if (cell.writeEpoch == 0) {
      conflict.kind = Conflict::Kind::Uninitialized;
      return false;
    }
    if (!checkWrite(cell, accessor, conflict))
      return false;
    if (cell.reads.epoch != 0 && !cell.reads.isAtomic &&
        !checkReads(cell.reads, accessor, conflict))
      return false;
    if (cell.more)
      for (const Reads &reads : lists[cell.more - 1])
        if (!reads.isAtomic && !checkReads(reads, accessor, conflict))
          return false;
    addReader(cell, accessor, true);
    return true;
  }
  return true;
}

Conflict Shadow::access(const Accessor &accessor, SharedAddress at, unsigned bytes, Use use) {
  Conflict conflict;
  SharedAddress end = at + bytes;
  unsigned pieceLog2 = unsigned(__builtin_ctz(at | bytes | 1u << kLargestPiece));
  while (at < end) {
    Page &page = pages[at >> kPageLog2];
    uint32_t wanted = at < upperBegin ? generation : upperGeneration;
    if (page.generation != wanted)
      renew(page, pieceLog2, wanted);
    else if (page.pieceLog2 > pieceLog2)
      split(page, pieceLog2);
    SharedAddress start = at & ~(kPageBytes - 1), stop = std::min(end, start + kPageBytes);
    Cell *cell = &page.cells[(at - start) >> page.pieceLog2];
    Cell *last = &page.cells[(stop - 1 - start) >> page.pieceLog2];
    for (; cell <= last; ++cell)
      if (!touch(*cell, accessor, use, conflict)) {
        conflict.at =
            std::max(at, start + (SharedAddress(cell - page.cells.get()) << page.pieceLog2));
        return conflict;
      }
    at = stop;
  }
  return conflict;
}
