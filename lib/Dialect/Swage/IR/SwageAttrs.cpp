//===- SwageAttrs.cpp - Verification of views and schedules ---------------===//
//
// What a schedule can get wrong on its own; whether it fits a kernel is the kernel's verifier's
// business (K5).
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Dialect/Swage/IR/TensorTiles.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace swage;

using EmitError = function_ref<InFlightDiagnostic()>;

int64_t swage::indexBitsOf(Attribute schedule) {
  return llvm::TypeSwitch<Attribute, int64_t>(schedule)
      .Case<PointwiseScheduleAttr, PermuteScheduleAttr, BoxScheduleAttr, RowScheduleAttr,
            ReduceScheduleAttr, AttentionScheduleAttr, PortableAttentionScheduleAttr,
            DecodeScheduleAttr>([](auto known) { return known.getIndex(); })
      .Default([](Attribute) { return 32; });
}

static LogicalResult verifyIndex(EmitError emitError, int64_t index) {
  if (index != 32 && index != 64)
    return emitError() << "index is " << index << " bits, but must be 32 or 64";
  return success();
}

static LogicalResult verifyThreads(EmitError emitError, int64_t threads) {
  if (threads < 32 || threads > 1024 || threads % 32)
    return emitError() << "a block has " << threads
                       << " threads, but must have a multiple of 32 up to 1024";
  return success();
}

static LogicalResult verifyPower(EmitError emitError, StringRef what, int64_t value,
                                 int64_t limit) {
  if (value < 1 || value > limit || !llvm::isPowerOf2_64(value))
    return emitError() << what << " is " << value << ", but must be a power of two up to " << limit;
  return success();
}

static LogicalResult verifyRange(EmitError emitError, StringRef what, int64_t value,
                                 int64_t limit) {
  if (value < 1 || value > limit)
    return emitError() << what << " is " << value << ", but must be in 1.." << limit;
  return success();
}

/// What tensors hold, Swage_Element, or the bits of 16 that are only moved.
static bool isElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, Float8E4M3FNType, Float8E5M2Type>(
      type);
}

LogicalResult ViewAttr::verify(EmitError emitError, int64_t tensor, Type element, AffineMap shape,
                               AffineMap access, int64_t align, Source source, AffineMap extents) {
  if (hasTensor(source) ? tensor < 0 : tensor != -1)
    return emitError() << "view of tensor " << tensor << ", but must be "
                       << (hasTensor(source) ? "0 or more" : "-1: it is computed");
  if (!isElement(element))
    return emitError() << "view of elements of type " << element << ", which no kernel moves";
  bool holdsElements = source == Source::Memory || source == Source::Shared;
  if (!holdsElements && !element.isSignlessInteger(32))
    return emitError() << "view of computed elements of type " << element << ", but must be i32";
  unsigned rowExtents = source == Source::PagedRow ? 3 : 2;
  if (isRow(source) && (shape.getNumResults() != rowExtents ||
                        !llvm::all_of(llvm::seq<unsigned>(access.getNumDims()),
                                      [&](unsigned dim) { return !access.isFunctionOfDim(dim); })))
    return emitError() << "view of rows has a shape of " << shape.getNumResults()
                       << " extents and an access of coordinates, but must have " << rowExtents
                       << " extents and an offset that is the same everywhere";
  if (source == Source::PagedRow && constantSize(shape.getResult(1)).value_or(0) < 1)
    return emitError() << "view of rows in pages has " << AffineMapAttr::get(shape)
                       << ", but the second of these, the rows of a page, must be static and 1 or "
                          "more";
  if (access.getNumResults() != 1)
    return emitError() << "access has " << access.getNumResults() << " results, but must have 1";
  if (shape.getNumDims() != 0)
    return emitError() << "shape depends on " << shape.getNumDims()
                       << " coordinates, but may only depend on sizes";
  if (shape.getNumSymbols() != access.getNumSymbols())
    return emitError() << "shape has " << shape.getNumSymbols() << " sizes, but access has "
                       << access.getNumSymbols();
  if (extents && (!holdsElements || extents.getNumDims() != 0 ||
                  extents.getNumSymbols() != access.getNumSymbols() ||
                  extents.getNumResults() != access.getNumDims()))
    return emitError() << "view has extents " << AffineMapAttr::get(extents)
                       << ", but must have one of sizes for each "
                       << "of " << access.getNumDims() << " dimensions, in memory";
  return verifyPower(emitError, "align", align, 4096);
}

LogicalResult PointwiseScheduleAttr::verify(EmitError emitError, int64_t threads, int64_t vector,
                                            int64_t unroll, bool tail, int64_t index) {
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyPower(emitError, "vector", vector, 16)) &&
                 succeeded(verifyRange(emitError, "unroll", unroll, 16)) &&
                 succeeded(verifyIndex(emitError, index)));
}

LogicalResult PermuteScheduleAttr::verify(EmitError emitError, PermuteClass kind, int64_t threads,
                                          int64_t movement, int64_t unroll, int64_t transposed,
                                          int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                                          int64_t vectorOut, int64_t index, int64_t merged) {
  if (failed(verifyThreads(emitError, threads)) ||
      failed(verifyPower(emitError, "movement", movement, 16)) ||
      failed(verifyRange(emitError, "unroll", unroll, 16)) || failed(verifyIndex(emitError, index)))
    return failure();
  if (merged < 1 || (merged > 1 && kind == PermuteClass::Runs))
    return emitError() << "merged is " << merged << ", but must be 1, or more of tiles";
  if (kind == PermuteClass::Runs)
    return success();
  if (transposed < 0)
    return emitError() << "transposed is " << transposed << ", but tiles need a dimension";
  if (failed(verifyPower(emitError, "tile_in", tileIn, 256)) ||
      failed(verifyPower(emitError, "tile_out", tileOut, 256)) ||
      failed(verifyPower(emitError, "vector_in", vectorIn, 16)) ||
      failed(verifyPower(emitError, "vector_out", vectorOut, 16)))
    return failure();
  if (tileIn % vectorIn || tileOut % vectorOut)
    return emitError() << "a tile of " << tileIn << " by " << tileOut
                       << " is not divisible by vectors of " << vectorIn << " and " << vectorOut;
  return success();
}

LogicalResult BoxScheduleAttr::verify(EmitError emitError, int64_t threads, ArrayRef<int64_t> box,
                                      int64_t lanes, bool /*skewed*/, int64_t index,
                                      int64_t fastest) {
  if (failed(verifyThreads(emitError, threads)) ||
      failed(verifyPower(emitError, "lanes", lanes, 32)) || failed(verifyIndex(emitError, index)))
    return failure();
  if (box.empty())
    return emitError() << "a box needs an extent for each dimension";
  for (int64_t extent : box)
    if (failed(verifyRange(emitError, "box", extent, 1 << 17)))
      return failure();
  if (fastest < -1 || fastest >= int64_t(box.size()))
    return emitError() << "fastest is " << fastest << ", but boxes have rank " << box.size();
  return success();
}

LogicalResult RowScheduleAttr::verify(EmitError emitError, RowClass kind, int64_t threadsPerRow,
                                      int64_t rowsPerBlock, int64_t vector,
                                      int64_t vectorsPerThread, int64_t index, int64_t blocksPerRow,
                                      bool staged, int64_t shelvedSteps, bool /*bypassL1*/,
                                      bool aligned, int64_t resident) {
  if (failed(verifyPower(emitError, "vector", vector, 16)) ||
      failed(verifyRange(emitError, "vectors_per_thread", vectorsPerThread, 64)) ||
      failed(verifyRange(emitError, "rows_per_block", rowsPerBlock, 1024)) ||
      failed(verifyRange(emitError, "threads_per_row", threadsPerRow, 1024)) ||
      failed(verifyIndex(emitError, index)) ||
      failed(verifyThreads(emitError, threadsPerRow * rowsPerBlock)))
    return failure();
  if (kind == RowClass::Group && (threadsPerRow > 32 || !llvm::isPowerOf2_64(threadsPerRow)))
    return emitError() << "a group has " << threadsPerRow
                       << " threads a row, but must have a power of two up to 32";
  if (kind == RowClass::Column && threadsPerRow > kMostThreadRows)
    return emitError() << "a column has " << threadsPerRow << " threads a row, but may have "
                       << kMostThreadRows;
  if (kind == RowClass::Block && rowsPerBlock != 1)
    return emitError() << "block has " << rowsPerBlock << " rows a block, but must have 1";
  if (kind == RowClass::Looped && (rowsPerBlock > 32 || !llvm::isPowerOf2_64(rowsPerBlock)))
    return emitError() << "looped has " << rowsPerBlock
                       << " rows a block, but must have a power of two up to 32";
  if (kind == RowClass::Column && blocksPerRow > kLargestCluster) {
    // A thread looks for one position's states (templates/swage/column_crowd.cuh).
    if (staged)
      return emitError() << "column has " << blocksPerRow << " blocks a row, more than "
                         << kLargestCluster << ", which cannot be staged";
    if (threadsPerRow % vector)
      return emitError() << "column has " << blocksPerRow
                         << " blocks a row, which meet in memory, and " << threadsPerRow
                         << " threads a row, which must be a multiple of the vector, " << vector;
    if (blocksPerRow > kMostLooks * (threadsPerRow / vector))
      return emitError() << "column has " << blocksPerRow
                         << " blocks a row, which meet in memory, but may have " << kMostLooks
                         << " for each " << vector << " of its threads a row";
    if (blocksPerRow * threadsPerRow * vectorsPerThread > kOvershoot)
      return emitError() << "column takes " << blocksPerRow * threadsPerRow * vectorsPerThread
                         << " elements of a row at a time, but may take " << kOvershoot;
  } else if (blocksPerRow > kLargestCluster) {
    if (kind != RowClass::Looped || rowsPerBlock != 1 || blocksPerRow > threadsPerRow)
      return emitError() << "has " << blocksPerRow << " blocks a row, but more than "
                         << kLargestCluster
                         << " need looped, 1 row a block and as many threads, or column";
  } else if (failed(verifyPower(emitError, "blocks_per_row", blocksPerRow, kLargestCluster))) {
    return failure();
  }
  if (blocksPerRow > 1 && kind == RowClass::Group)
    return emitError() << "group has " << blocksPerRow << " blocks a row, but must have 1";
  if (shelvedSteps != 0 && (shelvedSteps < 0 || kind != RowClass::Looped || !staged))
    return emitError() << "has " << shelvedSteps
                       << " shelved steps, which only a staged looped can";
  if (aligned && (kind == RowClass::Column || rowsPerBlock * (kind == RowClass::Looped) > 1 ||
                  (staged && kind != RowClass::Looped)))
    return emitError() << "the vectors of " << (staged ? "staged " : "") << stringifyRowClass(kind)
                       << " cannot be aligned";
  if (resident < 0 || resident * threadsPerRow * rowsPerBlock > 2048)
    return emitError() << "resident is " << resident << ", but a multiprocessor has 2048 threads";
  return success();
}

bool RowScheduleAttr::meetsInMemory() const { return getBlocksPerRow() > kLargestCluster; }

LogicalResult ReduceScheduleAttr::verify(EmitError emitError, int64_t lanes, int64_t rowGroups,
                                         int64_t vector, int64_t unroll, int64_t index) {
  return success(succeeded(verifyPower(emitError, "lanes", lanes, 1024)) &&
                 succeeded(verifyPower(emitError, "row_groups", rowGroups, kMostThreadRows)) &&
                 succeeded(verifyThreads(emitError, lanes * rowGroups)) &&
                 succeeded(verifyPower(emitError, "vector", vector, 16)) &&
                 succeeded(verifyRange(emitError, "unroll", unroll, 32)) &&
                 succeeded(verifyIndex(emitError, index)));
}

LogicalResult TileAttr::verify(EmitError emitError, bool /*output*/, int64_t position,
                               ArrayRef<int64_t> dims, ArrayRef<int64_t> box, int64_t swizzle) {
  if (position < 0)
    return emitError() << "position is " << position << ", but must be 0 or more";
  if (dims.empty() || dims.size() > 5 || box.size() != dims.size())
    return emitError() << "has " << dims.size() << " dims and a box of " << box.size()
                       << ", but must have as many of both, from 1 to 5";
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || llvm::is_contained(dims.take_front(i), dim))
      return emitError() << "dims has " << dim << ", but must have dimensions, each once";
  for (int64_t extent : box)
    if (failed(verifyRange(emitError, "box", extent, kMostBox)))
      return failure();
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzle is " << swizzle << ", but must be 0, 32, 64 or 128";
  return success();
}

TileAttr LaunchAttr::tileOf(bool isOutput, int64_t position) const {
  if (getTiles())
    for (TileAttr tile : getTiles().getAsRange<TileAttr>())
      if (tile.getOutput() == isOutput && tile.getPosition() == position)
        return tile;
  return {};
}

/// Of every schedule of attention.
static LogicalResult verifyAttention(EmitError emitError, int64_t keys, int64_t patience,
                                     int64_t index, int64_t mostKeys = 256) {
  if (keys % 16)
    return emitError() << "keys is " << keys << ", but must be a multiple of 16";
  if (patience < 0 || patience > 8)
    return emitError() << "patience is " << patience << ", but must be from 0 to 8";
  return success(succeeded(verifyRange(emitError, "keys", keys, mostKeys)) &&
                 succeeded(verifyIndex(emitError, index)));
}

LogicalResult AttentionScheduleAttr::verify(EmitError emitError, int64_t groups, int64_t keys,
                                            int64_t stages, int64_t querySlots, int64_t patience,
                                            bool eager, bool /*holdsQuery*/, bool dynamic,
                                            int64_t section, int64_t tail, int64_t index,
                                            int64_t run, int64_t parts, int64_t scoreStages) {
  if (groups != 2 && groups != 3)
    return emitError() << "groups is " << groups << ", but must be 2 or 3";
  if (run < 0)
    return emitError() << "run is " << run << ", but must not be negative";
  if (scoreStages < 0 || scoreStages > 2)
    return emitError() << "score_stages is " << scoreStages << ", but must be from 0 to 2";
  // The next values are waited for before the products with those at hand are.
  if (!eager && stages == 1)
    return emitError() << "stages is 1, but must be at least 2 without eager";
  // A cluster has one tile.
  if (parts > 1 && (querySlots != 1 || dynamic))
    return emitError() << "parts is " << parts
                       << ", but must be 1 with dynamic or with several query_slots";
  return success(succeeded(verifyRange(emitError, "stages", stages, 8)) &&
                 succeeded(verifyRange(emitError, "parts", parts, 8)) &&
                 succeeded(verifyRange(emitError, "query_slots", querySlots, 4)) &&
                 succeeded(verifyRange(emitError, "section", section, int64_t(1) << 30)) &&
                 succeeded(verifyRange(emitError, "tail", tail, int64_t(1) << 20)) &&
                 succeeded(verifyAttention(emitError, keys, patience, index)));
}

LogicalResult PortableAttentionScheduleAttr::verify(EmitError emitError, int64_t warps,
                                                    int64_t atoms, int64_t keys, int64_t stages,
                                                    int64_t patience, bool /*holdsQuery*/,
                                                    int64_t section, int64_t tail, int64_t index) {
  return success(succeeded(verifyPower(emitError, "warps", warps, 8)) &&
                 succeeded(verifyRange(emitError, "atoms", atoms, 2)) &&
                 succeeded(verifyRange(emitError, "stages", stages, 2)) &&
                 succeeded(verifyRange(emitError, "section", section, int64_t(1) << 30)) &&
                 succeeded(verifyRange(emitError, "tail", tail, int64_t(1) << 20)) &&
                 succeeded(verifyAttention(emitError, keys, patience, index)));
}

LogicalResult DecodeScheduleAttr::verify(EmitError emitError, int64_t warps, int64_t keys,
                                         int64_t stages, int64_t patience, int64_t blocks,
                                         int64_t spans, bool bulk, int64_t index, int64_t atoms,
                                         bool linear, int64_t chunk, int64_t parts) {
  if (linear && !bulk)
    return emitError() << "linear copies are the copy engine's, but bulk is false";
  if (stages == 1)
    return emitError() << "stages is 1, but must be at least 2";
  constexpr int64_t mostKeys = 512;
  if (failed(verifyPower(emitError, "warps", warps, 16)) ||
      failed(verifyRange(emitError, "keys", keys, mostKeys)))
    return failure();
  if (keys % (16 * warps))
    return emitError() << "keys is " << keys << ", but must be a multiple of 16 for each of "
                       << warps << " warps";
  constexpr int64_t mostChunk = 1 << 20;
  if (chunk < 0 || chunk > mostChunk || chunk % keys)
    return emitError() << "chunk is " << chunk << ", but must be a multiple of " << keys
                       << " keys up to " << mostChunk << ", or 0";
  if (parts > 1 && (chunk || spans % parts))
    return emitError() << "parts is " << parts << ", but must divide spans, without chunks";
  return success(succeeded(verifyRange(emitError, "stages", stages, 8)) &&
                 succeeded(verifyRange(emitError, "blocks", blocks, 8)) &&
                 succeeded(verifyRange(emitError, "spans", spans, 65536)) &&
                 succeeded(verifyRange(emitError, "parts", parts, kLargestCluster)) &&
                 succeeded(verifyRange(emitError, "atoms", atoms, 2)) &&
                 succeeded(verifyAttention(emitError, keys, patience, index, mostKeys)));
}

LogicalResult LaunchAttr::verify(EmitError emitError, AffineMap blocks, int64_t threads,
                                 ArrayAttr spaces, AffineMap dividers, int64_t cluster,
                                 bool overlap, int64_t sharedBytes, ArrayAttr tiles,
                                 int64_t scratchBytes) {
  if (blocks.getNumResults() == 0 || blocks.getNumDims() != 0)
    return emitError() << "blocks is " << AffineMapAttr::get(blocks)
                       << ", but must map sizes to at least one number";
  if (failed(verifyThreads(emitError, threads)))
    return failure();
  for (Attribute space : spaces)
    if (auto map = dyn_cast<AffineMapAttr>(space); !map || map.getValue().getNumResults() == 0)
      return emitError() << "spaces has " << space
                         << ", but each must map sizes to at least one extent";
  // What no device exceeds; how much this one has, the runtime knows.
  constexpr int64_t most = 227 << 10;
  if (sharedBytes < 0 || sharedBytes > most)
    return emitError() << "shared_bytes is " << sharedBytes << ", but must be from 0 to " << most;
  if (scratchBytes < 0 || scratchBytes % 16)
    return emitError() << "scratch_bytes is " << scratchBytes << ", but must be a multiple of 16";
  if (failed(verifyRange(emitError, "cluster", cluster, kLargestCluster)))
    return failure();
  for (AffineExpr number : blocks.getResults())
    if (!number.isMultipleOf(cluster))
      return emitError() << "blocks is " << AffineMapAttr::get(blocks)
                         << ", but must be a multiple of cluster, " << cluster;
  std::set<std::pair<bool, int64_t>> views;
  for (Attribute attr : tiles ? tiles.getValue() : ArrayRef<Attribute>())
    if (auto tile = dyn_cast<TileAttr>(attr);
        !tile || !views.insert({tile.getOutput(), tile.getPosition()}).second)
      return emitError() << "tiles has " << attr
                         << ", but must have tiles, at most one for each view";
  return success();
}
