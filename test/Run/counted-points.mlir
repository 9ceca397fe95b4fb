// Rows of a length that no vector divides, under broadcasts: vectors go on into the next row, and what is left over goes by elements.
// RUN: swage-run %s --fuse --device=sim --check --sim=check,order=random | FileCheck %s
// RUN: swage-run %s --fuse --device=sim --check --sim=check --inputs=nasty | FileCheck %s
// RUN: swage-run %s --fuse --device=sim --check --sim=check --align=8 --offset=8 | FileCheck %s
// RUN: swage-translate --swage-to-cuda %s | FileCheck %s --check-prefix=CUDA
// REQUIRES: host-compiler

// CHECK-COUNT-9: accepted
// CHECK-NOT: rejected

// CUDA-COUNT-8: kTail = true
func.func @main(%a: tensor<33x7xf16>, %aRow: tensor<7xf16>, %b: tensor<9x5x3xbf16>, %bRow: tensor<5xbf16>, %one: tensor<bf16>,
                %c: tensor<3x17x11xi8>, %cScale: tensor<3x11xf32>, %d: tensor<129x3xf32>, %dRow: tensor<3xf16>, %dColumn: tensor<129xf32>,
                %e: tensor<2x1x1xf16>, %eRow: tensor<1xf16>, %f: tensor<16x9xf16>, %fRow: tensor<16xf32>,
                %g: tensor<3x17x17xf16>, %h: tensor<37x13xf16>, %hRow: tensor<13xf16>, %state: tensor<2xi64>)
    -> (tensor<33x7xf16>, tensor<9x5x3xbf16>, tensor<3x17x11xf16>, tensor<129x3xf32>, tensor<129x3xf16>, tensor<2x1x1xf16>, tensor<16x9xf32>,
        tensor<3x17x17xf16>, tensor<37x13xf16>) {
  %0 = swage.broadcast %aRow dims [1] : tensor<7xf16> -> tensor<33x7xf16>
  %a0 = arith.addf %a, %0 : tensor<33x7xf16>

  %1 = swage.broadcast %bRow dims [1] : tensor<5xbf16> -> tensor<9x5x3xbf16>
  %2 = swage.broadcast %one dims [] : tensor<bf16> -> tensor<9x5x3xbf16>
  %3 = arith.mulf %b, %1 : tensor<9x5x3xbf16>
  %b0 = arith.subf %3, %2 : tensor<9x5x3xbf16>

  // The same for a dimension in the middle.
  %4 = swage.broadcast %cScale dims [0, 2] : tensor<3x11xf32> -> tensor<3x17x11xf32>
  %5 = arith.sitofp %c : tensor<3x17x11xi8> to tensor<3x17x11xf32>
  %6 = arith.mulf %5, %4 : tensor<3x17x11xf32>
  %c0 = arith.truncf %6 : tensor<3x17x11xf32> to tensor<3x17x11xf16>

  // Two results, of other types; rows and columns.
  %7 = arith.extf %dRow : tensor<3xf16> to tensor<3xf32>
  %8 = swage.broadcast %7 dims [1] : tensor<3xf32> -> tensor<129x3xf32>
  %9 = swage.broadcast %dColumn dims [0] : tensor<129xf32> -> tensor<129x3xf32>
  %10 = arith.mulf %d, %8 : tensor<129x3xf32>
  %d0 = arith.addf %10, %9 : tensor<129x3xf32>
  %d1 = arith.truncf %d0 : tensor<129x3xf32> to tensor<129x3xf16>

  // Fewer points than a vector has.
  %11 = swage.broadcast %eRow dims [1] : tensor<1xf16> -> tensor<2x1x1xf16>
  %e0 = arith.addf %e, %11 : tensor<2x1x1xf16>

  // A multiple of the vector: nothing is left over.
  %12 = swage.broadcast %fRow dims [0] : tensor<16xf32> -> tensor<16x9xf32>
  %13 = arith.extf %f : tensor<16x9xf16> to tensor<16x9xf32>
  %f0 = arith.addf %13, %12 : tensor<16x9xf32>

  // Coordinates, each point's own.
  %i = swage.iota dim 1 : tensor<3x17x17xi32>
  %j = swage.iota dim 2 : tensor<3x17x17xi32>
  %none = arith.constant dense<0.0> : tensor<3x17x17xf16>
  %seen = arith.cmpi sle, %j, %i : tensor<3x17x17xi32>
  %g0 = arith.select %seen, %g, %none : tensor<3x17x17xi1>, tensor<3x17x17xf16>

  // Random bits lie in their stream as the points are counted.
  %bits = swage.random %state : tensor<2xi64> -> tensor<37x13xi32>
  %limit = arith.constant dense<1000000000> : tensor<37x13xi32>
  %nothing = arith.constant dense<0.0> : tensor<37x13xf16>
  %14 = swage.broadcast %hRow dims [1] : tensor<13xf16> -> tensor<37x13xf16>
  %15 = arith.addf %h, %14 : tensor<37x13xf16>
  %kept = arith.cmpi slt, %bits, %limit : tensor<37x13xi32>
  %h0 = arith.select %kept, %15, %nothing : tensor<37x13xi1>, tensor<37x13xf16>
  return %a0, %b0, %c0, %d0, %d1, %e0, %f0, %g0, %h0 : tensor<33x7xf16>, tensor<9x5x3xbf16>, tensor<3x17x11xf16>, tensor<129x3xf32>, tensor<129x3xf16>, tensor<2x1x1xf16>, tensor<16x9xf32>,
    tensor<3x17x17xf16>, tensor<37x13xf16>
}
