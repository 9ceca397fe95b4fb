// REQUIRES: nvrtc
// RUN: swage-translate --swage-to-ptx --arch=sm_90a %s | FileCheck %s
// RUN: swage-translate --swage-to-ptx --arch=sm_80 %s | FileCheck %s

// Rows of 16-bit elements move 16 bytes at a time, stay in registers, and touch no local memory.
//   CHECK-NOT: .local
// CHECK-LABEL: .entry layer_norm_
//   CHECK-NOT: .local
//   CHECK-NOT: div.rn
//       CHECK: ld.global{{[._a-zA-Z0-9:]*}}.v4
//   CHECK-NOT: .local
//       CHECK: st.global{{[._a-zA-Z0-9:]*}}.v4
//   CHECK-NOT: .local
func.func @norm(%x: tensor<8192x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>)
    -> tensor<8192x4096xbf16> {
  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<8192x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<8192x4096xbf16>
  return %y : tensor<8192x4096xbf16>
}
