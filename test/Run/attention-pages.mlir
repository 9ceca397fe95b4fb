// REQUIRES: host-compiler
// Keys and values in pages of a pool: of any size, in any order of memory, through tables that name pages twice, or none.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --check-prefix=NASTY
// RUN: sed 's/x16x64xf16/x7x64xf16/g; s/x16x4x/x7x4x/g; s/x320x64xf16/x140x64xf16/g; s/x64xf16/x32xf16/g' %s > %t.mlir && swage-run %t.mlir --device=sim --sim=check --check | FileCheck %s
// RUN: sed 's/x16x64xf16/x8x64xf16/g; s/x16x4x/x8x4x/g; s/x320x64xf16/x160x64xf16/g' %s > %t.mlir && swage-run %t.mlir --device=sim --check | FileCheck %s
// RUN: sed 's/x16x64xf16/x1x64xf16/g; s/x16x4x/x1x4x/g; s/x320x64xf16/x20x64xf16/g' %s > %t.mlir && swage-run %t.mlir --device=sim --check | FileCheck %s
// RUN: sed 's/x16x64xf16/x256x64xf16/g; s/x16x4x/x256x4x/g; s/x320x64xf16/x5120x64xf16/g' %s > %t.mlir && swage-run %t.mlir --device=sim --check | FileCheck %s
// RUN: swage-run %s --entry=open --dims='3,8,1,96;9,2,32,96;9,2,32,96;3,11;3' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=open --dims='1,8,1,96;1,2,32,96;1,2,32,96;1,200;1' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=chunk --device=sim --sim=check,order=random --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=walk --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=walk --arch=sm_80 --device=sim --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=tables --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=single --device=sim --sim=check,order=random --check | FileCheck %s --check-prefix=OPEN
// The prompt's keys, which four beams share, are read once.
// RUN: sed 's/8x8x4096x128/8x8x160x128/g; s/512x8x16x128/64x8x16x128/g' %examples/beams.mlir > %t.mlir && swage-run %t.mlir --device=sim --check | FileCheck %s --check-prefix=BEAMS
// BEAMS: attention decode {{.*}} 6.30 
// BEAMS: accepted
// CHECK-COUNT-4: accepted
// CHECK-NOT: rejected
// NASTY-NOT: rejected
// NASTY: accepted
func.func @main(%q: tensor<3x8x1x64xf16>, %pool: tensor<11x2x16x64xf16>, %values: tensor<11x2x16x64xf16>, %numbers: tensor<3x20xi32>, %lengths: tensor<3xi32>,
                %drafts: tensor<3x4x3x64xf16>, %both: tensor<11x2x16x4x64xf16>, %offsets: tensor<3xi32>)
    -> (tensor<3x8x1x64xf16>, tensor<3x8x1x64xf16>, tensor<3x4x3x64xf16>, tensor<3x4x3xf32>) {
  // Pages all over the pool.
  %at = swage.iota dim 1 : tensor<3x20xi32>
  %seven = arith.constant dense<7> : tensor<3x20xi32>
  %eleven = arith.constant dense<11> : tensor<3x20xi32>
  %steps = arith.muli %at, %seven : tensor<3x20xi32>
  %moved = arith.addi %steps, %numbers : tensor<3x20xi32>
  %table = arith.remui %moved, %eleven : tensor<3x20xi32>
  %k = swage.pages %pool, %table : (tensor<11x2x16x64xf16>, tensor<3x20xi32>) -> tensor<3x2x320x64xf16>
  %v = swage.pages %values, %table : (tensor<11x2x16x64xf16>, tensor<3x20xi32>) -> tensor<3x2x320x64xf16>
  // Lengths around 150.
  %byLength = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c50 = arith.constant 50 : i32
    %c150 = arith.constant 150 : i32
    %read = tensor.extract %lengths[%b] : tensor<3xi32>
    %far = arith.muli %read, %c50 : i32
    %length = arith.addi %far, %c150 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xf16>, tensor<3x2x320x64xf16>, tensor<3x2x320x64xf16>) -> tensor<3x8x1x64xf16>
  // What is in the table as it comes, where many numbers name no page: all of the cache.
  %kAny = swage.pages %pool, %numbers : (tensor<11x2x16x64xf16>, tensor<3x20xi32>) -> tensor<3x2x320x64xf16>
  %vAny = swage.pages %values, %numbers : (tensor<11x2x16x64xf16>, tensor<3x20xi32>) -> tensor<3x2x320x64xf16>
  %all = swage.attention %q, %kAny, %vAny scale 0.125 : (tensor<3x8x1x64xf16>, tensor<3x2x320x64xf16>, tensor<3x2x320x64xf16>) -> tensor<3x8x1x64xf16>
  // Pages of keys and values beside each other, heads inside of positions, a window, three tokens at the end.
  %keysOf = swage.slice %both axis 1 from 0 size 1 : tensor<11x2x16x4x64xf16> -> tensor<11x1x16x4x64xf16>
  %valuesOf = swage.slice %both axis 1 from 1 size 1 : tensor<11x2x16x4x64xf16> -> tensor<11x1x16x4x64xf16>
  %keysAlone = swage.reshape %keysOf : tensor<11x1x16x4x64xf16> -> tensor<11x16x4x64xf16>
  %valuesAlone = swage.reshape %valuesOf : tensor<11x1x16x4x64xf16> -> tensor<11x16x4x64xf16>
  %keyPool = swage.permute %keysAlone [0, 2, 1, 3] : tensor<11x16x4x64xf16> -> tensor<11x4x16x64xf16>
  %valuePool = swage.permute %valuesAlone [0, 2, 1, 3] : tensor<11x16x4x64xf16> -> tensor<11x4x16x64xf16>
  %kHeads = swage.pages %keyPool, %table : (tensor<11x4x16x64xf16>, tensor<3x20xi32>) -> tensor<3x4x320x64xf16>
  %vHeads = swage.pages %valuePool, %table : (tensor<11x4x16x64xf16>, tensor<3x20xi32>) -> tensor<3x4x320x64xf16>
  %window, %sums = swage.attention %drafts, %kHeads, %vHeads scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %first = arith.constant 11 : i32
    %offset = tensor.extract %offsets[%b] : tensor<3xi32>
    %token = arith.index_cast %i : index to i32
    %key = arith.index_cast %j : index to i32
    %here = arith.addi %offset, %token : i32
    %begin = arith.addi %here, %first : i32
    %isIn = arith.cmpi sge, %key, %begin : i32
    swage.yield %isIn : i1
  } : (tensor<3x4x3x64xf16>, tensor<3x4x320x64xf16>, tensor<3x4x320x64xf16>) -> (tensor<3x4x3x64xf16>, tensor<3x4x3xf32>)
  return %byLength, %all, %window, %sums : tensor<3x8x1x64xf16>, tensor<3x8x1x64xf16>, tensor<3x4x3x64xf16>, tensor<3x4x3xf32>
}

// The numbers of sequences, of pages and of entries are known when it runs.
// OPEN: accepted
func.func @open(%q: tensor<?x8x1x96xbf16>, %pool: tensor<?x2x32x96xbf16>, %values: tensor<?x2x32x96xbf16>, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>) -> tensor<?x8x1x96xbf16> {
  %k = swage.pages %pool, %table : (tensor<?x2x32x96xbf16>, tensor<?x?xi32>) -> tensor<?x2x?x96xbf16>
  %v = swage.pages %values, %table : (tensor<?x2x32x96xbf16>, tensor<?x?xi32>) -> tensor<?x2x?x96xbf16>
  %o = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c100 = arith.constant 100 : i32
    %read = tensor.extract %lengths[%b] : tensor<?xi32>
    %length = arith.muli %read, %c100 : i32
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x96xbf16>, tensor<?x2x?x96xbf16>, tensor<?x2x?x96xbf16>) -> tensor<?x8x1x96xbf16>
  return %o : tensor<?x8x1x96xbf16>
}

// One sequence, without a dimension for it.
func.func @single(%q: tensor<4x2x128xbf16>, %pool: tensor<5x4x64x128xbf16>, %values: tensor<5x4x64x128xbf16>, %table: tensor<9xi32>) -> tensor<4x2x128xbf16> {
  %k = swage.pages %pool, %table : (tensor<5x4x64x128xbf16>, tensor<9xi32>) -> tensor<4x576x128xbf16>
  %v = swage.pages %values, %table : (tensor<5x4x64x128xbf16>, tensor<9xi32>) -> tensor<4x576x128xbf16>
  %o = swage.attention %q, %k, %v scale 0.1 : (tensor<4x2x128xbf16>, tensor<4x576x128xbf16>, tensor<4x576x128xbf16>) -> tensor<4x2x128xbf16>
  return %o : tensor<4x2x128xbf16>
}

// A chunk of a prompt: the last 40 positions see all that is before them.
func.func @chunk(%q: tensor<1x4x40x64xbf16>, %pool: tensor<7x2x16x64xbf16>, %values: tensor<7x2x16x64xbf16>, %numbers: tensor<1x9xi32>) -> tensor<1x4x40x64xbf16> {
  %at = swage.iota dim 1 : tensor<1x9xi32>
  %three = arith.constant dense<3> : tensor<1x9xi32>
  %seven = arith.constant dense<7> : tensor<1x9xi32>
  %steps = arith.muli %at, %three : tensor<1x9xi32>
  %moved = arith.addi %steps, %numbers : tensor<1x9xi32>
  %table = arith.remui %moved, %seven : tensor<1x9xi32>
  %k = swage.pages %pool, %table : (tensor<7x2x16x64xbf16>, tensor<1x9xi32>) -> tensor<1x2x144x64xbf16>
  %v = swage.pages %values, %table : (tensor<7x2x16x64xbf16>, tensor<1x9xi32>) -> tensor<1x2x144x64xbf16>
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %before = arith.constant 104 : index
    %last = arith.addi %i, %before : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<1x4x40x64xbf16>, tensor<1x2x144x64xbf16>, tensor<1x2x144x64xbf16>) -> tensor<1x4x40x64xbf16>
  return %o : tensor<1x4x40x64xbf16>
}

// Blocks that walk whole sequences, and look at the table again and again.
func.func @walk(%q: tensor<70x4x1x16xf16>, %pool: tensor<40x2x24x16xf16>, %values: tensor<40x2x24x16xf16>, %numbers: tensor<70x150xi32>) -> tensor<70x4x1x16xf16> {
  %at = swage.iota dim 1 : tensor<70x150xi32>
  %seven = arith.constant dense<7> : tensor<70x150xi32>
  %forty = arith.constant dense<40> : tensor<70x150xi32>
  %steps = arith.muli %at, %seven : tensor<70x150xi32>
  %moved = arith.addi %steps, %numbers : tensor<70x150xi32>
  %table = arith.remui %moved, %forty : tensor<70x150xi32>
  %k = swage.pages %pool, %table : (tensor<40x2x24x16xf16>, tensor<70x150xi32>) -> tensor<70x2x3600x16xf16>
  %v = swage.pages %values, %table : (tensor<40x2x24x16xf16>, tensor<70x150xi32>) -> tensor<70x2x3600x16xf16>
  %o = swage.attention %q, %k, %v scale 0.25 : (tensor<70x4x1x16xf16>, tensor<70x2x3600x16xf16>, tensor<70x2x3600x16xf16>) -> tensor<70x4x1x16xf16>
  return %o : tensor<70x4x1x16xf16>
}

// A table that no kernel makes: of positions, and of one number.
func.func @tables(%q: tensor<2x4x1x64xf16>, %pool: tensor<5x4x48x64xf16>, %values: tensor<5x4x48x64xf16>) -> (tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>) {
  %table = swage.iota dim 1 : tensor<2x5xi32>
  %k = swage.pages %pool, %table : (tensor<5x4x48x64xf16>, tensor<2x5xi32>) -> tensor<2x4x240x64xf16>
  %v = swage.pages %values, %table : (tensor<5x4x48x64xf16>, tensor<2x5xi32>) -> tensor<2x4x240x64xf16>
  %o = swage.attention %q, %k, %v scale 0.125 : (tensor<2x4x1x64xf16>, tensor<2x4x240x64xf16>, tensor<2x4x240x64xf16>) -> tensor<2x4x1x64xf16>
  %third = arith.constant dense<3> : tensor<2x5xi32>
  %kThird = swage.pages %pool, %third : (tensor<5x4x48x64xf16>, tensor<2x5xi32>) -> tensor<2x4x240x64xf16>
  %vThird = swage.pages %values, %third : (tensor<5x4x48x64xf16>, tensor<2x5xi32>) -> tensor<2x4x240x64xf16>
  %same = swage.attention %q, %kThird, %vThird scale 0.125 : (tensor<2x4x1x64xf16>, tensor<2x4x240x64xf16>, tensor<2x4x240x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %same : tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>
}
