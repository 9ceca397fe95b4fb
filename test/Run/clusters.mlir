// REQUIRES: host-compiler
// Rows that the blocks of a cluster share, from the schedule in the IR to the launch: the sums of small integers are the same, bit for
// bit, as those of one block a row.
// DEFINE: %{passes} = --swage-fuse --swage-merge-dimensions --swage-select-schedule
// RUN: rm -rf %t && mkdir %t && swage-opt %s %{passes} 2>/dev/null | sed 's/, blocks_per_row = [0-9]*//' > %t/any.mlir
// RUN: sed 's/threads_per_row = [0-9]*\(.*\)vectors_per_thread = [0-9]*/threads_per_row = 512\1vectors_per_thread = 4/' %t/any.mlir > %t/one.mlir
// RUN: sed 's/threads_per_row = [0-9]*\(.*\)vectors_per_thread = [0-9]*, index = 32/threads_per_row = 128\1vectors_per_thread = 1, index = 32, blocks_per_row = 16/' %t/any.mlir > %t/many.mlir
// RUN: swage-run %t/one.mlir --device=sim --inputs=exact --save-outputs=%t/one
// RUN: swage-run %t/many.mlir --device=sim --sim=check --inputs=exact --save-outputs=%t/many --dump=%t/dump:launch,cuda | FileCheck %s
// RUN: cmp %t/one/result0.npy %t/many/result0.npy && cmp %t/one/result1.npy %t/many/result1.npy
// Staged, with blocks behind the row's end.
// RUN: sed 's/threads_per_row = [0-9]*\(.*\)vector = [0-9]*, vectors_per_thread = [0-9]*, index = 32/threads_per_row = 128\1vector = 1, vectors_per_thread = 5, index = 32, blocks_per_row = 16, staged = true/' %t/any.mlir > %t/behind.mlir
// RUN: swage-run %t/behind.mlir --device=sim --sim=check --inputs=exact --save-outputs=%t/behind | FileCheck %s
// RUN: cmp %t/one/result0.npy %t/behind/result0.npy && cmp %t/one/result1.npy %t/behind/result1.npy
// CHECK: blocks_per_row=16
// CHECK: clusters of 16 blocks
// RUN: FileCheck %s --check-prefix=SCRIPT < %t/dump/*/simulate.sh
// SCRIPT: --grid=64 --block=128 --cluster=16
// RUN: sh %t/dump/*/simulate.sh

// A device without clusters gets none.
// RUN: not swage-run %t/many.mlir --device=sim --arch=sm_80 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: has clusters of 16 blocks, but sm_80 has none
func.func @main(%x: tensor<4x8192xf32>) -> (tensor<4xf32>, tensor<4x8192xf32>) {
  %d = arith.addf %x, %x : tensor<4x8192xf32>
  %y = swage.reduce sum %d dims [1] : tensor<4x8192xf32> -> tensor<4xf32>
  return %y, %d : tensor<4xf32>, tensor<4x8192xf32>
}
