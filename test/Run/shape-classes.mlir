// The kernels are those of the classes that the given extents belong to: wide vectors where 8 divides the row, registers
// where its class fits them.  Every class is run.
// RUN: swage-run %s --device=sim --check --dims=3,1000 | FileCheck %s --check-prefix=WIDE
// RUN: swage-run %s --device=sim --check --dims=3,1001 | FileCheck %s --check-prefix=ODD
// RUN: swage-run %s --device=sim --check --dims=3,1025 | FileCheck %s --check-prefix=LONGER
// RUN: swage-run %s --device=sim --check --dims=2,16392 | FileCheck %s --check-prefix=LOOPED
// WIDE: softmax_{{.*}}_s1x8_s1to1024 {{ *}}row block {{.*}} vector=8
// WIDE: accepted
// ODD: softmax_{{.*}}_s1to1024 {{ *}}row group {{.*}} vector=1
// ODD: accepted
// LONGER: softmax_{{.*}}_s1to4096 {{ *}}row block {{.*}} vector=1
// LONGER: accepted
// LOOPED: softmax_{{.*}}_s1x8 {{ *}}row looped {{.*}} vector=8
// LOOPED: accepted

func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}
