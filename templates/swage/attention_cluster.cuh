// Where the blocks of a cluster have a unit's keys: each sends what it has found out about some
// outputs to the block that merges these, to its shared memory, and all merge at the same time.
// Through memory and a counter there it takes 1 us longer, or more.  See attention_decode.cuh.
#pragma once

#include "swage/attention_merge.cuh"
#include "swage/exchange.cuh"

namespace swage::detail {

/// Neighbouring outputs of a row that a thread merges together are a group; the groups of a unit
/// are dealt out to the cluster's blocks in their order.  Behind the mbarrier lie those that this
/// block merges, as each block sends them.
template <class Spec> struct UnitCluster {
  using Merged = MergedColumns<Spec::kMerged>;
  using Part = typename Merged::Part;
  enum : int {
    kParts = partsOf<Spec>(),
    kOfRow = Spec::kValueDim / Spec::kMerged, ///< groups
    kGroups = Spec::kRows * kOfRow,
    kOwn = (kGroups + kParts - 1) / kParts,
    kBytes = kExchangeHead + kParts * kOwn * static_cast<int>(sizeof(Part))
  };
  char *at;

  __device__ __forceinline__ Part *parts() const {
    return reinterpret_cast<Part *>(at + kExchangeHead);
  }
  __device__ __forceinline__ int firstOwn() const { return static_cast<int>(clusterRank()) * kOwn; }
  __device__ __forceinline__ int countOwn() const {
    const int left = kGroups - firstOwn();
    return left < 0 ? 0 : left < kOwn ? left : int(kOwn);
  }

  /// Every thread calls it once, and waits for the cluster before it sends.
  __device__ __forceinline__ void open() const {
    openExchanges(at);
    if (threadIndex() == 0)
      mbarrierArriveExpect(sharedAddress(at),
                           countOwn() * kParts * static_cast<unsigned>(sizeof(Part)));
  }
  /// What the block's warps together say of a group; each is sent once.
  __device__ __forceinline__ void send(const Merged &merged, int row, int column) const {
    const int group = row * kOfRow + column / Spec::kMerged;
    pushEntry<unsigned long long>(parts() + static_cast<int>(clusterRank()) * kOwn + group % kOwn,
                                  merged.part(), sharedAddress(at), group / kOwn);
  }
  /// Gives the outputs that this block merges to `use`, when all of them have come.
  template <class Use> __device__ __forceinline__ void merge(float scaleLog2, Use use) const {
    for (int i = static_cast<int>(threadIndex()); i < countOwn(); i += Spec::kBlockThreads) {
      mbarrierWait(sharedAddress(at), 0);
      Part ofGroup[kParts];
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        ofGroup[part] = parts()[part * kOwn + i];
      Merged merged;
      merged.add(ofGroup, scaleLog2);
      const int group = firstOwn() + i;
      use(merged, group / kOfRow, group % kOfRow * Spec::kMerged);
    }
  }
};

} // namespace swage::detail
