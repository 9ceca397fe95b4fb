// Long rows across memory: the blocks of a cluster share them, in registers or by reading them again. The statistics of BatchNorm,
// channels last; rows that do not come out even; with a second operand and a sum that is stored; a device without clusters has none.
// REQUIRES: host-compiler
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: kind = column, threads_per_row = 16, rows_per_block = 8, vector = 2, vectors_per_thread = 8, index = 32, blocks_per_row = 16>
// SCHEDULE: kind = column, threads_per_row = 32, rows_per_block = 8, vector = 1, vectors_per_thread = 12, index = 32, blocks_per_row = 4>
// SCHEDULE: kind = column, threads_per_row = 32, rows_per_block = 8, vector = 2, vectors_per_thread = 5, index = 32, blocks_per_row = 8>
// SCHEDULE: kind = column, threads_per_row = 128, rows_per_block = 1, vector = 4, vectors_per_thread = 8, index = 32, blocks_per_row = 16>
// RUN: swage-run %s --fuse --device=sim --check --sim=check,order=random | FileCheck %s
// RUN: swage-run %s --fuse --device=sim --arch=sm_80 --check > %t.old && FileCheck %s < %t.old && FileCheck %s --check-prefix=OLD < %t.old
// OLD-NOT: clusters of
// In shared memory, and where blocks and thread rows get no element: nothing races, and what is stored on the way is the same.
// RUN: rm -rf %t && mkdir %t && swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null > %t/any.mlir
// RUN: sed 's/vectors_per_thread = [0-9]*, index = 32, blocks_per_row = [0-9]*/vectors_per_thread = 3, index = 32, blocks_per_row = 16, staged = true/' %t/any.mlir > %t/staged.mlir
// RUN: sed 's/threads_per_row = [0-9]*, rows_per_block = [0-9]*\(.*\)vectors_per_thread = [0-9]*, index = 32, blocks_per_row = [0-9]*/threads_per_row = 128, rows_per_block = 1\1vectors_per_thread = 1, index = 32, blocks_per_row = 16/' %t/any.mlir > %t/empty.mlir
// RUN: swage-run %t/any.mlir --device=sim --save-outputs=%t/any && swage-run %t/empty.mlir --device=sim --sim=check --save-outputs=%t/empty
// RUN: swage-run %t/staged.mlir --device=sim --sim=check,order=random --save-outputs=%t/staged | FileCheck %s --check-prefix=STAGED
// STAGED: staged=true
// RUN: cmp %t/any/result3.npy %t/staged/result3.npy && cmp %t/any/result3.npy %t/empty/result3.npy

// CHECK-COUNT-6: accepted
// CHECK-NOT: rejected
func.func @main(%a: tensor<1x2048x32xbf16>, %b: tensor<2x1500x6xf32>, %r: tensor<1x1030x18xf16>, %s: tensor<1x1030x18xf16>, %c: tensor<70001x4xf16>,
                %gamma: tensor<4xf32>)
    -> (tensor<1x2048x32xbf16>, tensor<2x1500x6xf32>, tensor<1x1030x18xf16>, tensor<1x1030x18xf16>, tensor<70001x4xf16>, tensor<4xf32>) {
  %0 = swage.softmax %a axis 1 : tensor<1x2048x32xbf16> -> tensor<1x2048x32xbf16>
  %1 = swage.softmax %b axis 1 log : tensor<2x1500x6xf32> -> tensor<2x1500x6xf32>
  %sum = arith.addf %r, %s : tensor<1x1030x18xf16>
  %2 = swage.softmax %sum axis 1 : tensor<1x1030x18xf16> -> tensor<1x1030x18xf16>
  %p = swage.permute %c [1, 0] : tensor<70001x4xf16> -> tensor<4x70001xf16>
  %n, %mean, %rstd = swage.layer_norm %p axis 1 eps 1.0e-5 : (tensor<4x70001xf16>) -> (tensor<4x70001xf32>, tensor<4xf32>, tensor<4xf32>)
  %q = swage.permute %n [1, 0] : tensor<4x70001xf32> -> tensor<70001x4xf32>
  %g = swage.broadcast %gamma dims [1] : tensor<4xf32> -> tensor<70001x4xf32>
  %y = arith.mulf %q, %g : tensor<70001x4xf32>
  %3 = arith.truncf %y : tensor<70001x4xf32> to tensor<70001x4xf16>
  return %0, %1, %2, %sum, %3, %mean : tensor<1x2048x32xbf16>, tensor<2x1500x6xf32>, tensor<1x1030x18xf16>, tensor<1x1030x18xf16>,
                                       tensor<70001x4xf16>, tensor<4xf32>
}
