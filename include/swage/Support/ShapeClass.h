//===- ShapeClass.h - Extents that share a kernel ---------------*- C++ -*-===//
//
// A kernel over a runtime extent is compiled for a class of extents, not for one. The classes are
// few, so that a program that sees a thousand lengths compiles at most kShapeClasses kernels for
// each extent that its schedules depend on, and fewer for most: what a schedule does not depend on
// does not split it (see swage::symbolNeeds). Numbers of rows have classes of their own, of which
// most kernels have one or two.
//
// A kernel that was compiled for a class serves every extent of it, 0 included.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_SUPPORT_SHAPECLASS_H
#define SWAGE_SUPPORT_SHAPECLASS_H

#include <cstddef>
#include <cstdint>

namespace swage {

/// All extents that `multiple` divides and that are at most `limit`; a limit of 0 is none. These
/// are the numbers of `swage.multiple_of` and `swage.at_most`.
struct ShapeClass {
  int64_t multiple = 1;
  int64_t limit = 0;

  constexpr bool contains(int64_t extent) const {
    return extent >= 0 && extent % multiple == 0 && (limit == 0 || extent <= limit);
  }
  friend constexpr bool operator==(ShapeClass a, ShapeClass b) {
    return a.multiple == b.multiple && a.limit == b.limit;
  }
  friend constexpr bool operator!=(ShapeClass a, ShapeClass b) { return !(a == b); }
};

/// How many classes of lengths the functions below tell apart.
constexpr int kShapeClasses = 8;

/// 8 where it divides the extent, else 1: eight 16-bit elements are one access of 16 bytes, and
/// wider elements need less.
constexpr int64_t multipleClass(int64_t extent) { return extent % 8 == 0 ? 8 : 1; }

/// Bounds of lengths. With vectors of eight 1024 is four vectors a lane of one warp, 4096 a block of
/// 128 threads, and 16384 the longest row that a block of 512 keeps in registers.
constexpr int64_t kLengthLimits[] = {1024, 4096, 16384};
/// Bounds of a number of rows, or of attention's queries: one query is decoded, up to 128 rows leave
/// multiprocessors without one, and up to 512 do not fill them.
constexpr int64_t kCountLimits[] = {1, 128, 512};

/// The least of these bounds that holds the extent, or 0 above all of them.
template <size_t N> constexpr int64_t leastLimit(const int64_t (&limits)[N], int64_t extent) {
  for (int64_t limit : limits)
    if (extent <= limit)
      return limit;
  return 0;
}
constexpr int64_t limitClass(int64_t extent) { return leastLimit(kLengthLimits, extent); }
constexpr int64_t countClass(int64_t extent) { return leastLimit(kCountLimits, extent); }

constexpr ShapeClass shapeClassOf(int64_t extent) {
  return {multipleClass(extent), limitClass(extent)};
}

} // namespace swage

#endif // SWAGE_SUPPORT_SHAPECLASS_H
