//===- RepeatKernel.cpp - A kernel over another's iteration space ---------===//

#include "RepeatKernel.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace swage;

/// The dimensions that are not known to have a single coordinate.
static SmallVector<unsigned> longDims(KernelOp kernel) {
  SmallVector<unsigned> dims;
  for (auto [dim, extent] : llvm::enumerate(kernel.getExtents().getResults()))
    if (constantSize(extent) != 1)
      dims.push_back(dim);
  return dims;
}

namespace {
/// How one iteration space goes over another.
struct Repetition {
  SmallVector<unsigned> from, to; ///< dimensions that stand for each other
  size_t repeated = 0;            ///< position of the shorter one among them
  int64_t extent = 0, count = 1;  ///< of it, and how many times

  static std::optional<Repetition> of(KernelOp kernel, KernelOp like);
  /// The view of the `number`th time.
  ViewAttr view(ViewAttr view, int64_t number, KernelOp like) const;
};
} // namespace

std::optional<Repetition> Repetition::of(KernelOp kernel, KernelOp like) {
  Repetition found;
  found.from = longDims(kernel);
  found.to = longDims(like);
  if (found.from.size() != found.to.size())
    return std::nullopt;
  for (size_t i = 0; i < found.from.size(); ++i) {
    AffineExpr mine = kernel.getExtents().getResult(found.from[i]),
               other = like.getExtents().getResult(found.to[i]);
    if (mine == other)
      continue;
    std::optional<int64_t> a = constantSize(mine), b = constantSize(other);
    if (!a || !b || *b == 0 || *a % *b != 0 || found.count != 1)
      return std::nullopt;
    found.repeated = i;
    found.extent = *b;
    found.count = *a / *b;
  }
  return found;
}

ViewAttr Repetition::view(ViewAttr view, int64_t number, KernelOp like) const {
  MLIRContext *context = view.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  LinearAccess own = *LinearAccess::of(view.getAccess());
  LinearAccess access{SmallVector<AffineExpr>(like.getRank(), zero), own.offset};
  for (auto [a, b] : llvm::zip_equal(from, to))
    access.strides[b] = own.strides[a];
  if (number > 0)
    access.offset =
        addSizes(own.offset, multiplySizes(own.strides[from[repeated]],
                                           getAffineConstantExpr(number * extent, context)));
  return ViewAttr::get(context, view.getTensor(), view.getElement(), view.getShape(),
                       access.map(view.getAccess().getNumSymbols()), view.getAlign(),
                       view.getSource());
}

OwningOpRef<KernelOp> swage::repeatOver(KernelOp kernel, KernelOp like) {
  std::optional<Repetition> repetition = Repetition::of(kernel, like);
  if (!repetition)
    return {};
  OwningOpRef<KernelOp> result = cast<KernelOp>(kernel->clone());
  Block &from = kernel.getBody().front(), &to = result->getBody().front();
  auto end = cast<YieldOp>(to.getTerminator());
  OpBuilder builder(end);
  SmallVector<Attribute> inputs, outputs;
  SmallVector<Value> values(end.getValues());
  for (int64_t number = 0; number < repetition->count; ++number) {
    IRMapping mapping;
    for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>())) {
      Attribute repeated = repetition->view(view, number, like);
      BlockArgument argument = from.getArgument(i);
      auto *known = number > 0 ? llvm::find(inputs, repeated) : inputs.end();
      if (number > 0)
        mapping.map(argument, known == inputs.end()
                                  ? to.addArgument(argument.getType(), argument.getLoc())
                                  : to.getArgument(known - inputs.begin()));
      if (known == inputs.end())
        inputs.push_back(repeated);
    }
    for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
      outputs.push_back(repetition->view(view, number, like));
    if (number == 0)
      continue;
    for (Operation &op : from.without_terminator())
      builder.clone(op, mapping);
    for (Value value : cast<YieldOp>(from.getTerminator()).getValues())
      values.push_back(mapping.lookupOrDefault(value));
  }
  end->setOperands(values);
  result->setExtentsAttr(like.getExtentsAttr());
  result->setInputsAttr(builder.getArrayAttr(inputs));
  result->setOutputsAttr(builder.getArrayAttr(outputs));
  return result;
}
