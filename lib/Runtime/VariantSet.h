//===- VariantSet.h - The variants of a program ---------------------------===//
//
// Which variants there are, which of them serves a call, and making one that is missing: once for
// all threads that ask meanwhile, without a lock held.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_VARIANTSET_H
#define SWAGE_LIB_RUNTIME_VARIANTSET_H

#include "swage/Runtime/Program.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace swage {

/// The widest access of a kernel; an address is aligned to it or counts as one of its element.
constexpr uint8_t kFullAlignment = 16;

class VariantSet {
public:
  using Made = std::shared_ptr<const Variant>;

  /// `elementAlignment`: of inputs and results, what every address has.
  VariantSet(std::string name, std::vector<TensorType> inputs,
             std::vector<uint8_t> elementAlignment, std::shared_ptr<VariantSource> source,
             Context context);

  /// The guards of the variant to make for these extents: the classes that they belong to, as far
  /// as the schedules depend on them.
  Expected<Guards> guardsFor(std::string arch, int indexBits, std::vector<uint8_t> alignment,
                             const Dims &extents);

  /// The variant with these guards or, if `orOther`, the best of those whose own guards hold for
  /// these extents.  Null if there is none.
  Made find(const Guards &guards, const Dims &extents, bool orOther) const;
  /// The variant that serves: found, or made.  Of n tensors there are 2^n patterns of alignment:
  /// the first few that are met have variants of their own, one for addresses of any element
  /// serves all others.
  Expected<Made> get(Guards guards, const Dims &extents);
  /// The variants in the order in which they were made.
  std::vector<Made> all() const;
  /// Why no variant has these guards: the nearest one and the first guard that differs.
  std::string whyNone(const Guards &guards, const Dims &extents) const;
  void add(Made variant);

  const std::vector<SymbolicLaunch::Size> &places() const { return extentPlaces; }

private:
  /// A variant in the making.
  struct Flight {
    Guards guards;
    bool isDone = false;
    Status failure;
    Made made;
  };
  Expected<std::vector<ExtentNeeds>> needs();
  /// Whether there are enough variants that differ from these guards in alignment alone.
  bool hasEnoughAlignments(const Guards &guards) const;
  Expected<Made> make(const Guards &guards, const Dims &extents);

  const std::string name;
  const std::vector<TensorType> inputs;
  const std::vector<SymbolicLaunch::Size> extentPlaces;
  const std::vector<uint8_t> elementAlignment;
  const std::shared_ptr<VariantSource> source;
  const Context context;

  mutable std::mutex mutex; ///< of what follows
  std::condition_variable landed;
  std::optional<std::vector<ExtentNeeds>> knownNeeds;
  std::vector<Made> variants;
  std::vector<std::shared_ptr<Flight>> flights;
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_VARIANTSET_H
