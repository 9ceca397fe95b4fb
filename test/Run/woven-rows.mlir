// GroupNorm with channels last, whose groups are runs of ten or six channels: rows beside each other, whose threads meet in shared memory,
// and in that of a cluster. Runs that do not come out even go as before.
// REQUIRES: host-compiler
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE-DAG: kind = looped, threads_per_row = 80, rows_per_block = 4, vector = 2, vectors_per_thread = 8, index = 32, blocks_per_row = 4, staged = true>
// SCHEDULE-DAG: kind = looped, threads_per_row = 96, rows_per_block = 4, vector = 2, vectors_per_thread = 2, index = 32, staged = true>
// SCHEDULE-DAG: kind = {{group|block}}
// RUN: swage-run %s --fuse --device=sim --check --sim=check,order=random | FileCheck %s
// RUN: swage-run %s --fuse --device=sim --arch=sm_80 --check | FileCheck %s
// CHECK-COUNT-5: accepted
// CHECK-NOT: rejected
func.func @main(%x: tensor<2x1024x8x10xbf16>, %g: tensor<8x10xbf16>, %y: tensor<1x64x4x6xf32>, %z: tensor<2x49x8x10xf16>)
    -> (tensor<2x1024x8x10xbf16>, tensor<1x64x4x6xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x49x8x10xf16>) {
  %px = swage.permute %x [0, 2, 1, 3] : tensor<2x1024x8x10xbf16> -> tensor<2x8x1024x10xbf16>
  %nx = swage.layer_norm %px axis 2 eps 1.0e-5 : (tensor<2x8x1024x10xbf16>) -> tensor<2x8x1024x10xbf16>
  %qx = swage.permute %nx [0, 2, 1, 3] : tensor<2x8x1024x10xbf16> -> tensor<2x1024x8x10xbf16>
  %gb = swage.broadcast %g dims [2, 3] : tensor<8x10xbf16> -> tensor<2x1024x8x10xbf16>
  %0 = arith.mulf %qx, %gb : tensor<2x1024x8x10xbf16>
  %py = swage.permute %y [0, 2, 1, 3] : tensor<1x64x4x6xf32> -> tensor<1x4x64x6xf32>
  %ny, %mean, %rstd = swage.layer_norm %py axis 2 eps 1.0e-5 : (tensor<1x4x64x6xf32>) -> (tensor<1x4x64x6xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  %1 = swage.permute %ny [0, 2, 1, 3] : tensor<1x4x64x6xf32> -> tensor<1x64x4x6xf32>
  %pz = swage.permute %z [0, 2, 1, 3] : tensor<2x49x8x10xf16> -> tensor<2x8x49x10xf16>
  %nz = swage.layer_norm %pz axis 2 eps 1.0e-5 : (tensor<2x8x49x10xf16>) -> tensor<2x8x49x10xf16>
  %2 = swage.permute %nz [0, 2, 1, 3] : tensor<2x8x49x10xf16> -> tensor<2x49x8x10xf16>
  return %0, %1, %mean, %rstd, %2 : tensor<2x1024x8x10xbf16>, tensor<1x64x4x6xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x49x8x10xf16>
}
