//===- Approximation.cpp - What may be computed in fewer steps ------------===//
//
// A division that is right to the last bit takes a dozen instructions and a branch, one with an
// error of two units in the last place of an f32 takes 8, or 2 by what is the same for a row. An
// exponential with 2 instructions in place of 9 has an error that grows with its argument, by 2^-24
// of that. Elements that end in 16 bits show neither, unless what stands between makes a step of
// the error (a comparison, a rounding to an integer) or, which counts for the exponential,
// magnifies it: differences cancel, sums of numbers of one sign do not.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Analysis/Approximation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace swage;

namespace {

/// What may become of an error on its way to the results.
enum class Growth {
  Smooth,  ///< any multiple of it
  Relative ///< no more of a value than it was of those before it
};

class Sight {
public:
  Sight(KernelOp kernel, Growth growth) : kernel(kernel), growth(growth) {}

  /// Whether everything that is made of `value` ends as the growth allows.
  bool endsNarrow(Value value) {
    return !seen.insert(value).second ||
           llvm::all_of(value.getUses(), [&](OpOperand &use) { return mayUse(use); });
  }

private:
  static bool isNarrow(Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 16;
  }
  bool mayUse(OpOperand &use);

  KernelOp kernel;
  Growth growth;
  llvm::SmallPtrSet<Value, 16> seen;
};

} // namespace

/// Followed this far.
static constexpr int kDepth = 8;

/// Whether a scalar of the body is at least 0, or NaN.
static bool isNonNegative(Value value, int depth = kDepth) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return !number.getValue().isNegative();
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<math::ExpOp, math::Exp2Op, math::AbsFOp, math::SqrtOp, math::RsqrtOp>(op))
    return true;
  if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
    return true;
  return isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::ExtFOp, arith::TruncFOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value x) { return isNonNegative(x, depth - 1); });
}

bool Sight::mayUse(OpOperand &use) {
  Operation *op = use.getOwner();
  bool mayPass = growth == Growth::Smooth;
  if (isa<YieldOp>(op))
    return isNarrow(kernel.getOutput(use.getOperandNumber()).getElement());
  // What is rounded in the middle of a graph may come out as a neighbour. A few units of an f32 are
  // allowed for that, more are not.
  if (isa<arith::TruncFOp>(op) && isNarrow(op->getResult(0).getType()))
    return mayPass;
  if (auto collective = dyn_cast<CollectiveOp>(op))
    mayPass |= llvm::is_contained(
        {Collective::RmsNorm, Collective::AbsMax, Collective::Max, Collective::Min},
        collective.getKind());
  else if (isa<arith::AddFOp>(op))
    mayPass |= llvm::all_of(op->getOperands(), [](Value x) { return isNonNegative(x); });
  else if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::SelectOp, math::AbsFOp,
               math::SqrtOp, math::RsqrtOp>(op))
    mayPass = true;
  else if (!isa<arith::SubFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                arith::MinNumFOp, math::ClampFOp, math::FmaOp, math::ExpOp, math::Exp2Op,
                math::TanhOp, math::ErfOp>(op))
    return false;
  // A norm's or softmax's first result is the element.
  return mayPass && endsNarrow(op->getResult(0));
}

/// Whether a scalar is only added to numbers beside which the denormal ones vanish.
static bool mayLoseDenormals(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    FloatAttr number;
    return isa<arith::AddFOp>(user) && llvm::any_of(user->getOperands(), [&](Value x) {
             return matchPattern(x, m_Constant(&number)) && number.getValueAsDouble() >= 0x1p-100;
           });
  });
}

void swage::allowApproximations(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32())
      continue;
    auto allow = [&](auto typed, Growth growth, arith::FastMathFlags flag) {
      if (typed && Sight(kernel, growth).endsNarrow(op.getResult(0)))
        typed.setFastmath(typed.getFastmath() | flag);
    };
    allow(dyn_cast<arith::DivFOp>(op), Growth::Smooth, arith::FastMathFlags::arcp);
    if (mayLoseDenormals(op.getResult(0)))
      allow(dyn_cast<math::ExpOp>(op), Growth::Relative, arith::FastMathFlags::afn);
  }
}
