//===- Interpreter.cpp - The oracle ---------------------------------------===//
//
// Walks a function's one block in order. Inputs are widened at their first use and every value is
// dropped after its last, because a value takes about 20 bytes an element.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "ScalarProgram.h"
#include "mlir/IR/TypeUtilities.h"
#include "swage/Reference/Parallel.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace swage::reference {

std::optional<ElementType> elementTypeOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return ElementType::F8E5M2;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isInteger(1))
    return ElementType::I1;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64) || type.isIndex())
    return ElementType::I64;
  return std::nullopt;
}

std::string lineAndColumn(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}

ArrayRef<int64_t> Evaluator::declaredShape(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.getShape();
  return {};
}

/// Whether actual extents fit a type with dynamic ones.
static bool fits(ArrayRef<int64_t> shape, ArrayRef<int64_t> declared) {
  if (shape.size() != declared.size())
    return false;
  for (auto [actual, expected] : llvm::zip(shape, declared))
    if (!ShapedType::isDynamic(expected) && actual != expected)
      return false;
  return true;
}

FailureOr<std::vector<Value>> Evaluator::run() {
  if (failed(checkInputs()))
    return failure();
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  for (BlockArgument argument : block.getArguments())
    countUses(argument);
  for (Operation &op : block.without_terminator()) {
    for (GraphValue result : op.getResults())
      countUses(result);
    if (failed(evaluateOp(&op)))
      return failure();
    op.walk([&](Operation *user) { // regions use values from outside
      for (GraphValue operand : user->getOperands())
        release(operand);
    });
  }
  std::vector<Value> results;
  for (GraphValue operand : terminator->getOperands()) {
    auto output = outputs.find(operand);
    results.push_back(output != outputs.end() ? output->second : operandOf(operand));
  }
  return results;
}

LogicalResult Evaluator::checkInputs() {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError("has no body of one block, so it cannot be evaluated");
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError() << "is given " << inputs.size() << " inputs, but has "
                                  << function.getNumArguments() << " arguments";
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Type type = function.getArgument(i).getType();
    std::optional<ElementType> element = elementTypeOf(getElementTypeOrSelf(type));
    if (!element || (isa<ShapedType>(type) && !isa<RankedTensorType>(type)))
      return function.emitOpError() << "has argument " << i << " of type " << type
                                    << ", which the reference does not know";
    if (*element != input->type() || !fits(input->shape(), declaredShape(type)))
      return function.emitOpError() << "is given " << describe(input->shape(), input->type())
                                    << " as input " << i << ", but its argument has type " << type;
  }
  return success();
}

void Evaluator::countUses(GraphValue value) {
  uses[value] = llvm::count_if(value.getUsers(), [](Operation *op) { return !isReturn(op); });
}

void Evaluator::release(GraphValue value) {
  auto left = uses.find(value);
  if (left != uses.end() && --left->second == 0)
    values.erase(value);
}

Value Evaluator::operandOf(GraphValue value) {
  auto found = values.find(value);
  if (found != values.end())
    return found->second;
  auto argument = cast<BlockArgument>(value);
  return values[value] = Value::fromTensor(*inputs[argument.getArgNumber()]);
}

LogicalResult Evaluator::reserve(Operation *op, ArrayRef<int64_t> shape, bool isSplat) {
  int64_t count = elementCount(shape);
  int64_t live = 0;
  for (auto &[key, value] : values)
    live += value.bytes();
  constexpr int64_t kBytesPerElement = 20;
  if (count < 0 || (!isSplat && count > (options.memoryLimit - live) / kBytesPerElement))
    return op->emitOpError() << "needs a value of " << count << " elements while " << live
                             << " bytes are in use, but the reference may use "
                             << options.memoryLimit;
  return success();
}

bool Evaluator::isFolded(Operation *op) {
  SmallVector<Attribute> operands;
  for (GraphValue operand : op->getOperands())
    operands.push_back(constants.lookup(operand));
  if (op->getNumResults() != 1 || operands.empty() || llvm::is_contained(operands, Attribute()))
    return false;
  Operation *copy = op->clone(); // folding may change it
  SmallVector<OpFoldResult> results;
  Attribute constant;
  if (succeeded(copy->fold(operands, results)) && results.size() == 1) {
    auto same = dyn_cast<GraphValue>(results[0]);
    constant = same ? constants.lookup(same) : cast<Attribute>(results[0]);
  }
  copy->destroy();
  if (!constant)
    return false;
  constants[op->getResult(0)] = constant;
  return true;
}

LogicalResult Evaluator::define(Operation *op, GraphValue result, Value value) {
  if (!value.isAllocated())
    return op->emitOpError("does not fit in memory");
  bool isConstant = isFolded(op);
  bool isReturned = llvm::any_of(result.getUsers(), isReturn);
  if (isReturned)
    outputs[result] = value;
  if (uses[result] == 0)
    return success();
  if (isFloat(value.type()) && isReturned) {
    value = rounded(value, castTo);
  } else if (isFloat(value.type()) &&
             (isConstant || options.stored.count(lineAndColumn(op->getLoc())))) {
    value = rounded(value, storedAs);
  }
  if (!value.isAllocated())
    return op->emitOpError("does not fit in memory");
  values[result] = value;
  return success();
}

Value Evaluator::rounded(const Value &value, Number (*round)(ElementType, const Number &)) {
  ElementType type = value.type();
  return elementwise([=](const Number *x) { return round(type, x[0]); }, {value}, type,
                     value.shape());
}

LogicalResult Evaluator::resolveSizes(Operation *op, Shape &shape, ValueRange sizes) {
  for (GraphValue size : sizes) {
    auto dynamic = llvm::find(shape, ShapedType::kDynamic);
    int64_t extent = operandOf(size).load(0).integer;
    if (extent < 0)
      return op->emitOpError() << "is given a size of " << extent;
    if (dynamic != shape.end())
      *dynamic = extent;
  }
  return success();
}

ElementType Evaluator::typeOf(GraphValue value) {
  return *elementTypeOf(getElementTypeOrSelf(value.getType()));
}

LogicalResult Evaluator::evaluateOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!elementTypeOf(getElementTypeOrSelf(type)) ||
        (isa<ShapedType>(type) && !isa<RankedTensorType>(type)))
      return op->emitOpError() << "has a result of type " << type
                               << ", which the reference does not know";
  Precision precision = precisionOf(op);
  if (Scalar scalar = roundingOfCache(op))
    return evaluateElementwise(op, scalar);
  if (Scalar scalar = scalarOf(op, precision))
    return evaluateElementwise(op, scalar);
  // Every other op's largest result is no larger than its operands, or reserved for in its own
  // function.
  if (op->getNumOperands() > 0 && op->getNumResults() > 0 &&
      failed(reserve(op, operandOf(op->getOperand(0)).shape(), false)))
    return failure();
  auto define = [&](Value value) { return this->define(op, op->getResult(0), std::move(value)); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) { return evaluateConstant(constant); })
      .Case<LayerNormOp, RmsNormOp>([&](Operation *) { return evaluateNorm(op); })
      .Case([&](SoftmaxOp softmaxOp) { return evaluateSoftmax(softmaxOp, precision); })
      .Case([&](MatmulOp matmulOp) { return evaluateMatmul(matmulOp); })
      .Case([&](AttentionOp attentionOp) { return evaluateAttention(attentionOp); })
      .Case([&](ReduceOp reduceOp) {
        Reduction kind = reduceOp.getKind() == ReduceKind::Sum   ? Reduction::Sum
                         : reduceOp.getKind() == ReduceKind::Max ? Reduction::Max
                         : reduceOp.getKind() == ReduceKind::Min ? Reduction::Min
                                                                 : Reduction::Mean;
        return define(reduce(kind, operandOf(reduceOp.getX()), reduceOp.getDims(),
                             typeOf(reduceOp.getResult()), precision));
      })
      .Case([&](PermuteOp permuteOp) {
        return define(permute(operandOf(permuteOp.getX()), permuteOp.getPermutation()));
      })
      .Case([&](ReshapeOp reshape) {
        return evaluateReshape(op, Shape(declaredShape(reshape.getType())), reshape.getSizes());
      })
      .Case([&](BroadcastOp broadcast) { return evaluateBroadcast(broadcast); })
      .Case([&](SliceOp slice) { return evaluateSlice(slice); })
      .Case([&](ConcatOp concatOp) { return evaluateConcat(concatOp); })
      .Case([&](PagesOp pagesOp) { return evaluatePages(pagesOp); })
      .Case([&](AppendOp appendOp) { return evaluateAppend(appendOp); })
      .Case([&](IotaOp iotaOp) {
        return evaluateSource(op, iotaOp.getSizes(), [&](ArrayRef<int64_t> shape) {
          return iota(iotaOp.getDim(), shape);
        });
      })
      .Case([&](RandomOp randomOp) {
        Value state = operandOf(randomOp.getState());
        if (state.size() != 2)
          return LogicalResult(randomOp.emitOpError()
                               << "state is given as " << describe(state.shape(), state.type())
                               << ", but must be 2xi64");
        return evaluateSource(op, randomOp.getSizes(),
                              [&](ArrayRef<int64_t> shape) { return random(state, shape); });
      })
      .Case([&](tensor::DimOp dim) { return evaluateDim(dim); })
      .Case([&](tensor::CastOp castOp) {
        Value x = operandOf(castOp.getSource());
        if (!fits(x.shape(), declaredShape(castOp.getType())))
          return LogicalResult(castOp.emitOpError()
                               << "is given " << describe(x.shape(), x.type())
                               << ", but its result has type " << castOp.getType());
        return define(x);
      })
      .Case([&](tensor::SplatOp splat) {
        Shape shape(declaredShape(splat.getType()));
        if (failed(resolveSizes(op, shape, splat.getDynamicSizes())))
          return failure();
        return define(
            Value::splat(typeOf(splat.getResult()), shape, operandOf(splat.getInput()).load(0)));
      })
      .Default([&](Operation *) { return op->emitOpError("is not known to the reference"); });
}

LogicalResult Evaluator::evaluateConstant(arith::ConstantOp op) {
  constants[op.getResult()] = op.getValue();
  ElementType type = typeOf(op.getResult());
  auto number = [&](Attribute attribute) {
    Number result;
    if (auto real = dyn_cast<FloatAttr>(attribute)) {
      result.reference = result.honest = real.getValueAsDouble();
    } else {
      const APInt &bits = cast<IntegerAttr>(attribute).getValue();
      result.integer = type == ElementType::I1 ? bits.getZExtValue() : bits.getSExtValue();
    }
    return result;
  };
  Attribute attribute = op.getValue();
  if (isa<FloatAttr, IntegerAttr>(attribute))
    return define(op, op.getResult(), Value::splat(type, {}, number(attribute)));
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (!elements)
    return op.emitOpError("has a value that the reference does not know: it is not dense");
  ArrayRef<int64_t> shape = elements.getType().getShape();
  if (elements.isSplat())
    return define(op, op.getResult(),
                  Value::splat(type, shape, number(elements.getSplatValue<Attribute>())));
  if (failed(reserve(op, shape, false)))
    return failure();
  Value value(type, shape, /*exact=*/true);
  if (value.isAllocated())
    for (auto [i, element] : llvm::enumerate(elements.getValues<Attribute>()))
      value.store(i, number(element));
  return define(op, op.getResult(), value);
}

LogicalResult Evaluator::evaluateElementwise(Operation *op, const Scalar &scalar) {
  SmallVector<Value> operands;
  for (GraphValue operand : op->getOperands())
    operands.push_back(operandOf(operand));
  Type type = op->getResult(0).getType();
  // A scalar operand, such as the condition of a select, applies to all elements.
  Shape shape;
  bool haveShape = false, isSplat = true;
  for (auto [operand, value] : llvm::zip(op->getOperands(), operands)) {
    isSplat &= value.isSplat();
    if (!isa<ShapedType>(operand.getType()))
      continue;
    if (haveShape && value.shape() != ArrayRef<int64_t>(shape))
      return op->emitOpError() << "has operands of shapes " << describe(shape, typeOf(operand))
                               << " and " << describe(value.shape(), value.type());
    shape.assign(value.shape().begin(), value.shape().end());
    haveShape = true;
  }
  for (Value &value : operands)
    if (value.shape() != ArrayRef<int64_t>(shape))
      value = Value::splat(value.type(), shape, value.load(0));
  if (!fits(shape, declaredShape(type)))
    return op->emitOpError() << "has operands of shape "
                             << describe(shape, typeOf(op->getResult(0)))
                             << ", but its result has type " << type;
  if (failed(reserve(op, shape, isSplat)))
    return failure();
  return define(op, op->getResult(0),
                elementwise(scalar, operands, typeOf(op->getResult(0)), shape));
}

LogicalResult Evaluator::evaluateNorm(Operation *op) {
  Precision precision = precisionOf(op);
  auto statisticsType = [&]() -> std::optional<ElementType> {
    if (op->getNumResults() == 1)
      return std::nullopt;
    return typeOf(op->getResult(1));
  };
  auto optional = [&](GraphValue value) { return value ? operandOf(value) : Value(); };
  NormResult results;
  bool withMean = false;
  auto checkAffine = [&](StringRef what, const Value &value, ArrayRef<int64_t> normalized) {
    if (value.shape() == normalized)
      return success();
    return LogicalResult(op->emitOpError()
                         << what << " is given as " << describe(value.shape(), value.type())
                         << ", but the normalised dimensions are "
                         << describe(normalized, value.type()));
  };
  if (auto norm = dyn_cast<LayerNormOp>(op)) {
    Value x = operandOf(norm.getX()), gamma = optional(norm.getGamma()),
          beta = optional(norm.getBeta());
    ArrayRef<int64_t> normalized = x.shape().drop_front(norm.getAxis());
    if ((norm.getGamma() && failed(checkAffine("gamma", gamma, normalized))) ||
        (norm.getBeta() && failed(checkAffine("beta", beta, normalized))))
      return failure();
    results = layerNorm(x, norm.getGamma() ? &gamma : nullptr, norm.getBeta() ? &beta : nullptr,
                        norm.getAxis(), norm.getEpsilon().convertToDouble(),
                        typeOf(norm.getResult()), statisticsType(), precision);
    withMean = true;
  } else {
    auto rms = cast<RmsNormOp>(op);
    Value x = operandOf(rms.getX()), gamma = optional(rms.getGamma());
    if (rms.getGamma() && failed(checkAffine("gamma", gamma, x.shape().drop_front(rms.getAxis()))))
      return failure();
    results = rmsNorm(x, rms.getGamma() ? &gamma : nullptr, rms.getAxis(),
                      rms.getEpsilon().convertToDouble(), typeOf(rms.getResult()), statisticsType(),
                      precision);
  }
  if (failed(define(op, op->getResult(0), results.result)))
    return failure();
  if (op->getNumResults() == 1)
    return success();
  if (withMean && failed(define(op, op->getResult(1), results.mean)))
    return failure();
  return define(op, op->getResults().back(), results.rstd);
}

LogicalResult Evaluator::evaluateSoftmax(SoftmaxOp op, Precision precision) {
  SoftmaxOptions softmaxOptions;
  if (auto attribute = op.getScaleAttr())
    softmaxOptions.scale = attribute.getValueAsDouble();
  softmaxOptions.log = op.getLog();
  softmaxOptions.nanRows = op.getNanRows();
  Value x = operandOf(op.getX()), mask;
  if (op.getMask()) {
    mask = operandOf(op.getMask());
    if (mask.shape() != x.shape())
      return op.emitOpError() << "mask is given as " << describe(mask.shape(), mask.type())
                              << ", but x as " << describe(x.shape(), x.type());
  }
  GraphValue logSumExp = op.getLogSumExp();
  SoftmaxResult results = softmax(
      x, op.getMask() ? &mask : nullptr, op.getAxis(), softmaxOptions, typeOf(op.getResult()),
      logSumExp ? std::optional(typeOf(logSumExp)) : std::nullopt, precision);
  if (failed(define(op, op.getResult(), results.result)))
    return failure();
  return logSumExp ? define(op, logSumExp, results.logSumExp) : success();
}

LogicalResult Evaluator::evaluateMatmul(MatmulOp op) {
  Value a = operandOf(op.getA()), b = operandOf(op.getB());
  size_t column = a.shape().size() - 1, row = column - 1;
  bool transposeB = op.getTransposeB();
  if (a.shape().take_front(row) != b.shape().take_front(row) ||
      a.shape()[column] != b.shape()[transposeB ? column : row])
    return op.emitOpError() << "is given a as " << describe(a.shape(), a.type()) << " and b as "
                            << describe(b.shape(), b.type()) << ", which do not fit";
  Shape shape(a.shape());
  shape[column] = b.shape()[transposeB ? row : column];
  if (failed(reserve(op, shape, false)))
    return failure();
  return define(op, op.getResult(),
                matmul(a, b, transposeB, typeOf(op.getResult()), precisionOf(op)));
}

LogicalResult Evaluator::evaluateAttention(AttentionOp op) {
  Value q = operandOf(op.getQ()), k = operandOf(op.getK()), v = operandOf(op.getV());
  size_t head = q.shape().size() - 3;
  int64_t heads = q.shape()[head], keyHeads = k.shape()[head];
  bool isGrouped = keyHeads ? heads % keyHeads == 0 : heads == 0;
  if (!isGrouped || k.shape().take_front(head) != q.shape().take_front(head) ||
      k.shape().drop_back() != v.shape().drop_back() || k.shape().back() != q.shape().back())
    return op.emitOpError() << "is given q as " << describe(q.shape(), q.type()) << ", k as "
                            << describe(k.shape(), k.type()) << " and v as "
                            << describe(v.shape(), v.type()) << ", which do not fit";
  Shape shape(q.shape());
  shape.back() = v.shape().back();
  if (failed(reserve(op, shape, false)))
    return failure();
  AttentionOptions attentionOptions;
  Value sinks;
  if (op.getSinks()) {
    sinks = operandOf(op.getSinks());
    if (sinks.shape() != ArrayRef<int64_t>(heads))
      return op.emitOpError() << "is given sinks as " << describe(sinks.shape(), sinks.type())
                              << ", but has " << heads << " query heads";
    attentionOptions.sinks = &sinks;
  }
  if (auto attribute = op.getScaleAttr())
    attentionOptions.scale = attribute.getValueAsDouble();
  attentionOptions.nanRows = op.getNanRows();
  attentionOptions.ofCache = isMadeOf8Bits(op.getV());
  attentionOptions.tf32 = op.getTf32();
  FailureOr<ScalarProgram> programs[3];
  const ScalarProgram **regions[] = {&attentionOptions.score, &attentionOptions.mask,
                                     &attentionOptions.weight};
  for (auto [region, program, option] : llvm::zip_equal(op->getRegions(), programs, regions)) {
    if (region.empty())
      continue;
    for (arith::ConstantOp constant : region.getOps<arith::ConstantOp>()) {
      countUses(constant.getResult());
      if (failed(evaluateConstant(constant)))
        return failure();
    }
    program = ScalarProgram::of(region, [&](GraphValue value) { return operandOf(value); });
    if (failed(program))
      return failure();
    *option = &*program;
  }
  GraphValue logSumExp = op.getLogSumExp(), probabilities = op.getProbabilities();
  auto typeIf = [&](GraphValue value) {
    return value ? std::optional(typeOf(value)) : std::nullopt;
  };
  AttentionResult results =
      attention(q, k, v, attentionOptions, typeOf(op.getResult()), typeIf(logSumExp),
                typeIf(probabilities), {/*wide=*/op.getScoreType().isF64()});
  if (failed(define(op, op.getResult(), results.result)) ||
      (logSumExp && failed(define(op, logSumExp, results.logSumExp))))
    return failure();
  return probabilities ? define(op, probabilities, results.probabilities) : success();
}

FailureOr<std::vector<Value>> evaluate(func::FuncOp function, ArrayRef<const Tensor *> inputs,
                                       const EvaluateOptions &options) {
  return Evaluator(function, inputs, options).run();
}

} // namespace swage::reference
