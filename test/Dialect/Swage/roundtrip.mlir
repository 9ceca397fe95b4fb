// RUN: swage-opt %s -verify-roundtrip | FileCheck %s
// RUN: swage-opt %s --mlir-print-op-generic | swage-opt | FileCheck %s

// Every op as it is printed, static and dynamic.

// CHECK-LABEL: func @norms
func.func @norms(%x: tensor<4x2x8xf16>, %g: tensor<8xf16>, %g2: tensor<2x8xf32>, %d: tensor<?x8xf64>) {
  // CHECK: swage.layer_norm %{{.*}} axis 2 eps 1.000000e-05 : (tensor<4x2x8xf16>) -> tensor<4x2x8xf16>
  %0 = swage.layer_norm %x axis 2 eps 1.0e-5 : (tensor<4x2x8xf16>) -> tensor<4x2x8xf16>
  // CHECK: swage.layer_norm %{{.*}} gamma %{{.*}} beta %{{.*}} axis 1 eps 1.000000e-05 : (tensor<4x2x8xf16>, tensor<2x8xf32>, tensor<2x8xf32>) -> (tensor<4x2x8xf16>, tensor<4xf32>, tensor<4xf32>)
  %1, %m1, %r1 = swage.layer_norm %x gamma %g2 beta %g2 axis 1 eps 1.0e-5
      : (tensor<4x2x8xf16>, tensor<2x8xf32>, tensor<2x8xf32>) -> (tensor<4x2x8xf16>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: swage.layer_norm %{{.*}} beta %{{.*}} axis 2 eps 0.000000e+00
  %2 = swage.layer_norm %x beta %g axis 2 eps 0.0 : (tensor<4x2x8xf16>, tensor<8xf16>) -> tensor<4x2x8xf16>
  // CHECK: swage.rms_norm %{{.*}} gamma %{{.*}} axis 2 eps 9.9999999999999995E-7 : (tensor<4x2x8xf16>, tensor<8xf16>) -> (tensor<4x2x8xf16>, tensor<4x2xf32>)
  %3, %r3 = swage.rms_norm %x gamma %g axis 2 eps 1.0e-6 : (tensor<4x2x8xf16>, tensor<8xf16>) -> (tensor<4x2x8xf16>, tensor<4x2xf32>)
  // CHECK: swage.rms_norm %{{.*}} axis 1 eps 1.000000e-05 : (tensor<?x8xf64>) -> (tensor<?x8xf64>, tensor<?xf64>)
  %4, %r4 = swage.rms_norm %d axis 1 eps 1.0e-5 : (tensor<?x8xf64>) -> (tensor<?x8xf64>, tensor<?xf64>)
  // CHECK: swage.rms_norm %{{.*}} axis 0
  %5 = swage.rms_norm %x axis 0 eps 1.0e-5 : (tensor<4x2x8xf16>) -> tensor<4x2x8xf16>
  return
}

// CHECK-LABEL: func @softmax_and_reduce
func.func @softmax_and_reduce(%x: tensor<4x8xbf16>, %d: tensor<?x?xf32>, %i: tensor<4x8xi32>) {
  // CHECK: swage.softmax %{{.*}} axis 0 : tensor<4x8xbf16> -> tensor<4x8xf32>
  %0 = swage.softmax %x axis 0 : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: swage.softmax %{{.*}} axis 1 scale 1.250000e-01 : tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = swage.softmax %d axis 1 scale 0.125 : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK: swage.softmax %{{.*}} mask %{{.*}} axis 1 scale 2.500000e-01 log nan_rows : tensor<4x8xbf16>, tensor<4x8xi1> -> tensor<4x8xbf16>, tensor<4xf32>
  %m = arith.constant dense<true> : tensor<4x8xi1>
  %s, %lse = swage.softmax %x mask %m axis 1 scale 0.25 log nan_rows : tensor<4x8xbf16>, tensor<4x8xi1> -> tensor<4x8xbf16>, tensor<4xf32>
  %n = arith.constant 4 : index
  // CHECK: swage.iota dim 1 sizes(%{{.*}}) : tensor<?x8xi32>
  %j = swage.iota dim 1 sizes(%n) : tensor<?x8xi32>
  %state = arith.constant dense<7> : tensor<2xi64>
  // CHECK: swage.random %{{.*}} sizes(%{{.*}}) : tensor<2xi64> -> tensor<?x8xi32>
  %r = swage.random %state sizes(%n) : tensor<2xi64> -> tensor<?x8xi32>
  // CHECK: swage.reduce sum %{{.*}} dims [0, 1] : tensor<4x8xbf16> -> tensor<f32>
  %2 = swage.reduce sum %x dims [0, 1] : tensor<4x8xbf16> -> tensor<f32>
  // CHECK: swage.reduce mean %{{.*}} dims [0] : tensor<?x?xf32> -> tensor<?xf32>
  %3 = swage.reduce mean %d dims [0] : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK: swage.reduce max %{{.*}} dims [1] : tensor<4x8xi32> -> tensor<4xi32>
  %4 = swage.reduce max %i dims [1] : tensor<4x8xi32> -> tensor<4xi32>
  // CHECK: swage.reduce min
  %5 = swage.reduce min %i dims [1] : tensor<4x8xi32> -> tensor<4xi32>
  return
}

// CHECK-LABEL: func @matmul
func.func @matmul(%a: tensor<2x?x8xbf16>, %b: tensor<2x8x?xbf16>, %c: tensor<6x8xf64>) {
  // CHECK: swage.matmul %{{.*}}, %{{.*}} : (tensor<2x?x8xbf16>, tensor<2x8x?xbf16>) -> tensor<2x?x?xf32>
  %0 = swage.matmul %a, %b : (tensor<2x?x8xbf16>, tensor<2x8x?xbf16>) -> tensor<2x?x?xf32>
  // CHECK: swage.matmul %{{.*}}, %{{.*}} transpose_b {note} : (tensor<6x8xf64>, tensor<6x8xf64>) -> tensor<6x6xf64>
  %1 = swage.matmul %c, %c transpose_b {note} : (tensor<6x8xf64>, tensor<6x8xf64>) -> tensor<6x6xf64>
  return
}

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<2x8x128x64xbf16>, %k: tensor<2x2x96x64xbf16>, %v: tensor<2x2x96x32xbf16>, %d: tensor<?x?x?xf64>,
                     %slopes: tensor<8xf32>, %length: index, %full: tensor<2x4x8xf32>) {
  // CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} sinks %{{.*}} scale 5.000000e-01 : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>, tensor<8xf32>) -> tensor<2x8x128x32xbf16>
  %3 = swage.attention %q, %k, %v sinks %slopes scale 0.5 : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>, tensor<8xf32>) -> tensor<2x8x128x32xbf16>
  // CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>) -> tensor<2x8x128x32xf32>
  %0 = swage.attention %q, %k, %v : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>) -> tensor<2x8x128x32xf32>
  // CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 score {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index):
  // CHECK-NEXT:   %[[B:.*]] = tensor.extract %{{.*}}[%[[H]]] : tensor<8xf32>
  // CHECK-NEXT:   %[[T:.*]] = arith.addf %[[S]], %[[B]] : f32
  // CHECK-NEXT:   swage.yield %[[T]] : f32
  // CHECK-NEXT: } mask {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index):
  // CHECK-NEXT:   %[[M:.*]] = arith.cmpi ult, %[[J]], %{{.*}} : index
  // CHECK-NEXT:   swage.yield %[[M]] : i1
  // CHECK-NEXT: } : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>) -> (tensor<2x8x128x32xbf16>, tensor<2x8x128xf32>)
  %1, %lse = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<8xf32>
    %t = arith.addf %s, %slope : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %m = arith.cmpi ult, %j, %length : index
    swage.yield %m : i1
  } : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>) -> (tensor<2x8x128x32xbf16>, tensor<2x8x128xf32>)
  // CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} mask {
  // CHECK: } weight {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %[[H2:.*]]: index, %{{.*}}: index, %{{.*}}: index):
  // CHECK-NEXT:   %[[F:.*]] = tensor.extract %{{.*}}[%[[H2]]] : tensor<8xf32>
  // CHECK-NEXT:   swage.yield %[[F]] : f32
  // CHECK-NEXT: } : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>) -> tensor<2x8x128x32xbf16>
  %4 = swage.attention %q, %k, %v mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %m = arith.cmpi ult, %j, %length : index
    swage.yield %m : i1
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<8xf32>
    swage.yield %slope : f32
  } : (tensor<2x8x128x64xbf16>, tensor<2x2x96x64xbf16>, tensor<2x2x96x32xbf16>) -> tensor<2x8x128x32xbf16>
  // CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} nan_rows batch_invariant mask {
  // CHECK: } {note} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = swage.attention %d, %d, %d nan_rows batch_invariant mask {
  ^bb0(%h: index, %i: index, %j: index):
    %m = arith.cmpi ule, %j, %i : index
    swage.yield %m : i1
  } {note} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  // CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 tf32 : (tensor<2x4x8xf32>
  %5 = swage.attention %full, %full, %full scale 0.25 tf32 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func @index_ops
func.func @index_ops(%x: tensor<4x8xi8>, %d: tensor<?x?xf32>, %s: tensor<f32>, %m: index, %n: index, %pool: tensor<9x2x16x8xi8>, %table: tensor<3x?xi32>) {
  // CHECK: swage.permute %{{.*}} [1, 0] : tensor<4x8xi8> -> tensor<8x4xi8>
  %0 = swage.permute %x [1, 0] : tensor<4x8xi8> -> tensor<8x4xi8>
  // CHECK: swage.permute %{{.*}} [] : tensor<f32> -> tensor<f32>
  %1 = swage.permute %s [] : tensor<f32> -> tensor<f32>
  // CHECK: swage.reshape %{{.*}} : tensor<4x8xi8> -> tensor<2x2x8xi8>
  %2 = swage.reshape %x : tensor<4x8xi8> -> tensor<2x2x8xi8>
  // CHECK: swage.reshape %{{.*}} : tensor<?x?xf32> -> tensor<?xf32>
  %3 = swage.reshape %d : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK: swage.reshape %{{.*}} : tensor<?x?xf32> -> tensor<?x1x?xf32>
  %ones = swage.reshape %d : tensor<?x?xf32> -> tensor<?x1x?xf32>
  // CHECK: swage.reshape %{{.*}} sizes(%{{.*}}, %{{.*}}) : tensor<?x?xf32> -> tensor<?x4x?xf32>
  %4 = swage.reshape %d sizes(%m, %n) : tensor<?x?xf32> -> tensor<?x4x?xf32>
  // CHECK: swage.broadcast %{{.*}} dims [1, 2] : tensor<4x8xi8> -> tensor<3x4x8xi8>
  %5 = swage.broadcast %x dims [1, 2] : tensor<4x8xi8> -> tensor<3x4x8xi8>
  // CHECK: swage.broadcast %{{.*}} dims [] sizes(%{{.*}}) : tensor<f32> -> tensor<?xf32>
  %6 = swage.broadcast %s dims [] sizes(%n) : tensor<f32> -> tensor<?xf32>
  // CHECK: swage.broadcast %{{.*}} dims [0, 2] : tensor<?x?xf32> -> tensor<?x4x?xf32>
  %7 = swage.broadcast %d dims [0, 2] : tensor<?x?xf32> -> tensor<?x4x?xf32>
  // CHECK: swage.slice %{{.*}} axis 1 from 4 size 4 : tensor<4x8xi8> -> tensor<4x4xi8>
  %8 = swage.slice %x axis 1 from 4 size 4 : tensor<4x8xi8> -> tensor<4x4xi8>
  // CHECK: swage.slice %{{.*}} axis 1 from 1 size 3 step 2 : tensor<4x8xi8> -> tensor<4x3xi8>
  %9 = swage.slice %x axis 1 from 1 size 3 step 2 : tensor<4x8xi8> -> tensor<4x3xi8>
  // CHECK: swage.slice %{{.*}} axis 0 from 4 size 0 : tensor<4x8xi8> -> tensor<0x8xi8>
  %10 = swage.slice %x axis 0 from 4 size 0 : tensor<4x8xi8> -> tensor<0x8xi8>
  // CHECK: swage.concat %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<4x8xi8>, tensor<4x8xi8>, tensor<4x8xi8>) -> tensor<12x8xi8>
  %11 = swage.concat %x, %x, %x axis 0 : (tensor<4x8xi8>, tensor<4x8xi8>, tensor<4x8xi8>) -> tensor<12x8xi8>
  // CHECK: swage.append %{{.*}}, %{{.*}} at %{{.*}} axis 1 : (tensor<4x8xi8>, tensor<4x3xi8>, tensor<4xi32>) -> tensor<4x8xi8>
  %p = swage.iota dim 0 : tensor<4xi32>
  %15 = swage.append %x, %9 at %p axis 1 : (tensor<4x8xi8>, tensor<4x3xi8>, tensor<4xi32>) -> tensor<4x8xi8>
  // CHECK: swage.append %{{.*}}, %{{.*}} at %{{.*}} axis 0 circular : (tensor<4x8xi8>, tensor<0x8xi8>, tensor<i32>) -> tensor<4x8xi8>
  %one = arith.constant dense<1> : tensor<i32>
  %16 = swage.append %x, %10 at %one axis 0 circular : (tensor<4x8xi8>, tensor<0x8xi8>, tensor<i32>) -> tensor<4x8xi8>
  // CHECK: swage.copy %{{.*}} : tensor<4x8xi8>
  %12 = swage.copy %x : tensor<4x8xi8>
  // CHECK: swage.pages %{{.*}}, %{{.*}} : (tensor<9x2x16x8xi8>, tensor<3x?xi32>) -> tensor<3x2x?x8xi8>
  %13 = swage.pages %pool, %table : (tensor<9x2x16x8xi8>, tensor<3x?xi32>) -> tensor<3x2x?x8xi8>
  return
}

// CHECK-LABEL: func @launches
func.func @launches(%x: tensor<?x64xf16>, %n: index) -> (tensor<?x64xf16>, tensor<?xf32>) {
  // CHECK: swage.launch @row[%{{.*}}] (%{{.*}}) : (tensor<?x64xf16>) -> (tensor<?x64xf16>, tensor<?xf32>)
  %y:2 = swage.launch @row[%n] (%x) : (tensor<?x64xf16>) -> (tensor<?x64xf16>, tensor<?xf32>)
  return %y#0, %y#1 : tensor<?x64xf16>, tensor<?xf32>
}

// CHECK-LABEL: swage.kernel @row symbols 1 extents #{{.*}} reduced [1]
// CHECK-SAME: inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
// CHECK-SAME: outputs [#swage.view<{{.*}}>, #swage.view<tensor = 1, element = f32, shape = ()[s0] -> (s0), access = (d0, d1)[s0] -> (d0), align = 16>]
// CHECK-SAME: schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 1, index = 32>
// CHECK: %{{.*}}:2 = swage.collective rms_norm %{{.*}} eps 1.000000e-05 : f32 -> f32, f32
// CHECK: swage.yield %{{.*}}#0, %{{.*}}#1 : f32, f32
swage.kernel @row symbols 1 extents affine_map<()[s0] -> (s0, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = ()[s0] -> (s0), access = (d0, d1)[s0] -> (d0), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8,
                                 vectors_per_thread = 1, index = 32> {
^body(%x: f32):
  %n, %rstd = swage.collective rms_norm %x eps 1.0e-5 : f32 -> f32, f32
  swage.yield %n, %rstd : f32, f32
}

// CHECK-LABEL: swage.kernel @promises symbols 2 multiples [1, 8] limits [0, 1024] extents
swage.kernel @promises symbols 2 multiples [1, 8] limits [0, 1024] extents affine_map<()[s0, s1] -> (s0, s1)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0, s1] -> (s0, s1), access = (d0, d1)[s0, s1] -> (d0 * s1 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0, s1] -> (s0, s1), access = (d0, d1)[s0, s1] -> (d0 * s1 + d1), align = 16>] {
^body(%x: f32):
  swage.yield %x : f32
}

// CHECK-LABEL: func private @schedules
// CHECK-SAME: #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 2, tail = false, index = 64>
// CHECK-SAME: #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 32, vector_in = 8, vector_out = 4, index = 32>
// CHECK-SAME: #swage.reduce_schedule<lanes = 32, row_groups = 8, vector = 8, unroll = 4, index = 32>
func.func private @schedules() attributes {
  a = #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 2, tail = false, index = 64>,
  b = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0,
                              tile_in = 64, tile_out = 32, vector_in = 8, vector_out = 4, index = 32>,
  c = #swage.reduce_schedule<lanes = 32, row_groups = 8, vector = 8, unroll = 4, index = 32>
}

// CHECK-LABEL: func private @geometries
// CHECK-SAME: #swage.launch_geometry<blocks = ()[s0] -> (s0, 132), threads = 384, spaces = [], dividers = () -> (), tiles = [#swage.tile<output = false, position = 0, dims = [6, 3, 2, 1, 0], box = [64, 128, 1, 1, 1], swizzle = 128>, #swage.tile<output = true, position = 1, dims = [0], box = [16], swizzle = 0>]>
// CHECK-SAME: #swage.launch_geometry<blocks = () -> (8), threads = 32, spaces = [], dividers = () -> ()>
func.func private @geometries() attributes {
  a = #swage.launch_geometry<blocks = ()[s0] -> (s0, 132), threads = 384, spaces = [], dividers = () -> (),
    tiles = [#swage.tile<output = false, position = 0, dims = [6, 3, 2, 1, 0], box = [64, 128, 1, 1, 1], swizzle = 128>,
             #swage.tile<output = true, position = 1, dims = [0], box = [16], swizzle = 0>]>,
  b = #swage.launch_geometry<blocks = () -> (8), threads = 32, spaces = [], dividers = () -> ()>
}
