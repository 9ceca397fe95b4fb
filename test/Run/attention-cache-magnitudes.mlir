// REQUIRES: host-compiler
// Queries of bf16 become f16 for keys of 8 bits by a power of two for each row: 2^-120 to 2^90 times as large as others, with scores that are not.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// CHECK: accepted
// CHECK-NOT: rejected
func.func @main(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xi8>, %v: tensor<2x2x300x64xi8>) -> tensor<2x8x1x64xbf16> {
  %h = swage.iota dim 0 : tensor<8xi32>
  %c4 = arith.constant dense<4> : tensor<8xi32>
  %c30 = arith.constant dense<30> : tensor<8xi32>
  %d = arith.subi %h, %c4 : tensor<8xi32>
  %e = arith.muli %d, %c30 : tensor<8xi32>
  %n = arith.subi %c4, %h : tensor<8xi32>
  %m = arith.muli %n, %c30 : tensor<8xi32>
  %ef = arith.sitofp %e : tensor<8xi32> to tensor<8xf32>
  %mf = arith.sitofp %m : tensor<8xi32> to tensor<8xf32>
  %large = math.exp2 %ef : tensor<8xf32>
  %small = math.exp2 %mf : tensor<8xf32>
  %lb = arith.truncf %large : tensor<8xf32> to tensor<8xbf16>
  %factor = swage.broadcast %lb dims [1] : tensor<8xbf16> -> tensor<2x8x1x64xbf16>
  %far = arith.mulf %q, %factor : tensor<2x8x1x64xbf16>
  %kb = arith.sitofp %k : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %vb = arith.sitofp %v : tensor<2x2x300x64xi8> to tensor<2x2x300x64xbf16>
  %o = swage.attention %far, %kb, %vb scale 0.01 score {
  ^bb0(%s: f32, %b: index, %hh: index, %i: index, %j: index):
    %f = tensor.extract %small[%hh] : tensor<8xf32>
    %t = arith.mulf %s, %f : f32
    swage.yield %t : f32
  } : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
