// RUN: swage-translate --swage-to-cuda %s | FileCheck %s

// Elements that are only seen in 16 bits need no exponential that is exact to the last digit of a float.
// CHECK-LABEL: // @softmax_{{.*}} at {{.*}}softmax-rounding.mlir:7
// CHECK:       enum : bool { kRounded = true };
func.func @stored(%x: tensor<64x256xbf16>) -> tensor<64x256xbf16> {
  %y = swage.softmax %x axis 1 : tensor<64x256xbf16> -> tensor<64x256xbf16>
  return %y : tensor<64x256xbf16>
}

// CHECK-LABEL: // @softmax_{{.*}}softmax-rounding.mlir:16
// CHECK-NOT:   kRounded
// CHECK:       PrologueLoads
func.func @float(%x: tensor<64x256xbf16>) -> tensor<64x256xf32> {
  %f = arith.extf %x : tensor<64x256xbf16> to tensor<64x256xf32>
  %y = swage.softmax %f axis 1 : tensor<64x256xf32> -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// Nothing sees an element: the row result is a float.
// CHECK-LABEL: // @softmax_{{.*}}softmax-rounding.mlir:25
// CHECK-NOT:   kRounded
// CHECK:       PrologueLoads
func.func @statistic(%x: tensor<64x256xbf16>) -> tensor<64xf32> {
  %y, %lse = swage.softmax %x axis 1 : tensor<64x256xbf16> -> tensor<64x256xbf16>, tensor<64xf32>
  return %lse : tensor<64xf32>
}

// What is left of a difference may be any digit of it.
// CHECK-LABEL: // @softmax_{{.*}}softmax-rounding.mlir:34
// CHECK-NOT:   kRounded
// CHECK:       PrologueLoads
func.func @difference(%x: tensor<64x256xf32>, %z: tensor<64x256xf32>) -> tensor<64x256xf16> {
  %y = swage.softmax %x axis 1 : tensor<64x256xf32> -> tensor<64x256xf32>
  %d = arith.subf %y, %z : tensor<64x256xf32>
  %h = arith.truncf %d : tensor<64x256xf32> to tensor<64x256xf16>
  return %h : tensor<64x256xf16>
}
