//===- StepPositions.cpp - Floats of positions by steps -------------------===//
//
// A bias by distance costs five instructions a score as it is written: the difference, its float,
// the product, and the scale's. In a score function the head dim is no coordinate; there it counts
// keys from the first one that a thread has of a block (AttentionRows::modify), so that
//
//   slope * float(j - i) = fma(slope, float(d6), slope * float((j - d6) - i))
//
// whose last term is the same for all of a thread's keys, and the step a constant once loops are
// unrolled. The sum of two exact floats is the float of the sum up to 2^24, and an ulp off beyond.
//
//===----------------------------------------------------------------------===//

#include "StepPositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace swage;

using Dim = AttentionDim;

/// Expressions are followed this far; every step may double the work.
static constexpr int kDepth = 8;
/// Strides and offsets of positions, of which there are few.
static constexpr int64_t kMost = int64_t(1) << 31;

/// Whether 32 bits hold it at every point.
static bool fits(KernelOp kernel, const Position &position) {
  double low = static_cast<double>(position.offset), high = low;
  for (auto [stride, extent] :
       llvm::zip_equal(position.strides, kernel.getExtents().getResults())) {
    // A coordinate counts an extent, which i32 holds.
    int64_t most = upperBound(extent, factsOf(kernel)).value_or(INT32_MAX);
    (stride < 0 ? low : high) += static_cast<double>(stride) * static_cast<double>(most - 1);
  }
  return low >= INT32_MIN && high <= INT32_MAX;
}

Position swage::sumOf(Position a, const Position &b, int64_t sign) {
  for (auto [to, from] : llvm::zip_equal(a.strides, b.strides))
    to += sign * from;
  a.offset += sign * b.offset;
  return a;
}

static std::optional<Position> positionOf(KernelOp kernel, Value value, int depth) {
  Position position;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    // Constants of 64 bits may be such that sums of them wrap.
    position.offset = number.getSExtValue();
    if (position.offset < -kMost || position.offset > kMost)
      return std::nullopt;
    return position;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    ViewAttr view = kernel.getInput(argument.getArgNumber());
    LinearAccess access = *LinearAccess::of(view.getAccess());
    std::optional<int64_t> offset = constantSize(access.offset);
    if (view.getSource() != Source::Coordinate || !offset || std::abs(*offset) > kMost)
      return std::nullopt;
    position.offset = *offset;
    for (auto [to, from] : llvm::zip_equal(position.strides, access.strides)) {
      std::optional<int64_t> stride = constantSize(from);
      if (!stride || std::abs(*stride) > kMost)
        return std::nullopt;
      to = *stride;
    }
    return position;
  }
  Operation *op = value.getDefiningOp();
  if (depth == 0 || !isa<arith::AddIOp, arith::SubIOp, arith::ExtSIOp>(op))
    return std::nullopt;
  std::optional<Position> a = positionOf(kernel, op->getOperand(0), depth - 1);
  if (isa<arith::ExtSIOp>(op))
    return a && value.getType().isInteger(64) && fits(kernel, *a) ? a : std::nullopt;
  std::optional<Position> b = positionOf(kernel, op->getOperand(1), depth - 1);
  if (!a || !b)
    return std::nullopt;
  return sumOf(*a, *b, isa<arith::AddIOp>(op) ? 1 : -1);
}

std::optional<Position> swage::positionOf(KernelOp kernel, Value value) {
  return ::positionOf(kernel, value, kDepth);
}

/// What an f32 of the body is, up to 2^24 exactly, and otherwise an ulp off for each operation.
static std::optional<Position> floatPositionOf(KernelOp kernel, Value value, int depth = kDepth) {
  if (!value.getType().isF32())
    return std::nullopt;
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number))) {
    Position position;
    if (!number.getValue().isInteger() || std::fabs(number.getValueAsDouble()) > 0x1p24)
      return std::nullopt;
    position.offset = static_cast<int64_t>(number.getValueAsDouble());
    return position;
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  if (auto convert = dyn_cast<arith::SIToFPOp>(op)) {
    unsigned bits = convert.getIn().getType().getIntOrFloatBitWidth();
    std::optional<Position> position;
    if (bits == 32 || bits == 64)
      position = positionOf(kernel, convert.getIn());
    return position && fits(kernel, *position) ? position : std::nullopt;
  }
  if (!isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
    return std::nullopt;
  std::optional<Position> a = floatPositionOf(kernel, op->getOperand(0), depth - 1);
  if (a && isa<arith::NegFOp>(op))
    return sumOf({}, *a, -1);
  std::optional<Position> b;
  if (a && op->getNumOperands() == 2)
    b = floatPositionOf(kernel, op->getOperand(1), depth - 1);
  if (!b)
    return std::nullopt;
  return sumOf(*a, *b, isa<arith::AddFOp>(op) ? 1 : -1);
}

/// The body's argument for a position.
static Value argumentOf(KernelOp kernel, const Position &position, Location loc) {
  MLIRContext *context = kernel.getContext();
  AffineExpr access = getAffineConstantExpr(position.offset, context);
  for (auto [dim, stride] : llvm::enumerate(position.strides))
    access = access + getAffineDimExpr(dim, context) * stride;
  auto view = ViewAttr::get(context, /*tensor=*/-1, IntegerType::get(context, 32),
                            AffineMap::get(0, kernel.getSymbols(), {}, context),
                            AffineMap::get(Dim::Count, kernel.getSymbols(), access), /*align=*/1,
                            Source::Coordinate);
  Block &body = kernel.getBody().front();
  SmallVector<Attribute> inputs(kernel.getInputs().begin(), kernel.getInputs().end());
  if (auto known = llvm::find(inputs, view); known != inputs.end())
    return body.getArgument(known - inputs.begin());
  inputs.push_back(view);
  kernel.setInputsAttr(ArrayAttr::get(context, inputs));
  return body.addArgument(view.getElement(), loc);
}

/// Sums of floats of positions become the float of one, whichever way a distance was written.
static void joinPositions(KernelOp kernel) {
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    if (!isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
      continue;
    Value value = op.getResult(0);
    std::optional<Position> position = floatPositionOf(kernel, value);
    if (!position || position->strides[Dim::Key] == 0 || !fits(kernel, *position))
      continue;
    OpBuilder builder(&op);
    value.replaceAllUsesWith(arith::SIToFPOp::create(builder, op.getLoc(), value.getType(),
                                                     argumentOf(kernel, *position, op.getLoc())));
    op.erase();
  }
}

DenseSet<Operation *> swage::stepPositions(KernelOp kernel) {
  joinPositions(kernel);
  DenseSet<Operation *> sums;
  for (auto number :
       llvm::make_early_inc_range(kernel.getBody().front().getOps<arith::SIToFPOp>())) {
    std::optional<Position> position = floatPositionOf(kernel, number);
    if (!position || position->strides[Dim::Key] == 0)
      continue;
    Location loc = number.getLoc();
    Position step, first = *position;
    step.strides[Dim::HeadDim] = position->strides[Dim::Key];
    first.strides[Dim::HeadDim] -= position->strides[Dim::Key];
    OpBuilder builder(number);
    Type type = number.getType();
    Value steps =
        arith::SIToFPOp::create(builder, loc, type, argumentOf(kernel, step, loc)).getResult();
    Value firsts =
        arith::SIToFPOp::create(builder, loc, type, argumentOf(kernel, first, loc)).getResult();
    for (Operation *user : llvm::make_early_inc_range(number->getUsers())) {
      auto product = dyn_cast<arith::MulFOp>(user);
      if (!product || product.getLhs() == product.getRhs())
        continue;
      Value factor = product.getLhs() == number ? product.getRhs() : product.getLhs();
      if (!isSameAlong(kernel, factor, Dim::Key))
        continue;
      builder.setInsertionPoint(product);
      Value part = arith::MulFOp::create(builder, loc, factor, firsts);
      auto sum = math::FmaOp::create(builder, product.getLoc(), factor, steps, part);
      sums.insert(sum);
      product.replaceAllUsesWith(sum.getResult());
      product.erase();
    }
    builder.setInsertionPoint(number);
    number.replaceAllUsesWith(arith::AddFOp::create(builder, loc, firsts, steps).getResult());
    number.erase();
  }
  return sums;
}
