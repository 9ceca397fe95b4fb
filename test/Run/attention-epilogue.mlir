// REQUIRES: host-compiler
// What follows attention leaves its kernel with the result, on the simulator against the reference: a gate, a bias and a residual around the merged heads;
// wider and narrower types, 8-bit ones by scales; the result itself beside what is made of it, and more rows than a tile has.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=3 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --sim=async=random,order=random,seed=4 | FileCheck %s
// Sums of weights alone: the result that nobody reads is memory between kernels.
// RUN: swage-run %s --entry=sums --device=sim --sim=check --check | FileCheck %s --check-prefix=SUMS
// RUN: swage-run %s --entry=sums --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=SUMS
// Results of f32, of long heads too.
// RUN: swage-run %s --entry=sharp --device=sim --check | FileCheck %s --check-prefix=SHARP
// RUN: swage-run %s --entry=sharp --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=SHARP
// SHARP-COUNT-2: accepted
// SUMS-COUNT-2: accepted
// SUMS: 2 kernels ran
// CHECK-COUNT-5: attention_{{[0-9a-f]+}}
// CHECK-COUNT-7: accepted
// CHECK: 5 kernels ran
func.func @main(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x201x64xbf16>, %gate: tensor<2x130x4x64xbf16>, %bias: tensor<4x64xf32>, %residual: tensor<2x130x256xbf16>, %s: tensor<1xf32>)
   -> (tensor<2x130x256xbf16>, tensor<2x4x130xf32>, tensor<2x4x130x64xf32>, tensor<2x130x4x64xf8E4M3FN>, tensor<2x4x130x64xi8>, tensor<2x4x130x64xf16>, tensor<2x4x130x64xbf16>) {
  %o, %lse = swage.attention %q, %k, %k scale 0.125 : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>)
  %p = swage.permute %o [0, 2, 1, 3] : tensor<2x4x130x64xbf16> -> tensor<2x130x4x64xbf16>
  %w = arith.extf %p : tensor<2x130x4x64xbf16> to tensor<2x130x4x64xf32>
  %g = arith.extf %gate : tensor<2x130x4x64xbf16> to tensor<2x130x4x64xf32>
  %n = arith.negf %g : tensor<2x130x4x64xf32>
  %e = math.exp %n : tensor<2x130x4x64xf32>
  %one = arith.constant dense<1.0> : tensor<2x130x4x64xf32>
  %d = arith.addf %e, %one : tensor<2x130x4x64xf32>
  %x = arith.divf %w, %d : tensor<2x130x4x64xf32>
  %b = swage.broadcast %bias dims [2, 3] : tensor<4x64xf32> -> tensor<2x130x4x64xf32>
  %y = arith.addf %x, %b : tensor<2x130x4x64xf32>
  %yr = swage.reshape %y : tensor<2x130x4x64xf32> -> tensor<2x130x256xf32>
  %rw = arith.extf %residual : tensor<2x130x256xbf16> to tensor<2x130x256xf32>
  %z = arith.addf %yr, %rw : tensor<2x130x256xf32>
  %out = arith.truncf %z : tensor<2x130x256xf32> to tensor<2x130x256xbf16>

  %o2 = swage.attention %q, %k, %k scale 0.25 : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>
  %o2w = arith.extf %o2 : tensor<2x4x130x64xbf16> to tensor<2x4x130x64xf32>

  %o3 = swage.attention %q, %k, %k scale 0.5 : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xf32>
  %p3 = swage.permute %o3 [0, 2, 1, 3] : tensor<2x4x130x64xf32> -> tensor<2x130x4x64xf32>
  %sc = swage.broadcast %s dims [0] : tensor<1xf32> -> tensor<2x130x4x64xf32>
  %m3 = arith.mulf %p3, %sc : tensor<2x130x4x64xf32>
  %f8 = arith.truncf %m3 : tensor<2x130x4x64xf32> to tensor<2x130x4x64xf8E4M3FN>

  %o4 = swage.attention %q, %k, %k scale 0.75 : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xf32>
  %low = arith.constant dense<-127.0> : tensor<2x4x130x64xf32>
  %high = arith.constant dense<127.0> : tensor<2x4x130x64xf32>
  %sc4 = swage.broadcast %s dims [0] : tensor<1xf32> -> tensor<2x4x130x64xf32>
  %m4 = arith.mulf %o4, %sc4 : tensor<2x4x130x64xf32>
  %r4 = math.roundeven %m4 : tensor<2x4x130x64xf32>
  %c4 = arith.maximumf %r4, %low : tensor<2x4x130x64xf32>
  %c5 = arith.minimumf %c4, %high : tensor<2x4x130x64xf32>
  %i8 = arith.fptosi %c5 : tensor<2x4x130x64xf32> to tensor<2x4x130x64xi8>
  %o5 = swage.attention %q, %k, %k : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xf16>
  %t5 = arith.extf %o5 : tensor<2x4x130x64xf16> to tensor<2x4x130x64xf32>
  %u5 = arith.mulf %t5, %t5 : tensor<2x4x130x64xf32>
  %v5 = arith.truncf %u5 : tensor<2x4x130x64xf32> to tensor<2x4x130x64xbf16>
  return %out, %lse, %o2w, %f8, %i8, %o5, %v5 : tensor<2x130x256xbf16>, tensor<2x4x130xf32>, tensor<2x4x130x64xf32>, tensor<2x130x4x64xf8E4M3FN>, tensor<2x4x130x64xi8>, tensor<2x4x130x64xf16>, tensor<2x4x130x64xbf16>
}

func.func @sums(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x201x64xbf16>, %one: tensor<2x4x1x64xbf16>) -> (tensor<2x4x130xf32>, tensor<2x4x1xf32>) {
  %o, %sums = swage.attention %q, %k, %k scale 0.125 : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>)
  %step, %stepSums = swage.attention %one, %k, %k scale 0.125 : (tensor<2x4x1x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> (tensor<2x4x1x64xbf16>, tensor<2x4x1xf32>)
  return %sums, %stepSums : tensor<2x4x130xf32>, tensor<2x4x1xf32>
}

func.func @sharp(%q: tensor<2x4x150x128xbf16>, %k: tensor<2x2x201x128xbf16>, %a: tensor<1x2x70x192xf16>, %b: tensor<1x2x70x192xf16>) -> (tensor<2x4x150x128xf32>, tensor<1x2x70x192xf32>) {
  %o = swage.attention %q, %k, %k scale 0.5 : (tensor<2x4x150x128xbf16>, tensor<2x2x201x128xbf16>, tensor<2x2x201x128xbf16>) -> tensor<2x4x150x128xf32>
  %p = swage.attention %a, %b, %b scale 0.3 : (tensor<1x2x70x192xf16>, tensor<1x2x70x192xf16>, tensor<1x2x70x192xf16>) -> tensor<1x2x70x192xf32>
  return %o, %p : tensor<2x4x150x128xf32>, tensor<1x2x70x192xf32>
}
