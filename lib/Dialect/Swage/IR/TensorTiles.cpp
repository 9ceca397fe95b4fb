//===- TensorTiles.cpp - Views that are moved in boxes --------------------===//
#include "swage/Dialect/Swage/IR/TensorTiles.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace swage;
using llvm::formatv;

/// What addresses, strides and rows of a box are multiples of, in bytes.
static constexpr int64_t kUnit = 16;

/// The dimension whose elements are what lies between one of the tile's innermost dimension and the
/// next, and nothing else; none: the innermost dimension is contiguous, or there is no such.
static std::optional<unsigned> dimWithin(TileAttr tile, const LinearAccess &access,
                                         ArrayRef<AffineExpr> extents) {
  std::optional<int64_t> between = constantSize(access.strides[size_t(tile.getDims()[0])]);
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (between && *between > 1 && constantSize(extent) == between &&
        constantSize(access.strides[dim]) == 1 && !llvm::is_contained(tile.getDims(), int64_t(dim)))
      return unsigned(dim);
  return std::nullopt;
}

/// Goes on from "input 0 ".
static std::string problemOf(KernelOp kernel, TileAttr tile, ViewAttr view) {
  if (view.getSource() != Source::Memory)
    return "is not in memory";
  if (view.getAlign() < kUnit)
    return formatv("is aligned to {0} bytes, but a tile needs {1}", view.getAlign(), kUnit);
  LinearAccess access = *LinearAccess::of(view.getAccess());
  int64_t bytes = elementBytes(view.getElement());
  if (std::optional<int64_t> offset = constantSize(access.offset);
      offset && *offset * bytes % kUnit)
    return formatv("has a tile that begins at byte {0}, but must begin at a multiple of {1}",
                   *offset * bytes, kUnit);
  ArrayRef<int64_t> dims = tile.getDims();
  for (int64_t dim : dims)
    if (dim >= int64_t(kernel.getRank()))
      return formatv("has a tile along dimension {0} of {1}", dim, kernel.getRank());
  ArrayRef<AffineExpr> extents = view.getExtentsOr(kernel.getExtents()).getResults();
  std::optional<unsigned> within = dimWithin(tile, access, extents);
  if (constantSize(access.strides[size_t(dims[0])]) != 1 && !within)
    return formatv("has a tile with dimension {0} innermost, but is not contiguous there", dims[0]);
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (constantSize(extent) == 1 || dim == within)
      continue;
    bool isLeftOut = !llvm::is_contained(dims, int64_t(dim));
    if (isLeftOut && !access.isBroadcast(unsigned(dim)))
      return formatv("has a tile without dimension {0}, along which its elements differ", dim);
    std::optional<int64_t> stride = constantSize(access.strides[dim]);
    if (!isLeftOut && int64_t(dim) != dims[0] && stride && *stride * bytes % kUnit)
      return formatv("has a tile with a stride of {0} bytes along dimension {1}, but must have a "
                     "multiple of {2}",
                     *stride * bytes, dim, kUnit);
  }
  int64_t elements = tile.getBox()[0] * (within ? *constantSize(extents[*within]) : 1);
  if (elements > kMostBox)
    return formatv("has a tile of {0} elements a row, but must have up to {1}", elements, kMostBox);
  int64_t row = elements * bytes, most = tile.getSwizzle();
  if (row % kUnit || (most && row > most))
    return formatv("has a tile of {0} bytes a row, but must have a multiple of {1}{2}", row, kUnit,
                   most ? " up to " + std::to_string(most) : "");
  return "";
}

std::string swage::findBadTile(KernelOp kernel) {
  LaunchAttr geometry = kernel.getGeometryAttr();
  if (!geometry || !geometry.getTiles())
    return "";
  for (TileAttr tile : geometry.getTiles().getAsRange<TileAttr>()) {
    ArrayAttr views = tile.getOutput() ? kernel.getOutputs() : kernel.getInputs();
    size_t position = size_t(tile.getPosition());
    std::string name = formatv("{0} {1}", tile.getOutput() ? "output" : "input", position);
    if (position >= views.size())
      return "has a tile of " + name + ", which it does not have";
    std::string problem = problemOf(kernel, tile, cast<ViewAttr>(views[position]));
    if (!problem.empty())
      return name + " " + problem;
  }
  return "";
}
