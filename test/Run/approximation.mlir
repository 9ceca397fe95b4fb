// Functions in fewer instructions, where results of 16 bits are all that is seen: by themselves and where terms cancel.
// RUN: swage-run %s --device=sim --check --sim=check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=nasty | FileCheck %s
// RUN: sed 's/bf16/f16/g' %s > %t.mlir && swage-run %t.mlir --device=sim --check | FileCheck %s
// CHECK-COUNT-9: accepted
// CHECK: {{^}}1 kernel ran
func.func @main(%x: tensor<64x1024xbf16>, %z: tensor<64x1024xbf16>)
    -> (tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>) {
  %one = arith.constant dense<1.0> : tensor<64x1024xbf16>
  %quotient = arith.divf %x, %z : tensor<64x1024xbf16>
  %e = math.exp %x : tensor<64x1024xbf16>
  %d = arith.addf %e, %one : tensor<64x1024xbf16>
  %sigmoid = arith.divf %one, %d : tensor<64x1024xbf16>
  %erf = math.erf %x : tensor<64x1024xbf16>
  %tanh = math.tanh %x : tensor<64x1024xbf16>
  %tail = arith.addf %erf, %one : tensor<64x1024xbf16>
  %gate = arith.addf %one, %tanh : tensor<64x1024xbf16>
  %difference = arith.subf %tanh, %erf : tensor<64x1024xbf16>
  %product = arith.mulf %tanh, %erf : tensor<64x1024xbf16>
  %below = math.expm1 %x : tensor<64x1024xbf16>
  %logarithm = math.log1p %x : tensor<64x1024xbf16>
  %softplus = math.log1p %e : tensor<64x1024xbf16>
  return %below, %logarithm, %softplus, %quotient, %sigmoid, %tail, %gate, %difference, %product
      : tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>
}
