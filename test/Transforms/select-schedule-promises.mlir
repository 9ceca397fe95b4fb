// What is promised of runtime extents decides vectors and row classes, and a promise that decided nothing leaves no
// trace: neither attribute nor name.
// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null | FileCheck %s

// Nothing known: single elements, and a block that walks the row twice.
// CHECK-LABEL: func.func @unknown
// CHECK:       swage.kernel @softmax_{{[0-9a-f]+}} symbols 2 extents
// CHECK-SAME:  #swage.row_schedule<kind = looped, {{.*}}vector = 1,
func.func @unknown(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// The promise about rows is not used.
// CHECK-LABEL: func.func @divisible
// CHECK:       swage.kernel @softmax_{{[0-9a-f]+}}_s1x8 symbols 2 multiples [1, 8] extents
// CHECK-SAME:  #swage.row_schedule<kind = looped, {{.*}}vector = 8,
func.func @divisible(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 8, 8>, swage.at_most = array<i64: 100, 0>}) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// CHECK-LABEL: func.func @short
// CHECK:       swage.launch @softmax_[[NAME:[0-9a-f]+_s1x8_s1to1024]][
// CHECK:       swage.kernel @softmax_[[NAME]] symbols 2 multiples [1, 8] limits [0, 1024] extents
// CHECK-SAME:  #swage.row_schedule<kind = block, threads_per_row = 64, rows_per_block = 1, vector = 8, vectors_per_thread = 2
func.func @short(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 1, 8>, swage.at_most = array<i64: 0, 1024>}) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// CHECK-LABEL: func.func @medium_odd
// CHECK:       limits [0, 4096] extents
// CHECK-SAME:  #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 1, vectors_per_thread = 32
func.func @medium_odd(%x: tensor<?x?xf16> {swage.at_most = array<i64: 0, 4096>}) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// Beyond the registers of a cluster a bound says that a cluster is worth it.
// CHECK-LABEL: func.func @long
// CHECK:       swage.kernel @softmax_{{[0-9a-f]+}}_s1x8_s1to1000000 symbols 2 multiples [1, 8] limits [0, 1000000] extents
// CHECK-SAME:  #swage.row_schedule<kind = looped, {{.*}}vector = 8, {{.*}}blocks_per_row = 16
func.func @long(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 1, 8>, swage.at_most = array<i64: 0, 1000000>}) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// A row over two extents is as long as their bounds' product; the inner one carries the vectors. They stay two
// dimensions because beta moves along one of them only.
// CHECK-LABEL: func.func @two_reduced
// CHECK:       limits [0, 16, 64] extents
// CHECK-SAME:  #swage.row_schedule<kind = group, threads_per_row = 16, rows_per_block = 16, vector = 8, vectors_per_thread = 8
func.func @two_reduced(
    %x: tensor<?x?x?xf16> {swage.multiple_of = array<i64: 1, 1, 8>, swage.at_most = array<i64: 0, 16, 64>}, %b: tensor<?xf16>
) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = tensor.dim %x, %c0 : tensor<?x?x?xf16>
  %m = tensor.dim %x, %c1 : tensor<?x?x?xf16>
  %n = tensor.dim %x, %c2 : tensor<?x?x?xf16>
  %c = swage.broadcast %b dims [2] sizes(%k, %m, %n) : tensor<?xf16> -> tensor<?x?x?xf16>
  %s = arith.addf %x, %c : tensor<?x?x?xf16>
  %y = swage.reduce sum %s dims [1, 2] : tensor<?x?x?xf16> -> tensor<?xf16>
  return %y : tensor<?xf16>
}

// -----

// Half of a divisor helps half; what a number in the extent gives already is not asked of the promise.
// CHECK-LABEL: func.func @products
// CHECK:       swage.kernel @pointwise_{{[0-9a-f]+}}_s1x2 symbols 2 multiples [1, 2] extents
// CHECK-SAME:  #swage.pointwise_schedule<{{.*}}vector = 8, unroll = 1, tail = false
func.func @products(%x: tensor<?x?x12xf16> {swage.multiple_of = array<i64: 1, 2, 4>}, %b: tensor<?x12xf16>) -> tensor<?x?x12xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x12xf16>
  %n = tensor.dim %x, %c1 : tensor<?x?x12xf16>
  %c = swage.broadcast %b dims [1, 2] sizes(%m, %n) : tensor<?x12xf16> -> tensor<?x?x12xf16>
  %y = arith.addf %x, %c : tensor<?x?x12xf16>
  return %y : tensor<?x?x12xf16>
}

// -----

// Promises about equal extents hold for both: 4 and 6 make 12, and the lesser bound counts.
// CHECK-LABEL: func.func @equal
// CHECK:       swage.kernel @softmax_{{[0-9a-f]+}}_s1x12_s1to1000 symbols 2 multiples [1, 12] limits [0, 1000] extents
// CHECK-SAME:  vector = 4,
func.func @equal(%x: tensor<?x?xf32> {swage.multiple_of = array<i64: 1, 4>, swage.at_most = array<i64: 0, 5000>},
                 %y: tensor<?x?xf32> {swage.multiple_of = array<i64: 1, 6>, swage.at_most = array<i64: 0, 1000>}) -> tensor<?x?xf32> {
  %s = arith.addf %x, %y : tensor<?x?xf32>
  %z = swage.softmax %s axis 1 : tensor<?x?xf32> -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// Both sides of a transpose.
// CHECK-LABEL: func.func @transpose
// CHECK:       multiples [8, 8] extents
// CHECK-SAME:  #swage.permute_schedule<kind = tiles, {{.*}}vector_in = 4, vector_out = 8
func.func @transpose(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 8, 8>}) -> tensor<?x?xf16> {
  %y = swage.permute %x [1, 0] : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// Norms across the contiguous dimension, and reductions over outer ones.
// CHECK-LABEL: func.func @outer
// CHECK:       multiples [1, 8] extents
// CHECK-SAME:  #swage.row_schedule<kind = column, {{.*}}vector = 8
// CHECK:       multiples [1, 8] extents
// CHECK-SAME:  #swage.reduce_schedule<{{.*}}vector = 8
func.func @outer(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 1, 8>, swage.at_most = array<i64: 1024, 0>}) -> (tensor<?x?xf16>, tensor<?xf16>) {
  %y = swage.softmax %x axis 0 : tensor<?x?xf16> -> tensor<?x?xf16>
  %z = swage.reduce sum %x dims [0] : tensor<?x?xf16> -> tensor<?xf16>
  return %y, %z : tensor<?x?xf16>, tensor<?xf16>
}

// -----

// Two programs' worth of promises, one kernel: nothing that differs was used.
// CHECK-LABEL: func.func @shared
// CHECK:       swage.launch @layer_norm_[[NAME:[0-9a-f]+]][
// CHECK:       swage.launch @layer_norm_[[NAME]][
// CHECK:       swage.kernel @layer_norm_[[NAME]] symbols 1 extents
// CHECK-NOT:   swage.kernel
func.func @shared(%x: tensor<?x64xf16> {swage.multiple_of = array<i64: 8, 1>}, %y: tensor<?x64xf16> {swage.at_most = array<i64: 100, 64>})
    -> (tensor<?x64xf16>, tensor<?x64xf16>) {
  %a = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<?x64xf16>) -> tensor<?x64xf16>
  %b = swage.layer_norm %y axis 1 eps 1.0e-5 : (tensor<?x64xf16>) -> tensor<?x64xf16>
  return %a, %b : tensor<?x64xf16>, tensor<?x64xf16>
}

// -----

// A name that means something else in a module written by hand stays what it is.
// CHECK: swage.kernel @k symbols 1 extents #map
// CHECK: swage.kernel @k_s0x3 symbols 1 extents #map1
swage.kernel @k symbols 1 extents affine_map<()[s0] -> (s0 * 2)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0 * 2), access = (d0)[s0] -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0 * 2), access = (d0)[s0] -> (d0), align = 16>] {
^body(%a: f32):
  swage.yield %a : f32
}
swage.kernel @k_s0x3 symbols 1 multiples [3] extents affine_map<()[s0] -> (s0 * 4)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0 * 4), access = (d0)[s0] -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0 * 4), access = (d0)[s0] -> (d0), align = 16>] {
^body(%a: f32):
  swage.yield %a : f32
}
