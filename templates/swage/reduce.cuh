// Outer and middle reductions: sum, mean, max or min over dimensions that enclose, or lie between,
// the kept ones.
//
// What it computes.  For every kept position the reduction of prologue(inputs) over the reduced
// dimensions, then finish.  What the prologue makes may be stored; nothing is made of the results
// for each element.
//
// Why it is fast.  Lanes lie along the contiguous kept dimension, so every row of the input is read
// as whole cache lines although the reduction runs across them; kRowGroups thread rows with kUnroll
// loads each keep enough bytes in flight; one exchange in shared memory ends the block
// (columns.cuh).  A reduced dimension too long for the number of blocks it leaves is split in two
// kernels by the compiler: [S, R/S, C] -> [S, C] in f32, then [S, C] -> [C].
//
// When chosen.  Sum, mean, max, min whose innermost dimension is kept.  Innermost reductions are
// row kernels.
//
// Contract: CollectiveSpec (phases.cuh) plus kRowGroups and kUnroll, no epilogue; kept(sizes)
// counts its last extent in vectors of kVector.  Grid: ceil(vectors of kept positions / (kThreads /
// kRowGroups)).
#pragma once

#include "swage/columns.cuh"

namespace swage {

template <class Spec>
concept ReduceSpec = CollectiveSpec<Spec> && requires {
  Spec::kRowGroups + Spec::kUnroll;
  requires Spec::EpilogueStores::empty();
};

template <ReduceSpec Spec, class Pointers>
__device__ __forceinline__ void reduce(const Pointers &pointers,
                                       const typename Spec::Sizes &sizes) {
  detail::columns<Spec, Spec::kRowGroups, Spec::kUnroll>(pointers, nullptr, sizes);
}

} // namespace swage
