// REQUIRES: host-compiler
// Keys and values of 8 bits that become 16 bits in registers: of each type and with each kind of factor, for few queries that share a key head; in pages, too.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: swage-run %s --entry=open --dims='3,8,1,96;3,2,300,96;3,2,300,96;3,300,2;3' --device=sim --sim=check --check | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --entry=pages --device=sim --sim=check --check | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --entry=pages --device=sim --arch=sm_80 --sim=check --check | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --entry=rows --device=sim --check --sim=check,async=random,order=random,seed=7 | FileCheck %s --check-prefix=TWO
// RUN: swage-run %s --entry=many --device=sim --check | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --entry=nasty --inputs=nasty --device=sim --check | FileCheck %s --check-prefix=TWO
// RUN: swage-run %s --entry=nasty --inputs=nasty --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=TWO
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=KERNELS
// Nothing is stored in front of attention.
// KERNELS-NOT: swage.pointwise_schedule
// KERNELS-COUNT-13: schedule #swage.decode_schedule
// KERNELS-NOT: swage.pointwise_schedule
// CHECK-COUNT-8: accepted
// CHECK-NOT: rejected
// ONE: accepted
// TWO-COUNT-2: accepted
func.func @main(%q: tensor<3x8x1x64xbf16>, %k: tensor<3x2x901x64xi8>, %v: tensor<3x2x901x64xi8>, %kScales: tensor<3x2x901xf32>, %vScales: tensor<3x2x901xf32>,
                %lengths: tensor<3xi32>, %tokens: tensor<2x8x3x80xf16>, %cache: tensor<2x777x4x80xf8E5M2>, %values: tensor<2x777x4x48xf8E5M2>, %heads: tensor<4xf16>,
                %long: tensor<1x2x1x256xbf16>, %kLong: tensor<1x2x333x256xf8E4M3FN>, %vLong: tensor<1x2x333x256xf8E4M3FN>, %kScale: tensor<1xf32>, %vScale: tensor<1xf32>,
                %short: tensor<2x4x1x16xf16>, %kShort: tensor<2x4x5x16xi8>, %vShort: tensor<2x4x5x16xi8>,
                %wide: tensor<1x32x1x128xbf16>, %kWide: tensor<1x2x100x128xf8E4M3FN>, %vWide: tensor<1x2x100x128xf8E4M3FN>, %wideScales: tensor<1x2xf32>)
    -> (tensor<3x8x1x64xbf16>, tensor<2x8x3x48xf16>, tensor<2x8x3xf32>, tensor<1x2x1x256xbf16>, tensor<2x4x1x16xf16>, tensor<2x4x1xf32>, tensor<1x32x1x128xbf16>, tensor<3x8x1x64xbf16>) {
  // Integers with a factor for each key, multiplied as f32; lengths around 450, some of 0 perhaps.
  %kf = arith.sitofp %k : tensor<3x2x901x64xi8> to tensor<3x2x901x64xf32>
  %kb = swage.broadcast %kScales dims [0, 1, 2] : tensor<3x2x901xf32> -> tensor<3x2x901x64xf32>
  %km = arith.mulf %kb, %kf : tensor<3x2x901x64xf32>
  %kt = arith.truncf %km : tensor<3x2x901x64xf32> to tensor<3x2x901x64xbf16>
  %vf = arith.sitofp %v : tensor<3x2x901x64xi8> to tensor<3x2x901x64xf32>
  %vb = swage.broadcast %vScales dims [0, 1, 2] : tensor<3x2x901xf32> -> tensor<3x2x901x64xf32>
  %vm = arith.mulf %vf, %vb : tensor<3x2x901x64xf32>
  %vt = arith.truncf %vm : tensor<3x2x901x64xf32> to tensor<3x2x901x64xbf16>
  %byKey = swage.attention %q, %kt, %vt scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c150 = arith.constant 150 : i32
    %c450 = arith.constant 450 : i32
    %read = tensor.extract %lengths[%b] : tensor<3xi32>
    %far = arith.muli %read, %c150 : i32
    %length = arith.addi %far, %c450 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xbf16>, tensor<3x2x901x64xbf16>, tensor<3x2x901x64xbf16>) -> tensor<3x8x1x64xbf16>
  // A factor for each head; heads inside of positions, three tokens at the end of 777.
  %cw = arith.extf %cache : tensor<2x777x4x80xf8E5M2> to tensor<2x777x4x80xf16>
  %cb = swage.broadcast %heads dims [2] : tensor<4xf16> -> tensor<2x777x4x80xf16>
  %cm = arith.mulf %cw, %cb : tensor<2x777x4x80xf16>
  %cp = swage.permute %cm [0, 2, 1, 3] : tensor<2x777x4x80xf16> -> tensor<2x4x777x80xf16>
  %uw = arith.extf %values : tensor<2x777x4x48xf8E5M2> to tensor<2x777x4x48xf16>
  %up = swage.permute %uw [0, 2, 1, 3] : tensor<2x777x4x48xf16> -> tensor<2x4x777x48xf16>
  %ub = swage.broadcast %heads dims [1] : tensor<4xf16> -> tensor<2x4x777x48xf16>
  %um = arith.mulf %up, %ub : tensor<2x4x777x48xf16>
  %drafts, %sums = swage.attention %tokens, %cp, %um scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c774 = arith.constant 774 : index
    %last = arith.addi %i, %c774 : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x8x3x80xf16>, tensor<2x4x777x80xf16>, tensor<2x4x777x48xf16>) -> (tensor<2x8x3x48xf16>, tensor<2x8x3xf32>)
  // One factor; queries in shared memory.
  %lw = arith.extf %kLong : tensor<1x2x333x256xf8E4M3FN> to tensor<1x2x333x256xf32>
  %lb = swage.broadcast %kScale dims [0] : tensor<1xf32> -> tensor<1x2x333x256xf32>
  %lm = arith.mulf %lw, %lb : tensor<1x2x333x256xf32>
  %lt = arith.truncf %lm : tensor<1x2x333x256xf32> to tensor<1x2x333x256xbf16>
  %mw = arith.extf %vLong : tensor<1x2x333x256xf8E4M3FN> to tensor<1x2x333x256xf32>
  %mb = swage.broadcast %vScale dims [0] : tensor<1xf32> -> tensor<1x2x333x256xf32>
  %mm = arith.mulf %mw, %mb : tensor<1x2x333x256xf32>
  %mt = arith.truncf %mm : tensor<1x2x333x256xf32> to tensor<1x2x333x256xbf16>
  %plain = swage.attention %long, %lt, %mt scale 0.01 : (tensor<1x2x1x256xbf16>, tensor<1x2x333x256xbf16>, tensor<1x2x333x256xbf16>) -> tensor<1x2x1x256xbf16>
  // Constants; fewer keys than a tile, of which the second sequence has none.
  %sw = arith.sitofp %kShort : tensor<2x4x5x16xi8> to tensor<2x4x5x16xf16>
  %c = arith.constant dense<0.0078125> : tensor<2x4x5x16xf16>
  %sm = arith.mulf %sw, %c : tensor<2x4x5x16xf16>
  %tw = arith.sitofp %vShort : tensor<2x4x5x16xi8> to tensor<2x4x5x16xf16>
  %tm = arith.mulf %tw, %c : tensor<2x4x5x16xf16>
  %few, %fewSums = swage.attention %short, %sm, %tm scale 0.25 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi ult, %b, %b : index
    %first = arith.cmpi eq, %b, %h : index
    %any = arith.ori %seen, %first : i1
    swage.yield %any : i1
  } : (tensor<2x4x1x16xf16>, tensor<2x4x5x16xf16>, tensor<2x4x5x16xf16>) -> (tensor<2x4x1x16xf16>, tensor<2x4x1xf32>)
  // 16 queries that share few keys; a factor for each head of a sequence, values with none.
  %ww = arith.extf %kWide : tensor<1x2x100x128xf8E4M3FN> to tensor<1x2x100x128xbf16>
  %wt = arith.truncf %wideScales : tensor<1x2xf32> to tensor<1x2xbf16>
  %wb = swage.broadcast %wt dims [0, 1] : tensor<1x2xbf16> -> tensor<1x2x100x128xbf16>
  %wm = arith.mulf %ww, %wb : tensor<1x2x100x128xbf16>
  %xw = arith.extf %vWide : tensor<1x2x100x128xf8E4M3FN> to tensor<1x2x100x128xbf16>
  %grouped = swage.attention %wide, %wm, %xw scale 0.0883 : (tensor<1x32x1x128xbf16>, tensor<1x2x100x128xbf16>, tensor<1x2x100x128xbf16>) -> tensor<1x32x1x128xbf16>
  // Two factors, and a window of 100.
  %nw = arith.sitofp %k : tensor<3x2x901x64xi8> to tensor<3x2x901x64xbf16>
  %kn = arith.truncf %kScales : tensor<3x2x901xf32> to tensor<3x2x901xbf16>
  %nb = swage.broadcast %kn dims [0, 1, 2] : tensor<3x2x901xbf16> -> tensor<3x2x901x64xbf16>
  %half = arith.constant dense<0.5> : tensor<3x2x901x64xbf16>
  %n1 = arith.mulf %nw, %half : tensor<3x2x901x64xbf16>
  %n2 = arith.mulf %n1, %nb : tensor<3x2x901x64xbf16>
  %ow = arith.sitofp %v : tensor<3x2x901x64xi8> to tensor<3x2x901x64xbf16>
  %window = swage.attention %q, %n2, %ow scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c800 = arith.constant 801 : index
    %seen = arith.cmpi sge, %j, %c800 : index
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xbf16>, tensor<3x2x901x64xbf16>, tensor<3x2x901x64xbf16>) -> tensor<3x8x1x64xbf16>
  return %byKey, %drafts, %sums, %plain, %few, %fewSums, %grouped, %window : tensor<3x8x1x64xbf16>, tensor<2x8x3x48xf16>, tensor<2x8x3xf32>, tensor<1x2x1x256xbf16>, tensor<2x4x1x16xf16>,
      tensor<2x4x1xf32>, tensor<1x32x1x128xbf16>, tensor<3x8x1x64xbf16>
}

// Sizes of the launch; factors that lie across the keys.
func.func @open(%q: tensor<?x8x1x96xbf16>, %k: tensor<?x2x?x96xi8>, %v: tensor<?x2x?x96xi8>, %scales: tensor<?x?x2xf32>, %lengths: tensor<?xi32>) -> tensor<?x8x1x96xbf16> {
  %b = arith.constant 0 : index
  %l = arith.constant 1 : index
  %batch = tensor.dim %scales, %b : tensor<?x?x2xf32>
  %keys = tensor.dim %scales, %l : tensor<?x?x2xf32>
  %turned = swage.permute %scales [0, 2, 1] : tensor<?x?x2xf32> -> tensor<?x2x?xf32>
  %sb = swage.broadcast %turned dims [0, 1, 2] : tensor<?x2x?xf32> -> tensor<?x2x?x96xf32>
  %kw = arith.sitofp %k : tensor<?x2x?x96xi8> to tensor<?x2x?x96xf32>
  %km = arith.mulf %kw, %sb : tensor<?x2x?x96xf32>
  %kt = arith.truncf %km : tensor<?x2x?x96xf32> to tensor<?x2x?x96xbf16>
  %vw = arith.sitofp %v : tensor<?x2x?x96xi8> to tensor<?x2x?x96xf32>
  %vm = arith.mulf %vw, %sb : tensor<?x2x?x96xf32>
  %vt = arith.truncf %vm : tensor<?x2x?x96xf32> to tensor<?x2x?x96xbf16>
  %o = swage.attention %q, %kt, %vt scale 0.1 mask {
  ^bb0(%s: index, %h: index, %i: index, %j: index):
    %c100 = arith.constant 100 : i32
    %read = tensor.extract %lengths[%s] : tensor<?xi32>
    %far = arith.muli %read, %c100 : i32
    %length = arith.addi %far, %c100 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x96xbf16>, tensor<?x2x?x96xbf16>, tensor<?x2x?x96xbf16>) -> tensor<?x8x1x96xbf16>
  return %o : tensor<?x8x1x96xbf16>
}

// More heads than multiprocessors: a block has several units whole.
func.func @many(%q: tensor<5x35x1x32xbf16>, %k: tensor<5x35x300x32xf8E5M2>, %v: tensor<5x35x300x32xf8E5M2>) -> tensor<5x35x1x32xbf16> {
  %kw = arith.extf %k : tensor<5x35x300x32xf8E5M2> to tensor<5x35x300x32xbf16>
  %vw = arith.extf %v : tensor<5x35x300x32xf8E5M2> to tensor<5x35x300x32xbf16>
  %o = swage.attention %q, %kw, %vw scale 0.2 : (tensor<5x35x1x32xbf16>, tensor<5x35x300x32xbf16>, tensor<5x35x300x32xbf16>) -> tensor<5x35x1x32xbf16>
  return %o : tensor<5x35x1x32xbf16>
}

// Pages of 16 keys, with a factor for each position of a sequence.
func.func @pages(%q: tensor<3x8x1x64xbf16>, %pool: tensor<60x2x16x64xi8>, %values: tensor<60x2x16x64xi8>, %table: tensor<3x20xi32>, %s: tensor<2xbf16>, %t: tensor<3x2x320xbf16>) -> tensor<3x8x1x64xbf16> {
  %k = swage.pages %pool, %table : (tensor<60x2x16x64xi8>, tensor<3x20xi32>) -> tensor<3x2x320x64xi8>
  %v = swage.pages %values, %table : (tensor<60x2x16x64xi8>, tensor<3x20xi32>) -> tensor<3x2x320x64xi8>
  %kw = arith.sitofp %k : tensor<3x2x320x64xi8> to tensor<3x2x320x64xbf16>
  %vw = arith.sitofp %v : tensor<3x2x320x64xi8> to tensor<3x2x320x64xbf16>
  %b = swage.broadcast %s dims [1] : tensor<2xbf16> -> tensor<3x2x320x64xbf16>
  %c = swage.broadcast %t dims [0, 1, 2] : tensor<3x2x320xbf16> -> tensor<3x2x320x64xbf16>
  %km = arith.mulf %kw, %c : tensor<3x2x320x64xbf16>
  %vm = arith.mulf %vw, %b : tensor<3x2x320x64xbf16>
  %o = swage.attention %q, %km, %vm scale 0.125 : (tensor<3x8x1x64xbf16>, tensor<3x2x320x64xbf16>, tensor<3x2x320x64xbf16>) -> tensor<3x8x1x64xbf16>
  return %o : tensor<3x8x1x64xbf16>
}

// 48 queries that share a key head, of which the last ones see more keys.
func.func @rows(%q: tensor<2x16x6x64xbf16>, %k: tensor<2x2x500x64xf8E4M3FN>, %v: tensor<2x2x500x64xf8E4M3FN>, %ks: tensor<2x2x500xbf16>, %vs: tensor<2x2x500xbf16>) -> (tensor<2x16x6x64xbf16>, tensor<2x16x6x64xbf16>) {
  %kw = arith.extf %k : tensor<2x2x500x64xf8E4M3FN> to tensor<2x2x500x64xbf16>
  %kb = swage.broadcast %ks dims [0, 1, 2] : tensor<2x2x500xbf16> -> tensor<2x2x500x64xbf16>
  %km = arith.mulf %kw, %kb : tensor<2x2x500x64xbf16>
  %vw = arith.extf %v : tensor<2x2x500x64xf8E4M3FN> to tensor<2x2x500x64xbf16>
  %vb = swage.broadcast %vs dims [0, 1, 2] : tensor<2x2x500xbf16> -> tensor<2x2x500x64xbf16>
  %vm = arith.mulf %vw, %vb : tensor<2x2x500x64xbf16>
  %o = swage.attention %q, %km, %vm scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 494 : index
    %last = arith.addi %i, %c : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x16x6x64xbf16>, tensor<2x2x500x64xbf16>, tensor<2x2x500x64xbf16>) -> tensor<2x16x6x64xbf16>
  %p = swage.attention %q, %kw, %vw scale 0.125 : (tensor<2x16x6x64xbf16>, tensor<2x2x500x64xbf16>, tensor<2x2x500x64xbf16>) -> tensor<2x16x6x64xbf16>
  return %o, %p : tensor<2x16x6x64xbf16>, tensor<2x16x6x64xbf16>
}

// What is no number, or nearly none, in keys, values and factors.
func.func @nasty(%q: tensor<2x4x1x32xbf16>, %k: tensor<2x2x70x32xf8E4M3FN>, %v: tensor<2x2x70x32xf8E4M3FN>, %heads: tensor<2xbf16>,
                 %c: tensor<2x4x70x32xf8E5M2>, %u: tensor<2x4x70x32xf8E5M2>, %scales: tensor<2x4x70xbf16>) -> (tensor<2x4x1x32xbf16>, tensor<2x4x1x32xbf16>) {
  %kw = arith.extf %k : tensor<2x2x70x32xf8E4M3FN> to tensor<2x2x70x32xbf16>
  %hb = swage.broadcast %heads dims [1] : tensor<2xbf16> -> tensor<2x2x70x32xbf16>
  %km = arith.mulf %kw, %hb : tensor<2x2x70x32xbf16>
  %vw = arith.extf %v : tensor<2x2x70x32xf8E4M3FN> to tensor<2x2x70x32xbf16>
  %vm = arith.mulf %vw, %hb : tensor<2x2x70x32xbf16>
  %o = swage.attention %q, %km, %vm scale 0.2 : (tensor<2x4x1x32xbf16>, tensor<2x2x70x32xbf16>, tensor<2x2x70x32xbf16>) -> tensor<2x4x1x32xbf16>
  %cw = arith.extf %c : tensor<2x4x70x32xf8E5M2> to tensor<2x4x70x32xbf16>
  %sb = swage.broadcast %scales dims [0, 1, 2] : tensor<2x4x70xbf16> -> tensor<2x4x70x32xbf16>
  %cm = arith.mulf %cw, %sb : tensor<2x4x70x32xbf16>
  %uw = arith.extf %u : tensor<2x4x70x32xf8E5M2> to tensor<2x4x70x32xbf16>
  %p = swage.attention %q, %cm, %uw scale 0.2 : (tensor<2x4x1x32xbf16>, tensor<2x4x70x32xbf16>, tensor<2x4x70x32xbf16>) -> tensor<2x4x1x32xbf16>
  return %o, %p : tensor<2x4x1x32xbf16>, tensor<2x4x1x32xbf16>
}
