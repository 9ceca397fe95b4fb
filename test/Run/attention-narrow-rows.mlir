// REQUIRES: host-compiler
// Head dims that are even, but no multiples of 8: rows begin at multiples of 4 or 8 bytes. Lengths, pages, several queries.
// RUN: swage-run %s --device=sim --sim=check --check --seed=2 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// CHECK-COUNT-5: accepted
func.func @main(%q: tensor<2x6x1x100xbf16>, %k: tensor<2x2x333x100xbf16>, %v: tensor<2x2x333x42xbf16>, %lengths: tensor<2xi32>, %q2: tensor<2x4x3x98xbf16>, %k2: tensor<2x101x2x98xbf16>, %v2: tensor<2x2x101x100xbf16>, %pool: tensor<7x2x16x100xbf16>, %numbers: tensor<2x9xi32>)
    -> (tensor<2x6x1x42xbf16>, tensor<2x6x1x42xbf16>, tensor<2x4x3x100xbf16>, tensor<2x4x3xf32>, tensor<2x6x1x100xbf16>) {
  %o = swage.attention %q, %k, %v scale 0.125 : (tensor<2x6x1x100xbf16>, tensor<2x2x333x100xbf16>, tensor<2x2x333x42xbf16>) -> tensor<2x6x1x42xbf16>
  %p = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %lengths[%b] : tensor<2xi32>
    %c = arith.constant 103 : i32
    %m = arith.muli %n, %c : i32
    %at = arith.index_cast %j : index to i32
    %s = arith.cmpi slt, %at, %m : i32
    swage.yield %s : i1
  } : (tensor<2x6x1x100xbf16>, tensor<2x2x333x100xbf16>, tensor<2x2x333x42xbf16>) -> tensor<2x6x1x42xbf16>
  %k3 = swage.permute %k2 [0, 2, 1, 3] : tensor<2x101x2x98xbf16> -> tensor<2x2x101x98xbf16>
  %r, %l = swage.attention %q2, %k3, %v2 scale 0.1 : (tensor<2x4x3x98xbf16>, tensor<2x2x101x98xbf16>, tensor<2x2x101x100xbf16>) -> (tensor<2x4x3x100xbf16>, tensor<2x4x3xf32>)
  // In pages, of which some do not exist.
  %pages = swage.pages %pool, %numbers : (tensor<7x2x16x100xbf16>, tensor<2x9xi32>) -> tensor<2x2x144x100xbf16>
  %u = swage.attention %q, %pages, %pages scale 0.125 : (tensor<2x6x1x100xbf16>, tensor<2x2x144x100xbf16>, tensor<2x2x144x100xbf16>) -> tensor<2x6x1x100xbf16>
  return %o, %p, %r, %l, %u : tensor<2x6x1x42xbf16>, tensor<2x6x1x42xbf16>, tensor<2x4x3x100xbf16>, tensor<2x4x3xf32>, tensor<2x6x1x100xbf16>
}
