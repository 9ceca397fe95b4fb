// Addresses in shared memory, as the instructions take them that copy, synchronise and multiply
// beside the threads.
#pragma once

namespace swage {

/// 32 bits; the same number means the same place in every thread of the block.  With
/// mapShared (cluster.cuh) it also names a place in another block of the cluster.
using SharedAddress = unsigned;

/// `at` points into the block's arena.
__device__ __forceinline__ SharedAddress sharedAddress(const void *at) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(at));
}

} // namespace swage
