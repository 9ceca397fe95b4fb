// REQUIRES: host-compiler
// The bits of a sequence's results are the same in batches of 1, 7 and 64, wherever it is, however long the others are, and by any number of blocks. All sequences have the same queries and keys
// here; number 0, 4 or 13 has all 2900 keys, and the others have other lengths.
// DEFINE: %{select} = swage-opt --swage-fuse --swage-merge-dimensions --swage-select-schedule
// RUN: rm -rf %t && mkdir %t && %{select} %s 2> %t/remarks | sed 's/chunk = [0-9]*/chunk = 256/' > %t/some.mlir
// RUN: swage-run %t/some.mlir --entry=one --device=sim --save-outputs=%t/one
// RUN: swage-run %t/some.mlir --entry=seven --device=sim --sim=check,async=random,order=random,seed=3 --save-outputs=%t/seven
// RUN: swage-run %t/some.mlir --entry=many --device=sim --sim=order=random,seed=5 --save-outputs=%t/many
// RUN: cmp -n 512 -i 128:2176 %t/one/result0.npy %t/seven/result0.npy
// RUN: cmp -n 512 -i 128:6784 %t/one/result0.npy %t/many/result0.npy
// Fewer blocks, and without the copy engine.
// RUN: sed 's/spans = [0-9]*/spans = 5/' %t/some.mlir > %t/few.mlir
// RUN: swage-run %t/few.mlir --entry=many --device=sim --sim=check --save-outputs=%t/few && cmp %t/many/result0.npy %t/few/result0.npy
// RUN: sed 's/bulk = true/bulk = false/; s/stages = [0-9]*/stages = 2/' %t/some.mlir > %t/lanes.mlir
// RUN: swage-run %t/lanes.mlir --entry=seven --device=sim --sim=check --save-outputs=%t/lanes && cmp %t/seven/result0.npy %t/lanes/result0.npy
// More chunks than a sequence may have, so that they become longer.
// RUN: sed 's/warps = 8, keys = [0-9]*/warps = 1, keys = 16/; s/chunk = [0-9]*/chunk = 16/' %t/some.mlir > %t/short.mlir
// RUN: swage-run %t/short.mlir --entry=one --device=sim --sim=check --save-outputs=%t/shortOne
// RUN: swage-run %t/short.mlir --entry=seven --device=sim --save-outputs=%t/shortSeven
// RUN: cmp -n 512 -i 128:2176 %t/shortOne/result0.npy %t/shortSeven/result0.npy && not cmp -n 512 -i 128:128 %t/one/result0.npy %t/shortOne/result0.npy
// Without the attribute they differ.
// RUN: sed 's/ batch_invariant//' %s | %{select} 2> %t/remarks > %t/any.mlir
// RUN: swage-run %t/any.mlir --entry=one --device=sim --save-outputs=%t/anyOne && swage-run %t/any.mlir --entry=many --device=sim --save-outputs=%t/anyMany
// RUN: not cmp -n 512 -i 128:6784 %t/anyOne/result0.npy %t/anyMany/result0.npy
// Units that are all as long, each in several blocks or in one: 40 queries share a key head, with sinks.
// RUN: swage-run %t/some.mlir --entry=rows --device=sim --sim=check --save-outputs=%t/rows && swage-run %t/some.mlir --entry=manyRows --device=sim --save-outputs=%t/manyRows
// RUN: cmp -n 5120 -i 128:128 %t/rows/result0.npy %t/manyRows/result0.npy && cmp -n 5120 -i 128:30848 %t/rows/result0.npy %t/manyRows/result0.npy
// RUN: sed 's/spans = [0-9]*/spans = 3/' %t/some.mlir > %t/whole.mlir
// RUN: swage-run %t/whole.mlir --entry=manyRows --device=sim --save-outputs=%t/whole && cmp %t/manyRows/result0.npy %t/whole/result0.npy
// Pages.
// RUN: swage-run %t/some.mlir --entry=page --device=sim --sim=check --save-outputs=%t/page && swage-run %t/some.mlir --entry=pages --device=sim --save-outputs=%t/pages
// RUN: cmp -n 512 -i 128:2176 %t/page/result0.npy %t/pages/result0.npy
// RUN: swage-run %s --entry=seven --device=sim --check | FileCheck %s
// RUN: swage-run %s --entry=many --device=sim --arch=sm_80 --check --inputs=exact --sim=check,async=random,order=random,seed=11 | FileCheck %s
// RUN: swage-run %s --entry=rows --device=sim --check | FileCheck %s
// RUN: swage-run %s --entry=pages --device=sim --check --sim=check,async=random,order=random,seed=13 | FileCheck %s
// CHECK: accepted
// CHECK-NOT: rejected
func.func @one(%q1: tensor<1x4x1x64xbf16>, %k1: tensor<1x1x2900x64xbf16>, %v1: tensor<1x1x2900x64xbf16>) -> tensor<1x4x1x64xbf16> {
  %io = swage.iota dim 0 : tensor<1xi32>
  %c311 = arith.constant dense<311> : tensor<1xi32>
  %c2901 = arith.constant dense<2901> : tensor<1xi32>
  %c2900 = arith.constant dense<2900> : tensor<1xi32>
  %c0s = arith.constant dense<0> : tensor<1xi32>
  %far = arith.muli %io, %c311 : tensor<1xi32>
  %other = arith.remui %far, %c2901 : tensor<1xi32>
  %is = arith.cmpi eq, %io, %c0s : tensor<1xi32>
  %lengths = arith.select %is, %c2900, %other : tensor<1xi1>, tensor<1xi32>
  %o = swage.attention %q1, %k1, %v1 scale 0.125 batch_invariant mask {
  ^bb0(%s: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%s] : tensor<1xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x64xbf16>, tensor<1x1x2900x64xbf16>, tensor<1x1x2900x64xbf16>) -> tensor<1x4x1x64xbf16>
  return %o : tensor<1x4x1x64xbf16>
}
func.func @seven(%q1: tensor<1x4x1x64xbf16>, %k1: tensor<1x1x2900x64xbf16>, %v1: tensor<1x1x2900x64xbf16>) -> tensor<7x4x1x64xbf16> {
  %q = swage.broadcast %q1 dims [0, 1, 2, 3] : tensor<1x4x1x64xbf16> -> tensor<7x4x1x64xbf16>
  %k = swage.broadcast %k1 dims [0, 1, 2, 3] : tensor<1x1x2900x64xbf16> -> tensor<7x1x2900x64xbf16>
  %v = swage.broadcast %v1 dims [0, 1, 2, 3] : tensor<1x1x2900x64xbf16> -> tensor<7x1x2900x64xbf16>
  %io = swage.iota dim 0 : tensor<7xi32>
  %c311 = arith.constant dense<311> : tensor<7xi32>
  %c2901 = arith.constant dense<2901> : tensor<7xi32>
  %c2900 = arith.constant dense<2900> : tensor<7xi32>
  %c4s = arith.constant dense<4> : tensor<7xi32>
  %far = arith.muli %io, %c311 : tensor<7xi32>
  %other = arith.remui %far, %c2901 : tensor<7xi32>
  %is = arith.cmpi eq, %io, %c4s : tensor<7xi32>
  %lengths = arith.select %is, %c2900, %other : tensor<7xi1>, tensor<7xi32>
  %o = swage.attention %q, %k, %v scale 0.125 batch_invariant mask {
  ^bb0(%s: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%s] : tensor<7xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<7x4x1x64xbf16>, tensor<7x1x2900x64xbf16>, tensor<7x1x2900x64xbf16>) -> tensor<7x4x1x64xbf16>
  return %o : tensor<7x4x1x64xbf16>
}
func.func @many(%q1: tensor<1x4x1x64xbf16>, %k1: tensor<1x1x2900x64xbf16>, %v1: tensor<1x1x2900x64xbf16>) -> tensor<64x4x1x64xbf16> {
  %q = swage.broadcast %q1 dims [0, 1, 2, 3] : tensor<1x4x1x64xbf16> -> tensor<64x4x1x64xbf16>
  %k = swage.broadcast %k1 dims [0, 1, 2, 3] : tensor<1x1x2900x64xbf16> -> tensor<64x1x2900x64xbf16>
  %v = swage.broadcast %v1 dims [0, 1, 2, 3] : tensor<1x1x2900x64xbf16> -> tensor<64x1x2900x64xbf16>
  %io = swage.iota dim 0 : tensor<64xi32>
  %c311 = arith.constant dense<311> : tensor<64xi32>
  %c2901 = arith.constant dense<2901> : tensor<64xi32>
  %c2900 = arith.constant dense<2900> : tensor<64xi32>
  %c13s = arith.constant dense<13> : tensor<64xi32>
  %far = arith.muli %io, %c311 : tensor<64xi32>
  %other = arith.remui %far, %c2901 : tensor<64xi32>
  %is = arith.cmpi eq, %io, %c13s : tensor<64xi32>
  %lengths = arith.select %is, %c2900, %other : tensor<64xi1>, tensor<64xi32>
  %o = swage.attention %q, %k, %v scale 0.125 batch_invariant mask {
  ^bb0(%s: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%s] : tensor<64xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<64x4x1x64xbf16>, tensor<64x1x2900x64xbf16>, tensor<64x1x2900x64xbf16>) -> tensor<64x4x1x64xbf16>
  return %o : tensor<64x4x1x64xbf16>
}
func.func @rows(%q1: tensor<1x40x1x64xbf16>, %k1: tensor<1x1x1500x64xbf16>, %v1: tensor<1x1x1500x64xbf16>, %sinks: tensor<40xf32>) -> tensor<1x40x1x64xbf16> {
  %o = swage.attention %q1, %k1, %v1 sinks %sinks scale 0.125 batch_invariant : (tensor<1x40x1x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<1x1x1500x64xbf16>, tensor<40xf32>) -> tensor<1x40x1x64xbf16>
  return %o : tensor<1x40x1x64xbf16>
}
func.func @manyRows(%q1: tensor<1x40x1x64xbf16>, %k1: tensor<1x1x1500x64xbf16>, %v1: tensor<1x1x1500x64xbf16>, %sinks: tensor<40xf32>) -> tensor<7x40x1x64xbf16> {
  %q = swage.broadcast %q1 dims [0, 1, 2, 3] : tensor<1x40x1x64xbf16> -> tensor<7x40x1x64xbf16>
  %k = swage.broadcast %k1 dims [0, 1, 2, 3] : tensor<1x1x1500x64xbf16> -> tensor<7x1x1500x64xbf16>
  %v = swage.broadcast %v1 dims [0, 1, 2, 3] : tensor<1x1x1500x64xbf16> -> tensor<7x1x1500x64xbf16>
  %o = swage.attention %q, %k, %v sinks %sinks scale 0.125 batch_invariant : (tensor<7x40x1x64xbf16>, tensor<7x1x1500x64xbf16>, tensor<7x1x1500x64xbf16>, tensor<40xf32>) -> tensor<7x40x1x64xbf16>
  return %o : tensor<7x40x1x64xbf16>
}
func.func @page(%q1: tensor<1x4x1x64xbf16>, %keys: tensor<182x1x16x64xbf16>, %values: tensor<182x1x16x64xbf16>) -> tensor<1x4x1x64xbf16> {
  %table = swage.iota dim 1 : tensor<1x182xi32>
  %k = swage.pages %keys, %table : (tensor<182x1x16x64xbf16>, tensor<1x182xi32>) -> tensor<1x1x2912x64xbf16>
  %v = swage.pages %values, %table : (tensor<182x1x16x64xbf16>, tensor<1x182xi32>) -> tensor<1x1x2912x64xbf16>
  %io = swage.iota dim 0 : tensor<1xi32>
  %c311 = arith.constant dense<311> : tensor<1xi32>
  %c2901 = arith.constant dense<2901> : tensor<1xi32>
  %c2900 = arith.constant dense<2900> : tensor<1xi32>
  %c0s = arith.constant dense<0> : tensor<1xi32>
  %far = arith.muli %io, %c311 : tensor<1xi32>
  %other = arith.remui %far, %c2901 : tensor<1xi32>
  %is = arith.cmpi eq, %io, %c0s : tensor<1xi32>
  %lengths = arith.select %is, %c2900, %other : tensor<1xi1>, tensor<1xi32>
  %o = swage.attention %q1, %k, %v scale 0.125 batch_invariant mask {
  ^bb0(%s: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%s] : tensor<1xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<1x4x1x64xbf16>, tensor<1x1x2912x64xbf16>, tensor<1x1x2912x64xbf16>) -> tensor<1x4x1x64xbf16>
  return %o : tensor<1x4x1x64xbf16>
}
func.func @pages(%q1: tensor<1x4x1x64xbf16>, %keys: tensor<182x1x16x64xbf16>, %values: tensor<182x1x16x64xbf16>) -> tensor<7x4x1x64xbf16> {
  %q = swage.broadcast %q1 dims [0, 1, 2, 3] : tensor<1x4x1x64xbf16> -> tensor<7x4x1x64xbf16>
  %table = swage.iota dim 1 : tensor<7x182xi32>
  %k = swage.pages %keys, %table : (tensor<182x1x16x64xbf16>, tensor<7x182xi32>) -> tensor<7x1x2912x64xbf16>
  %v = swage.pages %values, %table : (tensor<182x1x16x64xbf16>, tensor<7x182xi32>) -> tensor<7x1x2912x64xbf16>
  %io = swage.iota dim 0 : tensor<7xi32>
  %c311 = arith.constant dense<311> : tensor<7xi32>
  %c2901 = arith.constant dense<2901> : tensor<7xi32>
  %c2900 = arith.constant dense<2900> : tensor<7xi32>
  %c4s = arith.constant dense<4> : tensor<7xi32>
  %far = arith.muli %io, %c311 : tensor<7xi32>
  %other = arith.remui %far, %c2901 : tensor<7xi32>
  %is = arith.cmpi eq, %io, %c4s : tensor<7xi32>
  %lengths = arith.select %is, %c2900, %other : tensor<7xi1>, tensor<7xi32>
  %o = swage.attention %q, %k, %v scale 0.125 batch_invariant mask {
  ^bb0(%s: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%s] : tensor<7xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<7x4x1x64xbf16>, tensor<7x1x2912x64xbf16>, tensor<7x1x2912x64xbf16>) -> tensor<7x4x1x64xbf16>
  return %o : tensor<7x4x1x64xbf16>
}
