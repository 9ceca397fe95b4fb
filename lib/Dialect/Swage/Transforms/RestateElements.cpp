//===- RestateElements.cpp - Elements from row results --------------------===//

#include "RestateElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"

using namespace mlir;
using namespace swage;

namespace {

/// Values as a phase can make them that is handed the elements of one collective.
class Restater {
public:
  /// Ops go in front of `before`. `operand` was what the collective goes over, which the phase is
  /// handed if there is no result for each element.
  Restater(CollectiveOp handed, Value operand, Operation *before)
      : handed(handed), builder(before) {
    if (!handed.isPerElement(0))
      mapping.map(operand, handed.getValue());
  }

  Value restate(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || mapping.contains(value))
      return mapping.lookupOrDefault(value);
    if (auto collective = dyn_cast<CollectiveOp>(op)) {
      if (collective == handed || !collective.isPerElement(0) || value != collective.getValues()[0])
        return value;
      Value made = elementOf(collective, restate(collective.getValue()));
      mapping.map(value, made);
      return made;
    }
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (Value now = restate(operand); now != operand)
        operands.map(operand, now);
    if (!operands.getValueMap().empty())
      mapping.map(op->getResults(), builder.clone(*op, operands)->getResults());
    return mapping.lookupOrDefault(value);
  }

private:
  /// The formulas of swage.collective.
  Value elementOf(CollectiveOp collective, Value x) {
    Location loc = collective.getLoc();
    auto row = [&](unsigned i) -> Value { return collective.getValues()[i]; };
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(x.getType(), value));
    };
    switch (collective.getKind()) {
    case Collective::RmsNorm:
      return arith::MulFOp::create(builder, loc, x, row(1));
    case Collective::LayerNorm:
      return arith::MulFOp::create(builder, loc, arith::SubFOp::create(builder, loc, x, row(1)),
                                   row(2));
    default:
      break;
    }
    // A row that is -inf throughout, where that is no NaN, has the sum 0.
    Value max = row(1), sum = row(2), isEmpty;
    if (collective.getZeroRows()) {
      isEmpty = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, sum, number(0));
      max = arith::SelectOp::create(builder, loc, isEmpty, number(0), max);
    }
    Value from = arith::SubFOp::create(builder, loc, x, max);
    if (collective.getKind() == Collective::LogSoftmax) {
      Value log = math::LogOp::create(builder, loc, sum);
      if (isEmpty)
        log = arith::SelectOp::create(builder, loc, isEmpty, number(0), log);
      return arith::SubFOp::create(builder, loc, from, log);
    }
    Value inverse = arith::DivFOp::create(builder, loc, number(1), sum);
    if (isEmpty)
      inverse = arith::SelectOp::create(builder, loc, isEmpty, number(0), inverse);
    return arith::MulFOp::create(builder, loc, math::ExpOp::create(builder, loc, from), inverse);
  }

  CollectiveOp handed;
  OpBuilder builder;
  IRMapping mapping;
};

} // namespace

void swage::restateElements(KernelOp kernel) {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  if (collectives.size() < 2)
    return;
  SmallVector<Value> operands;
  for (CollectiveOp collective : collectives)
    operands.push_back(collective.getValue());
  for (unsigned i = 2; i < collectives.size(); ++i) {
    Restater restater(collectives[i - 1], operands[i - 1], collectives[i]);
    collectives[i].getValueMutable().assign(restater.restate(operands[i]));
  }
  Operation *yield = kernel.getBody().front().getTerminator();
  std::vector<std::optional<Restater>> restaters(collectives.size());
  for (OpOperand &result : yield->getOpOperands()) {
    unsigned behind = collectivesBehind(kernel, result.get());
    if (behind < 2)
      continue;
    std::optional<Restater> &restater = restaters[behind - 1];
    if (!restater)
      restater.emplace(collectives[behind - 1], operands[behind - 1], yield);
    result.set(restater->restate(result.get()));
  }
}
