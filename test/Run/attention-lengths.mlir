// REQUIRES: host-compiler
// Few queries whose sequences have lengths in memory: all the same, nearly so (the ends of units are then filled up, so that blocks have whole ones), not at all, and none.
// The kernels are the same for all of them and compiled once, since their text names the same file and says nothing of lengths.
// RUN: sed 's/1, 320/320, 320/' %s > %t.mlir && swage-run %t.mlir --device=sim --sim=check --check | FileCheck %s
// RUN: sed 's/1, 320/306, 320/' %s > %t.mlir && swage-run %t.mlir --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: sed 's/1, 320/290, 320/' %s > %t.mlir && swage-run %t.mlir --device=sim --sim=check --check --seed=3 | FileCheck %s
// RUN: sed 's/1, 320/17, 17/' %s > %t.mlir && swage-run %t.mlir --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: sed 's/1, 320/0, 0/' %s > %t.mlir && swage-run %t.mlir --device=sim --sim=check --check | FileCheck %s
// RUN: sed 's/1, 320/0, 1/' %s > %t.mlir && swage-run %t.mlir --device=sim --sim=check --check | FileCheck %s
// RUN: sed 's/1, 320/1, 100/' %s > %t.mlir && swage-run %t.mlir --device=sim --check --inputs=nasty | FileCheck %s
// RUN: cp %s %t.mlir && swage-run %t.mlir --device=sim --sim=check --check | FileCheck %s
// CHECK-COUNT-3: accepted
// CHECK-NOT: rejected
func.func @main(%q: tensor<20x8x1x32xbf16>, %k: tensor<20x8x320x32xbf16>, %v: tensor<20x8x320x32xbf16>, %lengths: tensor<20xi32> {swage.range = array<i64: 1, 320>},
                %few: tensor<3x4x1x64xbf16>, %pool: tensor<64x2x16x64xbf16>, %values: tensor<64x2x16x64xbf16>, %table: tensor<3x20xi32> {swage.range = array<i64: 0, 63>},
                %others: tensor<3xi32> {swage.range = array<i64: 1, 320>}, %starts: tensor<20xi32> {swage.range = array<i64: 0, 30>})
    -> (tensor<20x8x1x32xbf16>, tensor<3x4x1x64xbf16>, tensor<20x8x1x32xbf16>) {
  // More units than blocks.
  %many = swage.attention %q, %k, %v scale 0.2 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<20xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<20x8x1x32xbf16>, tensor<20x8x320x32xbf16>, tensor<20x8x320x32xbf16>) -> tensor<20x8x1x32xbf16>
  // Several blocks for one, in pages.
  %keys = swage.pages %pool, %table : (tensor<64x2x16x64xbf16>, tensor<3x20xi32>) -> tensor<3x2x320x64xbf16>
  %sums = swage.pages %values, %table : (tensor<64x2x16x64xbf16>, tensor<3x20xi32>) -> tensor<3x2x320x64xbf16>
  %shared = swage.attention %few, %keys, %sums scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %others[%b] : tensor<3xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<3x4x1x64xbf16>, tensor<3x2x320x64xbf16>, tensor<3x2x320x64xbf16>) -> tensor<3x4x1x64xbf16>
  // Windows that begin anywhere.
  %window = swage.attention %q, %k, %v scale 0.2 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %start = tensor.extract %starts[%b] : tensor<20xi32>
    %length = tensor.extract %lengths[%b] : tensor<20xi32>
    %end = arith.addi %start, %length : i32
    %at = arith.index_cast %j : index to i32
    %after = arith.cmpi sge, %at, %start : i32
    %before = arith.cmpi slt, %at, %end : i32
    %seen = arith.andi %after, %before : i1
    swage.yield %seen : i1
  } : (tensor<20x8x1x32xbf16>, tensor<20x8x320x32xbf16>, tensor<20x8x320x32xbf16>) -> tensor<20x8x1x32xbf16>
  return %many, %shared, %window : tensor<20x8x1x32xbf16>, tensor<3x4x1x64xbf16>, tensor<20x8x1x32xbf16>
}
