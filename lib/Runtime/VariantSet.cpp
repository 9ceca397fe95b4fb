//===- VariantSet.cpp - The variants of a program -------------------------===//

#include "VariantSet.h"

#include "ContextState.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

/// Whether a variant with the guards `have` serves a call with these dynamic extents and otherwise
/// the guards `wanted`.
static bool covers(const Guards &have, const Guards &wanted, const Dims &extents) {
  if (have.arch != wanted.arch || have.indexBits < wanted.indexBits ||
      have.alignment.size() != wanted.alignment.size() || have.extents.size() != extents.size())
    return false;
  for (size_t i = 0; i < have.alignment.size(); ++i)
    if (have.alignment[i] > wanted.alignment[i])
      return false;
  for (size_t i = 0; i < extents.size(); ++i)
    if (const Guards::Extent &guard = have.extents[i];
        extents[i] % guard.multipleOf != 0 || (guard.atMost != 0 && extents[i] > guard.atMost))
      return false;
  return true;
}

/// How many guards two variants have in common; of those that serve a call, the one with most is
/// the most specialised.
static size_t similarity(const Guards &a, const Guards &b) {
  size_t same = size_t(a.arch == b.arch) + size_t(a.indexBits == b.indexBits);
  for (size_t i = 0; i < std::min(a.alignment.size(), b.alignment.size()); ++i)
    same += a.alignment[i] == b.alignment[i];
  for (size_t i = 0; i < std::min(a.extents.size(), b.extents.size()); ++i)
    same += size_t(a.extents[i].multipleOf == b.extents[i].multipleOf) +
            size_t(a.extents[i].atMost == b.extents[i].atMost);
  return same;
}

VariantSet::VariantSet(std::string name, std::vector<TensorType> inputs,
                       std::vector<uint8_t> elementAlignment, std::shared_ptr<VariantSource> source,
                       Context context)
    : name(std::move(name)), inputs(std::move(inputs)), extentPlaces(dynamicExtents(this->inputs)),
      elementAlignment(std::move(elementAlignment)), source(std::move(source)),
      context(std::move(context)) {}

Expected<std::vector<ExtentNeeds>> VariantSet::needs() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (knownNeeds)
      return *knownNeeds;
  }
  auto needs = source->needs();
  if (!needs)
    return needs;
  needs->resize(extentPlaces.size());
  std::lock_guard<std::mutex> lock(mutex);
  knownNeeds = *needs;
  return needs;
}

Expected<Guards> VariantSet::guardsFor(std::string arch, int indexBits,
                                       std::vector<uint8_t> alignment, const Dims &extents) {
  auto needs = this->needs();
  if (!needs)
    return needs.takeError();
  Guards guards;
  guards.arch = std::move(arch);
  guards.indexBits = indexBits;
  guards.alignment = std::move(alignment);
  guards.extents = extentClasses(*needs, extents);
  return guards;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

VariantSet::Made VariantSet::find(const Guards &guards, const Dims &extents, bool orOther) const {
  std::lock_guard<std::mutex> lock(mutex);
  Made best;
  for (const Made &variant : variants) {
    if (variant->guards == guards)
      return variant;
    if (orOther && covers(variant->guards, guards, extents) &&
        (!best || similarity(variant->guards, guards) > similarity(best->guards, guards)))
      best = variant;
  }
  return best;
}

std::vector<VariantSet::Made> VariantSet::all() const {
  std::lock_guard<std::mutex> lock(mutex);
  return variants;
}

void VariantSet::add(Made variant) {
  std::lock_guard<std::mutex> lock(mutex);
  if (std::find(variants.begin(), variants.end(), variant) == variants.end())
    variants.push_back(std::move(variant));
}

/// The first guard of `have` that is not the wanted one, with both values.
static std::string difference(const Guards &have, const Guards &wanted, const Dims &extents,
                              const std::vector<SymbolicLaunch::Size> &places, size_t inputCount) {
  if (have.arch != wanted.arch)
    return fmt::format("the nearest variant is for {}, the device is {}", have.arch, wanted.arch);
  if (have.indexBits != wanted.indexBits)
    return fmt::format("the nearest variant has {}-bit offsets; needed: {}", have.indexBits,
                       wanted.indexBits);
  for (size_t i = 0; i < std::min(have.alignment.size(), wanted.alignment.size()); ++i)
    if (have.alignment[i] != wanted.alignment[i])
      return fmt::format("the nearest variant has {} {} aligned to {} bytes; here it is aligned to "
                         "{}",
                         i < inputCount ? "input" : "result", i < inputCount ? i : i - inputCount,
                         have.alignment[i], wanted.alignment[i]);
  for (size_t i = 0; i < std::min(have.extents.size(), wanted.extents.size()); ++i) {
    const Guards::Extent &there = have.extents[i], &here = wanted.extents[i];
    std::string extent = fmt::format("dimension {} of input {}, here {},", places[i].dim,
                                     places[i].argument, extents[i]);
    if (there.multipleOf != here.multipleOf)
      return fmt::format("the nearest variant has {} {}", extent,
                         there.multipleOf == 1
                             ? fmt::format("of any divisor, and {} divides it", here.multipleOf)
                             : fmt::format("a multiple of {}", there.multipleOf));
    if (there.atMost != here.atMost) {
      std::string bound = there.atMost == 0
                              ? fmt::format("of any size, and it is at most {}", here.atMost)
                              : fmt::format("at most {}", there.atMost);
      if (there.atMost != 0 && extents[i] <= there.atMost)
        bound += here.atMost == 0 ? ", and any size is asked for"
                                  : fmt::format(", and it is at most {}", here.atMost);
      return fmt::format("the nearest variant has {} {}", extent, bound);
    }
  }
  return {};
}

std::string VariantSet::whyNone(const Guards &guards, const Dims &extents) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (variants.empty())
    return "there is no variant yet";
  auto nearest =
      std::max_element(variants.begin(), variants.end(), [&](const Made &a, const Made &b) {
        return similarity(a->guards, guards) < similarity(b->guards, guards);
      });
  return difference((*nearest)->guards, guards, extents, extentPlaces, inputs.size());
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// Patterns of alignment that have variants of their own, beside that of full alignment.
static constexpr size_t kAlignmentPatterns = 8;

bool VariantSet::hasEnoughAlignments(const Guards &guards) const {
  auto isFull = [](const std::vector<uint8_t> &alignment) {
    return std::all_of(alignment.begin(), alignment.end(),
                       [](uint8_t bytes) { return bytes == kFullAlignment; });
  };
  if (isFull(guards.alignment))
    return false;
  Guards same = guards;
  std::lock_guard<std::mutex> lock(mutex);
  return size_t(std::count_if(variants.begin(), variants.end(), [&](const Made &variant) {
           same.alignment = variant->guards.alignment;
           return variant->guards == same && !isFull(same.alignment);
         })) >= kAlignmentPatterns;
}

Expected<VariantSet::Made> VariantSet::get(Guards guards, const Dims &extents) {
  if (Made found = find(guards, extents, !source->compiles()))
    return found;
  if (source->compiles() && hasEnoughAlignments(guards)) {
    guards.alignment = elementAlignment;
    if (Made found = find(guards, extents, /*orOther=*/false))
      return found;
  }
  std::shared_ptr<Flight> flight;
  {
    std::unique_lock<std::mutex> lock(mutex);
    for (const Made &variant : variants) // it may have landed meanwhile
      if (variant->guards == guards)
        return variant;
    for (const auto &other : flights)
      if (other->guards == guards)
        flight = other;
    if (flight) {
      landed.wait(lock, [&] { return flight->isDone; });
      if (!flight->failure)
        return flight->failure.error();
      return flight->made;
    }
    flight = std::make_shared<Flight>();
    flight->guards = guards;
    flights.push_back(flight);
  }
  auto made = make(guards, extents);
  std::lock_guard<std::mutex> lock(mutex);
  if (made) {
    flight->made = *made;
    if (std::find(variants.begin(), variants.end(), *made) == variants.end())
      variants.push_back(*made);
  } else {
    flight->failure = made.error();
  }
  flight->isDone = true;
  // Failures are not kept: the next one to ask tries again.
  flights.erase(std::find(flights.begin(), flights.end(), flight));
  landed.notify_all();
  return made;
}

Expected<VariantSet::Made> VariantSet::make(const Guards &guards, const Dims &extents) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::Variant;
  event.name = name;
  event.detail = guards.str(inputs);
  event.reason = whyNone(guards, extents);
  event.thread = threadNumber();
  event.begin = std::chrono::steady_clock::now();
  auto made = source->make(guards, event.reason);
  if (!made)
    return made;
  event.end = std::chrono::steady_clock::now();
  context.report(event);
  return made;
}
