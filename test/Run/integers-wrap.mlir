// Sums, differences and products of integers wrap, which C++ would leave undefined; of positions none does, and none is told to.
// RUN: swage-run %s --entry=main --fuse --device=sim --check --sim=check | FileCheck %s
// RUN: swage-translate --swage-to-cuda %s | FileCheck %s --check-prefix=CUDA
// REQUIRES: host-compiler

// CHECK-COUNT-5: accepted
// CHECK-NOT: rejected

// CUDA-DAG: swage::sumOf(
// CUDA-DAG: swage::differenceOf(
// CUDA-DAG: swage::productOf(
// CUDA-DAG: = input0 * 3 + 5 - input1;
func.func @main(%s: tensor<2xi64>, %t: tensor<2xi64>) -> (tensor<65xi32>, tensor<65xi32>, tensor<65xi32>, tensor<65xi64>, tensor<5x7xi32>) {
  %a = swage.random %s : tensor<2xi64> -> tensor<65xi32>
  %b = swage.random %t : tensor<2xi64> -> tensor<65xi32>
  %sum = arith.addi %a, %b : tensor<65xi32>
  %difference = arith.subi %a, %b : tensor<65xi32>
  %product = arith.muli %a, %b : tensor<65xi32>
  %wide = arith.extsi %product : tensor<65xi32> to tensor<65xi64>
  %square = arith.muli %wide, %wide : tensor<65xi64>
  %fourth = arith.muli %square, %square : tensor<65xi64>

  %i = swage.iota dim 0 : tensor<5x7xi32>
  %j = swage.iota dim 1 : tensor<5x7xi32>
  %three = arith.constant dense<3> : tensor<5x7xi32>
  %five = arith.constant dense<5> : tensor<5x7xi32>
  %k = arith.muli %i, %three : tensor<5x7xi32>
  %l = arith.addi %k, %five : tensor<5x7xi32>
  %m = arith.subi %l, %j : tensor<5x7xi32>
  return %sum, %difference, %product, %fourth, %m : tensor<65xi32>, tensor<65xi32>, tensor<65xi32>, tensor<65xi64>, tensor<5x7xi32>
}

// Nobody knows how far these positions go.
// CUDA: swage::sumOf(input1, 1000000000)
func.func @any_length(%x: tensor<?xi32>) -> tensor<?xi32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xi32>
  %i = swage.iota dim 0 sizes(%n) : tensor<?xi32>
  %number = arith.constant dense<1000000000> : tensor<i32>
  %numbers = swage.broadcast %number dims [] sizes(%n) : tensor<i32> -> tensor<?xi32>
  %sum = arith.addi %i, %numbers : tensor<?xi32>
  %y = arith.xori %x, %sum : tensor<?xi32>
  return %y : tensor<?xi32>
}
