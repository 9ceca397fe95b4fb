// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule --swage-prepare-for-emission 2>/dev/null | FileCheck %s

// What a mask leaves of a row is computed once, from what does not vary in the row; the mask itself stays.

// CHECK-LABEL: func.func @causal
// CHECK:       swage.phase prologue for softmax zero_rows loads [0, 1, 2] stores [] access [0, 0, 1]
// CHECK:       swage.phase bounds loads [2] stores [] access [1] {
// CHECK-NEXT:  ^bb0(%[[ROW:.*]]: i32):
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[WIDE:.*]] = arith.extsi %[[ROW]] : i32 to i64
// CHECK-DAG:     %[[LAST:.*]] = arith.addi %[[WIDE]], %[[ONE]] overflow<nsw> : i64
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

// -----

// Blocks of rows and columns, and a distance without its sign: both ends.
// CHECK-LABEL: func.func @blocks
// CHECK:       swage.phase bounds
// CHECK:         %[[QUOTIENT:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK:         %[[WIDE:.*]] = arith.extsi %[[QUOTIENT]] : i32 to i64
// CHECK:         %[[MORE:.*]] = arith.addi %[[WIDE]], %{{.*}} : i64
// CHECK:         %[[LAST:.*]] = arith.muli %[[MORE]], %{{.*}} : i64
// CHECK:         %[[FIRST:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK:         swage.yield %[[FIRST]], %[[LAST]] : i64, i64
func.func @blocks(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %i = swage.iota dim 0 : tensor<64x128xi32>
  %j = swage.iota dim 1 : tensor<64x128xi32>
  %c = arith.constant dense<24> : tensor<64x128xi32>
  %a = arith.divui %i, %c : tensor<64x128xi32>
  %b = arith.divui %j, %c : tensor<64x128xi32>
  %m = arith.cmpi eq, %a, %b : tensor<64x128xi32>
  %y = swage.softmax %x mask %m axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

// CHECK-LABEL: func.func @distance
// CHECK:       swage.phase bounds
// CHECK-DAG:     arith.constant 9 : i64
// CHECK-DAG:     arith.constant -9 : i64
func.func @distance(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %i = swage.iota dim 0 : tensor<64x128xi32>
  %j = swage.iota dim 1 : tensor<64x128xi32>
  %nine = arith.constant dense<9> : tensor<64x128xi32>
  %d = arith.subi %i, %j : tensor<64x128xi32>
  %far = math.absi %d : tensor<64x128xi32>
  %m = arith.cmpi slt, %far, %nine : tensor<64x128xi32>
  %y = swage.softmax %x mask %m axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

// What is farther away is no range; a quotient of what may be negative is rounded to 0, not down.
// CHECK-LABEL: func.func @no_ranges
// CHECK-NOT:   swage.phase bounds
func.func @no_ranges(%x: tensor<64x128xf16>, %z: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>) {
  %i = swage.iota dim 0 : tensor<64x128xi32>
  %j = swage.iota dim 1 : tensor<64x128xi32>
  %nine = arith.constant dense<9> : tensor<64x128xi32>
  %d = arith.subi %j, %i : tensor<64x128xi32>
  %far = math.absi %d : tensor<64x128xi32>
  %m = arith.cmpi sgt, %far, %nine : tensor<64x128xi32>
  %y = swage.softmax %x mask %m axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  %q = arith.divsi %d, %nine : tensor<64x128xi32>
  %zero = arith.constant dense<0> : tensor<64x128xi32>
  %n = arith.cmpi eq, %q, %zero : tensor<64x128xi32>
  %w = swage.softmax %z mask %n axis 1 : tensor<64x128xf16>, tensor<64x128xi1> -> tensor<64x128xf16>
  return %y, %w : tensor<64x128xf16>, tensor<64x128xf16>
}
