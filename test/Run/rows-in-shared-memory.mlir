// REQUIRES: host-compiler
// Rows that wait in shared memory between two walks, and columns that stay on chip, on the simulator against the reference: one
// block and clusters, rows that end in the middle of a step, rows beside each other, two collectives, masks, single elements.
// RUN: swage-run %s --fuse --device=sim --check --sim=check,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --fuse --device=sim --check --inputs=nasty | FileCheck %s --check-prefix=RESULTS
// RUN: swage-run %s --fuse --device=sim --arch=sm_80 --check --sim=check,order=random,seed=5 | FileCheck %s
// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule=arch=sm_80 | FileCheck %s --check-prefix=OLD

// SCHEDULE: kind = looped, {{.*}}rows_per_block = 4, vector = 8, {{.*}}staged = true
// SCHEDULE: kind = looped, {{.*}}rows_per_block = 1, vector = 8, {{.*}}staged = true
// SCHEDULE: kind = column, threads_per_row = 16, rows_per_block = 16, {{.*}}blocks_per_row = 4>
// OLD: kind = column, threads_per_row = 32, rows_per_block = 8, {{.*}}staged = true
// SCHEDULE: kind = column, threads_per_row = 2, {{.*}}vector = 2, vectors_per_thread = 7, index = 32>

// CHECK-COUNT-8: accepted
// CHECK-NOT: rejected
// RESULTS-COUNT-8: accepted
// RESULTS-NOT: rejected
func.func @main(%batch: tensor<7x2x5000xbf16>, %groups: tensor<2x1100x8x16xbf16>, %gamma: tensor<8x16xbf16>, %odd: tensor<3x40001xf32>,
                %row: tensor<70x33000xbf16>, %long: tensor<64x1000x50xf16>, %short: tensor<3x13x40xbf16>, %causal: tensor<5x40000xf16>)
    -> (tensor<2x7x5000xf32>, tensor<2xf32>, tensor<2x1100x8x16xbf16>, tensor<3x40001xf32>, tensor<70x33000xf8E4M3FN>,
        tensor<64x1000x50xf16>, tensor<3x13x40xbf16>, tensor<5x40000xf16>) {
  // BatchNorm: a channel's row is one run an image.
  %channels = swage.permute %batch [1, 0, 2] : tensor<7x2x5000xbf16> -> tensor<2x7x5000xbf16>
  %0, %1, %rstd = swage.layer_norm %channels axis 1 eps 1.0e-5 : (tensor<2x7x5000xbf16>) -> (tensor<2x7x5000xf32>, tensor<2xf32>, tensor<2xf32>)

  // GroupNorm, channels last: neighbouring groups beside each other.
  %apart = swage.permute %groups [0, 2, 1, 3] : tensor<2x1100x8x16xbf16> -> tensor<2x8x1100x16xbf16>
  %normal = swage.layer_norm %apart axis 2 eps 1.0e-5 : (tensor<2x8x1100x16xbf16>) -> tensor<2x8x1100x16xbf16>
  %together = swage.permute %normal [0, 2, 1, 3] : tensor<2x8x1100x16xbf16> -> tensor<2x1100x8x16xbf16>
  %g = swage.broadcast %gamma dims [2, 3] : tensor<8x16xbf16> -> tensor<2x1100x8x16xbf16>
  %2 = arith.mulf %together, %g : tensor<2x1100x8x16xbf16>

  // Single elements.
  %3 = swage.softmax %odd axis 1 : tensor<3x40001xf32> -> tensor<3x40001xf32>

  // Many rows, two collectives.
  %n = swage.rms_norm %row axis 1 eps 1.0e-6 : (tensor<70x33000xbf16>) -> tensor<70x33000xf32>
  %a = math.absf %n : tensor<70x33000xf32>
  %m = swage.reduce max %a dims [1] : tensor<70x33000xf32> -> tensor<70xf32>
  %most = arith.constant dense<448.0> : tensor<70xf32>
  %least = arith.constant dense<1.0e-10> : tensor<70xf32>
  %m1 = arith.maximumf %m, %least : tensor<70xf32>
  %inverse = arith.divf %most, %m1 : tensor<70xf32>
  %ib = swage.broadcast %inverse dims [0] : tensor<70xf32> -> tensor<70x33000xf32>
  %v = arith.mulf %n, %ib : tensor<70x33000xf32>
  %4 = arith.truncf %v : tensor<70x33000xf32> to tensor<70x33000xf8E4M3FN>

  // Columns in shared memory, and in registers.
  %5 = swage.softmax %long axis 1 : tensor<64x1000x50xf16> -> tensor<64x1000x50xf16>
  %6 = swage.softmax %short axis 1 : tensor<3x13x40xbf16> -> tensor<3x13x40xbf16>

  // A mask that leaves most of the row out.
  %i = swage.iota dim 0 : tensor<5x40000xi32>
  %j = swage.iota dim 1 : tensor<5x40000xi32>
  %keep = arith.cmpi sle, %j, %i : tensor<5x40000xi32>
  %7 = swage.softmax %causal mask %keep axis 1 : tensor<5x40000xf16>, tensor<5x40000xi1> -> tensor<5x40000xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x7x5000xf32>, tensor<2xf32>, tensor<2x1100x8x16xbf16>, tensor<3x40001xf32>,
      tensor<70x33000xf8E4M3FN>, tensor<64x1000x50xf16>, tensor<3x13x40xbf16>, tensor<5x40000xf16>
}
