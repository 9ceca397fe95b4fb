// Results that are equal, by ops that are kernels of their own: each is written.
// REQUIRES: host-compiler
// RUN: swage-run %s --device=sim --check | FileCheck %s
// CHECK-COUNT-2: accepted
func.func @main() -> (tensor<1x129xi1>, tensor<1x129xi1>) {
  %row = swage.iota dim 0 : tensor<100x129xi32>
  %column = swage.iota dim 1 : tensor<100x129xi32>
  %before = arith.cmpi slt, %column, %row : tensor<100x129xi32>
  %sliced = swage.slice %before axis 0 from 93 size 1 : tensor<100x129xi1> -> tensor<1x129xi1>
  %permuted = swage.permute %sliced [0, 1] : tensor<1x129xi1> -> tensor<1x129xi1>
  return %sliced, %permuted : tensor<1x129xi1>, tensor<1x129xi1>
}
