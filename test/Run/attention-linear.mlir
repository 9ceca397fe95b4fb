// REQUIRES: host-compiler
// Rows of keys and values that are no multiples of 128 bytes, copied as they are in memory: ends within a stage, lengths, windows that begin within one, values of
// another width than keys, and where rows do not follow each other.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=late --check --seed=7 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// CHECK-COUNT-4: accepted
func.func @main(%q: tensor<2x6x1x72xbf16>, %k: tensor<2x2x333x72xbf16>, %v: tensor<2x2x333x40xbf16>, %lengths: tensor<2xi32>, %q2: tensor<2x4x3x104xbf16>, %k2: tensor<2x2x1001x104xbf16>, %v2: tensor<2x2x1001x104xbf16>, %apart: tensor<2x333x2x72xbf16>)
    -> (tensor<2x6x1x40xbf16>, tensor<2x6x1x40xbf16>, tensor<2x4x3x104xbf16>, tensor<2x6x1x40xbf16>) {
  %o = swage.attention %q, %k, %v scale 0.125 : (tensor<2x6x1x72xbf16>, tensor<2x2x333x72xbf16>, tensor<2x2x333x40xbf16>) -> tensor<2x6x1x40xbf16>
  %p = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %lengths[%b] : tensor<2xi32>
    %c = arith.constant 103 : i32
    %m = arith.muli %n, %c : i32
    %at = arith.index_cast %j : index to i32
    %s = arith.cmpi slt, %at, %m : i32
    swage.yield %s : i1
  } : (tensor<2x6x1x72xbf16>, tensor<2x2x333x72xbf16>, tensor<2x2x333x40xbf16>) -> tensor<2x6x1x40xbf16>
  // A window that begins somewhere within.
  %r = swage.attention %q2, %k2, %v2 scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 437 : index
    %s = arith.cmpi sge, %j, %c : index
    %d = arith.addi %i, %c : index
    %e = arith.constant 300 : index
    %f = arith.addi %d, %e : index
    %t = arith.cmpi sle, %j, %f : index
    %u = arith.andi %s, %t : i1
    swage.yield %u : i1
  } : (tensor<2x4x3x104xbf16>, tensor<2x2x1001x104xbf16>, tensor<2x2x1001x104xbf16>) -> tensor<2x4x3x104xbf16>
  %k4 = swage.permute %apart [0, 2, 1, 3] : tensor<2x333x2x72xbf16> -> tensor<2x2x333x72xbf16>
  %u = swage.attention %q, %k4, %v scale 0.125 : (tensor<2x6x1x72xbf16>, tensor<2x2x333x72xbf16>, tensor<2x2x333x40xbf16>) -> tensor<2x6x1x40xbf16>
  return %o, %p, %r, %u : tensor<2x6x1x40xbf16>, tensor<2x6x1x40xbf16>, tensor<2x4x3x104xbf16>, tensor<2x6x1x40xbf16>
}
