// REQUIRES: host-compiler
// A row of a causal prefill is what the decode step at its position gives: each is judged against f64, and so is their difference, which is 0.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --seed=3 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --seed=5 | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=KERNELS
// KERNELS-COUNT-1: schedule #swage.attention_schedule
// KERNELS-COUNT-4: schedule #swage.decode_schedule
// CHECK-COUNT-9: accepted
func.func @main(%q: tensor<2x4x300x64xbf16>, %k: tensor<2x2x300x64xbf16>, %v: tensor<2x2x300x64xbf16>) -> (tensor<2x4x300x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>) {
  %rows = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x300x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x4x300x64xbf16>
  %q0 = swage.slice %q axis 2 from 0 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %step0 = swage.attention %q0, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %position = arith.constant 0 : index
    %seen = arith.cmpi sle, %j, %position : index
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x4x1x64xbf16>
  %row0 = swage.slice %rows axis 2 from 0 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %rowWide0 = arith.extf %row0 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %stepWide0 = arith.extf %step0 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %apart0 = arith.subf %rowWide0, %stepWide0 : tensor<2x4x1x64xf32>
  %q127 = swage.slice %q axis 2 from 127 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %step127 = swage.attention %q127, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %position = arith.constant 127 : index
    %seen = arith.cmpi sle, %j, %position : index
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x4x1x64xbf16>
  %row127 = swage.slice %rows axis 2 from 127 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %rowWide127 = arith.extf %row127 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %stepWide127 = arith.extf %step127 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %apart127 = arith.subf %rowWide127, %stepWide127 : tensor<2x4x1x64xf32>
  %q128 = swage.slice %q axis 2 from 128 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %step128 = swage.attention %q128, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %position = arith.constant 128 : index
    %seen = arith.cmpi sle, %j, %position : index
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x4x1x64xbf16>
  %row128 = swage.slice %rows axis 2 from 128 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %rowWide128 = arith.extf %row128 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %stepWide128 = arith.extf %step128 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %apart128 = arith.subf %rowWide128, %stepWide128 : tensor<2x4x1x64xf32>
  %q299 = swage.slice %q axis 2 from 299 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %step299 = swage.attention %q299, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %position = arith.constant 299 : index
    %seen = arith.cmpi sle, %j, %position : index
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x4x1x64xbf16>
  %row299 = swage.slice %rows axis 2 from 299 size 1 : tensor<2x4x300x64xbf16> -> tensor<2x4x1x64xbf16>
  %rowWide299 = arith.extf %row299 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %stepWide299 = arith.extf %step299 : tensor<2x4x1x64xbf16> to tensor<2x4x1x64xf32>
  %apart299 = arith.subf %rowWide299, %stepWide299 : tensor<2x4x1x64xf32>
  return %rows, %step0, %step127, %step128, %step299, %apart0, %apart127, %apart128, %apart299 : tensor<2x4x300x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xbf16>, tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>
}
