//===- SizeExpression.cpp - Arithmetic on runtime sizes -------------------===//

#include "swage/Runtime/SizeExpression.h"

#include <algorithm>

using namespace swage;

/// Nothing of a division by what is not positive, so that no quotient leaves 64 bits either.
static bool divide(SizeExpression::Op op, int64_t by, int64_t &value) {
  if (by <= 0)
    return false;
  int64_t quotient = value / by, remainder = value % by;
  bool isBelow = remainder<0, isAbove = remainder> 0; // than the quotient, which is truncated
  switch (op) {
  case SizeExpression::Op::FloorDivide:
    value = quotient - isBelow;
    return true;
  case SizeExpression::Op::CeilDivide:
    value = quotient + isAbove;
    return true;
  case SizeExpression::Op::Modulo:
    value = isBelow ? remainder + by : remainder;
    return true;
  default:
    return false;
  }
}

std::optional<int64_t> SizeExpression::evaluate(const std::vector<int64_t> &symbols) const {
  int64_t stack[kMaxDepth];
  size_t depth = 0;
  for (const Step &step : steps) {
    if (step.op == Op::Constant || step.op == Op::Symbol) {
      bool isKnown =
          step.op == Op::Constant || (step.value >= 0 && uint64_t(step.value) < symbols.size());
      if (!isKnown || depth == kMaxDepth)
        return std::nullopt;
      stack[depth++] = step.op == Op::Constant ? step.value : symbols[size_t(step.value)];
      continue;
    }
    if (depth < 2)
      return std::nullopt;
    int64_t right = stack[--depth];
    int64_t &value = stack[depth - 1];
    if (step.op == Op::Min) {
      value = std::min(value, right);
      continue;
    }
    bool fits = step.op == Op::Add        ? !__builtin_add_overflow(value, right, &value)
                : step.op == Op::Multiply ? !__builtin_mul_overflow(value, right, &value)
                                          : divide(step.op, right, value);
    if (!fits)
      return std::nullopt;
  }
  if (depth != 1)
    return std::nullopt;
  return stack[0];
}
