//===- EmptyRows.cpp - Rows that are -inf throughout ----------------------===//
//
// Frameworks guard a softmax by ops that they make of comparisons with -inf: any, all, not, casts.
// Rather than list their forms, this evaluates them, for a row of -inf, for one without, and for
// one of both; these are all rows that such ops can tell apart.
//
//===----------------------------------------------------------------------===//

#include "EmptyRows.h"
#include "RowPattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace swage;

namespace {

/// Kinds of elements, a bit each.
enum : unsigned { NegativeInfinity = 1, Other = 2 };

class Evaluator {
public:
  Evaluator(Value x, llvm::SmallPtrSetImpl<Operation *> &ops) : x(x), ops(ops) {}

  /// The number that `value` is for an element of one `kind` in a row of x with elements of
  /// `kinds`; nothing where it is not known.
  std::optional<double> valueOf(Value value, unsigned kinds, unsigned kind);

private:
  Value x;
  llvm::SmallPtrSetImpl<Operation *> &ops;
};

std::optional<double> Evaluator::valueOf(Value value, unsigned kinds, unsigned kind) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  DenseElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat()) {
    if (isa<FloatType>(splat.getElementType()))
      return splatOf(value);
    APInt number = splat.getSplatValue<APInt>();
    return number.getBitWidth() == 1 ? number.getZExtValue() : number.getSExtValue();
  }
  ArrayRef<int64_t> full = tensorType(x).getShape();
  ops.insert(op);
  if (auto compare = dyn_cast<arith::CmpFOp>(op); compare &&
                                                  widened(compare.getLhs()) == widened(x) &&
                                                  splatOf(compare.getRhs()) == -INFINITY) {
    if (compare.getPredicate() == arith::CmpFPredicate::OEQ)
      return kind == NegativeInfinity;
    if (compare.getPredicate() == arith::CmpFPredicate::UNE)
      return kind == Other;
    return std::nullopt;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    bool isMax = reduce.getKind() == ReduceKind::Max;
    if ((!isMax && reduce.getKind() != ReduceKind::Min) ||
        tensorType(reduce.getX()).getShape() != full ||
        reduce.getDims() != ArrayRef<int64_t>{static_cast<int64_t>(full.size()) - 1})
      return std::nullopt;
    std::optional<double> result;
    for (unsigned one : {NegativeInfinity, Other}) {
      if (!(kinds & one))
        continue;
      std::optional<double> element = valueOf(reduce.getX(), kinds, one);
      if (!element)
        return std::nullopt;
      result = !result ? element
               : isMax ? std::max(*result, *element)
                       : std::min(*result, *element);
    }
    return result;
  }
  SmallVector<double> operands;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = valueOf(operand, kinds, kind);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  // One element for each row stays with its row.
  auto isOfRows = [&](ArrayRef<int64_t> shape) {
    return (shape.size() + 1 == full.size() ||
            (shape.size() == full.size() && shape.back() == 1)) &&
           shape.take_front(full.size() - 1) == full.drop_back();
  };
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return isOfRows(tensorType(reshape.getX()).getShape()) &&
                   isOfRows(tensorType(reshape).getShape())
               ? std::optional(operands[0])
               : std::nullopt;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    bool isInOrder = llvm::equal(broadcast.getDims(),
                                 llvm::seq<int64_t>(0, tensorType(broadcast.getX()).getRank()));
    return isInOrder && isOfRows(tensorType(broadcast.getX()).getShape())
               ? std::optional(operands[0])
               : std::nullopt;
  }
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::ExtFOp>(op))
    return operands[0];
  if (isa<arith::XOrIOp>(op) && tensorType(value).getElementType().isInteger(1))
    return operands[0] != operands[1];
  if (isa<arith::SelectOp>(op))
    return operands[0] != 0 ? operands[1] : operands[2];
  auto compareI = dyn_cast<arith::CmpIOp>(op);
  auto compareF = dyn_cast<arith::CmpFOp>(op);
  using P = arith::CmpIPredicate;
  using Q = arith::CmpFPredicate;
  auto isOne = [&](std::initializer_list<P> integers, Q real) {
    return compareI ? llvm::is_contained(integers, compareI.getPredicate())
                    : compareF && compareF.getPredicate() == real;
  };
  if (isOne({P::eq}, Q::OEQ))
    return operands[0] == operands[1];
  if (isOne({P::ne}, Q::UNE))
    return operands[0] != operands[1];
  if (isOne({P::sgt}, Q::OGT))
    return operands[0] > operands[1];
  if (isOne({P::slt}, Q::OLT))
    return operands[0] < operands[1];
  return std::nullopt;
}

} // namespace

bool swage::tellsEmptyRows(Value condition, bool whenEmpty, Value x,
                           llvm::SmallPtrSetImpl<Operation *> &ops) {
  Evaluator evaluator(x, ops);
  return llvm::all_of(ArrayRef<unsigned>{NegativeInfinity, Other, NegativeInfinity | Other},
                      [&](unsigned kinds) {
                        std::optional<double> value = evaluator.valueOf(condition, kinds, 0);
                        bool isEmpty = kinds == NegativeInfinity;
                        return value && ((*value != 0) == whenEmpty) == isEmpty;
                      });
}
