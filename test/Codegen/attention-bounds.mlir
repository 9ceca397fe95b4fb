// REQUIRES: nvrtc
// Three groups that compute have 160 registers a thread: enough for bounds as well, if a mask makes them for each query.
// RUN: sed 's/xDx/x64x/g; s/OPERAND/bf16/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x80x/g; s/OPERAND/bf16/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x112x/g; s/OPERAND/f8E4M3FN/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x128x/g; s/OPERAND/f8E4M3FN/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x80x/g; s/OPERAND/bf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=GROUPS
// GROUPS-COUNT-2: kGroups = 3
// CHECK-COUNT-2: registers, 0 bytes spilled, 0 bytes of stack
// CHECK-NOT: attention_
func.func @main(%q: tensor<4x16x4000xDxOPERAND>, %k: tensor<4x16x4000xDxOPERAND>, %v: tensor<4x16x4000xDxOPERAND>) -> (tensor<4x16x4000xDxbf16>, tensor<4x16x4000xDxbf16>) {
  %causal = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<4x16x4000xDxOPERAND>, tensor<4x16x4000xDxOPERAND>, tensor<4x16x4000xDxOPERAND>) -> tensor<4x16x4000xDxbf16>
  %window = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %before = arith.cmpi sle, %j, %i : index
    %reach = arith.constant 700 : index
    %far = arith.addi %j, %reach : index
    %near = arith.cmpi sgt, %far, %i : index
    %seen = arith.andi %before, %near : i1
    swage.yield %seen : i1
  } : (tensor<4x16x4000xDxOPERAND>, tensor<4x16x4000xDxOPERAND>, tensor<4x16x4000xDxOPERAND>) -> tensor<4x16x4000xDxbf16>
  return %causal, %window : tensor<4x16x4000xDxbf16>, tensor<4x16x4000xDxbf16>
}
