// RUN: swage-opt %s -split-input-file --swage-fuse 2>/dev/null | FileCheck %s

// Two reductions of the same rows, whatever they are, and what is made of both are one kernel, also where what they share is a tensor that both load.
// CHECK-LABEL: func.func @two_reductions
// CHECK:         swage.launch @reduce_min_max_
// CHECK-NEXT:    swage.launch @reduce_sum_{{.*}} -> tensor<4x8xf16>
// CHECK-NEXT:    return
func.func @two_reductions(%x: tensor<4x8xf32>, %h: tensor<4x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xf16>) {
  %low = swage.reduce min %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %high = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %lows = swage.broadcast %low dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %range = arith.subf %high, %low : tensor<4xf32>
  %ranges = swage.broadcast %range dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %above = arith.subf %x, %lows : tensor<4x8xf32>
  %y = arith.divf %above, %ranges : tensor<4x8xf32>
  %wide = arith.extf %h : tensor<4x8xf16> to tensor<4x8xf32>
  %square = arith.mulf %wide, %wide : tensor<4x8xf32>
  %sum = swage.reduce sum %square dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %norm = math.sqrt %sum : tensor<4xf32>
  %narrow = arith.truncf %norm : tensor<4xf32> to tensor<4xf16>
  %norms = swage.broadcast %narrow dims [0] : tensor<4xf16> -> tensor<4x8xf16>
  %z = arith.divf %h, %norms : tensor<4x8xf16>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf16>
}

// -----

// A norm of rows that lie across memory, between permutes that undo each other, is one kernel.
// CHECK-LABEL: func.func @norm_across
// CHECK:         swage.launch @layer_norm_{{.*}} (%arg0) {{.*}} -> tensor<2x8x32xf16>
// CHECK-NEXT:    return
func.func @norm_across(%x: tensor<2x8x32xf16>) -> tensor<2x8x32xf16> {
  %p = swage.permute %x [0, 2, 1] : tensor<2x8x32xf16> -> tensor<2x32x8xf16>
  %n = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  %q = swage.permute %n [0, 2, 1] : tensor<2x32x8xf16> -> tensor<2x8x32xf16>
  return %q : tensor<2x8x32xf16>
}

// -----

// And so is a softmax, with what else it gives: the log-sum-exp of each row.
// CHECK-LABEL: func.func @softmax_across
// CHECK:         swage.launch @softmax_{{.*}} (%arg0) {{.*}} -> (tensor<2x32xf32>, tensor<2x8x32xf16>)
// CHECK-NEXT:    return
func.func @softmax_across(%x: tensor<2x8x32xf16>) -> (tensor<2x8x32xf16>, tensor<2x32xf32>) {
  %p = swage.permute %x [0, 2, 1] : tensor<2x8x32xf16> -> tensor<2x32x8xf16>
  %n, %lse = swage.softmax %p axis 2 : tensor<2x32x8xf16> -> tensor<2x32x8xf16>, tensor<2x32xf32>
  %q = swage.permute %n [0, 2, 1] : tensor<2x32x8xf16> -> tensor<2x8x32xf16>
  return %q, %lse : tensor<2x8x32xf16>, tensor<2x32xf32>
}

// -----

// So are what is made of each element of its result, and the sum that it is the norm of, which is stored as well.
// CHECK-LABEL: func.func @sum_norm_tanh_across
// CHECK:         swage.launch @layer_norm_{{.*}} (%arg0, %arg1, %arg2) {{.*}} -> (tensor<2x8x32xf16>, tensor<2x8x32xf16>)
// CHECK-NEXT:    return
func.func @sum_norm_tanh_across(%x: tensor<2x8x32xf16>, %r: tensor<2x8x32xf16>, %gamma: tensor<8xf16>) -> (tensor<2x8x32xf16>, tensor<2x8x32xf16>) {
  %s = arith.addf %x, %r : tensor<2x8x32xf16>
  %p = swage.permute %s [0, 2, 1] : tensor<2x8x32xf16> -> tensor<2x32x8xf16>
  %n = swage.layer_norm %p gamma %gamma axis 2 eps 1.0e-5 : (tensor<2x32x8xf16>, tensor<8xf16>) -> tensor<2x32x8xf16>
  %half = arith.constant dense<0.5> : tensor<2x32x8xf16>
  %h = arith.mulf %n, %half : tensor<2x32x8xf16>
  %t = math.tanh %h : tensor<2x32x8xf16>
  %q = swage.permute %t [0, 2, 1] : tensor<2x32x8xf16> -> tensor<2x8x32xf16>
  return %q, %s : tensor<2x8x32xf16>, tensor<2x8x32xf16>
}

// -----

// But not where someone else reads the result as it lies.
// CHECK-LABEL: func.func @norm_across_and_along
// CHECK:         swage.launch @transpose_
// CHECK-NEXT:    swage.launch @layer_norm_
// CHECK-NEXT:    swage.launch @transpose_
// CHECK-NEXT:    return
func.func @norm_across_and_along(%x: tensor<2x8x32xf16>) -> (tensor<2x8x32xf16>, tensor<2x32x8xf16>) {
  %p = swage.permute %x [0, 2, 1] : tensor<2x8x32xf16> -> tensor<2x32x8xf16>
  %n = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  %t = math.tanh %n : tensor<2x32x8xf16>
  %q = swage.permute %t [0, 2, 1] : tensor<2x32x8xf16> -> tensor<2x8x32xf16>
  return %q, %n : tensor<2x8x32xf16>, tensor<2x32x8xf16>
}
