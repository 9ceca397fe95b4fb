// REQUIRES: host-compiler
// Two reductions of the same rows in one kernel, and what is made of both: rows of a few lanes, of a block, of any length, of several blocks, and of which nothing is known;
// a sum behind a softmax, gradients that read their operands again, and what both sides load.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check --check --seed=5 | FileCheck %s
// RUN: swage-run %s --entry=open --dims='5,40' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=open --dims='3,1001' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=open --dims='2,0' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=long --device=sim --sim=check --check | FileCheck %s --check-prefix=LONG
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=KERNELS
// CHECK-COUNT-7: accepted
// OPEN-COUNT-2: accepted
// LONG: clusters of
// LONG-COUNT-3: accepted
// KERNELS-LABEL: func.func @main
// KERNELS-COUNT-5: swage.launch
// KERNELS-NOT: swage.launch
// KERNELS-LABEL: func.func @open
// KERNELS: swage.launch @reduce_min_max_
// KERNELS-NOT: swage.launch
// KERNELS-LABEL: func.func @long
// KERNELS: swage.launch @reduce_mean_mean_
// KERNELS-NEXT: swage.launch @reduce_min_max_
// KERNELS-COUNT-2: swage.launch @reduce_m
// KERNELS-NOT: swage.launch
// KERNELS: return
func.func @main(%x: tensor<7x100xf32>, %h: tensor<9x1000xbf16>, %dy: tensor<6x256xbf16>, %n: tensor<6x256xbf16>, %gamma: tensor<256xbf16>, %mean: tensor<6xf32>, %rstd: tensor<6xf32>,
                %odd: tensor<5x333xf16>, %image: tensor<3x8x35xf16>)
    -> (tensor<7x100xf32>, tensor<9xf32>, tensor<6x256xbf16>, tensor<5x333xf16>, tensor<8xf32>, tensor<8xf32>, tensor<9xf32>) {
  // Between 0 and 1.
  %low = swage.reduce min %x dims [1] : tensor<7x100xf32> -> tensor<7xf32>
  %high = swage.reduce max %x dims [1] : tensor<7x100xf32> -> tensor<7xf32>
  %lows = swage.broadcast %low dims [0] : tensor<7xf32> -> tensor<7x100xf32>
  %range = arith.subf %high, %low : tensor<7xf32>
  %ranges = swage.broadcast %range dims [0] : tensor<7xf32> -> tensor<7x100xf32>
  %above = arith.subf %x, %lows : tensor<7x100xf32>
  %scaled = arith.divf %above, %ranges : tensor<7x100xf32>

  // Entropy.
  %wide = arith.extf %h : tensor<9x1000xbf16> to tensor<9x1000xf32>
  %log = swage.softmax %wide axis 1 log : tensor<9x1000xf32> -> tensor<9x1000xf32>
  %p = math.exp %log : tensor<9x1000xf32>
  %plog = arith.mulf %p, %log : tensor<9x1000xf32>
  %entropy = swage.reduce sum %plog dims [1] : tensor<9x1000xf32> -> tensor<9xf32>

  // The gradient of a LayerNorm.
  %dyWide = arith.extf %dy : tensor<6x256xbf16> to tensor<6x256xf32>
  %nWide = arith.extf %n : tensor<6x256xbf16> to tensor<6x256xf32>
  %gammaWide = arith.extf %gamma : tensor<256xbf16> to tensor<256xf32>
  %gammas = swage.broadcast %gammaWide dims [1] : tensor<256xf32> -> tensor<6x256xf32>
  %means = swage.broadcast %mean dims [0] : tensor<6xf32> -> tensor<6x256xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<6xf32> -> tensor<6x256xf32>
  %centred = arith.subf %nWide, %means : tensor<6x256xf32>
  %normed = arith.mulf %centred, %rstds : tensor<6x256xf32>
  %g = arith.mulf %dyWide, %gammas : tensor<6x256xf32>
  %gn = arith.mulf %g, %normed : tensor<6x256xf32>
  %meanG = swage.reduce mean %g dims [1] : tensor<6x256xf32> -> tensor<6xf32>
  %meanGn = swage.reduce mean %gn dims [1] : tensor<6x256xf32> -> tensor<6xf32>
  %meansG = swage.broadcast %meanG dims [0] : tensor<6xf32> -> tensor<6x256xf32>
  %meansGn = swage.broadcast %meanGn dims [0] : tensor<6xf32> -> tensor<6x256xf32>
  %first = arith.subf %g, %meansG : tensor<6x256xf32>
  %second = arith.mulf %normed, %meansGn : tensor<6x256xf32>
  %difference = arith.subf %first, %second : tensor<6x256xf32>
  %dxWide = arith.mulf %difference, %rstds : tensor<6x256xf32>
  %dx = arith.truncf %dxWide : tensor<6x256xf32> to tensor<6x256xbf16>

  // Rows of length 1, of f16, which the division reads as they are and the sum as f32.
  %oddWide = arith.extf %odd : tensor<5x333xf16> to tensor<5x333xf32>
  %square = arith.mulf %oddWide, %oddWide : tensor<5x333xf32>
  %sum = swage.reduce sum %square dims [1] : tensor<5x333xf32> -> tensor<5xf32>
  %root = math.sqrt %sum : tensor<5xf32>
  %rootNarrow = arith.truncf %root : tensor<5xf32> to tensor<5xf16>
  %roots = swage.broadcast %rootNarrow dims [0] : tensor<5xf16> -> tensor<5x333xf16>
  %unit = arith.divf %odd, %roots : tensor<5x333xf16>

  // Mean and variance of channels, whose rows are in runs.
  %imageWide = arith.extf %image : tensor<3x8x35xf16> to tensor<3x8x35xf32>
  %mu = swage.reduce mean %imageWide dims [0, 2] : tensor<3x8x35xf32> -> tensor<8xf32>
  %mus = swage.broadcast %mu dims [1] : tensor<8xf32> -> tensor<3x8x35xf32>
  %distance = arith.subf %imageWide, %mus : tensor<3x8x35xf32>
  %squares = arith.mulf %distance, %distance : tensor<3x8x35xf32>
  %variance = swage.reduce mean %squares dims [0, 2] : tensor<3x8x35xf32> -> tensor<8xf32>

  // A sum of what the largest one has been taken from.
  %most = swage.reduce max %wide dims [1] : tensor<9x1000xf32> -> tensor<9xf32>
  %mosts = swage.broadcast %most dims [0] : tensor<9xf32> -> tensor<9x1000xf32>
  %below = arith.subf %wide, %mosts : tensor<9x1000xf32>
  %gap = swage.reduce sum %below dims [1] : tensor<9x1000xf32> -> tensor<9xf32>
  return %scaled, %entropy, %dx, %unit, %mu, %variance, %gap : tensor<7x100xf32>, tensor<9xf32>, tensor<6x256xbf16>, tensor<5x333xf16>, tensor<8xf32>, tensor<8xf32>, tensor<9xf32>
}

func.func @open(%x: tensor<?x?xf16>) -> (tensor<?xf16>, tensor<?xf16>) {
  %low = swage.reduce min %x dims [1] : tensor<?x?xf16> -> tensor<?xf16>
  %high = swage.reduce max %x dims [1] : tensor<?x?xf16> -> tensor<?xf16>
  return %low, %high : tensor<?xf16>, tensor<?xf16>
}

// Rows of a cluster, which are not split because the kernel has their elements as well; rows that are.
func.func @long(%x: tensor<12x30000xf32>, %y: tensor<1x300001xf16>) -> (tensor<12x30000xf32>, tensor<1xf16>, tensor<1xf16>) {
  %mean = swage.reduce mean %x dims [1] : tensor<12x30000xf32> -> tensor<12xf32>
  %means = swage.broadcast %mean dims [0] : tensor<12xf32> -> tensor<12x30000xf32>
  %centred = arith.subf %x, %means : tensor<12x30000xf32>
  %size = math.absf %centred : tensor<12x30000xf32>
  %distance = swage.reduce mean %size dims [1] : tensor<12x30000xf32> -> tensor<12xf32>
  %distances = swage.broadcast %distance dims [0] : tensor<12xf32> -> tensor<12x30000xf32>
  %r = arith.divf %centred, %distances : tensor<12x30000xf32>
  %low = swage.reduce min %y dims [1] : tensor<1x300001xf16> -> tensor<1xf16>
  %high = swage.reduce max %y dims [1] : tensor<1x300001xf16> -> tensor<1xf16>
  return %r, %low, %high : tensor<12x30000xf32>, tensor<1xf16>, tensor<1xf16>
}
