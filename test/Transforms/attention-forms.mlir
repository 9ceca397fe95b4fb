// What frameworks put around attention becomes part of it, and several batch dimensions are one to a kernel.
// RUN: swage-opt %s -split-input-file --canonicalize --cse --swage-recognize --canonicalize --cse 2>/dev/null | FileCheck %s
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=KERNEL

// Heads that are repeated, in front of a permute and behind one; a causal mask of i64 numbers that is added.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[V:.*]] = swage.permute %arg2 [0, 2, 1, 3] : tensor<2x32x2x64xbf16> -> tensor<2x2x32x64xbf16>
// CHECK: swage.attention %arg0, %arg1, %[[V]] scale 2.500000e-01 mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-DAG: %[[J32:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK-DAG: %[[J64:.*]] = arith.extsi %[[J32]] : i32 to i64
// CHECK-DAG: %[[I32:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-DAG: %[[I64:.*]] = arith.extsi %[[I32]] : i32 to i64
// CHECK: %[[M:.*]] = arith.cmpi sle, %[[J64]], %[[I64]] : i64
// CHECK-NEXT: swage.yield %[[M]] : i1
// KERNEL-LABEL: func.func @repeated
// KERNEL-NEXT: swage.launch @attention_{{[0-9a-f]*}} (%arg0, %arg1, %arg2)
// KERNEL: swage.phase inside loads []
// KERNEL: swage.phase bounds
func.func @repeated(%q: tensor<2x4x32x64xbf16>, %k: tensor<2x2x32x64xbf16>, %v: tensor<2x32x2x64xbf16>) -> tensor<2x4x32x64xbf16> {
  %k0 = swage.reshape %k : tensor<2x2x32x64xbf16> -> tensor<2x2x1x32x64xbf16>
  %k1 = swage.broadcast %k0 dims [0, 1, 2, 3, 4] : tensor<2x2x1x32x64xbf16> -> tensor<2x2x2x32x64xbf16>
  %k2 = swage.reshape %k1 : tensor<2x2x2x32x64xbf16> -> tensor<2x4x32x64xbf16>
  %v1 = swage.broadcast %v dims [0, 1, 2, 4] : tensor<2x32x2x64xbf16> -> tensor<2x32x2x2x64xbf16>
  %v2 = swage.reshape %v1 : tensor<2x32x2x2x64xbf16> -> tensor<2x32x4x64xbf16>
  %v3 = swage.permute %v2 [0, 2, 1, 3] : tensor<2x32x4x64xbf16> -> tensor<2x4x32x64xbf16>
  %i = swage.iota dim 0 : tensor<32xi32>
  %i6 = arith.extsi %i : tensor<32xi32> to tensor<32xi64>
  %row = swage.broadcast %i6 dims [0] : tensor<32xi64> -> tensor<32x32xi64>
  %column = swage.broadcast %i6 dims [1] : tensor<32xi64> -> tensor<32x32xi64>
  %seen = arith.cmpi sle, %column, %row : tensor<32x32xi64>
  %zero = arith.constant dense<0.0> : tensor<32x32xbf16>
  %none = arith.constant dense<0xFF80> : tensor<32x32xbf16>
  %m = arith.select %seen, %zero, %none : tensor<32x32xi1>, tensor<32x32xbf16>
  %m1 = swage.reshape %m : tensor<32x32xbf16> -> tensor<1x1x32x32xbf16>
  %m2 = swage.broadcast %m1 dims [0, 1, 2, 3] : tensor<1x1x32x32xbf16> -> tensor<2x1x32x32xbf16>
  %c0 = arith.constant 0 : index
  %o = swage.attention %q, %k2, %v3 scale 0.25 score {
  ^bb0(%s: f32, %b0: index, %h: index, %ii: index, %j: index):
    %bias = tensor.extract %m2[%b0, %c0, %ii, %j] : tensor<2x1x32x32xbf16>
    %wide = arith.extf %bias : bf16 to f32
    %t = arith.addf %s, %wide : f32
    swage.yield %t : f32
  } : (tensor<2x4x32x64xbf16>, tensor<2x4x32x64xbf16>, tensor<2x4x32x64xbf16>) -> tensor<2x4x32x64xbf16>
  return %o : tensor<2x4x32x64xbf16>
}

// -----

// As many keys, but not as many values: nothing is done by halves. What is repeated in another order is none of the groups.
// CHECK-LABEL: func.func @not_repeated
// CHECK-COUNT-2: swage.attention %{{.*}} : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>, tensor<4x32x64xbf16>)
func.func @not_repeated(%q: tensor<4x32x64xbf16>, %k: tensor<2x32x64xbf16>) -> (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>) {
  %k1 = swage.broadcast %k dims [0, 2, 3] : tensor<2x32x64xbf16> -> tensor<2x2x32x64xbf16>
  %k2 = swage.reshape %k1 : tensor<2x2x32x64xbf16> -> tensor<4x32x64xbf16>
  %o = swage.attention %q, %k2, %q : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>, tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16>
  %k3 = swage.broadcast %k dims [1, 2, 3] : tensor<2x32x64xbf16> -> tensor<2x2x32x64xbf16>
  %k4 = swage.reshape %k3 : tensor<2x2x32x64xbf16> -> tensor<4x32x64xbf16>
  %p = swage.attention %q, %k4, %k4 : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>, tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16>
  return %o, %p : tensor<4x32x64xbf16>, tensor<4x32x64xbf16>
}

// -----

// A bias of several tensors is computed once; a mask on lengths, of which nothing as large is read, for each score.
// CHECK-LABEL: func.func @computed
// CHECK: arith.mulf %arg1, %arg2
// CHECK: score {
// CHECK: tensor.extract %{{.*}} : tensor<4x32x32xf32>
// CHECK: mask {
// CHECK: tensor.extract %arg3[%{{.*}}] : tensor<2xi32>
// CHECK: arith.cmpi slt
func.func @computed(%q: tensor<2x4x32x64xbf16>, %a: tensor<4x32x32xf32>, %b: tensor<4x32x32xf32>, %lengths: tensor<2xi32>) -> tensor<2x4x32x64xbf16> {
  %bias = arith.mulf %a, %b : tensor<4x32x32xf32>
  %at = swage.iota dim 1 : tensor<2x32xi32>
  %all = swage.broadcast %lengths dims [0] : tensor<2xi32> -> tensor<2x32xi32>
  %keep = arith.cmpi slt, %at, %all : tensor<2x32xi32>
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %n: index, %h: index, %i: index, %j: index):
    %x = tensor.extract %bias[%h, %i, %j] : tensor<4x32x32xf32>
    %t = arith.addf %s, %x : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%n: index, %h: index, %i: index, %j: index):
    %m = tensor.extract %keep[%n, %j] : tensor<2x32xi1>
    swage.yield %m : i1
  } : (tensor<2x4x32x64xbf16>, tensor<2x4x32x64xbf16>, tensor<2x4x32x64xbf16>) -> tensor<2x4x32x64xbf16>
  return %o : tensor<2x4x32x64xbf16>
}

// -----

// A score that decides where it says -inf itself, and a finite number: both stay.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: arith.select
// CHECK-NOT: mask {
// CHECK: return
func.func @stays(%q: tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16> {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %low = arith.constant -1.0e+30 : f32
    %zero = arith.constant 0.0 : f32
    %seen = arith.cmpi sle, %j, %i : index
    %x = arith.select %seen, %s, %low : f32
    %positive = arith.cmpf ogt, %x, %zero : f32
    %t = arith.select %positive, %x, %none : f32
    swage.yield %t : f32
  } : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>, tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16>
  return %o : tensor<4x32x64xbf16>
}

// -----

// Two batch dimensions, as they lie; what is read by one of them is copied for both. Nothing is copied of the results.
// KERNEL-LABEL: func.func @batches
// KERNEL-NEXT: %[[S:.*]] = swage.launch @{{.*}} (%arg3) {{.*}} -> tensor<6x4xf32>
// KERNEL-NEXT: %[[B:.*]] = swage.launch @{{.*}} (%arg4) {{.*}} -> tensor<6x90xf32>
// KERNEL-NEXT: %[[O:.*]]:2 = swage.launch @attention_{{[0-9a-f]*}} (%arg0, %arg1, %[[S]], %[[B]], %arg2)
// KERNEL-NEXT: return %[[O]]#0, %[[O]]#1
func.func @batches(%q: tensor<2x3x4x70x64xbf16>, %k: tensor<2x3x2x90x64xbf16>, %docs: tensor<2x3x90xi32>, %slope: tensor<4x3xf32>, %bias: tensor<2x90xf32>) -> (tensor<2x3x4x70x64xbf16>, tensor<2x3x4x70xf32>) {
  %o:2 = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %a: index, %b: index, %h: index, %i: index, %j: index):
    %x = tensor.extract %slope[%h, %b] : tensor<4x3xf32>
    %y = tensor.extract %bias[%a, %j] : tensor<2x90xf32>
    %z = arith.mulf %x, %y : f32
    %t = arith.addf %s, %z : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%a: index, %b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %docs[%a, %b, %i] : tensor<2x3x90xi32>
    %other = tensor.extract %docs[%a, %b, %j] : tensor<2x3x90xi32>
    %same = arith.cmpi sle, %mine, %other : i32
    %first = arith.cmpi sge, %j, %b : index
    %seen = arith.andi %same, %first : i1
    swage.yield %seen : i1
  } : (tensor<2x3x4x70x64xbf16>, tensor<2x3x2x90x64xbf16>, tensor<2x3x2x90x64xbf16>) -> (tensor<2x3x4x70x64xbf16>, tensor<2x3x4x70xf32>)
  return %o#0, %o#1 : tensor<2x3x4x70x64xbf16>, tensor<2x3x4x70xf32>
}

// -----

// Dynamic ones; heads beside each other in the result.
// KERNEL-LABEL: func.func @dynamic
// KERNEL: %[[O:.*]] = swage.launch @attention_{{.*}} (%arg0, %arg1, %arg2)
// KERNEL-NEXT: return %[[O]]
func.func @dynamic(%q: tensor<?x?x4x?x64xbf16>, %k: tensor<?x?x2x?x64xbf16>, %docs: tensor<?x?x?xi32>) -> tensor<?x?x?x4x64xbf16> {
  %o = swage.attention %q, %k, %k scale 0.125 mask {
  ^bb0(%a: index, %b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %docs[%a, %b, %i] : tensor<?x?x?xi32>
    %other = tensor.extract %docs[%a, %b, %j] : tensor<?x?x?xi32>
    %same = arith.cmpi sle, %mine, %other : i32
    swage.yield %same : i1
  } : (tensor<?x?x4x?x64xbf16>, tensor<?x?x2x?x64xbf16>, tensor<?x?x2x?x64xbf16>) -> tensor<?x?x4x?x64xbf16>
  %p = swage.permute %o [0, 1, 3, 2, 4] : tensor<?x?x4x?x64xbf16> -> tensor<?x?x?x4x64xbf16>
  return %p : tensor<?x?x?x4x64xbf16>
}

// -----

// Batches that are not beside each other are copied together; where they are, all else may be anywhere.
// KERNEL-LABEL: func.func @views
// KERNEL-NEXT: %[[Q:.*]] = swage.launch @permute_{{[0-9a-f]*}} (%arg0) {{.*}} -> tensor<6x4x70x64xbf16>
// KERNEL-NEXT: %[[O:.*]] = swage.launch @attention_{{[0-9a-f]*}} (%[[Q]], %arg1) {{.*}} -> tensor<2x3x70x256xbf16>
// KERNEL-NEXT: return %[[O]]
func.func @views(%q: tensor<2x70x3x4x64xbf16>, %k: tensor<2x3x90x2x64xbf16>) -> tensor<2x3x70x256xbf16> {
  %q1 = swage.permute %q [0, 2, 3, 1, 4] : tensor<2x70x3x4x64xbf16> -> tensor<2x3x4x70x64xbf16>
  %k1 = swage.permute %k [0, 1, 3, 2, 4] : tensor<2x3x90x2x64xbf16> -> tensor<2x3x2x90x64xbf16>
  %o = swage.attention %q1, %k1, %k1 scale 0.125 : (tensor<2x3x4x70x64xbf16>, tensor<2x3x2x90x64xbf16>, tensor<2x3x2x90x64xbf16>) -> tensor<2x3x4x70x64xbf16>
  %p = swage.permute %o [0, 1, 3, 2, 4] : tensor<2x3x4x70x64xbf16> -> tensor<2x3x70x4x64xbf16>
  %r = swage.reshape %p : tensor<2x3x70x4x64xbf16> -> tensor<2x3x70x256xbf16>
  return %r : tensor<2x3x70x256xbf16>
}
