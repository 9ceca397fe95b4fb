// REQUIRES: host-compiler
// Attention of f32 by 11 bits of each factor, whose bounds are wider by that: masks, heads that share keys, values of their own head dim, scores
// that are changed, one query, nan and infinity; by every kind of GPU.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=CUDA
// RUN: swage-run %s --device=sim --check | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --sim=check,async=random,order=random,seed=6 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_86 --check --inputs=exact | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=nasty | FileCheck %s --check-prefix=NASTY
// CUDA-COUNT-4: enum : bool { kTf32 = true };
// CHECK-COUNT-5: accepted
// CHECK-NOT: {{rejected|REJECTED}}
// NASTY-NOT: {{rejected|REJECTED}}
func.func @main(%q: tensor<2x4x70x64xf32>, %k: tensor<2x2x99x64xf32>, %v: tensor<2x2x99x40xf32>, %one: tensor<2x4x1x128xf32>, %cache: tensor<2x2x50x128xf32>,
                %long: tensor<1x1x40x256xf32>, %slopes: tensor<4xf32>)
    -> (tensor<2x4x70x40xf32>, tensor<2x4x70xf32>, tensor<2x4x1x128xf32>, tensor<1x1x40x256xf32>, tensor<2x4x70x40xf32>) {
  %causal, %lse = swage.attention %q, %k, %v scale 0.125 tf32 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x70x64xf32>, tensor<2x2x99x64xf32>, tensor<2x2x99x40xf32>) -> (tensor<2x4x70x40xf32>, tensor<2x4x70xf32>)
  %step = swage.attention %one, %cache, %cache scale 0.0883883476 tf32
      : (tensor<2x4x1x128xf32>, tensor<2x2x50x128xf32>, tensor<2x2x50x128xf32>) -> tensor<2x4x1x128xf32>
  %deep = swage.attention %long, %long, %long scale 0.0625 tf32
      : (tensor<1x1x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1x1x40x256xf32>) -> tensor<1x1x40x256xf32>
  %biased = swage.attention %q, %k, %v scale 0.125 tf32 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %key = arith.index_cast %j : index to i32
    %far = arith.sitofp %key : i32 to f32
    %added = arith.mulf %slope, %far : f32
    %score = arith.addf %s, %added : f32
    swage.yield %score : f32
  } : (tensor<2x4x70x64xf32>, tensor<2x2x99x64xf32>, tensor<2x2x99x40xf32>) -> tensor<2x4x70x40xf32>
  return %causal, %lse, %step, %deep, %biased
      : tensor<2x4x70x40xf32>, tensor<2x4x70xf32>, tensor<2x4x1x128xf32>, tensor<1x1x40x256xf32>, tensor<2x4x70x40xf32>
}
