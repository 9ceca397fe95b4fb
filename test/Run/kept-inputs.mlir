// REQUIRES: host-compiler
// Epilogues that read what the prologue has read: whole vectors, rows that begin anywhere, rows of one warp, of a cluster, and rows of which a mask leaves a part unread,
// whose rest the epilogue still needs.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,order=random,seed=3 --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check --check --seed=5 | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=KERNELS
// CHECK-COUNT-5: accepted
// KERNELS-LABEL: func.func @main
// KERNELS-COUNT-5: swage.launch
// KERNELS-NOT: swage.launch
// KERNELS: return
func.func @main(%p: tensor<33x1024xbf16>, %g: tensor<33x1024xbf16>, %p1: tensor<7x333xf16>, %g1: tensor<7x333xf16>, %p2: tensor<50x64xf32>, %g2: tensor<50x64xf32>,
                %p3: tensor<2x40000xbf16>, %g3: tensor<2x40000xbf16>, %scores: tensor<3x96x96xf16>)
    -> (tensor<33x1024xbf16>, tensor<7x333xf16>, tensor<50x64xf32>, tensor<2x40000xbf16>, tensor<3x96x96xf16>) {
  // The gradient of a softmax: p (g - sum of p g).
  %pw = arith.extf %p : tensor<33x1024xbf16> to tensor<33x1024xf32>
  %gw = arith.extf %g : tensor<33x1024xbf16> to tensor<33x1024xf32>
  %pg = arith.mulf %pw, %gw : tensor<33x1024xf32>
  %sum = swage.reduce sum %pg dims [1] : tensor<33x1024xf32> -> tensor<33xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<33xf32> -> tensor<33x1024xf32>
  %d = arith.subf %gw, %sums : tensor<33x1024xf32>
  %dx = arith.mulf %pw, %d : tensor<33x1024xf32>
  %0 = arith.truncf %dx : tensor<33x1024xf32> to tensor<33x1024xbf16>

  %pw1 = arith.extf %p1 : tensor<7x333xf16> to tensor<7x333xf32>
  %gw1 = arith.extf %g1 : tensor<7x333xf16> to tensor<7x333xf32>
  %pg1 = arith.mulf %pw1, %gw1 : tensor<7x333xf32>
  %sum1 = swage.reduce sum %pg1 dims [1] : tensor<7x333xf32> -> tensor<7xf32>
  %sums1 = swage.broadcast %sum1 dims [0] : tensor<7xf32> -> tensor<7x333xf32>
  %d1 = arith.subf %gw1, %sums1 : tensor<7x333xf32>
  %dx1 = arith.mulf %pw1, %d1 : tensor<7x333xf32>
  %1 = arith.truncf %dx1 : tensor<7x333xf32> to tensor<7x333xf16>

  %pg2 = arith.mulf %p2, %g2 : tensor<50x64xf32>
  %sum2 = swage.reduce sum %pg2 dims [1] : tensor<50x64xf32> -> tensor<50xf32>
  %sums2 = swage.broadcast %sum2 dims [0] : tensor<50xf32> -> tensor<50x64xf32>
  %d2 = arith.subf %g2, %sums2 : tensor<50x64xf32>
  %2 = arith.mulf %p2, %d2 : tensor<50x64xf32>

  // Of an RMSNorm in front of a product with what it is of.
  %pw3 = arith.extf %p3 : tensor<2x40000xbf16> to tensor<2x40000xf32>
  %gw3 = arith.extf %g3 : tensor<2x40000xbf16> to tensor<2x40000xf32>
  %s3 = arith.addf %pw3, %gw3 : tensor<2x40000xf32>
  %n3 = swage.rms_norm %s3 axis 1 eps 1.0e-6 : (tensor<2x40000xf32>) -> tensor<2x40000xf32>
  %m3 = arith.mulf %n3, %gw3 : tensor<2x40000xf32>
  %3 = arith.truncf %m3 : tensor<2x40000xf32> to tensor<2x40000xbf16>

  // Weights times scores, of which the mask leaves half unread.
  %i = swage.iota dim 1 : tensor<3x96x96xi32>
  %j = swage.iota dim 2 : tensor<3x96x96xi32>
  %seen = arith.cmpi sle, %j, %i : tensor<3x96x96xi32>
  %minus = arith.constant dense<0xFC00> : tensor<3x96x96xf16>
  %masked = arith.select %seen, %scores, %minus : tensor<3x96x96xi1>, tensor<3x96x96xf16>
  %weights = swage.softmax %masked axis 2 : tensor<3x96x96xf16> -> tensor<3x96x96xf16>
  %4 = arith.addf %weights, %scores : tensor<3x96x96xf16>
  return %0, %1, %2, %3, %4 : tensor<33x1024xbf16>, tensor<7x333xf16>, tensor<50x64xf32>, tensor<2x40000xbf16>, tensor<3x96x96xf16>
}
