// REQUIRES: host-compiler
// Score functions taken apart: a bias by distance beside sums of weights, bounds by tanh whose scores are far below them, well within them, partly beyond what the polynomials reach,
// and for the most part; all of it with documents and a prefix.
// RUN: swage-run %s --entry=signs --device=sim --sim=check --check | FileCheck %s --check-prefix=SIGNS
// RUN: swage-run %s --entry=signs --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=SIGNS
// SIGNS-COUNT-3: accepted
// SIGNS-NOT: rejected
// RUN: swage-run %s --entry=ranges --device=sim --sim=check --check | FileCheck %s --check-prefix=SIGNS
// RUN: swage-run %s --entry=ranges --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=SIGNS
// RUN: swage-run %s --entry=below --device=sim --sim=check --check | FileCheck %s --check-prefix=SIGNS
// RUN: swage-run %s --entry=unseen --device=sim --sim=check --check | FileCheck %s --check-prefix=UNSEEN
// RUN: swage-run %s --entry=unseen --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=UNSEEN
// UNSEEN-COUNT-4: accepted
// What a check allows of scores like these is more than any result. Rows of one score have the mean of the values, whatever that score is.
// RUN: swage-run %s --entry=lowest --device=sim --save-outputs=%t.lowest && swage-run %s --entry=level --device=sim --save-outputs=%t.level
// RUN: cmp %t.lowest/result0.npy %t.level/result0.npy
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=7 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: swage-opt --swage-kernel-pipeline %s 2>/dev/null | sed 's/exponent within [^ ]*/exponent/' | not swage-opt 2>&1 | FileCheck %s --check-prefix=REACH
// RUN: swage-opt --swage-kernel-pipeline %s 2>/dev/null | sed 's/near_exponent within [^ ]*/near_exponent within 1.0e9/' | not swage-opt 2>&1 | FileCheck %s --check-prefix=WIDER
// RUN: swage-opt --swage-kernel-pipeline %s 2>/dev/null | sed 's/\(near_exponent within [^ ]* loads .6, \)8/\19/' | not swage-opt 2>&1 | FileCheck %s --check-prefix=QUERY
// RUN: swage-run %s --entry=cut --device=sim --check --sim=check | FileCheck %s --check-prefix=CUT
// RUN: swage-run %s --entry=together --device=sim --check --sim=check | FileCheck %s --check-prefix=TOGETHER
// RUN: swage-opt --swage-kernel-pipeline %s | FileCheck %s --check-prefix=NEAR
// RUN: swage-run %s --entry=shared --device=sim --check --sim=check | FileCheck %s --check-prefix=SHARED
// RUN: swage-run %s --entry=tiles --device=sim --check --sim=check,async=random,order=random,seed=7 | FileCheck %s --check-prefix=TILES
// CHECK-COUNT-7: accepted
// CHECK-NOT: rejected
// REACH: 'swage.phase' op has no reach, within which it is for scores
// QUERY: 'swage.phase' op loads input 9, but is the same for all queries
// WIDER: 'swage.phase' op has no exponent beside it that reaches further
func.func @main(%q: tensor<1x2x200x64xbf16>, %k: tensor<1x2x460x64xbf16>, %v: tensor<1x2x460x64xbf16>, %slopes: tensor<2xf32>, %prefix: tensor<1xi32>)
    -> (tensor<1x2x200x64xbf16>, tensor<1x2x200xf32>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>) {
  %at = swage.iota dim 0 : tensor<460xi32>
  %length = arith.constant dense<280> : tensor<460xi32>
  %number = arith.divsi %at, %length : tensor<460xi32>
  %documents = swage.copy %number : tensor<460xi32>
  %distance, %sums = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<2xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %bias = arith.mulf %slope, %df : f32
    %t = arith.addf %s, %bias : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c260 = arith.constant 260 : index
    %last = arith.addi %i, %c260 : index
    %before = arith.cmpi sle, %j, %last : index
    %mine = tensor.extract %documents[%i] : tensor<460xi32>
    %of = tensor.extract %documents[%j] : tensor<460xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %seen = arith.andi %before, %same : i1
    swage.yield %seen : i1
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x460x64xbf16>, tensor<1x2x460x64xbf16>) -> (tensor<1x2x200x64xbf16>, tensor<1x2x200xf32>)
  %near = swage.attention %q, %k, %v scale 0.375 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    swage.yield %t : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x460x64xbf16>, tensor<1x2x460x64xbf16>) -> tensor<1x2x200x64xbf16>
  %within = swage.attention %q, %k, %v scale 0.625 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    swage.yield %t : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x460x64xbf16>, tensor<1x2x460x64xbf16>) -> tensor<1x2x200x64xbf16>
  %partly = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.08 : f32
    %more = arith.constant 12.5 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    swage.yield %t : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x460x64xbf16>, tensor<1x2x460x64xbf16>) -> tensor<1x2x200x64xbf16>
  %far = swage.attention %q, %k, %v scale 4.0 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    swage.yield %t : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x460x64xbf16>, tensor<1x2x460x64xbf16>) -> tensor<1x2x200x64xbf16>
  %all = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %t = arith.mulf %held, %more : f32
    %slope = tensor.extract %slopes[%h] : tensor<2xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %hundredth = arith.constant 0.01 : f32
    %slow = arith.mulf %slope, %hundredth : f32
    %bias = arith.mulf %slow, %df : f32
    %u = arith.addf %t, %bias : f32
    swage.yield %u : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c260 = arith.constant 260 : index
    %last = arith.addi %i, %c260 : index
    %before = arith.cmpi sle, %j, %last : index
    %p = tensor.extract %prefix[%b] : tensor<1xi32>
    %ji = arith.index_cast %j : index to i32
    %first = arith.cmpi slt, %ji, %p : i32
    %either = arith.ori %before, %first : i1
    %mine = tensor.extract %documents[%i] : tensor<460xi32>
    %of = tensor.extract %documents[%j] : tensor<460xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %seen = arith.andi %either, %same : i1
    swage.yield %seen : i1
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x460x64xbf16>, tensor<1x2x460x64xbf16>) -> tensor<1x2x200x64xbf16>
  return %distance, %sums, %near, %within, %partly, %far, %all
      : tensor<1x2x200x64xbf16>, tensor<1x2x200xf32>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>
}

// Scores within reach in blocks that a window cuts, of rows that see few keys of a block: no bias of a key that is hidden may count.
// CUT-COUNT-2: accepted
func.func @cut(%q: tensor<1x2x257x64xbf16>, %k: tensor<1x2x400x64xbf16>, %v: tensor<1x2x400x64xbf16>) -> (tensor<1x2x257x64xbf16>, tensor<1x2x257x64xbf16>) {
  %rising = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2.0e-02 : f32
    %most = arith.constant 5.0e+01 : f32
    %slope = arith.constant 2.0e+00 : f32
    %a = arith.mulf %s, %c : f32
    %t = math.tanh %a : f32
    %bounded = arith.mulf %t, %most : f32
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %bias = arith.mulf %slope, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %to = arith.cmpi sle, %j, %i : index
    %c70 = arith.constant 70 : index
    %di = arith.divui %i, %c70 : index
    %dj = arith.divui %j, %c70 : index
    %same = arith.cmpi eq, %di, %dj : index
    %seen = arith.andi %to, %same : i1
    swage.yield %seen : i1
  } : (tensor<1x2x257x64xbf16>, tensor<1x2x400x64xbf16>, tensor<1x2x400x64xbf16>) -> tensor<1x2x257x64xbf16>
  %falling = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2.0e-02 : f32
    %most = arith.constant 5.0e+01 : f32
    %slope = arith.constant -2.0e+00 : f32
    %a = arith.mulf %s, %c : f32
    %t = math.tanh %a : f32
    %bounded = arith.mulf %t, %most : f32
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %bias = arith.mulf %slope, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %to = arith.cmpi sle, %j, %i : index
    %c50 = arith.constant 50 : index
    %behind = arith.addi %j, %c50 : index
    %from = arith.cmpi sge, %behind, %i : index
    %seen = arith.andi %to, %from : i1
    swage.yield %seen : i1
  } : (tensor<1x2x257x64xbf16>, tensor<1x2x400x64xbf16>, tensor<1x2x400x64xbf16>) -> tensor<1x2x257x64xbf16>
  return %rising, %falling : tensor<1x2x257x64xbf16>, tensor<1x2x257x64xbf16>
}

// Biases by distance that are subtracted, or written as floats, beside a bound by a division; a score that is subtracted itself.
func.func @signs(%q: tensor<4x90x64xbf16>, %slopes: tensor<4xf32>) -> (tensor<4x90x64xbf16>, tensor<4x90xf32>, tensor<4x90x64xbf16>) {
  %three = arith.constant 3.0 : f32
  %half = arith.constant 0.5 : f32
  %bounded, %sums = swage.attention %q, %q, %q scale 0.125 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %x = arith.divf %s, %three : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %three : f32
    %n = arith.subi %i, %j : index
    %n32 = arith.index_cast %n : index to i32
    %d = arith.sitofp %n32 : i32 to f32
    %b = arith.mulf %slope, %d : f32
    %t = arith.subf %z, %b : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<4x90x64xbf16>, tensor<4x90x64xbf16>, tensor<4x90x64xbf16>) -> (tensor<4x90x64xbf16>, tensor<4x90xf32>)
  %negative = swage.attention %q, %q, %q scale 0.125 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %i64 = arith.index_cast %i : index to i64
    %j64 = arith.index_cast %j : index to i64
    %fi = arith.sitofp %i64 : i64 to f32
    %fj = arith.sitofp %j64 : i64 to f32
    %d = arith.subf %fj, %fi : f32
    %m = arith.negf %d : f32
    %b = arith.mulf %slope, %m : f32
    %less = arith.subf %s, %half : f32
    %t = arith.subf %b, %less : f32
    swage.yield %t : f32
  } : (tensor<4x90x64xbf16>, tensor<4x90x64xbf16>, tensor<4x90x64xbf16>) -> tensor<4x90x64xbf16>
  return %bounded, %sums, %negative : tensor<4x90x64xbf16>, tensor<4x90xf32>, tensor<4x90x64xbf16>
}

// Scores that are all below 0, far apart, and far below and above it by a bias that grows either way: maxima that are compared as integers have the order of what is above 0 alone.
func.func @below(%q: tensor<1x3x200x64xbf16>, %k: tensor<1x3x520x64xbf16>, %v: tensor<1x3x520x64xbf16>, %slopes: tensor<3xf32>)
    -> (tensor<1x3x200x64xbf16>, tensor<1x3x200xf32>, tensor<1x3x200x64xbf16>) {
  %squares, %sums = swage.attention %q, %k, %v scale 1.0 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %square = arith.mulf %s, %s : f32
    %t = arith.negf %square : f32
    swage.yield %t : f32
  } : (tensor<1x3x200x64xbf16>, tensor<1x3x520x64xbf16>, tensor<1x3x520x64xbf16>) -> (tensor<1x3x200x64xbf16>, tensor<1x3x200xf32>)
  %biased = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<3xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %bias = arith.mulf %slope, %df : f32
    %hundred = arith.constant 100.0 : f32
    %less = arith.subf %s, %hundred : f32
    %t = arith.addf %less, %bias : f32
    swage.yield %t : f32
  } : (tensor<1x3x200x64xbf16>, tensor<1x3x520x64xbf16>, tensor<1x3x520x64xbf16>) -> tensor<1x3x200x64xbf16>
  return %squares, %sums, %biased : tensor<1x3x200x64xbf16>, tensor<1x3x200xf32>, tensor<1x3x200x64xbf16>
}

// Masks that leave ranges of keys: blocks, all blocks up to the query's, distances to either side.
func.func @ranges(%q: tensor<3x301x64xbf16>) -> (tensor<3x301x64xbf16>, tensor<3x301x64xbf16>, tensor<3x301x64xbf16>) {
  %size = arith.constant 37 : index
  %own = swage.attention %q, %q, %q scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %a = arith.divui %i, %size : index
    %b = arith.divui %j, %size : index
    %seen = arith.cmpi eq, %a, %b : index
    swage.yield %seen : i1
  } : (tensor<3x301x64xbf16>, tensor<3x301x64xbf16>, tensor<3x301x64xbf16>) -> tensor<3x301x64xbf16>
  %former = swage.attention %q, %q, %q scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %a = arith.divsi %i, %size : index
    %b = arith.divsi %j, %size : index
    %seen = arith.cmpi sge, %a, %b : index
    swage.yield %seen : i1
  } : (tensor<3x301x64xbf16>, tensor<3x301x64xbf16>, tensor<3x301x64xbf16>) -> tensor<3x301x64xbf16>
  %near = swage.attention %q, %q, %q scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %far = math.absi %d : index
    %seen = arith.cmpi ule, %far, %size : index
    %seen2 = arith.cmpi sle, %far, %size : index
    %both = arith.andi %seen, %seen2 : i1
    swage.yield %both : i1
  } : (tensor<3x301x64xbf16>, tensor<3x301x64xbf16>, tensor<3x301x64xbf16>) -> tensor<3x301x64xbf16>
  return %own, %former, %near : tensor<3x301x64xbf16>, tensor<3x301x64xbf16>, tensor<3x301x64xbf16>
}

// Near scores, whose two rows of a thread have one bottom: beside a bias by distance, beside which a sink wants each row's own; of rows that scores of the last keys leave at both
// ends of the bound. A slope for each query leaves no bottom to share.
// TOGETHER-COUNT-3: accepted
// TOGETHER-NOT: rejected
// NEAR: swage.phase near_exponent within {{.*}} loads [6, 8]
// NEAR: swage.phase exponent within {{.*}} loads [5, 6]
// NEAR-NOT: near_exponent
// NEAR: swage.kernel
func.func @together(%q: tensor<1x2x200x64xbf16>, %k: tensor<1x2x420x64xbf16>, %slopes: tensor<2xf32>, %steep: tensor<200xf32>, %sinks: tensor<2xf32>)
    -> (tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>) {
  %o = swage.attention %q, %k, %k sinks %sinks scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2.0e-02 : f32
    %most = arith.constant 5.0e+01 : f32
    %a = arith.mulf %s, %c : f32
    %t = math.tanh %a : f32
    %bounded = arith.mulf %t, %most : f32
    %slope = tensor.extract %slopes[%h] : tensor<2xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %quarter = arith.constant -2.5e-01 : f32
    %steepness = math.absf %slope : f32
    %falling = arith.mulf %steepness, %quarter : f32
    %bias = arith.mulf %falling, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x420x64xbf16>, tensor<1x2x420x64xbf16>, tensor<2xf32>) -> tensor<1x2x200x64xbf16>
  %each = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2.0e-02 : f32
    %most = arith.constant 5.0e+01 : f32
    %a = arith.mulf %s, %c : f32
    %t = math.tanh %a : f32
    %bounded = arith.mulf %t, %most : f32
    %slope = tensor.extract %steep[%i] : tensor<200xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %quarter = arith.constant -2.5e-01 : f32
    %steepness = math.absf %slope : f32
    %falling = arith.mulf %steepness, %quarter : f32
    %bias = arith.mulf %falling, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x420x64xbf16>, tensor<1x2x420x64xbf16>) -> tensor<1x2x200x64xbf16>
  // Of every 16 queries 8 are negative; the last keys are 40 times as large as the others.
  %row = swage.iota dim 0 : tensor<200xi32>
  %eight = arith.constant dense<8> : tensor<200xi32>
  %bit = arith.andi %row, %eight : tensor<200xi32>
  %bits = arith.sitofp %bit : tensor<200xi32> to tensor<200xf32>
  %four = arith.constant dense<4.0> : tensor<200xf32>
  %sign = arith.subf %bits, %four : tensor<200xf32>
  %signs = swage.broadcast %sign dims [2] : tensor<200xf32> -> tensor<1x2x200x64xf32>
  %key = swage.iota dim 0 : tensor<420xi32>
  %late = arith.constant dense<300> : tensor<420xi32>
  %isLate = arith.cmpi sge, %key, %late : tensor<420xi32>
  %large = arith.constant dense<2.0> : tensor<420xf32>
  %little = arith.constant dense<0.05> : tensor<420xf32>
  %size = arith.select %isLate, %large, %little : tensor<420xi1>, tensor<420xf32>
  %sizes = swage.broadcast %size dims [2] : tensor<420xf32> -> tensor<1x2x420x64xf32>
  %q32 = arith.extf %q : tensor<1x2x200x64xbf16> to tensor<1x2x200x64xf32>
  %k32 = arith.extf %k : tensor<1x2x420x64xbf16> to tensor<1x2x420x64xf32>
  %qPositive = math.absf %q32 : tensor<1x2x200x64xf32>
  %kPositive = math.absf %k32 : tensor<1x2x420x64xf32>
  %qSigned = arith.mulf %qPositive, %signs : tensor<1x2x200x64xf32>
  %kSized = arith.mulf %kPositive, %sizes : tensor<1x2x420x64xf32>
  %q16 = arith.truncf %qSigned : tensor<1x2x200x64xf32> to tensor<1x2x200x64xbf16>
  %k16 = arith.truncf %kSized : tensor<1x2x420x64xf32> to tensor<1x2x420x64xbf16>
  %queries = swage.copy %q16 : tensor<1x2x200x64xbf16>
  %keys = swage.copy %k16 : tensor<1x2x420x64xbf16>
  %apart = swage.attention %queries, %keys, %k scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2.0e-02 : f32
    %most = arith.constant 5.0e+01 : f32
    %a = arith.mulf %s, %c : f32
    %t = math.tanh %a : f32
    %bounded = arith.mulf %t, %most : f32
    swage.yield %bounded : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x420x64xbf16>, tensor<1x2x420x64xbf16>) -> tensor<1x2x200x64xbf16>
  return %o, %each, %apart : tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>
}

// The same where a tile's keys are shared by blocks, whose merged rows the sink joins.
// SHARED: parts=8
// SHARED: accepted
func.func @shared(%q: tensor<1x2x200x64xbf16>, %k: tensor<1x2x3900x64xbf16>, %slopes: tensor<2xf32>, %sinks: tensor<2xf32>) -> tensor<1x2x200x64xbf16> {
  %o = swage.attention %q, %k, %k sinks %sinks scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 2.0e-02 : f32
    %most = arith.constant 5.0e+01 : f32
    %a = arith.mulf %s, %c : f32
    %t = math.tanh %a : f32
    %bounded = arith.mulf %t, %most : f32
    %slope = tensor.extract %slopes[%h] : tensor<2xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %quarter = arith.constant -2.5e-01 : f32
    %steepness = math.absf %slope : f32
    %falling = arith.mulf %steepness, %quarter : f32
    %bias = arith.mulf %falling, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } : (tensor<1x2x200x64xbf16>, tensor<1x2x3900x64xbf16>, tensor<1x2x3900x64xbf16>, tensor<2xf32>) -> tensor<1x2x200x64xbf16>
  return %o : tensor<1x2x200x64xbf16>
}

// More tiles than multiprocessors, so that one is crossed to another behind blocks that come alone: with a softmax of its own for a tile's first block, and, beside documents, with theirs.
// TILES-COUNT-2: query_slots={{[23]}}
// TILES-COUNT-2: accepted
func.func @tiles(%q: tensor<1x60x330x128xbf16>, %k: tensor<1x60x430x128xbf16>, %v: tensor<1x60x430x128xbf16>, %slopes: tensor<60xf32>, %sinks: tensor<60xf32>) -> (tensor<1x60x330x128xbf16>, tensor<1x60x330x128xbf16>) {
  %at = swage.iota dim 0 : tensor<430xi32>
  %length = arith.constant dense<170> : tensor<430xi32>
  %number = arith.divsi %at, %length : tensor<430xi32>
  %documents = swage.copy %number : tensor<430xi32>
  %o = swage.attention %q, %k, %v sinks %sinks scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %bounded = arith.mulf %held, %more : f32
    %slope = tensor.extract %slopes[%h] : tensor<60xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %bias = arith.mulf %slope, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %hundred = arith.constant 100 : index
    %end = arith.addi %i, %hundred : index
    %before = arith.cmpi sle, %j, %end : index
    %mine = tensor.extract %documents[%i] : tensor<430xi32>
    %of = tensor.extract %documents[%j] : tensor<430xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %seen = arith.andi %before, %same : i1
    swage.yield %seen : i1
  } : (tensor<1x60x330x128xbf16>, tensor<1x60x430x128xbf16>, tensor<1x60x430x128xbf16>, tensor<60xf32>) -> tensor<1x60x330x128xbf16>
  %alone = swage.attention %q, %k, %v sinks %sinks scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %x = arith.mulf %s, %less : f32
    %held = math.tanh %x : f32
    %bounded = arith.mulf %held, %more : f32
    %slope = tensor.extract %slopes[%h] : tensor<60xf32>
    %d = arith.subi %j, %i : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %bias = arith.mulf %slope, %df : f32
    %sum = arith.addf %bounded, %bias : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %hundred = arith.constant 100 : index
    %end = arith.addi %i, %hundred : index
    %before = arith.cmpi sle, %j, %end : index
    swage.yield %before : i1
  } : (tensor<1x60x330x128xbf16>, tensor<1x60x430x128xbf16>, tensor<1x60x430x128xbf16>, tensor<60xf32>) -> tensor<1x60x330x128xbf16>
  return %o, %alone : tensor<1x60x330x128xbf16>, tensor<1x60x330x128xbf16>
}

// The first row sees nothing. Highest scores begin at the lowest number, or above it where that times the scale would be none.
func.func @unseen(%q: tensor<1x2x130x64xbf16>, %k: tensor<1x2x260x64xbf16>, %v: tensor<1x2x260x64xbf16>) -> (tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>, tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>) {
  %o, %lo = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi slt, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<1x2x130x64xbf16>, tensor<1x2x260x64xbf16>, tensor<1x2x260x64xbf16>) -> (tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>)
  %p, %lp = swage.attention %q, %k, %v scale 8.0 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi slt, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<1x2x130x64xbf16>, tensor<1x2x260x64xbf16>, tensor<1x2x260x64xbf16>) -> (tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>)
  return %o, %lo, %p, %lp : tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>, tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>
}

func.func @lowest(%q: tensor<1x2x70x32xf32>, %k: tensor<1x2x90x32xf32>, %v: tensor<1x2x90x32xf32>) -> tensor<1x2x70x32xf32> {
  %o = swage.attention %q, %k, %v scale 1.0 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %factor = arith.constant 1.0 : f32
    %bias = arith.constant -3.4028234663852886e38 : f32
    %part = arith.mulf %s, %factor : f32
    %sum = arith.addf %part, %bias : f32
    swage.yield %sum : f32
  } : (tensor<1x2x70x32xf32>, tensor<1x2x90x32xf32>, tensor<1x2x90x32xf32>) -> tensor<1x2x70x32xf32>
  return %o : tensor<1x2x70x32xf32>
}

func.func @level(%q: tensor<1x2x70x32xf32>, %k: tensor<1x2x90x32xf32>, %v: tensor<1x2x90x32xf32>) -> tensor<1x2x70x32xf32> {
  %o = swage.attention %q, %k, %v scale 1.0 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %factor = arith.constant 0.0 : f32
    %bias = arith.constant 0.0 : f32
    %part = arith.mulf %s, %factor : f32
    %sum = arith.addf %part, %bias : f32
    swage.yield %sum : f32
  } : (tensor<1x2x70x32xf32>, tensor<1x2x90x32xf32>, tensor<1x2x90x32xf32>) -> tensor<1x2x70x32xf32>
  return %o : tensor<1x2x70x32xf32>
}
