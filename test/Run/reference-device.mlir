// The f64 reference alone: what a graph means, also where its ops have no kernel.
// RUN: rm -rf %t && swage-run %s --device=reference --inputs=exact --save-outputs=%t | FileCheck %s
// CHECK: evaluated 2 results by the reference; no kernel was made
// RUN: swage-run %s --device=reference --entry=again --input=%t/result0.npy --input=%t/result1.npy --save-outputs=%t/again | FileCheck %s
// RUN: cmp %t/result0.npy %t/again/result0.npy
// RUN: cmp %t/result1.npy %t/again/result1.npy
// RUN: not cmp %t/result0.npy %t/result1.npy

// Whole numbers: the products are exact, and a matrix times the identity is itself.
func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %c = swage.matmul %a, %b : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %d = swage.matmul %a, %b transpose_b : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  return %c, %d : tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @again(%c: tensor<3x4xf32>, %d: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %i = arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %x = swage.matmul %c, %i : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %y = swage.matmul %d, %i transpose_b : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  return %x, %y : tensor<3x4xf32>, tensor<3x4xf32>
}
