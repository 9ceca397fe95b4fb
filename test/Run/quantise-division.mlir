// REQUIRES: host-compiler
// Groups of 128 numbers divided by a 448th of their largest absolute value: where quotients are halfway between two numbers of 8 bits, which of bf16 are
// many, they go to the even one. Rows to i8 the same way.
// RUN: swage-run %s --device=sim --sim=check --check --seed=1 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s
// CHECK-COUNT-4: accepted
func.func @main(%x: tensor<40x7168xbf16>) -> (tensor<40x7168xf8E4M3FN>, tensor<40x56xf32>, tensor<40x7168xi8>, tensor<40xf32>) {
  %wide = arith.extf %x : tensor<40x7168xbf16> to tensor<40x7168xf32>
  %groups = swage.reshape %wide : tensor<40x7168xf32> -> tensor<40x56x128xf32>
  %sizes = math.absf %groups : tensor<40x56x128xf32>
  %most = swage.reduce max %sizes dims [2] : tensor<40x56x128xf32> -> tensor<40x56xf32>
  %least = arith.constant dense<1.0e-4> : tensor<40x56xf32>
  %held = arith.maximumf %most, %least : tensor<40x56xf32>
  %range = arith.constant dense<448.0> : tensor<40x56xf32>
  %scale = arith.divf %held, %range : tensor<40x56xf32>
  %scales = swage.broadcast %scale dims [0, 1] : tensor<40x56xf32> -> tensor<40x56x128xf32>
  %quotients = arith.divf %groups, %scales : tensor<40x56x128xf32>
  %narrow = arith.truncf %quotients : tensor<40x56x128xf32> to tensor<40x56x128xf8E4M3FN>
  %fp8 = swage.reshape %narrow : tensor<40x56x128xf8E4M3FN> -> tensor<40x7168xf8E4M3FN>
  %sizesOfRow = math.absf %wide : tensor<40x7168xf32>
  %mostOfRow = swage.reduce max %sizesOfRow dims [1] : tensor<40x7168xf32> -> tensor<40xf32>
  %rangeOfRow = arith.constant dense<127.0> : tensor<40xf32>
  %scaleOfRow = arith.divf %mostOfRow, %rangeOfRow : tensor<40xf32>
  %scalesOfRow = swage.broadcast %scaleOfRow dims [0] : tensor<40xf32> -> tensor<40x7168xf32>
  %quotientsOfRow = arith.divf %wide, %scalesOfRow : tensor<40x7168xf32>
  %whole = math.roundeven %quotientsOfRow : tensor<40x7168xf32>
  %i8 = arith.fptosi %whole : tensor<40x7168xf32> to tensor<40x7168xi8>
  return %fp8, %scale, %i8, %scaleOfRow : tensor<40x7168xf8E4M3FN>, tensor<40x56xf32>, tensor<40x7168xi8>, tensor<40xf32>
}
