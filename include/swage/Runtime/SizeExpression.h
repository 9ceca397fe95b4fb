//===- SizeExpression.h - Arithmetic on runtime sizes ---------------------===//
//
// What a launch needs to know and only the shapes tell (blocks, extents, strides, bytes), as plain
// data: the runtime evaluates it without MLIR, and bundles hold it.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_SIZEEXPRESSION_H
#define SWAGE_RUNTIME_SIZEEXPRESSION_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace swage {

/// An integer expression over the runtime sizes of a kernel, in postfix order.  Divisors are
/// positive; division rounds as its name says.
struct SizeExpression {
  enum class Op : uint8_t { Constant, Symbol, Add, Multiply, FloorDivide, CeilDivide, Modulo, Min };
  struct Step {
    Op op;
    int64_t value; ///< of a constant; the number of a symbol
  };
  std::vector<Step> steps;

  /// Values that may wait for their operation at a time.
  static constexpr size_t kMaxDepth = 64;

  /// Nothing where the arithmetic leaves 64 bits, divides by what is not positive, or the steps are
  /// malformed or need more than kMaxDepth.
  std::optional<int64_t> evaluate(const std::vector<int64_t> &symbols) const;
};

} // namespace swage

#endif // SWAGE_RUNTIME_SIZEEXPRESSION_H
