// REQUIRES: host-compiler
// A row's result beside its elements: the epilogue sees the maximum, not the element. With templates and passes of two
// minds about that, every power was 1.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// CHECK: 0 {{ *}}9xf32 {{ *}}accepted
// CHECK: 1 {{ *}}9x48xf16 {{ *}}accepted
func.func @main(%x: tensor<9x48xf32>) -> (tensor<9xf32>, tensor<9x48xf16>) {
  %peak = swage.reduce max %x dims [1] : tensor<9x48xf32> -> tensor<9xf32>
  %peaks = swage.broadcast %peak dims [0] : tensor<9xf32> -> tensor<9x48xf32>
  %shifted = arith.subf %x, %peaks : tensor<9x48xf32>
  %powers = math.exp %shifted : tensor<9x48xf32>
  %sum = swage.reduce sum %powers dims [1] : tensor<9x48xf32> -> tensor<9xf32>
  %half = arith.truncf %powers : tensor<9x48xf32> to tensor<9x48xf16>
  return %sum, %half : tensor<9xf32>, tensor<9x48xf16>
}
