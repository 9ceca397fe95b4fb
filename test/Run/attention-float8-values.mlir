// REQUIRES: host-compiler
// What may go wrong with weights of 8 bits: sinks beside more keys than tensor cores add up at once, with a factor of each head; scores that grow from each
// block to the next, or fall; keys that nobody sees and that are not numbers, also as the values.
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=3 | FileCheck %s
// RUN: rm -rf %t && swage-run %s --entry=padding --device=sim --sim=check,async=random,order=random,seed=3 --save-outputs=%t
// RUN: cmp %t/result0.npy %t/result1.npy
// CHECK-COUNT-4: accepted
// CHECK-NOT: REJECTED
func.func @main(%q: tensor<1x2x70x128xf8E4M3FN>, %k: tensor<1x1x2300x128xf8E4M3FN>, %v: tensor<1x1x2300x64xf8E4M3FN>, %sinks: tensor<2xf32>, %factors: tensor<2xf32>)
    -> (tensor<1x2x70x64xbf16>, tensor<1x2x70xf32>, tensor<1x2x70x64xbf16>, tensor<1x2x70x64xf16>) {
  // Sinks beside more keys than tensor cores add up at once, and a head's own factor.
  %sunk, %lse = swage.attention %q, %k, %v sinks %sinks scale 0.08838834764831845 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %factor = tensor.extract %factors[%h] : tensor<2xf32>
    %t = arith.mulf %s, %factor : f32
    swage.yield %t : f32
  } : (tensor<1x2x70x128xf8E4M3FN>, tensor<1x1x2300x128xf8E4M3FN>, tensor<1x1x2300x64xf8E4M3FN>, tensor<2xf32>) -> (tensor<1x2x70x64xbf16>, tensor<1x2x70xf32>)
  // Blocks come from the last key to the first: every one has a higher score than those before.
  %late = swage.attention %q, %k, %v scale 0.08838834764831845 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant -5.0e-02 : f32
    %at = arith.index_cast %j : index to i32
    %jf = arith.sitofp %at : i32 to f32
    %bias = arith.mulf %jf, %c : f32
    %t = arith.addf %s, %bias : f32
    swage.yield %t : f32
  } : (tensor<1x2x70x128xf8E4M3FN>, tensor<1x1x2300x128xf8E4M3FN>, tensor<1x1x2300x64xf8E4M3FN>) -> tensor<1x2x70x64xbf16>
  // The first block has scores that no other comes near.
  %early = swage.attention %q, %k, %v scale 0.08838834764831845 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 5.0e-01 : f32
    %at = arith.index_cast %j : index to i32
    %jf = arith.sitofp %at : i32 to f32
    %bias = arith.mulf %jf, %c : f32
    %t = arith.addf %s, %bias : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2200 : index
    %last = arith.addi %i, %c : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<1x2x70x128xf8E4M3FN>, tensor<1x1x2300x128xf8E4M3FN>, tensor<1x1x2300x64xf8E4M3FN>) -> tensor<1x2x70x64xf16>
  return %sunk, %lse, %late, %early : tensor<1x2x70x64xbf16>, tensor<1x2x70xf32>, tensor<1x2x70x64xbf16>, tensor<1x2x70x64xf16>
}

func.func @padding(%q: tensor<2x2x70x128xf8E4M3FN>, %k: tensor<2x1x301x128xf8E4M3FN>, %v: tensor<2x1x301x64xf8E4M3FN>)
    -> (tensor<2x2x70x64xbf16>, tensor<2x2x70x64xbf16>) {
  // Sequences of 17 and 144 keys.
  %batch = swage.iota dim 0 : tensor<2x1x301x1xi32>
  %key = swage.iota dim 2 : tensor<2x1x301x1xi32>
  %c127s = arith.constant dense<127> : tensor<2x1x301x1xi32>
  %c17s = arith.constant dense<17> : tensor<2x1x301x1xi32>
  %all = arith.muli %batch, %c127s : tensor<2x1x301x1xi32>
  %length = arith.addi %all, %c17s : tensor<2x1x301x1xi32>
  %to = arith.cmpi slt, %key, %length : tensor<2x1x301x1xi32>
  %keysTo = swage.broadcast %to dims [0, 1, 2, 3] : tensor<2x1x301x1xi1> -> tensor<2x1x301x128xi1>
  %valuesTo = swage.broadcast %to dims [0, 1, 2, 3] : tensor<2x1x301x1xi1> -> tensor<2x1x301x64xi1>
  %noKey = arith.constant dense<0x7F> : tensor<2x1x301x128xf8E4M3FN>
  %noValue = arith.constant dense<0x7F> : tensor<2x1x301x64xf8E4M3FN>
  %nk = arith.select %keysTo, %k, %noKey : tensor<2x1x301x128xi1>, tensor<2x1x301x128xf8E4M3FN>
  %nv = arith.select %valuesTo, %v, %noValue : tensor<2x1x301x64xi1>, tensor<2x1x301x64xf8E4M3FN>
  %clean = swage.attention %q, %k, %v scale 0.08838834764831845 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c127 = arith.constant 127 : index
    %c17 = arith.constant 17 : index
    %longer = arith.muli %b, %c127 : index
    %end = arith.addi %longer, %c17 : index
    %seen = arith.cmpi slt, %j, %end : index
    swage.yield %seen : i1
  } : (tensor<2x2x70x128xf8E4M3FN>, tensor<2x1x301x128xf8E4M3FN>, tensor<2x1x301x64xf8E4M3FN>) -> tensor<2x2x70x64xbf16>
  %poisoned = swage.attention %q, %nk, %nv scale 0.08838834764831845 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c127 = arith.constant 127 : index
    %c17 = arith.constant 17 : index
    %longer = arith.muli %b, %c127 : index
    %end = arith.addi %longer, %c17 : index
    %seen = arith.cmpi slt, %j, %end : index
    swage.yield %seen : i1
  } : (tensor<2x2x70x128xf8E4M3FN>, tensor<2x1x301x128xf8E4M3FN>, tensor<2x1x301x64xf8E4M3FN>) -> tensor<2x2x70x64xbf16>
  return %clean, %poisoned : tensor<2x2x70x64xbf16>, tensor<2x2x70x64xbf16>
}
