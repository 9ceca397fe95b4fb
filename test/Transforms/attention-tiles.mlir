// Tiles of two or three warpgroups by how many there are to deal out, and what they see; with batch_invariant by queries and head dims alone.
// RUN: swage-opt %s --split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null | FileCheck %s

// 96 heads: the last tile of 192 would be mostly empty, and see all keys.
// CHECK-LABEL: func.func @few
// CHECK: attention_schedule<groups = 2, keys = 128
func.func @few(%q: tensor<8x12x1024x64xbf16>) -> tensor<8x12x1024x64xbf16> {
  %o = swage.attention %q, %q, %q scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>) -> tensor<8x12x1024x64xbf16>
  return %o : tensor<8x12x1024x64xbf16>
}

// -----

// CHECK-LABEL: func.func @many
// CHECK: attention_schedule<groups = 3, keys = 128
func.func @many(%q: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
  %o = swage.attention %q, %q, %q scale 0.125 : (tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16>
  return %o : tensor<8x32x2048x64xbf16>
}

// -----

// One head and 132: the same blocks of keys.
// CHECK-LABEL: func.func @invariant
// CHECK: attention_schedule<groups = [[GROUPS:[23]]], keys = [[KEYS:[0-9]+]]
// CHECK: attention_schedule<groups = [[GROUPS]], keys = [[KEYS]]
func.func @invariant(%q: tensor<1x1x192x80xbf16>, %all: tensor<132x1x192x80xbf16>) -> (tensor<1x1x192x80xbf16>, tensor<132x1x192x80xbf16>) {
  %o = swage.attention %q, %q, %q scale 0.125 batch_invariant : (tensor<1x1x192x80xbf16>, tensor<1x1x192x80xbf16>, tensor<1x1x192x80xbf16>) -> tensor<1x1x192x80xbf16>
  %p = swage.attention %all, %all, %all scale 0.125 batch_invariant : (tensor<132x1x192x80xbf16>, tensor<132x1x192x80xbf16>, tensor<132x1x192x80xbf16>) -> tensor<132x1x192x80xbf16>
  return %o, %p : tensor<1x1x192x80xbf16>, tensor<132x1x192x80xbf16>
}

// -----

// 128 queries at the end of 1000 keys that lengths bound: keys of a block as if all were seen.
// CHECK-LABEL: func.func @chunk
// CHECK: attention_schedule<groups = 2, keys = 128
func.func @chunk(%q: tensor<2x4x128x64xbf16>, %k: tensor<2x4x1000x64xbf16>, %length: tensor<2xi32>) -> tensor<2x4x128x64xbf16> {
  %o = swage.attention %q, %k, %k scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %end = tensor.extract %length[%b] : tensor<2xi32>
    %jj = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %jj, %end : i32
    swage.yield %seen : i1
  } : (tensor<2x4x128x64xbf16>, tensor<2x4x1000x64xbf16>, tensor<2x4x1000x64xbf16>) -> tensor<2x4x128x64xbf16>
  return %o : tensor<2x4x128x64xbf16>
}

// -----

// Nor by keys, however few, or of whatever rows a bias has.
// CHECK-LABEL: func.func @invariant_bias
// CHECK: attention_schedule<groups = 2, keys = [[KEYS:[0-9]+]], {{.*}} score_stages = [[STAGES:[12]]]>
// CHECK: attention_schedule<groups = 2, keys = [[KEYS]], {{.*}} score_stages = [[STAGES]]>
// CHECK: attention_schedule<groups = 2, keys = [[KEYS]], {{.*}} score_stages = [[STAGES]]>
func.func @invariant_bias(%q: tensor<1x4x200x256xbf16>, %k64: tensor<1x4x64x256xbf16>, %k512: tensor<1x4x512x256xbf16>, %k509: tensor<1x4x509x256xbf16>, %bias64: tensor<200x64xbf16>, %bias512: tensor<200x512xbf16>, %bias509: tensor<200x509xbf16>)
    -> (tensor<1x4x200x256xbf16>, tensor<1x4x200x256xbf16>, tensor<1x4x200x256xbf16>) {
  %o = swage.attention %q, %k64, %k64 scale 0.0625 batch_invariant score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias64[%i, %j] : tensor<200x64xbf16>
    %wide = arith.extf %e : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } : (tensor<1x4x200x256xbf16>, tensor<1x4x64x256xbf16>, tensor<1x4x64x256xbf16>) -> tensor<1x4x200x256xbf16>
  %p = swage.attention %q, %k512, %k512 scale 0.0625 batch_invariant score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias512[%i, %j] : tensor<200x512xbf16>
    %wide = arith.extf %e : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } : (tensor<1x4x200x256xbf16>, tensor<1x4x512x256xbf16>, tensor<1x4x512x256xbf16>) -> tensor<1x4x200x256xbf16>
  %r = swage.attention %q, %k509, %k509 scale 0.0625 batch_invariant score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias509[%i, %j] : tensor<200x509xbf16>
    %wide = arith.extf %e : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } : (tensor<1x4x200x256xbf16>, tensor<1x4x509x256xbf16>, tensor<1x4x509x256xbf16>) -> tensor<1x4x200x256xbf16>
  return %o, %p, %r : tensor<1x4x200x256xbf16>, tensor<1x4x200x256xbf16>, tensor<1x4x200x256xbf16>
}

// -----

// What parts leave for each other, which may be more than the rings, fits beside what scores read: of two inputs with fewer keys.
// CHECK-LABEL: func.func @parts_bias
// CHECK: attention_schedule<groups = 2, keys = 32, {{.*}} parts = 8, score_stages = 1>
func.func @parts_bias(%q: tensor<1x2x128x256xbf16>, %k: tensor<1x2x4096x256xbf16>, %bias: tensor<2x128x4096xf32>, %mask: tensor<128x4096xi1>) -> tensor<1x2x128x256xbf16> {
  %o = swage.attention %q, %k, %k scale 0.0625 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias[%h, %i, %j] : tensor<2x128x4096xf32>
    %sum = arith.addf %s, %e : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = tensor.extract %mask[%i, %j] : tensor<128x4096xi1>
    swage.yield %seen : i1
  } : (tensor<1x2x128x256xbf16>, tensor<1x2x4096x256xbf16>, tensor<1x2x4096x256xbf16>) -> tensor<1x2x128x256xbf16>
  return %o : tensor<1x2x128x256xbf16>
}
