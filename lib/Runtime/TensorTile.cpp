//===- TensorTile.cpp - A tensor that is moved in boxes -------------------===//
#include "swage/Runtime/TensorTile.h"
#include "swage/Support/TensorType.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::cuda;

static constexpr unsigned kMaxRank = 5;
static constexpr uint64_t kMaxExtent = uint64_t(1) << 32, kMaxStride = uint64_t(1) << 40;
static constexpr uint32_t kMaxBox = 256;
/// An address that no driver can object to.
static constexpr uintptr_t kSomewhere = 1 << 20;

bool TensorTile::isEmpty() const {
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

std::optional<uint64_t> TensorTile::bytes() const {
  if (isEmpty())
    return 0;
  uint64_t all = elementBytes, reach;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    if (__builtin_mul_overflow(extents[dim] - 1, byteStrides[dim], &reach) ||
        __builtin_add_overflow(all, reach, &all))
      return std::nullopt;
  return all;
}

static TensorMapElement elementOf(const TensorTile &tile) {
  if (std::optional<ElementType> known = elementNamed(tile.element))
    switch (*known) {
    case ElementType::I32:
      return kTensorMapI32;
    case ElementType::I64:
      return kTensorMapI64;
    case ElementType::F16:
      return kTensorMapF16;
    case ElementType::BF16:
      return kTensorMapBF16;
    case ElementType::F32:
      return kTensorMapF32;
    case ElementType::F64:
      return kTensorMapF64;
    case ElementType::I1:
    case ElementType::I8:
    case ElementType::F8E4M3FN:
    case ElementType::F8E5M2:
      return kTensorMapU8;
    }
  return tile.elementBytes == 1   ? kTensorMapU8
         : tile.elementBytes == 2 ? kTensorMapU16
         : tile.elementBytes == 4 ? kTensorMapU32
                                  : kTensorMapU64;
}

/// What breaks the rules of cuTensorMapEncodeTiled, which itself would only say that something
/// does; empty: nothing.
static std::string problemOf(const TensorTile &tile) {
  size_t rank = tile.extents.size();
  if (rank < 1 || rank > kMaxRank || tile.byteStrides.size() != rank || tile.box.size() != rank)
    return fmt::format("{} extents, {} strides and {} numbers of a box; needed: as many of each, "
                       "1 to {}",
                       rank, tile.byteStrides.size(), tile.box.size(), kMaxRank);
  if (tile.byteStrides[0] != tile.elementBytes)
    return fmt::format("{} bytes from one element to the next; needed: {}", tile.byteStrides[0],
                       tile.elementBytes);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (tile.extents[dim] > kMaxExtent)
      return fmt::format("{} elements in dimension {}; the limit is 2^32", tile.extents[dim], dim);
    if (tile.box[dim] < 1 || tile.box[dim] > kMaxBox)
      return fmt::format("a box of {} elements in dimension {}; needed: 1 to {}", tile.box[dim],
                         dim, kMaxBox);
    if (uint64_t stride = tile.byteStrides[dim];
        dim > 0 && tile.extents[dim] > 1 &&
        (stride % TensorTile::kAlignment != 0 || stride >= kMaxStride))
      return fmt::format("a stride of {} bytes in dimension {}; needed: a multiple of {} below "
                         "2^40",
                         stride, dim, TensorTile::kAlignment);
  }
  if (tile.swizzle != 0 && tile.swizzle != 32 && tile.swizzle != 64 && tile.swizzle != 128)
    return fmt::format("a swizzle of {} bytes; needed: 0, 32, 64 or 128", tile.swizzle);
  if (uint64_t row = tile.box[0] * tile.elementBytes;
      row % TensorTile::kAlignment != 0 || (tile.swizzle != 0 && row > tile.swizzle))
    return fmt::format("a box of {} bytes in dimension 0; needed: a multiple of {}{}", row,
                       TensorTile::kAlignment,
                       tile.swizzle ? fmt::format(" up to {}", tile.swizzle) : "");
  return {};
}

Status TensorTile::encode(const Device &device, TensorMap &map) const {
  std::string problem = problemOf(*this);
  const Driver &cuda = device.driver();
  if (problem.empty() && device.properties().ccMajor < 9)
    problem = fmt::format("a box at a time, which {} ({}) does not move; needed: sm_90",
                          device.properties().name, device.properties().arch);
  if (problem.empty() && (!cuda.cuTensorMapEncodeTiled || !cuda.cuTensorMapReplaceAddress))
    problem = fmt::format("a tensor map, of which the driver {} knows nothing", cuda.path());
  if (!problem.empty())
    return makeError(Stage::Load, std::move(problem));

  uint64_t sizes[kMaxRank], strides[kMaxRank], whole = 0; // bytes of the dimensions so far
  uint32_t steps[kMaxRank];
  for (size_t dim = 0; dim < extents.size(); ++dim) {
    steps[dim] = 1;
    sizes[dim] = isEmpty() ? 1 : extents[dim];
    // Nothing is a stride away from the only element, but the driver judges what it is given.
    strides[dim] = dim == 0 || sizes[dim] > 1 ? byteStrides[dim] : whole;
    whole = (strides[dim] * sizes[dim] + kAlignment - 1) / kAlignment * kAlignment;
  }
  TensorMapSwizzle chunks = swizzle == 32    ? kSwizzle32
                            : swizzle == 64  ? kSwizzle64
                            : swizzle == 128 ? kSwizzle128
                                             : kNoSwizzle;
  ScopedContext scope(device);
  if (!scope.status())
    return scope.status();
  // Requests that L2 promotes to 256 bytes read memory at .91 of its speed (docs/notes/decode.md).
  return device.check(Stage::Load, "cuTensorMapEncodeTiled",
                      cuda.cuTensorMapEncodeTiled(&map, elementOf(*this), uint32_t(extents.size()),
                                                  reinterpret_cast<void *>(kSomewhere), sizes,
                                                  strides + 1, box.data(), steps, kNoInterleave,
                                                  chunks, kNoPromotion, kFillZeros));
}
