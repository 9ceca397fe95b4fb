// REQUIRES: host-compiler
// Columns that more blocks share than a cluster holds, on the simulator against the reference: a batch, a second operand whose sum is
// a result, statistics, a number of columns that no lanes divide.
// RUN: swage-translate --swage-to-cuda %s | FileCheck %s --check-prefix=CUDA
// RUN: swage-run %s --fuse --device=sim --check --sim=check,order=random,seed=5 | FileCheck %s
// CUDA: @softmax_
// CUDA: blocks_per_row = 66, resident = 1>
// CUDA: @layer_norm_
// CUDA: blocks_per_row = 132, resident = 1>
// CHECK-COUNT-5: accepted
// CHECK-NOT: rejected

// Sums of small integers are exact, so that bits tell: as one block a column, as some, and as so many that a device does not hold them
// all, and those that wait do the others' work; and as fewer than there are threads to look for what they leave. What blocks leave for each other is gone when a launch has ended, so that the next one
// in the same memory finds none of it.
// RUN: rm -rf %t && mkdir %t && swage-opt %S/Inputs/column-crowd.mlir --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null > %t/any.mlir
// RUN: sed 's/row_schedule<[^>]*>/row_schedule<kind = column, threads_per_row = 32, rows_per_block = 4, vector = 4, vectors_per_thread = 2, index = 32>/' %t/any.mlir > %t/one.mlir
// RUN: sed 's/index = 32/index = 32, blocks_per_row = 19/' %t/one.mlir > %t/some.mlir
// RUN: sed 's/threads_per_row = 32/threads_per_row = 128/;s/index = 32/index = 32, blocks_per_row = 200/' %t/one.mlir > %t/many.mlir
// RUN: sed 's/threads_per_row = 32, rows_per_block = 4, vector = 4/threads_per_row = 64, rows_per_block = 8, vector = 1/;s/index = 32/index = 32, blocks_per_row = 17/' %t/one.mlir > %t/few.mlir
// RUN: swage-run %t/one.mlir --device=sim --inputs=exact --save-outputs=%t/one
// RUN: swage-run %t/some.mlir --device=sim --sim=check,order=reverse --inputs=exact --save-outputs=%t/some && cmp %t/one/result0.npy %t/some/result0.npy
// RUN: swage-run %t/few.mlir --device=sim --sim=check,order=random,seed=4 --inputs=exact --save-outputs=%t/few && cmp %t/one/result0.npy %t/few/result0.npy
// RUN: swage-run %t/many.mlir --device=sim --sim=check,strict --inputs=exact --save-outputs=%t/many && cmp %t/one/result0.npy %t/many/result0.npy
// RUN: swage-run %t/some.mlir --device=sim --inputs=exact --steps=3 --save-outputs=%t/third
// RUN: swage-run %t/one.mlir --device=sim --inputs=exact --steps=3 --save-outputs=%t/one && cmp %t/one/result0.npy %t/third/result0.npy
func.func @main(%x: tensor<33800x61xbf16>, %z: tensor<33800x61xbf16>, %a: tensor<68000x11xf32>)
    -> (tensor<33800x61xbf16>, tensor<33800x61xbf16>, tensor<68000x11xf32>, tensor<11xf32>, tensor<11xf32>) {
  %sum = arith.addf %x, %z : tensor<33800x61xbf16>
  %y = swage.softmax %sum axis 0 : tensor<33800x61xbf16> -> tensor<33800x61xbf16>

  %t = swage.permute %a [1, 0] : tensor<68000x11xf32> -> tensor<11x68000xf32>
  %n, %mean, %rstd = swage.layer_norm %t axis 1 eps 1.0e-5 : (tensor<11x68000xf32>) -> (tensor<11x68000xf32>, tensor<11xf32>, tensor<11xf32>)
  %m = swage.permute %n [1, 0] : tensor<11x68000xf32> -> tensor<68000x11xf32>
  return %y, %sum, %m, %mean, %rstd : tensor<33800x61xbf16>, tensor<33800x61xbf16>, tensor<68000x11xf32>, tensor<11xf32>, tensor<11xf32>
}
