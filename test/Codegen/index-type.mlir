// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: swage-translate --swage-to-cuda --index=64 %s | FileCheck %s --check-prefix=WIDE
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-2: 0 bytes spilled, 0 bytes of stack

// WIDE-NOT: using Index = int;

// The largest offset decides, not the number of elements that are read: the second tensor is the same
// slice of a larger one.
// CHECK-LABEL: swage.sum at
//       CHECK: using Index = int;
func.func @narrow(%x: tensor<1024x131072xf32>) -> tensor<1024xf32> {
  %s = swage.slice %x axis 1 from 0 size 1024 : tensor<1024x131072xf32> -> tensor<1024x1024xf32>
  %y = swage.reduce sum %s dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

// A constant that no int holds has a suffix.
// CHECK-LABEL: swage.max at
//       CHECK: using Index = long long;
//       CHECK: return d[0] * 3000000000ll + d[1];
func.func @wide(%x: tensor<1024x3000000000xf32>) -> tensor<1024xf32> {
  %s = swage.slice %x axis 1 from 0 size 1024 : tensor<1024x3000000000xf32> -> tensor<1024x1024xf32>
  %y = swage.reduce max %s dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}
