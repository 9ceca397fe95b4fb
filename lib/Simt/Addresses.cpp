//===- Addresses.cpp - What a kernel may touch beside shared memory -------===//

#include "Addresses.h"
#include "Machine.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage::simt;

static uintptr_t number(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

Addresses::Addresses(const Cluster &cluster) : launch(cluster.worker->launch()) {
  auto add = [&](const void *begin, uint64_t bytes) {
    host.push_back({number(begin), bytes, false});
  };
  const KernelInfo &kernel = *launch.kernel;
  add(launch.arguments, kernel.parameters * sizeof(void *));
  for (unsigned i = 0; i < kernel.parameters; ++i)
    add(launch.arguments[i], kernel.parameter[i].bytes);
  add(launch.module->data(), launch.module->bytes());
  add(&abiTable(launch.capability), sizeof(Abi));
  for (const auto &block : cluster.blocks)
    add(block->threads.data(), block->threads.size() * sizeof(Thread));

  // An allocation that only pointers to const lead to; a tensor map may be stored to.
  for (bool isReadOnly : {true, false})
    for (unsigned i = 0; i < kernel.parameters; ++i) {
      const ParameterInfo &parameter = kernel.parameter[i];
      uintptr_t at = number(pointedTo(parameter, launch.arguments[i]));
      if (at == 0 || parameter.isReadOnly != isReadOnly)
        continue;
      const MemoryRange *range = before(at);
      if (!range || at - number(range->begin) > range->bytes)
        continue;
      auto known = std::find_if(readOnly.begin(), readOnly.end(),
                                [&](const auto &entry) { return entry.first == range; });
      if (isReadOnly && known == readOnly.end())
        readOnly.emplace_back(range, int(i));
      else if (!isReadOnly && known != readOnly.end())
        readOnly.erase(known);
    }
}

const MemoryRange *Addresses::before(uintptr_t at) const {
  const std::vector<MemoryRange> &memory = *launch.memory;
  auto after =
      std::upper_bound(memory.begin(), memory.end(), at,
                       [](uintptr_t a, const MemoryRange &b) { return a < number(b.begin); });
  return after == memory.begin() ? nullptr : &*std::prev(after);
}

int Addresses::readOnlyParameter(const MemoryRange &range) const {
  for (const auto &[allocation, parameter] : readOnly)
    if (allocation == &range)
      return parameter;
  return -1;
}

bool Addresses::lookUp(uintptr_t at, uint64_t bytes, bool write) {
  auto inside = [&](uintptr_t begin, uint64_t size) {
    return at >= begin && at - begin < size && bytes <= size - (at - begin);
  };
  Slot &slot = slots[slotOf(at)];
  auto keep = [&](const Range &range) {
    slot[1] = slot[0];
    slot[0] = range;
  };
  for (const Range &range : recent)
    if (inside(range.begin, range.bytes) && !(write && range.isReadOnly)) {
      keep(range);
      return true;
    }
  Range found;
  const MemoryRange *range = before(at);
  if (range && inside(number(range->begin), range->bytes)) {
    found = {number(range->begin), range->bytes, readOnlyParameter(*range) >= 0};
    if (write && found.isReadOnly)
      return false;
  } else {
    for (const Range &other : host)
      if (inside(other.begin, other.bytes))
        found = other;
    if (!found.bytes)
      return bytes == 0;
  }
  keep(found);
  recent[nextRecent++ % recent.size()] = found;
  return true;
}

Addresses::Refusal Addresses::refusal(uintptr_t at, uint64_t bytes, bool write) const {
  std::string access = fmt::format("a {} of {} bytes", write ? "write" : "read", bytes);
  const MemoryRange *below = before(at);
  const std::vector<MemoryRange> &memory = *launch.memory;
  const MemoryRange *above = below ? below + 1 : memory.data();
  if (above == memory.data() + memory.size())
    above = nullptr;
  auto nameOf = [](const MemoryRange &range) {
    return fmt::format("{} ({} bytes)", range.name.empty() ? "an allocation" : range.name,
                       range.bytes);
  };
  uintptr_t offset = below ? at - number(below->begin) : 0;
  if (below && offset < below->bytes && bytes <= below->bytes - offset) {
    int parameter = readOnlyParameter(*below);
    return {FindingKind::ReadOnlyWrite,
            fmt::format("{} to {} at offset {}, which the kernel gets as a pointer to const "
                        "(parameter {})",
                        access, nameOf(*below), offset, parameter)};
  }
  if (at < 4096)
    return {FindingKind::OutOfBounds, fmt::format("{} through a null pointer", access)};
  std::string where;
  if (below && offset < below->bytes)
    where = fmt::format("at offset {} of {}", offset, nameOf(*below));
  else if (below && (!above || offset - below->bytes <= number(above->begin) - at))
    where = fmt::format("{} bytes past the end of {}", offset - below->bytes, nameOf(*below));
  else if (above)
    where = fmt::format("{} bytes before {}", number(above->begin) - at, nameOf(*above));
  else
    where = "where no memory is";
  return {FindingKind::OutOfBounds, fmt::format("{} {}", access, where)};
}
