//===- MaterializeResults.cpp - --swage-materialize-results ---------------===//

#include "swage/Dialect/Swage/Transforms/Passes.h"

namespace swage {
#define GEN_PASS_DEF_MATERIALIZERESULTSPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {
struct MaterializeResultsPass : swage::impl::MaterializeResultsPassBase<MaterializeResultsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation().getBody().hasOneBlock())
      return; // fusion says what is wrong
    Operation *terminator = getOperation().getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value value = operand.get();
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !isa<FloatType>(type.getElementType()) || type.getElementTypeBitWidth() > 16 ||
          isa<BlockArgument>(value) || isa<CopyOp, AppendOp>(value.getDefiningOp()))
        continue;
      bool used =
          llvm::any_of(value.getUsers(), [&](Operation *user) { return user != terminator; });
      if (!used)
        continue;
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(value.getDefiningOp());
      auto copy = CopyOp::create(builder, value.getLoc(), type, value);
      if (folded)
        value.replaceUsesWithIf(copy, [&](OpOperand &use) { return use.getOwner() == terminator; });
      else
        value.replaceAllUsesExcept(copy, copy);
    }
  }
};
} // namespace
