// REQUIRES: nvrtc
// RUN: swage-translate --swage-to-report %s | FileCheck %s

// Left to itself, ptxas keeps this kernel to the 64 registers that let two blocks in, and spills: it is compiled again.
// CHECK: group_norm sm_90a: {{.*}} 0 bytes spilled, 0 bytes of stack

#map = affine_map<() -> (32, 32, 16, 4096)>
module {
  func.func @main(%arg0: tensor<32x512x64x64xbf16>, %arg1: tensor<512xbf16>, %arg2: tensor<512xbf16>)
      -> tensor<32x512x64x64xbf16> {
    %0 = swage.launch @group_norm (%arg0, %arg1, %arg2)
        : (tensor<32x512x64x64xbf16>, tensor<512xbf16>, tensor<512xbf16>) -> tensor<32x512x64x64xbf16>
    return %0 : tensor<32x512x64x64xbf16>
  }
  swage.kernel @group_norm symbols 0 extents #map reduced [2, 3]
      inputs [#swage.view<tensor = 0, element = bf16, shape = () -> (32, 512, 64, 64),
                           access = (d0, d1, d2, d3) -> (d0 * 2097152 + d1 * 65536 + d2 * 4096 + d3), align = 16>,
              #swage.view<tensor = 1, element = bf16, shape = () -> (512),
                           access = (d0, d1, d2, d3) -> (d1 * 16 + d2), align = 16>,
              #swage.view<tensor = 2, element = bf16, shape = () -> (512),
                           access = (d0, d1, d2, d3) -> (d1 * 16 + d2), align = 16>]
      outputs [#swage.view<tensor = 0, element = bf16, shape = () -> (32, 512, 64, 64),
                           access = (d0, d1, d2, d3) -> (d0 * 2097152 + d1 * 65536 + d2 * 4096 + d3), align = 16>]
      schedule #swage.row_schedule<kind = block, threads_per_row = 512, rows_per_block = 1, vector = 8, vectors_per_thread = 4, index = 32, blocks_per_row = 4> {
  ^bb0(%arg0: f32, %arg1: f32, %arg2: f32):
    %0:3 = swage.collective layer_norm %arg0 eps 1.000000e-05 : f32 -> f32, f32, f32
    %1 = arith.mulf %0#0, %arg1 : f32
    %2 = arith.addf %1, %arg2 : f32
    %3 = arith.negf %2 : f32
    %4 = math.exp %3 : f32
    %cst = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %4, %cst : f32
    %6 = arith.divf %2, %5 : f32
    swage.yield %6 : f32
  }
}

