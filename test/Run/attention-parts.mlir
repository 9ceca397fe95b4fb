// REQUIRES: host-compiler
// Few tiles and many keys: the blocks of a cluster share a tile. Sums of weights, sinks, windows that leave some blocks of a
// cluster without a key, queries that see nothing, lengths from memory, other results, factors of weights, head dims of their own.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-opt | FileCheck %s --check-prefix=SCHEDULE
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --inputs=exact --sim=check,async=random,order=random,seed=11 | FileCheck %s
// The simulator's products are slow with infinities and NaN: fewer queries and keys, in several parts all the same.
// RUN: sed 's/x130x/x66x/g; s/x1500x/x1100x/g; s/x2500x/x1500x/g' %s > %t.mlir && swage-run %t.mlir --device=sim --check --inputs=nasty --sim=order=random,seed=12 | FileCheck %s --check-prefix=NASTY
// SCHEDULE-COUNT-6: parts = {{[2-8]>.*blocks = .*cluster = [2-8]}}
// CHECK-COUNT-6: clusters of {{[2-8]}} blocks
// CHECK-COUNT-9: accepted
// CHECK-NOT: rejected
// NASTY-NOT: rejected
func.func @main(%q: tensor<1x2x130x64xbf16>, %k: tensor<1x1x1500x64xbf16>, %v: tensor<1x1x1500x64xbf16>, %sinks: tensor<2xf32>,
                %lengths: tensor<2xi32> {swage.range = array<i64: 0, 2500>}, %few: tensor<2x1x40x72xf16>, %key: tensor<2x1x2500x72xf16>, %value: tensor<2x1x2500x40xf16>,
                %gate: tensor<1x130x2x64xbf16>, %long: tensor<1x1x20x256xbf16>, %longs: tensor<1x1x700x256xbf16>,
                %state: tensor<2xi64>)
    -> (tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>, tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>, tensor<2x1x40x40xf16>, tensor<2x1x40xf32>,
        tensor<1x130x2x64xbf16>, tensor<1x1x20x256xf32>, tensor<1x2x130x64xbf16>) {
  %plain, %sums = swage.attention %q, %k, %v sinks %sinks scale 0.125
      : (tensor<1x2x130x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<2xf32>) -> (tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>)

  // 1101 keys of each query, of none the first 200, and for the first queries none.
  %window, %windowSums = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c20 = arith.constant 20 : index
    %c200 = arith.constant 200 : index
    %c1300 = arith.constant 1300 : index
    %first = arith.addi %i, %c200 : index
    %last = arith.addi %i, %c1300 : index
    %from = arith.cmpi sge, %j, %first : index
    %to = arith.cmpi sle, %j, %last : index
    %late = arith.cmpi sge, %i, %c20 : index
    %within = arith.andi %from, %to : i1
    %seen = arith.andi %within, %late : i1
    swage.yield %seen : i1
  } : (tensor<1x2x130x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<1x1x1500x64xbf16>) -> (tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>)

  // Lengths, one of which is 0.
  %short, %shortSums = swage.attention %few, %key, %value scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<2xi32>
    %end = arith.index_cast %length : i32 to index
    %seen = arith.cmpi slt, %j, %end : index
    swage.yield %seen : i1
  } : (tensor<2x1x40x72xf16>, tensor<2x1x2500x72xf16>, tensor<2x1x2500x40xf16>) -> (tensor<2x1x40x40xf16>, tensor<2x1x40xf32>)

  // Heads beside each other, times something.
  %other = swage.attention %q, %k, %v scale 0.25
      : (tensor<1x2x130x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<1x1x1500x64xbf16>) -> tensor<1x2x130x64xbf16>
  %merged = swage.permute %other [0, 2, 1, 3] : tensor<1x2x130x64xbf16> -> tensor<1x130x2x64xbf16>
  %gated = arith.mulf %merged, %gate : tensor<1x130x2x64xbf16>

  %narrow = swage.attention %long, %longs, %longs scale 0.0625 : (tensor<1x1x20x256xbf16>, tensor<1x1x700x256xbf16>, tensor<1x1x700x256xbf16>) -> tensor<1x1x20x256xbf16>
  %wide = arith.extf %narrow : tensor<1x1x20x256xbf16> to tensor<1x1x20x256xf32>

  // Half of the weights.
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %half = arith.constant -2147483648 : i32
  %bits = swage.random %state : tensor<2xi64> -> tensor<1x2x130x1500xi32>
  %dropped = swage.attention %q, %k, %v scale 0.125 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %word = tensor.extract %bits[%b, %h, %i, %j] : tensor<1x2x130x1500xi32>
    %kept = arith.cmpi uge, %word, %half : i32
    %factor = arith.select %kept, %two, %zero : f32
    swage.yield %factor : f32
  } : (tensor<1x2x130x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<1x1x1500x64xbf16>) -> tensor<1x2x130x64xbf16>

  return %plain, %sums, %window, %windowSums, %short, %shortSums, %gated, %wide, %dropped
      : tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>, tensor<1x2x130x64xbf16>, tensor<1x2x130xf32>, tensor<2x1x40x40xf16>, tensor<2x1x40xf32>,
        tensor<1x130x2x64xbf16>, tensor<1x1x20x256xf32>, tensor<1x2x130x64xbf16>
}
