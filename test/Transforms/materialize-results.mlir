// RUN: swage-opt %s --swage-materialize-results | FileCheck %s
// RUN: swage-opt %s --canonicalize --swage-materialize-results=folded | FileCheck %s --check-prefix=FOLDED

// The norm goes on with the rounded sum.
// CHECK-LABEL: func.func @used_again
// CHECK:         %[[S:.*]] = arith.addf
// CHECK:         %[[C:.*]] = swage.copy %[[S]]
// CHECK:         %[[N:.*]] = swage.rms_norm %[[C]]
// CHECK:         return %[[C]], %[[N]]
func.func @used_again(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>) {
  %s = arith.addf %x, %y : tensor<4x8xf16>
  %n = swage.rms_norm %s axis 1 eps 1.0e-5 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  return %s, %n : tensor<4x8xf16>, tensor<4x8xf16>
}

// The second sum is no output: it is not rounded, although it is equal to one that is.
// CHECK-LABEL: func.func @twin
// CHECK:         %[[C:.*]] = swage.copy %{{.*}}
// CHECK:         %[[T:.*]] = arith.addf
// CHECK:         math.exp %[[C]]
// CHECK:         math.tanh %[[T]]
func.func @twin(%x: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) {
  %s = arith.addf %x, %x : tensor<8xf16>
  %t = arith.addf %x, %x : tensor<8xf16>
  %e = math.exp %s : tensor<8xf16>
  %h = math.tanh %t : tensor<8xf16>
  return %s, %e, %h : tensor<8xf16>, tensor<8xf16>, tensor<8xf16>
}

// f32 is what a kernel computes in, an argument is as it is stored, and a value that nobody else reads needs nothing.
// CHECK-LABEL: func.func @nothing_to_do
// CHECK-NOT:     swage.copy
func.func @nothing_to_do(%x: tensor<8xf16>, %y: tensor<8xf32>) -> (tensor<8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>) {
  %s = arith.addf %y, %y : tensor<8xf32>
  %e = math.exp %s : tensor<8xf32>
  %t = math.exp %x : tensor<8xf16>
  return %x, %s, %e, %t : tensor<8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>
}

// A cache is as it is stored, and is not copied.
// CHECK-LABEL: func.func @appended
// CHECK-NOT:     swage.copy
func.func @appended(%c: tensor<2x8xf16>, %x: tensor<2x1xf16>, %at: tensor<i32>) -> (tensor<2x8xf16>, tensor<2x8xf16>) {
  %n = swage.append %c, %x at %at axis 1 : (tensor<2x8xf16>, tensor<2x1xf16>, tensor<i32>) -> tensor<2x8xf16>
  %e = math.exp %n : tensor<2x8xf16>
  return %n, %e : tensor<2x8xf16>, tensor<2x8xf16>
}

// As the pass runs a second time, behind folding: the sum goes on as it was.
// FOLDED-LABEL: func.func @folded
// FOLDED:         %[[S:.*]] = arith.addf
// FOLDED:         %[[C:.*]] = swage.copy %[[S]]
// FOLDED:         %[[E:.*]] = math.exp %[[S]]
// FOLDED:         return %[[C]], %[[E]]
func.func @folded(%x: tensor<8xf16>, %y: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %s = arith.addf %x, %y : tensor<8xf16>
  %m = arith.maximumf %s, %s : tensor<8xf16>
  %e = math.exp %s : tensor<8xf16>
  return %m, %e : tensor<8xf16>, tensor<8xf16>
}
