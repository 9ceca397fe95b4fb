// REQUIRES: host-compiler
// A step in one kernel: it makes its queries, and adds new keys and values to the caches that it reads.
// RUN: swage-run %s --entry=halves --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=pairs --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=below --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=circular --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=chunks --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=halves --device=sim --arch=sm_80 --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=pairs --device=sim --arch=sm_80 --sim=check,order=random --check | FileCheck %s
// However many sequences there are, more of them than blocks too, and none.
// RUN: swage-run %s --entry=any --dims='5,8,1,64;5,4,1,64;5,4,1,64;5,4,150,64;5,4,150,64;5;5,8;8' --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=any --dims='45,8,1,64;45,4,1,64;45,4,1,64;45,4,150,64;45,4,150,64;45;45,8;8' --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// RUN: swage-run %s --entry=any --dims='45,8,1,64;45,4,1,64;45,4,1,64;45,4,150,64;45,4,150,64;45;45,8;8' --device=sim --arch=sm_80 --sim=check,order=random --check | FileCheck %s
// RUN: swage-run %s --entry=any --dims='0,8,1,64;0,4,1,64;0,4,1,64;0,4,150,64;0,4,150,64;0;0,8;8' --device=sim --check | FileCheck %s --check-prefix=NONE
// RUN: swage-run %s --entry=two --dims='70,4,2,32;70,2,2,32;70,2,2,32;70,2,90,32;70,2,90,32;70' --device=sim --sim=check,order=random,async=random --check --steps=2 | FileCheck %s
// NONE-COUNT-3: accepted
// CHECK: attention decode
// CHECK-COUNT-3: accepted
// CHECK: {{^}}1 kernel ran

// Rotary embedding of halves; positions before the cache and behind it are written nowhere.
func.func @halves(%q0: tensor<3x1x8x64xbf16>, %k0: tensor<3x1x2x64xbf16>, %v0: tensor<3x1x2x64xbf16>, %cos: tensor<3x1x32xf32>, %sin: tensor<3x1x32xf32>, %kcache: tensor<3x2x200x64xbf16>, %vcache: tensor<3x2x200x64xbf16>, %pos: tensor<3xi32> {swage.range = array<i64: -2, 200>}) -> (tensor<3x8x1x64xbf16>, tensor<3x2x200x64xbf16> {swage.alias = 5}, tensor<3x2x200x64xbf16> {swage.alias = 6}) {
  %ql = swage.slice %q0 axis 3 from 0 size 32 : tensor<3x1x8x64xbf16> -> tensor<3x1x8x32xbf16>
  %qh = swage.slice %q0 axis 3 from 32 size 32 : tensor<3x1x8x64xbf16> -> tensor<3x1x8x32xbf16>
  %qa = arith.extf %ql : tensor<3x1x8x32xbf16> to tensor<3x1x8x32xf32>
  %qbb = arith.extf %qh : tensor<3x1x8x32xbf16> to tensor<3x1x8x32xf32>
  %qc = swage.broadcast %cos dims [0, 1, 3] : tensor<3x1x32xf32> -> tensor<3x1x8x32xf32>
  %qs = swage.broadcast %sin dims [0, 1, 3] : tensor<3x1x32xf32> -> tensor<3x1x8x32xf32>
  %qac = arith.mulf %qa, %qc : tensor<3x1x8x32xf32>
  %qbs = arith.mulf %qbb, %qs : tensor<3x1x8x32xf32>
  %qbc = arith.mulf %qbb, %qc : tensor<3x1x8x32xf32>
  %qas = arith.mulf %qa, %qs : tensor<3x1x8x32xf32>
  %qx = arith.subf %qac, %qbs : tensor<3x1x8x32xf32>
  %qy = arith.addf %qbc, %qas : tensor<3x1x8x32xf32>
  %qxn = arith.truncf %qx : tensor<3x1x8x32xf32> to tensor<3x1x8x32xbf16>
  %qyn = arith.truncf %qy : tensor<3x1x8x32xf32> to tensor<3x1x8x32xbf16>
  %qr = swage.concat %qxn, %qyn axis 3 : (tensor<3x1x8x32xbf16>, tensor<3x1x8x32xbf16>) -> tensor<3x1x8x64xbf16>
  %kl = swage.slice %k0 axis 3 from 0 size 32 : tensor<3x1x2x64xbf16> -> tensor<3x1x2x32xbf16>
  %kh = swage.slice %k0 axis 3 from 32 size 32 : tensor<3x1x2x64xbf16> -> tensor<3x1x2x32xbf16>
  %ka = arith.extf %kl : tensor<3x1x2x32xbf16> to tensor<3x1x2x32xf32>
  %kbb = arith.extf %kh : tensor<3x1x2x32xbf16> to tensor<3x1x2x32xf32>
  %kc = swage.broadcast %cos dims [0, 1, 3] : tensor<3x1x32xf32> -> tensor<3x1x2x32xf32>
  %ks = swage.broadcast %sin dims [0, 1, 3] : tensor<3x1x32xf32> -> tensor<3x1x2x32xf32>
  %kac = arith.mulf %ka, %kc : tensor<3x1x2x32xf32>
  %kbs = arith.mulf %kbb, %ks : tensor<3x1x2x32xf32>
  %kbc = arith.mulf %kbb, %kc : tensor<3x1x2x32xf32>
  %kas = arith.mulf %ka, %ks : tensor<3x1x2x32xf32>
  %kx = arith.subf %kac, %kbs : tensor<3x1x2x32xf32>
  %ky = arith.addf %kbc, %kas : tensor<3x1x2x32xf32>
  %kxn = arith.truncf %kx : tensor<3x1x2x32xf32> to tensor<3x1x2x32xbf16>
  %kyn = arith.truncf %ky : tensor<3x1x2x32xf32> to tensor<3x1x2x32xbf16>
  %kr = swage.concat %kxn, %kyn axis 3 : (tensor<3x1x2x32xbf16>, tensor<3x1x2x32xbf16>) -> tensor<3x1x2x64xbf16>
  %qp = swage.permute %qr [0, 2, 1, 3] : tensor<3x1x8x64xbf16> -> tensor<3x8x1x64xbf16>
  %kp = swage.permute %kr [0, 2, 1, 3] : tensor<3x1x2x64xbf16> -> tensor<3x2x1x64xbf16>
  %vp = swage.permute %v0 [0, 2, 1, 3] : tensor<3x1x2x64xbf16> -> tensor<3x2x1x64xbf16>
  %keys0 = swage.append %kcache, %kp at %pos axis 2 : (tensor<3x2x200x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x200x64xbf16>
  %values0 = swage.append %vcache, %vp at %pos axis 2 : (tensor<3x2x200x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x200x64xbf16>
  %o = swage.attention %qp, %keys0, %values0 scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<3xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<3x8x1x64xbf16>, tensor<3x2x200x64xbf16>, tensor<3x2x200x64xbf16>) -> tensor<3x8x1x64xbf16>
  return %o, %keys0, %values0 : tensor<3x8x1x64xbf16>, tensor<3x2x200x64xbf16>, tensor<3x2x200x64xbf16>
}

// Alternating columns, two tokens, keys beside each other in [B, L, H, D]; the results are tensors of their own.
func.func @pairs(%q0: tensor<2x2x4x32xbf16>, %k0: tensor<2x2x1x32xbf16>, %v0: tensor<2x2x1x32xbf16>, %cos: tensor<2x2x16xf32>, %sin: tensor<2x2x16xf32>, %kcache: tensor<2x150x1x32xbf16>, %vcache: tensor<2x150x1x32xbf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 148>}) -> (tensor<2x4x2x32xbf16>, tensor<2x150x1x32xbf16>, tensor<2x150x1x32xbf16>) {
  %q5 = swage.reshape %q0 : tensor<2x2x4x32xbf16> -> tensor<2x2x4x16x2xbf16>
  %q5l = swage.slice %q5 axis 4 from 0 size 1 : tensor<2x2x4x16x2xbf16> -> tensor<2x2x4x16x1xbf16>
  %ql = swage.reshape %q5l : tensor<2x2x4x16x1xbf16> -> tensor<2x2x4x16xbf16>
  %q5h = swage.slice %q5 axis 4 from 1 size 1 : tensor<2x2x4x16x2xbf16> -> tensor<2x2x4x16x1xbf16>
  %qh = swage.reshape %q5h : tensor<2x2x4x16x1xbf16> -> tensor<2x2x4x16xbf16>
  %qa = arith.extf %ql : tensor<2x2x4x16xbf16> to tensor<2x2x4x16xf32>
  %qbb = arith.extf %qh : tensor<2x2x4x16xbf16> to tensor<2x2x4x16xf32>
  %qc = swage.broadcast %cos dims [0, 1, 3] : tensor<2x2x16xf32> -> tensor<2x2x4x16xf32>
  %qs = swage.broadcast %sin dims [0, 1, 3] : tensor<2x2x16xf32> -> tensor<2x2x4x16xf32>
  %qac = arith.mulf %qa, %qc : tensor<2x2x4x16xf32>
  %qbs = arith.mulf %qbb, %qs : tensor<2x2x4x16xf32>
  %qbc = arith.mulf %qbb, %qc : tensor<2x2x4x16xf32>
  %qas = arith.mulf %qa, %qs : tensor<2x2x4x16xf32>
  %qx = arith.subf %qac, %qbs : tensor<2x2x4x16xf32>
  %qy = arith.addf %qbc, %qas : tensor<2x2x4x16xf32>
  %qxn = arith.truncf %qx : tensor<2x2x4x16xf32> to tensor<2x2x4x16xbf16>
  %qyn = arith.truncf %qy : tensor<2x2x4x16xf32> to tensor<2x2x4x16xbf16>
  %qx5 = swage.reshape %qxn : tensor<2x2x4x16xbf16> -> tensor<2x2x4x16x1xbf16>
  %qy5 = swage.reshape %qyn : tensor<2x2x4x16xbf16> -> tensor<2x2x4x16x1xbf16>
  %qr5 = swage.concat %qx5, %qy5 axis 4 : (tensor<2x2x4x16x1xbf16>, tensor<2x2x4x16x1xbf16>) -> tensor<2x2x4x16x2xbf16>
  %qr = swage.reshape %qr5 : tensor<2x2x4x16x2xbf16> -> tensor<2x2x4x32xbf16>
  %k5 = swage.reshape %k0 : tensor<2x2x1x32xbf16> -> tensor<2x2x1x16x2xbf16>
  %k5l = swage.slice %k5 axis 4 from 0 size 1 : tensor<2x2x1x16x2xbf16> -> tensor<2x2x1x16x1xbf16>
  %kl = swage.reshape %k5l : tensor<2x2x1x16x1xbf16> -> tensor<2x2x1x16xbf16>
  %k5h = swage.slice %k5 axis 4 from 1 size 1 : tensor<2x2x1x16x2xbf16> -> tensor<2x2x1x16x1xbf16>
  %kh = swage.reshape %k5h : tensor<2x2x1x16x1xbf16> -> tensor<2x2x1x16xbf16>
  %ka = arith.extf %kl : tensor<2x2x1x16xbf16> to tensor<2x2x1x16xf32>
  %kbb = arith.extf %kh : tensor<2x2x1x16xbf16> to tensor<2x2x1x16xf32>
  %kc = swage.broadcast %cos dims [0, 1, 3] : tensor<2x2x16xf32> -> tensor<2x2x1x16xf32>
  %ks = swage.broadcast %sin dims [0, 1, 3] : tensor<2x2x16xf32> -> tensor<2x2x1x16xf32>
  %kac = arith.mulf %ka, %kc : tensor<2x2x1x16xf32>
  %kbs = arith.mulf %kbb, %ks : tensor<2x2x1x16xf32>
  %kbc = arith.mulf %kbb, %kc : tensor<2x2x1x16xf32>
  %kas = arith.mulf %ka, %ks : tensor<2x2x1x16xf32>
  %kx = arith.subf %kac, %kbs : tensor<2x2x1x16xf32>
  %ky = arith.addf %kbc, %kas : tensor<2x2x1x16xf32>
  %kxn = arith.truncf %kx : tensor<2x2x1x16xf32> to tensor<2x2x1x16xbf16>
  %kyn = arith.truncf %ky : tensor<2x2x1x16xf32> to tensor<2x2x1x16xbf16>
  %kx5 = swage.reshape %kxn : tensor<2x2x1x16xbf16> -> tensor<2x2x1x16x1xbf16>
  %ky5 = swage.reshape %kyn : tensor<2x2x1x16xbf16> -> tensor<2x2x1x16x1xbf16>
  %kr5 = swage.concat %kx5, %ky5 axis 4 : (tensor<2x2x1x16x1xbf16>, tensor<2x2x1x16x1xbf16>) -> tensor<2x2x1x16x2xbf16>
  %kr = swage.reshape %kr5 : tensor<2x2x1x16x2xbf16> -> tensor<2x2x1x32xbf16>
  %qp = swage.permute %qr [0, 2, 1, 3] : tensor<2x2x4x32xbf16> -> tensor<2x4x2x32xbf16>
  %keys0 = swage.append %kcache, %kr at %pos axis 1 : (tensor<2x150x1x32xbf16>, tensor<2x2x1x32xbf16>, tensor<2xi32>) -> tensor<2x150x1x32xbf16>
  %values0 = swage.append %vcache, %v0 at %pos axis 1 : (tensor<2x150x1x32xbf16>, tensor<2x2x1x32xbf16>, tensor<2xi32>) -> tensor<2x150x1x32xbf16>
  %keys = swage.permute %keys0 [0, 2, 1, 3] : tensor<2x150x1x32xbf16> -> tensor<2x1x150x32xbf16>
  %values = swage.permute %values0 [0, 2, 1, 3] : tensor<2x150x1x32xbf16> -> tensor<2x1x150x32xbf16>
  %o = swage.attention %qp, %keys, %values scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x2x32xbf16>, tensor<2x1x150x32xbf16>, tensor<2x1x150x32xbf16>) -> tensor<2x4x2x32xbf16>
  return %o, %keys0, %values0 : tensor<2x4x2x32xbf16>, tensor<2x150x1x32xbf16>, tensor<2x150x1x32xbf16>
}

// A bias, and a mask that leaves out what was added: it is in no tile.
func.func @below(%q0: tensor<2x1x2x64xbf16>, %k0: tensor<2x1x2x64xbf16>, %v0: tensor<2x1x2x64xbf16>, %biasq: tensor<2x64xbf16>, %biask: tensor<2x64xbf16>, %kcache: tensor<2x2x500x64xbf16>, %vcache: tensor<2x2x500x64xbf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 499>}) -> (tensor<2x2x1x64xbf16>, tensor<2x2x500x64xbf16> {swage.alias = 5}, tensor<2x2x500x64xbf16> {swage.alias = 6}) {
  %qb = swage.broadcast %biasq dims [2, 3] : tensor<2x64xbf16> -> tensor<2x1x2x64xbf16>
  %qr = arith.addf %q0, %qb : tensor<2x1x2x64xbf16>
  %kb = swage.broadcast %biask dims [2, 3] : tensor<2x64xbf16> -> tensor<2x1x2x64xbf16>
  %kr = arith.addf %k0, %kb : tensor<2x1x2x64xbf16>
  %qp = swage.permute %qr [0, 2, 1, 3] : tensor<2x1x2x64xbf16> -> tensor<2x2x1x64xbf16>
  %kp = swage.permute %kr [0, 2, 1, 3] : tensor<2x1x2x64xbf16> -> tensor<2x2x1x64xbf16>
  %vp = swage.permute %v0 [0, 2, 1, 3] : tensor<2x1x2x64xbf16> -> tensor<2x2x1x64xbf16>
  %keys0 = swage.append %kcache, %kp at %pos axis 2 : (tensor<2x2x500x64xbf16>, tensor<2x2x1x64xbf16>, tensor<2xi32>) -> tensor<2x2x500x64xbf16>
  %values0 = swage.append %vcache, %vp at %pos axis 2 : (tensor<2x2x500x64xbf16>, tensor<2x2x1x64xbf16>, tensor<2xi32>) -> tensor<2x2x500x64xbf16>
  %o = swage.attention %qp, %keys0, %values0 scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %far = arith.constant 300 : i32
    %less = arith.subi %last, %far : i32
    %seen = arith.cmpi sle, %jj, %less : i32
    swage.yield %seen : i1
  } : (tensor<2x2x1x64xbf16>, tensor<2x2x500x64xbf16>, tensor<2x2x500x64xbf16>) -> tensor<2x2x1x64xbf16>
  return %o, %keys0, %values0 : tensor<2x2x1x64xbf16>, tensor<2x2x500x64xbf16>, tensor<2x2x500x64xbf16>
}

// A window that slides, of all whose keys are seen.
func.func @circular(%q0: tensor<2x1x2x40xbf16>, %k0: tensor<2x1x1x40xbf16>, %v0: tensor<2x1x1x40xbf16>, %kcache: tensor<2x1x70x40xbf16>, %vcache: tensor<2x1x70x40xbf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 300>}) -> (tensor<2x2x1x40xbf16>, tensor<2x1x70x40xbf16> {swage.alias = 3}, tensor<2x1x70x40xbf16> {swage.alias = 4}) {
  %qp = swage.permute %q0 [0, 2, 1, 3] : tensor<2x1x2x40xbf16> -> tensor<2x2x1x40xbf16>
  %kp = swage.permute %k0 [0, 2, 1, 3] : tensor<2x1x1x40xbf16> -> tensor<2x1x1x40xbf16>
  %vp = swage.permute %v0 [0, 2, 1, 3] : tensor<2x1x1x40xbf16> -> tensor<2x1x1x40xbf16>
  %keys0 = swage.append %kcache, %kp at %pos axis 2 circular : (tensor<2x1x70x40xbf16>, tensor<2x1x1x40xbf16>, tensor<2xi32>) -> tensor<2x1x70x40xbf16>
  %values0 = swage.append %vcache, %vp at %pos axis 2 circular : (tensor<2x1x70x40xbf16>, tensor<2x1x1x40xbf16>, tensor<2xi32>) -> tensor<2x1x70x40xbf16>
  %o = swage.attention %qp, %keys0, %values0 scale 0.125 : (tensor<2x2x1x40xbf16>, tensor<2x1x70x40xbf16>, tensor<2x1x70x40xbf16>) -> tensor<2x2x1x40xbf16>
  return %o, %keys0, %values0 : tensor<2x2x1x40xbf16>, tensor<2x1x70x40xbf16>, tensor<2x1x70x40xbf16>
}

// Sums that do not depend on the batch.
func.func @chunks(%q0: tensor<2x1x4x128xbf16>, %k0: tensor<2x1x1x128xbf16>, %v0: tensor<2x1x1x128xbf16>, %biasq: tensor<4x128xbf16>, %biask: tensor<1x128xbf16>, %kcache: tensor<2x1x1100x128xbf16>, %vcache: tensor<2x1x1100x128xbf16>, %pos: tensor<2xi32> {swage.range = array<i64: 0, 1099>}) -> (tensor<2x4x1x128xbf16>, tensor<2x1x1100x128xbf16> {swage.alias = 5}, tensor<2x1x1100x128xbf16> {swage.alias = 6}) {
  %qb = swage.broadcast %biasq dims [2, 3] : tensor<4x128xbf16> -> tensor<2x1x4x128xbf16>
  %qr = arith.addf %q0, %qb : tensor<2x1x4x128xbf16>
  %kb = swage.broadcast %biask dims [2, 3] : tensor<1x128xbf16> -> tensor<2x1x1x128xbf16>
  %kr = arith.addf %k0, %kb : tensor<2x1x1x128xbf16>
  %qp = swage.permute %qr [0, 2, 1, 3] : tensor<2x1x4x128xbf16> -> tensor<2x4x1x128xbf16>
  %kp = swage.permute %kr [0, 2, 1, 3] : tensor<2x1x1x128xbf16> -> tensor<2x1x1x128xbf16>
  %vp = swage.permute %v0 [0, 2, 1, 3] : tensor<2x1x1x128xbf16> -> tensor<2x1x1x128xbf16>
  %keys0 = swage.append %kcache, %kp at %pos axis 2 : (tensor<2x1x1100x128xbf16>, tensor<2x1x1x128xbf16>, tensor<2xi32>) -> tensor<2x1x1100x128xbf16>
  %values0 = swage.append %vcache, %vp at %pos axis 2 : (tensor<2x1x1100x128xbf16>, tensor<2x1x1x128xbf16>, tensor<2xi32>) -> tensor<2x1x1100x128xbf16>
  %o = swage.attention %qp, %keys0, %values0 scale 0.125 batch_invariant mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %pos[%b] : tensor<2xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<2x4x1x128xbf16>, tensor<2x1x1100x128xbf16>, tensor<2x1x1100x128xbf16>) -> tensor<2x4x1x128xbf16>
  return %o, %keys0, %values0 : tensor<2x4x1x128xbf16>, tensor<2x1x1100x128xbf16>, tensor<2x1x1100x128xbf16>
}

// Lengths of each head, and sinks.
func.func @any(%q: tensor<?x8x1x64xbf16>, %k: tensor<?x4x1x64xbf16>, %v: tensor<?x4x1x64xbf16>, %kc: tensor<?x4x?x64xbf16>, %vc: tensor<?x4x?x64xbf16>, %at: tensor<?xi32> {swage.range = array<i64: -2, 160>}, %length: tensor<?x8xi32> {swage.range = array<i64: 0, 160>}, %sink: tensor<8xf32>) -> (tensor<?x8x1x64xbf16>, tensor<?x4x?x64xbf16> {swage.alias = 3}, tensor<?x4x?x64xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<?x4x?x64xbf16>, tensor<?x4x1x64xbf16>, tensor<?xi32>) -> tensor<?x4x?x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<?x4x?x64xbf16>, tensor<?x4x1x64xbf16>, tensor<?xi32>) -> tensor<?x4x?x64xbf16>
  %o = swage.attention %q, %keys, %values sinks %sink scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %end = tensor.extract %length[%b, %h] : tensor<?x8xi32>
    %jj = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %jj, %end : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<8xf32>) -> tensor<?x8x1x64xbf16>
  return %o, %keys, %values : tensor<?x8x1x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>
}

// Two rows, of which the first query does not see the second one's key, and a block has more than one unit.
func.func @two(%q: tensor<?x4x2x32xbf16>, %k: tensor<?x2x2x32xbf16>, %v: tensor<?x2x2x32xbf16>, %kc: tensor<?x2x90x32xbf16>, %vc: tensor<?x2x90x32xbf16>, %at: tensor<?xi32> {swage.range = array<i64: -3, 91>}) -> (tensor<?x4x2x32xbf16>, tensor<?x2x90x32xbf16> {swage.alias = 3}, tensor<?x2x90x32xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<?x2x90x32xbf16>, tensor<?x2x2x32xbf16>, tensor<?xi32>) -> tensor<?x2x90x32xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<?x2x90x32xbf16>, tensor<?x2x2x32xbf16>, tensor<?xi32>) -> tensor<?x2x90x32xbf16>
  %o = swage.attention %q, %keys, %values scale 0.25 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %p = tensor.extract %at[%b] : tensor<?xi32>
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %last = arith.addi %p, %ii : i32
    %seen = arith.cmpi sle, %jj, %last : i32
    swage.yield %seen : i1
  } : (tensor<?x4x2x32xbf16>, tensor<?x2x90x32xbf16>, tensor<?x2x90x32xbf16>) -> tensor<?x4x2x32xbf16>
  return %o, %keys, %values : tensor<?x4x2x32xbf16>, tensor<?x2x90x32xbf16>, tensor<?x2x90x32xbf16>
}
