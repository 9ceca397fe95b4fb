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

// A kernel has four collectives at most.
// CHECK-LABEL: func.func @five_collectives
// CHECK:         swage.launch @rms_norm_and_3_more_
// CHECK:         swage.launch @rms_norm_
// CHECK-NOT:     swage.launch
func.func @five_collectives(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %p = swage.softmax %n axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %m = swage.reduce max %p dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %ms = swage.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.divf %p, %ms : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %q = swage.softmax %d axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not fused with swage.rms_norm: a kernel has at most 4 collectives}}
  %r = swage.rms_norm %q axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A norm of what another one is part of is a second collective, with an epsilon of its own; what lies between is stored there.
// CHECK-LABEL: func.func @norm_of_norm
// CHECK:         swage.launch @rms_norm_layer_norm_
// CHECK-NOT:     swage.launch
func.func @norm_of_norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %a = arith.addf %n, %y : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %m = swage.layer_norm %a axis 1 eps 1.0e-6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %a, %m : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A norm that is quantised by what its rows have, and the norm in front of it, which joins last.
// CHECK-LABEL: func.func @norm_of_norm_quantised
// CHECK:         swage.launch @rms_norm_and_2_more_
// CHECK-NOT:     swage.launch
func.func @norm_of_norm_quantised(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %a = arith.addf %n, %y : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %m = swage.rms_norm %a axis 1 eps 1.0e-6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %abs = math.absf %m : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %most = swage.reduce max %abs dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %most_all = swage.broadcast %most dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %scaled = arith.divf %m, %most_all : tensor<4x8xf32>
  return %a, %scaled, %most : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
}

// -----

// In place only where a row stays in registers: it would be read again from where its sum has been written.
// CHECK-LABEL: func.func @norm_of_norm_in_place
// CHECK-COUNT-2: swage.launch
func.func @norm_of_norm_in_place(%x: tensor<4x20000xf32>, %y: tensor<4x20000xf32>) -> (tensor<4x20000xf32> {swage.alias = 1}, tensor<4x20000xf32>) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x20000xf32>) -> tensor<4x20000xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %a = arith.addf %n, %y : tensor<4x20000xf32>
  // expected-remark @+1 {{not fused with swage.rms_norm: a row that may be too long for registers is written over what it is read from}}
  %m = swage.layer_norm %a axis 1 eps 1.0e-6 : (tensor<4x20000xf32>) -> tensor<4x20000xf32>
  return %a, %m : tensor<4x20000xf32>, tensor<4x20000xf32>
}

// -----

// Norms of one tensor that differ in gamma alone are one collective, however many; another epsilon makes a second one.
// CHECK-LABEL: func.func @norms_of_one
// CHECK:         swage.launch @rms_norm_rms_norm_
// CHECK-NOT:     swage.launch
func.func @norms_of_one(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %h: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %b = swage.rms_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %c = swage.rms_norm %x gamma %h axis 1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %d = swage.rms_norm %x axis 1 eps 1.0e-6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The sum is read by two collectives of the same rows.
// CHECK-LABEL: func.func @shared_producer
// CHECK:         swage.launch @softmax_softmax_
// CHECK-NOT:     swage.launch
func.func @shared_producer(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = arith.addf %x, %y : tensor<4x8xf32>
  // expected-remark @+1 {{fused with arith.addf}}
  %n = swage.softmax %a axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %t = math.exp %a : tensor<4x8xf32>
  // expected-remark @+1 {{fused with arith.addf}}
  %m = swage.softmax %t axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %n, %m : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// What comes back to elements along a dimension that is not innermost is one kernel with what it comes from.
// CHECK-LABEL: func.func @across_memory
// CHECK-COUNT-1: swage.launch @reduce_sum_
// CHECK-NOT:     swage.launch
func.func @across_memory(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = arith.addf %x, %y : tensor<4x8xf32>
  // expected-remark @+1 {{fused with arith.addf}}
  %r = swage.reduce sum %a dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %b = swage.broadcast %r dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with arith.addf}}
  %s = arith.addf %a, %b : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// The reduction lies between the softmax and the norm: as one kernel they would have to wait for themselves.
// CHECK-LABEL: func.func @no_cycle
// CHECK:         swage.launch @softmax_
// CHECK:         swage.launch @reduce_sum_
// CHECK:         swage.launch @layer_norm_
func.func @no_cycle(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = swage.softmax %x axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not fused with swage.softmax: }}
  %r = swage.reduce sum %a dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %b = swage.broadcast %r dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %s = arith.addf %a, %b : tensor<4x8xf32>
  // expected-remark @+2 {{not fused with swage.reduce: two collectives go over different rows}}
  // expected-remark @+1 {{not fused with swage.softmax: another kernel lies between them}}
  %n = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %n : tensor<4x8xf32>
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

// A tensor and its transpose are one kernel where vectors fit both.
// CHECK-LABEL: func.func @both_ways
// CHECK:         swage.launch @transpose_{{.*}} -> (tensor<64x32xf16>, tensor<32x64xf16>)
// CHECK-NOT:     swage.launch
func.func @both_ways(%x: tensor<64x32xf16>) -> (tensor<64x32xf16>, tensor<32x64xf16>) {
  %v = math.absf %x : tensor<64x32xf16>
  // expected-remark @+1 {{fused with math.absf: one iteration space serves both, saves 4096 bytes}}
  %y = swage.permute %v [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  return %v, %y : tensor<64x32xf16>, tensor<32x64xf16>
}

// -----

// CHECK-LABEL: func.func @both_ways_odd
// CHECK-COUNT-2: swage.launch
func.func @both_ways_odd(%x: tensor<65x33xf16>) -> (tensor<65x33xf16>, tensor<33x65xf16>) {
  %v = math.absf %x : tensor<65x33xf16>
  // expected-remark @+1 {{not fused with math.absf: outputs are contiguous along different dimensions}}
  %y = swage.permute %v [1, 0] : tensor<65x33xf16> -> tensor<33x65xf16>
  return %v, %y : tensor<65x33xf16>, tensor<33x65xf16>
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

func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'swage.matmul' op has no kernel yet outside of attention}}
  %y = swage.matmul %a, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
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

// -----

// The scale of a row is taken of what the norm made, and each element is divided by it: one kernel with two collectives.
// CHECK-LABEL: func.func @quantised_rows
// CHECK:         swage.launch @rms_norm_abs_max_{{[0-9a-f]+}} (%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf8E4M3FN>)
// CHECK:         %[[N:.*]]:2 = swage.collective rms_norm
// CHECK-NEXT:    %[[M:.*]] = swage.collective abs_max %[[N]]#0 : f32 -> f32
// CHECK-NEXT:    %[[Q:.*]] = arith.divf %[[N]]#0, %[[M]]
// CHECK-NEXT:    swage.yield %[[M]], %[[Q]]
func.func @quantised_rows(%x: tensor<4x8xf32>) -> (tensor<4x8xf8E4M3FN>, tensor<4xf32>) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = math.absf %n : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %m = swage.reduce max %a dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %b = swage.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.divf %n, %b : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.rms_norm}}
  %q = arith.truncf %d : tensor<4x8xf32> to tensor<4x8xf8E4M3FN>
  return %q, %m : tensor<4x8xf8E4M3FN>, tensor<4xf32>
}

// -----

// Groups of a row: the last collective goes over the last of the reduced dimensions alone.
// CHECK-LABEL: func.func @quantised_groups
// CHECK:         swage.launch @layer_norm_abs_max_
// CHECK:       swage.kernel @layer_norm_abs_max_{{.*}} reduced [1, 2]
// CHECK:         swage.collective abs_max %{{.*}} dims [2] : f32 -> f32
func.func @quantised_groups(%x: tensor<4x64xf32>) -> (tensor<4x4x16xf8E5M2>, tensor<4x4xf32>) {
  %n = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %g = swage.reshape %n : tensor<4x64xf32> -> tensor<4x4x16xf32>
  %a = math.absf %g : tensor<4x4x16xf32>
  // expected-remark @+1 {{fused with swage.layer_norm}}
  %m = swage.reduce max %a dims [2] : tensor<4x4x16xf32> -> tensor<4x4xf32>
  %b = swage.broadcast %m dims [0, 1] : tensor<4x4xf32> -> tensor<4x4x16xf32>
  %d = arith.divf %g, %b : tensor<4x4x16xf32>
  // expected-remark @+1 {{fused with swage.layer_norm}}
  %q = arith.truncf %d : tensor<4x4x16xf32> to tensor<4x4x16xf8E5M2>
  return %q, %m : tensor<4x4x16xf8E5M2>, tensor<4x4xf32>
}

// -----

// Groups that no warp takes, and rows of another direction, are kernels of their own.
// CHECK-LABEL: func.func @other_groups
// CHECK-COUNT-3: swage.launch
func.func @other_groups(%x: tensor<4x60xf32>) -> (tensor<4x60xf32>, tensor<4x4xf32>, tensor<60xf32>) {
  %n = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x60xf32>) -> tensor<4x60xf32>
  %g = swage.reshape %n : tensor<4x60xf32> -> tensor<4x4x15xf32>
  %a = math.absf %g : tensor<4x4x15xf32>
  // expected-remark @+1 {{not fused with swage.layer_norm: the groups of a collective are of a power of two from 16 to 512 elements}}
  %m = swage.reduce max %a dims [2] : tensor<4x4x15xf32> -> tensor<4x4xf32>
  %c = math.absf %n : tensor<4x60xf32>
  // expected-remark @+1 {{not fused with swage.layer_norm: an output is not written once by the iteration space}}
  %k = swage.reduce max %c dims [0] : tensor<4x60xf32> -> tensor<60xf32>
  return %n, %m, %k : tensor<4x60xf32>, tensor<4x4xf32>, tensor<60xf32>
}

// -----

// A row result that every element needs stays in the kernel; the elements are still in registers.
// CHECK-LABEL: func.func @centred_rows
// CHECK:         swage.launch @reduce_mean_
// CHECK-NOT:     swage.launch
// CHECK:         %[[M:.*]] = swage.collective mean %[[X:.*]] : f32 -> f32
// CHECK-NEXT:    arith.subf %[[X]], %[[M]]
func.func @centred_rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %b = swage.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.reduce}}
  %c = arith.subf %x, %b : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

// Nothing flows between the two, but they go over the same rows.
// CHECK-LABEL: func.func @one_row_two_collectives
// CHECK:         swage.launch @layer_norm_abs_max_
// CHECK-NOT:     swage.launch
func.func @one_row_two_collectives(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %n = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = math.absf %x : tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.layer_norm: one iteration space serves both, saves 128 bytes}}
  %m = swage.reduce max %a dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %n, %m : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// The bits of a dropout mask, in words of 32: integers beside the floats of the norm, whose element is stored between the two.
// CHECK-LABEL: func.func @mask_bits
// CHECK:         swage.launch @rms_norm_sum_
// CHECK-NOT:     swage.launch
// CHECK:         %[[N:.*]]:2 = swage.collective rms_norm %{{.*}} eps 1.000000e-05 : f32 -> f32, f32
// CHECK:         %[[W:.*]] = arith.shli
// CHECK:         %[[M:.*]] = swage.collective sum %[[W]] dims [2] : i32 -> i32
// CHECK:         swage.yield %[[N]]#0, %[[M]] : f32, i32
func.func @mask_bits(%x: tensor<4x64xf32>, %state: tensor<2xi64>) -> (tensor<4x64xf32>, tensor<4x2xi32>) {
  %limit = arith.constant dense<3865470566> : tensor<4x64xi32>
  %zero = arith.constant dense<0.0> : tensor<4x64xf32>
  %bits = swage.random %state : tensor<2xi64> -> tensor<4x64xi32>
  %keep = arith.cmpi ult, %bits, %limit : tensor<4x64xi32>
  %d = arith.select %keep, %x, %zero : tensor<4x64xi1>, tensor<4x64xf32>
  // expected-remark @+1 {{fused with arith.select}}
  %n = swage.rms_norm %d axis 1 eps 1.0e-5 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %place = swage.iota dim 2 : tensor<4x2x32xi32>
  %kept = arith.extui %keep : tensor<4x64xi1> to tensor<4x64xi32>
  %words = swage.reshape %kept : tensor<4x64xi32> -> tensor<4x2x32xi32>
  %placed = arith.shli %words, %place : tensor<4x2x32xi32>
  // expected-remark @+1 {{fused with arith.select: one iteration space serves both, saves 0 bytes}}
  %mask = swage.reduce sum %placed dims [2] : tensor<4x2x32xi32> -> tensor<4x2xi32>
  return %n, %mask : tensor<4x64xf32>, tensor<4x2xi32>
}

// -----

// Integers of a whole row beside floats, and floats of groups, are kernels of their own.
// CHECK-LABEL: func.func @other_sums
// CHECK-COUNT-3: swage.launch
func.func @other_sums(%x: tensor<4x64xi32>) -> (tensor<4x64xf32>, tensor<4xi32>, tensor<4x2xf32>) {
  %f = arith.sitofp %x : tensor<4x64xi32> to tensor<4x64xf32>
  %n = swage.rms_norm %f axis 1 eps 1.0e-6 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = swage.reduce sum %x dims [1] : tensor<4x64xi32> -> tensor<4xi32>
  %g = swage.reshape %f : tensor<4x64xf32> -> tensor<4x2x32xf32>
  %t = swage.reduce sum %g dims [2] : tensor<4x2x32xf32> -> tensor<4x2xf32>
  return %n, %s, %t : tensor<4x64xf32>, tensor<4xi32>, tensor<4x2xf32>
}

// -----

// What a softmax is rounded to is what is stored of it.
// CHECK-LABEL: func.func @rounded_softmax
// CHECK:         swage.launch @softmax_{{.*}} -> tensor<4x8xbf16>
// CHECK:         swage.launch @softmax_
func.func @rounded_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = swage.softmax %x axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{fused with swage.softmax}}
  %n = arith.truncf %p : tensor<4x8xf32> to tensor<4x8xbf16>
  // expected-remark @+1 {{not fused with swage.softmax: two collectives go over different rows}}
  %y = swage.softmax %n axis 0 : tensor<4x8xbf16> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
