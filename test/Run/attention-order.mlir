// REQUIRES: host-compiler
// Whatever heads' tiles come together at the end of the order (templates/swage/attention_order.cuh), each is computed once: results are the same to the bit.
// RUN: rm -rf %t && mkdir %t
// RUN: swage-opt --swage-fuse --swage-merge-dimensions --swage-select-schedule %s > %t/all.mlir
// RUN: FileCheck %s --check-prefix=SELECTED < %t/all.mlir
// RUN: sed 's/tail = 33/tail = 1/' %t/all.mlir > %t/one.mlir
// RUN: sed 's/tail = 33/tail = 6/' %t/all.mlir > %t/six.mlir
// RUN: sed 's/section = [0-9]*/section = 60000/' %t/all.mlir > %t/fit.mlir
// RUN: sed 's/section = [0-9]*/section = 1/' %t/all.mlir > %t/none.mlir
// RUN: swage-run %s --device=sim --check --save-outputs=%t/graph | FileCheck %s
// RUN: swage-run %t/one.mlir --device=sim --save-outputs=%t/one && cmp %t/graph/result0.npy %t/one/result0.npy
// RUN: swage-run %t/six.mlir --device=sim --save-outputs=%t/six && cmp %t/graph/result0.npy %t/six/result0.npy
// RUN: swage-run %t/fit.mlir --device=sim --save-outputs=%t/fit && cmp %t/graph/result0.npy %t/fit/result0.npy
// RUN: swage-run %t/none.mlir --device=sim --save-outputs=%t/none && cmp %t/graph/result0.npy %t/none/result0.npy
// RUN: swage-opt --swage-fuse --swage-merge-dimensions --swage-select-schedule=arch=sm_80 %s | sed 's/tail = [0-9]*/tail = 6/' > %t/portable.mlir
// RUN: swage-run %s --device=sim --arch=sm_80 --check --save-outputs=%t/graph80 | FileCheck %s
// RUN: swage-run %t/portable.mlir --device=sim --arch=sm_80 --save-outputs=%t/portable && cmp %t/graph80/result0.npy %t/portable/result0.npy

// SELECTED: attention_schedule<{{.*}}section = {{[0-9]+}}, tail = 33
// CHECK: 3x6x200x32xf16{{ +}}accepted

func.func @main(%q: tensor<3x6x200x32xf16>, %k: tensor<3x3x200x32xf16>, %v: tensor<3x3x200x32xf16>) -> tensor<3x6x200x32xf16> {
  %o = swage.attention %q, %k, %v scale 0.17 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<3x6x200x32xf16>, tensor<3x3x200x32xf16>, tensor<3x3x200x32xf16>) -> tensor<3x6x200x32xf16>
  return %o : tensor<3x6x200x32xf16>
}
