// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions 2>/dev/null | FileCheck %s --check-prefix=FUSE
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=PREPARED
// RUN: not swage-opt %s --split-input-file --swage-kernel-pipeline=arch=sm_80 2>&1 | FileCheck %s --check-prefix=SM80

// A causal mask bounds the keys, and within the bounds nothing is left of it; the scale goes into the exponentials.
// FUSE-LABEL: func.func @causal
// FUSE: swage.kernel @attention_{{.*}} reduced [5, 6]
// FUSE-NEXT: ^bb0(%[[Q:.*]]: f32, %[[K:.*]]: f32, %[[V:.*]]: f32, %[[I:.*]]: i32, %[[J:.*]]: i32):
// FUSE: %[[S:.*]] = swage.contract %[[Q]], %[[K]] dim 6 : f32
// FUSE: %[[SCALED:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// FUSE: %[[SEEN:.*]] = arith.cmpi sle, %[[J]], %[[I]] : i32
// FUSE: %[[X:.*]] = arith.select %[[SEEN]], %[[SCALED]], %{{.*}} : f32
// FUSE: %[[W:.*]]:3 = swage.collective softmax %[[X]] zero_rows : f32 -> f32, f32, f32
// FUSE: swage.contract %[[W]]#0, %[[V]] dim 5 : f32
// PREPARED-LABEL: func.func @causal
// PREPARED: schedule #swage.attention_schedule<groups = 3, keys = 128, stages = 2, query_slots = 2, patience = 0, eager = true, holds_query = false
// PREPARED-SAME: blocks = () -> (8, 132), threads = 512
// PREPARED-SAME: #swage.tile<output = true, position = 0, dims = [4, 3, 2, 1, 0], box = [64, 16, 1, 1, 1], swizzle = 128>
// PREPARED: swage.phase prologue for softmax scale 1.250000e-01 zero_rows loads [3, 4]
// PREPARED: swage.phase inside loads []
// PREPARED: ^bb0(%[[SCORE:.*]]: f32):
// PREPARED-NEXT: swage.yield %[[SCORE]] : f32
// PREPARED: swage.phase bounds loads [3]
// SM80: error: 'swage.kernel' op has no kernel yet: attention for sm_80
func.func @causal(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x201x64xbf16>, %v: tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>
  return %o : tensor<2x4x130x64xbf16>
}

// -----

// Documents bound nothing; what a mask leaves to be asked stays inside. Queries do not stay in registers, which scores with operands need.
// PREPARED-LABEL: func.func @documents
// PREPARED: holds_query = false
// PREPARED: swage.phase inside loads [5, 6]
// PREPARED: arith.cmpi eq
// PREPARED-NOT: arith.cmpi sle
// PREPARED: swage.phase finish
func.func @documents(%q: tensor<4x130x128xf16>, %k: tensor<4x201x128xf16>, %v: tensor<4x201x128xf16>, %of: tensor<201xi32>) -> tensor<4x130x128xf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %mine = tensor.extract %of[%i] : tensor<201xi32>
    %other = tensor.extract %of[%j] : tensor<201xi32>
    %same = arith.cmpi eq, %mine, %other : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<4x130x128xf16>, tensor<4x201x128xf16>, tensor<4x201x128xf16>) -> tensor<4x130x128xf16>
  return %o : tensor<4x130x128xf16>
}

// -----

// The same causal mask as a difference, of which the other side is a number.
// PREPARED-LABEL: func.func @difference
// PREPARED: swage.phase inside loads []
// PREPARED: swage.phase bounds loads [3]
func.func @difference(%q: tensor<4x130x64xf16>, %k: tensor<4x201x64xf16>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %query = arith.index_cast %i : index to i64
    %key = arith.index_cast %j : index to i64
    %behind = arith.subi %query, %key : i64
    %c0 = arith.constant 0 : i64
    %seen = arith.cmpi sge, %behind, %c0 : i64
    swage.yield %seen : i1
  } : (tensor<4x130x64xf16>, tensor<4x201x64xf16>, tensor<4x201x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// A bound that falls from a query to the next is asked for each score.
// PREPARED-LABEL: func.func @falling
// PREPARED: swage.phase inside
// PREPARED: arith.cmpi
// PREPARED-NOT: swage.phase bounds
func.func @falling(%q: tensor<4x130x64xf16>, %k: tensor<4x201x64xf16>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %sum = arith.addi %i, %j : index
    %c201 = arith.constant 201 : index
    %seen = arith.cmpi slt, %sum, %c201 : index
    swage.yield %seen : i1
  } : (tensor<4x130x64xf16>, tensor<4x201x64xf16>, tensor<4x201x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}
