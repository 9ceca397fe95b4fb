// What is made up for integers: those of the range, each once before any comes again. Their sums are known.
// RUN: rm -rf %t && swage-run %s --device=reference --save-outputs=%t
// RUN: tail -c 8 %t/result0.npy | od -An -t d4 | FileCheck %s --check-prefix=TWICE
// RUN: tail -c 4 %t/result1.npy | od -An -t d4 | FileCheck %s --check-prefix=ONCE
// RUN: rm -rf %t.nasty && swage-run %s --device=reference --inputs=nasty --seed=5 --save-outputs=%t.nasty
// RUN: tail -c 8 %t.nasty/result0.npy | od -An -t d4 | FileCheck %s --check-prefix=TWICE

// TWICE: 4656 4656
// ONCE: 100
func.func @main(%table: tensor<2x97xi32> {swage.range = array<i64: 0, 96>}, %length: tensor<5xi32> {swage.range = array<i64: 20, 20>}) -> (tensor<2xi32>, tensor<i32>) {
  %rows = swage.reduce sum %table dims [1] : tensor<2x97xi32> -> tensor<2xi32>
  %sum = swage.reduce sum %length dims [0] : tensor<5xi32> -> tensor<i32>
  return %rows, %sum : tensor<2xi32>, tensor<i32>
}
