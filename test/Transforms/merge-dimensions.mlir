// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions 2>/dev/null | FileCheck %s

// Every operand is contiguous: one dimension is enough.
// CHECK:       #[[$E:.*]] = affine_map<() -> (6144)>
// CHECK-LABEL: func.func @contiguous
// CHECK:       swage.kernel {{.*}} extents #[[$E]]
// CHECK-SAME:    access = (d0) -> (d0)
func.func @contiguous(%x: tensor<8x1x768xf32>) -> tensor<8x1x768xf32> {
  %y = math.exp %x : tensor<8x1x768xf32>
  return %y : tensor<8x1x768xf32>
}

// -----

// The bias stands still along the outer two, so they merge and the inner one stays.
// CHECK-LABEL: func.func @broadcast
// CHECK:       swage.kernel {{.*}} extents #{{.*}} reduced
// CHECK-SAME:    access = (d0, d1) -> (d0 * 16 + d1)
// CHECK-SAME:    access = (d0, d1) -> (d1)
func.func @broadcast(%x: tensor<2x4x16xf32>, %b: tensor<16xf32>) -> tensor<2x4x16xf32> {
  %c = swage.broadcast %b dims [2] : tensor<16xf32> -> tensor<2x4x16xf32>
  %y = arith.addf %x, %c : tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// -----

// A slice leaves a gap between the rows, which then cannot be walked as one.
// CHECK-LABEL: func.func @gap
// CHECK:       access = (d0, d1) -> (d0 * 16 + d1 + 8)
// CHECK-SAME:    outputs [{{.*}}access = (d0, d1) -> (d0 * 8 + d1)
func.func @gap(%x: tensor<2x4x16xf32>) -> tensor<2x4x8xf32> {
  %y = swage.slice %x axis 2 from 8 size 8 : tensor<2x4x16xf32> -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// Dimensions that stay neighbours in both orders move together; a size of 1 between them does not keep them apart.
// CHECK-LABEL: func.func @permute
// CHECK:       access = (d0, d1) -> (d0 + d1 * 7)
func.func @permute(%x: tensor<4x1x5x7xf32>) -> tensor<7x4x1x5xf32> {
  %y = swage.permute %x [3, 0, 1, 2] : tensor<4x1x5x7xf32> -> tensor<7x4x1x5xf32>
  return %y : tensor<7x4x1x5xf32>
}

// -----

// Reduced and kept dimensions never merge; reduced ones come last.
// CHECK-LABEL: func.func @reduce_middle
// CHECK:       reduced [2]
// CHECK-SAME:    access = (d0, d1, d2) -> (d0 * 20 + d1 + d2 * 5)
func.func @reduce_middle(%x: tensor<3x4x5xf32>) -> tensor<3x5xf32> {
  %y = swage.reduce max %x dims [1] : tensor<3x4x5xf32> -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// Runtime extents merge into products.
// CHECK:       #[[$E:.*]] = affine_map<()[s0, s1] -> ((s0 * s1) * 8)>
// CHECK-LABEL: func.func @dynamic
// CHECK:       swage.kernel {{.*}} extents #[[$E]]
func.func @dynamic(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = math.exp %x : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// 2^32 elements: products stay in 64 bits.
// CHECK:       #[[$E:.*]] = affine_map<() -> (4294967296)>
// CHECK-LABEL: func.func @large
// CHECK:       extents #[[$E]]
func.func @large(%x: tensor<65536x65536xi8>) -> tensor<65536x65536xi8> {
  %y = arith.addi %x, %x : tensor<65536x65536xi8>
  return %y : tensor<65536x65536xi8>
}
