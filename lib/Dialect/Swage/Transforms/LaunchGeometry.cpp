//===- LaunchGeometry.cpp - What a schedule makes of a launch -------------===//
#include "LaunchGeometry.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

using namespace mlir;
using namespace swage;

LaunchAttr swage::geometryOf(KernelOp kernel, const DeviceProperties &device) {
  MLIRContext *context = kernel.getContext();
  AffineExpr one = getAffineConstantExpr(1, context);
  SmallVector<AffineExpr> extents(kernel.getExtents().getResults());
  unsigned symbols = kernel.getSymbols();
  auto productOf = [&](ArrayRef<AffineExpr> exprs) {
    AffineExpr product = one;
    for (AffineExpr expr : exprs)
      product = normalizeSize(product * expr) ? normalizeSize(product * expr) : product * expr;
    return product;
  };
  SmallVector<SmallVector<AffineExpr>> spaces;
  AffineExpr blocks, most; // null: any number
  SmallVector<Attribute> tiles;
  int64_t threads = 0, cluster = 1, shared = 0, scratch = 0;
  auto inVectors = [&](unsigned dim, int64_t vector) {
    AffineExpr quotient = divideSizes(extents[dim], getAffineConstantExpr(vector, context));
    return quotient ? quotient : extents[dim].floorDiv(vector);
  };
  Attribute schedule = kernel.getScheduleAttr();
  auto flat = [&](int64_t vector, int64_t perBlock) {
    extents.back() = inVectors(extents.size() - 1, vector);
    spaces.push_back(extents);
    blocks = productOf(extents).ceilDiv(perBlock);
  };
  SmallVector<AffineExpr> kept, reduced;
  auto split = [&](bool vectorInRow, int64_t vector) {
    unsigned firstReduced = kernel.getReduced().front();
    unsigned dim = vectorInRow ? extents.size() - 1 : firstReduced - 1;
    extents[dim] = inVectors(dim, vector);
    kept.assign(extents.begin(), extents.begin() + firstReduced);
    reduced.assign(extents.begin() + firstReduced, extents.end());
    spaces = {kept, reduced};
  };
  if (auto pointwise = dyn_cast<PointwiseScheduleAttr>(schedule)) {
    threads = pointwise.getThreads();
    int64_t vectors = threads * pointwise.getUnroll();
    if (pointwise.getTail()) {
      spaces = {extents};
      blocks = productOf(extents).floorDiv(pointwise.getVector()).ceilDiv(vectors);
    } else {
      flat(pointwise.getVector(), vectors);
    }
  } else if (auto permute = dyn_cast<PermuteScheduleAttr>(schedule)) {
    threads = permute.getThreads();
    if (permute.getKind() == PermuteClass::Runs) {
      flat(permute.getMovement() / elementBytes(kernel.getOutput(0).getElement()),
           threads * permute.getUnroll());
    } else {
      extents =
          TileProblem::of(kernel, unsigned(permute.getTransposed()), permute.getMerged()).extents();
      SmallVector<AffineExpr> tiles = extents;
      tiles.back() = tiles.back().ceilDiv(permute.getTileOut());
      tiles[permute.getTransposed()] = tiles[permute.getTransposed()].ceilDiv(permute.getTileIn());
      spaces = {extents, tiles};
      blocks = productOf(tiles);
    }
  } else if (auto boxed = dyn_cast<BoxScheduleAttr>(schedule)) {
    threads = boxed.getThreads();
    SmallVector<AffineExpr> boxes;
    for (auto [extent, box] : llvm::zip_equal(extents, boxed.getBox()))
      boxes.push_back(extent.ceilDiv(box));
    blocks = productOf(boxes);
    // In the order in which blocks count them.
    std::rotate(boxes.begin() + boxed.fastestDim(), boxes.begin() + boxed.fastestDim() + 1,
                boxes.end());
    spaces = {extents, boxes};
  } else if (auto row = dyn_cast<RowScheduleAttr>(schedule)) {
    threads = row.getThreadsPerRow() * row.getRowsPerBlock();
    split(row.getKind() != RowClass::Column, row.getAligned() ? 1 : row.getVector());
    int64_t perRow = row.getBlocksPerRow();
    cluster = row.meetsInMemory() ? 1 : perRow;
    blocks = productOf(kept).ceilDiv(row.getRowsPerBlock()) * perRow;
    scratch = crowdBytes(kernel, row).value();
    if (int64_t bytes = sharedBytes(kernel, row); bytes > kDeclaredSharedBytes)
      shared = bytes;
  } else if (auto attention = dyn_cast<AttentionScheduleAttr>(schedule)) {
    using Dim = AttentionDim;
    AttentionProblem problem = *AttentionProblem::of(kernel);
    threads = 128 * (attention.getGroups() + 1);
    spaces = {extents};
    blocks = productOf({extents[Dim::Query].ceilDiv(64 * attention.getGroups()),
                        extents[Dim::Group], extents[Dim::KeyHead], extents[Dim::Batch]});
    cluster = attention.getParts();
    if (cluster > 1) // a tile each
      blocks = blocks * cluster;
    else // blocks stay and take tiles in turn; the tickets for these are counted in memory
      most = getAffineConstantExpr(device.smCount, context);
    scratch = 16;
    shared = problem.sharedBytes(attention);
    tiles = problem.tiles(attention);
  } else if (auto attention = dyn_cast<PortableAttentionScheduleAttr>(schedule)) {
    using Dim = AttentionDim;
    threads = 32 * attention.getWarps();
    spaces = {extents};
    blocks = productOf({extents[Dim::Query].ceilDiv(attention.getRows()), extents[Dim::Group],
                        extents[Dim::KeyHead], extents[Dim::Batch]});
    shared = AttentionProblem::of(kernel)->sharedBytes(attention);
  } else if (auto decode = dyn_cast<DecodeScheduleAttr>(schedule)) {
    using Dim = AttentionDim;
    AttentionProblem problem = *AttentionProblem::of(kernel);
    threads = 32 * decode.getWarps() * problem.team();
    spaces = {extents};
    AffineExpr spans = getAffineConstantExpr(decode.getSpans(), context);
    cluster = decode.getParts();
    if (cluster > 1) { // a unit each
      blocks = spans;
    } else {
      blocks = productOf({getAffineConstantExpr(problem.rowTiles(decode), context),
                          extents[Dim::Key].ceilDiv(decode.getKeys()), extents[Dim::KeyHead],
                          extents[Dim::Batch]});
      most = spans;
    }
    scratch = problem.scratchBytes(decode);
    shared = problem.sharedBytes(decode);
    if (decode.getBulk() && !decode.getLinear())
      tiles = problem.tiles(decode);
  } else {
    auto reduce = cast<ReduceScheduleAttr>(schedule);
    threads = reduce.getLanes() * reduce.getRowGroups();
    split(false, reduce.getVector());
    blocks = productOf(kept).ceilDiv(reduce.getLanes());
  }
  // A runtime extent behind the first of its list is divided by.
  llvm::SetVector<AffineExpr> dividers;
  SmallVector<Attribute> maps;
  for (ArrayRef<AffineExpr> space : spaces) {
    for (AffineExpr extent : space.drop_front())
      if (!constantSize(extent) && !kernel.isAttention())
        dividers.insert(extent);
    maps.push_back(AffineMapAttr::get(AffineMap::get(0, symbols, space, context)));
  }
  SmallVector<AffineExpr> least = {blocks};
  if (most)
    least.push_back(most);
  return LaunchAttr::get(context, AffineMap::get(0, symbols, least, context), threads,
                         ArrayAttr::get(context, maps),
                         AffineMap::get(0, symbols, dividers.takeVector(), context), cluster,
                         /*overlap=*/false, shared,
                         tiles.empty() ? ArrayAttr() : ArrayAttr::get(context, tiles), scratch);
}
