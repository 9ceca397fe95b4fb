// REQUIRES: host-compiler
// Few queries and many keys: the queries of all heads that share a key head are rows of one product, keys are dealt out to blocks evenly, and parts are merged.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: swage-run %s --entry=many --device=sim --check | FileCheck %s --check-prefix=MANY
// RUN: swage-run %s --entry=one --device=sim --check --sim=check,async=random,order=random,seed=7 | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --entry=open --dims='3,8,1,96;3,2,300,96;3,2,300,96;3' --device=sim --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %examples/decode.mlir --device=sim --check | FileCheck %s --check-prefix=EXAMPLE
// EXAMPLE: accepted
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=SCHEDULES
// SCHEDULES-LABEL: func.func @main
// SCHEDULES-COUNT-5: schedule #swage.decode_schedule
// CHECK-COUNT-7: accepted
// CHECK-NOT: rejected
func.func @main(%q: tensor<3x8x1x64xbf16>, %k: tensor<3x2x900x64xbf16>, %v: tensor<3x2x900x64xbf16>, %lengths: tensor<3xi32>,
                %tokens: tensor<2x8x3x72xf16>, %cache: tensor<2x777x4x72xf16>, %values: tensor<2x4x777x40xf16>, %slopes: tensor<8xf32>, %sinks: tensor<8xf32>,
                %long: tensor<1x2x1x256xbf16>, %kLong: tensor<1x2x700x256xbf16>, %vLong: tensor<1x2x700x256xbf16>, %gate: tensor<1x2x1x256xbf16>,
                %short: tensor<2x4x1x16xbf16>, %kShort: tensor<2x4x5x16xbf16>, %vShort: tensor<2x4x5x16xbf16>, %none: tensor<2xi32>)
    -> (tensor<3x8x1x64xbf16>, tensor<2x8x3x40xf16>, tensor<2x8x3xf32>, tensor<1x2x1x256xf32>, tensor<2x4x1x16xbf16>, tensor<2x4x1xf32>,
        tensor<3x8x1x64xbf16>) {
  // Lengths around 450, some of 0 perhaps.
  %byLength = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c150 = arith.constant 150 : i32
    %c450 = arith.constant 450 : i32
    %read = tensor.extract %lengths[%b] : tensor<3xi32>
    %far = arith.muli %read, %c150 : i32
    %length = arith.addi %far, %c450 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xbf16>, tensor<3x2x900x64xbf16>, tensor<3x2x900x64xbf16>) -> tensor<3x8x1x64xbf16>
  // Three tokens at the end of 777, with a bias by distance, a sink, and heads inside of positions.
  %heads = swage.permute %cache [0, 2, 1, 3] : tensor<2x777x4x72xf16> -> tensor<2x4x777x72xf16>
  %drafts, %sums = swage.attention %tokens, %heads, %values sinks %sinks scale 0.1 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<8xf32>
    %at = arith.index_cast %j : index to i32
    %position = arith.sitofp %at : i32 to f32
    %c = arith.constant 0.01 : f32
    %small = arith.mulf %slope, %c : f32
    %bias = arith.mulf %small, %position : f32
    %t = arith.addf %s, %bias : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c774 = arith.constant 774 : index
    %last = arith.addi %i, %c774 : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x8x3x72xf16>, tensor<2x4x777x72xf16>, tensor<2x4x777x40xf16>, tensor<8xf32>) -> (tensor<2x8x3x40xf16>, tensor<2x8x3xf32>)
  // Queries in shared memory; a gate.
  %plain = swage.attention %long, %kLong, %vLong scale 0.0625 : (tensor<1x2x1x256xbf16>, tensor<1x2x700x256xbf16>, tensor<1x2x700x256xbf16>) -> tensor<1x2x1x256xf32>
  %wide = arith.extf %gate : tensor<1x2x1x256xbf16> to tensor<1x2x1x256xf32>
  %gated = arith.mulf %plain, %wide : tensor<1x2x1x256xf32>
  // Fewer keys than a tile, of which the second sequence has none.
  %few, %fewSums = swage.attention %short, %kShort, %vShort scale 0.25 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi ult, %b, %b : index
    %first = arith.cmpi eq, %b, %h : index
    %any = arith.ori %seen, %first : i1
    swage.yield %any : i1
  } : (tensor<2x4x1x16xbf16>, tensor<2x4x5x16xbf16>, tensor<2x4x5x16xbf16>) -> (tensor<2x4x1x16xbf16>, tensor<2x4x1xf32>)
  // A window of 100.
  %window = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c800 = arith.constant 800 : index
    %seen = arith.cmpi sge, %j, %c800 : index
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xbf16>, tensor<3x2x900x64xbf16>, tensor<3x2x900x64xbf16>) -> tensor<3x8x1x64xbf16>
  return %byLength, %drafts, %sums, %gated, %few, %fewSums, %window : tensor<3x8x1x64xbf16>, tensor<2x8x3x40xf16>, tensor<2x8x3xf32>, tensor<1x2x1x256xf32>,
      tensor<2x4x1x16xbf16>, tensor<2x4x1xf32>, tensor<3x8x1x64xbf16>
}

// More heads than multiprocessors: a block has several units whole.
// MANY: accepted
func.func @many(%q: tensor<5x35x1x32xbf16>, %k: tensor<5x35x300x32xbf16>, %v: tensor<5x35x300x32xbf16>) -> tensor<5x35x1x32xbf16> {
  %o = swage.attention %q, %k, %v scale 0.2 : (tensor<5x35x1x32xbf16>, tensor<5x35x300x32xbf16>, tensor<5x35x300x32xbf16>) -> tensor<5x35x1x32xbf16>
  return %o : tensor<5x35x1x32xbf16>
}

// So many blocks share a head's keys that they merge in groups.
// ONE-COUNT-2: accepted
func.func @one(%q: tensor<1x4x1x32xbf16>, %k: tensor<1x1x20000x32xbf16>, %v: tensor<1x1x20000x32xbf16>, %length: tensor<1xi32>) -> (tensor<1x4x1x32xbf16>, tensor<1x4x1x32xbf16>) {
  %all = swage.attention %q, %k, %v scale 0.2 : (tensor<1x4x1x32xbf16>, tensor<1x1x20000x32xbf16>, tensor<1x1x20000x32xbf16>) -> tensor<1x4x1x32xbf16>
  %some = swage.attention %q, %k, %v scale 0.2 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c19000 = arith.constant 19000 : i32
    %read = tensor.extract %length[%b] : tensor<1xi32>
    %last = arith.addi %read, %c19000 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %last : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x32xbf16>, tensor<1x1x20000x32xbf16>, tensor<1x1x20000x32xbf16>) -> tensor<1x4x1x32xbf16>
  return %all, %some : tensor<1x4x1x32xbf16>, tensor<1x4x1x32xbf16>
}

// Sizes of the launch.
// OPEN: accepted
func.func @open(%q: tensor<?x8x1x96xbf16>, %k: tensor<?x2x?x96xbf16>, %v: tensor<?x2x?x96xbf16>, %lengths: tensor<?xi32>) -> tensor<?x8x1x96xbf16> {
  %o = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c150 = arith.constant 100 : i32
    %read = tensor.extract %lengths[%b] : tensor<?xi32>
    %far = arith.muli %read, %c150 : i32
    %length = arith.addi %far, %c150 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x96xbf16>, tensor<?x2x?x96xbf16>, tensor<?x2x?x96xbf16>) -> tensor<?x8x1x96xbf16>
  return %o : tensor<?x8x1x96xbf16>
}
