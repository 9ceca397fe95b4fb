// REQUIRES: nvrtc
// Without a GPU every kernel is compiled, and the table says so; a dump holds every stage.
// RUN: rm -rf %t && swage-run %s --device=none --dump=%t --json=%t.json | FileCheck %s
// RUN: rm -rf %t.env && env SWAGE_DUMP=%t.env swage-run %s --device=none > /dev/null && ls %t.env | FileCheck %s --check-prefix=STAGES
// RUN: ls %t | FileCheck %s --check-prefix=STAGES
// RUN: ls %t/layer_norm_* | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=LAUNCH < %t.json
// RUN: cat %t/layer_norm_*/*.ptx | FileCheck %s --check-prefix=PTX

// CHECK: kernel {{ *}}template {{ *}}regs {{ *}}local
// CHECK: layer_norm_{{[0-9a-f]+}} {{ *}}row {{.*}} 0 {{.*}}index=32
// CHECK: layer_norm_{{[0-9a-f]+}}: {{.*}}arith.addf at [[@LINE+21]]:8{{.*}}
// CHECK: compiled 1 kernel for sm_90a; nothing was run: --device=none.
// CHECK: --check judges every result

// STAGES: 01-swage-materialize-results.mlir
// STAGES: swage-recognize.mlir
// STAGES: swage-fuse.mlir
// STAGES: swage-prepare-for-emission.mlir
// STAGES: layer_norm_

// FILES: swage-select-schedule.mlir
// FILES: launch.json
// FILES-DAG: .cu
// FILES-DAG: .cubin
// FILES-DAG: .ptx

// LAUNCH: "peer": "swage"
// LAUNCH: "schedule": "#swage.row_schedule<

// PTX: ld.global{{.*}}v4
func.func @main(%x: tensor<64x768xf32>, %r: tensor<64x768xf32>) -> (tensor<64x768xf32>, tensor<64x768xf32>) {
  %s = arith.addf %x, %r : tensor<64x768xf32>
  %y = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<64x768xf32>) -> tensor<64x768xf32>
  return %s, %y : tensor<64x768xf32>, tensor<64x768xf32>
}
