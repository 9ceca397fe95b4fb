// REQUIRES: host-compiler
// Kernels that may overlap give the same results; the simulator checks that each waits before it touches global memory.
// RUN: env SWAGE_OVERLAP=on swage-run %s --device=sim --check --sim=check --dump=%t.dump:launch,cuda | FileCheck %s --check-prefixes=CHECK,ON
// RUN: env SWAGE_OVERLAP=off swage-run %s --device=sim --check | FileCheck %s "--implicit-check-not=may overlap"
// ON: layer_norm_{{[0-9a-f]+}}: {{.*}}, may overlap the one before
// ON: transpose_{{[0-9a-f]+}}: {{.*}}, may overlap the one before
// CHECK: 0 {{ *}}768x64xf32 {{ *}}accepted
// RUN: cat %t.dump/transpose_*/launch.json | FileCheck %s --check-prefix=JSON
// JSON: "cluster": 1,
// JSON: "dynamicSharedBytes": 0,
// JSON: "overlap": true,

// A kernel from a file may not wait: its launch does not overlap.
// RUN: cp %t.dump/transpose_*/*.cu %t.cu && sed -i '/waitForPriorGrids/d' %t.cu
// RUN: env SWAGE_OVERLAP=on "SWAGE_OVERRIDE=transpose_*=%t.cu" swage-run %s --device=sim --check --sim=check 2>/dev/null | FileCheck %s --check-prefix=OVERRIDE
// OVERRIDE: transpose_{{[0-9a-f]+}}: {{.*}} at {{[0-9:]+}}, from
// OVERRIDE: 0 {{ *}}768x64xf32 {{ *}}accepted
func.func @main(%x: tensor<64x768xf32>, %g: tensor<768xf32>) -> tensor<768x64xf32> {
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<64x768xf32>, tensor<768xf32>) -> tensor<64x768xf32>
  %z = swage.permute %y [1, 0] : tensor<64x768xf32> -> tensor<768x64xf32>
  return %z : tensor<768x64xf32>
}
