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

// Enough results, too little work, a dynamic extent, nothing at all: no split.
// CHECK-LABEL: func @unsplit
// CHECK-NOT: swage.reshape
// CHECK-COUNT-4: swage.reduce
// CHECK-NOT: swage.reduce
func.func @unsplit(%a: tensor<8192x8192xf32>, %b: tensor<64x768xf32>, %d: tensor<?x64xf32>, %e: tensor<0x64xf32>) {
  %0 = swage.reduce sum %a dims [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
  %1 = swage.reduce sum %b dims [0] : tensor<64x768xf32> -> tensor<768xf32>
  %3 = swage.reduce sum %d dims [0] : tensor<?x64xf32> -> tensor<64xf32>
  %4 = swage.reduce sum %e dims [0] : tensor<0x64xf32> -> tensor<64xf32>
  return
}

// -----

// A prime number of elements: what the parts leave over is summed up by itself. Both compute what they need of the squares.
// CHECK-LABEL: func @prime
// CHECK: %[[R:.*]] = swage.slice %arg0 axis 0 from [[TAKEN:[0-9]+]] size [[LEFT:[0-9]+]] : tensor<30000001xf16>
// CHECK: %[[RR:.*]] = arith.mulf %[[R]], %[[R]] : tensor<[[LEFT]]xf16>
// CHECK: %[[REST:.*]] = swage.reduce sum %[[RR]] dims [0] : tensor<[[LEFT]]xf16> -> tensor<f32>
// CHECK: %[[M:.*]] = swage.slice %arg0 axis 0 from 0 size [[TAKEN]] : tensor<30000001xf16>
// CHECK: %[[MM:.*]] = arith.mulf %[[M]], %[[M]] : tensor<[[TAKEN]]xf16>
// CHECK: %[[P:.*]] = swage.reshape %[[MM]] : tensor<[[TAKEN]]xf16> -> tensor<[[N:[0-9]+]]x{{[0-9]+}}xf16>
// CHECK: %[[S:.*]] = swage.reduce sum %[[P]] dims [1] : {{.*}} -> tensor<[[N]]xf32>
// CHECK: %[[MOST:.*]] = swage.reduce sum %[[S]] dims [0] : tensor<[[N]]xf32> -> tensor<f32>
// CHECK: %[[Y:.*]] = arith.addf %[[MOST]], %[[REST]] : tensor<f32>
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<3.33333325E-8> : tensor<f32>
// CHECK-NEXT: %[[MEAN:.*]] = arith.mulf %[[Y]], %[[C]]
// CHECK-NEXT: %[[F:.*]] = arith.truncf %[[MEAN]] : tensor<f32> to tensor<f16>
// CHECK-NEXT: return %[[F]]
func.func @prime(%x: tensor<30000001xf16>) -> tensor<f16> {
  %q = arith.mulf %x, %x : tensor<30000001xf16>
  // expected-remark @+1 {{partial reductions for each of 1 results}}
  %y = swage.reduce mean %q dims [0] : tensor<30000001xf16> -> tensor<f16>
  return %y : tensor<f16>
}

// -----

// Half of it is a prime number: two parts would be too few. Integers, and across the contiguous dimension.
// CHECK-LABEL: func @nearly
// CHECK-COUNT-3: swage.reduce max
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : tensor<i32>
// CHECK: swage.reduce min %{{.*}} dims [1] : tensor<{{[0-9]+x[0-9]+}}x64xf32> -> tensor<{{[0-9]+}}x64xf32>
// CHECK: arith.minimumf %{{.*}}, %{{.*}} : tensor<64xf32>
func.func @nearly(%i: tensor<1999966xi32>, %x: tensor<1000003x64xf32>) -> (tensor<i32>, tensor<64xf32>) {
  // expected-remark @+1 {{partial reductions for each of 1 results}}
  %y = swage.reduce max %i dims [0] : tensor<1999966xi32> -> tensor<i32>
  // expected-remark @+1 {{partial reductions for each of 64 results}}
  %z = swage.reduce min %x dims [0] : tensor<1000003x64xf32> -> tensor<64xf32>
  return %y, %z : tensor<i32>, tensor<64xf32>
}

// -----

// A dimension of one element in front; three rows, of which more parts are needed than there are; a result of f64, of which the parts are too.
// CHECK-LABEL: func @leading
// CHECK: swage.reshape %{{.*}} : tensor<1x{{[0-9]+}}xf32> -> tensor<1x[[N:[0-9]+]]x{{[0-9]+}}xf32>
// CHECK: swage.reduce sum %{{.*}} dims [2] : {{.*}} -> tensor<1x[[N]]xf32>
// CHECK: swage.reduce sum %{{.*}} dims [0, 1] : tensor<1x[[N]]xf32> -> tensor<f32>
// CHECK: swage.reduce sum %{{.*}} dims [2] : {{.*}} -> tensor<3x[[M:[0-9]+]]xf32>
// CHECK: swage.reduce sum %{{.*}} dims [0, 1] : tensor<3x[[M]]xf32> -> tensor<f32>
// CHECK: swage.reduce sum %{{.*}} dims [1] : {{.*}} -> tensor<[[P:[0-9]+]]xf64>
// CHECK: swage.reduce sum %{{.*}} dims [0] : tensor<[[P]]xf64> -> tensor<f64>
func.func @leading(%x: tensor<1x30000001xf32>, %y: tensor<3x10000019xf32>, %z: tensor<1000003xf32>) -> (tensor<f32>, tensor<f32>, tensor<f64>) {
  // expected-remark @+1 {{partial reductions for each of 1 results}}
  %a = swage.reduce sum %x dims [0, 1] : tensor<1x30000001xf32> -> tensor<f32>
  // expected-remark @+1 {{partial reductions for each of 1 results}}
  %b = swage.reduce sum %y dims [0, 1] : tensor<3x10000019xf32> -> tensor<f32>
  // expected-remark @+1 {{partial reductions for each of 1 results}}
  %c = swage.reduce sum %z dims [0] : tensor<1000003xf32> -> tensor<f64>
  return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<f64>
}
