// REQUIRES: host-compiler
// Documents: blocks of keys that are all of the queries' own, are of several, and are of none of these.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=4 | FileCheck %s
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
