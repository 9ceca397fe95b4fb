// The kernels are those of the classes that the given extents belong to: wide vectors where 8 divides the row, registers
// where its class fits them, and many threads for few rows.  Every class is run.
// RUN: swage-run %s --device=sim --check --dims=600,1000 | FileCheck %s --check-prefix=WIDE
// RUN: swage-run %s --device=sim --check --dims=600,1001 | FileCheck %s --check-prefix=ODD
// RUN: swage-run %s --device=sim --check --dims=600,1025 | FileCheck %s --check-prefix=LONGER
// RUN: swage-run %s --device=sim --check --dims=2,16392 | FileCheck %s --check-prefix=LOOPED
// RUN: swage-run %s --device=sim --check --dims=3,1001 | FileCheck %s --check-prefix=FEW
// WIDE: softmax_{{.*}}_s1x8_s1to1024 {{ *}}row block {{.*}} vector=8
// WIDE: accepted
// ODD: softmax_{{.*}}_s1to1024 {{ *}}row group {{.*}} vector=1
// ODD: accepted
// FEW: softmax_{{.*}}_s0to128_s1to1024 {{ *}}row block {{.*}} threads_per_row=512 {{.*}} vector=1
// FEW: accepted
// LONGER: softmax_{{.*}}_s1to4096 {{ *}}row block {{.*}} vector=1
// LONGER: accepted
// LOOPED: softmax_{{.*}}_s1x8 {{ *}}row looped {{.*}} vector=8
// LOOPED: accepted

func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}
