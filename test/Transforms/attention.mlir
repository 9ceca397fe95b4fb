// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions 2>/dev/null | FileCheck %s --check-prefix=FUSE
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=PREPARED
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline=arch=sm_80 2>/dev/null | FileCheck %s --check-prefixes=PORTABLE,SM80
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline=arch=sm_90 2>/dev/null | FileCheck %s --check-prefixes=PORTABLE,SM90
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline=arch=sm_86 2>/dev/null | FileCheck %s --check-prefixes=PORTABLE,SM86

// A causal mask bounds the keys, and within the bounds nothing is left of it; the scale goes into the exponentials.
// FUSE-LABEL: func.func @causal
// FUSE: swage.kernel @attention_{{.*}} reduced [5, 6]
// FUSE-NEXT: ^bb0(%[[Q:.*]]: f32, %[[K:.*]]: f32, %[[V:.*]]: f32, %[[I:.*]]: i32, %[[J:.*]]: i32):
// FUSE: %[[S:.*]] = swage.contract %[[Q]], %[[K]] dim 6 : f32
// FUSE: %[[SCALED:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// FUSE: %[[SEEN:.*]] = arith.cmpi sle, %[[J]], %[[I]] : i32
// FUSE: %[[X:.*]] = arith.select %[[SEEN]], %[[SCALED]], %{{.*}} : f32
// FUSE: %[[W:.*]]:3 = swage.collective softmax %[[X]] zero_rows : f32 -> f32, f32, f32
// FUSE: swage.contract %[[W]]#0, %[[V]] dim 5 : f32
// PREPARED-LABEL: func.func @causal
// PREPARED: schedule #swage.attention_schedule<groups = 2, keys = 48, stages = 4, query_slots = 3, patience = 0, eager = true, holds_query = false
// PREPARED-SAME: blocks = () -> (16, 132), threads = 384
// PREPARED-SAME: #swage.tile<output = true, position = 0, dims = [4, 3, 2, 1, 0], box = [64, 16, 1, 1, 1], swizzle = 128>
// PREPARED: swage.phase prologue for softmax scale 1.250000e-01 zero_rows loads [3, 4]
// PREPARED: swage.phase inside loads []
// PREPARED: ^bb0(%[[SCORE:.*]]: f32):
// PREPARED-NEXT: swage.yield %[[SCORE]] : f32
// PREPARED: swage.phase bounds loads [3]
// Without wgmma: plain grids and addresses; one place for keys or two, and one block of eight warps or two of four, as shared memory
// has room.
// PORTABLE-LABEL: func.func @causal
// SM80: schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 64, stages = 2, patience = 0, holds_query = true
// SM90: schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 64, stages = 2, patience = 0, holds_query = true
// SM86: schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 64, stages = 1, patience = 0, holds_query = true
// PORTABLE-SAME: blocks = () -> (16), threads = 128
// PORTABLE-NOT: #swage.tile
// PORTABLE: swage.phase inside loads []
func.func @causal(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x201x64xbf16>, %v: tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>
  return %o : tensor<2x4x130x64xbf16>
}

// -----

// Documents bound nothing; what a mask leaves to be asked stays inside, unless all of them are one. Queries do not stay in registers, which scores with operands need.
// PORTABLE-LABEL: func.func @documents
// SM80: schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 48, stages = 1, patience = 8, holds_query = false
// SM90: schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 48, stages = 2, patience = 8, holds_query = false
// SM86: schedule #swage.portable_attention_schedule<warps = 8, atoms = 2, keys = 48, stages = 1, patience = 8, holds_query = false
// PREPARED-LABEL: func.func @documents
// PREPARED: holds_query = false
// PREPARED: swage.phase inside loads [5, 6]
// PREPARED: arith.cmpi eq
// PREPARED-NOT: arith.cmpi sle
// PREPARED: swage.phase finish
// PREPARED: swage.phase agree loads [5, 6]
// PREPARED-NEXT: ^bb0(%[[MINE:.*]]: i32, %[[OTHER:.*]]: i32):
// PREPARED-NEXT: %[[A:.*]] = arith.extsi %[[MINE]] : i32 to i64
// PREPARED-NEXT: %[[B:.*]] = arith.extsi %[[OTHER]] : i32 to i64
// PREPARED-NEXT: swage.yield %[[A]], %[[B]] : i64, i64
// PREPARED: swage.phase alike loads []
// PREPARED-NEXT: ^bb0(%[[SCORE:.*]]: f32):
// PREPARED-NEXT: swage.yield %[[SCORE]] : f32
func.func @documents(%q: tensor<4x130x128xf16>, %k: tensor<4x201x128xf16>, %v: tensor<4x201x128xf16>, %of: tensor<201xi32>) -> tensor<4x130x128xf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %mine = tensor.extract %of[%i] : tensor<201xi32>
    %other = tensor.extract %of[%j] : tensor<201xi32>
    %same = arith.cmpi eq, %mine, %other : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<4x130x128xf16>, tensor<4x201x128xf16>, tensor<4x201x128xf16>) -> tensor<4x130x128xf16>
  return %o : tensor<4x130x128xf16>
}

// -----

// The same causal mask as a difference, of which the other side is a number.
// PREPARED-LABEL: func.func @difference
// PREPARED: swage.phase inside loads []
// PREPARED: swage.phase bounds loads [3]
func.func @difference(%q: tensor<4x130x64xf16>, %k: tensor<4x201x64xf16>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %query = arith.index_cast %i : index to i64
    %key = arith.index_cast %j : index to i64
    %behind = arith.subi %query, %key : i64
    %c0 = arith.constant 0 : i64
    %seen = arith.cmpi sge, %behind, %c0 : i64
    swage.yield %seen : i1
  } : (tensor<4x130x64xf16>, tensor<4x201x64xf16>, tensor<4x201x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// A bound that falls from a query to the next.
// PREPARED-LABEL: func.func @falling
// PREPARED: swage.phase inside loads []
// PREPARED: swage.phase bounds scattered loads [3]
func.func @falling(%q: tensor<4x130x64xf16>, %k: tensor<4x201x64xf16>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %sum = arith.addi %i, %j : index
    %c201 = arith.constant 201 : index
    %seen = arith.cmpi slt, %sum, %c201 : index
    swage.yield %seen : i1
  } : (tensor<4x130x64xf16>, tensor<4x201x64xf16>, tensor<4x201x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// A prefix that all see, beside what is before: the two are one range of keys, within which nothing is asked.
// PREPARED-LABEL: func.func @prefix
// PREPARED: swage.phase inside loads []
// PREPARED: ^bb0(%[[SCORE:.*]]: f32):
// PREPARED-NEXT: swage.yield %[[SCORE]] : f32
// PREPARED: swage.phase bounds
func.func @prefix(%q: tensor<4x130x128xf16>, %k: tensor<4x201x128xf16>, %v: tensor<4x201x128xf16>, %prefix: tensor<4xi32>) -> tensor<4x130x128xf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %length = tensor.extract %prefix[%h] : tensor<4xi32>
    %at = arith.index_cast %j : index to i32
    %common = arith.cmpi slt, %at, %length : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.ori %common, %before : i1
    swage.yield %seen : i1
  } : (tensor<4x130x128xf16>, tensor<4x201x128xf16>, tensor<4x201x128xf16>) -> tensor<4x130x128xf16>
  return %o : tensor<4x130x128xf16>
}

// -----

// Two ranges that may have a gap between them are none.
// PREPARED-LABEL: func.func @gap
// PREPARED: swage.phase inside
// PREPARED: arith.ori
// PREPARED: swage.phase finish
func.func @gap(%q: tensor<4x130x128xf16>, %k: tensor<4x201x128xf16>, %v: tensor<4x201x128xf16>) -> tensor<4x130x128xf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %c4 = arith.constant 4 : index
    %sink = arith.cmpi slt, %j, %c4 : index
    %from = arith.subi %i, %c4 : index
    %near = arith.cmpi sge, %j, %from : index
    %seen = arith.ori %sink, %near : i1
    swage.yield %seen : i1
  } : (tensor<4x130x128xf16>, tensor<4x201x128xf16>, tensor<4x201x128xf16>) -> tensor<4x130x128xf16>
  return %o : tensor<4x130x128xf16>
}

// -----

// A bias by distance, by steps from a thread's first key; and a bound by tanh with the scale in the exponent, unless sums of weights are asked for.
// PREPARED-LABEL: func.func @distance
// PREPARED: (d6), align = 1, source = coordinate>, #swage.view<{{.*}} (-d3 + d5 - d6), align = 1, source = coordinate>
// PREPARED: swage.phase inside
// PREPARED: ^bb0(%{{.*}}: f32, %[[SLOPE:.*]]: f32, %[[STEP:.*]]: i32, %[[FIRST:.*]]: i32):
// PREPARED: %[[STEPS:.*]] = arith.sitofp %[[STEP]] : i32 to f32
// PREPARED: %[[FIRSTS:.*]] = arith.sitofp %[[FIRST]] : i32 to f32
// PREPARED: %[[FROM:.*]] = arith.mulf %[[SLOPE]], %[[FIRSTS]] : f32
// PREPARED: math.fma %[[SLOPE]], %[[STEPS]], %[[FROM]] : f32
// PREPARED: math.exp2 %{{.*}} fastmath<afn> : f32
func.func @distance(%q: tensor<4x130x128xf16>, %k: tensor<4x201x128xf16>, %v: tensor<4x201x128xf16>, %slopes: tensor<4xf32>) -> tensor<4x130x128xf16> {
  %o = swage.attention %q, %k, %v scale 0.0625 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %distance = arith.subi %j, %i : index
    %integer = arith.index_cast %distance : index to i32
    %number = arith.sitofp %integer : i32 to f32
    %term = arith.mulf %slope, %number : f32
    %sum = arith.addf %s, %term : f32
    %less = arith.constant 0.125 : f32
    %more = arith.constant 8.0 : f32
    %x = arith.mulf %sum, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    swage.yield %t : f32
  } : (tensor<4x130x128xf16>, tensor<4x201x128xf16>, tensor<4x201x128xf16>) -> tensor<4x130x128xf16>
  return %o : tensor<4x130x128xf16>
}

// -----

// PREPARED-LABEL: func.func @with_sums
// PREPARED: math.tanh %{{.*}} : f32
func.func @with_sums(%q: tensor<4x130x128xf16>, %k: tensor<4x201x128xf16>, %v: tensor<4x201x128xf16>) -> (tensor<4x130x128xf16>, tensor<4x130xf32>) {
  %o, %l = swage.attention %q, %k, %v scale 0.0625 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %t = math.tanh %s : f32
    swage.yield %t : f32
  } : (tensor<4x130x128xf16>, tensor<4x201x128xf16>, tensor<4x201x128xf16>) -> (tensor<4x130x128xf16>, tensor<4x130xf32>)
  return %o, %l : tensor<4x130x128xf16>, tensor<4x130xf32>
}

// -----

// A bias by distance beside a bound by tanh is a step for each score, and of bf16 a polynomial as well, where that reaches.
// PREPARED-LABEL: func.func @terms
// PREPARED: swage.phase prologue for softmax scale 1.000000e+02 zero_rows loads
// PREPARED: swage.phase inside
// PREPARED: %[[TANH:.*]] = arith.divf %{{.*}} fastmath<arcp,afn> : f32
// PREPARED: %[[SUM:.*]] = math.fma %{{.*}}, %{{.*}}, %[[TANH]] : f32
// PREPARED-NEXT: swage.yield %[[SUM]] : f32
// PREPARED: swage.phase offset
// PREPARED: %[[LESS:.*]] = arith.constant -5.000000e-01 : f32
// PREPARED: %[[OFFSET:.*]] = arith.addf %{{.*}}, %[[LESS]] : f32
// PREPARED-NEXT: swage.yield %[[OFFSET]] : f32
// PREPARED: swage.phase exponent within 440.0
// PREPARED-NEXT: ^bb0(%[[SCORE:[^:]*]]: f32, %[[BASE:[^:]*]]: f32,
// PREPARED: arith.mulf %[[SCORE]], %[[SCORE]] : f32
// PREPARED-NOT: math.exp2
// PREPARED: swage.phase near_exponent within 224.0
// PREPARED-COUNT-3: math.fma
// PREPARED-NOT: math.
// PREPARED: swage.phase bounds
func.func @terms(%q: tensor<4x130x64xbf16>, %k: tensor<4x201x64xbf16>, %v: tensor<4x201x64xbf16>, %slopes: tensor<4xf32>) -> tensor<4x130x64xbf16> {
  %o = swage.attention %q, %k, %v scale 0.0625 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %distance = arith.subi %j, %i : index
    %integer = arith.index_cast %distance : index to i32
    %number = arith.sitofp %integer : i32 to f32
    %term = arith.mulf %slope, %number : f32
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    %sum = arith.addf %t, %term : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<4x130x64xbf16>, tensor<4x201x64xbf16>, tensor<4x201x64xbf16>) -> tensor<4x130x64xbf16>
  return %o : tensor<4x130x64xbf16>
}

// -----

// Value dims whose outputs would not fit into registers for 32 rows a warp take 16; all that a block of 99 KiB can have is used.
// PORTABLE-LABEL: func.func @long
// PORTABLE: schedule #swage.portable_attention_schedule<warps = 8, atoms = 1, keys = 32, stages = {{[12]}}, patience = 8, holds_query = true
// SM80-SAME: shared_bytes = 135168
// SM86-SAME: shared_bytes = 101376
func.func @long(%q: tensor<4x130x256xf16>, %k: tensor<4x201x256xf16>) -> tensor<4x130x256xf16> {
  %o = swage.attention %q, %k, %k : (tensor<4x130x256xf16>, tensor<4x201x256xf16>, tensor<4x201x256xf16>) -> tensor<4x130x256xf16>
  return %o : tensor<4x130x256xf16>
}

// -----

// Of short heads whose scores take a tanh registers hold a block of 112 keys, of odd ones one of 96.
// PREPARED-LABEL: func.func @short
// PREPARED: attention_schedule<groups = 3, keys = 112, stages = 2
// PREPARED: attention_schedule<groups = 3, keys = 112, stages = 2
// PREPARED: attention_schedule<groups = 3, keys = 96, stages = 2
func.func @short(%q: tensor<512x4096x48xbf16>, %slopes: tensor<512xf32>, %d: tensor<512x4096x56xbf16>)
    -> (tensor<512x4096x48xbf16>, tensor<512x4096x48xbf16>, tensor<512x4096x56xbf16>) {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %slope = tensor.extract %slopes[%h] : tensor<512xf32>
    %t = arith.mulf %held, %slope : f32
    swage.yield %t : f32
  } : (tensor<512x4096x48xbf16>, tensor<512x4096x48xbf16>, tensor<512x4096x48xbf16>) -> tensor<512x4096x48xbf16>
  %p = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    swage.yield %held : f32
  } : (tensor<512x4096x48xbf16>, tensor<512x4096x48xbf16>, tensor<512x4096x48xbf16>) -> tensor<512x4096x48xbf16>
  %r = swage.attention %d, %d, %d score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %slope = tensor.extract %slopes[%h] : tensor<512xf32>
    %t = arith.mulf %held, %slope : f32
    swage.yield %t : f32
  } : (tensor<512x4096x56xbf16>, tensor<512x4096x56xbf16>, tensor<512x4096x56xbf16>) -> tensor<512x4096x56xbf16>
  return %o, %p, %r : tensor<512x4096x48xbf16>, tensor<512x4096x48xbf16>, tensor<512x4096x56xbf16>
}

// -----

// Tiles leave little over at the end of few queries and keys: 256 by 224 for 197 by 197, and two blocks rather than one. What the next ones need is asked for early.
// PREPARED-LABEL: func.func @few
// PREPARED: attention_schedule<groups = 2, keys = 112, stages = 4, query_slots = 3
// PREPARED: attention_schedule<groups = 2, keys = 64, stages = 4, query_slots = 3
func.func @few(%x: tensor<12x197x64xf16>, %y: tensor<12x128x128xf16>) -> (tensor<12x197x64xf16>, tensor<12x128x128xf16>) {
  %o = swage.attention %x, %x, %x : (tensor<12x197x64xf16>, tensor<12x197x64xf16>, tensor<12x197x64xf16>) -> tensor<12x197x64xf16>
  %p = swage.attention %y, %y, %y : (tensor<12x128x128xf16>, tensor<12x128x128xf16>, tensor<12x128x128xf16>) -> tensor<12x128x128xf16>
  return %o, %p : tensor<12x197x64xf16>, tensor<12x128x128xf16>
}

// -----

// What does not depend on the batch has chunks of 256 KB, and one schedule however many keys and sequences there are.
// PREPARED-LABEL: func.func @invariant
// PREPARED: schedule #swage.decode_schedule<warps = 8, keys = 128, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, chunk = 512>
// PREPARED: schedule #swage.decode_schedule<warps = 8, keys = 128, stages = 2, patience = 8, blocks = 1, spans = 30, bulk = true, index = 32, atoms = 2, chunk = 512>
// PREPARED: schedule #swage.decode_schedule<warps = 8, keys = 128, stages = 2, patience = 8, blocks = 1, spans = 8, bulk = true, index = 32, chunk = 512>
func.func @invariant(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x8192x128xbf16>, %rows: tensor<1x40x1x128xbf16>, %few: tensor<1x8x640x128xbf16>, %all: tensor<1x1x640x128xbf16>, %short: tensor<1x8x100x128xbf16>,
                     %tokens: tensor<1x72x1x128xbf16>, %kV: tensor<1x8x8192x128xbf16>, %allV: tensor<1x1x640x128xbf16>, %shortV: tensor<1x8x100x128xbf16>)
    -> (tensor<1x32x1x128xbf16>, tensor<1x40x1x128xbf16>, tensor<1x72x1x128xbf16>) {
  %o = swage.attention %q, %k, %kV batch_invariant : (tensor<1x32x1x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>) -> tensor<1x32x1x128xbf16>
  %p = swage.attention %rows, %all, %allV batch_invariant : (tensor<1x40x1x128xbf16>, tensor<1x1x640x128xbf16>, tensor<1x1x640x128xbf16>) -> tensor<1x40x1x128xbf16>
  %s = swage.attention %tokens, %short, %shortV batch_invariant : (tensor<1x72x1x128xbf16>, tensor<1x8x100x128xbf16>, tensor<1x8x100x128xbf16>) -> tensor<1x72x1x128xbf16>
  return %o, %p, %s : tensor<1x32x1x128xbf16>, tensor<1x40x1x128xbf16>, tensor<1x72x1x128xbf16>
}

// -----

// Head dims beyond those of a warp: teams of four warps or two; values that are the first columns of keys take no room of their own. Of 8 bits they are stored as 16 first.
// PREPARED-LABEL: func.func @latent
// PREPARED: swage.launch @attention_
// PREPARED: swage.launch @attention_
// PREPARED: swage.launch @{{copy|pointwise}}_
// PREPARED: swage.launch @attention_
// PREPARED: schedule #swage.decode_schedule<warps = 2, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> geometry <{{.*}}threads = 256
// PREPARED-SAME: shared_bytes = 231440
// PREPARED: schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> geometry <{{.*}}threads = 256
func.func @latent(%q: tensor<64x16x1x576xbf16>, %c: tensor<64x1x4096x576xbf16>, %p: tensor<64x2x1x352xbf16>, %k: tensor<64x2x2048x352xbf16>, %v: tensor<64x2x2048x352xbf16>,
                  %w: tensor<64x2x2048x352xi8>) -> (tensor<64x16x1x512xbf16>, tensor<64x2x1x352xbf16>, tensor<64x2x1x352xbf16>) {
  %values = swage.slice %c axis 3 from 0 size 512 : tensor<64x1x4096x576xbf16> -> tensor<64x1x4096x512xbf16>
  %o = swage.attention %q, %c, %values scale 0.05 : (tensor<64x16x1x576xbf16>, tensor<64x1x4096x576xbf16>, tensor<64x1x4096x512xbf16>) -> tensor<64x16x1x512xbf16>
  %r = swage.attention %p, %k, %v scale 0.05 : (tensor<64x2x1x352xbf16>, tensor<64x2x2048x352xbf16>, tensor<64x2x2048x352xbf16>) -> tensor<64x2x1x352xbf16>
  %wide = arith.sitofp %w : tensor<64x2x2048x352xi8> to tensor<64x2x2048x352xbf16>
  %s = swage.attention %p, %wide, %v scale 0.05 : (tensor<64x2x1x352xbf16>, tensor<64x2x2048x352xbf16>, tensor<64x2x2048x352xbf16>) -> tensor<64x2x1x352xbf16>
  return %o, %r, %s : tensor<64x16x1x512xbf16>, tensor<64x2x1x352xbf16>, tensor<64x2x1x352xbf16>
}

// -----

// Keys whose head dim is in runs of 8: what is within one counts along HeadDim, runs along ValueDim. Where there are many queries they are turned first.
// PREPARED-LABEL: func.func @runs
// PREPARED: swage.launch @attention_{{.*}} (%arg0, %arg1, %arg2)
// PREPARED: %[[TURNED:.*]] = swage.launch @{{permute|tiles|boxes}}_{{.*}} (%arg1)
// PREPARED: swage.launch @attention_{{.*}} (%arg3, %[[TURNED]], %arg2)
// PREPARED: #swage.view<tensor = 1, element = bf16, shape = () -> (2, 4, 16, 300, 8), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 153600 + d1 * 38400 + d4 * 2400 + d5 * 8 + d6), align = 16, extents = () -> (2, 4, 2, 1, 16, 300, 8)>
// PREPARED-SAME: tiles = [#swage.tile<output = false, position = 1, dims = [5, 4, 1, 0], box = [16, 16, 1, 1], swizzle = 0>, #swage.tile<output = false, position = 2,
func.func @runs(%q: tensor<2x8x1x128xbf16>, %cache: tensor<2x4x16x300x8xbf16>, %v: tensor<2x4x300x128xbf16>, %many: tensor<2x8x100x128xbf16>) -> (tensor<2x8x1x128xbf16>, tensor<2x8x100x128xbf16>) {
  %turned = swage.permute %cache [0, 1, 3, 2, 4] : tensor<2x4x16x300x8xbf16> -> tensor<2x4x300x16x8xbf16>
  %k = swage.reshape %turned : tensor<2x4x300x16x8xbf16> -> tensor<2x4x300x128xbf16>
  %o = swage.attention %q, %k, %v scale 0.1 : (tensor<2x8x1x128xbf16>, tensor<2x4x300x128xbf16>, tensor<2x4x300x128xbf16>) -> tensor<2x8x1x128xbf16>
  %p = swage.attention %many, %k, %v scale 0.1 : (tensor<2x8x100x128xbf16>, tensor<2x4x300x128xbf16>, tensor<2x4x300x128xbf16>) -> tensor<2x8x100x128xbf16>
  return %o, %p : tensor<2x8x1x128xbf16>, tensor<2x8x100x128xbf16>
}

// -----

// Few queries: as many parts of each head's keys as read fast enough, which the blocks of a cluster merge; or none, where heads are enough.
// PREPARED-LABEL: func.func @decode
// PREPARED: schedule #swage.decode_schedule<warps = 8, keys = 128, stages = 2, patience = 8, blocks = 1, spans = 64, bulk = true, index = 32, parts = 8>
// PREPARED-SAME: blocks = () -> (64), threads = 256
// PREPARED-SAME: cluster = 8
// PREPARED-SAME: #swage.tile<output = false, position = 1, dims = [6, 5, 1, 0], box = [64, 16, 1, 1], swizzle = 128>
// PREPARED: schedule #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 1, spans = 64,
// PORTABLE-LABEL: func.func @decode
// PORTABLE: bulk = false
// PORTABLE-NOT: #swage.tile
func.func @decode(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x8192x128xbf16>, %v: tensor<1x8x8192x128xbf16>, %p: tensor<8x8x1x64xbf16>, %l: tensor<8x8x1024x64xbf16>,
                  %w: tensor<8x8x1024x64xbf16>) -> (tensor<1x32x1x128xbf16>, tensor<8x8x1x64xbf16>) {
  %o = swage.attention %q, %k, %v scale 0.1 : (tensor<1x32x1x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>) -> tensor<1x32x1x128xbf16>
  %s = swage.attention %p, %l, %w scale 0.125 : (tensor<8x8x1x64xbf16>, tensor<8x8x1024x64xbf16>, tensor<8x8x1024x64xbf16>) -> tensor<8x8x1x64xbf16>
  return %o, %s : tensor<1x32x1x128xbf16>, tensor<8x8x1x64xbf16>
}

// -----

// Rows of an odd number of 16 bytes are copied as they are in memory where they follow each other, by boxes where those of other heads are between them.
// PREPARED-LABEL: func.func @rows
// PREPARED: schedule #swage.decode_schedule<{{.*}}, bulk = true, index = 32, linear = true, parts = 2>
// PREPARED-NOT: #swage.tile
// PREPARED: schedule #swage.decode_schedule<{{.*}}, bulk = true, index = 32>
// PREPARED-SAME: #swage.tile<
func.func @rows(%q: tensor<8x8x1x104xbf16>, %k: tensor<8x8x1024x104xbf16>, %v: tensor<8x8x1024x104xbf16>, %l: tensor<8x1024x8x104xbf16>) -> (tensor<8x8x1x104xbf16>, tensor<8x8x1x104xbf16>) {
  %o = swage.attention %q, %k, %v scale 0.1 : (tensor<8x8x1x104xbf16>, tensor<8x8x1024x104xbf16>, tensor<8x8x1024x104xbf16>) -> tensor<8x8x1x104xbf16>
  %apart = swage.permute %l [0, 2, 1, 3] : tensor<8x1024x8x104xbf16> -> tensor<8x8x1024x104xbf16>
  %p = swage.attention %q, %apart, %apart scale 0.1 : (tensor<8x8x1x104xbf16>, tensor<8x8x1024x104xbf16>, tensor<8x8x1024x104xbf16>) -> tensor<8x8x1x104xbf16>
  return %o, %p : tensor<8x8x1x104xbf16>, tensor<8x8x1x104xbf16>
}

// -----

// 32 rows at once, unless their halves run at the same time.
// PREPARED-LABEL: func.func @many
// PREPARED: atoms = 2>
// PREPARED: schedule #swage.decode_schedule<{{.*}}, bulk = true, index = 32>
func.func @many(%q: tensor<96x32x1x128xbf16>, %k: tensor<96x1x4096x128xbf16>, %p: tensor<16x32x1x128xbf16>, %l: tensor<16x1x16384x128xbf16>) -> (tensor<96x32x1x128xbf16>, tensor<16x32x1x128xbf16>) {
  %o = swage.attention %q, %k, %k scale 0.1 : (tensor<96x32x1x128xbf16>, tensor<96x1x4096x128xbf16>, tensor<96x1x4096x128xbf16>) -> tensor<96x32x1x128xbf16>
  %r = swage.attention %p, %l, %l scale 0.1 : (tensor<16x32x1x128xbf16>, tensor<16x1x16384x128xbf16>, tensor<16x1x16384x128xbf16>) -> tensor<16x32x1x128xbf16>
  return %o, %r : tensor<96x32x1x128xbf16>, tensor<16x32x1x128xbf16>
}

// -----

// Rows that begin at multiples of 8 bytes are read in pieces of 8 by few queries; many have them copied first.
// PREPARED-LABEL: func.func @narrow
// PREPARED-NOT: swage.launch @{{copy|pointwise}}
// PREPARED: swage.launch @attention
// PREPARED: swage.launch @{{copy|pointwise}}
// PREPARED: swage.launch @attention
// PREPARED: schedule #swage.decode_schedule<{{.*}}, bulk = false, index = 32>
func.func @narrow(%q: tensor<2x1x64xf16>, %x: tensor<2x300x68xf16>, %r: tensor<2x300x64xf16>) -> (tensor<2x1x64xf16>, tensor<2x300x64xf16>) {
  %k = swage.slice %x axis 2 from 4 size 64 : tensor<2x300x68xf16> -> tensor<2x300x64xf16>
  %o = swage.attention %q, %k, %k : (tensor<2x1x64xf16>, tensor<2x300x64xf16>, tensor<2x300x64xf16>) -> tensor<2x1x64xf16>
  %p = swage.attention %r, %k, %k : (tensor<2x300x64xf16>, tensor<2x300x64xf16>, tensor<2x300x64xf16>) -> tensor<2x300x64xf16>
  return %o, %p : tensor<2x1x64xf16>, tensor<2x300x64xf16>
}

// -----

// Of f32 one query is computed like many; rows that begin at no multiples of 16 bytes are copied first.
// PREPARED-LABEL: func.func @full
// PREPARED: swage.launch @attention
// PREPARED: swage.launch @{{copy|pointwise}}
// PREPARED: swage.launch @attention
// PREPARED: schedule #swage.portable_attention_schedule<warps = 4, atoms = 1, keys = 64, stages = 1, patience = 0, holds_query = false
// PREPARED: schedule #swage.portable_attention_schedule<warps = 4, atoms = 1, keys = 64, stages = 1, patience = 0, holds_query = false
// SM80-LABEL: func.func @full
// SM80: schedule #swage.portable_attention_schedule<warps = 4, atoms = 1, keys = 64, stages = 1, patience = 0, holds_query = false
func.func @full(%q: tensor<2x1x64xf32>, %k: tensor<2x300x64xf32>, %x: tensor<2x300x66xf32>) -> (tensor<2x1x64xf32>, tensor<2x300x64xf32>) {
  %o = swage.attention %q, %k, %k : (tensor<2x1x64xf32>, tensor<2x300x64xf32>, tensor<2x300x64xf32>) -> tensor<2x1x64xf32>
  %v = swage.slice %x axis 2 from 1 size 64 : tensor<2x300x66xf32> -> tensor<2x300x64xf32>
  %p = swage.attention %k, %v, %v : (tensor<2x300x64xf32>, tensor<2x300x64xf32>, tensor<2x300x64xf32>) -> tensor<2x300x64xf32>
  return %o, %p : tensor<2x1x64xf32>, tensor<2x300x64xf32>
}

// -----

// Blocks of a cluster share a tile where there are few tiles and many keys: three, because of four not all would run at once. With more tiles or fewer
// keys they do not, nor where results are not to depend on the batch; the copy engine stores no tile of which blocks have some columns.
// PREPARED-LABEL: func.func @parts
// PREPARED: schedule #swage.attention_schedule<groups = 2, keys = 128, stages = 2, query_slots = 1, {{.*}} dynamic = false, {{.*}} parts = 3>
// PREPARED-SAME: blocks = () -> (96)
// PREPARED-SAME: cluster = 3
// PREPARED-NOT: tile<output = true
// PREPARED: schedule #swage.attention_schedule<{{.*}} query_slots = 2, {{.*}} dynamic = true, section = {{[0-9]+}}, tail = 33, index = 32>
// PREPARED: schedule #swage.attention_schedule<{{.*}} query_slots = 2, {{.*}} dynamic = true, section = {{[0-9]+}}, tail = 33, index = 32>
// PREPARED: schedule #swage.attention_schedule<{{.*}} query_slots = 2, {{.*}} dynamic = true, section = {{[0-9]+}}, tail = 33, index = 32>
// PORTABLE-LABEL: func.func @parts
func.func @parts(%q: tensor<32x128x128xbf16>, %k: tensor<8x8192x128xbf16>, %many: tensor<32x1024x128xbf16>, %few: tensor<8x512x128xbf16>)
    -> (tensor<32x128x128xbf16>, tensor<32x1024x128xbf16>, tensor<32x128x128xbf16>, tensor<32x128x128xbf16>) {
  %o = swage.attention %q, %k, %k : (tensor<32x128x128xbf16>, tensor<8x8192x128xbf16>, tensor<8x8192x128xbf16>) -> tensor<32x128x128xbf16>
  %p = swage.attention %many, %k, %k : (tensor<32x1024x128xbf16>, tensor<8x8192x128xbf16>, tensor<8x8192x128xbf16>) -> tensor<32x1024x128xbf16>
  %r = swage.attention %q, %few, %few : (tensor<32x128x128xbf16>, tensor<8x512x128xbf16>, tensor<8x512x128xbf16>) -> tensor<32x128x128xbf16>
  %s = swage.attention %q, %k, %k batch_invariant : (tensor<32x128x128xbf16>, tensor<8x8192x128xbf16>, tensor<8x8192x128xbf16>) -> tensor<32x128x128xbf16>
  return %o, %p, %r, %s : tensor<32x128x128xbf16>, tensor<32x1024x128xbf16>, tensor<32x128x128xbf16>, tensor<32x128x128xbf16>
}

// -----

// What a mask leaves of many keys counts: a window of 256, the first 300 keys; but a causal mask from the end leaves all.
// PREPARED-LABEL: func.func @seen
// PREPARED: schedule #swage.attention_schedule<{{.*}} query_slots = 3, {{.*}} dynamic = true, section = {{[0-9]+}}, tail = 33, index = 32>
// PREPARED: schedule #swage.attention_schedule<{{.*}} query_slots = 3, {{.*}} dynamic = true, section = {{[0-9]+}}, tail = 33, index = 32>
// PREPARED: schedule #swage.attention_schedule<{{.*}} parts = 8>
func.func @seen(%q: tensor<8x128x128xbf16>, %k: tensor<8x65536x128xbf16>) -> (tensor<8x128x128xbf16>, tensor<8x128x128xbf16>, tensor<8x128x128xbf16>) {
  %o = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %c1000 = arith.constant 1000 : index
    %c256 = arith.constant 256 : index
    %last = arith.addi %i, %c1000 : index
    %first = arith.subi %last, %c256 : index
    %to = arith.cmpi sle, %j, %last : index
    %from = arith.cmpi slt, %first, %j : index
    %seen = arith.andi %from, %to : i1
    swage.yield %seen : i1
  } : (tensor<8x128x128xbf16>, tensor<8x65536x128xbf16>, tensor<8x65536x128xbf16>) -> tensor<8x128x128xbf16>
  %p = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %c300 = arith.constant 300 : index
    %seen = arith.cmpi slt, %j, %c300 : index
    swage.yield %seen : i1
  } : (tensor<8x128x128xbf16>, tensor<8x65536x128xbf16>, tensor<8x65536x128xbf16>) -> tensor<8x128x128xbf16>
  %r = swage.attention %q, %k, %k mask {
  ^bb0(%h: index, %i: index, %j: index):
    %c = arith.constant 65408 : index
    %last = arith.addi %i, %c : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<8x128x128xbf16>, tensor<8x65536x128xbf16>, tensor<8x65536x128xbf16>) -> tensor<8x128x128xbf16>
  return %o, %p, %r : tensor<8x128x128xbf16>, tensor<8x128x128xbf16>, tensor<8x128x128xbf16>
}

// -----

// A bound as it is often written, by a division, is a polynomial as well.
// PREPARED-LABEL: func.func @divided
// PREPARED: swage.phase exponent within
// PREPARED: swage.phase near_exponent within
func.func @divided(%q: tensor<4x130x64xbf16>, %k: tensor<4x201x64xbf16>) -> tensor<4x130x64xbf16> {
  %o = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %bound = arith.constant 50.0 : f32
    %x = arith.divf %s, %bound : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %bound, %held : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xbf16>, tensor<4x201x64xbf16>, tensor<4x201x64xbf16>) -> tensor<4x130x64xbf16>
  return %o : tensor<4x130x64xbf16>
}

// -----

// By 11 bits factors of f32 take no more registers than they have: 32 rows a warp, as of 16 bits.
// PREPARED-LABEL: func.func @tf32
// PREPARED: schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 64
// PREPARED: swage.phase prologue for softmax {{.*}}tf32
func.func @tf32(%k: tensor<2x300x64xf32>) -> tensor<2x300x64xf32> {
  %o = swage.attention %k, %k, %k tf32 : (tensor<2x300x64xf32>, tensor<2x300x64xf32>, tensor<2x300x64xf32>) -> tensor<2x300x64xf32>
  return %o : tensor<2x300x64xf32>
}

// -----

// Whichever way a distance is written, and its bias added: a step for each score.
// PREPARED-LABEL: func.func @distances
// PREPARED: swage.phase inside loads [{{[0-9]+, [0-9]+}}]
// PREPARED: swage.phase offset
// PREPARED: swage.phase inside loads [{{[0-9]+, [0-9]+}}]
// PREPARED: swage.phase offset
// PREPARED: swage.phase inside loads [{{[0-9]+, [0-9]+}}]
// PREPARED: swage.phase offset
func.func @distances(%q: tensor<4x130x64xbf16>, %k: tensor<4x201x64xbf16>, %slopes: tensor<4xf32>)
    -> (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) {
  %o = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %fi = arith.sitofp %i32 : i32 to f32
    %fj = arith.sitofp %j32 : i32 to f32
    %d = arith.subf %fj, %fi : f32
    %b = arith.mulf %slope, %d : f32
    %t = arith.addf %s, %b : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xbf16>, tensor<4x201x64xbf16>, tensor<4x201x64xbf16>) -> tensor<4x130x64xbf16>
  %p = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %n = arith.subi %i, %j : index
    %n32 = arith.index_cast %n : index to i32
    %d = arith.sitofp %n32 : i32 to f32
    %b = arith.mulf %slope, %d : f32
    %t = arith.subf %s, %b : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xbf16>, tensor<4x201x64xbf16>, tensor<4x201x64xbf16>) -> tensor<4x130x64xbf16>
  %r = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %n = arith.subi %j, %i : index
    %n64 = arith.index_cast %n : index to i64
    %d = arith.sitofp %n64 : i64 to f32
    %b = arith.mulf %d, %slope : f32
    %m = arith.negf %b : f32
    %t = arith.addf %m, %s : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xbf16>, tensor<4x201x64xbf16>, tensor<4x201x64xbf16>) -> tensor<4x130x64xbf16>
  return %o, %p, %r : tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>
}
