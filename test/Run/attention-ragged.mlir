// Sequences behind each other in one tensor: what a query sees begins and ends where its own sequence does, so bounds may fall from a query to the next, and a
// tile's are those of all of its queries.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=7 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: swage-run %examples/attention.mlir --device=sim --check | FileCheck %s --check-prefix=EXAMPLE
// EXAMPLE: accepted
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=BOUNDS
// Many tiles of one block of keys each: a block of threads goes from one to the next but one before others of its warp have read where that is.
// RUN: swage-run %s --entry=tiles --device=sim --sim=check --check | FileCheck %s --check-prefix=TILES
// TILES: accepted
// CHECK-COUNT-3: accepted
// CHECK-NOT: rejected
// BOUNDS-COUNT-2: swage.phase bounds scattered loads
func.func @main(%q: tensor<1x3x300x64xbf16>, %k: tensor<1x1x300x64xbf16>, %v: tensor<1x1x300x64xbf16>, %begins: tensor<300xi32>, %ends: tensor<3x300xi32>)
    -> (tensor<1x3x300x64xbf16>, tensor<1x3x300x64xbf16>, tensor<1x3x300xf32>) {
  // Causal, 37 tokens each.
  %packed = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c37 = arith.constant 37 : i32
    %query = arith.index_cast %i : index to i32
    %key = arith.index_cast %j : index to i32
    %sequence = arith.divui %query, %c37 : i32
    %begin = arith.muli %sequence, %c37 : i32
    %after = arith.cmpi sge, %key, %begin : i32
    %causal = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %after, %causal : i1
    swage.yield %seen : i1
  } : (tensor<1x3x300x64xbf16>, tensor<1x1x300x64xbf16>, tensor<1x1x300x64xbf16>) -> tensor<1x3x300x64xbf16>
  // From somewhere around 100 to somewhere around 160, or nothing; for each head to another end.
  %any, %sums = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c60 = arith.constant 60 : i32
    %c100 = arith.constant 100 : i32
    %c160 = arith.constant 160 : i32
    %readBegin = tensor.extract %begins[%i] : tensor<300xi32>
    %readEnd = tensor.extract %ends[%h, %i] : tensor<3x300xi32>
    %farBegin = arith.muli %readBegin, %c60 : i32
    %farEnd = arith.muli %readEnd, %c60 : i32
    %begin = arith.addi %farBegin, %c100 : i32
    %end = arith.addi %farEnd, %c160 : i32
    %key = arith.index_cast %j : index to i32
    %after = arith.cmpi sge, %key, %begin : i32
    %before = arith.cmpi slt, %key, %end : i32
    %seen = arith.andi %after, %before : i1
    swage.yield %seen : i1
  } : (tensor<1x3x300x64xbf16>, tensor<1x1x300x64xbf16>, tensor<1x1x300x64xbf16>) -> (tensor<1x3x300x64xbf16>, tensor<1x3x300xf32>)
  return %packed, %any, %sums : tensor<1x3x300x64xbf16>, tensor<1x3x300x64xbf16>, tensor<1x3x300xf32>
}

func.func @tiles(%q: tensor<5x66x1x64xbf16>, %k: tensor<5x2x2x64xbf16>, %v: tensor<5x2x2x64xbf16>, %lengths: tensor<5xi32> {swage.range = array<i64: 0, 2>}) -> tensor<5x66x1x64xbf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<5xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<5x66x1x64xbf16>, tensor<5x2x2x64xbf16>, tensor<5x2x2x64xbf16>) -> tensor<5x66x1x64xbf16>
  return %o : tensor<5x66x1x64xbf16>
}
