// REQUIRES: host-compiler
// The probabilities of few queries: scores are kept where they belong and become weights when the sums are known, by the block that has a unit alone or that comes last.
// RUN: swage-run %s --device=sim --check --sim=check,order=random | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --sim=check,order=random,seed=3 | FileCheck %s
// RUN: swage-run %s --entry=rows --device=sim --check --sim=check,order=random | FileCheck %s --check-prefix=ROWS
// RUN: swage-run %s --entry=one --device=sim --check --sim=check,async=random,order=random,seed=7 | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --entry=forms --device=sim --check --sim=check,order=random | FileCheck %s --check-prefix=FORMS
// RUN: swage-run %s --entry=open --dims='3,8,1,96;3,2,300,96;3,2,300,96;3' --device=sim --check --sim=check,order=random | FileCheck %s --check-prefix=OPEN
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=SCHEDULES
// SCHEDULES-LABEL: func.func @main
// SCHEDULES-COUNT-4: schedule #swage.decode_schedule
// CHECK-COUNT-10: accepted
// CHECK-NOT: rejected
func.func @main(%q: tensor<3x8x1x64xbf16>, %k: tensor<3x2x900x64xbf16>, %v: tensor<3x2x900x64xbf16>, %lengths: tensor<3xi32>,
                %tokens: tensor<2x8x3x72xf16>, %kTokens: tensor<2x4x777x72xf16>, %vTokens: tensor<2x4x777x40xf16>, %sinks: tensor<8xf32>,
                %short: tensor<2x4x1x16xbf16>, %kShort: tensor<2x4x5x16xbf16>, %vShort: tensor<2x4x5x16xbf16>)
    -> (tensor<3x8x1x64xbf16>, tensor<3x8x1x900xf32>, tensor<3x8x1x64xbf16>, tensor<3x8x1xf32>, tensor<3x8x1x900xf32>,
        tensor<2x8x3x40xf16>, tensor<2x8x3xf32>, tensor<2x8x3x777xf32>, tensor<2x4x1x16xbf16>, tensor<2x4x1x5xf32>) {
  %plain, %p = swage.attention %q, %k, %v scale 0.125 : (tensor<3x8x1x64xbf16>, tensor<3x2x900x64xbf16>, tensor<3x2x900x64xbf16>) -> (tensor<3x8x1x64xbf16>, tensor<3x8x1x900xf32>)
  // Lengths around 450, and one of 0.
  %byLength, %lse, %pByLength = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : index
    %c150 = arith.constant 150 : i32
    %c450 = arith.constant 450 : i32
    %read = tensor.extract %lengths[%b] : tensor<3xi32>
    %far = arith.muli %read, %c150 : i32
    %sum = arith.addi %far, %c450 : i32
    %isNone = arith.cmpi eq, %b, %c1 : index
    %length = arith.select %isNone, %c0, %sum : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xbf16>, tensor<3x2x900x64xbf16>, tensor<3x2x900x64xbf16>) -> (tensor<3x8x1x64xbf16>, tensor<3x8x1xf32>, tensor<3x8x1x900xf32>)
  // Three tokens at the end of an odd number of keys, with a bias by distance, holes, and a sink; weights are changed behind their sum.
  %drafts, %sums, %pDrafts = swage.attention %tokens, %kTokens, %vTokens sinks %sinks scale 0.1 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 0.001 : f32
    %at = arith.index_cast %j : index to i32
    %position = arith.sitofp %at : i32 to f32
    %bias = arith.mulf %c, %position : f32
    %t = arith.addf %s, %bias : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c774 = arith.constant 774 : index
    %c5 = arith.constant 5 : index
    %c2 = arith.constant 2 : index
    %last = arith.addi %i, %c774 : index
    %isBefore = arith.cmpi sle, %j, %last : index
    %part = arith.remui %j, %c5 : index
    %isKept = arith.cmpi ne, %part, %c2 : index
    %seen = arith.andi %isBefore, %isKept : i1
    swage.yield %seen : i1
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %two = arith.constant 2.0 : f32
    swage.yield %two : f32
  } : (tensor<2x8x3x72xf16>, tensor<2x4x777x72xf16>, tensor<2x4x777x40xf16>, tensor<8xf32>) -> (tensor<2x8x3x40xf16>, tensor<2x8x3xf32>, tensor<2x8x3x777xf32>)
  // Fewer keys than a tile, of which most heads see none: NaN.
  %few, %pFew = swage.attention %short, %kShort, %vShort scale 0.25 nan_rows mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi eq, %b, %h : index
    swage.yield %seen : i1
  } : (tensor<2x4x1x16xbf16>, tensor<2x4x5x16xbf16>, tensor<2x4x5x16xbf16>) -> (tensor<2x4x1x16xbf16>, tensor<2x4x1x5xf32>)
  return %plain, %p, %byLength, %lse, %pByLength, %drafts, %sums, %pDrafts, %few, %pFew : tensor<3x8x1x64xbf16>, tensor<3x8x1x900xf32>, tensor<3x8x1x64xbf16>, tensor<3x8x1xf32>,
      tensor<3x8x1x900xf32>, tensor<2x8x3x40xf16>, tensor<2x8x3xf32>, tensor<2x8x3x777xf32>, tensor<2x4x1x16xbf16>, tensor<2x4x1x5xf32>
}

// More than 16 rows, at once and as several units whose last one is not full; a team of warps.
// ROWS-COUNT-6: accepted
// ROWS-NOT: rejected
func.func @rows(%q: tensor<2x24x1x64xbf16>, %k: tensor<2x1x700x64xbf16>, %v: tensor<2x1x700x64xbf16>,
                %tree: tensor<16x20x5x128xf16>, %kTree: tensor<16x10x200x128xf16>, %vTree: tensor<16x10x200x128xf16>,
                %long: tensor<1x6x1x384xf16>, %kLong: tensor<1x2x100x384xf16>, %vLong: tensor<1x2x100x384xf16>)
    -> (tensor<2x24x1x64xbf16>, tensor<2x24x1x700xf32>, tensor<16x20x5x128xf16>, tensor<16x20x5x200xf32>, tensor<1x6x1x384xf16>, tensor<1x6x1x100xf32>) {
  %o, %p = swage.attention %q, %k, %v scale 0.125 : (tensor<2x24x1x64xbf16>, tensor<2x1x700x64xbf16>, tensor<2x1x700x64xbf16>) -> (tensor<2x24x1x64xbf16>, tensor<2x24x1x700xf32>)
  // Of each query a window of its own.
  %t, %pTree = swage.attention %tree, %kTree, %vTree scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c30 = arith.constant 30 : index
    %far = arith.muli %i, %c30 : index
    %seen = arith.cmpi sge, %j, %far : index
    swage.yield %seen : i1
  } : (tensor<16x20x5x128xf16>, tensor<16x10x200x128xf16>, tensor<16x10x200x128xf16>) -> (tensor<16x20x5x128xf16>, tensor<16x20x5x200xf32>)
  %l, %pLong = swage.attention %long, %kLong, %vLong scale 0.05 : (tensor<1x6x1x384xf16>, tensor<1x2x100x384xf16>, tensor<1x2x100x384xf16>) -> (tensor<1x6x1x384xf16>, tensor<1x6x1x100xf32>)
  return %o, %p, %t, %pTree, %l, %pLong : tensor<2x24x1x64xbf16>, tensor<2x24x1x700xf32>, tensor<16x20x5x128xf16>, tensor<16x20x5x200xf32>, tensor<1x6x1x384xf16>, tensor<1x6x1x100xf32>
}

// So many blocks share a head's keys that they merge in groups; and chunks.
// ONE-COUNT-5: accepted
// ONE-NOT: rejected
func.func @one(%q: tensor<1x4x1x32xbf16>, %k: tensor<1x1x20000x32xbf16>, %v: tensor<1x1x20000x32xbf16>, %length: tensor<1xi32>)
    -> (tensor<1x4x1x20000xf32>, tensor<1x4x1x20000xf32>, tensor<1x4x1x32xbf16>, tensor<1x4x1xf32>, tensor<1x4x1x20000xf32>) {
  // Of the result nothing is needed.
  %all, %p = swage.attention %q, %k, %v scale 0.2 : (tensor<1x4x1x32xbf16>, tensor<1x1x20000x32xbf16>, tensor<1x1x20000x32xbf16>) -> (tensor<1x4x1x32xbf16>, tensor<1x4x1x20000xf32>)
  %some, %pSome = swage.attention %q, %k, %v scale 0.2 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c19000 = arith.constant 19000 : i32
    %read = tensor.extract %length[%b] : tensor<1xi32>
    %last = arith.addi %read, %c19000 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %last : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x32xbf16>, tensor<1x1x20000x32xbf16>, tensor<1x1x20000x32xbf16>) -> (tensor<1x4x1x32xbf16>, tensor<1x4x1x20000xf32>)
  %same, %lse, %pSame = swage.attention %q, %k, %v scale 0.2 batch_invariant : (tensor<1x4x1x32xbf16>, tensor<1x1x20000x32xbf16>, tensor<1x1x20000x32xbf16>) -> (tensor<1x4x1x32xbf16>, tensor<1x4x1xf32>, tensor<1x4x1x20000xf32>)
  return %p, %pSome, %same, %lse, %pSame : tensor<1x4x1x20000xf32>, tensor<1x4x1x20000xf32>, tensor<1x4x1x32xbf16>, tensor<1x4x1xf32>, tensor<1x4x1x20000xf32>
}

// Pages, 8 bits, short chunks, probabilities that are turned, and what is made of them, by kernels of their own where it is not stored as it is.
// FORMS-COUNT-8: accepted
// FORMS-NOT: rejected
func.func @forms(%q: tensor<2x8x2x64xbf16>, %pool: tensor<6x2x64x64xbf16>, %values: tensor<6x2x64x64xbf16>, %numbers: tensor<2x3xi32>,
                 %small: tensor<2x2x192x64xi8>, %smallValues: tensor<2x2x192x64xi8>, %factors: tensor<2x2x192xf32>, %gate: tensor<2x8x2x192xf32>)
    -> (tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>, tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>, tensor<2x2x8x192xf32>, tensor<2x8x192x2xf32>,
        tensor<2x8x2x192xf32>, tensor<2x8x2x192xf32>) {
  %six = arith.constant dense<6> : tensor<2x3xi32>
  %table = arith.remui %numbers, %six : tensor<2x3xi32>
  %k = swage.pages %pool, %table : (tensor<6x2x64x64xbf16>, tensor<2x3xi32>) -> tensor<2x2x192x64xbf16>
  %v = swage.pages %values, %table : (tensor<6x2x64x64xbf16>, tensor<2x3xi32>) -> tensor<2x2x192x64xbf16>
  %o, %p = swage.attention %q, %k, %v scale 0.125 : (tensor<2x8x2x64xbf16>, tensor<2x2x192x64xbf16>, tensor<2x2x192x64xbf16>) -> (tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>)
  // Keys and values of 8 bits, with a factor for each key.
  %each = swage.broadcast %factors dims [0, 1, 2] : tensor<2x2x192xf32> -> tensor<2x2x192x64xf32>
  %wideKeys = arith.sitofp %small : tensor<2x2x192x64xi8> to tensor<2x2x192x64xf32>
  %scaledKeys = arith.mulf %wideKeys, %each : tensor<2x2x192x64xf32>
  %keys = arith.truncf %scaledKeys : tensor<2x2x192x64xf32> to tensor<2x2x192x64xbf16>
  %ofValues = arith.sitofp %smallValues : tensor<2x2x192x64xi8> to tensor<2x2x192x64xbf16>
  %n, %pNarrow = swage.attention %q, %keys, %ofValues scale 0.01 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c170 = arith.constant 170 : index
    %last = arith.addi %i, %c170 : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x8x2x64xbf16>, tensor<2x2x192x64xbf16>, tensor<2x2x192x64xbf16>) -> (tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>)
  %i, %pTurned = swage.attention %q, %k, %v scale 0.25 batch_invariant : (tensor<2x8x2x64xbf16>, tensor<2x2x192x64xbf16>, tensor<2x2x192x64xbf16>) -> (tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>)
  %turned = swage.permute %pTurned [0, 2, 1, 3] : tensor<2x8x2x192xf32> -> tensor<2x2x8x192xf32>
  %s, %pAcross = swage.attention %q, %k, %v scale 0.5 : (tensor<2x8x2x64xbf16>, tensor<2x2x192x64xbf16>, tensor<2x2x192x64xbf16>) -> (tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>)
  %across = swage.permute %pAcross [0, 1, 3, 2] : tensor<2x8x2x192xf32> -> tensor<2x8x192x2xf32>
  %m, %pMade = swage.attention %q, %k, %v : (tensor<2x8x2x64xbf16>, tensor<2x2x192x64xbf16>, tensor<2x2x192x64xbf16>) -> (tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>)
  %made = arith.mulf %pMade, %gate : tensor<2x8x2x192xf32>
  return %o, %p, %n, %pNarrow, %turned, %across, %made, %pMade : tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>, tensor<2x8x2x64xbf16>, tensor<2x8x2x192xf32>, tensor<2x2x8x192xf32>,
      tensor<2x8x192x2xf32>, tensor<2x8x2x192xf32>, tensor<2x8x2x192xf32>
}

// Sizes of the launch.
// OPEN-COUNT-2: accepted
// OPEN-NOT: rejected
func.func @open(%q: tensor<?x8x1x96xbf16>, %k: tensor<?x2x?x96xbf16>, %v: tensor<?x2x?x96xbf16>, %lengths: tensor<?xi32>) -> (tensor<?x8x1x96xbf16>, tensor<?x8x1x?xf32>) {
  %o, %p = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c200 = arith.constant 200 : i32
    %read = tensor.extract %lengths[%b] : tensor<?xi32>
    %last = arith.addi %read, %c200 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %last : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x96xbf16>, tensor<?x2x?x96xbf16>, tensor<?x2x?x96xbf16>) -> (tensor<?x8x1x96xbf16>, tensor<?x8x1x?xf32>)
  return %o, %p : tensor<?x8x1x96xbf16>, tensor<?x8x1x?xf32>
}
