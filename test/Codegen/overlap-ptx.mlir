// REQUIRES: nvrtc
// RUN: swage-translate --swage-to-ptx --overlap=on %s | FileCheck %s --implicit-check-not=ld.global.nc

// Every access of global memory is behind the wait, and none is one that a compiler may move ahead of it.
// CHECK-LABEL: .entry
// CHECK-NOT:   .global.
// CHECK:       griddepcontrol.wait;
// CHECK-NOT:   .global.
// CHECK:       griddepcontrol.launch_dependents;
// CHECK:       ld.global.v4.u32
// CHECK:       st.global
// CHECK-LABEL: .entry
// CHECK-NOT:   .global.
// CHECK:       griddepcontrol.wait;
// CHECK-NOT:   .global.
// CHECK:       griddepcontrol.launch_dependents;
// CHECK:       ld.global
// CHECK:       st.global
func.func @main(%x: tensor<?x768xf16>, %g: tensor<768xf16>) -> tensor<768x?xf16> {
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<?x768xf16>, tensor<768xf16>) -> tensor<?x768xf16>
  %z = swage.permute %y [1, 0] : tensor<?x768xf16> -> tensor<768x?xf16>
  return %z : tensor<768x?xf16>
}

// Attention of few queries reads queries, a table of pages and lengths by itself.
// CHECK-LABEL: .entry rms_norm
// CHECK-LABEL: .entry attention
// CHECK-NOT:   .global.
// CHECK:       griddepcontrol.wait;
// CHECK-NOT:   .global.
// CHECK:       griddepcontrol.launch_dependents;
// CHECK:       ld.global.u32
// CHECK:       st.global
func.func @step(%x: tensor<4x8x1x64xbf16>, %g: tensor<64xbf16>, %pool: tensor<40x2x16x64xbf16>, %table: tensor<4x16xi32>, %lengths: tensor<4xi32>) -> tensor<4x8x1x64xbf16> {
  %q = swage.rms_norm %x gamma %g axis 3 eps 1.0e-5 : (tensor<4x8x1x64xbf16>, tensor<64xbf16>) -> tensor<4x8x1x64xbf16>
  %k = swage.pages %pool, %table : (tensor<40x2x16x64xbf16>, tensor<4x16xi32>) -> tensor<4x2x256x64xbf16>
  %o = swage.attention %q, %k, %k scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<4xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<4x8x1x64xbf16>, tensor<4x2x256x64xbf16>, tensor<4x2x256x64xbf16>) -> tensor<4x8x1x64xbf16>
  return %o : tensor<4x8x1x64xbf16>
}
