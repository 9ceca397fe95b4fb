// REQUIRES: host-compiler
// More units than blocks, whose lengths differ by so much that the tiles of all are cut into spans of one length: blocks have the end of one unit, whole ones and the beginning of another.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=order=random --check --seed=3 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --seed=4 | FileCheck %s
// CHECK-COUNT-2: accepted
// CHECK-NOT: rejected
func.func @main(%q_sequences: tensor<150x2x1x64xbf16>, %k_sequences: tensor<150x1x1300x64xbf16>, %v_sequences: tensor<150x1x1300x64xbf16>, %lengths_sequences: tensor<150xi32> {swage.range = array<i64: 0, 1300>},
                %q_heads: tensor<67x8x2x128xbf16>, %k_heads: tensor<67x4x500x128xbf16>, %v_heads: tensor<67x4x500x128xbf16>, %lengths_heads: tensor<67xi32> {swage.range = array<i64: 0, 500>})
    -> (tensor<150x2x1x64xbf16>, tensor<67x8x2x128xbf16>) {
  %sequences = swage.attention %q_sequences, %k_sequences, %v_sequences scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths_sequences[%b] : tensor<150xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<150x2x1x64xbf16>, tensor<150x1x1300x64xbf16>, tensor<150x1x1300x64xbf16>) -> tensor<150x2x1x64xbf16>
  %heads = swage.attention %q_heads, %k_heads, %v_heads scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths_heads[%b] : tensor<67xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<67x8x2x128xbf16>, tensor<67x4x500x128xbf16>, tensor<67x4x500x128xbf16>) -> tensor<67x8x2x128xbf16>
  return %sequences, %heads : tensor<150x2x1x64xbf16>, tensor<67x8x2x128xbf16>
}
