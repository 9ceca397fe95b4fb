// RUN: swage-opt %s --swage-recognize -split-input-file -verify-diagnostics | FileCheck %s --implicit-check-not=swage.attention

// CHECK-LABEL: func @wrong_axis
func.func @wrong_axis(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 1 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: softmax is along dimension 1, but keys are along the last}}
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// CHECK-LABEL: func @weights_returned
func.func @weights_returned(%q: tensor<8x16x8xf16>) -> (tensor<8x16x8xf16>, tensor<8x16x16xf16>) {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the weights are used elsewhere}}
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o, %p : tensor<8x16x8xf16>, tensor<8x16x16xf16>
}

// -----

// CHECK-LABEL: func @scores_returned
func.func @scores_returned(%q: tensor<8x16x8xf16>) -> (tensor<8x16x8xf16>, tensor<8x16x16xf16>) {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %t = math.tanh %s : tensor<8x16x16xf16>
  %p = swage.softmax %t axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the scores are used elsewhere}}
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o, %t : tensor<8x16x8xf16>, tensor<8x16x16xf16>
}

// -----

// CHECK-LABEL: func @scores_transposed
func.func @scores_transposed(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %t = swage.permute %s [0, 2, 1] : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %p = swage.softmax %t axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the scores are moved by swage.permute in front of the softmax}}
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Rows of 32 over two heads.
// CHECK-LABEL: func @rows_over_heads
func.func @rows_over_heads(%q: tensor<8x16x8xf16>, %v: tensor<4x32x8xf16>) -> tensor<4x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %t = swage.reshape %s : tensor<8x16x16xf16> -> tensor<4x16x32xf16>
  %p = swage.softmax %t axis 2 : tensor<4x16x32xf16> -> tensor<4x16x32xf16>
  // expected-remark @+1 {{not recognised as attention: the scores are moved by swage.reshape in front of the softmax}}
  %o = swage.matmul %p, %v : (tensor<4x16x32xf16>, tensor<4x32x8xf16>) -> tensor<4x16x8xf16>
  return %o : tensor<4x16x8xf16>
}

// -----

// CHECK-LABEL: func @log_softmax
func.func @log_softmax(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 log : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the weights are logarithms}}
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Weights of f32 and values of f32, but queries and keys that are narrower and not just widened.
// CHECK-LABEL: func @types
func.func @types(%q: tensor<8x16x8xf16>, %v: tensor<8x16x8xf32>) -> tensor<8x16x8xf32> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf32>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf32> -> tensor<8x16x16xf32>
  // expected-remark @+1 {{not recognised as attention: queries, keys and values have different element types}}
  %o = swage.matmul %p, %v : (tensor<8x16x16xf32>, tensor<8x16x8xf32>) -> tensor<8x16x8xf32>
  return %o : tensor<8x16x8xf32>
}

// -----

// A mask made of the scores is none that can be known before them.
// CHECK-LABEL: func @mask_of_scores
func.func @mask_of_scores(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<8x16x16xf16>
  %keep = arith.cmpf ogt, %s, %zero : tensor<8x16x16xf16>
  %p = swage.softmax %s mask %keep axis 2 : tensor<8x16x16xf16>, tensor<8x16x16xi1> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the mask depends on the scores}}
  %o = swage.matmul %p, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Weights that are changed otherwise than by a factor, and such that no softmax gives, are no attention; nothing to say of them.
// CHECK-LABEL: func @other_weights
func.func @other_weights(%q: tensor<8x16x8xf16>, %w: tensor<8x16x16xf16>) -> (tensor<8x16x8xf16>, tensor<8x16x8xf16>, tensor<8x16x8xf16>, tensor<8x16x8xf16>) {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %d = arith.addf %p, %w : tensor<8x16x16xf16>
  %o = swage.matmul %d, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  %p1 = arith.mulf %p, %p : tensor<8x16x16xf16>
  %o1 = swage.matmul %p1, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  %p2 = arith.divf %w, %p : tensor<8x16x16xf16>
  %o2 = swage.matmul %p2, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  %none = arith.constant dense<0x7C00> : tensor<8x16x16xf16>
  %p3 = arith.mulf %p, %none : tensor<8x16x16xf16>
  %o3 = swage.matmul %p3, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o, %o1, %o2, %o3 : tensor<8x16x8xf16>, tensor<8x16x8xf16>, tensor<8x16x8xf16>, tensor<8x16x8xf16>
}

// -----

// Dropout of weights that are returned as well.
// CHECK-LABEL: func @dropped_weights_returned
func.func @dropped_weights_returned(%q: tensor<8x16x8xf16>, %keep: tensor<8x16x16xi1>) -> (tensor<8x16x8xf16>, tensor<8x16x16xf16>) {
  %zeros = arith.constant dense<0.0> : tensor<8x16x16xf16>
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %d = arith.select %keep, %p, %zeros : tensor<8x16x16xi1>, tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the weights are used elsewhere}}
  %o = swage.matmul %d, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o, %p : tensor<8x16x8xf16>, tensor<8x16x16xf16>
}

// -----

// Coordinates of what weights are multiplied by are those that the softmax has.
// CHECK-LABEL: func @dropped_behind_reshape
func.func @dropped_behind_reshape(%q: tensor<8x16x8xf16>, %keep: tensor<2x4x16x16xi1>) -> tensor<8x16x8xf16> {
  %zeros = arith.constant dense<0.0> : tensor<2x4x16x16xf16>
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %r = swage.reshape %p : tensor<8x16x16xf16> -> tensor<2x4x16x16xf16>
  %d = arith.select %keep, %r, %zeros : tensor<2x4x16x16xi1>, tensor<2x4x16x16xf16>
  %b = swage.reshape %d : tensor<2x4x16x16xf16> -> tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the weights are reshaped before they are multiplied}}
  %o = swage.matmul %b, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// What weights are multiplied by is made of the sums of their exponentials.
// CHECK-LABEL: func @multiplied_by_sums
func.func @multiplied_by_sums(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p, %sums = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>, tensor<8x16xf32>
  %sums16 = arith.truncf %sums : tensor<8x16xf32> to tensor<8x16xf16>
  %most = swage.reduce max %sums16 dims [1] : tensor<8x16xf16> -> tensor<8xf16>
  %all = swage.broadcast %most dims [0] : tensor<8xf16> -> tensor<8x16x16xf16>
  %d = arith.mulf %p, %all : tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the weights are multiplied by what is made of them}}
  %o = swage.matmul %d, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Weights that are dropped where they are small.
// CHECK-LABEL: func @small_weights
func.func @small_weights(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %zeros = arith.constant dense<0.0> : tensor<8x16x16xf16>
  %least = arith.constant dense<0.1> : tensor<8x16x16xf16>
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %keep = arith.cmpf ogt, %p, %least : tensor<8x16x16xf16>
  %d = arith.select %keep, %p, %zeros : tensor<8x16x16xi1>, tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the weights are used elsewhere}}
  %o = swage.matmul %d, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Softmax of what no product gives.
// CHECK-LABEL: func @no_product
func.func @no_product(%s: tensor<8x16x16xf16>, %v: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %o = swage.matmul %p, %v : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}

// -----

// Zeros for rows that have a score of -inf, not for those that have nothing else.
// CHECK-LABEL: func @wrong_guard
func.func @wrong_guard(%q: tensor<8x16x8xf16>) -> tensor<8x16x8xf16> {
  %zeros = arith.constant dense<0.0> : tensor<8x16x16xf16>
  %none = arith.constant dense<0xFC00> : tensor<8x16x16xf16>
  %nothing = arith.constant dense<0> : tensor<8x16xi32>
  %s = swage.matmul %q, %q transpose_b : (tensor<8x16x8xf16>, tensor<8x16x8xf16>) -> tensor<8x16x16xf16>
  %p = swage.softmax %s axis 2 : tensor<8x16x16xf16> -> tensor<8x16x16xf16>
  %e0 = arith.cmpf oeq, %s, %none : tensor<8x16x16xf16>
  %e1 = arith.extui %e0 : tensor<8x16x16xi1> to tensor<8x16x16xi32>
  %e2 = swage.reduce max %e1 dims [2] : tensor<8x16x16xi32> -> tensor<8x16xi32>
  %e3 = arith.cmpi ne, %e2, %nothing : tensor<8x16xi32>
  %e4 = swage.broadcast %e3 dims [0, 1] : tensor<8x16xi1> -> tensor<8x16x16xi1>
  %w = arith.select %e4, %zeros, %p : tensor<8x16x16xi1>, tensor<8x16x16xf16>
  // expected-remark @+1 {{not recognised as attention: the scores are used elsewhere}}
  %o = swage.matmul %w, %q : (tensor<8x16x16xf16>, tensor<8x16x8xf16>) -> tensor<8x16x8xf16>
  return %o : tensor<8x16x8xf16>
}
