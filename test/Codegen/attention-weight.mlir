// Functions of weights, whose random bits two lanes make for each other where four keys share a counter. What makes them takes registers, which every template has left.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda --arch=sm_80 | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/128xbf16/64xbf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/128xbf16/64xbf16/g' %s | swage-opt --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/128xbf16/96xbf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/128xbf16/256xf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/128xbf16/128xf32/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// Keys whose number is no multiple of four.
// RUN: sed 's/4096x/4095x/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=UNALIGNED
// RUN: sed 's/4096x/4095x/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report | FileCheck %s --check-prefix=REPORT
// REPORT: registers, 0 bytes spilled, 0 bytes of stack

// HOPPER: #swage.attention_schedule<groups = 2, keys = 128,
// HOPPER: #include "swage/attention_hopper.cuh"
// CHECK: #include "swage/computed.cuh"
// CHECK: struct [[BITS:Input[0-9]+]] : swage::Random<swage::Access::Vector> {
// CHECK: return d[0] * 67108864 + d[1] * 33554432 + d[2] * 16777216 + d[3] * 4096 + d[5];
// CHECK: using WeightLoads = swage::List<[[BITS]]>;
// CHECK: static __device__ Compute weight(float weight, int [[WORD:input[0-9]+]]) {
// CHECK: const bool [[KEPT:.*]] = static_cast<unsigned>([[WORD]]) >= static_cast<unsigned>(429496730);
// CHECK-NEXT: return [[KEPT]] ? weight : 0.0f;
// CHECK: static __device__ Compute epilogue(float element) {
// CHECK-NEXT: return element * 1.25f;
// Registers are those that warpgroups ask for, not those that leave room for a second block.
// HOPPER: __launch_bounds__(Spec::kThreads, 1)
// Keys whose bits come from counters of their own: fewer, because the text that makes bits is there for each.
// UNALIGNED: #swage.attention_schedule<groups = 2, keys = 64,
// UNALIGNED: : swage::Random<swage::Access::Gather> {
func.func @main(%q: tensor<2x4x4096x128xbf16>, %k: tensor<2x2x4096x128xbf16>, %state: tensor<2xi64>) -> (tensor<2x4x4096x128xbf16>, tensor<2x4x4096xf32>) {
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x4x4096x4096xi32>
  %o, %lse = swage.attention %q, %k, %k scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %least = arith.constant 429496730 : i32
    %raised = arith.constant 1.25 : f32
    %zero = arith.constant 0.0 : f32
    %word = tensor.extract %bits[%b, %h, %i, %j] : tensor<2x4x4096x4096xi32>
    %kept = arith.cmpi uge, %word, %least : i32
    %f = arith.select %kept, %raised, %zero : f32
    swage.yield %f : f32
  } : (tensor<2x4x4096x128xbf16>, tensor<2x2x4096x128xbf16>, tensor<2x2x4096x128xbf16>) -> (tensor<2x4x4096x128xbf16>, tensor<2x4x4096xf32>)
  return %o, %lse : tensor<2x4x4096x128xbf16>, tensor<2x4x4096xf32>
}
