//===- GlobalMemory.cpp - The allocations of simulated devices ------------===//

#include "GlobalMemory.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace swage::simt;

static constexpr uint64_t kAlignment = 256;

static uint64_t roundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }
static uint64_t pageBytes() { return uint64_t(sysconf(_SC_PAGESIZE)); }

uint64_t GlobalMemory::available() { return uint64_t(sysconf(_SC_AVPHYS_PAGES)) * pageBytes(); }

char *GlobalMemory::allocate(uint64_t bytes) {
  // The system would promise more than there is, and end the process later.
  if (bytes > uint64_t(sysconf(_SC_PHYS_PAGES)) * pageBytes())
    return nullptr;
  uint64_t page = pageBytes(), padded = roundUp(bytes, kAlignment), body = roundUp(padded, page);
  uint64_t mapped = body + 2 * page;
  void *base = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return nullptr;
  char *first = static_cast<char *>(base) + page;
  if (mprotect(first, body, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, mapped);
    return nullptr;
  }
  char *begin = first + (body - padded);
  std::lock_guard<std::mutex> lock(mutex);
  all[begin] = {static_cast<char *>(base), mapped, bytes};
  return begin;
}

bool GlobalMemory::free(char *begin) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = all.find(begin);
  if (found == all.end())
    return false;
  munmap(found->second.base, found->second.mapped);
  all.erase(found);
  return true;
}

bool GlobalMemory::holds(const char *begin, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto after = all.upper_bound(begin);
  if (after == all.begin())
    return false;
  const auto &[start, mapping] = *std::prev(after);
  uint64_t offset = uint64_t(begin - start);
  return offset <= mapping.bytes && bytes <= mapping.bytes - offset;
}

std::vector<MemoryRange> GlobalMemory::ranges(const std::vector<const char *> &pointers) const {
  std::vector<MemoryRange> ranges;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[begin, mapping] : all)
      ranges.push_back({const_cast<char *>(begin), mapping.bytes,
                        fmt::format("an allocation of {} bytes", mapping.bytes)});
  }
  for (size_t i = pointers.size(); i-- > 0;)
    for (MemoryRange &range : ranges)
      if (pointers[i] >= range.begin && pointers[i] < range.begin + range.bytes)
        range.name = fmt::format("parameter {}", i);
  return ranges;
}
