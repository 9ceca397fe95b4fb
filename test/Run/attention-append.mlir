// REQUIRES: host-compiler
// A step over a cache of 8 bits: one kernel makes new keys and values narrow and adds both, one reads all, times a factor for each head.
// RUN: swage-run %s --device=sim --sim=check --check --steps=3 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// CHECK: steps as replays of one captured graph: the same results
// CHECK: append_
// CHECK: attention decode
// CHECK-COUNT-3: accepted
// CHECK: {{^}}2 kernels ran
func.func @main(%q: tensor<2x8x1x64xbf16>, %newK: tensor<2x2x1x64xbf16>, %newV: tensor<2x2x1x64xbf16>, %kc: tensor<2x2x200x64xi8>, %vc: tensor<2x2x200x64xi8>, %pos: tensor<2xi32>, %sk: tensor<2xf32>, %sv: tensor<2xf32>)
    -> (tensor<2x8x1x64xbf16>, tensor<2x2x200x64xi8> {swage.alias = 3}, tensor<2x2x200x64xi8> {swage.alias = 4}) {
  %c = arith.constant dense<20.0> : tensor<2x2x1x64xf32>
  %kw = arith.extf %newK : tensor<2x2x1x64xbf16> to tensor<2x2x1x64xf32>
  %ks = arith.mulf %kw, %c : tensor<2x2x1x64xf32>
  %kr = math.roundeven %ks : tensor<2x2x1x64xf32>
  %ki = arith.fptosi %kr : tensor<2x2x1x64xf32> to tensor<2x2x1x64xi8>
  %vw = arith.extf %newV : tensor<2x2x1x64xbf16> to tensor<2x2x1x64xf32>
  %vs = arith.mulf %vw, %c : tensor<2x2x1x64xf32>
  %vr = math.roundeven %vs : tensor<2x2x1x64xf32>
  %vi = arith.fptosi %vr : tensor<2x2x1x64xf32> to tensor<2x2x1x64xi8>
  %keys = swage.append %kc, %ki at %pos axis 2 : (tensor<2x2x200x64xi8>, tensor<2x2x1x64xi8>, tensor<2xi32>) -> tensor<2x2x200x64xi8>
  %values = swage.append %vc, %vi at %pos axis 2 : (tensor<2x2x200x64xi8>, tensor<2x2x1x64xi8>, tensor<2xi32>) -> tensor<2x2x200x64xi8>
  %k0 = arith.sitofp %keys : tensor<2x2x200x64xi8> to tensor<2x2x200x64xbf16>
  %v0 = arith.sitofp %values : tensor<2x2x200x64xi8> to tensor<2x2x200x64xbf16>
  %skb = arith.truncf %sk : tensor<2xf32> to tensor<2xbf16>
  %svb = arith.truncf %sv : tensor<2xf32> to tensor<2xbf16>
  %fk = swage.broadcast %skb dims [1] : tensor<2xbf16> -> tensor<2x2x200x64xbf16>
  %fv = swage.broadcast %svb dims [1] : tensor<2xbf16> -> tensor<2x2x200x64xbf16>
  %k = arith.mulf %k0, %fk : tensor<2x2x200x64xbf16>
  %v = arith.mulf %v0, %fv : tensor<2x2x200x64xbf16>
  %o = swage.attention %q, %k, %v scale 0.01 : (tensor<2x8x1x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o, %keys, %values : tensor<2x8x1x64xbf16>, tensor<2x2x200x64xi8>, tensor<2x2x200x64xi8>
}
