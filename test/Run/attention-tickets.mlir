// REQUIRES: host-compiler
// Counters of blocks lie where kernels before have left one that nobody has drawn from, and a table of three pages has been written over half of it: they count from nothing on.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --seed=3 | FileCheck %s
// CHECK-COUNT-4: accepted
func.func @main(%q: tensor<1x2x1x64xbf16>, %few: tensor<1x2x40x64xbf16>, %pool: tensor<7x2x480x64xbf16>, %numbers: tensor<1x3xi32> {swage.range = array<i64: 1, 3>}, %many: tensor<1x2x2500x64xbf16>)
    -> (tensor<1x2x1x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1x2x1x64xbf16>) {
  // Three chunks of each head, whose last block leaves nothing in the counter.
  %first = swage.attention %q, %many, %many scale 0.2 batch_invariant : (tensor<1x2x1x64xbf16>, tensor<1x2x2500x64xbf16>, tensor<1x2x2500x64xbf16>) -> tensor<1x2x1x64xbf16>
  // One: the counter is asked for, and nobody draws.
  %one = swage.attention %q, %few, %few scale 0.2 batch_invariant : (tensor<1x2x1x64xbf16>, tensor<1x2x40x64xbf16>, tensor<1x2x40x64xbf16>) -> tensor<1x2x1x64xbf16>
  %two = arith.constant dense<2> : tensor<1x3xi32>
  %table = arith.addi %numbers, %two : tensor<1x3xi32>
  %k = swage.pages %pool, %table : (tensor<7x2x480x64xbf16>, tensor<1x3xi32>) -> tensor<1x2x1440x64xbf16>
  %paged = swage.attention %q, %k, %k scale 0.2 : (tensor<1x2x1x64xbf16>, tensor<1x2x1440x64xbf16>, tensor<1x2x1440x64xbf16>) -> tensor<1x2x1x64xbf16>
  %last = swage.attention %q, %many, %many scale 0.1 batch_invariant : (tensor<1x2x1x64xbf16>, tensor<1x2x2500x64xbf16>, tensor<1x2x2500x64xbf16>) -> tensor<1x2x1x64xbf16>
  return %first, %one, %paged, %last : tensor<1x2x1x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1x2x1x64xbf16>
}
