//===- FuseSiblings.cpp - Kernels that are one though nothing flows -------===//
//
// Kernels that walk the same iteration space, or the same rows, and share an operand: it is read
// once.
//
//===----------------------------------------------------------------------===//

#include "Fuser.h"
#include "RepeatKernel.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace swage;

/// Joins two kernels over one iteration space that share an operand and do not depend on each
/// other. What adds rows to caches is little work: there the space of one may go into the other's.
bool Fuser::trySiblings(unsigned a, unsigned b) {
  BuiltKernel &first = *groups[a].built, &second = *groups[b].built;
  KernelOp x = *first.kernel, y = *second.kernel;
  if (!x.getReduced().empty() || !y.getReduced().empty())
    return false;
  OwningOpRef<KernelOp> repeated;
  if ((x.writesRows() || y.writesRows()) && x.getExtents() != y.getExtents()) {
    if (repeated = repeatOver(y, x); repeated)
      y = *repeated;
    else if (repeated = repeatOver(x, y); repeated)
      x = *repeated;
  }
  if (x.getExtents() != y.getExtents() || first.symbols != second.symbols ||
      x.getInputs().size() + y.getInputs().size() > (repeated ? 32 : 12) ||
      x.getOutputs().size() + y.getOutputs().size() > kMaxViews - 12 ||
      bodyOps(x) + bodyOps(y) > kMaxBodyOps)
    return false;
  if (!llvm::any_of(second.tensors,
                    [&](Value tensor) { return llvm::is_contained(first.tensors, tensor); }))
    return false;
  if (reaches(a, b, false) || reaches(b, a, false))
    return false;
  OwningOpRef<KernelOp> merged = cast<KernelOp>(x->clone());
  SmallVector<Value> tensors = first.tensors;
  SmallVector<Attribute> inputs(x.getInputs().begin(), x.getInputs().end());
  SmallVector<Attribute> outputs(x.getOutputs().begin(), x.getOutputs().end());
  Block &body = merged->getBody().front();
  auto positionOf = [&](Value tensor) -> int64_t {
    auto *known = llvm::find(tensors, tensor);
    if (known == tensors.end())
      tensors.push_back(tensor), known = tensors.end() - 1;
    return known - tensors.begin();
  };
  IRMapping mapping;
  for (auto [i, view] : llvm::enumerate(y.getInputs().getAsRange<ViewAttr>())) {
    int64_t position = view.getTensor();
    if (view.getSource() != Source::Coordinate)
      position = positionOf(second.tensors[position]);
    auto moved = ViewAttr::get(view.getContext(), position, view.getElement(), view.getShape(),
                               view.getAccess(), view.getAlign(), view.getSource());
    int64_t at = llvm::find(inputs, moved) - inputs.begin();
    if (at == static_cast<int64_t>(inputs.size())) {
      inputs.push_back(moved);
      body.addArgument(y.getBody().getArgument(i).getType(), y.getBody().getArgument(i).getLoc());
    }
    mapping.map(y.getBody().getArgument(i), body.getArgument(at));
  }
  for (ViewAttr view : y.getOutputs().getAsRange<ViewAttr>())
    outputs.push_back(ViewAttr::get(
        view.getContext(),
        isRow(view.getSource()) ? positionOf(second.tensors[view.getTensor()])
                                : view.getTensor() + first.outputs.size(),
        view.getElement(), view.getShape(), view.getAccess(), view.getAlign(), view.getSource()));
  auto yield = cast<YieldOp>(body.getTerminator());
  OpBuilder builder(yield);
  for (Operation &op : y.getBody().front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> values(yield.getValues());
  for (Value value : cast<YieldOp>(y.getBody().front().getTerminator()).getValues())
    values.push_back(mapping.lookupOrDefault(value));
  yield->setOperands(values);
  Builder attrs(function.getContext());
  merged->setInputsAttr(attrs.getArrayAttr(inputs));
  merged->setOutputsAttr(attrs.getArrayAttr(outputs));
  merged->getOperation()->setLoc(FusedLoc::get(function.getContext(), {x.getLoc(), y.getLoc()}));
  if (!accessProblem(*merged).empty())
    return false;
  (*groups[b].ops.begin())->emitRemark()
      << "runs in one kernel with " << (*groups[a].ops.begin())->getName().getStringRef()
      << ": the same iteration space and a common operand";
  first.kernel = std::move(merged);
  first.tensors = tensors;
  first.outputs.append(second.outputs);
  groups[a].siblings.push_back(b);
  groups[b].siblings.push_back(a);
  groups[b].built.reset();
  return true;
}

/// Joins two kernels with collectives that go over the same rows, where the first one reads an
/// operand that the second one is made of, and that do not depend on each other.
bool Fuser::tryRows(unsigned a, unsigned b) {
  BuiltKernel &first = *groups[a].built, &second = *groups[b].built;
  if (first.kernel->getReduced().empty() || second.kernel->getReduced().empty() ||
      first.kernel->isAttention() || second.kernel->isAttention() || !groups[a].siblings.empty() ||
      !groups[b].siblings.empty() ||
      !llvm::any_of(second.tensors,
                    [&](Value tensor) { return llvm::is_contained(first.tensors, tensor); }) ||
      reaches(a, b, false) || reaches(b, a, false))
    return false;
  OpSet all = groups[a].ops;
  all.insert(groups[b].ops.begin(), groups[b].ops.end());
  std::string why;
  return build(all, why) && tryMerge(b, a, groups[b].ops.front());
}

void Fuser::mergeSiblings() {
  for (unsigned a = 0; a < groups.size(); ++a)
    for (unsigned b = a + 1; b < groups.size(); ++b)
      if (groups[a].built && groups[b].built)
        if (!trySiblings(a, b))
          tryRows(a, b);
}
