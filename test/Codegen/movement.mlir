// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-ptx %s | FileCheck %s --check-prefix=PTX %}

// Every movement of a permutation by runs, by the length of the run: 4, 8 and 16 bytes; shorter
// ones go by boxes, and those of 4 bytes too if there are enough of them.

// CHECK-LABEL: movement = 4,
//       CHECK: kVector = 2 };
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.{{[usbf]}}32
//     PTX-NOT: .local
func.func @four(%x: tensor<4x8x6x34xf16>) -> tensor<4x6x8x34xf16> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<4x8x6x34xf16> -> tensor<4x6x8x34xf16>
  return %y : tensor<4x6x8x34xf16>
}

// CHECK-LABEL: movement = 8,
//       CHECK: kVector = 2 };
//       CHECK: swage::Input<float, swage::Access::Vector>
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.v2.{{[usbf]}}32
//     PTX-NOT: .local
func.func @eight(%x: tensor<64x32x48x18xf32>) -> tensor<64x48x32x18xf32> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x18xf32> -> tensor<64x48x32x18xf32>
  return %y : tensor<64x48x32x18xf32>
}

// CHECK-LABEL: movement = 16,
//       CHECK: kVector = 2 };
//       CHECK: swage::Input<double, swage::Access::Vector>
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.v4.{{[usbf]}}32
//     PTX-NOT: .local
func.func @sixteen(%x: tensor<64x32x48x10xf64>) -> tensor<64x48x32x10xf64> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x10xf64> -> tensor<64x48x32x10xf64>
  return %y : tensor<64x48x32x10xf64>
}
