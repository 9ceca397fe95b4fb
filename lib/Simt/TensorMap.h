//===- TensorMap.h - What a tensor map says, and where its elements lie ---===//
//
// The simulator's own form of a CUtensorMap, and the arithmetic of the copies that use one: which
// elements a box has, and where the swizzles put them in shared memory.  Plain functions of
// numbers.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_TENSORMAP_H
#define SWAGE_LIB_SIMT_TENSORMAP_H

#include "swage/Support/Error.h"

#include <cstdint>
#include <string>

namespace swage::simt {

/// Numbered as CUtensorMapDataType; the packed 4- and 6-bit types, which need sm_100, are left out.
enum class TensorType : unsigned char {
  Uint8,
  Uint16,
  Uint32,
  Int32,
  Uint64,
  Int64,
  Float16,
  Float32,
  Float64,
  Bfloat16,
  Float32Ftz,
  Tfloat32,
  Tfloat32Ftz,
};
constexpr unsigned kTensorTypes = 13;
/// Bytes of an element.
unsigned sizeOf(TensorType type);

/// Numbered as CUtensorMapSwizzle; those with atoms of more than 16 bytes need sm_100.
enum class TensorSwizzle : unsigned char { None, B32, B64, B128 };
constexpr unsigned kTensorSwizzles = 4;
/// Bytes of a row of shared memory within which chunks of 16 bytes change places; 0: none do.
constexpr unsigned spanOf(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::None ? 0 : 16u << unsigned(swizzle);
}
/// Where the hardware puts what belongs at this address of shared memory: the number of the 16-byte
/// chunk within its row is combined with address bits 7 and up, which count rows of 128 bytes,
/// wherever the box begins.
constexpr uint32_t swizzled(uint32_t address, TensorSwizzle swizzle) {
  uint32_t mask = (1u << unsigned(swizzle)) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

/// Bytes that a swizzle keeps together.
constexpr unsigned kSwizzledChunk = 16;

constexpr unsigned kMaxTensorRank = 5;
/// Of a CUtensorMap.
constexpr unsigned kTensorMapBytes = 128, kTensorMapAlignment = 64;

/// A tensor map as the simulator encodes it.
struct TensorMapData {
  uint64_t magic;
  char *base;
  uint64_t dims[kMaxTensorRank];        ///< elements, innermost first
  uint64_t strides[kMaxTensorRank - 1]; ///< bytes, of dimensions 1 and up
  uint16_t box[kMaxTensorRank];         ///< elements that are spanned
  uint8_t elementStrides[kMaxTensorRank];
  uint8_t rank;
  TensorType type;
  TensorSwizzle swizzle;
  bool fillsNaN; ///< what is out of bounds reads as NaN instead of zero

  unsigned elementBytes() const { return sizeOf(type); }
  /// Elements that a copy moves along a dimension.
  unsigned extent(unsigned dim) const {
    return (box[dim] + elementStrides[dim] - 1u) / elementStrides[dim];
  }
  unsigned rowBytes() const { return box[0] * elementBytes(); }
  /// Rows of dimension 0 in a box.
  unsigned rows() const;
  /// From one row to the next in shared memory: a swizzled row has its whole span to itself.
  unsigned rowPitch() const;
  /// Bytes that a copy moves, which is what an mbarrier counts.
  unsigned boxBytes() const { return rowBytes() * rows(); }
  /// Bytes of shared memory that a box takes, gaps between its rows included.
  unsigned sharedBytes() const { return rowPitch() * rows(); }
};

/// The map at this place; null if it is not one of encodeTensorMap.
const TensorMapData *tensorMapAt(const void *place);

/// The parameters of cuTensorMapEncodeTiled, enumerators as their numbers; 128 bytes are written to
/// `tensorMap`.  An error names the rule that the parameters break: those of the CUDA driver API,
/// and what else the driver refuses.
Status encodeTensorMap(void *tensorMap, unsigned dataType, unsigned rank, const void *globalAddress,
                       const uint64_t *globalDim, const uint64_t *globalStrides,
                       const uint32_t *boxDim, const uint32_t *elementStrides, unsigned interleave,
                       unsigned swizzle, unsigned l2Promotion, unsigned outOfBoundsFill);

/// cuTensorMapReplaceAddress.
Status replaceTensorMapAddress(void *tensorMap, const void *globalAddress);

/// One box of a tensor, at coordinates that may be out of bounds.
class TensorBox {
public:
  TensorBox(const TensorMapData &map, const int *coordinates);

  const TensorMapData &map() const { return tensor; }
  /// Why the hardware refuses to load or store a box at these coordinates; "" if it does not.
  std::string problem(bool isStore) const;
  /// Whether anything of the box is in bounds, and then the bytes of global memory from the first
  /// that a load reads, or a store writes, to behind the last.
  bool range(bool isStore, const char *&begin, const char *&end) const;

  /// The box into shared memory: `shared[a]` is the byte at address a.  Elements out of bounds are
  /// filled, those of a tf32 tensor rounded.
  void load(char *shared, uint32_t at) const;
  /// The other way in two steps: rows without gaps and swizzle, `boxBytes()` of them; and those
  /// rows to where they are in bounds.  A chunk of 16 bytes is written whole when its first element
  /// is in bounds: what the tensor's rows are padded with does not survive.
  void gather(const char *shared, uint32_t at, char *rows) const;
  void store(const char *rows) const;
  /// As store, but element by element: `combine(at, operand)`.
  template <class Combine> void reduce(const char *rows, Combine combine) const {
    unsigned bytes = tensor.elementBytes(), end = storedEnd();
    forEachRow([&](unsigned row, char *global) {
      if (global)
        for (unsigned i = first * bytes; i < end; i += bytes)
          combine(global + start[0] * int64_t(bytes) + i, rows + row * tensor.rowBytes() + i);
    });
  }
  /// visit(address, bytes) for the pieces of shared memory that load writes, or store needs.
  template <class Visit> void forEachPiece(bool isStore, uint32_t at, Visit visit) const {
    uint32_t begin = at, end = at;
    auto add = [&](uint32_t from, unsigned bytes) {
      if (from != end) {
        if (begin != end)
          visit(begin, end - begin);
        begin = end = from;
      }
      end += bytes;
    };
    unsigned pitch = tensor.rowPitch(), used = isStore ? storedEnd() : tensor.rowBytes();
    forEachRow([&](unsigned row, const char *global) {
      if (isStore && !global)
        return;
      if (used == pitch || tensor.swizzle == TensorSwizzle::None)
        add(at + row * pitch, used);
      else
        for (unsigned byte = 0; byte < used; byte += kSwizzledChunk)
          add(swizzled(at + row * pitch + byte, tensor.swizzle), kSwizzledChunk);
    });
    if (begin != end)
      visit(begin, end - begin);
  }

private:
  /// visit(number of the row, its element 0 in global memory or null if it is out of bounds).
  template <class Visit> void forEachRow(Visit visit) const {
    unsigned number = 0;
    unsigned index[kMaxTensorRank] = {};
    for (;;) {
      char *global = first < last ? tensor.base : nullptr;
      for (unsigned dim = 1; dim < tensor.rank; ++dim) {
        int64_t at = start[dim] + int64_t(index[dim]) * tensor.elementStrides[dim];
        if (at < 0 || uint64_t(at) >= tensor.dims[dim])
          global = nullptr;
        else if (global)
          global += uint64_t(at) * tensor.strides[dim - 1];
      }
      visit(number++, global);
      unsigned dim = 1;
      for (; dim < tensor.rank && ++index[dim] == tensor.extent(dim); ++dim)
        index[dim] = 0;
      if (dim >= tensor.rank)
        return;
    }
  }

  /// Bytes of a row up to the last that a store writes.
  unsigned storedEnd() const;

  TensorMapData tensor;
  int64_t start[kMaxTensorRank];
  unsigned first = 0, last = 0; ///< elements of a row that are in bounds
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_TENSORMAP_H
