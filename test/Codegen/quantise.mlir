// RUN: swage-translate --swage-to-cuda %s | FileCheck %s

// Rounding moves behind clamps to integers, where the conversion does it; and to i8 it saturates.
// CHECK: output0 = swage::roundToByte(input0);
// CHECK: extern "C"
func.func @clamped(%x: tensor<64x256xf32>) -> tensor<64x256xi8> {
  %lo = arith.constant dense<-128.0> : tensor<64x256xf32>
  %hi = arith.constant dense<127.0> : tensor<64x256xf32>
  %r = math.roundeven %x : tensor<64x256xf32>
  %l = arith.maximumf %r, %lo : tensor<64x256xf32>
  %h = arith.minimumf %l, %hi : tensor<64x256xf32>
  %q = arith.fptosi %h : tensor<64x256xf32> to tensor<64x256xi8>
  return %q : tensor<64x256xi8>
}

// A clamp that is narrower stays, in front of one that is not.
// CHECK: output0 = swage::roundToByte(swage::maximum(input0, -127.0f));
// CHECK: extern "C"
func.func @symmetric(%x: tensor<64x256xf32>) -> tensor<64x256xi8> {
  %lo = arith.constant dense<-127.0> : tensor<64x256xf32>
  %hi = arith.constant dense<127.0> : tensor<64x256xf32>
  %h = arith.minimumf %x, %hi : tensor<64x256xf32>
  %l = arith.maximumf %h, %lo : tensor<64x256xf32>
  %r = math.roundeven %l : tensor<64x256xf32>
  %q = arith.fptosi %r : tensor<64x256xf32> to tensor<64x256xi8>
  return %q : tensor<64x256xi8>
}

// Wider integers do not saturate.
// CHECK: output0 = swage::roundToInt(swage::minimum(input0, 127.0f));
// CHECK: extern "C"
func.func @wide(%x: tensor<64x256xf32>) -> tensor<64x256xi32> {
  %hi = arith.constant dense<127.0> : tensor<64x256xf32>
  %h = arith.minimumf %x, %hi : tensor<64x256xf32>
  %r = math.roundeven %h : tensor<64x256xf32>
  %q = arith.fptosi %r : tensor<64x256xf32> to tensor<64x256xi32>
  return %q : tensor<64x256xi32>
}

// Not behind a clamp to what is no integer, nor where somebody else sees what was rounded.
// CHECK: output0 = static_cast<signed char>(swage::minimum(swage::roundEven(input0), 126.5f));
// CHECK: extern "C"
func.func @fraction(%x: tensor<64x256xf32>) -> tensor<64x256xi8> {
  %hi = arith.constant dense<126.5> : tensor<64x256xf32>
  %r = math.roundeven %x : tensor<64x256xf32>
  %h = arith.minimumf %r, %hi : tensor<64x256xf32>
  %q = arith.fptosi %h : tensor<64x256xf32> to tensor<64x256xi8>
  return %q : tensor<64x256xi8>
}

// CHECK: const float roundeven = swage::roundEven(input0);
// CHECK: output0 = roundeven;
// CHECK: output1 = static_cast<int>(roundeven);
func.func @seen(%x: tensor<64x256xf32>) -> (tensor<64x256xi32>, tensor<64x256xf32>) {
  %r = math.roundeven %x : tensor<64x256xf32>
  %q = arith.fptosi %r : tensor<64x256xf32> to tensor<64x256xi32>
  return %q, %r : tensor<64x256xi32>, tensor<64x256xf32>
}
