// What no kernel computes yet, and why.
// RUN: not swage-opt %s --split-input-file --swage-kernel-pipeline 2>&1 | FileCheck %s

// CHECK: error: 'swage.attention' op cannot become a kernel: a region reads a tensor where no linear function of its coordinates is
func.func @table(%q: tensor<4x130x64xf16>, %of: tensor<130xi32>, %table: tensor<9xf32>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %place = tensor.extract %of[%j] : tensor<130xi32>
    %index = arith.index_cast %place : i32 to index
    %term = tensor.extract %table[%index] : tensor<9xf32>
    %t = arith.addf %s, %term : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xf16>, tensor<4x130x64xf16>, tensor<4x130x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention's head dims are known multiples of 8 up to 256
func.func @dims(%q: tensor<4x130x40x36xf16>) -> tensor<4x130x40x36xf16> {
  %o = swage.attention %q, %q, %q : (tensor<4x130x40x36xf16>, tensor<4x130x40x36xf16>, tensor<4x130x40x36xf16>) -> tensor<4x130x40x36xf16>
  return %o : tensor<4x130x40x36xf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention's operands hold f16 or bf16
func.func @wide(%q: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %o = swage.attention %q, %q, %q : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}
