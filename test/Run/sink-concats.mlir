// REQUIRES: host-compiler
// What is computed from concatenations, whose parts one kernel writes: rotary embeddings with halves turned by hand and with alternating columns, behind which something is
// computed or nothing, and of a dynamic number of positions.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --inputs=nasty --arch=sm_80 | FileCheck %s --implicit-check-not=REJECTED
// RUN: swage-run %s --entry=open --dims='3,4,16;3,1,16' --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-run %s --entry=scaled --device=sim --sim=check --check | FileCheck %s --check-prefix=SCALED
// RUN: swage-run %s --entry=in_place --device=sim --sim=check --check | FileCheck %s --check-prefix=OPEN
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=KERNELS
// CHECK-COUNT-4: accepted
// OPEN: accepted
// SCALED-COUNT-2: accepted
// KERNELS-LABEL: func.func @main
// KERNELS-COUNT-2: swage.launch @pointwise_
// KERNELS-NOT: swage.launch
// KERNELS-LABEL: func.func @open
// KERNELS-COUNT-1: swage.launch @pointwise_
// KERNELS-NOT: swage.launch
// KERNELS-LABEL: func.func @scaled
// KERNELS-COUNT-2: swage.launch @pointwise_
// KERNELS-NOT: swage.launch
// KERNELS-LABEL: func.func @in_place
// KERNELS-COUNT-2: swage.launch
// KERNELS-NOT: swage.launch
// KERNELS: return
func.func @main(%x: tensor<2x9x3x40xbf16>, %cos: tensor<9x40xbf16>, %sin: tensor<9x40xbf16>, %c: tensor<9x20xf32>, %s: tensor<9x20xf32>)
    -> (tensor<2x9x3x40xbf16>, tensor<2x3x9x40xbf16>, tensor<2x9x3x40xbf16>, tensor<2x9x3x40xbf16>) {
  %a = swage.slice %x axis 3 from 0 size 20 : tensor<2x9x3x40xbf16> -> tensor<2x9x3x20xbf16>
  %b = swage.slice %x axis 3 from 20 size 20 : tensor<2x9x3x40xbf16> -> tensor<2x9x3x20xbf16>
  %n = arith.negf %b : tensor<2x9x3x20xbf16>
  %turned = swage.concat %n, %a axis 3 : (tensor<2x9x3x20xbf16>, tensor<2x9x3x20xbf16>) -> tensor<2x9x3x40xbf16>
  %coss = swage.broadcast %cos dims [1, 3] : tensor<9x40xbf16> -> tensor<2x9x3x40xbf16>
  %sins = swage.broadcast %sin dims [1, 3] : tensor<9x40xbf16> -> tensor<2x9x3x40xbf16>
  %0 = arith.mulf %x, %coss : tensor<2x9x3x40xbf16>
  %1 = arith.mulf %turned, %sins : tensor<2x9x3x40xbf16>
  %halves = arith.addf %0, %1 : tensor<2x9x3x40xbf16>

  // The same with heads in front.
  %turned2 = swage.concat %n, %a axis 3 : (tensor<2x9x3x20xbf16>, tensor<2x9x3x20xbf16>) -> tensor<2x9x3x40xbf16>
  %2 = arith.mulf %turned2, %sins : tensor<2x9x3x40xbf16>
  %3 = arith.subf %0, %2 : tensor<2x9x3x40xbf16>
  %heads = swage.permute %3 [0, 2, 1, 3] : tensor<2x9x3x40xbf16> -> tensor<2x3x9x40xbf16>

  %even = swage.slice %x axis 3 from 0 size 20 step 2 : tensor<2x9x3x40xbf16> -> tensor<2x9x3x20xbf16>
  %odd = swage.slice %x axis 3 from 1 size 20 step 2 : tensor<2x9x3x40xbf16> -> tensor<2x9x3x20xbf16>
  %e = arith.extf %even : tensor<2x9x3x20xbf16> to tensor<2x9x3x20xf32>
  %o = arith.extf %odd : tensor<2x9x3x20xbf16> to tensor<2x9x3x20xf32>
  %cs = swage.broadcast %c dims [1, 3] : tensor<9x20xf32> -> tensor<2x9x3x20xf32>
  %ss = swage.broadcast %s dims [1, 3] : tensor<9x20xf32> -> tensor<2x9x3x20xf32>
  %ec = arith.mulf %e, %cs : tensor<2x9x3x20xf32>
  %os = arith.mulf %o, %ss : tensor<2x9x3x20xf32>
  %oc = arith.mulf %o, %cs : tensor<2x9x3x20xf32>
  %es = arith.mulf %e, %ss : tensor<2x9x3x20xf32>
  %first = arith.subf %ec, %os : tensor<2x9x3x20xf32>
  %second = arith.addf %oc, %es : tensor<2x9x3x20xf32>
  %f1 = swage.reshape %first : tensor<2x9x3x20xf32> -> tensor<2x9x3x20x1xf32>
  %s1 = swage.reshape %second : tensor<2x9x3x20xf32> -> tensor<2x9x3x20x1xf32>
  %pairs = swage.concat %f1, %s1 axis 4 : (tensor<2x9x3x20x1xf32>, tensor<2x9x3x20x1xf32>) -> tensor<2x9x3x20x2xf32>
  %flat = swage.reshape %pairs : tensor<2x9x3x20x2xf32> -> tensor<2x9x3x40xf32>
  %narrow = arith.truncf %flat : tensor<2x9x3x40xf32> to tensor<2x9x3x40xbf16>
  %alternating = arith.mulf %narrow, %x : tensor<2x9x3x40xbf16>

  %f2 = arith.truncf %f1 : tensor<2x9x3x20x1xf32> to tensor<2x9x3x20x1xbf16>
  %s2 = arith.truncf %s1 : tensor<2x9x3x20x1xf32> to tensor<2x9x3x20x1xbf16>
  %stacked = swage.concat %f2, %s2 axis 4 : (tensor<2x9x3x20x1xbf16>, tensor<2x9x3x20x1xbf16>) -> tensor<2x9x3x20x2xbf16>
  %plain = swage.reshape %stacked : tensor<2x9x3x20x2xbf16> -> tensor<2x9x3x40xbf16>
  return %halves, %heads, %alternating, %plain : tensor<2x9x3x40xbf16>, tensor<2x3x9x40xbf16>, tensor<2x9x3x40xbf16>, tensor<2x9x3x40xbf16>
}

func.func @open(%x: tensor<?x4x16xf16>, %y: tensor<?x1x16xf16>) -> tensor<?x4x16xf16> {
  %a = swage.slice %x axis 2 from 0 size 8 : tensor<?x4x16xf16> -> tensor<?x4x8xf16>
  %b = swage.slice %x axis 2 from 8 size 8 : tensor<?x4x16xf16> -> tensor<?x4x8xf16>
  %turned = swage.concat %b, %a axis 2 : (tensor<?x4x8xf16>, tensor<?x4x8xf16>) -> tensor<?x4x16xf16>
  %ys = swage.broadcast %y dims [0, 1, 2] : tensor<?x1x16xf16> -> tensor<?x4x16xf16>
  %r = arith.mulf %turned, %ys : tensor<?x4x16xf16>
  return %r : tensor<?x4x16xf16>
}

// Alternating parts, which are contiguous nowhere, times what repeats along them; and a gate that reads its operand twice.
func.func @scaled(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>, %s: tensor<4xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>) {
  %0 = swage.reshape %a : tensor<4x4xf16> -> tensor<4x4x1xf16>
  %1 = swage.reshape %b : tensor<4x4xf16> -> tensor<4x4x1xf16>
  %2 = swage.concat %0, %1 axis 2 : (tensor<4x4x1xf16>, tensor<4x4x1xf16>) -> tensor<4x4x2xf16>
  %3 = swage.reshape %2 : tensor<4x4x2xf16> -> tensor<4x8xf16>
  %4 = swage.broadcast %s dims [0] : tensor<4xf16> -> tensor<4x8xf16>
  %5 = arith.mulf %4, %3 : tensor<4x8xf16>
  %6 = swage.concat %a, %b axis 1 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x8xf16>
  %7 = math.tanh %4 : tensor<4x8xf16>
  %8 = arith.mulf %7, %4 : tensor<4x8xf16>
  %9 = arith.mulf %6, %8 : tensor<4x8xf16>
  return %5, %9 : tensor<4x8xf16>, tensor<4x8xf16>
}

// Where the result may lie in x, the turned halves are stored first.
func.func @in_place(%x: tensor<3x16xf32>, %cos: tensor<3x16xf32>, %sin: tensor<3x16xf32>) -> (tensor<3x16xf32> {swage.alias = 0 : i64}) {
  %a = swage.slice %x axis 1 from 0 size 8 : tensor<3x16xf32> -> tensor<3x8xf32>
  %b = swage.slice %x axis 1 from 8 size 8 : tensor<3x16xf32> -> tensor<3x8xf32>
  %t = swage.concat %b, %a axis 1 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x16xf32>
  %0 = arith.mulf %x, %cos : tensor<3x16xf32>
  %1 = arith.mulf %t, %sin : tensor<3x16xf32>
  %r = arith.addf %0, %1 : tensor<3x16xf32>
  return %r : tensor<3x16xf32>
}
