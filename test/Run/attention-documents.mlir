// REQUIRES: host-compiler
// Documents: blocks of keys that are all of the queries' own, are of several, and are of none of these.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=4 | FileCheck %s
// RUN: swage-run %s --entry=short --device=sim --sim=check --check | FileCheck %s --check-prefix=SHORT
// RUN: swage-run %s --entry=many --device=sim --sim=check --check | FileCheck %s --check-prefix=SHORT
// RUN: swage-run %s --entry=many --device=sim --check --sim=check,async=random,order=random,seed=6 | FileCheck %s --check-prefix=SHORT
// RUN: swage-run %s --entry=unlike --device=sim --sim=check,order=random,seed=8 --check | FileCheck %s --check-prefix=UNLIKE
// UNLIKE-COUNT-2: accepted
// SHORT: accepted
// CHECK-COUNT-2: accepted
// CHECK-NOT: rejected
func.func @main(%q: tensor<1x2x330x64xbf16>, %k: tensor<1x2x600x64xbf16>, %v: tensor<1x2x600x64xbf16>, %other: tensor<600xi32>)
    -> (tensor<1x2x330x64xbf16>, tensor<1x2x330x64xbf16>) {
  %at = swage.iota dim 0 : tensor<600xi32>
  %length = arith.constant dense<300> : tensor<600xi32>
  %number = arith.divsi %at, %length : tensor<600xi32>
  %documents = swage.copy %number : tensor<600xi32>
  %all = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %documents[%i] : tensor<600xi32>
    %of = tensor.extract %documents[%j] : tensor<600xi32>
    %seen = arith.cmpi eq, %mine, %of : i32
    swage.yield %seen : i1
  } : (tensor<1x2x330x64xbf16>, tensor<1x2x600x64xbf16>, tensor<1x2x600x64xbf16>) -> tensor<1x2x330x64xbf16>
  // Beside another condition on both, which stays, and one on positions.
  %some = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %documents[%i] : tensor<600xi32>
    %of = tensor.extract %documents[%j] : tensor<600xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %low = tensor.extract %other[%i] : tensor<600xi32>
    %high = tensor.extract %other[%j] : tensor<600xi32>
    %less = arith.cmpi sle, %low, %high : i32
    %c200 = arith.constant 200 : index
    %last = arith.addi %i, %c200 : index
    %before = arith.cmpi sle, %j, %last : index
    %both = arith.andi %same, %less : i1
    %seen = arith.andi %both, %before : i1
    swage.yield %seen : i1
  } : (tensor<1x2x330x64xbf16>, tensor<1x2x600x64xbf16>, tensor<1x2x600x64xbf16>) -> tensor<1x2x330x64xbf16>
  return %all, %some : tensor<1x2x330x64xbf16>, tensor<1x2x330x64xbf16>
}

// One block of keys and one place for queries: what their documents are is told when all of a warp have read the tile, which the next one follows at once.
func.func @short(%q: tensor<1x1x40x256xbf16>, %k: tensor<1x1x40x256xbf16>, %v: tensor<1x1x40x256xbf16>) -> tensor<1x1x40x256xbf16> {
  %at = swage.iota dim 1 : tensor<1x40xi32>
  %row = swage.iota dim 0 : tensor<1x40xi32>
  %far = arith.constant dense<37> : tensor<1x40xi32>
  %length = arith.constant dense<20> : tensor<1x40xi32>
  %begin = arith.muli %row, %far : tensor<1x40xi32>
  %shifted = arith.addi %at, %begin : tensor<1x40xi32>
  %number = arith.divsi %shifted, %length : tensor<1x40xi32>
  %documents = swage.copy %number : tensor<1x40xi32>
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %documents[%b, %i] : tensor<1x40xi32>
    %of = tensor.extract %documents[%b, %j] : tensor<1x40xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    swage.yield %same : i1
  } : (tensor<1x1x40x256xbf16>, tensor<1x1x40x256xbf16>, tensor<1x1x40x256xbf16>) -> tensor<1x1x40x256xbf16>
  return %o : tensor<1x1x40x256xbf16>
}

// More tiles than multiprocessors, with a block of keys or two: who has no next tile multiplies keys with themselves, beside the store of its last one.
func.func @many(%q: tensor<18x10x20x64xbf16>, %k: tensor<18x10x130x64xbf16>, %ids: tensor<18x130xi32> {swage.range = array<i64: 0, 2>}) -> tensor<18x10x20x64xbf16> {
  %o = swage.attention %q, %k, %k scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : tensor<18x130xi32>
    %of = tensor.extract %ids[%b, %j] : tensor<18x130xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %c100 = arith.constant 100 : index
    %last = arith.addi %i, %c100 : index
    %before = arith.cmpi sle, %j, %last : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<18x10x20x64xbf16>, tensor<18x10x130x64xbf16>, tensor<18x10x130x64xbf16>) -> tensor<18x10x20x64xbf16>
  return %o : tensor<18x10x20x64xbf16>
}

// Values longer than keys, and of 8 bits.
func.func @unlike(%q: tensor<1x2x300x64xbf16>, %k: tensor<1x2x300x64xbf16>, %v: tensor<1x2x300x128xbf16>, %x: tensor<1x2x300x128xf8E4M3FN>, %ids: tensor<1x300xi32> {swage.range = array<i64: 0, 3>}) -> (tensor<1x2x300x128xbf16>, tensor<1x2x300x128xbf16>) {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : tensor<1x300xi32>
    %of = tensor.extract %ids[%b, %j] : tensor<1x300xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<1x2x300x64xbf16>, tensor<1x2x300x64xbf16>, tensor<1x2x300x128xbf16>) -> tensor<1x2x300x128xbf16>
  %p = swage.attention %x, %x, %x scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : tensor<1x300xi32>
    %of = tensor.extract %ids[%b, %j] : tensor<1x300xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x300x128xf8E4M3FN>) -> tensor<1x2x300x128xbf16>
  return %o, %p : tensor<1x2x300x128xbf16>, tensor<1x2x300x128xbf16>
}
