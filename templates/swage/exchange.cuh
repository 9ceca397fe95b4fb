// What the blocks of a cluster tell each other: entries in each other's shared memory, behind an
// mbarrier that counts what has come.  A cluster barrier would wait for all writes under way.
#pragma once

#include "swage/device/cluster.cuh"
#include "swage/device/mbarrier.cuh"

namespace swage {

/// In front of what blocks exchange: the mbarrier.
enum : int { kExchangeHead = 16 };

namespace detail {

/// Writes `entry` to the same place in block `rank` of the cluster, word by word, and tells its
/// mbarrier.
template <class Word = unsigned, class Entry>
__device__ __forceinline__ void pushEntry(Entry *at, const Entry &entry, SharedAddress mbarrier,
                                          int rank) {
  struct Words {
    Word word[sizeof(Entry) / sizeof(Word)];
  };
  const auto words = __builtin_bit_cast(Words, entry);
  const SharedAddress to = mapShared(sharedAddress(at), static_cast<unsigned>(rank));
  const SharedAddress told = mapShared(mbarrier, static_cast<unsigned>(rank));
#pragma unroll
  for (int i = 0; i < int(sizeof(Entry) / sizeof(Word)); ++i)
    storeClusterAsync(to + int(sizeof(Word)) * i, words.word[i], told);
}

} // namespace detail

/// Readies exchanges of the blocks of a cluster; every thread calls it once.
template <class... Exchange> __device__ __forceinline__ void openExchanges(Exchange *...exchanges) {
  if (threadIndex() == 0) {
    (mbarrierInit(sharedAddress(exchanges), 1), ...);
    mbarrierFenceInit();
  }
  clusterBarrierArriveRelaxed();
}

} // namespace swage
