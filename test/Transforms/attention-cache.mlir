// Keys and values of 8 bits in the kernel of few queries: what they are multiplied by goes behind the contractions. Elsewhere they are stored as 16 bits first.
// RUN: swage-opt %s --swage-fuse --mlir-print-local-scope 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// A factor for each key and a constant; for values one for each head.
// CHECK-LABEL: func.func @factors
// CHECK-NEXT: swage.launch @[[$FACTORS:attention_[0-9a-f]*]] (%arg0, %arg1, %arg2, %arg3, %arg4)
// CHECK-NEXT: return
func.func @factors(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xi8>, %v: tensor<2x2x300x64xi8>, %ks: tensor<2x2x300xf16>, %vs: tensor<2xf32>) -> tensor<2x8x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xf32>
  %c = arith.constant dense<0.5> : tensor<2x2x300x64xf32>
  %kc = arith.mulf %kw, %c : tensor<2x2x300x64xf32>
  %kb = swage.broadcast %ks dims [0, 1, 2] : tensor<2x2x300xf16> -> tensor<2x2x300x64xf16>
  %kf = arith.extf %kb : tensor<2x2x300x64xf16> to tensor<2x2x300x64xf32>
  %km = arith.mulf %kf, %kc : tensor<2x2x300x64xf32>
  %kt = arith.truncf %km : tensor<2x2x300x64xf32> to tensor<2x2x300x64xbf16>
  %vw = arith.sitofp %v : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %vt = arith.truncf %vs : tensor<2xf32> to tensor<2xbf16>
  %vb = swage.broadcast %vt dims [1] : tensor<2xbf16> -> tensor<2x2x300x64xbf16>
  %vm = arith.mulf %vw, %vb : tensor<2x2x300x64xbf16>
  %o = swage.attention %q, %kt, %vm scale 0.125 : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}

// A factor for each key goes to its weight.
// CHECK-LABEL: func.func @weights
// CHECK-NEXT: swage.launch @[[$WEIGHTS:attention_[0-9a-f]*]] (%arg0, %arg1, %arg2, %arg3)
// CHECK-NEXT: return
func.func @weights(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xf8E4M3FN>, %v: tensor<2x2x300x64xf8E4M3FN>, %vs: tensor<2x2x300xbf16>) -> tensor<2x8x1x64xbf16> {
  %kw = arith.extf %k : tensor<2x2x300x64xf8E4M3FN> to tensor<2x2x300x64xbf16>
  %vw = arith.extf %v : tensor<2x2x300x64xf8E4M3FN> to tensor<2x2x300x64xbf16>
  %vb = swage.broadcast %vs dims [0, 1, 2] : tensor<2x2x300xbf16> -> tensor<2x2x300x64xbf16>
  %vm = arith.mulf %vw, %vb : tensor<2x2x300x64xbf16>
  %o = swage.attention %q, %kw, %vm scale 0.125 : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}

// Queries that are computed are stored, keys and values are not.
// CHECK-LABEL: func.func @queries
// CHECK-NEXT: %[[Q:.*]] = swage.launch @copy_{{.*}} (%arg0)
// CHECK-NEXT: swage.launch @attention_{{.*}} (%[[Q]], %arg1, %arg2)
// CHECK-NEXT: return
// REMARK: [[#@LINE+5]]:8: remark: operands that are computed are stored first: the operands of attention come from memory
func.func @queries(%q: tensor<2x8x1x64xf32>, %k: tensor<2x2x300x64xi8>, %v: tensor<2x2x300x64xi8>) -> tensor<2x8x1x64xf16> {
  %qt = arith.truncf %q : tensor<2x8x1x64xf32> to tensor<2x8x1x64xf16>
  %kw = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xf16>
  %vw = arith.sitofp %v : tensor<2x2x300x64xi8> to tensor<2x2x300x64xf16>
  %o = swage.attention %qt, %kw, %vw scale 0.125 : (tensor<2x8x1x64xf16>, tensor<2x2x300x64xf16>, tensor<2x2x300x64xf16>) -> tensor<2x8x1x64xf16>
  return %o : tensor<2x8x1x64xf16>
}

// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: swage.launch @{{copy|pointwise}}_
// CHECK-NEXT: swage.launch @attention_{{.*}} (%arg0, %0, %1)
// REMARK: [[#@LINE+4]]:8: remark: operands that are computed are stored first: keys and values of 8 bits are for few queries that share a key head
func.func @many(%q: tensor<2x8x300x64xbf16>, %k: tensor<2x2x300x64xi8>, %v: tensor<2x2x300x64xi8>) -> tensor<2x8x300x64xbf16> {
  %kw = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %vw = arith.sitofp %v : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %o = swage.attention %q, %kw, %vw scale 0.125 : (tensor<2x8x300x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x8x300x64xbf16>
  return %o : tensor<2x8x300x64xbf16>
}

// CHECK-LABEL: func.func @mixed
// CHECK: swage.launch @{{copy|pointwise}}_
// CHECK: swage.launch @attention_{{.*}} : ({{.*}}16>, {{.*}}16>, {{.*}}16>) ->
// REMARK: [[#@LINE+4]]:8: remark: operands that are computed are stored first: attention's keys and values are of two types
func.func @mixed(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xi8>, %v: tensor<2x2x300x64xf8E5M2>) -> tensor<2x8x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %vw = arith.extf %v : tensor<2x2x300x64xf8E5M2> to tensor<2x2x300x64xbf16>
  %o = swage.attention %q, %kw, %vw scale 0.125 : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}

// Weights of f16 times a factor may be beyond its range; and a factor that differs along the head dim is none.
// CHECK-LABEL: func.func @half
// CHECK: swage.launch @{{copy|pointwise}}_
// CHECK: swage.launch @attention_{{.*}} : ({{.*}}16>, {{.*}}16>, {{.*}}16>) ->
// REMARK: [[#@LINE+5]]:8: remark: operands that are computed are stored first: weights of f16 are multiplied by no factors of keys
func.func @half(%q: tensor<2x8x1x64xf16>, %k: tensor<2x2x300x64xi8>, %vs: tensor<2x2x300xf16>) -> tensor<2x8x1x64xf16> {
  %kw = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xf16>
  %vb = swage.broadcast %vs dims [0, 1, 2] : tensor<2x2x300xf16> -> tensor<2x2x300x64xf16>
  %vm = arith.mulf %kw, %vb : tensor<2x2x300x64xf16>
  %o = swage.attention %q, %kw, %vm scale 0.125 : (tensor<2x8x1x64xf16>, tensor<2x2x300x64xf16>, tensor<2x2x300x64xf16>) -> tensor<2x8x1x64xf16>
  return %o : tensor<2x8x1x64xf16>
}
// CHECK-LABEL: func.func @channels
// CHECK: swage.launch @{{copy|pointwise}}_
// CHECK: swage.launch @attention_{{.*}} : ({{.*}}16>, {{.*}}16>, {{.*}}16>) ->
// REMARK: [[#@LINE+6]]:8: remark: operands that are computed are stored first: the operands of attention come from memory
func.func @channels(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xi8>, %v: tensor<2x2x300x64xi8>, %ks: tensor<64xbf16>) -> tensor<2x8x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %kb = swage.broadcast %ks dims [3] : tensor<64xbf16> -> tensor<2x2x300x64xbf16>
  %km = arith.mulf %kw, %kb : tensor<2x2x300x64xbf16>
  %vw = arith.sitofp %v : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %o = swage.attention %q, %km, %vw scale 0.125 : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
// Vectors of 16 bytes.
// CHECK-LABEL: func.func @short
// CHECK: swage.launch @{{copy|pointwise}}_
// CHECK: swage.launch @attention_{{.*}} : ({{.*}}16>, {{.*}}16>, {{.*}}16>) ->
// REMARK: [[#@LINE+4]]:8: remark: operands that are computed are stored first: keys are not contiguous along the head dim, from multiples of 16 bytes on
func.func @short(%q: tensor<2x8x1x72xbf16>, %k: tensor<2x2x300x72xi8>, %v: tensor<2x2x300x72xi8>) -> tensor<2x8x1x72xbf16> {
  %kw = arith.sitofp %k : tensor<2x2x300x72xi8> to tensor<2x2x300x72xbf16>
  %vw = arith.sitofp %v : tensor<2x2x300x72xi8> to tensor<2x2x300x72xbf16>
  %o = swage.attention %q, %kw, %vw scale 0.125 : (tensor<2x8x1x72xbf16>, tensor<2x2x300x72xbf16>, tensor<2x2x300x72xbf16>) -> tensor<2x8x1x72xbf16>
  return %o : tensor<2x8x1x72xbf16>
}

// CHECK: swage.kernel @[[$FACTORS]]
// CHECK: ^bb0(%[[Q:.*]]: f32, %[[K:.*]]: i8, %[[V:.*]]: i8, %[[KS:.*]]: f32, %[[VS:.*]]: f32):
// CHECK: %[[KW:.*]] = arith.sitofp %[[K]] : i8 to f32
// CHECK: %[[VW:.*]] = arith.sitofp %[[V]] : i8 to f32
// CHECK: %[[S:.*]] = swage.contract %[[Q]], %[[KW]] dim 6
// CHECK: %[[SCORE:.*]] = arith.mulf %[[S]],
// CHECK: %[[P:.*]]:3 = swage.collective softmax
// CHECK: %[[O:.*]] = swage.contract %[[P]]#0, %[[VW]] dim 5
// CHECK: %[[R:.*]] = arith.mulf %[[O]],
// CHECK: swage.yield %[[R]]
// CHECK: swage.kernel @[[$WEIGHTS]]
// CHECK: ^bb0(%[[Q:.*]]: f32, %[[K:.*]]: f32, %[[V:.*]]: f32, %[[VS:.*]]: f32):
// CHECK: swage.contract %[[Q]], %[[K]] dim 6
// CHECK: %[[P:.*]]:3 = swage.collective softmax
// CHECK: %[[ZERO:.*]] = arith.mulf %[[VS]], %{{.*}}
// CHECK: %[[F:.*]] = arith.addf %[[VS]], %[[ZERO]]
// CHECK: %[[W:.*]] = arith.mulf %[[P]]#0, %[[F]]
// CHECK: swage.contract %[[W]], %[[V]] dim 5
