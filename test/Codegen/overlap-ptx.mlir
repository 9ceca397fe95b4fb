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
