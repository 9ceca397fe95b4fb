//===- TensorMap.cpp - What a tensor map says, and where its elements lie -===//

#include "TensorMap.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

static constexpr uint64_t kMagic = 0x7067'736e'6554'7753; // "SwTensgp"
static constexpr unsigned kChunk = kSwizzledChunk;
/// What the driver takes for shared memory when it looks whether a box fits.
static constexpr uint64_t kMaxBoxBytes = 228 << 10;
static constexpr unsigned kAddressBits = 57;
static_assert(sizeof(TensorMapData) <= kTensorMapBytes);

unsigned swage::simt::sizeOf(TensorType type) {
  switch (type) {
  case TensorType::Uint8:
    return 1;
  case TensorType::Uint16:
  case TensorType::Float16:
  case TensorType::Bfloat16:
    return 2;
  case TensorType::Uint32:
  case TensorType::Int32:
  case TensorType::Float32:
  case TensorType::Float32Ftz:
  case TensorType::Tfloat32:
  case TensorType::Tfloat32Ftz:
    return 4;
  case TensorType::Uint64:
  case TensorType::Int64:
  case TensorType::Float64:
    return 8;
  }
  return 1;
}

unsigned TensorMapData::rows() const {
  unsigned count = 1;
  for (unsigned dim = 1; dim < rank; ++dim)
    count *= extent(dim);
  return count;
}

unsigned TensorMapData::rowPitch() const { return std::max(rowBytes(), spanOf(swizzle)); }

const TensorMapData *swage::simt::tensorMapAt(const void *place) {
  const auto *map = static_cast<const TensorMapData *>(place);
  return map->magic == kMagic ? map : nullptr;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

static bool isFloat(TensorType type) {
  return type == TensorType::Float16 || type >= TensorType::Float32;
}

static Error wrong(std::string message) {
  return makeError(Stage::Input, "tensor map: " + std::move(message));
}

static bool isMultiple(const void *pointer, unsigned alignment) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

static Status checkPlace(const void *tensorMap) {
  if (!tensorMap || !isMultiple(tensorMap, kTensorMapAlignment))
    return wrong(
        fmt::format("it lies at {}; needed: a multiple of {}", tensorMap, kTensorMapAlignment));
  return {};
}

static Status checkAddress(const void *globalAddress) {
  if (!isMultiple(globalAddress, kChunk) ||
      reinterpret_cast<uintptr_t>(globalAddress) >> kAddressBits)
    return wrong(fmt::format("global address {}; needed: a multiple of {} below 2^{}",
                                    globalAddress, kChunk, kAddressBits));
  return {};
}

Status swage::simt::replaceTensorMapAddress(void *tensorMap, const void *globalAddress) {
  if (Status checked = checkPlace(tensorMap); !checked)
    return checked;
  if (!tensorMapAt(tensorMap))
    return wrong("nothing was encoded there");
  if (Status checked = checkAddress(globalAddress); !checked)
    return checked;
  static_cast<TensorMapData *>(tensorMap)->base =
      static_cast<char *>(const_cast<void *>(globalAddress));
  return {};
}

Status swage::simt::encodeTensorMap(void *tensorMap, unsigned dataType, unsigned rank,
                                    const void *globalAddress, const uint64_t *globalDim,
                                    const uint64_t *globalStrides, const uint32_t *boxDim,
                                    const uint32_t *elementStrides, unsigned interleave,
                                    unsigned swizzle, unsigned l2Promotion,
                                    unsigned outOfBoundsFill) {
  if (Status checked = checkPlace(tensorMap); !checked)
    return checked;
  if (dataType >= kTensorTypes)
    return wrong(fmt::format("data type {}; allowed: 0 to {} (the packed types need sm_100)",
                             dataType, kTensorTypes - 1));
  if (rank < 1 || rank > kMaxTensorRank)
    return wrong(fmt::format("rank {}; allowed: 1 to {}", rank, kMaxTensorRank));
  if (interleave != 0)
    return wrong(fmt::format("interleave {}; the simulator knows only 0 (none)", interleave));
  if (swizzle >= kTensorSwizzles)
    return wrong(fmt::format("swizzle {}; allowed: 0 to {} (larger atoms need sm_100)", swizzle,
                             kTensorSwizzles - 1));
  if (l2Promotion > 3)
    return wrong(fmt::format("L2 promotion {}; allowed: 0 to 3", l2Promotion));
  if (outOfBoundsFill > 1)
    return wrong(fmt::format("out-of-bounds fill {}; allowed: 0 and 1", outOfBoundsFill));

  TensorMapData map{};
  map.magic = kMagic;
  map.base = static_cast<char *>(const_cast<void *>(globalAddress));
  map.rank = uint8_t(rank);
  map.type = TensorType(dataType);
  map.swizzle = TensorSwizzle(swizzle);
  map.fillsNaN = outOfBoundsFill == 1;
  if (map.fillsNaN && !isFloat(map.type))
    return wrong("out-of-bounds elements cannot be NaN: the data type is an integer");
  if (Status checked = checkAddress(globalAddress); !checked)
    return checked;
  if (!globalDim || !boxDim || !elementStrides || (rank > 1 && !globalStrides))
    return wrong("an array is missing");
  uint64_t boxBytes = map.elementBytes();
  for (unsigned dim = 0; dim < kMaxTensorRank; ++dim) {
    map.dims[dim] = map.box[dim] = map.elementStrides[dim] = 1;
    if (dim >= rank)
      continue;
    if (globalDim[dim] < 1 || globalDim[dim] > uint64_t(1) << 32)
      return wrong(
          fmt::format("{} elements in dimension {}; allowed: 1 to 2^32", globalDim[dim], dim));
    if (boxDim[dim] < 1 || boxDim[dim] > 256)
      return wrong(fmt::format("a box of {} in dimension {}; allowed: 1 to 256", boxDim[dim], dim));
    if (elementStrides[dim] < 1 || elementStrides[dim] > 8)
      return wrong(fmt::format("element stride {} in dimension {}; allowed: 1 to 8",
                               elementStrides[dim], dim));
    boxBytes *= boxDim[dim] / elementStrides[dim];
    map.dims[dim] = globalDim[dim];
    map.box[dim] = uint16_t(boxDim[dim]);
    // Dimension 0 has none without interleave: the driver ignores what is given.
    if (dim > 0)
      map.elementStrides[dim] = uint8_t(elementStrides[dim]);
  }
  for (unsigned dim = 1; dim < rank; ++dim) {
    uint64_t stride = globalStrides[dim - 1];
    if (stride % 16 != 0 || stride >= uint64_t(1) << 40)
      return wrong(
          fmt::format("a stride of {} bytes in dimension {}; needed: a multiple of 16 below "
                      "2^40",
                      stride, dim));
    map.strides[dim - 1] = stride;
  }
  if (map.rowBytes() % 16 != 0)
    return wrong(
        fmt::format("a box of {} bytes in dimension 0; needed: a multiple of 16", map.rowBytes()));
  if (unsigned span = spanOf(map.swizzle); span && map.rowBytes() > span)
    return wrong(fmt::format("a box of {} bytes in dimension 0; the swizzle allows at most {}",
                             map.rowBytes(), span));
  if (boxBytes > kMaxBoxBytes)
    return wrong(fmt::format("a box of {} bytes; allowed: {}", boxBytes, kMaxBoxBytes));
  std::memset(tensorMap, 0, kTensorMapBytes);
  std::memcpy(tensorMap, &map, sizeof(map));
  return {};
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

TensorBox::TensorBox(const TensorMapData &map, const int *coordinates) : tensor(map) {
  for (unsigned dim = 0; dim < kMaxTensorRank; ++dim)
    start[dim] = dim < map.rank ? coordinates[dim] : 0;
  int64_t box = map.box[0], inside = std::min(box, int64_t(map.dims[0]) - start[0]);
  first = unsigned(std::clamp(-start[0], int64_t(0), box));
  last = unsigned(std::max(inside, int64_t(first)));
}

std::string TensorBox::problem(bool isStore) const {
  if (start[0] * tensor.elementBytes() % kChunk != 0)
    return fmt::format(
        "coordinate {} of elements of {} bytes: a box begins at a multiple of {} bytes", start[0],
        tensor.elementBytes(), kChunk);
  for (unsigned dim = 0; isStore && dim < tensor.rank; ++dim)
    if (start[dim] < 0)
      return fmt::format("coordinate {} in dimension {}: only loads begin in front of a tensor",
                         start[dim], dim);
  return "";
}

unsigned TensorBox::storedEnd() const {
  return (last * tensor.elementBytes() + kChunk - 1) / kChunk * kChunk;
}

bool TensorBox::range(bool isStore, const char *&begin, const char *&end) const {
  if (first == last)
    return false;
  int64_t bytes = tensor.elementBytes();
  begin = tensor.base + (start[0] + first) * bytes;
  end = tensor.base + (isStore ? start[0] * bytes + storedEnd() : (start[0] + last) * bytes);
  for (unsigned dim = 1; dim < tensor.rank; ++dim) {
    int64_t low = -1, high = -1, dims = int64_t(tensor.dims[dim]);
    for (unsigned i = 0; i < tensor.extent(dim); ++i) {
      int64_t at = start[dim] + int64_t(i) * tensor.elementStrides[dim];
      if (at < 0 || at >= dims)
        continue;
      low = low < 0 ? at : low;
      high = at;
    }
    if (low < 0)
      return false;
    begin += uint64_t(low) * tensor.strides[dim - 1];
    end += uint64_t(high) * tensor.strides[dim - 1];
  }
  return true;
}

/// What an element out of bounds reads as.
static void fillElements(char *to, const TensorMapData &map, unsigned count) {
  unsigned bytes = count * map.elementBytes();
  std::memset(to, 0, bytes);
  for (unsigned i = 0; map.fillsNaN && i < bytes; i += 2) {
    to[i] = char(0xf7);
    to[i + 1] = 0x7f;
  }
}

/// To the nearest tf32, ties to even; every NaN becomes the same one.
static void roundToTf32(char *row, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i += 4) {
    uint32_t value;
    std::memcpy(&value, row + i, 4);
    if ((value & 0x7fffffff) > 0x7f800000)
      value = 0x7fffe000;
    else
      value = (value + 0xfff + (value >> 13 & 1)) & 0xffffe000;
    std::memcpy(row + i, &value, 4);
  }
}

void TensorBox::load(char *shared, uint32_t at) const {
  unsigned rowBytes = tensor.rowBytes(), pitch = tensor.rowPitch(), bytes = tensor.elementBytes();
  bool whole = first == 0 && last == tensor.box[0];
  bool rounds = tensor.type == TensorType::Tfloat32 || tensor.type == TensorType::Tfloat32Ftz;
  forEachRow([&](unsigned number, const char *global) {
    char buffer[256 * 8];
    const char *row = buffer;
    if (global && whole && !rounds) {
      row = global + start[0] * int64_t(bytes);
    } else if (global) {
      fillElements(buffer, tensor, first);
      std::memcpy(buffer + first * bytes, global + (start[0] + first) * int64_t(bytes),
                  (last - first) * bytes);
      if (rounds)
        roundToTf32(buffer + first * bytes, (last - first) * bytes);
      fillElements(buffer + last * bytes, tensor, tensor.box[0] - last);
    } else {
      fillElements(buffer, tensor, tensor.box[0]);
    }
    uint32_t to = at + number * pitch;
    if (tensor.swizzle == TensorSwizzle::None)
      std::memcpy(shared + to, row, rowBytes);
    else
      for (unsigned chunk = 0; chunk < rowBytes; chunk += kChunk)
        std::memcpy(shared + swizzled(to + chunk, tensor.swizzle), row + chunk, kChunk);
  });
}

void TensorBox::gather(const char *shared, uint32_t at, char *rows) const {
  unsigned rowBytes = tensor.rowBytes(), pitch = tensor.rowPitch();
  for (unsigned row = 0, count = tensor.rows(); row < count; ++row)
    for (unsigned chunk = 0; chunk < rowBytes; chunk += kChunk, rows += kChunk)
      std::memcpy(rows, shared + swizzled(at + row * pitch + chunk, tensor.swizzle), kChunk);
}

void TensorBox::store(const char *rows) const {
  unsigned bytes = tensor.elementBytes(), begin = first * bytes, end = storedEnd();
  forEachRow([&](unsigned number, char *global) {
    if (global)
      std::memcpy(global + start[0] * int64_t(bytes) + begin,
                  rows + number * tensor.rowBytes() + begin, end - begin);
  });
}
