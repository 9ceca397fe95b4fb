// A sink takes its share of each row's weights and gives nothing: more than one row sees nothing else, and one head has a sink that is none.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=3 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check | FileCheck %s
// RUN: swage-run %s --device=sim --entry=alone --check | FileCheck %s --check-prefix=ALONE
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s --check-prefix=KERNEL
// CHECK-COUNT-5: accepted
// CHECK-NOT: rejected
// KERNEL-LABEL: func.func @main
// KERNEL: swage.phase sink loads
// KERNEL: arith.divf
// KERNEL: swage.phase sink loads
// KERNEL-NEXT: ^bb0(%[[SINK:.*]]: f32):
// KERNEL-NEXT: swage.yield %[[SINK]] : f32
func.func @main(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x201x64xbf16>, %sinks: tensor<4xf32>, %x: tensor<4x70x128xf16>, %narrow: tensor<4xf16>)
    -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>, tensor<4x70x128xf16>, tensor<4x70xf32>, tensor<4x70x128xf16>) {
  // The first 20 queries see no key.
  %o, %sums = swage.attention %q, %k, %k sinks %sinks scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c20 = arith.constant 20 : index
    %behind = arith.addi %j, %c20 : index
    %seen = arith.cmpi sle, %behind, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>, tensor<4xf32>) -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>)
  // Scores that are changed, so that none of their scale is the exponentials'.
  %t, %tsums = swage.attention %x, %x, %x sinks %narrow scale 0.1 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %bounded = math.tanh %s : f32
    swage.yield %bounded : f32
  } : (tensor<4x70x128xf16>, tensor<4x70x128xf16>, tensor<4x70x128xf16>, tensor<4xf16>) -> (tensor<4x70x128xf16>, tensor<4x70xf32>)
  // A sink of -inf is none.
  %none = arith.constant dense<0xFF800000> : tensor<4xf32>
  %plain = swage.attention %x, %x, %x sinks %none scale 0.1 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %seen = arith.cmpi slt, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<4x70x128xf16>, tensor<4x70x128xf16>, tensor<4x70x128xf16>, tensor<4xf32>) -> tensor<4x70x128xf16>
  return %o, %sums, %t, %tsums, %plain : tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>, tensor<4x70x128xf16>, tensor<4x70xf32>, tensor<4x70x128xf16>
}

// Far above all scores, and far below: the result vanishes, or is what it was.
// ALONE-COUNT-2: accepted
func.func @alone(%x: tensor<4x70x64xf16>) -> (tensor<4x70x64xf16>, tensor<4x70x64xf16>) {
  %high = arith.constant dense<1.0e+4> : tensor<4xf32>
  %low = arith.constant dense<-1.0e+4> : tensor<4xf32>
  %a = swage.attention %x, %x, %x sinks %high : (tensor<4x70x64xf16>, tensor<4x70x64xf16>, tensor<4x70x64xf16>, tensor<4xf32>) -> tensor<4x70x64xf16>
  %b = swage.attention %x, %x, %x sinks %low : (tensor<4x70x64xf16>, tensor<4x70x64xf16>, tensor<4x70x64xf16>, tensor<4xf32>) -> tensor<4x70x64xf16>
  return %a, %b : tensor<4x70x64xf16>, tensor<4x70x64xf16>
}
