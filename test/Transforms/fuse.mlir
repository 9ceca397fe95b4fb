// RUN: swage-opt %s -split-input-file --swage-fuse -verify-diagnostics | FileCheck %s

// Producer and consumer share the rows: the sum is stored by the normalisation and used as rounded.
// CHECK-LABEL: func.func @residual_norm
// CHECK:         %[[R:.*]]:2 = swage.launch @[[K:layer_norm_[0-9a-f]+]] (%{{.*}}, %{{.*}}) : (tensor<4x8xf16>, tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>)
// CHECK:         return %[[R]]#0, %[[R]]#1
// CHECK:       swage.kernel @[[K]] symbols 0 extents #{{.*}} reduced [1]
// CHECK:       ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK-NEXT:    %[[T:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK-NEXT:    %[[U:.*]] = arith.extf %[[T]] : f16 to f32
// CHECK-NEXT:    %[[N:.*]]:3 = swage.collective layer_norm %[[U]] eps 1.000000e-05 : f32 -> f32, f32, f32
// CHECK-NEXT:    swage.yield %[[S]], %[[N]]#0
func.func @residual_norm(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>) {
  %s = arith.addf %x, %y : tensor<4x8xf16>
  // expected-remark @+1 {{fused with arith.addf: one iteration space serves both, saves 64 bytes}}
  %n = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  return %s, %n : tensor<4x8xf16>, tensor<4x8xf16>
}

// -----

// A reshape cuts the row in two, and the permute orders the parts: one kernel writes them where they belong.
// CHECK-LABEL: func.func @norm_into_heads
// CHECK:       swage.kernel @layer_norm_{{.*}} reduced [1, 2]
// CHECK-SAME:    access = (d0, d1, d2) -> (d0 * 8 + d1 * 4 + d2)
// CHECK-SAME:    outputs [{{.*}}access = (d0, d1, d2) -> (d0 * 4 + d1 * 16 + d2)
func.func @norm_into_heads(%x: tensor<4x8xf32>) -> tensor<2x4x4xf32> {
  %n = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = swage.reshape %n : tensor<4x8xf32> -> tensor<4x2x4xf32>
  // expected-remark @+1 {{fused with swage.layer_norm}}
  %p = swage.permute %h [1, 0, 2] : tensor<4x2x4xf32> -> tensor<2x4x4xf32>
  return %p : tensor<2x4x4xf32>
}

// -----

// A transposing permute behind a norm would write rows against the grain.
// CHECK-LABEL: func.func @keeps_transpose_apart
// CHECK:         swage.launch @layer_norm_
// CHECK:         swage.launch @transpose_
func.func @keeps_transpose_apart(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %n = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{not fused with swage.layer_norm: a row would be written against the grain}}
  %p = swage.permute %n [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %p : tensor<8x4xf32>
}

// -----

// Two collectives are two kernels.
// CHECK-LABEL: func.func @one_collective
// CHECK-COUNT-2: swage.launch
func.func @one_collective(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{not fused with swage.rms_norm: a kernel has one collective}}
  %p = swage.softmax %n axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}

// -----

// The sum is read by two collectives: it is stored by the first, because taking in the second as well would need two.
// CHECK-LABEL: func.func @shared_producer
// CHECK:         swage.launch @softmax_
// CHECK:         swage.launch @softmax_
// CHECK-NOT:     swage.launch
func.func @shared_producer(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = arith.addf %x, %y : tensor<4x8xf32>
  // expected-remark @+1 {{fused with arith.addf}}
  %n = swage.softmax %a axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %t = math.exp %a : tensor<4x8xf32>
  // expected-remark @+1 {{not fused with arith.addf: a kernel has one collective}}
  %m = swage.softmax %t axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %n, %m : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The reduction lies between the two sums: as one kernel they would have to wait for themselves.
// CHECK-LABEL: func.func @no_cycle
// CHECK:         swage.launch @pointwise_
// CHECK:         swage.launch @reduce_sum_
// CHECK:         swage.launch @pointwise_
func.func @no_cycle(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = arith.addf %x, %y : tensor<4x8xf32>
  // expected-remark @+1 {{not fused with arith.addf: a reduction over outer dimensions has no per-element outputs}}
  %r = swage.reduce sum %a dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %b = swage.broadcast %r dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  // expected-remark @+2 {{not fused with swage.reduce: a reduction over outer dimensions has no per-element outputs}}
  // expected-remark @+1 {{not fused with arith.addf: another kernel lies between them}}
  %s = arith.addf %a, %b : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// Three slices of one product go to three results in one kernel.
// CHECK-LABEL: func.func @split_heads
// CHECK:         %{{.*}}:2 = swage.launch @pointwise_{{[0-9a-f]+}} (%{{.*}}, %{{.*}})
// CHECK-NOT:     swage.launch
func.func @split_heads(%x: tensor<4x16xf32>, %b: tensor<16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c = swage.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %y = arith.addf %x, %c : tensor<4x16xf32>
  %k = swage.slice %y axis 1 from 0 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{runs in one kernel with swage.copy: the same iteration space and a common operand}}
  %v = swage.slice %y axis 1 from 8 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  return %k, %v : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A concatenation behind a permute and a cast is written part by part.
// CHECK-LABEL: func.func @concat_sinks
// CHECK:         swage.launch @{{.*}} : (tensor<4x2x8xf32>, tensor<4x2x8xf32>) -> tensor<2x4x16xf16>
// CHECK-NOT:     swage.launch
// CHECK:       swage.kernel
// CHECK-SAME:    outputs [#swage.view<tensor = 0, {{[^>]*}}>{{.*}}, #swage.view<tensor = 0
func.func @concat_sinks(%a: tensor<4x2x8xf32>, %b: tensor<4x2x8xf32>) -> tensor<2x4x16xf16> {
  %c = swage.concat %a, %b axis 2 : (tensor<4x2x8xf32>, tensor<4x2x8xf32>) -> tensor<4x2x16xf32>
  %p = swage.permute %c [1, 0, 2] : tensor<4x2x16xf32> -> tensor<2x4x16xf32>
  %t = arith.truncf %p : tensor<2x4x16xf32> to tensor<2x4x16xf16>
  return %t : tensor<2x4x16xf16>
}

// -----

// Equal kernels are one symbol.
// CHECK-LABEL: func.func @twice
// CHECK:         swage.launch @[[K:softmax_[0-9a-f]+]]
// CHECK:         swage.launch @[[K]]
// CHECK:       swage.kernel @[[K]]
// CHECK-NOT:   swage.kernel
func.func @twice(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = swage.softmax %x axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %b = swage.softmax %y axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// An argument that is returned, and a value that is returned twice, are copied, both by one kernel.
// CHECK-LABEL: func.func @returned_as_is
// CHECK:         swage.launch @copy_{{[0-9a-f]+}} (%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
func.func @returned_as_is(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-remark @above {{runs in one kernel with swage.copy}}
  return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// One dynamic size of the kernel, taken from the argument that has it.
// CHECK-LABEL: func.func @dynamic_rows
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %c0
// CHECK:         swage.launch @{{.*}}[%[[N]]]
func.func @dynamic_rows(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = arith.addf %x, %y : tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}

// -----

func.func @no_kernel(%x: tensor<4x8xf32>, %i: index) -> tensor<8xf32> {
  // expected-error @+1 {{'tensor.extract_slice' op has no kernel}}
  %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

func.func @table() -> tensor<2xf32> {
  // expected-error @+1 {{'arith.constant' op is no splat; pass such a tensor as an argument}}
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %a : tensor<2xf32>
}

// -----

// One value in two roles is multiplied and then added.
// CHECK-LABEL: func.func @gamma_is_beta
// CHECK:       ^bb0(%{{.*}}: f32, %[[G:.*]]: f32):
// CHECK:         %[[N:.*]]:3 = swage.collective layer_norm
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[N]]#0, %[[G]] : f32
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[P]], %[[G]] : f32
// CHECK-NEXT:    swage.yield %[[S]]
func.func @gamma_is_beta(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = swage.layer_norm %x gamma %g beta %g axis 1 eps 1.0e-5
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
