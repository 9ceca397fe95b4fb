// REQUIRES: host-compiler
// What becomes f64 is computed in it, whatever its operands are; statistics stay in f32.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --entry=split --device=sim --check | FileCheck %s --check-prefix=SPLIT
// CHECK-COUNT-6: accepted
// SPLIT: accepted
// SPLIT: 2 kernels ran
func.func @main(%x: tensor<20x5000xf32>, %narrow: tensor<20x500xbf16>, %gamma: tensor<500xf32>)
    -> (tensor<20xf64>, tensor<20xf64>, tensor<20x500xf64>, tensor<20xf32>, tensor<20xf32>, tensor<20x500xf64>) {
  %sum = swage.reduce sum %x dims [1] : tensor<20x5000xf32> -> tensor<20xf64>
  %mean = swage.reduce mean %narrow dims [1] : tensor<20x500xbf16> -> tensor<20xf64>
  %norm:3 = swage.layer_norm %narrow gamma %gamma axis 1 eps 1.0e-5 : (tensor<20x500xbf16>, tensor<500xf32>) -> (tensor<20x500xf64>, tensor<20xf32>, tensor<20xf32>)
  %soft = swage.softmax %narrow axis 1 : tensor<20x500xbf16> -> tensor<20x500xf64>
  return %sum, %mean, %norm#0, %norm#1, %norm#2, %soft : tensor<20xf64>, tensor<20xf64>, tensor<20x500xf64>, tensor<20xf32>, tensor<20xf32>, tensor<20x500xf64>
}

func.func @split(%x: tensor<2x4000000xf32>) -> tensor<2xf64> {
  %sum = swage.reduce sum %x dims [1] : tensor<2x4000000xf32> -> tensor<2xf64>
  return %sum : tensor<2xf64>
}
