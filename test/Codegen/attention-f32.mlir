// Attention of f32, which one template computes on every GPU, for many queries and few.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// An odd number of steps of matrix instructions, and the longest heads.
// RUN: sed 's/x128xf32/x72xf32/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/x128xf32/x256xf32/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// REPORT: registers, 0 bytes spilled, 0 bytes of stack

// CHECK: #include "swage/attention_portable.cuh"
// CHECK: enum : int { kAtoms = 1 };
// CHECK: enum : int { kKeys = 32 };
// CHECK: using Element = float;
// CHECK: enum : int { kHeadDim = 128 };
// CHECK: struct Queries : swage::Input<float, swage::Access::Vector, swage::Traffic::Reused> {
// Registers are not saved, by spilling, for more blocks than shared memory holds.
// CHECK: __launch_bounds__(Spec::kThreads, 1)
// CHECK: swage::attentionPortable<Spec>
func.func @main(%q: tensor<?x4x?x128xf32>, %k: tensor<?x2x?x128xf32>, %v: tensor<?x2x?x128xf32>) -> (tensor<?x4x?x128xf32>, tensor<?x4x?xf32>) {
  %o, %lse = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<?x4x?x128xf32>, tensor<?x2x?x128xf32>, tensor<?x2x?x128xf32>) -> (tensor<?x4x?x128xf32>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x4x?x128xf32>, tensor<?x4x?xf32>
}
