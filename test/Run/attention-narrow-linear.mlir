// REQUIRES: host-compiler
// Keys and values of 8 bits as they are in memory, by rows of an odd and an even number of 16 bytes: ends within a stage, lengths, blocks that share a multiprocessor.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=late --check --seed=7 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=SCHEDULE
// CHECK-COUNT-5: accepted
// SCHEDULE: blocks = 1, {{.*}}linear = true
// SCHEDULE: blocks = 1, {{.*}}linear = true
// SCHEDULE: blocks = 4, {{.*}}linear = true
// SCHEDULE: blocks = 4, spans = 270, {{.*}}linear = true
// SCHEDULE: blocks = 2, spans = 140, {{.*}}linear = true
func.func @main(%q: tensor<2x6x1x80xbf16>, %k: tensor<2x2x333x80xi8>, %v: tensor<2x2x333x48xi8>, %lengths: tensor<2xi32> {swage.range = array<i64: 0, 333>}, %q2: tensor<2x4x1x64xf16>, %k2: tensor<2x2x301x64xf8E4M3FN>, %v2: tensor<2x2x301x96xf8E4M3FN>, %q3: tensor<18x8x1x32xbf16>, %k3: tensor<18x4x45x32xi8>, %lengths3: tensor<18xi32> {swage.range = array<i64: 0, 45>}, %q4: tensor<27x10x1x16xbf16>, %k4: tensor<27x10x35x16xf8E4M3FN>, %q5: tensor<14x10x1x48xf16>, %k5: tensor<14x10x35x48xi8>)
    -> (tensor<2x6x1x48xbf16>, tensor<2x4x1x96xf16>, tensor<18x8x1x32xbf16>, tensor<27x10x1x16xbf16>, tensor<14x10x1x48xf16>) {
  %kw = arith.sitofp %k : tensor<2x2x333x80xi8> to tensor<2x2x333x80xbf16>
  %vw = arith.sitofp %v : tensor<2x2x333x48xi8> to tensor<2x2x333x48xbf16>
  %o = swage.attention %q, %kw, %vw scale 0.0625 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %lengths[%b] : tensor<2xi32>
    %at = arith.index_cast %j : index to i32
    %s = arith.cmpi slt, %at, %n : i32
    swage.yield %s : i1
  } : (tensor<2x6x1x80xbf16>, tensor<2x2x333x80xbf16>, tensor<2x2x333x48xbf16>) -> tensor<2x6x1x48xbf16>
  %kw2 = arith.extf %k2 : tensor<2x2x301x64xf8E4M3FN> to tensor<2x2x301x64xf16>
  %vw2 = arith.extf %v2 : tensor<2x2x301x96xf8E4M3FN> to tensor<2x2x301x96xf16>
  %p = swage.attention %q2, %kw2, %vw2 scale 0.125 : (tensor<2x4x1x64xf16>, tensor<2x2x301x64xf16>, tensor<2x2x301x96xf16>) -> tensor<2x4x1x96xf16>
  // Units are more than half of an H200's multiprocessors.
  %kw3 = arith.sitofp %k3 : tensor<18x4x45x32xi8> to tensor<18x4x45x32xbf16>
  %r = swage.attention %q3, %kw3, %kw3 scale 0.0625 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %lengths3[%b] : tensor<18xi32>
    %at = arith.index_cast %j : index to i32
    %s = arith.cmpi slt, %at, %n : i32
    swage.yield %s : i1
  } : (tensor<18x8x1x32xbf16>, tensor<18x4x45x32xbf16>, tensor<18x4x45x32xbf16>) -> tensor<18x8x1x32xbf16>
  // Blocks of whole units: four and two to a multiprocessor.
  %kw4 = arith.extf %k4 : tensor<27x10x35x16xf8E4M3FN> to tensor<27x10x35x16xbf16>
  %s = swage.attention %q4, %kw4, %kw4 scale 0.25 : (tensor<27x10x1x16xbf16>, tensor<27x10x35x16xbf16>, tensor<27x10x35x16xbf16>) -> tensor<27x10x1x16xbf16>
  %kw5 = arith.sitofp %k5 : tensor<14x10x35x48xi8> to tensor<14x10x35x48xf16>
  %t = swage.attention %q5, %kw5, %kw5 scale 0.0625 : (tensor<14x10x1x48xf16>, tensor<14x10x35x48xf16>, tensor<14x10x35x48xf16>) -> tensor<14x10x1x48xf16>
  return %o, %p, %r, %s, %t : tensor<2x6x1x48xbf16>, tensor<2x4x1x96xf16>, tensor<18x8x1x32xbf16>, tensor<27x10x1x16xbf16>, tensor<14x10x1x48xf16>
}
