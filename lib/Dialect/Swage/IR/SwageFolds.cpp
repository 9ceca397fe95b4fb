//===- SwageFolds.cpp - Folding and canonicalisation ----------------------===//

#include "mlir/IR/PatternMatch.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

using namespace mlir;
using namespace swage;

/// Whether replacing `from` by `to` keeps the type that users see.
static bool sameType(Value from, Value to) { return from.getType() == to.getType(); }

//===----------------------------------------------------------------------===//
// PermuteOp
//===----------------------------------------------------------------------===//

// Pattern: permute(x, identity) -> x
OpFoldResult PermuteOp::fold(FoldAdaptor) {
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

// Pattern: reshape(reshape(x)) -> reshape(x)
struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not a reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getX(), op.getSizes());
    return success();
  }
};

// Pattern: broadcast(broadcast(x, a), b) -> broadcast(x, b[a])
// A middle dimension that is stretched from 1 stays stretched: x's extent there is 1, which C3
// allows.
struct ComposeBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<BroadcastOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not a broadcast");
    auto type = cast<ShapedType>(op.getType());
    if (!type.hasStaticShape() && op.getSizes().empty())
      return rewriter.notifyMatchFailure(op, "the inner broadcast gives the dynamic extents");
    SmallVector<int64_t> composed;
    for (int64_t dim : inner.getDims())
      composed.push_back(op.getDims()[dim]);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(), composed,
                                             op.getSizes());
    return success();
  }
};

} // namespace

void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposePermutes>(context);
}

//===----------------------------------------------------------------------===//
// ReshapeOp, BroadcastOp, SliceOp, ConcatOp
//===----------------------------------------------------------------------===//

// Pattern: reshape(x) to x's own static shape -> x
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (sameType(getResult(), getX()) && cast<ShapedType>(getType()).getNumDynamicDims() <= 1 &&
      getSizes().empty())
    return getX();
  return {};
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeReshapes>(context);
}

// Pattern: broadcast(x) to x's own static shape -> x
OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (sameType(getResult(), getX()) &&
      (cast<ShapedType>(getType()).hasStaticShape() || getSizes().empty()))
    return getX();
  return {};
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeBroadcasts>(context);
}

// Pattern: slice(x) of the whole axis -> x
OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (sameType(getResult(), getX()) && getFrom() == 0 && getStep() == 1)
    return getX();
  return {};
}

// Pattern: concat(x) -> x
OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getParts().size() == 1 && sameType(getResult(), getParts().front()))
    return getParts().front();
  return {};
}
