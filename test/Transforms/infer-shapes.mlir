// RUN: swage-opt %s --swage-infer-shapes -split-input-file -verify-diagnostics | FileCheck %s

// A function's own types stay; casts join refined values to them.
// CHECK-LABEL: func @chain
// CHECK-SAME: -> tensor<?x?xf32>
// CHECK: %[[P:.*]] = swage.permute %arg0 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK: %[[E:.*]] = math.exp %[[P]] : tensor<8x4xf32>
// CHECK: %[[C:.*]] = tensor.cast %[[E]] : tensor<8x4xf32> to tensor<?x?xf32>
// CHECK: return %[[C]]
func.func @chain(%x: tensor<4x8xf32>) -> tensor<?x?xf32> {
  %0 = swage.permute %x [1, 0] : tensor<4x8xf32> -> tensor<?x?xf32>
  %1 = math.exp %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// Gamma knows the normalised extent, x does not.
// CHECK-LABEL: func @norms
// CHECK: swage.layer_norm {{.*}} -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK: swage.rms_norm {{.*}} : (tensor<4x?xf32>) -> (tensor<4x?xf32>, tensor<4xf32>)
// CHECK: swage.softmax {{.*}} : tensor<4x?xf32> -> tensor<4x?xf32>
// CHECK: swage.reduce {{.*}} : tensor<4x?xf32> -> tensor<4xf32>
func.func @norms(%x: tensor<?x?xf32>, %z: tensor<4x?xf32>, %g: tensor<8xf32>) {
  %y, %m, %r = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<?x?xf32>, tensor<8xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  %a, %b = swage.rms_norm %z axis 1 eps 1.0e-5 : (tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  %s = swage.softmax %a axis 1 : tensor<?x?xf32> -> tensor<?x?xf32>
  %t = swage.reduce sum %s dims [1] : tensor<?x?xf32> -> tensor<?xf32>
  return
}

// -----

// CHECK-LABEL: func @matmul
// CHECK: swage.matmul %{{.*}}, %{{.*}} : (tensor<2x?x8xf16>, tensor<2x8x5xf16>) -> tensor<2x?x5xf16>
// CHECK: swage.matmul %{{.*}}, %{{.*}} transpose_b : (tensor<2x8x5xf16>, tensor<2x6x5xf16>) -> tensor<2x8x6xf16>
func.func @matmul(%a: tensor<2x?x?xf16>, %b: tensor<?x8x5xf16>, %c: tensor<2x6x?xf16>) {
  %y = swage.matmul %a, %b : (tensor<2x?x?xf16>, tensor<?x8x5xf16>) -> tensor<?x?x?xf16>
  %z = swage.matmul %b, %c transpose_b : (tensor<?x8x5xf16>, tensor<2x6x?xf16>) -> tensor<?x?x?xf16>
  return
}

// -----

// Each operand knows something of the others. What a region reads may change its type.
// CHECK-LABEL: func @attention
// CHECK: %[[K:.*]] = tensor.cast %arg1 : tensor<?x2x?x?xf16> to tensor<2x2x96x64xf16>
// CHECK: swage.attention %arg0, %[[K]], %{{.*}} mask {
// CHECK: tensor.extract %{{.*}} : tensor<2x96xi1>
// CHECK: } : (tensor<2x8x?x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x32xf16>) -> (tensor<2x8x?x32xf16>, tensor<2x8x?xf32>)
func.func @attention(%q: tensor<2x8x?x64xf16>, %k: tensor<?x2x?x?xf16>, %v: tensor<?x?x96x32xf16>, %m: tensor<2x96xi1>) {
  %c = tensor.cast %m : tensor<2x96xi1> to tensor<?x?xi1>
  %o, %l = swage.attention %q, %k, %v mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %keep = tensor.extract %c[%b, %j] : tensor<?x?xi1>
    swage.yield %keep : i1
  } : (tensor<2x8x?x64xf16>, tensor<?x2x?x?xf16>, tensor<?x?x96x32xf16>) -> (tensor<?x?x?x?xf16>, tensor<?x?x?xf32>)
  return
}

// -----

// Sinks and query heads tell each other.
// CHECK-LABEL: func @sinks
// CHECK: %[[S:.*]] = tensor.cast %{{.*}} : tensor<?xf32> to tensor<8xf32>
// CHECK: swage.attention %{{.*}}, %{{.*}}, %{{.*}} sinks %[[S]]
func.func @sinks(%q: tensor<8x?x64xf16>, %k: tensor<?x96x64xf16>, %sinks: tensor<?xf32>) -> tensor<8x?x64xf16> {
  %o = swage.attention %q, %k, %k sinks %sinks : (tensor<8x?x64xf16>, tensor<?x96x64xf16>, tensor<?x96x64xf16>, tensor<?xf32>) -> tensor<8x?x64xf16>
  return %o : tensor<8x?x64xf16>
}

// -----

func.func @attention_conflict(%q: tensor<8x?x64xf16>, %k: tensor<8x96x?xf16>) {
  %c = tensor.cast %k : tensor<8x96x?xf16> to tensor<?x?x?xf16>
  %e = tensor.cast %q : tensor<8x?x64xf16> to tensor<?x?x?xf16>
  %r = swage.reshape %e : tensor<?x?x?xf16> -> tensor<4x12x96xf16>
  // expected-error @+1 {{'swage.attention' op has extents 4 and 8 in dimension 0, but they must be equal}}
  %o = swage.attention %e, %r, %c : (tensor<?x?x?xf16>, tensor<4x12x96xf16>, tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  return
}

// -----

// Operands of an elementwise op have one shape: what one knows holds for all.
// CHECK-LABEL: func @elementwise
// CHECK: %[[A:.*]] = tensor.cast %{{.*}} : tensor<4x?xf32> to tensor<4x8xf32>
// CHECK: %[[B:.*]] = tensor.cast %{{.*}} : tensor<?x8xf32> to tensor<4x8xf32>
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<4x8xf32>
// CHECK: %[[T:.*]] = arith.truncf %[[S]] : tensor<4x8xf32> to tensor<4x8xf16>
// CHECK: %[[P:.*]] = arith.cmpf olt, %[[S]], %[[S]] : tensor<4x8xf32>
// CHECK: arith.select %[[P]], %[[T]], %[[T]] : tensor<4x8xi1>, tensor<4x8xf16>
func.func @elementwise(%x: tensor<4x?xf32>, %y: tensor<?x8xf32>) {
  %a = tensor.cast %x : tensor<4x?xf32> to tensor<?x?xf32>
  %b = tensor.cast %y : tensor<?x8xf32> to tensor<?x?xf32>
  %s = arith.addf %a, %b : tensor<?x?xf32>
  %t = arith.truncf %s : tensor<?x?xf32> to tensor<?x?xf16>
  %p = arith.cmpf olt, %s, %s : tensor<?x?xf32>
  %q = arith.select %p, %t, %t : tensor<?x?xi1>, tensor<?x?xf16>
  return
}

// -----

// CHECK-LABEL: func @reshapes
// CHECK: swage.reshape %arg0 : tensor<4x8xf32> -> tensor<2x16xf32>
// CHECK: swage.reshape %arg0 : tensor<4x8xf32> -> tensor<4x4x2xf32>
// CHECK: swage.reshape %arg1 sizes(%arg2) : tensor<?x8xf32> -> tensor<?x2x4xf32>
// CHECK: swage.reshape %arg1 : tensor<?x8xf32> -> tensor<?xf32>
// CHECK: swage.reshape %{{.*}} : tensor<?x4x8xf32> -> tensor<?x4x2x4xf32>
// CHECK: swage.reshape %{{.*}} : tensor<?x4x2x4xf32> -> tensor<?x1x4x8xf32>
func.func @reshapes(%x: tensor<4x8xf32>, %d: tensor<?x8xf32>, %n: index) {
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %x, %c0 : tensor<4x8xf32>
  %c2 = arith.constant 2 : index
  %0 = swage.reshape %x : tensor<4x8xf32> -> tensor<2x?xf32>
  %1 = swage.reshape %x sizes(%dim, %c4) : tensor<4x8xf32> -> tensor<?x?x2xf32>
  %2 = swage.reshape %d sizes(%n, %c2, %c4) : tensor<?x8xf32> -> tensor<?x?x?xf32>
  %3 = swage.reshape %d : tensor<?x8xf32> -> tensor<?xf32>
  // Extents that are x's own become static with it.
  %4 = swage.broadcast %x dims [1, 2] sizes(%n, %dim) : tensor<4x8xf32> -> tensor<?x?x8xf32>
  %5 = swage.reshape %4 : tensor<?x?x8xf32> -> tensor<?x?x2x4xf32>
  %6 = swage.reshape %5 : tensor<?x?x2x4xf32> -> tensor<?x1x?x8xf32>
  return
}

// -----

// CHECK-LABEL: func @broadcasts
// CHECK: swage.broadcast %arg0 dims [1] : tensor<8xf32> -> tensor<4x8xf32>
// CHECK: swage.broadcast %{{.*}} dims [0] : tensor<1xf32> -> tensor<1x3xf32>
// CHECK: swage.broadcast %arg0 dims [1] sizes(%arg1) : tensor<8xf32> -> tensor<?x8xf32>
func.func @broadcasts(%x: tensor<8xf32>, %n: index, %one: tensor<1xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %0 = swage.broadcast %x dims [1] sizes(%c4, %c8) : tensor<8xf32> -> tensor<?x?xf32>
  // Without sizes the extent is x's own, which turns out to be 1.
  %1 = swage.permute %one [0] : tensor<1xf32> -> tensor<?xf32>
  %2 = swage.broadcast %1 dims [0] : tensor<?xf32> -> tensor<?x3xf32>
  %3 = swage.broadcast %x dims [1] sizes(%n, %c8) : tensor<8xf32> -> tensor<?x?xf32>
  return
}

// -----

// CHECK-LABEL: func @parts
// CHECK: %[[S:.*]] = swage.slice %arg0 axis 1 from 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
// CHECK: %[[D:.*]] = tensor.cast %arg1 : tensor<?x4xf32> to tensor<4x4xf32>
// CHECK: swage.concat %[[S]], %[[D]] axis 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
func.func @parts(%x: tensor<4x8xf32>, %d: tensor<?x4xf32>) {
  %0 = swage.slice %x axis 1 from 0 size 4 : tensor<4x8xf32> -> tensor<?x4xf32>
  %1 = swage.concat %0, %d axis 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @conflict(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<?xf32> {
  %a = swage.permute %x [0] : tensor<4xf32> -> tensor<?xf32>
  %b = swage.permute %y [0] : tensor<5xf32> -> tensor<?xf32>
  // expected-error @+1 {{'arith.addf' op has extents 4 and 5 in dimension 0, but they must be equal}}
  %s = arith.addf %a, %b : tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

func.func @uneven(%x: tensor<4x7xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'swage.reshape' op x has 28 elements, but the result's other extents have 8}}
  %a = swage.reshape %x : tensor<4x7xf32> -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}

// -----

// Cache and rows know each other's extents, but not how many rows.
// CHECK-LABEL: func @append
// CHECK: %[[C:.*]] = tensor.cast %arg0 : tensor<?x?x4xf32> to tensor<2x?x4xf32>
// CHECK: %[[R:.*]] = tensor.cast %arg1 : tensor<2x1x?xf32> to tensor<2x1x4xf32>
// CHECK: swage.append %[[C]], %[[R]] at %arg2 axis 1 : (tensor<2x?x4xf32>, tensor<2x1x4xf32>, tensor<?xi32>) -> tensor<2x?x4xf32>
func.func @append(%c: tensor<?x?x4xf32>, %r: tensor<2x1x?xf32>, %p: tensor<?xi32>) -> tensor<?x?x4xf32> {
  %y = swage.append %c, %r at %p axis 1 : (tensor<?x?x4xf32>, tensor<2x1x?xf32>, tensor<?xi32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// A pool has a number of pages of its own; rows and their places know each other's extents.
// CHECK-LABEL: func @append_paged
// CHECK-DAG: %[[C:.*]] = tensor.cast %arg0 : tensor<?x?x8x4xf32> to tensor<?x3x8x4xf32>
// CHECK-DAG: %[[R:.*]] = tensor.cast %arg1 : tensor<2x3x?x?xf32> to tensor<2x3x5x4xf32>
// CHECK-DAG: %[[P:.*]] = tensor.cast %arg2 : tensor<?x5xi32> to tensor<2x5xi32>
// CHECK: swage.append %[[C]], %[[R]] at %[[P]] axis 2 paged : (tensor<?x3x8x4xf32>, tensor<2x3x5x4xf32>, tensor<2x5xi32>) -> tensor<?x3x8x4xf32>
func.func @append_paged(%c: tensor<?x?x8x4xf32>, %r: tensor<2x3x?x?xf32>, %p: tensor<?x5xi32>) -> tensor<?x?x8x4xf32> {
  %y = swage.append %c, %r at %p axis 2 paged : (tensor<?x?x8x4xf32>, tensor<2x3x?x?xf32>, tensor<?x5xi32>) -> tensor<?x?x8x4xf32>
  return %y : tensor<?x?x8x4xf32>
}

// -----

func.func @append_conflict(%c: tensor<3x?x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<i32>) {
  %d = tensor.cast %c : tensor<3x?x4xf32> to tensor<?x?x4xf32>
  // expected-error @+1 {{'swage.append' op}}
  %y = swage.append %d, %r at %p axis 1 : (tensor<?x?x4xf32>, tensor<2x1x4xf32>, tensor<i32>) -> tensor<?x?x4xf32>
  return
}
