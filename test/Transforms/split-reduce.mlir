// RUN: swage-opt %s --swage-split-reduce -split-input-file -verify-diagnostics | FileCheck %s
// RUN: swage-opt %s --swage-split-reduce=arch=sm_80 -split-input-file 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not swage-opt %s --swage-split-reduce=arch=sm_91b -split-input-file 2>&1 | FileCheck %s --check-prefix=ARCH

// ARCH: error: {{.*}}sm_91b

// CHECK-LABEL: func @outer
// CHECK: %[[R:.*]] = swage.reshape %arg0 : tensor<16384x8192xbf16> -> tensor<16x1024x8192xbf16>
// CHECK: %[[P:.*]] = swage.reduce sum %[[R]] dims [1] : tensor<16x1024x8192xbf16> -> tensor<16x8192xf32>
// CHECK: %[[Y:.*]] = swage.reduce sum %[[P]] dims [0] : tensor<16x8192xf32> -> tensor<8192xbf16>
// CHECK: return %[[Y]]
// SM80: remark: split into 16 partial reductions for each of 8192 results: 1024 blocks instead of 64 for 108 multiprocessors
func.func @outer(%x: tensor<16384x8192xbf16>) -> tensor<8192xbf16> {
  // expected-remark @+1 {{split into 16 partial reductions for each of 8192 results: 1024 blocks instead of 64 for 132 multiprocessors}}
  %y = swage.reduce sum %x dims [0] : tensor<16384x8192xbf16> -> tensor<8192xbf16>
  return %y : tensor<8192xbf16>
}

// -----

// One result. A mean of means of equally many elements is the mean.
// CHECK-LABEL: func @full
// CHECK: swage.reduce mean %{{.*}} dims [1] : tensor<1024x131072xf16> -> tensor<1024xf32>
// CHECK: swage.reduce mean %{{.*}} dims [0] : tensor<1024xf32> -> tensor<f16>
func.func @full(%x: tensor<134217728xf16>) -> tensor<f16> {
  // expected-remark @+1 {{split into 1024 partial reductions for each of 1 results}}
  %y = swage.reduce mean %x dims [0] : tensor<134217728xf16> -> tensor<f16>
  return %y : tensor<f16>
}

// -----

// CHECK-LABEL: func @inner
// CHECK: swage.reduce max %{{.*}} dims [2] : tensor<16x64x131072xf32> -> tensor<16x64xf32>
// CHECK: swage.reduce max %{{.*}} dims [1] : tensor<16x64xf32> -> tensor<16xf32>
func.func @inner(%x: tensor<16x8388608xf32>) -> tensor<16xf32> {
  // expected-remark @+1 {{split into 64 partial reductions for each of 16 results}}
  %y = swage.reduce max %x dims [1] : tensor<16x8388608xf32> -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

// f64 and i32 keep their own type for the partial results.
// CHECK-LABEL: func @middle
// CHECK: swage.reduce sum %{{.*}} dims [2] : tensor<4x{{.*}}x512xf64> -> tensor<4x{{[0-9]+}}x512xf64>
// CHECK: swage.reduce min %{{.*}} dims [2] : tensor<4x{{.*}}x512xi32> -> tensor<4x{{[0-9]+}}x512xi32>
func.func @middle(%x: tensor<4x8192x512xf64>, %i: tensor<4x8192x512xi32>) -> (tensor<4x512xf64>, tensor<4x512xi32>) {
  // expected-remark @+1 {{split into}}
  %y = swage.reduce sum %x dims [1] : tensor<4x8192x512xf64> -> tensor<4x512xf64>
  // expected-remark @+1 {{split into}}
  %z = swage.reduce min %i dims [1] : tensor<4x8192x512xi32> -> tensor<4x512xi32>
  return %y, %z : tensor<4x512xf64>, tensor<4x512xi32>
}

// -----

// Several reduced dimensions: the leading ones are kept whole, so that what is fused into the first half stays linear.
// CHECK-LABEL: func @group
// CHECK: %[[R:.*]] = swage.reshape %arg0 : tensor<8x1024x768xf16> -> tensor<8x4x256x768xf16>
// CHECK: %[[P:.*]] = swage.reduce sum %[[R]] dims [2] : tensor<8x4x256x768xf16> -> tensor<8x4x768xf32>
// CHECK: swage.reduce sum %[[P]] dims [0, 1] : tensor<8x4x768xf32> -> tensor<768xf32>
func.func @group(%x: tensor<8x1024x768xf16>) -> tensor<768xf32> {
  // expected-remark @+1 {{split into 32 partial reductions for each of 768 results}}
  %y = swage.reduce sum %x dims [0, 1] : tensor<8x1024x768xf16> -> tensor<768xf32>
  return %y : tensor<768xf32>
}

// -----

// A dimension that is kept as a whole needs no reshape.
// CHECK-LABEL: func @whole_dimension
// CHECK-NEXT: %[[P:.*]] = swage.reduce sum %arg0 dims [2] : tensor<16x64x131072xf32> -> tensor<16x64xf32>
// CHECK-NEXT: swage.reduce sum %[[P]] dims [0] : tensor<16x64xf32> -> tensor<64xf32>
func.func @whole_dimension(%x: tensor<16x64x131072xf32>) -> tensor<64xf32> {
  // expected-remark @+1 {{split into 16 partial reductions for each of 64 results: 1024 blocks instead of 64}}
  %y = swage.reduce sum %x dims [0, 2] : tensor<16x64x131072xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// Enough results, too little work, nothing to divide by, a dynamic extent, nothing at all: no split.
// CHECK-LABEL: func @unsplit
// CHECK-NOT: swage.reshape
// CHECK-COUNT-5: swage.reduce
// CHECK-NOT: swage.reduce
func.func @unsplit(%a: tensor<8192x8192xf32>, %b: tensor<64x768xf32>, %c: tensor<100000007xf32>, %d: tensor<?x64xf32>, %e: tensor<0x64xf32>) {
  %0 = swage.reduce sum %a dims [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
  %1 = swage.reduce sum %b dims [0] : tensor<64x768xf32> -> tensor<768xf32>
  %2 = swage.reduce sum %c dims [0] : tensor<100000007xf32> -> tensor<f32>
  %3 = swage.reduce sum %d dims [0] : tensor<?x64xf32> -> tensor<64xf32>
  %4 = swage.reduce sum %e dims [0] : tensor<0x64xf32> -> tensor<64xf32>
  return
}
