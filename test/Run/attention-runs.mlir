// REQUIRES: host-compiler
// Keys in FasterTransformer's order, [batch, head, D / 8, L, 8], read where they are: ends within a stage, lengths, windows that begin within one, half a step of the
// head dim, teams, more rows than are computed at once, stages of two boxes of 32 keys and of three of 16; and new keys and values added to such a cache in place.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=late --check --seed=7 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check,async=random,order=random,seed=5 --check | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=KERNELS
// KERNELS-LABEL: func.func @main
// KERNELS-COUNT-6: swage.launch @attention_
// KERNELS-NOT: swage.launch
// KERNELS: return
// KERNELS-LABEL: func.func @step
// KERNELS-COUNT-2: swage.launch @append_
// KERNELS-NEXT: swage.launch @attention_
// KERNELS-NOT: swage.launch
// KERNELS: return
// CHECK-COUNT-7: accepted
func.func @main(%q: tensor<2x8x1x64xbf16>, %cache: tensor<2x2x8x333x8xbf16>, %v: tensor<2x2x333x64xbf16>, %lengths: tensor<2xi32>,
                %tokens: tensor<1x24x2x72xbf16>, %cache72: tensor<1x1x9x200x8xbf16>, %v72: tensor<1x1x200x40xbf16>, %long: tensor<1x4x1x384xbf16>, %cacheLong: tensor<1x2x48x77x8xbf16>, %vLong: tensor<1x2x77x384xbf16>,
                %q32: tensor<1x4x1x32xf16>, %cache32: tensor<1x2x4x611x8xf16>, %v32: tensor<1x2x611x32xf16>, %q16: tensor<1x3x2x16xf16>, %cache16: tensor<1x1x2x430x8xf16>, %v16: tensor<1x1x430x64xf16>)
    -> (tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<1x24x2x40xbf16>, tensor<1x24x2xf32>, tensor<1x4x1x384xbf16>, tensor<1x4x1x32xf16>, tensor<1x3x2x64xf16>) {
  %turned = swage.permute %cache [0, 1, 3, 2, 4] : tensor<2x2x8x333x8xbf16> -> tensor<2x2x333x8x8xbf16>
  %k = swage.reshape %turned : tensor<2x2x333x8x8xbf16> -> tensor<2x2x333x64xbf16>
  %whole = swage.attention %q, %k, %v scale 0.125 batch_invariant : (tensor<2x8x1x64xbf16>, tensor<2x2x333x64xbf16>, tensor<2x2x333x64xbf16>) -> tensor<2x8x1x64xbf16>
  // Lengths around 150, some of 0 perhaps, and keys from the 20th on.
  %part = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c75 = arith.constant 75 : i32
    %c150 = arith.constant 150 : i32
    %read = tensor.extract %lengths[%b] : tensor<2xi32>
    %far = arith.muli %read, %c75 : i32
    %length = arith.addi %far, %c150 : i32
    %key = arith.index_cast %j : index to i32
    %before = arith.cmpi slt, %key, %length : i32
    %c20 = arith.constant 20 : index
    %behind = arith.cmpi sge, %j, %c20 : index
    %seen = arith.andi %before, %behind : i1
    swage.yield %seen : i1
  } : (tensor<2x8x1x64xbf16>, tensor<2x2x333x64xbf16>, tensor<2x2x333x64xbf16>) -> tensor<2x8x1x64xbf16>
  %turned72 = swage.permute %cache72 [0, 1, 3, 2, 4] : tensor<1x1x9x200x8xbf16> -> tensor<1x1x200x9x8xbf16>
  %k72 = swage.reshape %turned72 : tensor<1x1x200x9x8xbf16> -> tensor<1x1x200x72xbf16>
  %drafts, %sums = swage.attention %tokens, %k72, %v72 scale 0.1 : (tensor<1x24x2x72xbf16>, tensor<1x1x200x72xbf16>, tensor<1x1x200x40xbf16>) -> (tensor<1x24x2x40xbf16>, tensor<1x24x2xf32>)
  %turnedLong = swage.permute %cacheLong [0, 1, 3, 2, 4] : tensor<1x2x48x77x8xbf16> -> tensor<1x2x77x48x8xbf16>
  %kLong = swage.reshape %turnedLong : tensor<1x2x77x48x8xbf16> -> tensor<1x2x77x384xbf16>
  %team = swage.attention %long, %kLong, %vLong scale 0.05 : (tensor<1x4x1x384xbf16>, tensor<1x2x77x384xbf16>, tensor<1x2x77x384xbf16>) -> tensor<1x4x1x384xbf16>
  %turned32 = swage.permute %cache32 [0, 1, 3, 2, 4] : tensor<1x2x4x611x8xf16> -> tensor<1x2x611x4x8xf16>
  %k32 = swage.reshape %turned32 : tensor<1x2x611x4x8xf16> -> tensor<1x2x611x32xf16>
  %two = swage.attention %q32, %k32, %v32 scale 0.2 : (tensor<1x4x1x32xf16>, tensor<1x2x611x32xf16>, tensor<1x2x611x32xf16>) -> tensor<1x4x1x32xf16>
  %turned16 = swage.permute %cache16 [0, 1, 3, 2, 4] : tensor<1x1x2x430x8xf16> -> tensor<1x1x430x2x8xf16>
  %k16 = swage.reshape %turned16 : tensor<1x1x430x2x8xf16> -> tensor<1x1x430x16xf16>
  %three = swage.attention %q16, %k16, %v16 scale 0.25 : (tensor<1x3x2x16xf16>, tensor<1x1x430x16xf16>, tensor<1x1x430x64xf16>) -> tensor<1x3x2x64xf16>
  return %whole, %part, %drafts, %sums, %team, %two, %three : tensor<2x8x1x64xbf16>, tensor<2x8x1x64xbf16>, tensor<1x24x2x40xbf16>, tensor<1x24x2xf32>, tensor<1x4x1x384xbf16>, tensor<1x4x1x32xf16>, tensor<1x3x2x64xf16>
}

// One token's key and value go to the position that each sequence has come to, then it is read with those before it.
// RUN: swage-run %s --entry=step --device=sim --sim=check --check --steps=3 | FileCheck %s --check-prefix=STEP
// STEP-COUNT-3: accepted
func.func @step(%q: tensor<2x4x1x64xbf16>, %cache: tensor<2x2x8x40x8xbf16>, %vCache: tensor<2x2x40x64xbf16>, %new: tensor<2x2x1x64xbf16>, %bias: tensor<64xbf16>, %newV: tensor<2x2x1x64xbf16>, %at: tensor<2xi32>)
    -> (tensor<2x4x1x64xbf16>, tensor<2x2x8x40x8xbf16> {swage.alias = 1 : i64}, tensor<2x2x40x64xbf16> {swage.alias = 2 : i64}) {
  %biases = swage.broadcast %bias dims [3] : tensor<64xbf16> -> tensor<2x2x1x64xbf16>
  %key = arith.addf %new, %biases : tensor<2x2x1x64xbf16>
  %runs = swage.reshape %key : tensor<2x2x1x64xbf16> -> tensor<2x2x1x8x8xbf16>
  %rows = swage.permute %runs [0, 1, 3, 2, 4] : tensor<2x2x1x8x8xbf16> -> tensor<2x2x8x1x8xbf16>
  %keys = swage.append %cache, %rows at %at axis 3 : (tensor<2x2x8x40x8xbf16>, tensor<2x2x8x1x8xbf16>, tensor<2xi32>) -> tensor<2x2x8x40x8xbf16>
  %values = swage.append %vCache, %newV at %at axis 2 : (tensor<2x2x40x64xbf16>, tensor<2x2x1x64xbf16>, tensor<2xi32>) -> tensor<2x2x40x64xbf16>
  %turned = swage.permute %keys [0, 1, 3, 2, 4] : tensor<2x2x8x40x8xbf16> -> tensor<2x2x40x8x8xbf16>
  %k = swage.reshape %turned : tensor<2x2x40x8x8xbf16> -> tensor<2x2x40x64xbf16>
  %o = swage.attention %q, %k, %values scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %last = tensor.extract %at[%b] : tensor<2xi32>
    %key32 = arith.index_cast %j : index to i32
    %seen = arith.cmpi sle, %key32, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xbf16>, tensor<2x2x40x64xbf16>, tensor<2x2x40x64xbf16>) -> tensor<2x4x1x64xbf16>
  return %o, %keys, %values : tensor<2x4x1x64xbf16>, tensor<2x2x8x40x8xbf16>, tensor<2x2x40x64xbf16>
}
