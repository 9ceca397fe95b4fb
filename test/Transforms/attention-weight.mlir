// What weights are multiplied by behind their sum.
// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions 2>/dev/null | FileCheck %s --check-prefix=FUSE
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=PREPARED
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline=arch=sm_80 2>/dev/null | FileCheck %s --check-prefix=PORTABLE

// Dropout, of which the graph computes what is kept: it becomes a select, and what all weights are raised by waits for the result.
// FUSE-LABEL: func.func @dropout
// FUSE: swage.kernel @attention_{{.*}} source = random
// FUSE: %[[W:.*]]:3 = swage.collective softmax
// FUSE: %[[KEPT:.*]] = arith.cmpi uge, %{{.*}}, %{{.*}} : i32
// FUSE: %[[LEFT:.*]] = arith.select %[[KEPT]], %[[W]]#0, %{{.*}} : f32
// FUSE: %[[SUM:.*]] = swage.contract %[[LEFT]], %{{.*}} dim 5 : f32
// FUSE: %[[O:.*]] = arith.mulf %[[SUM]], %{{.*}} : f32
// FUSE: math.log %[[W]]#2
// PREPARED-LABEL: func.func @dropout
// PREPARED-NEXT: swage.launch @attention_{{[0-9a-f]+}} (%arg0, %arg1, %arg2, %arg3)
// Registers hold no queries beside what makes random bits, and fewer keys.
// PREPARED: schedule #swage.attention_schedule<groups = 2, keys = 128, {{.*}} eager = true, holds_query = false
// PREPARED: swage.phase weight loads [7] stores [] access [0]
// PREPARED-NEXT: ^bb0(%[[WEIGHT:.*]]: f32, %[[BITS:.*]]: i32):
// PREPARED: %[[K:.*]] = arith.cmpi uge, %[[BITS]], %{{.*}} : i32
// PREPARED: %[[LEFT:.*]] = arith.select %[[K]], %[[WEIGHT]], %{{.*}} : f32
// PREPARED-NEXT: swage.yield %[[LEFT]] : f32
// PREPARED: swage.phase epilogue
// PORTABLE-LABEL: func.func @dropout
// PORTABLE: schedule #swage.portable_attention_schedule<warps = 8, atoms = 1, keys = 64,
// PORTABLE: swage.phase weight loads [7] stores [] access [0]
func.func @dropout(%q: tensor<2x4x512x128xbf16>, %k: tensor<2x2x4096x128xbf16>, %v: tensor<2x2x4096x128xbf16>, %state: tensor<2xi64>)
    -> (tensor<2x4x512x128xbf16>, tensor<2x4x512xf32>) {
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x4x512x4096xi32>
  %least = arith.constant dense<429496730> : tensor<2x4x512x4096xi32>
  %keep = arith.cmpi uge, %bits, %least : tensor<2x4x512x4096xi32>
  %o, %lse = swage.attention %q, %k, %v scale 0.125 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %raised = arith.constant 1.25 : f32
    %zero = arith.constant 0.0 : f32
    %kept = tensor.extract %keep[%b, %h, %i, %j] : tensor<2x4x512x4096xi1>
    %f = arith.select %kept, %raised, %zero : f32
    swage.yield %f : f32
  } : (tensor<2x4x512x128xbf16>, tensor<2x2x4096x128xbf16>, tensor<2x2x4096x128xbf16>) -> (tensor<2x4x512x128xbf16>, tensor<2x4x512xf32>)
  return %o, %lse : tensor<2x4x512x128xbf16>, tensor<2x4x512xf32>
}

// -----

// Zeros where a condition holds; rows of keys that begin within a counter are read one by one.
// FUSE-LABEL: func.func @unaligned
// FUSE: %[[DROPPED:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// FUSE: %[[KEPT:.*]] = arith.xori %[[DROPPED]], %{{.*}} : i1
// FUSE: arith.select %[[KEPT]], %{{.*}}#0, %{{.*}} : f32
// PREPARED-LABEL: func.func @unaligned
// PREPARED: swage.phase weight loads [6] stores [] access [2]
func.func @unaligned(%q: tensor<4x130x64xbf16>, %k: tensor<4x77x64xbf16>, %state: tensor<2xi64>) -> tensor<4x130x64xbf16> {
  %bits = swage.random %state : tensor<2xi64> -> tensor<4x130x77xi32>
  %o = swage.attention %q, %k, %k weight {
  ^bb0(%h: index, %i: index, %j: index):
    %half = arith.constant -2147483648 : i32
    %two = arith.constant 2.0 : f32
    %zero = arith.constant 0.0 : f32
    %word = tensor.extract %bits[%h, %i, %j] : tensor<4x130x77xi32>
    %dropped = arith.cmpi ult, %word, %half : i32
    %f = arith.select %dropped, %zero, %two : f32
    swage.yield %f : f32
  } : (tensor<4x130x64xbf16>, tensor<4x77x64xbf16>, tensor<4x77x64xbf16>) -> tensor<4x130x64xbf16>
  return %o : tensor<4x130x64xbf16>
}

// -----

// Any factor multiplies; a factor that all weights have waits for the result as well, but not an infinite one, times which nothing would be kept.
// FUSE-LABEL: func.func @factors
// FUSE: %[[W:.*]]:3 = swage.collective softmax
// FUSE: arith.mulf %[[W]]#0, %{{.*}} : f32
// FUSE: %[[W:.*]]:3 = swage.collective softmax
// FUSE: %[[SUM:.*]] = swage.contract %[[W]]#0,
// FUSE-NEXT: arith.mulf %[[SUM]], %{{.*}} : f32
// FUSE: %[[W:.*]]:3 = swage.collective softmax
// FUSE: %[[F:.*]] = arith.select
// FUSE: arith.mulf %[[W]]#0, %[[F]] : f32
// PREPARED-LABEL: func.func @factors
func.func @factors(%q: tensor<4x130x64xbf16>, %factors: tensor<130x130xf32>, %keep: tensor<130xi1>)
    -> (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) {
  %a = swage.attention %q, %q, %q weight {
  ^bb0(%h: index, %i: index, %j: index):
    %f = tensor.extract %factors[%i, %j] : tensor<130x130xf32>
    swage.yield %f : f32
  } : (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) -> tensor<4x130x64xbf16>
  %b = swage.attention %q, %q, %q weight {
  ^bb0(%h: index, %i: index, %j: index):
    %f = arith.constant 0.5 : f32
    swage.yield %f : f32
  } : (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) -> tensor<4x130x64xbf16>
  %c = swage.attention %q, %q, %q weight {
  ^bb0(%h: index, %i: index, %j: index):
    %infinity = arith.constant 0x7F800000 : f32
    %zero = arith.constant 0.0 : f32
    %kept = tensor.extract %keep[%j] : tensor<130xi1>
    %f = arith.select %kept, %infinity, %zero : f32
    swage.yield %f : f32
  } : (tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>) -> tensor<4x130x64xbf16>
  return %a, %b, %c : tensor<4x130x64xbf16>, tensor<4x130x64xbf16>, tensor<4x130x64xbf16>
}

// -----

// Two batch dimensions are one to the kernel, and so they are to the random bits.
// FUSE-LABEL: func.func @batches
// FUSE: swage.kernel @attention_{{.*}} element = i32, shape = () -> (2), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 6400 + d1 * 1600 + d2 * 1600 + d3 * 40 + d5), align = 16, source = random
// PREPARED-LABEL: func.func @batches
func.func @batches(%q: tensor<2x3x4x40x64xbf16>, %state: tensor<2xi64>) -> tensor<2x3x4x40x64xbf16> {
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x3x4x40x40xi32>
  %o = swage.attention %q, %q, %q weight {
  ^bb0(%a: index, %b: index, %h: index, %i: index, %j: index):
    %half = arith.constant -2147483648 : i32
    %two = arith.constant 2.0 : f32
    %zero = arith.constant 0.0 : f32
    %word = tensor.extract %bits[%a, %b, %h, %i, %j] : tensor<2x3x4x40x40xi32>
    %kept = arith.cmpi uge, %word, %half : i32
    %f = arith.select %kept, %two, %zero : f32
    swage.yield %f : f32
  } : (tensor<2x3x4x40x64xbf16>, tensor<2x3x4x40x64xbf16>, tensor<2x3x4x40x64xbf16>) -> tensor<2x3x4x40x64xbf16>
  return %o : tensor<2x3x4x40x64xbf16>
}
