// DEFINE: %{passes} = --swage-fuse --swage-merge-dimensions --swage-select-schedule
// RUN: swage-opt %s %{passes} --swage-prepare-for-emission=overlap=on 2>/dev/null | FileCheck %s
// RUN: swage-opt %s %{passes} --swage-prepare-for-emission=overlap=off 2>/dev/null | FileCheck %s --check-prefix=OFF "--implicit-check-not=overlap ="

// A kernel that is prepared keeps its answer, whatever the option says now.
// RUN: swage-opt %s %{passes} --swage-prepare-for-emission=overlap=on --swage-prepare-for-emission 2>/dev/null | FileCheck %s
// RUN: swage-opt %s %{passes} --swage-prepare-for-emission=overlap=off --swage-prepare-for-emission=overlap=on 2>/dev/null | FileCheck %s --check-prefix=OFF "--implicit-check-not=overlap ="

// A device before 9.0 gets none, and no kernel that was prepared for another.
// RUN: swage-opt %s %{passes} "--swage-prepare-for-emission=overlap=on arch=sm_80" 2>/dev/null | FileCheck %s --check-prefix=OFF "--implicit-check-not=overlap ="
// RUN: not swage-opt %s %{passes} --swage-prepare-for-emission=overlap=on --swage-prepare-for-emission=arch=sm_80 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: 'swage.kernel' op overlaps the kernels before it, which sm_80 cannot

// CHECK-LABEL: func.func @sequence
// OFF-LABEL:   func.func @sequence
func.func @sequence(%x: tensor<64x768xf16>) -> tensor<768x64xf16> {
  %y = swage.softmax %x axis 1 : tensor<64x768xf16> -> tensor<64x768xf16>
  %z = swage.permute %y [1, 0] : tensor<64x768xf16> -> tensor<768x64xf16>
  return %z : tensor<768x64xf16>
}

// The first kernel too: it waits for nothing, but lets the second one start.
// CHECK:     swage.kernel @softmax_{{.*}} geometry <{{.*}}, overlap = true>
// CHECK:     swage.kernel @transpose_{{.*}} geometry <{{.*}}, overlap = true>
// CHECK:     swage.kernel @softmax_
// CHECK-NOT: overlap
func.func @alone(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %y = swage.softmax %x axis 1 : tensor<64x1024xf32> -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}
