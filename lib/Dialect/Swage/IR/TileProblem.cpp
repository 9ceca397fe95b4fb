//===- TileProblem.cpp - What tiles turn ----------------------------------===//
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"

using namespace mlir;
using namespace swage;

TileProblem TileProblem::of(KernelOp kernel, unsigned in) {
  TileProblem problem;
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>())
      if (view.getSource() == Source::Memory &&
          LinearAccess::of(view.getAccess())->isTransposed(in, kernel.getRank() - 1)) {
        int64_t bytes = elementBytes(view.getElement());
        problem.widest = std::max(problem.widest, bytes);
        problem.bytes += bytes;
        problem.areInputs |= views == kernel.getInputs();
      }
  return problem;
}

std::pair<int64_t, int64_t> TileProblem::shares(int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                                                int64_t vectorOut) const {
  // Rows of a micro-block, as in the templates.
  if (!areInputs)
    return {tileIn / std::min<int64_t>(4, vectorIn) * (tileOut / vectorOut),
            tileOut * (tileIn / vectorIn)};
  int64_t rows = widest == 1 ? std::min<int64_t>(4, vectorOut) : vectorOut;
  return {tileIn / vectorIn * (tileOut / rows), tileIn * (tileOut / vectorOut)};
}
