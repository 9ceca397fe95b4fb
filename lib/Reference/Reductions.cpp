//===- Reductions.cpp - Sum, mean, max and min ----------------------------===//

#include "Ops.h"
#include "Rows.h"
#include "swage/Reference/Parallel.h"

namespace swage::reference {

/// The extremum is exact where the operands are. Its error is that of the elements that may be the
/// extremum; any NaN is the result.
template <typename Row> static Number extremum(int64_t n, bool isMax, Row row) {
  Number best = {isMax ? -HUGE_VAL : HUGE_VAL, 0, isMax ? -HUGE_VAL : HUGE_VAL};
  for (int64_t i = 0; i < n; ++i) {
    Number x = row(i);
    best = isMax ? maximum(x, best, /*propagateNaN=*/true) : minimum(x, best, true);
  }
  return best;
}

static int64_t reduceIntegers(Reduction kind, const Value &x, int64_t first, int64_t n) {
  int64_t identity = kind == Reduction::Max ? INT32_MIN : kind == Reduction::Min ? INT32_MAX : 0;
  int64_t result = identity;
  for (int64_t i = 0; i < n; ++i) {
    int64_t element = x.load(first + i).integer;
    if (kind == Reduction::Max)
      result = std::max(result, element);
    else if (kind == Reduction::Min)
      result = std::min(result, element);
    else // i32 sums wrap, in any order to the same result
      result = static_cast<int32_t>(static_cast<uint32_t>(result) + static_cast<uint32_t>(element));
  }
  return result;
}

static Number reduceRow(Reduction kind, const Value &x, int64_t first, int64_t n,
                        Precision precision) {
  auto element = [&](int64_t i) { return x.load(first + i); };
  switch (kind) {
  case Reduction::Max:
    return extremum(n, /*isMax=*/true, element);
  case Reduction::Min:
    return extremum(n, /*isMax=*/false, element);
  case Reduction::Sum:
    return sum(n, element, precision).number;
  case Reduction::Mean:
    return meanOf(sum(n, element, precision), n, precision);
  }
  return {};
}

Value reduce(Reduction kind, const Value &x, llvm::ArrayRef<int64_t> dims, ElementType type,
             Precision precision) {
  // The reduced dimensions go innermost first, so that every row lies in one piece.
  Shape kept, order;
  int64_t length = 1;
  for (int64_t k = 0; k < static_cast<int64_t>(x.shape().size()); ++k)
    if (!llvm::is_contained(dims, k)) {
      kept.push_back(x.shape()[k]);
      order.push_back(k);
    }
  bool moves = false;
  for (int64_t dim : dims) {
    moves |= dim != static_cast<int64_t>(order.size());
    order.push_back(dim);
    length *= x.shape()[dim];
  }
  Value rows = moves ? permute(x, order) : x;
  Value result(type, kept);
  if (!result.isAllocated() || !rows.isAllocated()) {
    return rows.isAllocated() ? result : rows;
  }
  parallelFor(result.size(), rowChunk(length), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      if (isFloat(type))
        result.store(r, reduceRow(kind, rows, r * length, length, precision));
      else {
        Number number;
        number.integer = reduceIntegers(kind, rows, r * length, length);
        for (int64_t i = 0; i < length; ++i)
          number.error = std::max(number.error, rows.load(r * length + i).error);
        result.store(r, number);
      }
    }
  });
  result.samples = std::min(x.samples, result.size());
  result.simplify();
  return result;
}

} // namespace swage::reference
