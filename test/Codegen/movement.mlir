// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-ptx %s | FileCheck %s --check-prefix=PTX %}

// Every movement of a permutation by runs, by the length of the run: 1, 2, 4, 8 and 16 bytes.

// CHECK-LABEL: movement = 1,
//       CHECK: kVector = 1 };
//       CHECK: swage::Input<signed char, swage::Access::Vector>
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.{{[usb]}}8
//     PTX-NOT: .local
func.func @one(%x: tensor<64x32x48x3xi8>) -> tensor<64x48x32x3xi8> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x3xi8> -> tensor<64x48x32x3xi8>
  return %y : tensor<64x48x32x3xi8>
}

// CHECK-LABEL: movement = 2,
//       CHECK: kVector = 1 };
//       CHECK: swage::Input<swage::bits16, swage::Access::Vector>
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.{{[usb]}}16
//     PTX-NOT: .local
func.func @two(%x: tensor<64x32x48x3xf16>) -> tensor<64x48x32x3xf16> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x3xf16> -> tensor<64x48x32x3xf16>
  return %y : tensor<64x48x32x3xf16>
}

// CHECK-LABEL: movement = 4,
//       CHECK: kVector = 2 };
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.{{[usbf]}}32
//     PTX-NOT: .local
func.func @four(%x: tensor<64x32x48x6xf16>) -> tensor<64x48x32x6xf16> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x6xf16> -> tensor<64x48x32x6xf16>
  return %y : tensor<64x48x32x6xf16>
}

// CHECK-LABEL: movement = 8,
//       CHECK: kVector = 2 };
//       CHECK: swage::Input<float, swage::Access::Vector>
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.v2.{{[usbf]}}32
//     PTX-NOT: .local
func.func @eight(%x: tensor<64x32x48x6xf32>) -> tensor<64x48x32x6xf32> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x6xf32> -> tensor<64x48x32x6xf32>
  return %y : tensor<64x48x32x6xf32>
}

// CHECK-LABEL: movement = 16,
//       CHECK: kVector = 2 };
//       CHECK: swage::Input<double, swage::Access::Vector>
//   PTX-LABEL: .entry permute_
//         PTX: ld.global{{[._a-zA-Z0-9:]*}}.v4.{{[usbf]}}32
//     PTX-NOT: .local
func.func @sixteen(%x: tensor<64x32x48x6xf64>) -> tensor<64x48x32x6xf64> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<64x32x48x6xf64> -> tensor<64x48x32x6xf64>
  return %y : tensor<64x48x32x6xf64>
}
