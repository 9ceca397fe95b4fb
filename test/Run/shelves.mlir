// REQUIRES: host-compiler
// Rows of which only a part waits in shared memory while the rest is read again: the same, bit for bit, as with all of it there.
// RUN: rm -rf %t && mkdir %t && swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null > %t/any.mlir
// RUN: sed 's/row_schedule<[^>]*>/row_schedule<kind = looped, threads_per_row = 64, rows_per_block = 1, vector = 4, vectors_per_thread = 2, index = 32, blocks_per_row = 2, staged = true>/' %t/any.mlir > %t/all.mlir
// RUN: sed 's/staged = true/staged = true, shelved_steps = 2/' %t/all.mlir > %t/part.mlir
// RUN: swage-run %t/all.mlir --device=sim --sim=check --save-outputs=%t/all
// RUN: swage-run %t/part.mlir --device=sim --sim=check --save-outputs=%t/part | FileCheck %s
// RUN: cmp %t/all/result0.npy %t/part/result0.npy && cmp %t/all/result1.npy %t/part/result1.npy
// CHECK: staged=true shelved_steps=2

func.func @main(%x: tensor<3x5000xf32>, %r: tensor<3x5000xf32>, %g: tensor<5000xf32>, %b: tensor<5000xf32>)
    -> (tensor<3x5000xf32>, tensor<3x5000xf32>) {
  %s = arith.addf %x, %r : tensor<3x5000xf32>
  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<3x5000xf32>, tensor<5000xf32>, tensor<5000xf32>) -> tensor<3x5000xf32>
  return %s, %y : tensor<3x5000xf32>, tensor<3x5000xf32>
}
