// REQUIRES: host-compiler
// Head dims beyond those of a warp, by teams of two warps and of four; and values that are the first columns of keys, as in latent attention: in pages, behind
// lengths and windows, for more rows than are computed at once, of short head dims as well.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=random,order=random,seed=3 --check --inputs=exact --seed=4 | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,async=late --check --seed=7 | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=nasty | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --device=sim --arch=sm_80 --sim=check,order=random,seed=5 --check | FileCheck %s
// RUN: swage-run %examples/latent.mlir --device=sim --check | FileCheck %s --check-prefix=EXAMPLE
// EXAMPLE: accepted
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=KERNELS
// KERNELS-LABEL: func.func @main
// KERNELS-COUNT-6: swage.launch @attention_
// KERNELS-COUNT-6: schedule #swage.decode_schedule
// CHECK-COUNT-7: accepted
func.func @main(%q: tensor<2x24x2x576xbf16>, %latents: tensor<2x1x333x576xbf16>, %lengths: tensor<2xi32>, %pool: tensor<7x1x16x576xbf16>, %some: tensor<2x5xi32>,
                %tokens: tensor<2x3x3x352xbf16>, %k: tensor<2x200x3x352xbf16>, %v: tensor<2x3x200x416xbf16>, %q4: tensor<1x4x1x448xf16>, %k4: tensor<1x2x77x448xf16>, %v4: tensor<1x2x77x320xf16>,
                %short: tensor<2x20x1x96xbf16>, %shared: tensor<2x2x150x96xbf16>)
    -> (tensor<2x24x2x512xbf16>, tensor<2x24x2x512xbf16>, tensor<2x24x2xf32>, tensor<2x24x2x512xbf16>, tensor<2x3x3x416xbf16>, tensor<1x4x1x320xf16>, tensor<2x20x1x64xbf16>) {
  %values = swage.slice %latents axis 3 from 0 size 512 : tensor<2x1x333x576xbf16> -> tensor<2x1x333x512xbf16>
  %whole = swage.attention %q, %latents, %values scale 0.05 batch_invariant : (tensor<2x24x2x576xbf16>, tensor<2x1x333x576xbf16>, tensor<2x1x333x512xbf16>) -> tensor<2x24x2x512xbf16>
  // Lengths around 150, some of 0 perhaps, and keys from the 20th on.
  %part, %sums = swage.attention %q, %latents, %values scale 0.05 mask {
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
  } : (tensor<2x24x2x576xbf16>, tensor<2x1x333x576xbf16>, tensor<2x1x333x512xbf16>) -> (tensor<2x24x2x512xbf16>, tensor<2x24x2xf32>)
  // Some pages are there twice, some of the table are none.
  %pages = swage.pages %pool, %some : (tensor<7x1x16x576xbf16>, tensor<2x5xi32>) -> tensor<2x1x80x576xbf16>
  %pageValues = swage.slice %pages axis 3 from 0 size 512 : tensor<2x1x80x576xbf16> -> tensor<2x1x80x512xbf16>
  %paged = swage.attention %q, %pages, %pageValues scale 0.05 : (tensor<2x24x2x576xbf16>, tensor<2x1x80x576xbf16>, tensor<2x1x80x512xbf16>) -> tensor<2x24x2x512xbf16>
  // A team of two, three tokens, heads inside of positions.
  %heads = swage.permute %k [0, 2, 1, 3] : tensor<2x200x3x352xbf16> -> tensor<2x3x200x352xbf16>
  %two = swage.attention %tokens, %heads, %v scale 0.05 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c190 = arith.constant 190 : index
    %last = arith.addi %i, %c190 : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x3x3x352xbf16>, tensor<2x3x200x352xbf16>, tensor<2x3x200x416xbf16>) -> tensor<2x3x3x416xbf16>
  %four = swage.attention %q4, %k4, %v4 scale 0.05 : (tensor<1x4x1x448xf16>, tensor<1x2x77x448xf16>, tensor<1x2x77x320xf16>) -> tensor<1x4x1x320xf16>
  %first = swage.slice %shared axis 3 from 0 size 64 : tensor<2x2x150x96xbf16> -> tensor<2x2x150x64xbf16>
  %alone = swage.attention %short, %shared, %first scale 0.1 : (tensor<2x20x1x96xbf16>, tensor<2x2x150x96xbf16>, tensor<2x2x150x64xbf16>) -> tensor<2x20x1x64xbf16>
  return %whole, %part, %sums, %paged, %two, %four, %alone : tensor<2x24x2x512xbf16>, tensor<2x24x2x512xbf16>, tensor<2x24x2xf32>, tensor<2x24x2x512xbf16>, tensor<2x3x3x416xbf16>, tensor<1x4x1x320xf16>, tensor<2x20x1x64xbf16>
}
