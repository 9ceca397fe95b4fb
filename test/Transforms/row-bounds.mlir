// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule --swage-prepare-for-emission 2>/dev/null | FileCheck %s

// What a mask leaves of a row is computed once, from what does not vary in the row; the mask itself stays.

// CHECK-LABEL: func.func @causal
// CHECK:       swage.phase prologue for softmax zero_rows loads [0, 1, 2] stores [] access [0, 0, 1]
// CHECK:       swage.phase bounds loads [2] stores [] access [1] {
// CHECK-NEXT:  ^bb0(%[[ROW:.*]]: i32):
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[WIDE:.*]] = arith.extsi %[[ROW]] : i32 to i64
// CHECK-DAG:     %[[LAST:.*]] = arith.addi %[[WIDE]], %[[ONE]] : i64
// CHECK:         swage.yield %[[ZERO]], %[[LAST]] : i64, i64
func.func @causal(%x: tensor<6x128x128xf16>) -> tensor<6x128x128xf16> {
  %i = swage.iota dim 1 : tensor<6x128x128xi32>
  %j = swage.iota dim 2 : tensor<6x128x128xi32>
  %m = arith.cmpi sle, %j, %i : tensor<6x128x128xi32>
  %y = swage.softmax %x mask %m axis 2 : tensor<6x128x128xf16>, tensor<6x128x128xi1> -> tensor<6x128x128xf16>
  return %y : tensor<6x128x128xf16>
}

// -----

// i - j < 4 and a length: both ends.
// CHECK-LABEL: func.func @window_of_lengths
// CHECK:       swage.phase bounds loads [{{.*}}] stores [] access [1, 1] {
// CHECK:         swage.yield %{{.*}}, %{{.*}} : i64, i64
func.func @window_of_lengths(%x: tensor<64x128xf16>, %l: tensor<64xi32>) -> tensor<64x128xf16> {
  %i = swage.iota dim 0 : tensor<64x128xi32>
  %j = swage.iota dim 1 : tensor<64x128xi32>
  %four = arith.constant dense<4> : tensor<64x128xi32>
  %back = arith.subi %i, %j : tensor<64x128xi32>
  %near = arith.cmpi slt, %back, %four : tensor<64x128xi32>
  %ls = swage.broadcast %l dims [0] : tensor<64xi32> -> tensor<64x128xi32>
  %inside = arith.cmpi slt, %j, %ls : tensor<64x128xi32>
  %m = arith.andi %near, %inside : tensor<64x128xi1>
  %y = swage.softmax %x mask %m axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

// Written out it is the same: NaN for a row without elements, and the same bounds.
// CHECK-LABEL: func.func @filled
// CHECK:       swage.phase prologue for softmax loads
// CHECK:       swage.phase bounds
func.func @filled(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %i = swage.iota dim 0 : tensor<64x128xi32>
  %j = swage.iota dim 1 : tensor<64x128xi32>
  %none = arith.constant dense<0xFC00> : tensor<64x128xf16>
  %later = arith.cmpi sgt, %j, %i : tensor<64x128xi32>
  %w = arith.select %later, %none, %x : tensor<64x128xi1>, tensor<64x128xf16>
  %y = swage.softmax %w axis 1 : tensor<64x128xf16> -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

// A finite number counts, so it must be known where it stands; a sum that is stored must be read; and j + length may wrap.
// CHECK-LABEL: func.func @unbounded
// CHECK-NOT:   swage.phase bounds
func.func @unbounded(%x: tensor<64x128xf16>, %r: tensor<64x128xf16>, %l: tensor<64xi32>)
    -> (tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>) {
  %i = swage.iota dim 0 : tensor<64x128xi32>
  %j = swage.iota dim 1 : tensor<64x128xi32>
  %low = arith.constant dense<-1.0e4> : tensor<64x128xf16>
  %m = arith.cmpi sle, %j, %i : tensor<64x128xi32>
  %w = arith.select %m, %x, %low : tensor<64x128xi1>, tensor<64x128xf16>
  %y = swage.softmax %w axis 1 : tensor<64x128xf16> -> tensor<64x128xf16>
  %s = arith.addf %x, %r : tensor<64x128xf16>
  %z = swage.softmax %s mask %m axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  %ls = swage.broadcast %l dims [0] : tensor<64xi32> -> tensor<64x128xi32>
  %end = arith.addi %j, %ls : tensor<64x128xi32>
  %n = arith.cmpi slt, %end, %i : tensor<64x128xi32>
  %u = swage.softmax %r mask %n axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  return %y, %s, %z, %u : tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>
}
