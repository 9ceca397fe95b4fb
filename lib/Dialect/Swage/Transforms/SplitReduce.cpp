//===- SplitReduce.cpp - Two reductions where one cannot fill the GPU -----===//
//
// A reduction has as much parallel work as it has results; with few of them most multiprocessors
// idle while the rest wait for memory. Splitting keeps some of the reduced extent as a dimension of
// partial results, which a second, small reduction combines. What is left over of an extent without
// a divisor of that size, a prime number perhaps, is a reduction of its own.
//
//===----------------------------------------------------------------------===//

#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "Slicer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Support/DeviceProperties.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace swage {
#define GEN_PASS_DEF_SPLITREDUCEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {

/// What the reduce and row templates do with a block.
constexpr int64_t kThreads = 256, kLanes = 16, kVectorBytes = 16;
/// Vectors that each thread must still combine, or starting the block costs more than its work.
constexpr int64_t kVectorsPerThread = 16;
/// Blocks a multiprocessor in the first half: enough to hide memory latency and to even out. More
/// only adds partial results: 256 MB take 62.9 us in 1024 blocks on 132 multiprocessors, 63.1 in
/// 2048, 64.2 in 4096, 65.4 in 8192.
constexpr int64_t kBlocksPerSm = 7;
/// What the decision rests on: bytes per microsecond that one block keeps moving and that a whole
/// multiprocessor can use, and the microseconds that a second kernel takes.
constexpr double kBytesPerBlock = 16e3, kBytesPerSm = 32e3, kSecondKernel = 2;
/// A long row has a cluster of up to so many blocks, each with at least so many bytes.
constexpr int64_t kCluster = 16, kClusterBytes = 65536;
/// Partial results of an extent that leaves some over begin at multiples of this many elements.
constexpr int64_t kAligned = 64;

/// A static reduction as the templates see it.
struct Problem {
  ArrayRef<int64_t> shape, dims;
  int64_t elementBytes = 1;
  int64_t kept = 1, reduced = 1;
  /// Kept elements next to each other in memory; 1 where the innermost dimension is reduced.
  int64_t run = 1;

  int64_t vector(int64_t extent) const {
    int64_t widest = kVectorBytes / elementBytes;
    while (extent % widest)
      widest /= 2;
    return widest;
  }
};

/// How `partials` results for each kept one would run.
struct Shares {
  double blocks, vectorsPerThread;
};

/// Keeps `factor` of the reduced dimension number `index`, and all of those before it. Each is made
/// of `each` elements of that dimension.
struct Split {
  size_t index;
  int64_t factor, partials, each;
};

} // namespace

static Shares shares(const Problem &problem, int64_t partials) {
  int64_t row = problem.reduced / partials;
  if (problem.run == 1) { // a block a row
    double vectors = static_cast<double>(row) / problem.vector(row);
    return {static_cast<double>(problem.kept) * partials, vectors / kThreads};
  }
  int64_t vector = problem.vector(problem.run);
  int64_t lanes =
      std::min<int64_t>(kLanes, llvm::PowerOf2Ceil(llvm::divideCeil(problem.run, vector)));
  int64_t tiles = llvm::divideCeil(problem.run, lanes * vector);
  return {static_cast<double>(problem.kept / problem.run) * tiles * partials,
          static_cast<double>(row) * lanes / kThreads};
}

/// Microseconds that reading everything takes with this many blocks.
static double readTime(const Problem &problem, double blocks, int64_t smCount) {
  double bytes = static_cast<double>(problem.kept) * problem.reduced *
                 static_cast<double>(problem.elementBytes);
  return bytes / std::min(blocks * kBytesPerBlock, smCount * kBytesPerSm);
}

/// All ways to split, by the number of partial results.
static SmallVector<Split> candidates(const Problem &problem) {
  SmallVector<Split> splits;
  int64_t before = 1;
  for (auto [index, dim] : llvm::enumerate(problem.dims)) {
    int64_t extent = problem.shape[dim];
    for (int64_t factor = 1; factor <= extent / factor; ++factor) {
      if (extent % factor)
        continue;
      for (int64_t divisor : {factor, extent / factor})
        if (divisor > 1 && before * divisor < problem.reduced)
          splits.push_back({index, divisor, before * divisor, extent / divisor});
    }
    before *= extent;
  }
  llvm::stable_sort(splits, [](const Split &a, const Split &b) { return a.partials < b.partials; });
  return splits;
}

/// Partial results are written, and read again.
static double passOn(const Problem &problem, int64_t partials, int64_t smCount) {
  return 8.0 * static_cast<double>(problem.kept) * partials / (smCount * kBytesPerSm);
}

/// The least split that fills the GPU, or the largest whose threads still have enough to do; and
/// microseconds with it.
static std::pair<std::optional<Split>, double> chooseDivisor(const Problem &problem,
                                                             int64_t smCount) {
  std::optional<Split> chosen;
  // A row that ends inside a vector is read element by element: avoid making such rows.
  int64_t vector = problem.run == 1 ? problem.vector(problem.reduced) : 1;
  for (const Split &split : candidates(problem)) {
    if ((problem.reduced / split.partials) % vector)
      continue;
    Shares now = shares(problem, split.partials);
    if (now.vectorsPerThread < kVectorsPerThread)
      break;
    chosen = split;
    if (now.blocks >= static_cast<double>(kBlocksPerSm * smCount))
      break;
  }
  double whole = readTime(problem, shares(problem, 1).blocks, smCount);
  if (!chosen)
    return {std::nullopt, whole};
  double split = readTime(problem, shares(problem, chosen->partials).blocks, smCount) +
                 passOn(problem, chosen->partials, smCount) + kSecondKernel;
  return split < whole ? std::pair(chosen, split) : std::pair(std::optional<Split>(), whole);
}

/// Partial results of a sum in a narrow type would be rounded once more each; what becomes f64 is
/// computed in it.
static Type partialType(ReduceOp op) {
  Type element = getElementTypeOrSelf(op.getX().getType()),
       result = getElementTypeOrSelf(op.getType());
  if (element.isF64() || element.isInteger())
    return element;
  return result.isF64() ? result : Float32Type::get(element.getContext());
}

/// As many parts of a reduced dimension as fill the GPU with those before it, or a quarter more,
/// whichever number leaves the least over; and microseconds.
static std::optional<std::pair<Split, double>> chooseParts(const Problem &problem,
                                                           int64_t smCount) {
  Shares whole = shares(problem, 1);
  // Rows that begin anywhere go by whole vectors all the same.
  double vectors = whole.vectorsPerThread;
  if (problem.run == 1)
    vectors *= static_cast<double>(problem.vector(problem.reduced) * problem.elementBytes) /
               kVectorBytes;
  double wanted = std::min(kBlocksPerSm * smCount / whole.blocks, vectors / kVectorsPerThread);
  int64_t step = problem.run == 1 ? kAligned : 1, before = 1;
  std::optional<std::pair<Split, double>> best;
  for (auto [index, dim] : llvm::enumerate(problem.dims)) {
    int64_t extent = problem.shape[dim], most = -1;
    Split split{index, 0, 0, 0};
    auto least = std::max<int64_t>(2, static_cast<int64_t>(wanted) / before);
    for (int64_t factor = least; factor <= least + least / 4; ++factor)
      if (int64_t each = extent / factor / step * step; each > 1 && factor * each > most) {
        most = factor * each;
        split = {index, factor, before * factor, each};
      }
    if (split.factor && double(split.partials) <= 2 * wanted) {
      double time = readTime(problem, whole.blocks * split.partials, smCount) +
                    passOn(problem, split.partials, smCount) + 2 * kSecondKernel;
      if (!best || time < best->second)
        best = {split, time};
    }
    before *= extent;
  }
  return best;
}

static std::optional<Split> chooseSplit(const Problem &problem, const DeviceProperties &device) {
  auto [divisor, time] = chooseDivisor(problem, device.smCount);
  auto parts = chooseParts(problem, device.smCount);
  if (!parts)
    return divisor;
  // A long row is a cluster's.
  if (!divisor && problem.run == 1 && device.ccMajor >= 9) {
    int64_t bytes = problem.reduced * problem.elementBytes;
    time = std::max(
        time / static_cast<double>(std::clamp<int64_t>(bytes / kClusterBytes, 1, kCluster)),
        static_cast<double>(problem.kept) * bytes / (device.smCount * kBytesPerSm));
  }
  return parts->second < time ? parts->first : divisor;
}

/// The reduction as one of `factor` parts with `each` elements, whose partial results are one.
static Value reduceParts(OpBuilder &builder, ReduceOp op, ReduceKind kind, Value x, Type result,
                         const Split &split) {
  auto type = cast<RankedTensorType>(x.getType());
  ArrayRef<int64_t> dims = op.getDims();
  int64_t at = dims[split.index];
  SmallVector<int64_t> shape(type.getShape()), firstDims;
  if (split.each == 1) {
    firstDims.assign(dims.begin() + split.index + 1, dims.end());
  } else {
    shape[at] = split.each;
    shape.insert(shape.begin() + at, split.factor);
    x = ReshapeOp::create(builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
                          x, ValueRange());
    for (int64_t dim : dims.drop_front(split.index))
      firstDims.push_back(dim + 1);
  }
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(firstDims, static_cast<int64_t>(dim)))
      kept.push_back(extent);
  // All dimensions that the first half reduces come after those that the second does, so these
  // keep their numbers. A mean of means of equally many elements is the mean.
  Value partials = ReduceOp::create(
      builder, op.getLoc(), RankedTensorType::get(kept, partialType(op)), kind, x, firstDims);
  return ReduceOp::create(builder, op.getLoc(), result, kind, partials,
                          dims.take_front(split.index + 1));
}

/// Two results of a reduction's kind as one.
static Value combine(OpBuilder &builder, Location loc, ReduceKind kind, Value a, Value b) {
  bool isInteger = isa<IntegerType>(getElementTypeOrSelf(a));
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return isInteger ? arith::AddIOp::create(builder, loc, a, b).getResult()
                     : arith::AddFOp::create(builder, loc, a, b).getResult();
  case ReduceKind::Max:
    return isInteger ? arith::MaxSIOp::create(builder, loc, a, b).getResult()
                     : arith::MaximumFOp::create(builder, loc, a, b).getResult();
  case ReduceKind::Min:
    return isInteger ? arith::MinSIOp::create(builder, loc, a, b).getResult()
                     : arith::MinimumFOp::create(builder, loc, a, b).getResult();
  }
  llvm_unreachable("all kinds are handled");
}

/// Whether the results come back to all elements of the rows that they are of, or these are made of
/// what another collective has of such rows: one kernel then reads a row once, and a cluster has
/// it.
static bool meetsItsRows(ReduceOp op) {
  int64_t elements = cast<ShapedType>(op.getX().getType()).getNumElements();
  auto hasAll = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getNumElements() == elements;
  };
  auto isFollowed = [](Operation *next) {
    return next->getNumResults() == 1 && (isElementwiseOp(next) || isIndexOp(next));
  };
  llvm::SetVector<Operation *> reached(op->user_begin(), op->user_end());
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *user = reached[i];
    if (!isFollowed(user))
      continue;
    if (hasAll(user->getResult(0)))
      return true;
    reached.insert(user->user_begin(), user->user_end());
  }
  reached.clear();
  reached.insert(op.getX().getDefiningOp());
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *made = reached[i];
    if (made && isCollectiveOp(made) && hasAll(made->getOperand(0)))
      return true;
    if (made && isFollowed(made))
      for (Value operand : made->getOperands())
        reached.insert(operand.getDefiningOp());
  }
  return false;
}

static void splitReduce(ReduceOp op, const Split &split) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getX().getType());
  int64_t at = op.getDims()[split.index], taken = split.factor * split.each,
          left = type.getDimSize(at) - taken;
  Value result;
  if (left == 0) {
    result = reduceParts(builder, op, op.getKind(), op.getX(), op.getType(), split);
  } else {
    // The mean of parts that are not as long as each other is made of their sums.
    bool isMean = op.getKind() == ReduceKind::Mean;
    ReduceKind kind = isMean ? ReduceKind::Sum : op.getKind();
    auto narrow = cast<RankedTensorType>(op.getType());
    auto wide = RankedTensorType::get(narrow.getShape(), partialType(op));
    Value rest = ReduceOp::create(builder, loc, wide, kind,
                                  Slicer{builder, at, taken, left}.of(op.getX()), op.getDims());
    Value most =
        reduceParts(builder, op, kind, Slicer{builder, at, 0, taken}.of(op.getX()), wide, split);
    result = combine(builder, loc, kind, most, rest);
    if (isMean) {
      double count = 1;
      for (int64_t dim : op.getDims())
        count *= static_cast<double>(type.getDimSize(dim));
      auto each = FloatAttr::get(wide.getElementType(), 1 / count);
      Value factor = arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(wide, each));
      result = arith::MulFOp::create(builder, loc, result, factor);
    }
    if (wide != narrow)
      result = arith::TruncFOp::create(builder, loc, narrow, result);
  }
  op.getResult().replaceAllUsesWith(result);
  eraseUnread(op);
}

namespace {

struct SplitReducePass : swage::impl::SplitReducePassBase<SplitReducePass> {
  using Base::Base;

  void runOnOperation() override {
    Expected<DeviceProperties> device = DeviceProperties::forArch(arch);
    if (!device) {
      getOperation().emitError() << device.error().message;
      return signalPassFailure();
    }
    SmallVector<ReduceOp> ops(getOperation().getOps<ReduceOp>());
    for (ReduceOp op : ops) {
      auto type = cast<RankedTensorType>(op.getX().getType());
      if (!type.hasStaticShape() || type.getNumElements() == 0)
        continue;
      Problem problem = problemOf(op, type);
      if (problem.run == 1 && problem.kept * kCluster >= device->smCount && meetsItsRows(op))
        continue;
      std::optional<Split> split = chooseSplit(problem, *device);
      if (!split)
        continue;
      op.emitRemark() << "split into " << split->partials << " partial reductions for each of "
                      << problem.kept << " results: "
                      << static_cast<int64_t>(shares(problem, split->partials).blocks)
                      << " blocks instead of " << static_cast<int64_t>(shares(problem, 1).blocks)
                      << " for " << device->smCount << " multiprocessors";
      splitReduce(op, *split);
    }
  }

  static Problem problemOf(ReduceOp op, RankedTensorType type) {
    Problem problem;
    problem.shape = type.getShape();
    problem.dims = op.getDims();
    problem.elementBytes = elementBytes(type.getElementType());
    bool inner = true;
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      int64_t extent = problem.shape[dim];
      if (llvm::is_contained(problem.dims, dim)) {
        problem.reduced *= extent;
        inner = inner && extent == 1;
        continue;
      }
      problem.kept *= extent;
      if (inner)
        problem.run *= extent;
    }
    return problem;
  }
};

} // namespace
