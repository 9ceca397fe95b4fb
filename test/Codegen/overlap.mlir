// RUN: swage-translate --swage-to-cuda --overlap=on %s | FileCheck %s
// RUN: swage-translate --swage-to-cuda --overlap=on --arch=sm_80 %s | FileCheck %s --check-prefix=PLAIN --implicit-check-not=Grids --implicit-check-not=Coherent
// RUN: swage-translate --swage-to-cuda --overlap=off %s | FileCheck %s --check-prefix=PLAIN --implicit-check-not=Grids --implicit-check-not=Coherent
// PLAIN-LABEL: void __launch_bounds__(Spec::kThreads)
// PLAIN-NEXT: layer_norm_

// A kernel that may overlap the one before it waits before it does anything else, then lets the next one start; what it reads is
// not promised to stay as it is.
// CHECK:      #include "swage/row.cuh"
// CHECK-NEXT: #include "swage/device/launch_control.cuh"
// CHECK:      struct [[X:.*]] : swage::Input<swage::f16, swage::Access::Vector, swage::Traffic::Coherent> {
// CHECK:      struct [[GAMMA:.*]] : swage::Input<swage::f16, swage::Access::Vector, swage::Traffic::Coherent> {
// CHECK:      struct [[Y:.*]] : swage::Output<swage::f16, swage::Access::Vector> {
// CHECK:      layer_norm_{{.*}}(
// CHECK:      {{^}}  swage::waitForPriorGrids();
// CHECK-NEXT: {{^}}  swage::allowDependentGrids();
// CHECK-NEXT: {{^}}  using Pointers =

// A permute waits too.
// CHECK:      {{^}}  // operand 0: tensor<64x768xi16>
// CHECK-NEXT:  struct Input0 : swage::Input<swage::bits16, swage::Access::Transposed, swage::Traffic::Coherent> {
// CHECK:      transpose_{{.*}}(
// CHECK:      swage::waitForPriorGrids();
func.func @main(%x: tensor<64x768xf16>, %g: tensor<768xf16>) -> tensor<768x64xf16> {
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<64x768xf16>, tensor<768xf16>) -> tensor<64x768xf16>
  %z = swage.permute %y [1, 0] : tensor<64x768xf16> -> tensor<768x64xf16>
  return %z : tensor<768x64xf16>
}

// Alone, a kernel has nothing to overlap with.
// CHECK:     Template
// CHECK-NOT: Grids
// CHECK-NOT: Coherent
func.func @alone(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %y = swage.softmax %x axis 1 : tensor<64x1024xf32> -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}
