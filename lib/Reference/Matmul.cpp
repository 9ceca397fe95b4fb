//===- Matmul.cpp - Products of matrices ----------------------------------===//

#include "Ops.h"
#include "Rows.h"
#include "swage/Reference/Parallel.h"

namespace swage::reference {

/// Operands that are no inputs are rounded to their type, as tensor cores need them.
Value matmul(const Value &a, const Value &b, bool transposeB, ElementType type,
             Precision precision) {
  size_t column = a.shape().size() - 1, row = column - 1;
  int64_t rows = a.shape()[row], depth = a.shape()[column];
  int64_t columns = b.shape()[transposeB ? row : column];
  Shape shape(a.shape());
  shape[column] = columns;
  Value result(type, shape);
  if (!result.isAllocated())
    return result;
  auto operand = [](const Value &x, int64_t i) {
    return x.isExact() ? x.load(i) : storedAs(x.type(), x.load(i));
  };
  int64_t step = transposeB ? 1 : columns;
  parallelFor(result.size(), rowChunk(depth), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t matrix = i / (rows * columns), first = matrix * depth * columns;
      first += i % columns * (transposeB ? depth : 1);
      auto term = [&](int64_t k) {
        return multiply(operand(a, i / columns * depth + k), operand(b, first + k * step),
                        precision);
      };
      result.store(i, sum(depth, term, precision).number);
    }
  });
  result.samples = std::min({a.samples, b.samples, result.size()});
  result.simplify();
  return result;
}

} // namespace swage::reference
