// RUN: swage-opt %s --canonicalize --cse --swage-recognize --canonicalize --cse -split-input-file | FileCheck %s
// RUN: swage-opt %s --swage-recognize -split-input-file 2>&1 | grep -c "remark: recognised attention" | FileCheck %s --check-prefix=COUNT
// COUNT: {{^}}19{{$}}

// What attention is at its plainest: both products, scale, softmax.
// CHECK-LABEL: func @plain
// CHECK-NEXT: %[[O:.*]] = swage.attention %arg0, %arg1, %arg2 scale 1.250000e-01 nan_rows : (tensor<2x8x128x64xbf16>, tensor<2x8x96x64xbf16>, tensor<2x8x96x32xbf16>) -> tensor<2x8x128x32xbf16>
// CHECK-NEXT: return %[[O]]
func.func @plain(%q: tensor<2x8x128x64xbf16>, %k: tensor<2x8x96x64xbf16>, %v: tensor<2x8x96x32xbf16>) -> tensor<2x8x128x32xbf16> {
  %s = swage.matmul %q, %k transpose_b : (tensor<2x8x128x64xbf16>, tensor<2x8x96x64xbf16>) -> tensor<2x8x128x96xbf16>
  %p = swage.softmax %s axis 3 scale 0.125 : tensor<2x8x128x96xbf16> -> tensor<2x8x128x96xbf16>
  %o = swage.matmul %p, %v : (tensor<2x8x128x96xbf16>, tensor<2x8x96x32xbf16>) -> tensor<2x8x128x32xbf16>
  return %o : tensor<2x8x128x32xbf16>
}

// -----

// GPT-2: heads split and merged by permutes, products by batches of matrices, a causal mask as a select of -inf, softmax in f32 and as written.
// CHECK-LABEL: func @gpt2
// CHECK-DAG: %[[Q:.*]] = swage.permute %{{.*}} [0, 2, 1, 3] : tensor<2x64x12x64xf16> -> tensor<2x12x64x64xf16>
// CHECK: %[[O:.*]] = swage.attention %[[Q]], %{{.*}}, %{{.*}} scale 1.250000e-01 nan_rows mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[M:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT:   swage.yield %[[M]] : i1
// CHECK-NEXT: } : (tensor<2x12x64x64xf16>, tensor<2x12x64x64xf16>, tensor<2x12x64x64xf16>) -> tensor<2x12x64x64xf16>
// CHECK-NEXT: %[[P:.*]] = swage.permute %[[O]] [0, 2, 1, 3]
// CHECK-NEXT: %[[R:.*]] = swage.reshape %[[P]]
// CHECK-NEXT: return %[[R]]
func.func @gpt2(%qkv: tensor<2x64x2304xf16>) -> tensor<2x64x768xf16> {
  %q0 = swage.slice %qkv axis 2 from 0 size 768 : tensor<2x64x2304xf16> -> tensor<2x64x768xf16>
  %k0 = swage.slice %qkv axis 2 from 768 size 768 : tensor<2x64x2304xf16> -> tensor<2x64x768xf16>
  %v0 = swage.slice %qkv axis 2 from 1536 size 768 : tensor<2x64x2304xf16> -> tensor<2x64x768xf16>
  %q1 = swage.reshape %q0 : tensor<2x64x768xf16> -> tensor<2x64x12x64xf16>
  %k1 = swage.reshape %k0 : tensor<2x64x768xf16> -> tensor<2x64x12x64xf16>
  %v1 = swage.reshape %v0 : tensor<2x64x768xf16> -> tensor<2x64x12x64xf16>
  %q2 = swage.permute %q1 [0, 2, 1, 3] : tensor<2x64x12x64xf16> -> tensor<2x12x64x64xf16>
  %k2 = swage.permute %k1 [0, 2, 1, 3] : tensor<2x64x12x64xf16> -> tensor<2x12x64x64xf16>
  %v2 = swage.permute %v1 [0, 2, 1, 3] : tensor<2x64x12x64xf16> -> tensor<2x12x64x64xf16>
  %k3 = swage.permute %k2 [0, 1, 3, 2] : tensor<2x12x64x64xf16> -> tensor<2x12x64x64xf16>
  %q4 = swage.reshape %q2 : tensor<2x12x64x64xf16> -> tensor<24x64x64xf16>
  %k4 = swage.reshape %k3 : tensor<2x12x64x64xf16> -> tensor<24x64x64xf16>
  %v4 = swage.reshape %v2 : tensor<2x12x64x64xf16> -> tensor<24x64x64xf16>
  %s0 = swage.matmul %q4, %k4 : (tensor<24x64x64xf16>, tensor<24x64x64xf16>) -> tensor<24x64x64xf16>
  %s1 = swage.reshape %s0 : tensor<24x64x64xf16> -> tensor<2x12x64x64xf16>
  %eight = arith.constant dense<8.0> : tensor<2x12x64x64xf16>
  %s2 = arith.divf %s1, %eight : tensor<2x12x64x64xf16>
  %i = swage.iota dim 2 : tensor<2x12x64x64xi32>
  %j = swage.iota dim 3 : tensor<2x12x64x64xi32>
  %keep = arith.cmpi sle, %j, %i : tensor<2x12x64x64xi32>
  %none = arith.constant dense<0xFC00> : tensor<2x12x64x64xf16>
  %s3 = arith.select %keep, %s2, %none : tensor<2x12x64x64xi1>, tensor<2x12x64x64xf16>
  %s4 = arith.extf %s3 : tensor<2x12x64x64xf16> to tensor<2x12x64x64xf32>
  %m0 = swage.reduce max %s4 dims [3] : tensor<2x12x64x64xf32> -> tensor<2x12x64xf32>
  %m1 = swage.broadcast %m0 dims [0, 1, 2] : tensor<2x12x64xf32> -> tensor<2x12x64x64xf32>
  %d = arith.subf %s4, %m1 : tensor<2x12x64x64xf32>
  %e = math.exp %d : tensor<2x12x64x64xf32>
  %l0 = swage.reduce sum %e dims [3] : tensor<2x12x64x64xf32> -> tensor<2x12x64xf32>
  %l1 = swage.broadcast %l0 dims [0, 1, 2] : tensor<2x12x64xf32> -> tensor<2x12x64x64xf32>
  %p0 = arith.divf %e, %l1 : tensor<2x12x64x64xf32>
  %p1 = arith.truncf %p0 : tensor<2x12x64x64xf32> to tensor<2x12x64x64xf16>
  %p2 = swage.reshape %p1 : tensor<2x12x64x64xf16> -> tensor<24x64x64xf16>
  %o0 = swage.matmul %p2, %v4 : (tensor<24x64x64xf16>, tensor<24x64x64xf16>) -> tensor<24x64x64xf16>
  %o1 = swage.reshape %o0 : tensor<24x64x64xf16> -> tensor<2x12x64x64xf16>
  %o2 = swage.permute %o1 [0, 2, 1, 3] : tensor<2x12x64x64xf16> -> tensor<2x64x12x64xf16>
  %o3 = swage.reshape %o2 : tensor<2x64x12x64xf16> -> tensor<2x64x768xf16>
  return %o3 : tensor<2x64x768xf16>
}

// -----

// Llama: two heads of keys for eight of queries, repeated; the mask is added.
// CHECK-LABEL: func @llama
// CHECK: swage.attention %arg0, %arg1, %arg2 scale 1.250000e-01 nan_rows mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[M:.*]] = tensor.extract %arg3[%[[B]], %{{.*}}, %[[I]], %[[J]]] : tensor<2x1x128x96xi1>
// CHECK-NEXT:   swage.yield %[[M]] : i1
// CHECK-NEXT: } : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x64xbf16>) -> tensor<2x8x128x64xbf16>
func.func @llama(%q: tensor<2x8x128x64xbf16>, %k: tensor<2x2x96x64xbf16>, %v: tensor<2x2x96x64xbf16>,
                 %m: tensor<2x1x128x96xi1>) -> tensor<2x8x128x64xbf16> {
  %k1 = swage.broadcast %k dims [0, 1, 3, 4] : tensor<2x2x96x64xbf16> -> tensor<2x2x4x96x64xbf16>
  %k2 = swage.reshape %k1 : tensor<2x2x4x96x64xbf16> -> tensor<2x8x96x64xbf16>
  %v0 = swage.reshape %v : tensor<2x2x96x64xbf16> -> tensor<2x2x1x96x64xbf16>
  %v1 = swage.broadcast %v0 dims [0, 1, 2, 3, 4] : tensor<2x2x1x96x64xbf16> -> tensor<2x2x4x96x64xbf16>
  %v2 = swage.reshape %v1 : tensor<2x2x4x96x64xbf16> -> tensor<2x8x96x64xbf16>
  %k3 = swage.permute %k2 [0, 1, 3, 2] : tensor<2x8x96x64xbf16> -> tensor<2x8x64x96xbf16>
  %s0 = swage.matmul %q, %k3 : (tensor<2x8x128x64xbf16>, tensor<2x8x64x96xbf16>) -> tensor<2x8x128x96xbf16>
  %c = arith.constant dense<0.125> : tensor<2x8x128x96xbf16>
  %s1 = arith.mulf %s0, %c : tensor<2x8x128x96xbf16>
  %zero = arith.constant dense<0.0> : tensor<2x1x128x96xbf16>
  %none = arith.constant dense<0xFF80> : tensor<2x1x128x96xbf16>
  %b0 = arith.select %m, %zero, %none : tensor<2x1x128x96xi1>, tensor<2x1x128x96xbf16>
  %b1 = swage.broadcast %b0 dims [0, 1, 2, 3] : tensor<2x1x128x96xbf16> -> tensor<2x8x128x96xbf16>
  %s2 = arith.addf %s1, %b1 : tensor<2x8x128x96xbf16>
  %s3 = arith.extf %s2 : tensor<2x8x128x96xbf16> to tensor<2x8x128x96xf32>
  %p0 = swage.softmax %s3 axis 3 : tensor<2x8x128x96xf32> -> tensor<2x8x128x96xf32>
  %p1 = arith.truncf %p0 : tensor<2x8x128x96xf32> to tensor<2x8x128x96xbf16>
  %o = swage.matmul %p1, %v2 : (tensor<2x8x128x96xbf16>, tensor<2x8x96x64xbf16>) -> tensor<2x8x128x64xbf16>
  return %o : tensor<2x8x128x64xbf16>
}

// -----

// The same as batches of matrices, one head of keys for all, and the scale's root on either side.
// CHECK-LABEL: func @one_key_head
// CHECK: swage.attention %arg0, %arg1, %arg1 scale 1.250000e-01 nan_rows : (tensor<2x8x128x64xf16>, tensor<2x1x96x64xf16>, tensor<2x1x96x64xf16>) -> tensor<2x8x128x64xf16>
func.func @one_key_head(%q: tensor<2x8x128x64xf16>, %k: tensor<2x1x96x64xf16>) -> tensor<2x8x128x64xf16> {
  %root = arith.constant dense<0.25> : tensor<2x8x128x64xf16>
  %half = arith.constant dense<2.0> : tensor<2x8x96x64xf16>
  %q1 = arith.mulf %root, %q : tensor<2x8x128x64xf16>
  %q2 = swage.reshape %q1 : tensor<2x8x128x64xf16> -> tensor<16x128x64xf16>
  %k1 = swage.broadcast %k dims [0, 1, 2, 3] : tensor<2x1x96x64xf16> -> tensor<2x8x96x64xf16>
  %k2 = arith.divf %k1, %half : tensor<2x8x96x64xf16>
  %k3 = swage.reshape %k2 : tensor<2x8x96x64xf16> -> tensor<16x96x64xf16>
  %k4 = swage.permute %k3 [0, 2, 1] : tensor<16x96x64xf16> -> tensor<16x64x96xf16>
  %v1 = swage.reshape %k1 : tensor<2x8x96x64xf16> -> tensor<16x96x64xf16>
  %s0 = swage.matmul %q2, %k4 : (tensor<16x128x64xf16>, tensor<16x64x96xf16>) -> tensor<16x128x96xf16>
  %s1 = swage.reshape %s0 : tensor<16x128x96xf16> -> tensor<2x8x128x96xf16>
  %p0 = swage.softmax %s1 axis 3 : tensor<2x8x128x96xf16> -> tensor<2x8x128x96xf16>
  %p1 = swage.reshape %p0 : tensor<2x8x128x96xf16> -> tensor<16x128x96xf16>
  %o = swage.matmul %p1, %v1 : (tensor<16x128x96xf16>, tensor<16x96x64xf16>) -> tensor<16x128x64xf16>
  %r = swage.reshape %o : tensor<16x128x64xf16> -> tensor<2x8x128x64xf16>
  return %r : tensor<2x8x128x64xf16>
}

// -----

// Slopes by head, a softcap, and lengths: the score is whatever stands there.
// CHECK-LABEL: func @slopes
// CHECK: %[[O:.*]], %[[L:.*]] = swage.attention %arg0, %arg1, %arg1 scale 5.000000e-01 score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK:        %[[T:.*]] = math.tanh %[[S]] : f32
// CHECK:        %[[SLOPE:.*]] = tensor.extract %arg2[%[[H]]] : tensor<8xf16>
// CHECK:        arith.extf %[[SLOPE]] : f16 to f32
// CHECK:        swage.yield %{{.*}} : f32
// CHECK-NEXT: } mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J2:.*]]: index):
// CHECK:        tensor.extract %arg3[%[[B]]] : tensor<2xi32>
// CHECK:        arith.cmpi slt
func.func @slopes(%q: tensor<2x8x128x64xf16>, %k: tensor<2x8x96x64xf16>, %slope: tensor<8xf16>, %length: tensor<2xi32>)
    -> (tensor<2x8x128x64xf16>, tensor<2x8x128xf32>) {
  %s0 = swage.matmul %q, %k transpose_b : (tensor<2x8x128x64xf16>, tensor<2x8x96x64xf16>) -> tensor<2x8x128x96xf32>
  %half = arith.constant dense<0.5> : tensor<2x8x128x96xf32>
  %s1 = arith.mulf %s0, %half : tensor<2x8x128x96xf32>
  %s2 = math.tanh %s1 : tensor<2x8x128x96xf32>
  %i = swage.iota dim 2 : tensor<2x8x128x96xi32>
  %j = swage.iota dim 3 : tensor<2x8x128x96xi32>
  %d0 = arith.subi %j, %i : tensor<2x8x128x96xi32>
  %d1 = arith.sitofp %d0 : tensor<2x8x128x96xi32> to tensor<2x8x128x96xf32>
  %w0 = swage.broadcast %slope dims [1] : tensor<8xf16> -> tensor<2x8x128x96xf16>
  %w1 = arith.extf %w0 : tensor<2x8x128x96xf16> to tensor<2x8x128x96xf32>
  %b = arith.mulf %w1, %d1 : tensor<2x8x128x96xf32>
  %s3 = arith.addf %s2, %b : tensor<2x8x128x96xf32>
  %n = swage.broadcast %length dims [0] : tensor<2xi32> -> tensor<2x8x128x96xi32>
  %keep = arith.cmpi slt, %j, %n : tensor<2x8x128x96xi32>
  %p, %lse = swage.softmax %s3 mask %keep axis 3 : tensor<2x8x128x96xf32>, tensor<2x8x128x96xi1> -> tensor<2x8x128x96xf16>, tensor<2x8x128xf32>
  %o = swage.matmul %p, %k : (tensor<2x8x128x96xf16>, tensor<2x8x96x64xf16>) -> tensor<2x8x128x64xf16>
  // CHECK: return %[[O]], %[[L]]
  return %o, %lse : tensor<2x8x128x64xf16>, tensor<2x8x128xf32>
}

// -----

// A finite number is no mask, but a score like any other.
// CHECK-LABEL: func @finite_mask
// CHECK: swage.attention %arg0, %arg0, %arg0 nan_rows score {
// CHECK:   %[[X:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:   swage.yield %[[X]] : f32
// CHECK-NEXT: } : (tensor<4x16x8xf16>
func.func @finite_mask(%q: tensor<4x16x8xf16>, %m: tensor<16xi1>) -> tensor<4x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<4x16x8xf16>, tensor<4x16x8xf16>) -> tensor<4x16x16xf16>
  %low = arith.constant dense<-1.0e4> : tensor<4x16x16xf16>
  %keep = swage.broadcast %m dims [2] : tensor<16xi1> -> tensor<4x16x16xi1>
  %t = arith.select %keep, %s, %low : tensor<4x16x16xi1>, tensor<4x16x16xf16>
  %p = swage.softmax %t axis 2 : tensor<4x16x16xf16> -> tensor<4x16x16xf16>
  %o = swage.matmul %p, %q : (tensor<4x16x16xf16>, tensor<4x16x8xf16>) -> tensor<4x16x8xf16>
  return %o : tensor<4x16x8xf16>
}

// -----

// One head without a dimension for it; queries and keys widened, which changes nothing.
// CHECK-LABEL: func @one_head
// CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} nan_rows score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[B:.*]] = tensor.extract %arg2[%[[I]], %[[J]]] : tensor<16x16xf32>
// CHECK-NEXT:   %[[T:.*]] = arith.addf %[[B]], %[[S]] : f32
// CHECK-NEXT:   %[[U:.*]] = arith.mulf %[[T]], %{{.*}} : f32
// CHECK-NEXT:   swage.yield %[[U]] : f32
// CHECK-NEXT: } : (tensor<1x16x8xf16>, tensor<1x16x8xf16>, tensor<1x16x8xf16>) -> tensor<1x16x8xf16>
// CHECK-NEXT: swage.reshape %{{.*}} : tensor<1x16x8xf16> -> tensor<16x8xf16>
func.func @one_head(%q: tensor<16x8xf16>, %v: tensor<16x8xf16>, %bias: tensor<16x16xf32>) -> tensor<16x8xf16> {
  %w = arith.extf %q : tensor<16x8xf16> to tensor<16x8xf32>
  %s = swage.matmul %w, %w transpose_b : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x16xf32>
  %t = arith.addf %bias, %s : tensor<16x16xf32>
  %p = swage.softmax %t axis 1 scale 0.25 : tensor<16x16xf32> -> tensor<16x16xf16>
  %o = swage.matmul %p, %v : (tensor<16x16xf16>, tensor<16x8xf16>) -> tensor<16x8xf16>
  return %o : tensor<16x8xf16>
}

// -----

// Runtime lengths, where nothing is reshaped; a mask in front of a bias stays in the score.
// CHECK-LABEL: func @dynamic
// CHECK: swage.attention %arg0, %arg1, %arg1 nan_rows score {
// CHECK:   tensor.extract %arg2
// CHECK:   arith.select
// CHECK: } : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
func.func @dynamic(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %m: tensor<?x8x?x?xi1>, %b: tensor<?x8x?x?xf16>,
                   %none: tensor<?x8x?x?xf16>) -> tensor<?x8x?x64xf16> {
  %s = swage.matmul %q, %k transpose_b : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x?xf16>
  %t = arith.select %m, %s, %none : tensor<?x8x?x?xi1>, tensor<?x8x?x?xf16>
  %u = arith.addf %t, %b : tensor<?x8x?x?xf16>
  %p = swage.softmax %u axis 3 : tensor<?x8x?x?xf16> -> tensor<?x8x?x?xf16>
  %o = swage.matmul %p, %k : (tensor<?x8x?x?xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}

// -----

// A select of -inf on the other side, and one added: both must hold. What the bias is read through is undone: [16, ..] is [2, 8, ..].
// CHECK-LABEL: func @masks_and_bias
// CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} nan_rows score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-DAG:    %[[B0:.*]] = arith.divui %[[H]], %{{.*}} : index
// CHECK-DAG:    %[[B1:.*]] = arith.remui %[[H]], %{{.*}} : index
// CHECK:        tensor.extract %arg1[%[[B0]], %[[B1]], %[[I]], %[[J]]] : tensor<2x8x16x16xf16>
// CHECK:      } mask {
// CHECK:        %[[C:.*]] = tensor.extract %arg3
// CHECK:        %[[D:.*]] = tensor.extract %arg2
// CHECK:        %[[N:.*]] = arith.xori %{{.*}}, %{{.*}} : i1
// CHECK:        arith.andi
// CHECK:        swage.yield
func.func @masks_and_bias(%q: tensor<16x16x8xf16>, %bias: tensor<2x8x16x16xf16>, %drop: tensor<16x16xi1>, %keep: tensor<16x16xi1>) -> tensor<16x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<16x16x8xf16>, tensor<16x16x8xf16>) -> tensor<16x16x16xf16>
  %b = swage.reshape %bias : tensor<2x8x16x16xf16> -> tensor<16x16x16xf16>
  %t = arith.addf %s, %b : tensor<16x16x16xf16>
  %none = arith.constant dense<0xFC00> : tensor<16x16x16xf16>
  %d = swage.broadcast %drop dims [1, 2] : tensor<16x16xi1> -> tensor<16x16x16xi1>
  %u = arith.select %d, %none, %t : tensor<16x16x16xi1>, tensor<16x16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf16>
  %low = arith.constant dense<0xFC00> : tensor<16x16xf16>
  %a0 = arith.select %keep, %zero, %low : tensor<16x16xi1>, tensor<16x16xf16>
  %a1 = swage.broadcast %a0 dims [1, 2] : tensor<16x16xf16> -> tensor<16x16x16xf16>
  %w = arith.addf %u, %a1 : tensor<16x16x16xf16>
  %p = swage.softmax %w axis 2 : tensor<16x16x16xf16> -> tensor<16x16x16xf16>
  %o = swage.matmul %p, %q : (tensor<16x16x16xf16>, tensor<16x16x8xf16>) -> tensor<16x16x8xf16>
  return %o : tensor<16x16x8xf16>
}

// -----

// Keys and values are repeated differently: as they are then.
// CHECK-LABEL: func @different_groups
// CHECK: %[[K:.*]] = swage.broadcast %arg1
// CHECK: swage.attention %arg0, %[[K]], %arg2 nan_rows : (tensor<8x16x8xf16>, tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
func.func @different_groups(%q: tensor<8x16x8xf16>, %k: tensor<1x16x8xf16>, %v: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %k1 = swage.broadcast %k dims [0, 1, 2] : tensor<1x16x8xf16> -> tensor<8x16x8xf16>
  %s = swage.matmul %q, %k1 transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %o = swage.matmul %p, %v : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Values and keys may stand the other way round. A permutation that also splits heads is undone by another.
// CHECK-LABEL: func @transposed
// CHECK-DAG: %[[K:.*]] = swage.permute %arg1 [0, 2, 1, 3] : tensor<2x16x4x8xf16> -> tensor<2x4x16x8xf16>
// CHECK-DAG: %[[V:.*]] = swage.permute %arg2 [0, 1, 3, 2] : tensor<2x4x8x16xf16> -> tensor<2x4x16x8xf16>
// CHECK: swage.attention %arg0, %[[K]], %[[V]] nan_rows :
func.func @transposed(%q: tensor<2x4x16x8xf16>, %k: tensor<2x16x4x8xf16>, %v: tensor<2x4x8x16xf16>) -> tensor<2x4x16x8xf16> {
  %k1 = swage.permute %k [0, 2, 3, 1] : tensor<2x16x4x8xf16> -> tensor<2x4x8x16xf16>
  %s = swage.matmul %q, %k1 : (tensor<2x4x16x8xf16>, tensor<2x4x8x16xf16>) -> tensor<2x4x16x16xf16>
  %p = swage.softmax %s axis 3 : tensor<2x4x16x16xf16> -> tensor<2x4x16x16xf16>
  %o = swage.matmul %p, %v transpose_b : (tensor<2x4x16x16xf16>, tensor<2x4x8x16xf16>) -> tensor<2x4x16x8xf16>
  return %o : tensor<2x4x16x8xf16>
}

// -----

// Two layers, the second of what the first gives.
// CHECK-LABEL: func @two
// CHECK: %[[A:.*]] = swage.attention %arg0, %arg0, %arg0
// CHECK: %[[B:.*]] = swage.attention %[[A]], %[[A]], %[[A]]
// CHECK: return %[[B]]
func.func @two(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  %s2 = swage.matmul %o, %o transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p2 = swage.softmax %s2 axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %o2 = swage.matmul %p2, %o : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o2 : tensor<8x16x8xf16>
}

// -----

// A relative position bias that is itself a product is read, not computed again.
// CHECK-LABEL: func @product_as_bias
// CHECK: %[[R:.*]] = swage.matmul %arg0, %arg1
// CHECK: swage.attention %arg0, %arg0, %arg0 nan_rows score {
// CHECK:   tensor.extract %[[R]]
func.func @product_as_bias(%q: tensor<8x16x8xf16>, %r: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %b = swage.matmul %q, %r transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %t = arith.addf %s, %b : tensor<8x16x16xf16>
  %p = swage.softmax %t axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// PyTorch's own decomposition for 16-bit operands: widened, the scale's root on both sides, -inf added, rows of -inf guarded, narrowed at the end.
// CHECK-LABEL: func @safe_softmax
// CHECK: swage.attention %arg0, %arg1, %arg1 scale 0.12499999{{[0-9]*}} mask {
// CHECK:   arith.cmpi sle
// CHECK: } : (tensor<2x8x24x64xbf16>, tensor<2x2x20x64xbf16>, tensor<2x2x20x64xbf16>) -> tensor<2x8x24x64xf32>
// CHECK-NEXT: arith.truncf
func.func @safe_softmax(%q: tensor<2x8x24x64xbf16>, %k: tensor<2x2x20x64xbf16>) -> tensor<2x8x24x64xbf16> {
  %rq = arith.constant dense<0.353553385> : tensor<2x8x24x64xf32>
  %rk = arith.constant dense<0.353553385> : tensor<2x8x64x20xf32>
  %zero = arith.constant dense<0.0> : tensor<24x20xf32>
  %low = arith.constant dense<0xFF800000> : tensor<24x20xf32>
  %c0 = arith.constant dense<0> : tensor<24x20xi32>
  %none = arith.constant dense<0xFF800000> : tensor<2x8x24x20xf32>
  %true = arith.constant dense<true> : tensor<2x8x24x20xi1>
  %still = arith.constant dense<true> : tensor<2x8x24x1xi1>
  %nothing = arith.constant dense<0> : tensor<2x8x24xi32>
  %zeros = arith.constant dense<0.0> : tensor<2x8x24x20xf32>
  %q0 = arith.extf %q : tensor<2x8x24x64xbf16> to tensor<2x8x24x64xf32>
  %q1 = arith.mulf %q0, %rq : tensor<2x8x24x64xf32>
  %k0 = arith.extf %k : tensor<2x2x20x64xbf16> to tensor<2x2x20x64xf32>
  %k1 = swage.broadcast %k0 dims [0, 1, 3, 4] : tensor<2x2x20x64xf32> -> tensor<2x2x4x20x64xf32>
  %k2 = swage.reshape %k1 : tensor<2x2x4x20x64xf32> -> tensor<2x8x20x64xf32>
  %k3 = swage.permute %k2 [0, 1, 3, 2] : tensor<2x8x20x64xf32> -> tensor<2x8x64x20xf32>
  %k4 = arith.mulf %k3, %rk : tensor<2x8x64x20xf32>
  %q5 = swage.reshape %q1 : tensor<2x8x24x64xf32> -> tensor<16x24x64xf32>
  %k5 = swage.reshape %k4 : tensor<2x8x64x20xf32> -> tensor<16x64x20xf32>
  %s0 = swage.matmul %q5, %k5 : (tensor<16x24x64xf32>, tensor<16x64x20xf32>) -> tensor<16x24x20xf32>
  %s1 = swage.reshape %s0 : tensor<16x24x20xf32> -> tensor<2x8x24x20xf32>
  %i = swage.iota dim 0 : tensor<24x20xi32>
  %j = swage.iota dim 1 : tensor<24x20xi32>
  %d = arith.subi %j, %i : tensor<24x20xi32>
  %m = arith.cmpi sle, %d, %c0 : tensor<24x20xi32>
  %b0 = arith.select %m, %zero, %low : tensor<24x20xi1>, tensor<24x20xf32>
  %b1 = swage.broadcast %b0 dims [2, 3] : tensor<24x20xf32> -> tensor<2x8x24x20xf32>
  %s2 = arith.addf %s1, %b1 : tensor<2x8x24x20xf32>
  %p0 = swage.softmax %s2 axis 3 : tensor<2x8x24x20xf32> -> tensor<2x8x24x20xf32>
  %e0 = arith.cmpf oeq, %s2, %none : tensor<2x8x24x20xf32>
  %e1 = arith.xori %e0, %true : tensor<2x8x24x20xi1>
  %e2 = arith.extui %e1 : tensor<2x8x24x20xi1> to tensor<2x8x24x20xi32>
  %e3 = swage.reduce max %e2 dims [3] : tensor<2x8x24x20xi32> -> tensor<2x8x24xi32>
  %e4 = arith.cmpi ne, %e3, %nothing : tensor<2x8x24xi32>
  %e5 = swage.reshape %e4 : tensor<2x8x24xi1> -> tensor<2x8x24x1xi1>
  %e6 = arith.xori %e5, %still : tensor<2x8x24x1xi1>
  %e7 = swage.broadcast %e6 dims [0, 1, 2, 3] : tensor<2x8x24x1xi1> -> tensor<2x8x24x20xi1>
  %p1 = arith.select %e7, %zeros, %p0 : tensor<2x8x24x20xi1>, tensor<2x8x24x20xf32>
  %p2 = swage.reshape %p1 : tensor<2x8x24x20xf32> -> tensor<16x24x20xf32>
  %v5 = swage.reshape %k2 : tensor<2x8x20x64xf32> -> tensor<16x20x64xf32>
  %o0 = swage.matmul %p2, %v5 : (tensor<16x24x20xf32>, tensor<16x20x64xf32>) -> tensor<16x24x64xf32>
  %o1 = swage.reshape %o0 : tensor<16x24x64xf32> -> tensor<2x8x24x64xf32>
  %o2 = arith.truncf %o1 : tensor<2x8x24x64xf32> to tensor<2x8x24x64xbf16>
  return %o2 : tensor<2x8x24x64xbf16>
}

// -----

// Widened, but the result is f32: so are the weights.
// CHECK-LABEL: func @widened
// CHECK: %[[W:.*]] = arith.extf %arg0
// CHECK: swage.attention %[[W]], %[[W]], %[[W]] nan_rows : (tensor<8x16x8xf32>, tensor<8x16x8xf32>, tensor<8x16x8xf32>) -> tensor<8x16x8xf32>
func.func @widened(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf32> {
  %w = arith.extf %q : tensor<8x16x8xf16> to tensor<8x16x8xf32>
  %s = swage.matmul %w, %w transpose_b : (tensor<8x16x8xf32>, tensor<8x16x8xf32>) -> tensor<8x16x16xf32>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf32> -> tensor<8x16x16xf32>
  %o = swage.matmul %p, %w : (tensor<8x16x16xf32>, tensor<8x16x8xf32>) -> tensor<8x16x8xf32>
  return %o : tensor<8x16x8xf32>
}

// -----

// Of f32.
// CHECK-LABEL: func @full
// CHECK-NEXT: %[[O:.*]] = swage.attention %arg0, %arg1, %arg2 scale 1.250000e-01 nan_rows : (tensor<2x8x128x64xf32>, tensor<2x8x96x64xf32>, tensor<2x8x96x32xf32>) -> tensor<2x8x128x32xf32>
// CHECK-NEXT: return %[[O]]
func.func @full(%q: tensor<2x8x128x64xf32>, %k: tensor<2x8x96x64xf32>, %v: tensor<2x8x96x32xf32>) -> tensor<2x8x128x32xf32> {
  %c = arith.constant dense<0.125> : tensor<2x8x128x96xf32>
  %s = swage.matmul %q, %k transpose_b : (tensor<2x8x128x64xf32>, tensor<2x8x96x64xf32>) -> tensor<2x8x128x96xf32>
  %t = arith.mulf %s, %c : tensor<2x8x128x96xf32>
  %p = swage.softmax %t axis 3 : tensor<2x8x128x96xf32> -> tensor<2x8x128x96xf32>
  %o = swage.matmul %p, %v : (tensor<2x8x128x96xf32>, tensor<2x8x96x32xf32>) -> tensor<2x8x128x32xf32>
  return %o : tensor<2x8x128x32xf32>
}

// -----

// Dropout as frameworks write it: zeros by a select, and what is left is raised.
// CHECK-LABEL: func @dropout
// CHECK: %[[BITS:.*]] = swage.random %arg3
// CHECK: swage.attention %arg0, %arg1, %arg2 scale 1.250000e-01 nan_rows weight {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-DAG: %[[WORD:.*]] = tensor.extract %[[BITS]][%[[B]], %[[H]], %[[I]], %[[J]]] : tensor<2x8x128x96xi32>
// CHECK-DAG: %[[KEPT:.*]] = arith.cmpi uge, %[[WORD]], %{{.*}} : i32
// CHECK: %[[F:.*]] = arith.select %[[KEPT]], %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: swage.yield %[[F]] : f32
func.func @dropout(%q: tensor<2x8x128x64xbf16>, %k: tensor<2x8x96x64xbf16>, %v: tensor<2x8x96x32xbf16>, %state: tensor<2xi64>)
    -> (tensor<2x8x128x32xbf16>, tensor<2x8x128x96xi1>) {
  %s = swage.matmul %q, %k transpose_b : (tensor<2x8x128x64xbf16>, tensor<2x8x96x64xbf16>) -> tensor<2x8x128x96xbf16>
  %p = swage.softmax %s axis 3 scale 0.125 : tensor<2x8x128x96xbf16> -> tensor<2x8x128x96xbf16>
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x8x128x96xi32>
  %least = arith.constant dense<-2147483648> : tensor<2x8x128x96xi32>
  %keep = arith.cmpi uge, %bits, %least : tensor<2x8x128x96xi32>
  %two = arith.constant dense<2.0> : tensor<2x8x128x96xbf16>
  %zero = arith.constant dense<0.0> : tensor<2x8x128x96xbf16>
  %raised = arith.mulf %p, %two : tensor<2x8x128x96xbf16>
  %d = arith.select %keep, %raised, %zero : tensor<2x8x128x96xi1>, tensor<2x8x128x96xbf16>
  %o = swage.matmul %d, %v : (tensor<2x8x128x96xbf16>, tensor<2x8x96x32xbf16>) -> tensor<2x8x128x32xbf16>
  return %o, %keep : tensor<2x8x128x32xbf16>, tensor<2x8x128x96xi1>
}

// -----

// The same as a product with zeros and ones, of f32, and a factor for each query.
// CHECK-LABEL: func @dropout_product
// CHECK: swage.attention %arg0, %arg1, %arg2 scale 1.250000e-01 nan_rows weight {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-DAG: %[[KEPT:.*]] = tensor.extract %arg3[%[[B]], %[[H]], %[[I]], %[[J]]]
// CHECK-DAG: %[[OWN:.*]] = tensor.extract %arg4[%[[I]]]
// CHECK-DAG: %[[RAISED:.*]] = arith.mulf %[[OWN]], %{{.*}} : f32
// CHECK: %[[F:.*]] = arith.select %[[KEPT]], %[[RAISED]], %{{.*}} : f32
// CHECK-NEXT: swage.yield %[[F]] : f32
func.func @dropout_product(%q: tensor<2x8x128x64xbf16>, %k: tensor<2x8x96x64xbf16>, %v: tensor<2x8x96x32xbf16>, %keep: tensor<2x8x128x96xi1>,
                           %own: tensor<128xf32>) -> tensor<2x8x128x32xbf16> {
  %s = swage.matmul %q, %k transpose_b : (tensor<2x8x128x64xbf16>, tensor<2x8x96x64xbf16>) -> tensor<2x8x128x96xbf16>
  %wide = arith.extf %s : tensor<2x8x128x96xbf16> to tensor<2x8x128x96xf32>
  %p = swage.softmax %wide axis 3 scale 0.125 : tensor<2x8x128x96xf32> -> tensor<2x8x128x96xf32>
  %ones = arith.uitofp %keep : tensor<2x8x128x96xi1> to tensor<2x8x128x96xf32>
  %d = arith.mulf %ones, %p : tensor<2x8x128x96xf32>
  %half = arith.constant dense<0.5> : tensor<2x8x128x96xf32>
  %raised = arith.divf %d, %half : tensor<2x8x128x96xf32>
  %rows = swage.broadcast %own dims [2] : tensor<128xf32> -> tensor<2x8x128x96xf32>
  %weighted = arith.mulf %raised, %rows : tensor<2x8x128x96xf32>
  %narrow = arith.truncf %weighted : tensor<2x8x128x96xf32> to tensor<2x8x128x96xbf16>
  %o = swage.matmul %narrow, %v : (tensor<2x8x128x96xbf16>, tensor<2x8x96x32xbf16>) -> tensor<2x8x128x32xbf16>
  return %o : tensor<2x8x128x32xbf16>
}
