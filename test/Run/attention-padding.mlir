// REQUIRES: host-compiler
// Keys that no query of a sequence sees, because it is shorter or they are before its window, may hold anything: with NaN there the results are the same to the bit.
// RUN: rm -rf %t && swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --save-outputs=%t
// RUN: cmp %t/result0.npy %t/result1.npy
// RUN: cmp %t/result2.npy %t/result3.npy
// RUN: not cmp %t/result0.npy %t/result2.npy
func.func @main(%q: tensor<3x2x130x64xf16>, %k: tensor<3x1x301x64xf16>, %v: tensor<3x1x301x96xf16>) -> (tensor<3x2x130x96xf16>, tensor<3x2x130x96xf16>, tensor<3x2x130x96xf16>, tensor<3x2x130x96xf16>) {
  // Sequences of 17, 144 and 271 keys.
  %batch = swage.iota dim 0 : tensor<3x1x301x1xi32>
  %key = swage.iota dim 2 : tensor<3x1x301x1xi32>
  %c127s = arith.constant dense<127> : tensor<3x1x301x1xi32>
  %c17s = arith.constant dense<17> : tensor<3x1x301x1xi32>
  %c3s = arith.constant dense<3> : tensor<3x1x301x1xi32>
  %all = arith.muli %batch, %c127s : tensor<3x1x301x1xi32>
  %length = arith.addi %all, %c17s : tensor<3x1x301x1xi32>
  %tos = arith.cmpi slt, %key, %length : tensor<3x1x301x1xi32>
  %froms = arith.cmpi sge, %key, %c3s : tensor<3x1x301x1xi32>
  %both = arith.andi %froms, %tos : tensor<3x1x301x1xi1>
  %keysTo = swage.broadcast %tos dims [0, 1, 2, 3] : tensor<3x1x301x1xi1> -> tensor<3x1x301x64xi1>
  %valuesTo = swage.broadcast %tos dims [0, 1, 2, 3] : tensor<3x1x301x1xi1> -> tensor<3x1x301x96xi1>
  %keysBoth = swage.broadcast %both dims [0, 1, 2, 3] : tensor<3x1x301x1xi1> -> tensor<3x1x301x64xi1>
  %valuesBoth = swage.broadcast %both dims [0, 1, 2, 3] : tensor<3x1x301x1xi1> -> tensor<3x1x301x96xi1>
  %noKey = arith.constant dense<0x7E00> : tensor<3x1x301x64xf16>
  %noValue = arith.constant dense<0x7E00> : tensor<3x1x301x96xf16>
  %k1 = arith.select %keysTo, %k, %noKey : tensor<3x1x301x64xi1>, tensor<3x1x301x64xf16>
  %v1 = arith.select %valuesTo, %v, %noValue : tensor<3x1x301x96xi1>, tensor<3x1x301x96xf16>
  %k2 = arith.select %keysBoth, %k, %noKey : tensor<3x1x301x64xi1>, tensor<3x1x301x64xf16>
  %v2 = arith.select %valuesBoth, %v, %noValue : tensor<3x1x301x96xi1>, tensor<3x1x301x96xf16>
  %clean = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c127 = arith.constant 127 : index
    %c17 = arith.constant 17 : index
    %longer = arith.muli %b, %c127 : index
    %end = arith.addi %longer, %c17 : index
    %to = arith.cmpi slt, %j, %end : index
    swage.yield %to : i1
  } : (tensor<3x2x130x64xf16>, tensor<3x1x301x64xf16>, tensor<3x1x301x96xf16>) -> tensor<3x2x130x96xf16>
  %poisoned = swage.attention %q, %k1, %v1 scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c127 = arith.constant 127 : index
    %c17 = arith.constant 17 : index
    %longer = arith.muli %b, %c127 : index
    %end = arith.addi %longer, %c17 : index
    %to = arith.cmpi slt, %j, %end : index
    swage.yield %to : i1
  } : (tensor<3x2x130x64xf16>, tensor<3x1x301x64xf16>, tensor<3x1x301x96xf16>) -> tensor<3x2x130x96xf16>
  %window = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c127 = arith.constant 127 : index
    %c17 = arith.constant 17 : index
    %longer = arith.muli %b, %c127 : index
    %end = arith.addi %longer, %c17 : index
    %to = arith.cmpi slt, %j, %end : index
    %c3 = arith.constant 3 : index
    %from = arith.cmpi sge, %j, %c3 : index
    %seen = arith.andi %from, %to : i1
    swage.yield %seen : i1
  } : (tensor<3x2x130x64xf16>, tensor<3x1x301x64xf16>, tensor<3x1x301x96xf16>) -> tensor<3x2x130x96xf16>
  %poisonedWindow = swage.attention %q, %k2, %v2 scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c127 = arith.constant 127 : index
    %c17 = arith.constant 17 : index
    %longer = arith.muli %b, %c127 : index
    %end = arith.addi %longer, %c17 : index
    %to = arith.cmpi slt, %j, %end : index
    %c3 = arith.constant 3 : index
    %from = arith.cmpi sge, %j, %c3 : index
    %seen = arith.andi %from, %to : i1
    swage.yield %seen : i1
  } : (tensor<3x2x130x64xf16>, tensor<3x1x301x64xf16>, tensor<3x1x301x96xf16>) -> tensor<3x2x130x96xf16>
  return %clean, %poisoned, %window, %poisonedWindow : tensor<3x2x130x96xf16>, tensor<3x2x130x96xf16>, tensor<3x2x130x96xf16>, tensor<3x2x130x96xf16>
}
