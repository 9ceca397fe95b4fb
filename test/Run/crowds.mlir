// REQUIRES: host-compiler
// Few rows that more blocks share than a cluster holds, on the simulator against the reference: even and odd lengths, 16-bit types and
// f64, statistics, masks, in place. A device without clusters has crowds for rows this short.
// DEFINE: %{run} = swage-run %s --fuse --device=sim --arch=sm_80 --check
// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule=arch=sm_80 2>/dev/null | FileCheck %s --check-prefix=SCHEDULE
// RUN: %{run} --sim=check,order=random,seed=3 | FileCheck %s
// RUN: %{run} --sim=check,order=reverse --inputs=nasty | FileCheck %s
// What blocks leave for each other is gone when a launch has ended, so that the next one in the same memory finds none of it.
// RUN: %{run} --steps=3 | FileCheck %s
// SCHEDULE: @softmax_{{.*}}blocks_per_row = 19, staged = true, shelved_steps = 1, aligned = true
// SCHEDULE: @layer_norm_{{.*}}blocks_per_row = 17, staged = true, shelved_steps = 1, aligned = true
// SCHEDULE: @log_softmax_{{.*}}blocks_per_row = 19, staged = true, shelved_steps = 1>
// SCHEDULE: @softmax_{{.*}}blocks_per_row = 17, staged = true, shelved_steps = 1, aligned = true
// SCHEDULE: @rms_norm_{{.*}}blocks_per_row = 19, staged = true, shelved_steps = 1>
// SCHEDULE: @softmax_{{.*}}blocks_per_row = 17, staged = true, shelved_steps = 1, aligned = true
// CHECK-COUNT-8: accepted
// CHECK-NOT: rejected

// More rows than the device has crowds for at once, of small blocks.
// RUN: swage-run %s --entry=long --fuse --device=sim --arch=sm_80 --check | FileCheck %s --check-prefix=LONG
// LONG: blocks_per_row=17 staged=true
// LONG: accepted

// Two collectives, whose sums of small integers are exact, so that bits tell: as one block a row, and so many blocks that a device does
// not hold them all, and those that wait do the others' work.
// RUN: rm -rf %t && mkdir %t && swage-opt %S/Inputs/crowd.mlir --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null > %t/any.mlir
// RUN: sed 's/row_schedule<[^>]*>/row_schedule<kind = looped, threads_per_row = 1024, rows_per_block = 1, vector = 4, vectors_per_thread = 1, index = 32, staged = true, shelved_steps = 1>/' %t/any.mlir > %t/one.mlir
// RUN: sed 's/index = 32/index = 32, blocks_per_row = 19/' %t/one.mlir > %t/some.mlir
// RUN: sed 's/index = 32/index = 32, blocks_per_row = 266/' %t/one.mlir > %t/many.mlir
// RUN: swage-run %t/one.mlir --device=sim --inputs=exact --save-outputs=%t/one
// RUN: swage-run %t/some.mlir --device=sim --sim=check --inputs=exact --save-outputs=%t/some && cmp %t/one/result0.npy %t/some/result0.npy
// RUN: swage-run %t/many.mlir --device=sim --inputs=exact --save-outputs=%t/many && cmp %t/one/result0.npy %t/many/result0.npy
func.func @main(%a: tensor<1x40003xf32>, %b: tensor<2x36001xf32>, %g: tensor<36001xf32>, %c: tensor<1x80000xbf16>, %d: tensor<1x70001xf16>,
                %m: tensor<1x70001xi1>, %f: tensor<1x20000xf64>, %h: tensor<1x36001xf32>,
                %none: tensor<1xi32> {swage.range = array<i64: 0, 0>})
    -> (tensor<1x40003xf32> {swage.alias = 0 : i64}, tensor<1xf32>, tensor<2x36001xf32>, tensor<2xf32>, tensor<1x80000xbf16>, tensor<1x70001xf16>,
        tensor<1x20000xf64>, tensor<1x36001xf32>) {
  %0, %1 = swage.softmax %a axis 1 : tensor<1x40003xf32> -> tensor<1x40003xf32>, tensor<1xf32>
  %2, %mean, %3 = swage.layer_norm %b gamma %g beta %g axis 1 eps 1.0e-5
      : (tensor<2x36001xf32>, tensor<36001xf32>, tensor<36001xf32>) -> (tensor<2x36001xf32>, tensor<2xf32>, tensor<2xf32>)
  %4 = swage.softmax %c axis 1 log : tensor<1x80000xbf16> -> tensor<1x80000xbf16>
  %5 = swage.softmax %d mask %m axis 1 : tensor<1x70001xf16>, tensor<1x70001xi1> -> tensor<1x70001xf16>

  %6 = swage.rms_norm %f axis 1 eps 1.0e-5 : (tensor<1x20000xf64>) -> tensor<1x20000xf64>

  // A row that is masked throughout.
  %j = swage.iota dim 1 : tensor<1x36001xi32>
  %end = swage.broadcast %none dims [0] : tensor<1xi32> -> tensor<1x36001xi32>
  %keep = arith.cmpi slt, %j, %end : tensor<1x36001xi32>
  %7 = swage.softmax %h mask %keep axis 1 : tensor<1x36001xf32>, tensor<1x36001xi1> -> tensor<1x36001xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x40003xf32>, tensor<1xf32>, tensor<2x36001xf32>, tensor<2xf32>, tensor<1x80000xbf16>,
      tensor<1x70001xf16>, tensor<1x20000xf64>, tensor<1x36001xf32>
}

func.func @long(%x: tensor<8x275001xf32>) -> tensor<8x275001xf32> {
  %y = swage.softmax %x axis 1 : tensor<8x275001xf32> -> tensor<8x275001xf32>
  return %y : tensor<8x275001xf32>
}
