// REQUIRES: host-compiler
// Few sequences and heads: the blocks of a cluster have each a part of one's keys, and merge some of its outputs.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=late --check --inputs=nasty --seed=7 | FileCheck %s
// RUN: swage-run %s --entry=step --device=sim --sim=check,async=random,order=random,seed=5 --check --steps=3 | FileCheck %s --check-prefix=STEP
// RUN: sed 's/600, 990/0, 30/' %s > %t.mlir
// RUN: swage-run %t.mlir --entry=step --device=sim --sim=check,order=random --check --steps=2 | FileCheck %s --check-prefix=STEP
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=KERNELS
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | FileCheck %s --check-prefix=SM80 "--implicit-check-not=parts = "
// SM80: #swage.decode_schedule
// KERNELS-COUNT-12: parts = 
// CHECK-COUNT-13: accepted
// STEP: parts=
// STEP-COUNT-4: accepted
func.func @main(%q: tensor<1x8x1x64xbf16>, %k: tensor<1x8x1500x64xbf16>, %v: tensor<1x8x1500x64xbf16>, %length: tensor<1xi32> {swage.range = array<i64: 40, 1400>}, %none: tensor<1xi32> {swage.range = array<i64: 0, 0>}, %brief: tensor<1xi32> {swage.range = array<i64: 1, 60>}, %short: tensor<1xi32> {swage.range = array<i64: 130, 250>}, %q3: tensor<2x8x3x96xf16>, %k3: tensor<2x2x1100x96xf16>, %v3: tensor<2x2x1100x96xf16>, %sinks: tensor<8xf32>, %q4: tensor<1x40x1x128xbf16>, %k4: tensor<1x1x3000x128xbf16>, %v4: tensor<1x1x3000x128xbf16>, %q5: tensor<1x136x1x64xbf16>, %k5: tensor<1x1x3000x64xbf16>, %v5: tensor<1x1x3000x64xbf16>, %q6: tensor<1x4x1x64xbf16>, %ks: tensor<70x2x24x64xbf16>, %vs: tensor<70x2x24x64xbf16>, %table: tensor<1x60xi32> {swage.range = array<i64: 0, 69>}, %q7: tensor<1x8x1x64xbf16>, %k7n: tensor<1x2x3000x64xi8>, %v7n: tensor<1x2x3000x64xi8>, %q8: tensor<1x4x1x64xbf16>, %cache: tensor<1x2x8x1600x8xbf16>, %v8: tensor<1x2x1600x64xbf16>, %q9: tensor<1x8x1x384xbf16>, %k9: tensor<1x8x420x384xbf16>, %v9: tensor<1x8x420x384xbf16>, %qa: tensor<1x4x1x100xbf16>, %ka: tensor<1x4x1200x100xbf16>, %va: tensor<1x4x1200x100xbf16>, %residual: tensor<1x4x1x100xbf16>)
    -> (tensor<1x8x1x64xbf16>, tensor<1x8x1xf32>, tensor<1x8x1x64xbf16>, tensor<1x8x1x64xbf16>, tensor<1x8x1x64xbf16>, tensor<2x8x3x96xf16>, tensor<1x40x1x128xbf16>, tensor<1x136x1x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1x8x1x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1x8x1x384xbf16>, tensor<1x4x1x100xbf16>) {
  // Each block some outputs of the row; sums of weights by the one that has its first output.
  %plain, %sums = swage.attention %q, %k, %v scale 0.125 : (tensor<1x8x1x64xbf16>, tensor<1x8x1500x64xbf16>, tensor<1x8x1500x64xbf16>) -> (tensor<1x8x1x64xbf16>, tensor<1x8x1xf32>)
  // Some of which blocks have no keys, or none of them.
  %some = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %length[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x8x1x64xbf16>, tensor<1x8x1500x64xbf16>, tensor<1x8x1500x64xbf16>) -> tensor<1x8x1x64xbf16>
  %nothing = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %none[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x8x1x64xbf16>, tensor<1x8x1500x64xbf16>, tensor<1x8x1500x64xbf16>) -> tensor<1x8x1x64xbf16>
  // A window that mostly begins within a warp's share of the only tile that has keys.
  %window = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %short[%b] : tensor<1xi32>
    %c100 = arith.constant 100 : i32
    %first = arith.subi %n, %c100 : i32
    %at = arith.index_cast %j : index to i32
    %before = arith.cmpi slt, %at, %n : i32
    %behind = arith.cmpi sge, %at, %first : i32
    %seen = arith.andi %before, %behind : i1
    swage.yield %seen : i1
  } : (tensor<1x8x1x64xbf16>, tensor<1x8x1500x64xbf16>, tensor<1x8x1500x64xbf16>) -> tensor<1x8x1x64xbf16>
  %causal = swage.attention %q3, %k3, %v3 sinks %sinks scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c1097 = arith.constant 1097 : index
    %most = arith.addi %i, %c1097 : index
    %before = arith.cmpi sle, %j, %most : index
    %c70 = arith.constant 70 : index
    %behind = arith.cmpi sge, %j, %c70 : index
    %seen = arith.andi %before, %behind : i1
    swage.yield %seen : i1
  } : (tensor<2x8x3x96xf16>, tensor<2x2x1100x96xf16>, tensor<2x2x1100x96xf16>, tensor<8xf32>) -> tensor<2x8x3x96xf16>
  // More rows than are computed at once.
  %rows = swage.attention %q4, %k4, %v4 scale 0.1 : (tensor<1x40x1x128xbf16>, tensor<1x1x3000x128xbf16>, tensor<1x1x3000x128xbf16>) -> tensor<1x40x1x128xbf16>
  %more = swage.attention %q5, %k5, %v5 scale 0.1 : (tensor<1x136x1x64xbf16>, tensor<1x1x3000x64xbf16>, tensor<1x1x3000x64xbf16>) -> tensor<1x136x1x64xbf16>
  %k6 = swage.pages %ks, %table : (tensor<70x2x24x64xbf16>, tensor<1x60xi32>) -> tensor<1x2x1440x64xbf16>
  %v6 = swage.pages %vs, %table : (tensor<70x2x24x64xbf16>, tensor<1x60xi32>) -> tensor<1x2x1440x64xbf16>
  // Keys of one tile, that other parts have nothing of.
  %pages = swage.attention %q6, %k6, %v6 scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %short[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x64xbf16>, tensor<1x2x1440x64xbf16>, tensor<1x2x1440x64xbf16>) -> tensor<1x4x1x64xbf16>
  %k7 = arith.sitofp %k7n : tensor<1x2x3000x64xi8> to tensor<1x2x3000x64xbf16>
  %v7 = arith.sitofp %v7n : tensor<1x2x3000x64xi8> to tensor<1x2x3000x64xbf16>
  %narrow = swage.attention %q7, %k7, %v7 scale 0.01 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %short[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x8x1x64xbf16>, tensor<1x2x3000x64xbf16>, tensor<1x2x3000x64xbf16>) -> tensor<1x8x1x64xbf16>
  %turned = swage.permute %cache [0, 1, 3, 2, 4] : tensor<1x2x8x1600x8xbf16> -> tensor<1x2x1600x8x8xbf16>
  %k8 = swage.reshape %turned : tensor<1x2x1600x8x8xbf16> -> tensor<1x2x1600x64xbf16>
  %runs = swage.attention %q8, %k8, %v8 scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %short[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x64xbf16>, tensor<1x2x1600x64xbf16>, tensor<1x2x1600x64xbf16>) -> tensor<1x4x1x64xbf16>
  %teams = swage.attention %q9, %k9, %v9 scale 0.05 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %brief[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x8x1x384xbf16>, tensor<1x8x420x384xbf16>, tensor<1x8x420x384xbf16>) -> tensor<1x8x1x384xbf16>
  %pieces = swage.attention %qa, %ka, %va scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %brief[%b] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %n : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x100xbf16>, tensor<1x4x1200x100xbf16>, tensor<1x4x1200x100xbf16>) -> tensor<1x4x1x100xbf16>
  %added = arith.addf %pieces, %residual : tensor<1x4x1x100xbf16>
  return %plain, %sums, %some, %nothing, %window, %causal, %rows, %more, %pages, %narrow, %runs, %teams, %added : tensor<1x8x1x64xbf16>, tensor<1x8x1xf32>, tensor<1x8x1x64xbf16>, tensor<1x8x1x64xbf16>, tensor<1x8x1x64xbf16>, tensor<2x8x3x96xf16>, tensor<1x40x1x128xbf16>, tensor<1x136x1x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1x8x1x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1x8x1x384xbf16>, tensor<1x4x1x100xbf16>
}

// The new row is that of the block that has its keys, and of none that has no keys.
func.func @step(%q: tensor<1x8x1x64xbf16>, %k: tensor<1x4x1x64xbf16>, %v: tensor<1x4x1x64xbf16>, %kc: tensor<1x4x1000x64xbf16>, %vc: tensor<1x4x1000x64xbf16>, %at: tensor<1xi32> {swage.range = array<i64: 600, 990>}) -> (tensor<1x8x1x64xbf16>, tensor<1x4x1000x64xbf16> {swage.alias = 3}, tensor<1x4x1000x64xbf16> {swage.alias = 4}, tensor<1xi32> {swage.alias = 5}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<1x4x1000x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1xi32>) -> tensor<1x4x1000x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<1x4x1000x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1xi32>) -> tensor<1x4x1000x64xbf16>
  %o = swage.attention %q, %keys, %values scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %at[%b] : tensor<1xi32>
    %x = arith.index_cast %j : index to i32
    %s = arith.cmpi sle, %x, %e : i32
    swage.yield %s : i1
  } : (tensor<1x8x1x64xbf16>, tensor<1x4x1000x64xbf16>, tensor<1x4x1000x64xbf16>) -> tensor<1x8x1x64xbf16>
  %one = arith.constant dense<1> : tensor<1xi32>
  %next = arith.addi %at, %one : tensor<1xi32>
  return %o, %keys, %values, %next : tensor<1x8x1x64xbf16>, tensor<1x4x1000x64xbf16>, tensor<1x4x1000x64xbf16>, tensor<1xi32>
}
