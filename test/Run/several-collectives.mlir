// REQUIRES: host-compiler
// Three and four collectives over the same rows in one kernel: rows of a few lanes, of a block, that begin anywhere, of a cluster, of any length, of a crowd, and of which nothing
// is known. Softmax behind others; elements of a norm that are made again behind two more; groups behind two norms; rows of which nothing but their results meets.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,order=random,seed=3 --check --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check --check --seed=5 | FileCheck %s
// RUN: swage-run %s --entry=open --dims='5,40;5,40' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=open --dims='3,1001;3,1001' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=open --dims='2,0;2,0' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=long --device=sim --sim=check --check | FileCheck %s --check-prefix=LONG
// RUN: swage-run %s --entry=longest --device=sim --sim=check --check | FileCheck %s --check-prefix=LONGEST
// RUN: swage-run %s --entry=stream --device=sim --sim=check --check | FileCheck %s --check-prefix=STREAM
// RUN: not swage-run %s --entry=overwritten --device=sim --check 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=KERNELS
// CHECK-COUNT-12: accepted
// OPEN-COUNT-2: accepted
// LONG-COUNT-3: accepted
// LONGEST-COUNT-2: accepted
// STREAM-COUNT-2: accepted
// OVERWRITTEN: result 0 cannot be the memory of argument 1
// KERNELS-LABEL: func.func @main
// KERNELS: swage.launch @reduce_sum_and_3_more_
// KERNELS: swage.launch @log_softmax_and_2_more_
// KERNELS-LABEL: func.func @open
// KERNELS-COUNT-1: swage.launch
// KERNELS-NOT: swage.launch
// KERNELS-LABEL: func.func @long
// KERNELS: swage.launch @layer_norm_and_2_more_
func.func @main(%a: tensor<6x264xbf16>, %b: tensor<6x264xbf16>, %p: tensor<9x77xf32>, %q: tensor<9x77xf32>, %x: tensor<5x1003xf16>, %r: tensor<5x1003xf16>, %gamma: tensor<1003xf16>,
                %h: tensor<4x512xbf16>, %s: tensor<4x512xbf16>, %mask: tensor<4x512xi1>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<9xf32>, tensor<5x1003xf16>, tensor<5x1003xf16>, tensor<5x1003xf16>, tensor<4x512xbf16>, tensor<4x512xf8E4M3FN>, tensor<4x4xf32>,
        tensor<4x512xbf16>, tensor<4x512xf32>, tensor<4xf32>) {
  // Cosine similarity, normalised first and last.
  %a32 = arith.extf %a : tensor<6x264xbf16> to tensor<6x264xf32>
  %b32 = arith.extf %b : tensor<6x264xbf16> to tensor<6x264xf32>
  %aa = arith.mulf %a32, %a32 : tensor<6x264xf32>
  %bb = arith.mulf %b32, %b32 : tensor<6x264xf32>
  %ab = arith.mulf %a32, %b32 : tensor<6x264xf32>
  %saa = swage.reduce sum %aa dims [1] : tensor<6x264xf32> -> tensor<6xf32>
  %sbb = swage.reduce sum %bb dims [1] : tensor<6x264xf32> -> tensor<6xf32>
  %sab = swage.reduce sum %ab dims [1] : tensor<6x264xf32> -> tensor<6xf32>
  %product = arith.mulf %saa, %sbb : tensor<6xf32>
  %norms = math.sqrt %product : tensor<6xf32>
  %cosine = arith.divf %sab, %norms : tensor<6xf32>
  %na = math.sqrt %saa : tensor<6xf32>
  %nb = math.sqrt %sbb : tensor<6xf32>
  %na_all = swage.broadcast %na dims [0] : tensor<6xf32> -> tensor<6x264xf32>
  %nb_all = swage.broadcast %nb dims [0] : tensor<6xf32> -> tensor<6x264xf32>
  %ua = arith.divf %a32, %na_all : tensor<6x264xf32>
  %ub = arith.divf %b32, %nb_all : tensor<6x264xf32>
  %uab = arith.mulf %ua, %ub : tensor<6x264xf32>
  %cosine2 = swage.reduce sum %uab dims [1] : tensor<6x264xf32> -> tensor<6xf32>

  // Kullback-Leibler divergence.
  %lp = swage.softmax %p axis 1 log : tensor<9x77xf32> -> tensor<9x77xf32>
  %lq = swage.softmax %q axis 1 log : tensor<9x77xf32> -> tensor<9x77xf32>
  %ep = math.exp %lp : tensor<9x77xf32>
  %pq = arith.subf %lp, %lq : tensor<9x77xf32>
  %terms = arith.mulf %ep, %pq : tensor<9x77xf32>
  %kl = swage.reduce sum %terms dims [1] : tensor<9x77xf32> -> tensor<9xf32>

  // Three norms, each of the sum of the one before and a residual; the last adds the first's elements.
  %n1 = swage.layer_norm %x gamma %gamma axis 1 eps 1.0e-5 : (tensor<5x1003xf16>, tensor<1003xf16>) -> tensor<5x1003xf16>
  %s1 = arith.addf %n1, %r : tensor<5x1003xf16>
  %n2 = swage.rms_norm %s1 axis 1 eps 1.0e-5 : (tensor<5x1003xf16>) -> tensor<5x1003xf16>
  %s2 = arith.addf %n2, %x : tensor<5x1003xf16>
  %n3 = swage.layer_norm %s2 axis 1 eps 1.0e-5 : (tensor<5x1003xf16>) -> tensor<5x1003xf16>
  %s3 = arith.addf %n3, %n1 : tensor<5x1003xf16>

  // Two norms, and what the second one is quantised by in groups.
  %h1 = swage.rms_norm %h axis 1 eps 1.0e-6 : (tensor<4x512xbf16>) -> tensor<4x512xbf16>
  %h2 = arith.addf %h1, %s : tensor<4x512xbf16>
  %h3 = swage.rms_norm %h2 axis 1 eps 1.0e-6 : (tensor<4x512xbf16>) -> tensor<4x512xbf16>
  %h32 = arith.extf %h3 : tensor<4x512xbf16> to tensor<4x512xf32>
  %hg = swage.reshape %h32 : tensor<4x512xf32> -> tensor<4x4x128xf32>
  %ha = math.absf %hg : tensor<4x4x128xf32>
  %hm = swage.reduce max %ha dims [2] : tensor<4x4x128xf32> -> tensor<4x4xf32>
  %hb = swage.broadcast %hm dims [0, 1] : tensor<4x4xf32> -> tensor<4x4x128xf32>
  %hd = arith.divf %hg, %hb : tensor<4x4x128xf32>
  %hq = arith.truncf %hd : tensor<4x4x128xf32> to tensor<4x4x128xf8E4M3FN>
  %quantised = swage.reshape %hq : tensor<4x4x128xf8E4M3FN> -> tensor<4x512xf8E4M3FN>

  // A softmax of a norm with a mask, and a norm, a sum and a softmax of its elements.
  %m1 = swage.rms_norm %s axis 1 eps 1.0e-6 : (tensor<4x512xbf16>) -> tensor<4x512xbf16>
  %m2 = swage.softmax %m1 mask %mask axis 1 : tensor<4x512xbf16>, tensor<4x512xi1> -> tensor<4x512xbf16>
  %m32 = arith.extf %m2 : tensor<4x512xbf16> to tensor<4x512xf32>
  %m3 = swage.reduce max %m32 dims [1] : tensor<4x512xf32> -> tensor<4xf32>
  %m3_all = swage.broadcast %m3 dims [0] : tensor<4xf32> -> tensor<4x512xf32>
  %m4 = arith.addf %m32, %m3_all : tensor<4x512xf32>
  %m5 = swage.softmax %m4 axis 1 : tensor<4x512xf32> -> tensor<4x512xf32>
  return %cosine, %cosine2, %kl, %s1, %s2, %s3, %h2, %quantised, %hm, %m2, %m5, %m3
      : tensor<6xf32>, tensor<6xf32>, tensor<9xf32>, tensor<5x1003xf16>, tensor<5x1003xf16>, tensor<5x1003xf16>, tensor<4x512xbf16>, tensor<4x512xf8E4M3FN>, tensor<4x4xf32>,
        tensor<4x512xbf16>, tensor<4x512xf32>, tensor<4xf32>
}

func.func @open(%x: tensor<?x?xf32>, %r: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %n1 = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s1 = arith.addf %n1, %r : tensor<?x?xf32>
  %n2 = swage.layer_norm %s1 axis 1 eps 1.0e-5 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s2 = arith.addf %n2, %n1 : tensor<?x?xf32>
  %n3 = swage.softmax %s2 axis 1 : tensor<?x?xf32> -> tensor<?x?xf32>
  return %s1, %n3 : tensor<?x?xf32>, tensor<?x?xf32>
}

// Clusters, and rows that begin anywhere.
func.func @long(%x: tensor<2x65536xf16>, %y: tensor<2x65536xf16>, %p: tensor<2x50001xbf16>, %q: tensor<2x50001xbf16>) -> (tensor<2x65536xf16>, tensor<2x65536xf16>, tensor<2xf32>) {
  %n1 = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<2x65536xf16>) -> tensor<2x65536xf16>
  %s1 = arith.addf %n1, %y : tensor<2x65536xf16>
  %n2 = swage.rms_norm %s1 axis 1 eps 1.0e-5 : (tensor<2x65536xf16>) -> tensor<2x65536xf16>
  %s2 = arith.addf %n2, %n1 : tensor<2x65536xf16>
  %n3 = swage.layer_norm %s2 axis 1 eps 1.0e-5 : (tensor<2x65536xf16>) -> tensor<2x65536xf16>
  %p32 = arith.extf %p : tensor<2x50001xbf16> to tensor<2x50001xf32>
  %q32 = arith.extf %q : tensor<2x50001xbf16> to tensor<2x50001xf32>
  %lp = swage.softmax %p32 axis 1 log : tensor<2x50001xf32> -> tensor<2x50001xf32>
  %lq = swage.softmax %q32 axis 1 log : tensor<2x50001xf32> -> tensor<2x50001xf32>
  %ep = math.exp %lp : tensor<2x50001xf32>
  %pq = arith.subf %lp, %lq : tensor<2x50001xf32>
  %terms = arith.mulf %ep, %pq : tensor<2x50001xf32>
  %kl = swage.reduce sum %terms dims [1] : tensor<2x50001xf32> -> tensor<2xf32>
  return %s1, %n3, %kl : tensor<2x65536xf16>, tensor<2x65536xf16>, tensor<2xf32>
}

// A crowd.
func.func @longest(%x: tensor<1x1100000xf32>, %y: tensor<1x1100000xf32>) -> (tensor<1x1100000xf32>, tensor<1x1100000xf32>) {
  %n1 = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<1x1100000xf32>) -> tensor<1x1100000xf32>
  %s1 = arith.addf %n1, %y : tensor<1x1100000xf32>
  %n2 = swage.rms_norm %s1 axis 1 eps 1.0e-5 : (tensor<1x1100000xf32>) -> tensor<1x1100000xf32>
  %s2 = arith.addf %n2, %n1 : tensor<1x1100000xf32>
  %n3 = swage.layer_norm %s2 axis 1 eps 1.0e-5 : (tensor<1x1100000xf32>) -> tensor<1x1100000xf32>
  return %s1, %n3 : tensor<1x1100000xf32>, tensor<1x1100000xf32>
}

// A sum in place of an operand that would be read again behind two more collectives: two kernels.
func.func @stream(%x: tensor<5x4096xf32>, %h: tensor<5x4096xf32>) -> (tensor<5x4096xf32> {swage.alias = 0}, tensor<5x4096xf32>) {
  %n = swage.rms_norm %h axis 1 eps 1.0e-5 : (tensor<5x4096xf32>) -> tensor<5x4096xf32>
  %s = arith.addf %x, %n : tensor<5x4096xf32>
  %m = swage.rms_norm %s axis 1 eps 1.0e-5 : (tensor<5x4096xf32>) -> tensor<5x4096xf32>
  %l = swage.softmax %m axis 1 : tensor<5x4096xf32> -> tensor<5x4096xf32>
  %o = arith.addf %s, %l : tensor<5x4096xf32>
  return %s, %o : tensor<5x4096xf32>, tensor<5x4096xf32>
}

// What is written between the first two norms is read between the second and the third.
func.func @overwritten(%x: tensor<5x4096xf32>, %r: tensor<5x4096xf32>) -> (tensor<5x4096xf32> {swage.alias = 1}, tensor<5x4096xf32>) {
  %n1 = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<5x4096xf32>) -> tensor<5x4096xf32>
  %s1 = math.tanh %n1 : tensor<5x4096xf32>
  %n2 = swage.layer_norm %s1 axis 1 eps 1.0e-5 : (tensor<5x4096xf32>) -> tensor<5x4096xf32>
  %s2 = arith.addf %n2, %r : tensor<5x4096xf32>
  %n3 = swage.rms_norm %s2 axis 1 eps 1.0e-5 : (tensor<5x4096xf32>) -> tensor<5x4096xf32>
  return %s1, %n3 : tensor<5x4096xf32>, tensor<5x4096xf32>
}
