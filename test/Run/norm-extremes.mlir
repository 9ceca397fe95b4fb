// REQUIRES: host-compiler
// Elements whose square no float holds, in a row that leaves lanes of its threads empty: their mean is a float, and all are equal to it.
// RUN: swage-run %s --device=sim --check --sim=check | FileCheck %s
// CHECK-COUNT-2: accepted
// CHECK-NOT: rejected
func.func @main(%x: tensor<6x96xf32>) -> (tensor<6x96xf32>, tensor<6xf32>) {
  %far = arith.constant dense<1.0e+20> : tensor<6x96xf32>
  %e = arith.addf %x, %far : tensor<6x96xf32>
  %n, %m, %s = swage.layer_norm %e axis 1 eps 1.0e-5 : (tensor<6x96xf32>) -> (tensor<6x96xf32>, tensor<6xf32>, tensor<6xf32>)
  return %n, %m : tensor<6x96xf32>, tensor<6xf32>
}
