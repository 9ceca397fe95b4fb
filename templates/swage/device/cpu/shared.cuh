// Addresses in shared memory, as the instructions take them that copy, synchronise and multiply
// beside the threads.
#pragma once

namespace swage {

using SharedAddress = unsigned;

__device__ __forceinline__ SharedAddress sharedAddress(const void *at) {
  return simt::abi->sharedAddress(at);
}

} // namespace swage
