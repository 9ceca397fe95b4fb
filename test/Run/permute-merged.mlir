// REQUIRES: host-compiler
// Tiles along the last dimensions as one: extents that no tile divides, elements of 1 to 8 bytes, what lies as the result does and what is the same all along, a grid of other dimensions,
// fewer dimensions than there are because something is the same along some (%partly), results of two types.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=order=random --check --seed=3 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: swage-opt --swage-kernel-pipeline %s 2>/dev/null | FileCheck %s --check-prefix=MERGED
// MERGED-COUNT-7: merged = {{[2-9]}}>
// CHECK-COUNT-8: accepted
// CHECK-NOT: rejected
func.func @main(%floats: tensor<97x3x12x128xf32>, %halves: tensor<3x9x8x31x64xf16>, %bytes: tensor<7x32x19x128xi8>, %doubles: tensor<17x10x3x61xf64>,
                %turned: tensor<13x8x10x96xf32>, %residual: tensor<96x10x8x13xf32>, %bias: tensor<96xf32>,
                %partly: tensor<97x8x10x128xf32>, %rows: tensor<128x10xf32>, %typed: tensor<97x3x24x128xf16>, %beside: tensor<128x24x3x97xf32>)
    -> (tensor<128x12x3x97xf32>, tensor<9x64x8x3x31xf16>, tensor<128x32x19x7xi8>, tensor<61x3x10x17xf64>, tensor<96x10x8x13xf32>,
        tensor<128x10x8x97xf32>, tensor<128x24x3x97xf16>, tensor<128x24x3x97xf32>) {
  %0 = swage.permute %floats [3, 2, 1, 0] : tensor<97x3x12x128xf32> -> tensor<128x12x3x97xf32>
  %1 = swage.permute %halves [1, 4, 2, 0, 3] : tensor<3x9x8x31x64xf16> -> tensor<9x64x8x3x31xf16>
  %2 = swage.permute %bytes [3, 1, 2, 0] : tensor<7x32x19x128xi8> -> tensor<128x32x19x7xi8>
  %3 = swage.permute %doubles [3, 2, 1, 0] : tensor<17x10x3x61xf64> -> tensor<61x3x10x17xf64>
  %4 = swage.permute %turned [3, 2, 1, 0] : tensor<13x8x10x96xf32> -> tensor<96x10x8x13xf32>
  %5 = arith.addf %4, %residual : tensor<96x10x8x13xf32>
  %6 = swage.broadcast %bias dims [0] : tensor<96xf32> -> tensor<96x10x8x13xf32>
  %7 = arith.addf %5, %6 : tensor<96x10x8x13xf32>
  %8 = swage.permute %partly [3, 2, 1, 0] : tensor<97x8x10x128xf32> -> tensor<128x10x8x97xf32>
  %9 = swage.broadcast %rows dims [0, 1] : tensor<128x10xf32> -> tensor<128x10x8x97xf32>
  %10 = arith.addf %8, %9 : tensor<128x10x8x97xf32>
  %11 = swage.permute %typed [3, 2, 1, 0] : tensor<97x3x24x128xf16> -> tensor<128x24x3x97xf16>
  %12 = arith.extf %11 : tensor<128x24x3x97xf16> to tensor<128x24x3x97xf32>
  %13 = arith.addf %12, %beside : tensor<128x24x3x97xf32>
  return %0, %1, %2, %3, %7, %10, %11, %13 : tensor<128x12x3x97xf32>, tensor<9x64x8x3x31xf16>, tensor<128x32x19x7xi8>, tensor<61x3x10x17xf64>, tensor<96x10x8x13xf32>,
      tensor<128x10x8x97xf32>, tensor<128x24x3x97xf16>, tensor<128x24x3x97xf32>
}
