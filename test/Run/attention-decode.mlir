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
// RUN: swage-run %s --entry=rows --device=sim --check --sim=check | FileCheck %s --check-prefix=ROWS
// RUN: swage-run %s --entry=rows --device=sim --arch=sm_80 --check --sim=check,async=random,order=random,seed=3 | FileCheck %s --check-prefix=ROWS
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=SCHEDULES
// SCHEDULES-LABEL: func.func @main
// SCHEDULES-COUNT-9: schedule #swage.decode_schedule
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

// More queries that share a key head than a warp's matrix has rows: several of these, the last of which is not full.
// ROWS-COUNT-6: accepted
// ROWS-NOT: rejected
func.func @rows(%q: tensor<2x24x1x64xbf16>, %k: tensor<2x1x700x64xbf16>, %v: tensor<2x1x700x64xbf16>, %sinks: tensor<24xf32>,
                %tree: tensor<2x14x5x128xf16>, %kTree: tensor<2x2x400x128xf16>, %vTree: tensor<2x2x400x128xf16>, %at: tensor<2xi32>,
                %long: tensor<1x16x3x256xbf16>, %kLong: tensor<1x1x300x256xbf16>, %vLong: tensor<1x1x300x256xbf16>,
                %longer: tensor<1x6x1x320xf16>, %kLonger: tensor<1x2x200x320xf16>, %vLonger: tensor<1x2x200x288xf16>)
    -> (tensor<1x6x1x288xf16>, tensor<2x24x1x64xbf16>, tensor<2x24x1xf32>, tensor<2x14x5x128xf16>, tensor<1x16x3x256xbf16>, tensor<1x16x3xf32>) {
  %o, %sum = swage.attention %q, %k, %v sinks %sinks scale 0.125 : (tensor<2x24x1x64xbf16>, tensor<2x1x700x64xbf16>, tensor<2x1x700x64xbf16>, tensor<24xf32>) -> (tensor<2x24x1x64xbf16>, tensor<2x24x1xf32>)
  // Drafts, each of which sees its own number of keys.
  %tokens = swage.attention %tree, %kTree, %vTree scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c60 = arith.constant 60 : i32
    %c200 = arith.constant 200 : i32
    %read = tensor.extract %at[%b] : tensor<2xi32>
    %far = arith.muli %read, %c60 : i32
    %first = arith.addi %far, %c200 : i32
    %token = arith.index_cast %i : index to i32
    %own = arith.addi %first, %token : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi sle, %key, %own : i32
    swage.yield %seen : i1
  } : (tensor<2x14x5x128xf16>, tensor<2x2x400x128xf16>, tensor<2x2x400x128xf16>) -> tensor<2x14x5x128xf16>
  // Outputs so long that 16 rows are all that registers hold; each head has a bias of its own and a window of its own.
  %wide, %wideSum = swage.attention %long, %kLong, %vLong scale 0.0625 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 0.001 : f32
    %head = arith.index_cast %h : index to i32
    %of = arith.sitofp %head : i32 to f32
    %key = arith.index_cast %j : index to i32
    %place = arith.sitofp %key : i32 to f32
    %step = arith.mulf %of, %c : f32
    %bias = arith.mulf %step, %place : f32
    %t = arith.addf %s, %bias : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c9 = arith.constant 9 : index
    %from = arith.muli %h, %c9 : index
    %seen = arith.cmpi sge, %j, %from : index
    swage.yield %seen : i1
  } : (tensor<1x16x3x256xbf16>, tensor<1x1x300x256xbf16>, tensor<1x1x300x256xbf16>) -> (tensor<1x16x3x256xbf16>, tensor<1x16x3xf32>)
  %longest = swage.attention %longer, %kLonger, %vLonger scale 0.05 : (tensor<1x6x1x320xf16>, tensor<1x2x200x320xf16>, tensor<1x2x200x288xf16>) -> tensor<1x6x1x288xf16>
  return %longest, %o, %sum, %tokens, %wide, %wideSum : tensor<1x6x1x288xf16>, tensor<2x24x1x64xbf16>, tensor<2x24x1xf32>, tensor<2x14x5x128xf16>, tensor<1x16x3x256xbf16>, tensor<1x16x3xf32>
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
