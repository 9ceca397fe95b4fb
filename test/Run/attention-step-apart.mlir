// REQUIRES: host-compiler
// Steps that are more than one kernel, because one would read a row that is not there yet, or leave one out; and a kernel without attention that reads the cache
// it adds to.
// RUN: swage-run %s --entry=heads --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=one_cache --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=read_only_here --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=one_result --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=one_circular --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=two_lengths --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=own_rows --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=own_query --device=sim --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=norm --device=sim --sim=check,order=random --check | FileCheck %s
// CHECK: accepted
// CHECK-NOT: REJECTED
// CHECK: kernel{{s?}} ran

// Attention reads some of the heads that rows are added to.
func.func @heads(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x4x1x64xf16>, %vn: tensor<2x4x1x64xf16>, %kc: tensor<2x4x200x64xf16>, %vc: tensor<2x4x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 199>}) -> (tensor<2x4x1x64xf16>, tensor<2x4x200x64xf16> {swage.alias = 3}, tensor<2x4x200x64xf16> {swage.alias = 4}) {
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<2x4x200x64xf16>, tensor<2x4x1x64xf16>, tensor<2xi32>) -> tensor<2x4x200x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 : (tensor<2x4x200x64xf16>, tensor<2x4x1x64xf16>, tensor<2xi32>) -> tensor<2x4x200x64xf16>
  %k = swage.slice %ks axis 1 from 0 size 2 : tensor<2x4x200x64xf16> -> tensor<2x2x200x64xf16>
  %v = swage.slice %vs axis 1 from 0 size 2 : tensor<2x4x200x64xf16> -> tensor<2x2x200x64xf16>
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %ks, %vs : tensor<2x4x1x64xf16>, tensor<2x4x200x64xf16>, tensor<2x4x200x64xf16>
}

// Keys and values in one cache.
func.func @one_cache(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x2x1x64xf16>, %vn: tensor<2x2x1x64xf16>, %kc: tensor<2x2x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 199>}) -> (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) {
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %vs = swage.append %kc, %vn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %o = swage.attention %q, %ks, %vs scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %ks, %vs : tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>
}

// Caches that are no results.
func.func @read_only_here(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x2x1x64xf16>, %vn: tensor<2x2x1x64xf16>, %kc: tensor<2x2x200x64xf16>, %vc: tensor<2x2x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 199>}) -> (tensor<2x4x1x64xf16>) {
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %o = swage.attention %q, %ks, %vs scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o : tensor<2x4x1x64xf16>
}

// One of them is.
func.func @one_result(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x2x1x64xf16>, %vn: tensor<2x2x1x64xf16>, %kc: tensor<2x2x200x64xf16>, %vc: tensor<2x2x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 199>}) -> (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16> {swage.alias = 4}) {
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %o = swage.attention %q, %ks, %vs scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %vs : tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>
}

// A window that slides for keys alone.
func.func @one_circular(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x2x1x64xf16>, %vn: tensor<2x2x1x64xf16>, %kc: tensor<2x2x200x64xf16>, %vc: tensor<2x2x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: -3, 260>}) -> (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16> {swage.alias = 3}, tensor<2x2x200x64xf16> {swage.alias = 4}) {
  %ks = swage.append %kc, %kn at %pos axis 2 circular : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %o = swage.attention %q, %ks, %vs scale 0.125  : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %ks, %vs : tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>
}

// Two windows of two lengths.
func.func @two_lengths(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x2x1x64xf16>, %vn: tensor<2x2x1x64xf16>, %kc: tensor<2x2x200x64xf16>, %vc: tensor<2x2x256x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: 150, 455>}) -> (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16> {swage.alias = 3}, tensor<2x2x256x64xf16> {swage.alias = 4}) {
  %ks = swage.append %kc, %kn at %pos axis 2 circular : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 circular : (tensor<2x2x256x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x256x64xf16>
  %v = swage.slice %vs axis 2 from 0 size 200 : tensor<2x2x256x64xf16> -> tensor<2x2x200x64xf16>
  %o = swage.attention %q, %ks, %v scale 0.125  : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %ks, %vs : tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x256x64xf16>
}

// Rows that are read from their own cache, whose result is another tensor.
func.func @own_rows(%kc: tensor<2x2x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 100>}) -> (tensor<2x2x200x64xf16>) {
  %kn = swage.slice %kc axis 2 from 0 size 100 : tensor<2x2x200x64xf16> -> tensor<2x2x100x64xf16>
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x100x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  return %ks : tensor<2x2x200x64xf16>
}

// A query that is a row of the cache.
func.func @own_query(%kn: tensor<1x1x1x64xf16>, %vn: tensor<1x1x1x64xf16>, %kc: tensor<1x1x4096x64xf16>, %vc: tensor<1x1x4096x64xf16>, %pos: tensor<1xi32> {swage.range = array<i64: 0, 0>}) -> (tensor<1x1x1x64xf16>, tensor<1x1x4096x64xf16>, tensor<1x1x4096x64xf16>) {
  %q = swage.slice %kc axis 2 from 0 size 1 : tensor<1x1x4096x64xf16> -> tensor<1x1x1x64xf16>
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<1x1x4096x64xf16>, tensor<1x1x1x64xf16>, tensor<1xi32>) -> tensor<1x1x4096x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 : (tensor<1x1x4096x64xf16>, tensor<1x1x1x64xf16>, tensor<1xi32>) -> tensor<1x1x4096x64xf16>
  %o = swage.attention %q, %ks, %vs scale 1.0  : (tensor<1x1x1x64xf16>, tensor<1x1x4096x64xf16>, tensor<1x1x4096x64xf16>) -> tensor<1x1x1x64xf16>
  return %o, %ks, %vs : tensor<1x1x1x64xf16>, tensor<1x1x4096x64xf16>, tensor<1x1x4096x64xf16>
}

// A norm in front of queries is a kernel of its own.
func.func @norm(%q: tensor<2x4x1x64xf16>, %kn: tensor<2x2x1x64xf16>, %vn: tensor<2x2x1x64xf16>, %kc: tensor<2x2x200x64xf16>, %vc: tensor<2x2x200x64xf16>, %pos: tensor<2xi32> {swage.range = array<i64: -1, 200>}) -> (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16> {swage.alias = 3}, tensor<2x2x200x64xf16> {swage.alias = 4}) {
  %qn = swage.rms_norm %q axis 3 eps 1.0e-5 : (tensor<2x4x1x64xf16>) -> tensor<2x4x1x64xf16>
  %ks = swage.append %kc, %kn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %vs = swage.append %vc, %vn at %pos axis 2 : (tensor<2x2x200x64xf16>, tensor<2x2x1x64xf16>, tensor<2xi32>) -> tensor<2x2x200x64xf16>
  %o = swage.attention %qn, %ks, %vs scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>) -> tensor<2x4x1x64xf16>
  return %o, %ks, %vs : tensor<2x4x1x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>
}
