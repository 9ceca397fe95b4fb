// REQUIRES: host-compiler
// Attention of 8-bit floats, on the simulator against the reference: results of either type of 16 bits, row results, factors of
// heads, head dims that fill no panel, values of several panels or few columns, operands in the order of a projection. More than 2112 keys, also of extents
// that are known at run time: sums go to shared memory (on the simulator products add up in f32, so that it is not seen what that is for); a factor of the
// values' head after the attention stays in its kernel.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --entry=long --device=sim --check | FileCheck %s --check-prefix=LONG
// RUN: swage-run %s --entry=dynamic --dims='1,1,70,128;1,1,4200,128;1,1,4200,128' --device=sim --check --sim=check,async=random,order=random,seed=2 | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=window --device=sim --check | FileCheck %s --check-prefix=WINDOW
// CHECK-COUNT-4: attention_{{[0-9a-f]+}}
// CHECK-COUNT-6: accepted
// CHECK-NOT: REJECTED
// LONG-COUNT-3: accepted
// LONG: 2 kernels ran
// DYNAMIC: accepted
// WINDOW: run=
// WINDOW: accepted
func.func @main(%q: tensor<2x4x130x128xf8E4M3FN>, %k: tensor<2x2x201x128xf8E4M3FN>, %v: tensor<2x2x201x128xf8E4M3FN>,
                %packed: tensor<2x70x2x80xf8E4M3FN>, %few: tensor<2x2x70x48xf8E4M3FN>, %qw: tensor<1x2x150x256xf8E4M3FN>,
                %kw: tensor<1x2x140x256xf8E4M3FN>, %vw: tensor<1x2x140x240xf8E4M3FN>, %factors: tensor<2x4xf32>)
    -> (tensor<2x4x130x128xbf16>, tensor<2x4x130xf32>, tensor<2x4x130x128xf16>, tensor<2x4x130xf32>, tensor<2x2x70x48xbf16>,
        tensor<1x2x150x240xf16>) {
  %plain, %lse = swage.attention %q, %k, %v scale 0.08838834764831845
      : (tensor<2x4x130x128xf8E4M3FN>, tensor<2x2x201x128xf8E4M3FN>, tensor<2x2x201x128xf8E4M3FN>) -> (tensor<2x4x130x128xbf16>, tensor<2x4x130xf32>)

  %causal, %sums = swage.attention %q, %k, %v scale 0.08838834764831845 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %factor = tensor.extract %factors[%b, %h] : tensor<2x4xf32>
    %t = arith.mulf %s, %factor : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x128xf8E4M3FN>, tensor<2x2x201x128xf8E4M3FN>, tensor<2x2x201x128xf8E4M3FN>) -> (tensor<2x4x130x128xf16>, tensor<2x4x130xf32>)

  %heads = swage.permute %packed [0, 2, 1, 3] : tensor<2x70x2x80xf8E4M3FN> -> tensor<2x2x70x80xf8E4M3FN>
  %narrow = swage.attention %heads, %heads, %few scale 0.1
      : (tensor<2x2x70x80xf8E4M3FN>, tensor<2x2x70x80xf8E4M3FN>, tensor<2x2x70x48xf8E4M3FN>) -> tensor<2x2x70x48xbf16>

  %wide = swage.attention %qw, %kw, %vw scale 0.0625
      : (tensor<1x2x150x256xf8E4M3FN>, tensor<1x2x140x256xf8E4M3FN>, tensor<1x2x140x240xf8E4M3FN>) -> tensor<1x2x150x240xf16>
  return %plain, %lse, %causal, %sums, %narrow, %wide : tensor<2x4x130x128xbf16>, tensor<2x4x130xf32>, tensor<2x4x130x128xf16>,
      tensor<2x4x130xf32>, tensor<2x2x70x48xbf16>, tensor<1x2x150x240xf16>
}

func.func @long(%q: tensor<1x2x70x128xf8E4M3FN>, %k: tensor<1x1x4300x128xf8E4M3FN>, %v: tensor<1x1x4300x128xf8E4M3FN>, %qk: tensor<1x2xf32>, %factors: tensor<1x2xf32>)
    -> (tensor<1x2x70x128xbf16>, tensor<1x2x70xf32>, tensor<1x2x70x128xbf16>) {
  %plain, %lse = swage.attention %q, %k, %v scale 0.08838834764831845
      : (tensor<1x2x70x128xf8E4M3FN>, tensor<1x1x4300x128xf8E4M3FN>, tensor<1x1x4300x128xf8E4M3FN>) -> (tensor<1x2x70x128xbf16>, tensor<1x2x70xf32>)
  %some = swage.attention %q, %k, %v scale 0.08838834764831845 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %factor = tensor.extract %qk[%b, %h] : tensor<1x2xf32>
    %t = arith.mulf %s, %factor : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.constant 4220 : index
    %last = arith.addi %i, %c : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<1x2x70x128xf8E4M3FN>, tensor<1x1x4300x128xf8E4M3FN>, tensor<1x1x4300x128xf8E4M3FN>) -> tensor<1x2x70x128xf32>
  %all = swage.broadcast %factors dims [0, 1] : tensor<1x2xf32> -> tensor<1x2x70x128xf32>
  %scaled = arith.mulf %some, %all : tensor<1x2x70x128xf32>
  %small = arith.truncf %scaled : tensor<1x2x70x128xf32> to tensor<1x2x70x128xbf16>
  return %plain, %lse, %small : tensor<1x2x70x128xbf16>, tensor<1x2x70xf32>, tensor<1x2x70x128xbf16>
}

func.func @dynamic(%q: tensor<?x1x?x128xf8E4M3FN>, %k: tensor<?x1x?x128xf8E4M3FN>, %v: tensor<?x1x?x128xf8E4M3FN>) -> tensor<?x1x?x128xbf16> {
  %o = swage.attention %q, %k, %v scale 0.08838834764831845
      : (tensor<?x1x?x128xf8E4M3FN>, tensor<?x1x?x128xf8E4M3FN>, tensor<?x1x?x128xf8E4M3FN>) -> tensor<?x1x?x128xbf16>
  return %o : tensor<?x1x?x128xbf16>
}

// Keys from 500 on and up to 4700, later ones for later queries: blocks that are cut at either end, and runs between them.
func.func @window(%q: tensor<1x1x70x32xf8E4M3FN>, %k: tensor<1x1x5000x32xf8E4M3FN>, %v: tensor<1x1x5000x32xf8E4M3FN>) -> tensor<1x1x70x32xbf16> {
  %o = swage.attention %q, %k, %v scale 0.17 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %first = arith.constant 500 : index
    %last = arith.constant 4630 : index
    %from = arith.addi %i, %first : index
    %to = arith.addi %i, %last : index
    %after = arith.cmpi sge, %j, %from : index
    %before = arith.cmpi sle, %j, %to : index
    %seen = arith.andi %after, %before : i1
    swage.yield %seen : i1
  } : (tensor<1x1x70x32xf8E4M3FN>, tensor<1x1x5000x32xf8E4M3FN>, tensor<1x1x5000x32xf8E4M3FN>) -> tensor<1x1x70x32xbf16>
  return %o : tensor<1x1x70x32xbf16>
}
