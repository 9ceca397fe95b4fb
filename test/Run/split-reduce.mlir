// REQUIRES: host-compiler
// Prime numbers of elements go to three kernels: the parts, what they leave over, and both together.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// CHECK-COUNT-3: reduce_sum_
// CHECK-COUNT-3: reduce_sum_
// CHECK-COUNT-3: reduce_max_
// CHECK: 0 {{ *}}f32 {{ *}}accepted
// CHECK: 1 {{ *}}bf16 {{ *}}accepted
// CHECK: 2 {{ *}}2xf32 {{ *}}accepted
func.func @main(%x: tensor<1000003xf32>, %y: tensor<1299709xf32>, %z: tensor<2x1000003xf32>) -> (tensor<f32>, tensor<bf16>, tensor<2xf32>) {
  %squares = arith.mulf %x, %x : tensor<1000003xf32>
  %norm = swage.reduce sum %squares dims [0] : tensor<1000003xf32> -> tensor<f32>
  %mean = swage.reduce mean %y dims [0] : tensor<1299709xf32> -> tensor<bf16>
  %most = swage.reduce max %z dims [1] : tensor<2x1000003xf32> -> tensor<2xf32>
  return %norm, %mean, %most : tensor<f32>, tensor<bf16>, tensor<2xf32>
}
