// What is made of attention's result, element by element, is a phase of its kernel.
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline 2>/dev/null | FileCheck %s
// RUN: swage-opt %s -split-input-file --swage-fuse 2>&1 | FileCheck %s --check-prefix=REMARK

// A gate and a type of 16 bits: the copy engine stores what comes back. Pairs are read where they lie in step.
// CHECK-LABEL: func.func @gate
// CHECK-NEXT: %[[O:.*]] = swage.launch @attention_{{[0-9a-f]*}} (%arg0, %arg1)
// CHECK-NEXT: return %[[O]]
// CHECK: holds_query = true
// CHECK-SAME: #swage.tile<output = true
// CHECK: swage.phase epilogue loads [3] stores [] access [0]
// CHECK-NEXT: ^bb0(%[[ELEMENT:.*]]: f32, %[[GATE:.*]]: f32):
// CHECK-NEXT: %[[X:.*]] = arith.mulf %[[ELEMENT]], %[[GATE]] : f32
// CHECK-NEXT: swage.yield %[[X]] : f32
func.func @gate(%q: tensor<4x130x128xbf16>, %gate: tensor<130x4x128xbf16>) -> tensor<130x4x128xf16> {
  %o = swage.attention %q, %q, %q : (tensor<4x130x128xbf16>, tensor<4x130x128xbf16>, tensor<4x130x128xbf16>) -> tensor<4x130x128xf32>
  %p = swage.permute %o [1, 0, 2] : tensor<4x130x128xf32> -> tensor<130x4x128xf32>
  %g = arith.extf %gate : tensor<130x4x128xbf16> to tensor<130x4x128xf32>
  %x = arith.mulf %p, %g : tensor<130x4x128xf32>
  %y = arith.truncf %x : tensor<130x4x128xf32> to tensor<130x4x128xf16>
  return %y : tensor<130x4x128xf16>
}

// -----

// Of 8 bits it is stored by those who compute it, in pairs; rows that begin at odd elements one by one.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: #swage.tile<output = true
// CHECK: swage.phase epilogue loads [3] stores [0] access [2, 0]
func.func @narrow(%q: tensor<4x130x64xbf16>, %x: tensor<4x130x65xf32>) -> tensor<4x130x64xi8> {
  %o = swage.attention %q, %q, %q : (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) -> tensor<4x130x64xf32>
  %s = swage.slice %x axis 2 from 1 size 64 : tensor<4x130x65xf32> -> tensor<4x130x64xf32>
  %z = arith.mulf %o, %s : tensor<4x130x64xf32>
  %i = arith.fptosi %z : tensor<4x130x64xf32> to tensor<4x130x64xi8>
  return %i : tensor<4x130x64xi8>
}

// -----

// Sums over what it gives, and a result that lies across it, are kernels of their own.
// REMARK: remark: not fused with swage.attention
// REMARK: remark: not fused with swage.attention: what is made of attention's result is not contiguous along the head dim
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: swage.launch
func.func @apart(%q: tensor<4x130x64xbf16>) -> (tensor<4x130xf32>, tensor<4x64x130xbf16>) {
  %o = swage.attention %q, %q, %q : (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) -> tensor<4x130x64xf32>
  %sum = swage.reduce sum %o dims [2] : tensor<4x130x64xf32> -> tensor<4x130xf32>
  %p = swage.permute %o [0, 2, 1] : tensor<4x130x64xf32> -> tensor<4x64x130xf32>
  %x = arith.truncf %p : tensor<4x64x130xf32> to tensor<4x64x130xbf16>
  return %sum, %x : tensor<4x130xf32>, tensor<4x64x130xbf16>
}
