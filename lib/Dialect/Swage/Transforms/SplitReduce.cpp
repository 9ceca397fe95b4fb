//===- SplitReduce.cpp - Two reductions where one cannot fill the GPU -----===//
//
// A reduction has as much parallel work as it has results; with few of them most multiprocessors
// idle while the rest wait for memory. Splitting keeps some of the reduced extent as a dimension of
// partial results, which a second, small reduction combines.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Support/DeviceProperties.h"
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

/// Keeps `factor` of the reduced dimension number `index`, and all of those before it.
struct Split {
  size_t index;
  int64_t factor, partials;
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
          splits.push_back({index, divisor, before * divisor});
    }
    before *= extent;
  }
  llvm::stable_sort(splits, [](const Split &a, const Split &b) { return a.partials < b.partials; });
  return splits;
}

/// The least split that fills the GPU, or the largest whose threads still have enough to do.
static std::optional<Split> chooseSplit(const Problem &problem, int64_t smCount) {
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
  if (!chosen)
    return std::nullopt;
  double whole = readTime(problem, shares(problem, 1).blocks, smCount);
  double partials = readTime(problem, shares(problem, chosen->partials).blocks, smCount);
  // Partial results are written, and read again.
  double again =
      8.0 * static_cast<double>(problem.kept) * chosen->partials / (smCount * kBytesPerSm);
  if (whole <= partials + again + kSecondKernel)
    return std::nullopt;
  return chosen;
}

static void splitReduce(ReduceOp op, const Split &split) {
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getX().getType());
  Type element = type.getElementType();
  // Partial results of a sum in a narrow type would be rounded once more each.
  Type partial = element.isF64() || element.isInteger() ? element : builder.getF32Type();

  ArrayRef<int64_t> dims = op.getDims();
  int64_t at = dims[split.index];
  Value x = op.getX();
  SmallVector<int64_t> shape(type.getShape()), firstDims;
  if (split.factor == shape[at]) {
    firstDims.assign(dims.begin() + split.index + 1, dims.end());
  } else {
    shape[at] /= split.factor;
    shape.insert(shape.begin() + at, split.factor);
    x = ReshapeOp::create(builder, op.getLoc(), RankedTensorType::get(shape, element), x,
                          ValueRange());
    for (int64_t dim : dims.drop_front(split.index))
      firstDims.push_back(dim + 1);
  }
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(firstDims, static_cast<int64_t>(dim)))
      kept.push_back(extent);
  // All dimensions that the first half reduces come after those that the second does, so these
  // keep their numbers. A mean of means of equally many elements is the mean.
  Value partials = ReduceOp::create(builder, op.getLoc(), RankedTensorType::get(kept, partial),
                                    op.getKind(), x, firstDims);
  Value result = ReduceOp::create(builder, op.getLoc(), op.getType(), op.getKind(), partials,
                                  dims.take_front(split.index + 1));
  op.getResult().replaceAllUsesWith(result);
  op.erase();
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
      std::optional<Split> split = chooseSplit(problem, device->smCount);
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
