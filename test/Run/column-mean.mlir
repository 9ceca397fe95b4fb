// A thread has 49 elements of a column: their mean, returned, has the digits that their sum relative to the first of them has lost.
// REQUIRES: host-compiler
// RUN: swage-run %s --fuse --device=sim --check | FileCheck %s
// CHECK: vectors_per_thread=49
// CHECK-COUNT-3: accepted
func.func @main(%x: tensor<17x3136x64xbf16>, %g: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<17x3136x64xbf16>, tensor<17x64xf32>, tensor<17x64xf32>) {
  %p = swage.permute %x [0, 2, 1] : tensor<17x3136x64xbf16> -> tensor<17x64x3136xbf16>
  %n0, %mean, %rstd = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<17x64x3136xbf16>) -> (tensor<17x64x3136xf32>, tensor<17x64xf32>, tensor<17x64xf32>)
  %n = swage.permute %n0 [0, 2, 1] : tensor<17x64x3136xf32> -> tensor<17x3136x64xf32>
  %gb = swage.broadcast %g dims [2] : tensor<64xf32> -> tensor<17x3136x64xf32>
  %bb = swage.broadcast %b dims [2] : tensor<64xf32> -> tensor<17x3136x64xf32>
  %y0 = arith.mulf %n, %gb : tensor<17x3136x64xf32>
  %y1 = arith.addf %y0, %bb : tensor<17x3136x64xf32>
  %y = arith.truncf %y1 : tensor<17x3136x64xf32> to tensor<17x3136x64xbf16>
  return %y, %mean, %rstd : tensor<17x3136x64xbf16>, tensor<17x64xf32>, tensor<17x64xf32>
}
