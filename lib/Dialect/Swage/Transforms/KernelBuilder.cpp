//===- KernelBuilder.cpp - From a group of ops to one kernel --------------===//
//
// The second half, after KernelRelations.cpp: the outputs are evaluated (KernelOutputs.cpp). Each
// op becomes one scalar op, each value from outside a load. Where the relations ask for a split of
// the iteration space, it is made and everything starts again.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "RestateElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace swage;

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

bool swage::isIndexOp(Operation *op) {
  return isa<PermuteOp, ReshapeOp, BroadcastOp, SliceOp, tensor::CastOp>(op);
}

bool swage::isSourceOp(Operation *op) { return isa<IotaOp, RandomOp>(op); }

bool swage::isCollectiveOp(Operation *op) {
  return isa<LayerNormOp, RmsNormOp, SoftmaxOp, ReduceOp>(op);
}

bool swage::isElementwiseOp(Operation *op) {
  if (isa<CopyOp>(op))
    return true;
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  return isa<RankedTensorType>(op->getResult(0).getType()) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

Type swage::scalarType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 32);
  return isa<FloatType>(element) && !element.isF64() ? Float32Type::get(element.getContext())
                                                     : element;
}

static Type elementType(Value value) { return getElementTypeOrSelf(value.getType()); }

KernelBuilder::KernelBuilder(const SymbolicShapes &shapes, const llvm::SetVector<Operation *> &ops,
                             const llvm::DenseSet<Operation *> &inlined, ArrayRef<Value> outputs)
    : shapes(shapes), ops(ops), inlined(inlined), outputs(outputs.begin(), outputs.end()) {}

std::nullopt_t KernelBuilder::refuse(const Twine &message) {
  if (why.empty())
    why = message.str();
  return std::nullopt;
}

bool KernelBuilder::isComputed(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && (ops.contains(op) || inlined.contains(op));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

std::vector<const void *> swage::keyOf(Value value, const Relation &relation, AffineMap extents) {
  std::vector<const void *> key{value.getAsOpaquePointer(), extents.getAsOpaquePointer()};
  for (const LinearAccess &access : relation) {
    key.push_back(access.offset.getAsOpaquePointer());
    for (AffineExpr stride : access.strides)
      key.push_back(stride.getAsOpaquePointer());
    key.push_back(nullptr);
  }
  return key;
}

static Value roundTo(OpBuilder &builder, Value scalar, Type element, Location loc) {
  if (element == scalar.getType() || !isa<FloatType>(element))
    return scalar;
  if (auto wide = scalar.getDefiningOp<arith::ExtFOp>(); wide && wide.getIn().getType() == element)
    return scalar;
  Value narrow = arith::TruncFOp::create(builder, loc, element, scalar);
  return arith::ExtFOp::create(builder, loc, scalarType(element), narrow);
}

int64_t swage::alignmentOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto attr = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "swage.alignment");
    return attr ? attr.getInt() : 16;
  }
  int64_t align = 256;
  for (OpOperand &use : tensor.getUses())
    if (auto ret = dyn_cast<func::ReturnOp>(use.getOwner())) {
      auto function = cast<func::FuncOp>(ret->getParentOp());
      auto attr =
          function.getResultAttrOfType<IntegerAttr>(use.getOperandNumber(), "swage.alignment");
      align = std::min<int64_t>(align, attr ? attr.getInt() : 16);
    }
  return align;
}

/// Those of the values that are evaluated, or null where they are the kernel's.
AffineMap KernelBuilder::ownExtents() const {
  return hasOwnExtents ? AffineMap::get(0, shapes.getSymbols().size(), extents, context())
                       : AffineMap();
}

Value KernelBuilder::load(Value tensor, const Relation &relation) {
  unsigned symbols = shapes.getSymbols().size();
  auto view = ViewAttr::get(context(), numberOf(tensor), elementType(tensor),
                            AffineMap::get(0, symbols, shapes.shapeOf(tensor), context()),
                            flatten(relation, tensor).map(symbols), alignmentOf(tensor),
                            Source::Memory, ownExtents());
  return addInput(view, scalarType(elementType(tensor)), tensor.getLoc());
}

/// An input that is made from its coordinates: the position along one dimension, or in the whole.
Value KernelBuilder::loadComputed(Value value, const Relation &relation) {
  unsigned symbols = shapes.getSymbols().size();
  locations.push_back(value.getLoc());
  if (auto iota = value.getDefiningOp<IotaOp>()) {
    auto view = ViewAttr::get(
        context(), /*tensor=*/-1, elementType(value), AffineMap::get(0, symbols, {}, context()),
        relation[iota.getDim()].map(symbols), /*align=*/1, Source::Coordinate);
    return addInput(view, elementType(value), value.getLoc());
  }
  Value state = value.getDefiningOp<RandomOp>().getState();
  auto view =
      ViewAttr::get(context(), numberOf(state), elementType(value),
                    AffineMap::get(0, symbols, shapes.shapeOf(state), context()),
                    flatten(relation, value).map(symbols), alignmentOf(state), Source::Random);
  return addInput(view, elementType(value), value.getLoc());
}

/// The body's argument for a view, which is a new one unless there is one like it.
Value KernelBuilder::addInput(ViewAttr view, Type type, Location loc) {
  for (auto [i, known] : llvm::enumerate(inputViews))
    if (known == view)
      return body->getArgument(i);
  inputViews.push_back(view);
  return body->addArgument(type, loc);
}

int64_t KernelBuilder::numberOf(Value tensor) {
  auto it = llvm::find(tensors, tensor);
  int64_t position = it - tensors.begin();
  if (it == tensors.end())
    tensors.push_back(tensor);
  return position;
}

/// A number as the body holds it.
Value KernelBuilder::constant(TypedAttr attr, Location loc) {
  Type type = scalarType(attr.getType());
  if (auto number = dyn_cast<FloatAttr>(attr))
    attr = FloatAttr::get(type, number.getValueAsDouble());
  else if (auto number = dyn_cast<IntegerAttr>(attr); number && attr.getType() != type)
    attr = IntegerAttr::get(type, number.getValue().sextOrTrunc(type.getIntOrFloatBitWidth()));
  return arith::ConstantOp::create(*builder, loc, attr);
}

Value KernelBuilder::evaluate(Value value, const Relation &relation) {
  std::vector<const void *> key = keyOf(value, relation, ownExtents());
  if (auto it = scalars.find(key); it != scalars.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  Value scalar;
  Attribute elements;
  if (op && matchPattern(op, m_Constant(&elements))) {
    auto dense = dyn_cast<SplatElementsAttr>(elements);
    if (!dense)
      return refuse("a constant that is no splat must be an argument"), Value();
    scalar = constant(dense.getSplatValue<TypedAttr>(), op->getLoc());
  } else if (op && isIndexOp(op)) {
    locations.push_back(op->getLoc());
    std::optional<Relation> operand = pull(op, relation);
    if (!operand)
      return {};
    scalar = evaluate(op->getOperand(0), *operand);
  } else if (auto paged = dyn_cast_or_null<PagesOp>(op)) {
    scalar = evaluatePages(paged, relation);
  } else if (op && isSourceOp(op)) {
    scalar = loadComputed(value, relation);
  } else if (appends.contains(op)) {
    scalar = load(memoryOf(cast<AppendOp>(op).getCache()), relation);
  } else if (isComputed(value)) {
    scalar = compute(cast<OpResult>(value), relation);
    // A value that is also an output is used as rounded, so that every user of it sees what was
    // stored.
    if (scalar && outputs.contains(value))
      scalar = roundTo(*builder, scalar, elementType(value), value.getLoc());
  } else {
    scalar = load(value, relation);
  }
  if (scalar)
    scalars[key] = scalar;
  return scalar;
}

Value KernelBuilder::compute(OpResult result, const Relation &relation) {
  Operation *op = result.getOwner();
  if (isa<AttentionOp>(op))
    return computeAttention(result);
  if (isCollectiveOp(op))
    return computeCollective(result, relation);
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    std::optional<std::pair<Value, Relation>> part = partAt(concat, relation);
    if (!part)
      return refuse("a concatenation is written, not read"), Value();
    locations.push_back(op->getLoc());
    return evaluate(part->first, part->second);
  }
  if (isa<AppendOp>(op))
    return refuse("a cache is read by another kernel than the one that adds to it"), Value();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value scalar = evaluate(operand, relation);
    if (!scalar)
      return {};
    operands.push_back(scalar);
  }
  locations.push_back(op->getLoc());
  return computeScalar(*builder, op, operands);
}

Value swage::computeScalar(OpBuilder &builder, Operation *op, ArrayRef<Value> operands) {
  if (isa<CopyOp>(op))
    return operands.front();
  Type from = elementType(op->getOperand(0)), to = elementType(op->getResult(0));
  if (isa<arith::ExtFOp>(op) && scalarType(from) == scalarType(to))
    return operands.front();
  if (isa<arith::TruncFOp>(op)) {
    Value scalar = operands.front();
    if (op->hasAttr(kRoundsAsStored) && scalarType(to) == scalar.getType())
      return scalar;
    Value narrow = arith::TruncFOp::create(builder, op->getLoc(), to, scalar);
    return to == scalarType(to)
               ? narrow
               : arith::ExtFOp::create(builder, op->getLoc(), scalarType(to), narrow);
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value scalar = operands.front();
    unsigned width = scalar.getType().getIntOrFloatBitWidth(),
             wanted = scalarType(to).getIntOrFloatBitWidth();
    if (wanted < width)
      return arith::TruncIOp::create(builder, op->getLoc(), scalarType(to), scalar);
    if (wanted == width)
      return scalar;
    // What is held of an index has its sign.
    if (isa<arith::IndexCastOp>(op) || from.isIndex())
      return arith::ExtSIOp::create(builder, op->getLoc(), scalarType(to), scalar);
    return arith::ExtUIOp::create(builder, op->getLoc(), scalarType(to), scalar);
  }
  if (isa<arith::BitcastOp>(op) && (scalarType(from) != from || scalarType(to) != to))
    return {};
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(scalarType(to));
  state.addAttributes(op->getAttrs());
  Value scalar = builder.create(state)->getResult(0);
  // An explicit conversion to 16 bits rounds, whatever it converts from.
  return isa<arith::SIToFPOp, arith::UIToFPOp>(op) ? roundTo(builder, scalar, to, op->getLoc())
                                                   : scalar;
}

/// What softmax works on: what is masked is -inf, which its sum and its results do not notice.
Value KernelBuilder::softmaxOperand(SoftmaxOp op, Value x) {
  Location loc = op.getLoc();
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(*builder, loc, FloatAttr::get(x.getType(), number));
  };
  if (op.getScale())
    x = arith::MulFOp::create(*builder, loc, x, constant(op.getScale()->convertToDouble()));
  if (!op.getMask())
    return x;
  Value keep = evaluate(op.getMask(), relations[op.getX()]);
  return keep ? arith::SelectOp::create(*builder, loc, keep, x, constant(-INFINITY)).getResult()
              : Value();
}

bool swage::mayComeLater(Type type) { return isa<FloatType>(type) || type.isInteger(32); }

static bool mayGoOverGroups(Collective kind, Type type) {
  return kind == Collective::AbsMax || (kind == Collective::Sum && type.isInteger(32));
}

/// Whether two norms differ in nothing but gamma and beta: then they are one collective.
static bool isSameNorm(Operation *a, Operation *b) {
  return a == b || (isa<LayerNormOp, RmsNormOp>(a) && a->getName() == b->getName() &&
                    a->getOperand(0) == b->getOperand(0) &&
                    elementType(a->getResult(0)).isF64() == elementType(b->getResult(0)).isF64() &&
                    a->getAttr("axis") == b->getAttr("axis") &&
                    a->getAttr("epsilon") == b->getAttr("epsilon"));
}

/// The place among the kernel's collectives.
std::optional<unsigned> KernelBuilder::numberOf(Operation *collective) const {
  auto *it = llvm::find_if(collectives, [&](Operation *op) { return isSameNorm(collective, op); });
  return it == collectives.end() ? std::nullopt : std::optional(it - collectives.begin());
}

Value KernelBuilder::computeCollective(OpResult result, const Relation &relation) {
  Operation *op = result.getOwner();
  Location loc = op->getLoc();
  unsigned position = *numberOf(op);
  CollectiveOp &collectiveScalar = collectiveScalars[position];
  if (!collectiveScalar) {
    locations.push_back(loc);
    // Collectives stand in the order of the graph, also those that depend on none before.
    for (unsigned i = 0; i < position; ++i) {
      auto before = relations.find(collectives[i]->getResult(0));
      if (!collectiveScalars[i] &&
          (before == relations.end() || !evaluate(before->first, before->second)))
        return {};
    }
    // What reaches a further collective through row results alone says nothing of its operand.
    auto operand = relations.find(op->getOperand(0));
    if (operand == relations.end())
      return refuse("nothing says how a further collective's rows lie to the first one's"), Value();
    Value x = evaluate(operand->first, operand->second);
    if (!x)
      return {};
    Type type = x.getType();
    FloatAttr epsilon;
    bool zeroRows = false;
    Collective kind;
    if (auto norm = dyn_cast<LayerNormOp>(op)) {
      kind = Collective::LayerNorm;
      epsilon = norm.getEpsilonAttr();
    } else if (auto norm = dyn_cast<RmsNormOp>(op)) {
      kind = Collective::RmsNorm;
      epsilon = norm.getEpsilonAttr();
    } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
      kind = softmax.getLog() ? Collective::LogSoftmax : Collective::Softmax;
      zeroRows = softmax.getMask() && !softmax.getNanRows();
      if (!(x = softmaxOperand(softmax, x)))
        return {};
    } else {
      kind = static_cast<Collective>(cast<ReduceOp>(op).getKind());
      auto abs = x.getDefiningOp<math::AbsFOp>();
      if (abs && kind == Collective::Max) {
        kind = Collective::AbsMax;
        x = abs.getOperand();
      }
    }
    // What becomes f64 is computed in it.
    if (Type wide = elementType(op->getResult(0));
        wide.isF64() && isa<FloatType>(type) && !type.isF64()) {
      x = arith::ExtFOp::create(*builder, loc, wide, x);
      type = wide;
    }
    size_t count = hasElementResult(kind) + statisticsOf(kind);
    DenseI64ArrayAttr dims;
    if (position > 0) {
      if (!mayComeLater(type))
        return refuse("a collective behind another one is of floats or integers of 32 bits"),
               Value();
      if (!findGroups(op, dims))
        return {};
      if (dims && !mayGoOverGroups(kind, type))
        return refuse("a collective over groups of the first one's rows is the largest absolute "
                      "value or a sum of integers"),
               Value();
      if (dims && op != collectives.back())
        return refuse("a collective over groups of rows comes last"), Value();
      // Values of another type than the first collective's have registers of their own in groups.
      if (!dims && type != collectiveScalars[0].getValue().getType())
        return refuse("two collectives over one row are of two types"), Value();
    }
    collectiveScalar = CollectiveOp::create(*builder, loc, SmallVector<Type>(count, type), kind, x,
                                            /*sink=*/Value(), epsilon, dims, zeroRows,
                                            /*batch_invariant=*/false);
  }
  auto cast = [&](Value scalar, Type type) -> Value {
    if (scalar.getType() == type)
      return scalar;
    return type.isF64() ? arith::ExtFOp::create(*builder, loc, type, scalar).getResult()
                        : arith::TruncFOp::create(*builder, loc, type, scalar).getResult();
  };
  Type resultType = scalarType(elementType(result));
  if (isa<SoftmaxOp>(op) && result.getResultNumber() == 1) {
    Value logSum = math::LogOp::create(*builder, loc, collectiveScalar.getValues()[2]);
    return cast(
        arith::AddFOp::create(*builder, loc, collectiveScalar.getValues()[1], logSum).getResult(),
        resultType);
  }
  Value scalar = collectiveScalar.getValues()[result.getResultNumber()];
  if (result.getResultNumber() > 0 || isa<ReduceOp, SoftmaxOp>(op))
    return cast(scalar, resultType);
  Relation affine(relation.begin() + mlir::cast<IntegerAttr>(op->getAttr("axis")).getInt(),
                  relation.end());
  auto parameter = [&](Value tensor) -> Value {
    Value factor = evaluate(tensor, affine);
    return factor ? cast(factor, scalar.getType()) : Value();
  };
  auto layerNorm = dyn_cast<LayerNormOp>(op);
  if (Value gamma = layerNorm ? layerNorm.getGamma() : mlir::cast<RmsNormOp>(op).getGamma()) {
    Value factor = parameter(gamma);
    if (!factor)
      return {};
    scalar = arith::MulFOp::create(*builder, loc, scalar, factor);
  }
  if (Value beta = layerNorm ? layerNorm.getBeta() : Value()) {
    Value term = parameter(beta);
    if (!term)
      return {};
    scalar = arith::AddFOp::create(*builder, loc, scalar, term);
  }
  return cast(scalar, resultType);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The dimensions of the iteration space that a collective combines values over.
SmallVector<int64_t> KernelBuilder::reducedBy(Operation *op) {
  SmallVector<int64_t> found;
  const Relation &x = relations[op->getOperand(0)];
  int64_t rank = x.size();
  for (unsigned j = 0; j < extents.size(); ++j)
    for (int64_t dim = 0; dim < rank; ++dim) {
      bool reduces = false;
      if (auto reduce = dyn_cast<ReduceOp>(op))
        reduces = llvm::is_contained(reduce.getDims(), dim);
      else if (auto softmax = dyn_cast<SoftmaxOp>(op))
        reduces = dim == static_cast<int64_t>(softmax.getAxis());
      else
        reduces = dim >= cast<IntegerAttr>(op->getAttr("axis")).getInt();
      if (reduces && constantSize(x[dim].strides[j]) != 0)
        found.push_back(j);
    }
  return found;
}

/// Elements of a group, so that it belongs to lanes of one warp.
static constexpr int64_t kLeastGrouped = 16, kMostGrouped = 512;

/// Whether a collective walks the first one's rows, or groups of them; then `dims` says over what.
bool KernelBuilder::findGroups(Operation *op, DenseI64ArrayAttr &dims) {
  SmallVector<int64_t> grouped = reducedBy(op);
  if (grouped == reduced)
    return true;
  AffineExpr one = getAffineConstantExpr(1, context());
  // Extents of 1 belong to either.
  auto isSame = [&](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return llvm::all_of(
        a, [&](int64_t dim) { return extents[dim] == one || llvm::is_contained(b, dim); });
  };
  if (isSame(grouped, reduced) && isSame(reduced, grouped))
    return true;
  if (grouped.empty() || grouped.size() > reduced.size() ||
      ArrayRef<int64_t>(reduced).take_back(grouped.size()) != ArrayRef<int64_t>(grouped))
    return refuse("two collectives go over different rows"), false;
  int64_t size = 1;
  for (int64_t dim : grouped)
    size *= std::clamp<int64_t>(constantSize(extents[dim]).value_or(0), 0, kMostGrouped + 1);
  if (size < kLeastGrouped || size > kMostGrouped || !llvm::isPowerOf2_64(size))
    return refuse("the groups of a collective are of a power of two from " + Twine(kLeastGrouped) +
                  " to " + Twine(kMostGrouped) + " elements"),
           false;
  dims = DenseI64ArrayAttr::get(context(), grouped);
  return true;
}

std::optional<BuiltKernel> KernelBuilder::build() {
  for (Operation *op : ops) {
    if (auto found = dyn_cast<AttentionOp>(op)) {
      if (attention)
        return refuse("a kernel has one attention");
      attention = found;
    }
    if (isCollectiveOp(op) && !numberOf(op)) {
      if (collectives.size() == kMaxCollectives)
        return refuse("a kernel has at most " + Twine(kMaxCollectives) + " collectives");
      collectives.push_back(op);
    }
  }
  if (attention && !collectives.empty())
    return refuse("attention is the only collective of its kernel");
  Value seed = attention ? attention.getResult() : chooseSeed();
  for (unsigned round = 0;; ++round) {
    if (round == 64)
      return refuse("the iteration space needs too many splits");
    why.clear();
    wanted.reset();
    scalars.clear();
    rowNumbers.clear();
    collectiveScalars = {};
    pages.clear();
    reduced.clear();
    tensors.clear();
    inputViews.clear();
    outputViews.clear();
    locations.clear();

    Location loc = UnknownLoc::get(context());
    OpBuilder outer(context());
    OperationState state(loc, KernelOp::getOperationName());
    state.addRegion();
    OwningOpRef<KernelOp> kernel(cast<KernelOp>(Operation::create(state)));
    body = &kernel->getBody().emplaceBlock();
    builder = std::make_unique<OpBuilder>(OpBuilder::atBlockEnd(body));

    bool built = (attention ? spanAttention() : (span(seed), true)) && propagate(seed);
    if (built && !collectives.empty())
      reduced = reducedBy(collectives.front());
    if (built && attention)
      putResultFirst();
    SmallVector<Value> yields;
    for (Value output : outputs)
      built = built && storeOutput(output, yields);
    built = built && storeQueries(yields);
    if (built) {
      YieldOp::create(*builder, loc, yields);
      restateElements(*kernel);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
        if (op.use_empty() && !isa<YieldOp>(op))
          op.erase();
      if (attention && llvm::range_size(body->getOps<ContractOp>()) != 2)
        return refuse("attention multiplies queries and keys, and weights and values, but one of "
                      "these products is not used");
      return finish(cast<KernelOp>(kernel.release()));
    }
    if (!wanted)
      return std::nullopt;
    splits.push_back(*wanted);
  }
}

/// Leaves the kernel only the symbols that it uses and gives it its attributes.
BuiltKernel KernelBuilder::finish(KernelOp kernel) {
  AffineMap extentMap = AffineMap::get(0, shapes.getSymbols().size(), extents, context());
  llvm::SmallBitVector used(shapes.getSymbols().size());
  auto mark = [&](AffineMap map) {
    map.walkExprs([&](AffineExpr expr) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        used.set(symbol.getPosition());
    });
  };
  mark(extentMap);
  for (Attribute view : llvm::concat<Attribute>(inputViews, outputViews)) {
    mark(cast<ViewAttr>(view).getShape());
    mark(cast<ViewAttr>(view).getAccess());
    if (AffineMap extents = cast<ViewAttr>(view).getExtents())
      mark(extents);
  }
  BuiltKernel built;
  SmallVector<AffineExpr> renamed(used.size(), getAffineConstantExpr(0, context()));
  for (unsigned symbol : used.set_bits()) {
    renamed[symbol] = getAffineSymbolExpr(built.symbols.size(), context());
    built.symbols.push_back(symbol);
  }
  unsigned count = built.symbols.size();
  auto rename = [&](AffineMap map) {
    SmallVector<AffineExpr> dims;
    for (unsigned i = 0; i < map.getNumDims(); ++i)
      dims.push_back(getAffineDimExpr(i, context()));
    return map.replaceDimsAndSymbols(dims, renamed, map.getNumDims(), count);
  };
  for (Attribute &view : llvm::concat<Attribute>(inputViews, outputViews)) {
    auto old = cast<ViewAttr>(view);
    view = ViewAttr::get(context(), old.getTensor(), old.getElement(), rename(old.getShape()),
                         rename(old.getAccess()), old.getAlign(), old.getSource(),
                         old.getExtents() ? rename(old.getExtents()) : AffineMap());
  }
  Builder attrs(context());
  kernel->setLoc(FusedLoc::get(context(), locations));
  kernel.setSymName("kernel");
  kernel.setSymbols(count);
  SmallVector<int64_t> multiples, limits;
  for (unsigned symbol : built.symbols) {
    multiples.push_back(shapes.facts().multipleOf(symbol));
    limits.push_back(shapes.facts().limitOf(symbol));
  }
  setFacts(kernel, {multiples, limits});
  kernel.setExtents(rename(extentMap));
  kernel.setReduced(reduced);
  kernel.setInputsAttr(attrs.getArrayAttr(inputViews));
  kernel.setOutputsAttr(attrs.getArrayAttr(outputViews));
  built.kernel = kernel;
  built.tensors = tensors;
  built.outputs.assign(outputs.begin(), outputs.end());
  return built;
}
