// REQUIRES: host-compiler
// Without a GPU, and without NVRTC, every kernel runs on the simulator and every result is judged.
// RUN: env SWAGE_CUDA_DRIVER=%t.nothing SWAGE_NVRTC=%t.nothing swage-run %s --check --benchmark | FileCheck %s --check-prefixes=DEFAULT,CHECK
// RUN: swage-run %s --device=sim --check --sim=order=random,async=late,seed=7 | FileCheck %s --check-prefixes=OPTIONS,CHECK
// RUN: swage-run %s --sim=order=reverse --check --inputs=nasty --align=4 --offset=4 | FileCheck %s --check-prefix=NASTY

// A dump holds the module; the results are the same in whatever order threads run.
// RUN: rm -rf %t.dump %t.a %t.b && swage-run %s --device=sim --dump=%t.dump --save-outputs=%t.a --json=%t.json > /dev/null
// RUN: swage-run %s --device=sim --sim=order=random,workers=1 --save-outputs=%t.b > /dev/null
// RUN: cmp %t.a/result0.npy %t.b/result0.npy && cmp %t.a/result1.npy %t.b/result1.npy
// RUN: ls %t.dump/layer_norm_* | FileCheck %s --check-prefix=FILES --implicit-check-not=.ptx --implicit-check-not=.cubin
// RUN: FileCheck %s --check-prefix=JSON --implicit-check-not=registers < %t.json

// DEFAULT: no GPU (CUDA driver: {{.*}}): the kernels run on the simulator
// DEFAULT-NEXT: simulator.mlir on the simulator of NVIDIA H200{{$}}
// DEFAULT-NEXT: no times: those of the simulator would mean nothing
// OPTIONS: simulator.mlir on the simulator of NVIDIA H200 (order=random,async=late,seed=7)
// CHECK: layer_norm_{{[0-9a-f]+}} {{ *}}row {{.*}} - {{ *}}-
// CHECK: 0 {{ *}}64x768xf32 {{ *}}accepted
// CHECK: 1 {{ *}}64x768xf32 {{ *}}accepted
// CHECK: 1 kernel ran on the simulator for {{[0-9.]+}} s, compiled by {{.+}}: the same text that a GPU runs.

// NASTY: 0 {{ *}}64x768xf32 {{ *}}accepted
// NASTY: 1 {{ *}}64x768xf32 {{ *}}accepted

// FILES-DAG: .cu
// FILES-DAG: .so
// FILES-DAG: .log

// The script next to a kernel of the dump runs it by itself.
// RUN: sh %t.dump/layer_norm_*/simulate.sh --sim=check,order=reverse | FileCheck %s --check-prefix=SCRIPT
// SCRIPT: argument 2, 64x768xf32: {{[-0-9.]+}}
// SCRIPT: argument 3, 64x768xf32: {{[-0-9.]+}}

// JSON: "schedule": "#swage.row_schedule<
func.func @main(%x: tensor<64x768xf32>, %r: tensor<64x768xf32>) -> (tensor<64x768xf32>, tensor<64x768xf32>) {
  %s = arith.addf %x, %r : tensor<64x768xf32>
  %y = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<64x768xf32>) -> tensor<64x768xf32>
  return %s, %y : tensor<64x768xf32>, tensor<64x768xf32>
}
