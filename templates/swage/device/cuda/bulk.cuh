// The copy engine: bulk copies of bytes, and of boxes of tensors through tensor maps.  One thread
// asks for a whole copy.  Loads tell an mbarrier of the bytes that arrive; stores are waited for by
// the thread that asked, in groups.  Compute capability 9.0.
//
// Addresses and sizes of byte copies are multiples of 16.  The engine sees what threads wrote to
// shared memory only after fenceProxyAsync by the writers, and then a barrier.
#pragma once

#include "swage/device/cuda/shared.cuh"

namespace swage {

/// When L2 gives up what was loaded: as all else, or before all else, for what nobody reads again.
enum class Eviction { Normal, First };

namespace ptx {
__device__ __forceinline__ unsigned long long evictFirst() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  return policy;
}
} // namespace ptx

/// Global to shared memory.
template <Eviction Order = Eviction::Normal>
__device__ __forceinline__ void bulkLoad(SharedAddress to, const void *from, unsigned bytes,
                                         SharedAddress mbarrier) {
  if constexpr (Order == Eviction::First)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;"
                 :
                 : "r"(to), "l"(from), "r"(bytes), "r"(mbarrier), "l"(ptx::evictFirst())
                 : "memory");
  else
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(to), "l"(from), "r"(bytes), "r"(mbarrier)
                 : "memory");
}
/// The same into every block of the cluster whose bit is set in `blocks`, to the same place in
/// each; the mbarrier at the same place in each is told.
__device__ __forceinline__ void bulkLoadMulticast(SharedAddress to, const void *from,
                                                  unsigned bytes, SharedAddress mbarrier,
                                                  unsigned short blocks) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1], %2, [%3], %4;"
               :
               : "r"(to), "l"(from), "r"(bytes), "r"(mbarrier), "h"(blocks)
               : "memory");
}
/// Own shared to global memory.
__device__ __forceinline__ void bulkStore(void *to, SharedAddress from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(to), "r"(from), "r"(bytes)
               : "memory");
}
/// Own shared memory to that of a block of the cluster, where `mbarrier` is too.  Only in a launch
/// with clusters, as storeClusterAsync.
__device__ __forceinline__ void bulkCopyShared(SharedAddress to, SharedAddress from, unsigned bytes,
                                               SharedAddress mbarrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];"
               :
               : "r"(to), "r"(from), "r"(bytes), "r"(mbarrier)
               : "memory");
}

/// What a tensor, a box of it and the box's layout in shared memory are: made by the host
/// (cuTensorMapEncodeTiled), passed as `const __grid_constant__ swage::TensorMap`.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

// By rank: its name, and the operands from FIRST on that hold the coordinates `at`.
#define SWAGE_BY_RANK(STATEMENT)                                                                   \
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5);                       \
  const int at[] = {static_cast<int>(coordinates)...};                                             \
  if constexpr (sizeof...(coordinates) == 1)                                                       \
    STATEMENT("1d", "{%0}", "r"(at[0]), "%1", "%2", "%3", "%4");                                   \
  else if constexpr (sizeof...(coordinates) == 2)                                                  \
    STATEMENT("2d", "{%0, %1}", SWAGE_LIST("r"(at[0]), "r"(at[1])), "%2", "%3", "%4", "%5");       \
  else if constexpr (sizeof...(coordinates) == 3)                                                  \
    STATEMENT("3d", "{%0, %1, %2}", SWAGE_LIST("r"(at[0]), "r"(at[1]), "r"(at[2])), "%3", "%4",    \
              "%5", "%6");                                                                         \
  else if constexpr (sizeof...(coordinates) == 4)                                                  \
    STATEMENT("4d", "{%0, %1, %2, %3}",                                                            \
              SWAGE_LIST("r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])), "%4", "%5", "%6", "%7"); \
  else                                                                                             \
    STATEMENT("5d", "{%0, %1, %2, %3, %4}",                                                        \
              SWAGE_LIST("r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])), "%5", "%6",  \
              "%7", "%8");
#define SWAGE_LIST(...) __VA_ARGS__

/// The box of the tensor that begins at these coordinates, innermost first, one to five of them.
/// What lies outside of the tensor arrives as zero, and counts among the bytes.
template <Eviction Order = Eviction::Normal, class... Coordinates>
__device__ __forceinline__ void tensorLoad(SharedAddress to, const TensorMap &map,
                                           SharedAddress mbarrier, Coordinates... coordinates) {
#define SWAGE_STATEMENT(RANK, WHERE, COORDINATES, TO, MAP, MBARRIER, POLICY)                       \
  if constexpr (Order == Eviction::First)                                                          \
    asm volatile("cp.async.bulk.tensor." RANK                                                      \
                 ".shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [" TO        \
                 "], [" MAP ", " WHERE "], [" MBARRIER "], " POLICY ";"                            \
                 :                                                                                 \
                 : COORDINATES, "r"(to), "l"(&map), "r"(mbarrier), "l"(ptx::evictFirst())          \
                 : "memory");                                                                      \
  else                                                                                             \
    asm volatile("cp.async.bulk.tensor." RANK                                                      \
                 ".shared::cluster.global.mbarrier::complete_tx::bytes [" TO "], [" MAP ", " WHERE \
                 "], [" MBARRIER "];"                                                              \
                 :                                                                                 \
                 : COORDINATES, "r"(to), "l"(&map), "r"(mbarrier)                                  \
                 : "memory")
  SWAGE_BY_RANK(SWAGE_STATEMENT)
#undef SWAGE_STATEMENT
}

/// The same into every block of the cluster whose bit is set in `blocks`, as bulkLoadMulticast.
template <class... Coordinates>
__device__ __forceinline__ void tensorLoadMulticast(SharedAddress to, const TensorMap &map,
                                                    SharedAddress mbarrier, unsigned short blocks,
                                                    Coordinates... coordinates) {
#define SWAGE_STATEMENT(RANK, WHERE, COORDINATES, TO, MAP, MBARRIER, BLOCKS)                       \
  asm volatile("cp.async.bulk.tensor." RANK                                                        \
               ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [" TO      \
               "], [" MAP ", " WHERE "], [" MBARRIER "], " BLOCKS ";"                              \
               :                                                                                   \
               : COORDINATES, "r"(to), "l"(&map), "r"(mbarrier), "h"(blocks)                       \
               : "memory")
  SWAGE_BY_RANK(SWAGE_STATEMENT)
#undef SWAGE_STATEMENT
}

/// A box from shared memory to the tensor; what lies outside of it is not written.
template <class... Coordinates>
__device__ __forceinline__ void tensorStore(const TensorMap &map, SharedAddress from,
                                            Coordinates... coordinates) {
#define SWAGE_STATEMENT(RANK, WHERE, COORDINATES, MAP, FROM, UNUSED, UNUSED2)                      \
  asm volatile("cp.async.bulk.tensor." RANK ".global.shared::cta.bulk_group [" MAP ", " WHERE      \
               "], [" FROM "];"                                                                    \
               :                                                                                   \
               : COORDINATES, "l"(&map), "r"(from)                                                 \
               : "memory")
  SWAGE_BY_RANK(SWAGE_STATEMENT)
#undef SWAGE_STATEMENT
}

/// The same, but adds to what is there, each element atomically and in the tensor's own type.
template <class... Coordinates>
__device__ __forceinline__ void tensorReduceAdd(const TensorMap &map, SharedAddress from,
                                                Coordinates... coordinates) {
#define SWAGE_STATEMENT(RANK, WHERE, COORDINATES, MAP, FROM, UNUSED, UNUSED2)                      \
  asm volatile("cp.reduce.async.bulk.tensor." RANK ".global.shared::cta.add.bulk_group [" MAP      \
               ", " WHERE "], [" FROM "];"                                                         \
               :                                                                                   \
               : COORDINATES, "l"(&map), "r"(from)                                                 \
               : "memory")
  SWAGE_BY_RANK(SWAGE_STATEMENT)
#undef SWAGE_STATEMENT
}
#undef SWAGE_LIST
#undef SWAGE_BY_RANK

/// The thread's stores since the last call are one group.
__device__ __forceinline__ void bulkCommit() {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
/// Until at most `Pending` of the thread's groups are under way; or, have yet to read their source.
template <int Pending> __device__ __forceinline__ void bulkWait() {
  asm volatile("cp.async.bulk.wait_group %0;" : : "n"(Pending) : "memory");
}
template <int Pending> __device__ __forceinline__ void bulkWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(Pending) : "memory");
}

/// What this thread wrote to shared memory is visible to the copy engine and to wgmma, once they
/// are started after a barrier that follows.
__device__ __forceinline__ void fenceProxyAsync() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/// Brings a map to where the copy engine looks for it.
__device__ __forceinline__ void prefetchTensorMap(const TensorMap &map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
}

} // namespace swage
