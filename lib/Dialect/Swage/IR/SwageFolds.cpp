//===- SwageFolds.cpp - Folding and canonicalisation ----------------------===//
//
// Rewrites that hold bit for bit: index ops move elements and never round them. What would change
// where something is rounded, or undo a pass's decision, is not here: reduce(reduce(x)) stays two,
// because swage-split-reduce makes it so.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

using namespace mlir;
using namespace swage;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether replacing `from` by `to` keeps the type that users see.
static bool sameType(Value from, Value to) { return from.getType() == to.getType(); }

/// The splat constant `operand` in the shape of `type`, or null: all elements are alike, so that no
/// index op changes more than their number.
static OpFoldResult splatOf(Attribute operand, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(operand);
  auto tensor = cast<RankedTensorType>(type);
  if (!splat || !tensor.hasStaticShape() || tensor.getElementType() != splat.getElementType())
    return {};
  return splat.resizeSplat(tensor);
}

/// Whether a reshape to `type` needs no sizes: of no elements, nothing says how long a dynamic
/// extent is.
static bool reshapesWithoutSizes(RankedTensorType type) {
  return type.hasStaticShape() ||
         (type.getNumDynamicDims() == 1 && !llvm::is_contained(type.getShape(), 0));
}

Operation *SwageDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// LayerNormOp, RmsNormOp, SoftmaxOp, AttentionOp
//===----------------------------------------------------------------------===//

namespace {

// Pattern: norm(x) with unused statistics -> norm(x) without
template <class Norm> struct DropUnusedStats : OpRewritePattern<Norm> {
  using OpRewritePattern<Norm>::OpRewritePattern;
  LogicalResult matchAndRewrite(Norm op, PatternRewriter &rewriter) const override {
    if (op.getStats().empty() ||
        llvm::any_of(op.getStats(), [](Value stat) { return !stat.use_empty(); }))
      return rewriter.notifyMatchFailure(op, "has no statistics, or uses of them");
    auto bare = Norm::create(rewriter, op.getLoc(), TypeRange(op.getResult().getType()),
                             op->getOperands(), op->getAttrs());
    rewriter.replaceAllUsesWith(op.getResult(), bare.getResult());
    rewriter.eraseOp(op);
    return success();
  }
};

// Pattern: attention with a statistic or probabilities that are not used -> without those
struct DropUnusedResults : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> kept = {op.getResult()};
    llvm::copy_if(op.getStats(), std::back_inserter(kept),
                  [](Value stat) { return !stat.use_empty(); });
    if (kept.size() == op->getNumResults())
      return rewriter.notifyMatchFailure(op, "every result is used");
    auto fewer = AttentionOp::create(rewriter, op.getLoc(), TypeRange(ValueRange(kept)),
                                     op->getOperands(), op->getAttrs());
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), fewer->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.replaceAllUsesWith(kept, fewer->getResults());
    rewriter.eraseOp(op);
    return success();
  }
};

// Pattern: softmax(x) scale 1 -> softmax(x)
template <class Scaled> struct DropUnitScale : OpRewritePattern<Scaled> {
  using OpRewritePattern<Scaled>::OpRewritePattern;
  LogicalResult matchAndRewrite(Scaled op, PatternRewriter &rewriter) const override {
    if (!op.getScale() || !op.getScale()->isExactlyValue(1.0))
      return rewriter.notifyMatchFailure(op, "the scale is not 1");
    rewriter.modifyOpInPlace(op, [&] { op.removeScaleAttr(); });
    return success();
  }
};

// Pattern: attention with a score that yields its score, a mask that yields true, or a weight that
// yields 1 -> without
struct DropIdleRegion : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    auto yielded = [](Region &region) { return region.front().getTerminator()->getOperand(0); };
    SmallVector<Region *> idle;
    if (Region &score = op.getScore();
        !score.empty() && yielded(score) == score.front().getArgument(0))
      idle.push_back(&score);
    if (Region &mask = op.getMask(); !mask.empty() && matchPattern(yielded(mask), m_One()))
      idle.push_back(&mask);
    if (Region &weight = op.getWeight();
        !weight.empty() && matchPattern(yielded(weight), m_OneFloat()))
      idle.push_back(&weight);
    if (idle.empty())
      return rewriter.notifyMatchFailure(op, "every region does something");
    rewriter.modifyOpInPlace(op, [&] {
      for (Region *region : idle)
        rewriter.eraseBlock(&region->front());
    });
    return success();
  }
};

} // namespace

void LayerNormOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedStats<LayerNormOp>>(context);
}

void RmsNormOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedStats<RmsNormOp>>(context);
}

void SoftmaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnitScale<SoftmaxOp>, DropUnusedStats<SoftmaxOp>>(context);
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnitScale<AttentionOp>, DropUnusedResults, DropIdleRegion>(context);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

namespace {

// Pattern: reduce(x) over dimensions of extent 1 -> reshape(x), widened if the result is wider
// A narrower result stays: it is rounded where it is stored only, an explicit cast always.
struct ReduceNothing : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    RankedTensorType in = typeOf(op.getX()), out = typeOf(op.getResult());
    if (llvm::any_of(op.getDims(), [&](int64_t dim) { return in.getDimSize(dim) != 1; }))
      return rewriter.notifyMatchFailure(op, "reduces more than one element");
    if (!reshapesWithoutSizes(out))
      return rewriter.notifyMatchFailure(op, "a reshape would need sizes");
    Type from = in.getElementType(), to = out.getElementType();
    if (from != to && from.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
      return rewriter.notifyMatchFailure(op, "the result is narrower");
    Value reshaped =
        ReshapeOp::create(rewriter, op.getLoc(), out.clone(from), op.getX(), ValueRange());
    if (from != to)
      reshaped = arith::ExtFOp::create(rewriter, op.getLoc(), out, reshaped);
    rewriter.replaceOp(op, reshaped);
    return success();
  }
};

} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReduceNothing>(context);
}

//===----------------------------------------------------------------------===//
// PermuteOp
//===----------------------------------------------------------------------===//

// Pattern: permute(x, identity) -> x
// Pattern: permute(splat) -> splat
OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult splat = splatOf(adaptor.getX(), getType()))
    return splat;
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    if (static_cast<int64_t>(i) != dim)
      return {};
  return sameType(getResult(), getX()) ? getX() : Value();
}

namespace {

// Pattern: permute(permute(x, p), q) -> permute(x, p[q])
struct ComposePermutes : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<PermuteOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not a permute");
    SmallVector<int64_t> composed;
    for (int64_t dim : op.getPermutation())
      composed.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<PermuteOp>(op, op.getType(), inner.getX(), composed);
    return success();
  }
};

// Pattern: permute(x) that moves dimensions of extent 1 only -> reshape(x)
struct PermuteNothing : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    RankedTensorType in = typeOf(op.getX());
    if (!reshapesWithoutSizes(typeOf(op.getResult())))
      return rewriter.notifyMatchFailure(op, "a reshape would need sizes");
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getPermutation())
      if (in.getDimSize(dim) != 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved) || moved.size() == op.getPermutation().size())
      return rewriter.notifyMatchFailure(op, "moves elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX(), ValueRange());
    return success();
  }
};

} // namespace

void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposePermutes, PermuteNothing>(context);
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

// Pattern: reshape(x) to x's own static shape -> x
// Pattern: reshape(splat) -> splat
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (sameType(getResult(), getX()) && getSizes().empty() &&
      (reshapesWithoutSizes(typeOf(getResult())) ||
       keepsDynamicExtents(typeOf(getX()), typeOf(getResult()))))
    return getX();
  return splatOf(adaptor.getX(), getType());
}

namespace {

// Pattern: reshape(reshape(x)) -> reshape(x)
struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not a reshape");
    RankedTensorType in = typeOf(inner.getX()), out = typeOf(op.getResult());
    bool keeps = inner.getSizes().empty() && ReshapeOp::keepsDynamicExtents(in, out);
    if (out.getNumDynamicDims() > 1 && op.getSizes().empty() && !keeps)
      return rewriter.notifyMatchFailure(op, "the inner reshape gives the dynamic extents");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getX(), op.getSizes());
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeReshapes>(context);
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

// Pattern: broadcast(x) to x's own static shape -> x
// Pattern: broadcast(splat) -> splat
OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (sameType(getResult(), getX()) && (typeOf(getResult()).hasStaticShape() || getSizes().empty()))
    return getX();
  return splatOf(adaptor.getX(), getType());
}

namespace {

// Pattern: broadcast(broadcast(x, a), b) -> broadcast(x, b[a])
// A middle dimension that is stretched from 1 stays stretched: x's extent there is 1, which C3
// allows.
struct ComposeBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<BroadcastOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not a broadcast");
    if (!typeOf(op.getResult()).hasStaticShape() && op.getSizes().empty())
      return rewriter.notifyMatchFailure(op, "the inner broadcast gives the dynamic extents");
    SmallVector<int64_t> composed;
    for (int64_t dim : inner.getDims())
      composed.push_back(op.getDims()[dim]);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(), composed,
                                             op.getSizes());
    return success();
  }
};

// Pattern: broadcast(reshape(x)) where the reshape only adds dimensions of extent 1 -> broadcast(x)
// So that the two usual ways to put a row's number back over the row are one.
struct DropAddedOnes : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not a reshape");
    RankedTensorType in = typeOf(inner.getX()), ones = typeOf(inner.getResult());
    if (in.getNumDynamicDims() > 1)
      return rewriter.notifyMatchFailure(op, "dynamic extents cannot be told apart");
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < ones.getRank(); ++dim) {
      auto next = static_cast<int64_t>(dims.size());
      if (next < in.getRank() && in.getDimSize(next) == ones.getDimSize(dim))
        dims.push_back(op.getDims()[dim]);
      else if (ones.getDimSize(dim) != 1)
        return rewriter.notifyMatchFailure(op, "the reshape does more than add ones");
    }
    if (static_cast<int64_t>(dims.size()) != in.getRank())
      return rewriter.notifyMatchFailure(op, "the reshape does more than add ones");
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(), dims, op.getSizes());
    return success();
  }
};

} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeBroadcasts, DropAddedOnes>(context);
}

//===----------------------------------------------------------------------===//
// SliceOp, ConcatOp
//===----------------------------------------------------------------------===//

// Pattern: slice(x) of the whole axis -> x
// Pattern: slice(splat) -> splat
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (sameType(getResult(), getX()) && getFrom() == 0 && getStep() == 1)
    return getX();
  return splatOf(adaptor.getX(), getType());
}

// Pattern: concat(x) -> x
// Pattern: concat(splat, splat) of one number -> splat
OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getParts().size() == 1 && sameType(getResult(), getParts().front()))
    return getParts().front();
  if (llvm::all_equal(adaptor.getParts()))
    return splatOf(adaptor.getParts().front(), getType());
  return {};
}

namespace {

// Pattern: slice(slice(x)) along one axis -> slice(x)
struct ComposeSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<SliceOp>();
    if (!inner || inner.getAxis() != op.getAxis())
      return rewriter.notifyMatchFailure(op, "x is not a slice along the axis");
    int64_t from = inner.getFrom(), step = op.getStep();
    // One element has no step, and an unchecked product of steps could overflow.
    if (op.getSize() <= 1)
      step = 1;
    else
      step *= inner.getStep();
    from += op.getSize() == 0 ? 0 : static_cast<int64_t>(op.getFrom()) * inner.getStep();
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getX(), op.getAxis(), from,
                                         op.getSize(), step);
    return success();
  }
};

// Pattern: slice(concat(x, y)) inside x -> slice(x)
struct SliceOnePart : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getX().getDefiningOp<ConcatOp>();
    if (!concat || concat.getAxis() != op.getAxis() || op.getSize() == 0)
      return rewriter.notifyMatchFailure(op, "x is not a concat along the axis");
    int64_t extent = typeOf(concat.getParts().front()).getDimSize(op.getAxis());
    int64_t from = op.getFrom(),
            last = from + static_cast<int64_t>(op.getSize() - 1) * op.getStep();
    if (from / extent != last / extent)
      return rewriter.notifyMatchFailure(op, "takes from several parts");
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), concat.getParts()[from / extent],
                                         op.getAxis(), from % extent, op.getSize(), op.getStep());
    return success();
  }
};

// Pattern: concat(slice(x, 0..n), slice(x, n..2n)) of all of x -> x
struct JoinSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    Value whole;
    int64_t next = 0;
    for (Value part : op.getParts()) {
      auto slice = part.getDefiningOp<SliceOp>();
      if (!slice || slice.getAxis() != op.getAxis() || slice.getStep() != 1 ||
          static_cast<int64_t>(slice.getFrom()) != next || (whole && slice.getX() != whole))
        return rewriter.notifyMatchFailure(op, "parts are not neighbouring slices");
      whole = slice.getX();
      next += slice.getSize();
    }
    if (!sameType(whole, op.getResult()))
      return rewriter.notifyMatchFailure(op, "the slices are not all of x");
    rewriter.replaceOp(op, whole);
    return success();
  }
};

} // namespace

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeSlices, SliceOnePart>(context);
}

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<JoinSlices>(context);
}

//===----------------------------------------------------------------------===//
// AppendOp
//===----------------------------------------------------------------------===//

namespace {

// Pattern: append(permute(cache), rows) -> permute(append(cache, permute(rows))), so that the
// result may be the cache's memory
struct AppendBeforePermute : OpRewritePattern<AppendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AppendOp op, PatternRewriter &rewriter) const override {
    auto permute = op.getCache().getDefiningOp<PermuteOp>();
    if (!permute)
      return rewriter.notifyMatchFailure(op, "the cache is not permuted");
    ArrayRef<int64_t> dims = permute.getPermutation();
    if ((op.isPerSequence() || op.getPaged()) && dims.front() != 0)
      return rewriter.notifyMatchFailure(op,
                                         "sequences or pages are along another dimension there");
    SmallVector<int64_t> inverse(dims.size()), shape(dims.size());
    auto rowsType = typeOf(op.getRows());
    for (auto [i, dim] : llvm::enumerate(dims)) {
      inverse[dim] = static_cast<int64_t>(i);
      shape[dim] = rowsType.getDimSize(i);
    }
    auto rows = PermuteOp::create(rewriter, op.getLoc(),
                                  RankedTensorType::get(shape, rowsType.getElementType()),
                                  op.getRows(), inverse);
    auto appended =
        AppendOp::create(rewriter, op.getLoc(), permute.getX().getType(), permute.getX(), rows,
                         op.getPositions(), dims[op.getAxis()], op.getCircular(), op.getPaged());
    rewriter.replaceOpWithNewOp<PermuteOp>(op, op.getType(), appended, dims);
    return success();
  }
};

// Pattern: append(reshape(cache), rows) -> reshape(append(cache, reshape(rows))), for the same
// reason, where the cache has the dimension that rows are added along, and that of sequences
struct AppendBeforeReshape : OpRewritePattern<AppendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AppendOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getCache().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return rewriter.notifyMatchFailure(op, "the cache is not reshaped");
    RankedTensorType from = typeOf(reshape.getX()), to = typeOf(reshape.getResult()),
                     rows = typeOf(op.getRows());
    if (!from.hasStaticShape() || !to.hasStaticShape() || !rows.hasStaticShape() ||
        from.getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "there are dynamic extents, or no elements");
    bool hasSequences = op.isPerSequence() || op.getPaged();
    if (hasSequences && (from.getRank() < 2 || from.getDimSize(0) != to.getDimSize(0)))
      return rewriter.notifyMatchFailure(op, "sequences or pages are another dimension there");
    auto elementsBefore = [](RankedTensorType type, int64_t dim) {
      return ShapedType::getNumElements(type.getShape().take_front(dim));
    };
    int64_t axis = hasSequences;
    while (axis < from.getRank() &&
           (from.getDimSize(axis) != to.getDimSize(op.getAxis()) ||
            elementsBefore(from, axis) != elementsBefore(to, op.getAxis())))
      ++axis;
    if (axis == from.getRank())
      return rewriter.notifyMatchFailure(op, "rows are along no dimension there");
    SmallVector<int64_t> shape(from.getShape());
    shape[axis] = rows.getDimSize(op.getAxis());
    if (op.getPaged())
      shape.front() = rows.getDimSize(0);
    auto added =
        ReshapeOp::create(rewriter, op.getLoc(), rows.clone(shape), op.getRows(), ValueRange());
    auto appended = AppendOp::create(rewriter, op.getLoc(), from, reshape.getX(), added,
                                     op.getPositions(), axis, op.getCircular(), op.getPaged());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), appended, ValueRange());
    return success();
  }
};

} // namespace

void AppendOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AppendBeforePermute, AppendBeforeReshape>(context);
}
