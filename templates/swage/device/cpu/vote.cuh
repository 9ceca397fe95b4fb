// Votes and reductions over the lanes of a warp.
#pragma once

#include "swage/device/cpu/warp.cuh"

namespace swage {

__device__ __forceinline__ unsigned ballot(bool predicate, unsigned lanes = kAllLanes) {
  return simt::abi->ballot(lanes, predicate, "ballot");
}
__device__ __forceinline__ bool anyLane(bool predicate, unsigned lanes = kAllLanes) {
  return simt::abi->ballot(lanes, predicate, "anyLane") != 0;
}
__device__ __forceinline__ bool allLanes(bool predicate, unsigned lanes = kAllLanes) {
  // Lanes that a partial warp does not have do not vote.
  return simt::abi->ballot(lanes, !predicate, "allLanes") == 0;
}

template <class T>
__device__ __forceinline__ unsigned matchLanes(T value, unsigned lanes = kAllLanes) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4)
    return simt::abi->match(lanes, __builtin_bit_cast(unsigned, value));
  else
    return simt::abi->match(lanes, __builtin_bit_cast(unsigned long long, value));
}

enum class LaneOp { Add, Min, Max, And, Or, Xor };

namespace simt {
constexpr ReduceOp reduceOp(LaneOp op) {
  return op == LaneOp::Add   ? ReduceOp::Add
         : op == LaneOp::Min ? ReduceOp::Min
         : op == LaneOp::Max ? ReduceOp::Max
         : op == LaneOp::And ? ReduceOp::And
         : op == LaneOp::Or  ? ReduceOp::Or
                             : ReduceOp::Xor;
}
} // namespace simt

template <LaneOp Op>
__device__ __forceinline__ unsigned reduceLanes(unsigned value, unsigned lanes = kAllLanes) {
  return simt::abi->reduce(lanes, value, simt::reduceOp(Op), simt::NumberKind::Unsigned);
}
template <LaneOp Op>
__device__ __forceinline__ int reduceLanes(int value, unsigned lanes = kAllLanes) {
  return static_cast<int>(simt::abi->reduce(lanes, static_cast<unsigned>(value), simt::reduceOp(Op),
                                            simt::NumberKind::Signed));
}

__device__ __forceinline__ bool electLane() { return simt::abi->elect(); }

} // namespace swage
