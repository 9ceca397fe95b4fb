//===- TensorTile.h - A tensor that is moved in boxes ---------------------===//
//
// What the copy engine must know of a tensor to move a box of it at a time: the contents of a
// tensor map, all but the address.  A kernel gets the map in place of a pointer, as
// `const __grid_constant__ swage::TensorMap`.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_TENSORTILE_H
#define SWAGE_RUNTIME_TENSORTILE_H

#include "swage/Runtime/Device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swage {

/// One number for each dimension, the innermost first.
struct TensorTile {
  std::string element; ///< as MLIR spells it; of a type that is unknown, bits are moved
  uint64_t elementBytes = 0;
  std::vector<uint64_t> extents;
  std::vector<uint64_t> byteStrides; ///< of the innermost dimension: elementBytes
  std::vector<uint32_t> box;         ///< elements that a copy moves
  unsigned swizzle =
      0; ///< bytes of shared memory within which chunks change places: 0, 32, 64, 128

  /// That an address must be divisible by.
  static constexpr uint64_t kAlignment = 16;

  /// Nothing is there to be moved.
  bool isEmpty() const;
  /// From the first element to behind the last; nothing where that leaves 64 bits.
  std::optional<uint64_t> bytes() const;
  /// The map, without an address: cuTensorMapReplaceAddress gives it one.  The error says what the
  /// copy engine, the device or its driver does not take.
  Status encode(const Device &device, cuda::TensorMap &map) const;
};

} // namespace swage

#endif // SWAGE_RUNTIME_TENSORTILE_H
