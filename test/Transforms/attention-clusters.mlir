// Few sequences and heads: a cluster of up to eight blocks has a unit, where that is better than more blocks that merge through memory (docs/notes/decode.md).
// RUN: swage-opt %s --split-input-file --swage-kernel-pipeline | FileCheck %s
// RUN: swage-opt %s --split-input-file --swage-kernel-pipeline=arch=sm_90 | FileCheck %s --check-prefix=OTHER "--implicit-check-not=parts = "
// OTHER: #swage.decode_schedule
// CHECK-LABEL: func.func @pairs
// CHECK: spans = 128, bulk = true, index = 32, parts = 2>
func.func @pairs(%q: tensor<8x32x1x128xbf16>, %k: tensor<8x8x2048x128xbf16>) -> tensor<8x32x1x128xbf16> {
  %y = swage.attention %q, %k, %k scale 0.1 : (tensor<8x32x1x128xbf16>, tensor<8x8x2048x128xbf16>, tensor<8x8x2048x128xbf16>) -> tensor<8x32x1x128xbf16>
  return %y : tensor<8x32x1x128xbf16>
}

// -----

// 32 clusters of four do not run at once.
// CHECK-LABEL: func.func @threes
// CHECK: spans = 96, bulk = true, index = 32, parts = 3>
func.func @threes(%q: tensor<4x32x1x128xbf16>, %k: tensor<4x8x2048x128xbf16>, %v: tensor<4x8x2048x128xbf16>) -> tensor<4x32x1x128xbf16> {
  %y = swage.attention %q, %k, %v scale 0.1 : (tensor<4x32x1x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x2048x128xbf16>) -> tensor<4x32x1x128xbf16>
  return %y : tensor<4x32x1x128xbf16>
}

// -----

// So much is read that all multiprocessors count.
// CHECK-LABEL: func.func @long
// CHECK: spans = 128, bulk = true, index = 32>
func.func @long(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x65536x128xbf16>, %v: tensor<1x8x65536x128xbf16>) -> tensor<1x32x1x128xbf16> {
  %y = swage.attention %q, %k, %v scale 0.1 : (tensor<1x32x1x128xbf16>, tensor<1x8x65536x128xbf16>, tensor<1x8x65536x128xbf16>) -> tensor<1x32x1x128xbf16>
  return %y : tensor<1x32x1x128xbf16>
}

// -----

// Lengths from memory: of one sequence a cluster has parts as long as each other, of several one may be longer than the others.
// CHECK-LABEL: func.func @one
// CHECK: spans = 64, bulk = true, index = 32, parts = 8>
func.func @one(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x4096x128xbf16>, %v: tensor<1x8x4096x128xbf16>, %lengths: tensor<1xi32>) -> tensor<1x32x1x128xbf16> {
  %y = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<1xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<1x32x1x128xbf16>, tensor<1x8x4096x128xbf16>, tensor<1x8x4096x128xbf16>) -> tensor<1x32x1x128xbf16>
  return %y : tensor<1x32x1x128xbf16>
}

// -----

// CHECK-LABEL: func.func @several
// CHECK: spans = 132, bulk = true, index = 32>
func.func @several(%q: tensor<2x32x1x128xbf16>, %k: tensor<2x8x4096x128xbf16>, %v: tensor<2x8x4096x128xbf16>, %lengths: tensor<2xi32>) -> tensor<2x32x1x128xbf16> {
  %y = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<2xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<2x32x1x128xbf16>, tensor<2x8x4096x128xbf16>, tensor<2x8x4096x128xbf16>) -> tensor<2x32x1x128xbf16>
  return %y : tensor<2x32x1x128xbf16>
}

// -----

// One block makes a unit's probabilities.
// CHECK-LABEL: func.func @probabilities
// CHECK: spans = 128, bulk = true, index = 32>
func.func @probabilities(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x4096x128xbf16>, %v: tensor<1x8x4096x128xbf16>) -> (tensor<1x32x1x128xbf16>, tensor<1x32x1xf32>, tensor<1x32x1x4096xf32>) {
  %y, %sums, %p = swage.attention %q, %k, %v scale 0.1 : (tensor<1x32x1x128xbf16>, tensor<1x8x4096x128xbf16>, tensor<1x8x4096x128xbf16>) -> (tensor<1x32x1x128xbf16>, tensor<1x32x1xf32>, tensor<1x32x1x4096xf32>)
  return %y, %sums, %p : tensor<1x32x1x128xbf16>, tensor<1x32x1xf32>, tensor<1x32x1x4096xf32>
}
