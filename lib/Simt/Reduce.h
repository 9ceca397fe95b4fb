//===- Reduce.h - Two integers into one ------------------------------------===//
#ifndef SWAGE_LIB_SIMT_REDUCE_H
#define SWAGE_LIB_SIMT_REDUCE_H

#include "swage/device/cpu/abi.cuh"

#include <algorithm>
#include <type_traits>

namespace swage::simt {

/// Sums wrap around.
template <class Number> Number combined(Number a, Number b, ReduceOp op) {
  switch (op) {
  case ReduceOp::Add:
    return Number(std::make_unsigned_t<Number>(a) + std::make_unsigned_t<Number>(b));
  case ReduceOp::Min:
    return std::min(a, b);
  case ReduceOp::Max:
    return std::max(a, b);
  case ReduceOp::And:
    return a & b;
  case ReduceOp::Or:
    return a | b;
  case ReduceOp::Xor:
    return a ^ b;
  }
  return a;
}

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_REDUCE_H
