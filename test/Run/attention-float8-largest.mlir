// REQUIRES: host-compiler
// A row's largest weight of 8 bits, which is exact where its score is the highest one so far. With a patience of 4 it was rounded so often that largest errors were up to 2.2 times an honest
// evaluation's: results of these two seeds were rejected by rule 3.
// RUN: swage-run %s --device=sim --check --seed=20 | FileCheck %s
// RUN: swage-run %s --device=sim --check --seed=22 | FileCheck %s
// CHECK: accepted
func.func @main(%q: tensor<3x4x160x16xf8E4M3FN>, %k: tensor<3x1x1139x16xf8E4M3FN>, %stored: tensor<3x1139x1x144xf8E4M3FN>, %bias: tensor<4x160x1139xf16>) -> tensor<3x4x160x144xf16> {
  %v = swage.permute %stored [0, 2, 1, 3] : tensor<3x1139x1x144xf8E4M3FN> -> tensor<3x1x1139x144xf8E4M3FN>
  %o = swage.attention %q, %k, %v scale 2.500000e-01 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias[%h, %i, %j] : tensor<4x160x1139xf16>
    %term = arith.extf %e : f16 to f32
    %t = arith.addf %s, %term : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 979 : index
    %end = arith.addi %i, %c : index
    %seen = arith.cmpi sle, %j, %end : index
    swage.yield %seen : i1
  } : (tensor<3x4x160x16xf8E4M3FN>, tensor<3x1x1139x16xf8E4M3FN>, tensor<3x1x1139x144xf8E4M3FN>) -> tensor<3x4x160x144xf16>
  return %o : tensor<3x4x160x144xf16>
}
