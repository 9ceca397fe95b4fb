// Votes and reductions over the lanes of a warp.  `lanes` as in warp.cuh.
#pragma once

#include "swage/device/cuda/warp.cuh"

namespace swage {

/// The lanes where the predicate holds, one bit each.
__device__ __forceinline__ unsigned ballot(bool predicate, unsigned lanes = kAllLanes) {
  return __ballot_sync(lanes, predicate);
}
__device__ __forceinline__ bool anyLane(bool predicate, unsigned lanes = kAllLanes) {
  return __any_sync(lanes, predicate) != 0;
}
__device__ __forceinline__ bool allLanes(bool predicate, unsigned lanes = kAllLanes) {
  return __all_sync(lanes, predicate) != 0;
}

/// The lanes whose value has the same bits as the own one; 4 and 8 bytes.
template <class T>
__device__ __forceinline__ unsigned matchLanes(T value, unsigned lanes = kAllLanes) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  unsigned same;
  if constexpr (sizeof(T) == 4)
    asm volatile("match.any.sync.b32 %0, %1, %2;"
                 : "=r"(same)
                 : "r"(__builtin_bit_cast(unsigned, value)), "r"(lanes));
  else
    asm volatile("match.any.sync.b64 %0, %1, %2;"
                 : "=r"(same)
                 : "l"(__builtin_bit_cast(unsigned long long, value)), "r"(lanes));
  return same;
}

enum class LaneOp { Add, Min, Max, And, Or, Xor };

/// The values of all `lanes` combined, in one instruction.  Sums wrap around.  8.0.
template <LaneOp Op>
__device__ __forceinline__ unsigned reduceLanes(unsigned value, unsigned lanes = kAllLanes) {
  unsigned result;
  if constexpr (Op == LaneOp::Add)
    asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else if constexpr (Op == LaneOp::Min)
    asm volatile("redux.sync.min.u32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else if constexpr (Op == LaneOp::Max)
    asm volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else if constexpr (Op == LaneOp::And)
    asm volatile("redux.sync.and.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else if constexpr (Op == LaneOp::Or)
    asm volatile("redux.sync.or.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else
    asm volatile("redux.sync.xor.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  return result;
}
template <LaneOp Op>
__device__ __forceinline__ int reduceLanes(int value, unsigned lanes = kAllLanes) {
  int result;
  if constexpr (Op == LaneOp::Min)
    asm volatile("redux.sync.min.s32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else if constexpr (Op == LaneOp::Max)
    asm volatile("redux.sync.max.s32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes));
  else
    result = static_cast<int>(reduceLanes<Op>(static_cast<unsigned>(value), lanes));
  return result;
}

/// True in one lane, always the same one; all 32 lanes call.  For what one thread of a converged
/// warp does, where `laneIndex() == 0` would let the compiler think of divergence.  9.0.
__device__ __forceinline__ bool electLane() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

} // namespace swage
