// REQUIRES: host-compiler
// What weights are multiplied by behind their sum, on the simulator against the reference: dropout by random bits, of keys whose number is a multiple of four
// and not, below a mask, of heads that share keys, of few queries and of f32; a mask that is read, factors of any sign, infinite values where nothing is kept; and
// what dropout is as ops of its own. Sums of exponentials know nothing of it.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_80 --check --sim=async=random,order=random,seed=6 | FileCheck %s
// RUN: swage-run %s --entry=decomposed --device=sim --check | FileCheck %s --check-prefix=DECOMPOSED
// RUN: swage-run %s --entry=decomposed --device=sim --check --seed=3 | FileCheck %s --check-prefix=DECOMPOSED
// RUN: swage-run %s --entry=dynamic --dims='2,3,4,70,64;2,3,2,90,64;2' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=dynamic --dims='1,1,4,1,64;1,1,2,1,64;2' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=scores --device=sim --check | FileCheck %s --check-prefix=SCORES
// RUN: swage-run %s --entry=scores --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=SCORES
// RUN: swage-run %s --entry=cache --device=sim --sim=check --check | FileCheck %s --check-prefix=CACHE
// CHECK: reg{{.*}}schedule
// CHECK-COUNT-11: accepted
// CHECK-NOT: rejected
// DECOMPOSED: attention_{{[0-9a-f]+}}
// DECOMPOSED: reduce_sum_{{[0-9a-f]+}}
// DECOMPOSED-COUNT-2: accepted
// DYNAMIC-COUNT-2: accepted
// DYNAMIC-NOT: rejected
// SCORES-COUNT-4: accepted
// SCORES-NOT: rejected
// CACHE: 0 {{.*}} accepted
func.func @main(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x200x64xbf16>, %v: tensor<2x2x200x64xbf16>, %odd: tensor<2x2x77x64xbf16>, %state: tensor<2xi64>,
                %qw: tensor<1x2x70x128xf16>, %kw: tensor<1x2x140x128xf16>, %wide: tensor<2x50x72xf32>, %few: tensor<2x4x3x64xbf16>,
                %keep: tensor<4x130xi1>, %factors: tensor<2x200xf32>)
    -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>, tensor<2x4x130x64xbf16>, tensor<1x2x70x128xf16>, tensor<1x2x70xf32>, tensor<2x50x72xf32>,
        tensor<2x4x3x64xbf16>, tensor<2x4x3xf32>, tensor<2x4x130x64xbf16>, tensor<1x2x70x128xf16>, tensor<1x2x70x128xf16>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %tenth = arith.constant 429496730 : i32
  %raised = arith.constant 1.1111111 : f32
  %half = arith.constant -2147483648 : i32
  %two = arith.constant 2.0 : f32

  // Dropout of a tenth under a causal mask.
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x4x130x200xi32>
  %causal, %lse = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits[%b, %h, %i, %j] : tensor<2x4x130x200xi32>
    %kept = arith.cmpi uge, %word, %tenth : i32
    %factor = arith.select %kept, %raised, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16>) -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>)

  // Keys of which rows begin within a counter.
  %bits1 = swage.random %state : tensor<2xi64> -> tensor<2x4x130x77xi32>
  %unaligned = swage.attention %q, %odd, %odd scale 0.125 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits1[%b, %h, %i, %j] : tensor<2x4x130x77xi32>
    %dropped = arith.cmpi ult, %word, %half : i32
    %factor = arith.select %dropped, %zero, %two : f32
    swage.yield %factor : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x77x64xbf16>, tensor<2x2x77x64xbf16>) -> tensor<2x4x130x64xbf16>

  // f16, and a window behind which nothing is seen.
  %bits2 = swage.random %state : tensor<2xi64> -> tensor<1x2x70x140xi32>
  %window, %lse2 = swage.attention %qw, %kw, %kw scale 0.0883883476 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c30 = arith.constant 30 : index
    %last = arith.addi %i, %c30 : index
    %begun = arith.cmpi sge, %j, %last : index
    swage.yield %begun : i1
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits2[%b, %h, %i, %j] : tensor<1x2x70x140xi32>
    %kept = arith.cmpi uge, %word, %half : i32
    %factor = arith.select %kept, %two, %zero : f32
    swage.yield %factor : f32
  } : (tensor<1x2x70x128xf16>, tensor<1x2x140x128xf16>, tensor<1x2x140x128xf16>) -> (tensor<1x2x70x128xf16>, tensor<1x2x70xf32>)

  // f32.
  %bits3 = swage.random %state : tensor<2xi64> -> tensor<2x50x50xi32>
  %f32 = swage.attention %wide, %wide, %wide scale 0.1 weight {
  ^bb0(%h: index, %i: index, %j: index):
    %word = tensor.extract %bits3[%h, %i, %j] : tensor<2x50x50xi32>
    %kept = arith.cmpi uge, %word, %tenth : i32
    %factor = arith.select %kept, %raised, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x50x72xf32>, tensor<2x50x72xf32>, tensor<2x50x72xf32>) -> tensor<2x50x72xf32>

  // Few queries.
  %bits4 = swage.random %state : tensor<2xi64> -> tensor<2x4x3x200xi32>
  %steps, %lse4 = swage.attention %few, %k, %v scale 0.125 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits4[%b, %h, %i, %j] : tensor<2x4x3x200xi32>
    %kept = arith.cmpi uge, %word, %half : i32
    %factor = arith.select %kept, %two, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x4x3x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16>) -> (tensor<2x4x3x64xbf16>, tensor<2x4x3xf32>)

  // Queries that are left out, or for which keys have factors of any sign.
  %scaled = swage.attention %q, %k, %v scale 0.125 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %own = tensor.extract %keep[%h, %i] : tensor<4x130xi1>
    %ofKey = tensor.extract %factors[%b, %j] : tensor<2x200xf32>
    %factor = arith.select %own, %ofKey, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16>) -> tensor<2x4x130x64xbf16>

  // Nothing is kept, nor is infinity anything; and everything is, at half its weight.
  %never = arith.constant dense<false> : tensor<1x2x70x140xi1>
  %infinity = arith.constant 0x7F800000 : f32
  %none = swage.attention %qw, %kw, %kw scale 0.0883883476 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %kept = tensor.extract %never[%b, %h, %i, %j] : tensor<1x2x70x140xi1>
    %factor = arith.select %kept, %infinity, %zero : f32
    swage.yield %factor : f32
  } : (tensor<1x2x70x128xf16>, tensor<1x2x140x128xf16>, tensor<1x2x140x128xf16>) -> tensor<1x2x70x128xf16>
  %all = swage.attention %qw, %kw, %kw scale 0.0883883476 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %factor = arith.constant 0.5 : f32
    swage.yield %factor : f32
  } : (tensor<1x2x70x128xf16>, tensor<1x2x140x128xf16>, tensor<1x2x140x128xf16>) -> tensor<1x2x70x128xf16>
  return %causal, %lse, %unaligned, %window, %lse2, %f32, %steps, %lse4, %scaled, %none, %all
      : tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>, tensor<2x4x130x64xbf16>, tensor<1x2x70x128xf16>, tensor<1x2x70xf32>, tensor<2x50x72xf32>,
        tensor<2x4x3x64xbf16>, tensor<2x4x3xf32>, tensor<2x4x130x64xbf16>, tensor<1x2x70x128xf16>, tensor<1x2x70x128xf16>
}

// The ops that training has: what is kept is written beside it, as bits, by a kernel of its own.
func.func @decomposed(%q: tensor<2x2x33x64xbf16>, %k: tensor<2x2x64x64xbf16>, %v: tensor<2x2x64x64xbf16>, %state: tensor<2xi64>)
    -> (tensor<2x2x33x64xbf16>, tensor<2x2x33x2xi32>) {
  %s = swage.matmul %q, %k transpose_b : (tensor<2x2x33x64xbf16>, tensor<2x2x64x64xbf16>) -> tensor<2x2x33x64xbf16>
  %p = swage.softmax %s axis 3 scale 0.125 : tensor<2x2x33x64xbf16> -> tensor<2x2x33x64xbf16>
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x2x33x64xi32>
  %least = arith.constant dense<429496730> : tensor<2x2x33x64xi32>
  %keep = arith.cmpi uge, %bits, %least : tensor<2x2x33x64xi32>
  %factor = arith.constant dense<1.1111111> : tensor<2x2x33x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<2x2x33x64xbf16>
  %raised = arith.mulf %p, %factor : tensor<2x2x33x64xbf16>
  %dropped = arith.select %keep, %raised, %zero : tensor<2x2x33x64xi1>, tensor<2x2x33x64xbf16>
  %o = swage.matmul %dropped, %v : (tensor<2x2x33x64xbf16>, tensor<2x2x64x64xbf16>) -> tensor<2x2x33x64xbf16>
  %ones = arith.extui %keep : tensor<2x2x33x64xi1> to tensor<2x2x33x64xi32>
  %split = swage.reshape %ones : tensor<2x2x33x64xi32> -> tensor<2x2x33x2x32xi32>
  %place = swage.iota dim 4 : tensor<2x2x33x2x32xi32>
  %placed = arith.shli %split, %place : tensor<2x2x33x2x32xi32>
  %mask = swage.reduce sum %placed dims [4] : tensor<2x2x33x2x32xi32> -> tensor<2x2x33x2xi32>
  return %o, %mask : tensor<2x2x33x64xbf16>, tensor<2x2x33x2xi32>
}

// Extents that are known at run time, and two batch dimensions.
func.func @dynamic(%q: tensor<?x?x4x?x64xbf16>, %k: tensor<?x?x2x?x64xbf16>, %state: tensor<2xi64>) -> (tensor<?x?x4x?x64xbf16>, tensor<?x?x4x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = tensor.dim %q, %c0 : tensor<?x?x4x?x64xbf16>
  %b = tensor.dim %q, %c1 : tensor<?x?x4x?x64xbf16>
  %queries = tensor.dim %q, %c3 : tensor<?x?x4x?x64xbf16>
  %keys = tensor.dim %k, %c3 : tensor<?x?x2x?x64xbf16>
  %bits = swage.random %state sizes(%a, %b, %queries, %keys) : tensor<2xi64> -> tensor<?x?x4x?x?xi32>
  %o, %lse = swage.attention %q, %k, %k scale 0.125 weight {
  ^bb0(%b0: index, %b1: index, %h: index, %i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    %factor = arith.constant 1.25 : f32
    %least = arith.constant 858993459 : i32
    %word = tensor.extract %bits[%b0, %b1, %h, %i, %j] : tensor<?x?x4x?x?xi32>
    %kept = arith.cmpi uge, %word, %least : i32
    %f = arith.select %kept, %factor, %zero : f32
    swage.yield %f : f32
  } : (tensor<?x?x4x?x64xbf16>, tensor<?x?x2x?x64xbf16>, tensor<?x?x2x?x64xbf16>) -> (tensor<?x?x4x?x64xbf16>, tensor<?x?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x?x64xbf16>, tensor<?x?x4x?xf32>
}

// Beside score functions and masks of every form: documents, a bound by tanh, a bias that is read and one by distance, sinks.
func.func @scores(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x204x64xbf16>, %v: tensor<2x2x204x64xbf16>, %state: tensor<2xi64>, %docs: tensor<2x204xi32>, %sinks: tensor<4xf32>, %bias: tensor<4x130x204xbf16>)
    -> (tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>) {
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x4x130x204xi32>
  %tenth = arith.constant 429496730 : i32
  %raised = arith.constant 1.11111111 : f32
  %zero = arith.constant 0.0 : f32
  %cap = arith.constant 30.0 : f32
  %a = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %x = arith.divf %s, %cap : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %cap : f32
    swage.yield %z : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %docs[%b, %i] : tensor<2x204xi32>
    %other = tensor.extract %docs[%b, %j] : tensor<2x204xi32>
    %same = arith.cmpi eq, %mine, %other : i32
    %before = arith.cmpi sle, %j, %i : index
    %m = arith.andi %same, %before : i1
    swage.yield %m : i1
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits[%b, %h, %i, %j] : tensor<2x4x130x204xi32>
    %kept = arith.cmpi uge, %word, %tenth : i32
    %factor = arith.select %kept, %raised, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x204x64xbf16>, tensor<2x2x204x64xbf16>) -> tensor<2x4x130x64xbf16>
  %c = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias[%h, %i, %j] : tensor<4x130x204xbf16>
    %w = arith.extf %e : bf16 to f32
    %z = arith.addf %s, %w : f32
    swage.yield %z : f32
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits[%b, %h, %i, %j] : tensor<2x4x130x204xi32>
    %kept = arith.cmpi uge, %word, %tenth : i32
    %factor = arith.select %kept, %raised, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x204x64xbf16>, tensor<2x2x204x64xbf16>) -> tensor<2x4x130x64xbf16>
  %d, %lse = swage.attention %q, %k, %v sinks %sinks scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %n = arith.subi %j, %i : index
    %n32 = arith.index_cast %n : index to i32
    %f = arith.sitofp %n32 : i32 to f32
    %sl = arith.constant 0.03125 : f32
    %e = arith.mulf %sl, %f : f32
    %z = arith.addf %s, %e : f32
    swage.yield %z : f32
  } weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits[%b, %h, %i, %j] : tensor<2x4x130x204xi32>
    %kept = arith.cmpi uge, %word, %tenth : i32
    %factor = arith.select %kept, %raised, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x204x64xbf16>, tensor<2x2x204x64xbf16>, tensor<4xf32>) -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>)
  return %a, %c, %d, %lse : tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>
}

// Few queries, and keys and values of 8 bits whose factors multiply weights as well.
func.func @cache(%q: tensor<4x8x1x128xbf16>, %k8: tensor<4x2x200x128xi8>, %v8: tensor<4x2x200x128xi8>, %ks: tensor<4x2x200xf32>, %vs: tensor<4x2x200xf32>, %state: tensor<2xi64>) -> tensor<4x8x1x128xbf16> {
  %k1 = arith.sitofp %k8 : tensor<4x2x200x128xi8> to tensor<4x2x200x128xf32>
  %kb = swage.broadcast %ks dims [0, 1, 2] : tensor<4x2x200xf32> -> tensor<4x2x200x128xf32>
  %k2 = arith.mulf %k1, %kb : tensor<4x2x200x128xf32>
  %k = arith.truncf %k2 : tensor<4x2x200x128xf32> to tensor<4x2x200x128xbf16>
  %v1 = arith.sitofp %v8 : tensor<4x2x200x128xi8> to tensor<4x2x200x128xf32>
  %vb = swage.broadcast %vs dims [0, 1, 2] : tensor<4x2x200xf32> -> tensor<4x2x200x128xf32>
  %v2 = arith.mulf %v1, %vb : tensor<4x2x200x128xf32>
  %v = arith.truncf %v2 : tensor<4x2x200x128xf32> to tensor<4x2x200x128xbf16>
  %bits = swage.random %state : tensor<2xi64> -> tensor<4x8x1x200xi32>
  %o = swage.attention %q, %k, %v scale 0.1 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %least = arith.constant 429496730 : i32
    %one = arith.constant 1.111 : f32
    %zero = arith.constant 0.0 : f32
    %r = tensor.extract %bits[%b, %h, %i, %j] : tensor<4x8x1x200xi32>
    %kp = arith.cmpi uge, %r, %least : i32
    %f = arith.select %kp, %one, %zero : f32
    swage.yield %f : f32
  } : (tensor<4x8x1x128xbf16>, tensor<4x2x200x128xbf16>, tensor<4x2x200x128xbf16>) -> tensor<4x8x1x128xbf16>
  return %o : tensor<4x8x1x128xbf16>
}
