// REQUIRES: host-compiler
// Runtime rows in registers: every length that the promises allow is right, none included, and others are errors.
// RUN: swage-run %s --device=sim --sim=check --check --dims "3,0;0" | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --dims "3,8;8" | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check,order=random --check --dims "5,264;264" | FileCheck %s
// RUN: swage-run %s --device=sim --check --dims "7,1000;1000" | FileCheck %s
// RUN: swage-run %s --device=sim --sim=check --check --dims "2,1024;1024" | FileCheck %s
// RUN: not swage-run %s --device=sim --dims "2,1004;1004" 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not swage-run %s --device=sim --dims "2,1032;1032" 2>&1 | FileCheck %s --check-prefix=LIMIT

// RUN: swage-run %s --entry=odd --device=sim --sim=check --check --dims "2,0;0" | FileCheck %s
// RUN: swage-run %s --entry=odd --device=sim --sim=check --check --dims "3,1;1" | FileCheck %s
// RUN: swage-run %s --entry=odd --device=sim --sim=check,order=random --check --dims "3,255;255" | FileCheck %s
// RUN: swage-run %s --entry=odd --device=sim --check --dims "3,1021;1021" | FileCheck %s
// RUN: swage-run %s --entry=odd --device=sim --sim=check --check --dims "3,4096;4096" | FileCheck %s

// RUN: swage-run %s --entry=families --device=sim --sim=check --check --dims "8,8;8" | FileCheck %s
// RUN: swage-run %s --entry=families --device=sim --sim=check,order=random --check --dims "40,264;264" | FileCheck %s
// RUN: swage-run %s --entry=families --device=sim --sim=check --check --dims "136,24;24" | FileCheck %s

// CHECK: 0 {{.*}} accepted
// CHECK-NEXT: 1 {{.*}} accepted
// CHECK-NEXT: 2 {{.*}} accepted
// CHECK-NEXT: 3 {{.*}} accepted
// CHECK-NEXT: 4 {{.*}} accepted

// MULTIPLE: input error: {{.*}}1004{{.*}}multiple of 8
// LIMIT: input error: {{.*}}1032{{.*}}1024

// A group of lanes each row.
func.func @main(
    %x: tensor<?x?xf16> {swage.multiple_of = array<i64: 1, 8>, swage.at_most = array<i64: 0, 1024>}, %g: tensor<?xf16>
) -> (tensor<?x?xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf16>, tensor<?xf16>) {
  %n, %mean, %rstd = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5
      : (tensor<?x?xf16>, tensor<?xf16>) -> (tensor<?x?xf16>, tensor<?xf32>, tensor<?xf32>)
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  %z = swage.reduce max %x dims [1] : tensor<?x?xf16> -> tensor<?xf16>
  return %n, %mean, %rstd, %y, %z : tensor<?x?xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf16>, tensor<?xf16>
}

// A block each row, and single elements.
func.func @odd(
    %x: tensor<?x?xf16> {swage.at_most = array<i64: 0, 4096>}, %g: tensor<?xf16>
) -> (tensor<?x?xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf16>, tensor<?xf16>) {
  %n, %mean, %rstd = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5
      : (tensor<?x?xf16>, tensor<?xf16>) -> (tensor<?x?xf16>, tensor<?xf32>, tensor<?xf32>)
  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
  %z = swage.reduce sum %x dims [1] : tensor<?x?xf16> -> tensor<?xf16>
  return %n, %mean, %rstd, %y, %z : tensor<?x?xf16>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf16>, tensor<?xf16>
}

// The other families take vectors from the promises.
func.func @families(
    %x: tensor<?x?xf16> {swage.multiple_of = array<i64: 8, 8>}, %b: tensor<?xf16>
) -> (tensor<?x?xf16>, tensor<?x?xf16>, tensor<?xf16>, tensor<?x?xf16>, tensor<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xf16>
  %transposed = swage.permute %x [1, 0] : tensor<?x?xf16> -> tensor<?x?xf16>
  %columns = swage.softmax %x axis 0 : tensor<?x?xf16> -> tensor<?x?xf16>
  %sum = swage.reduce sum %x dims [0] : tensor<?x?xf16> -> tensor<?xf16>
  %bias = swage.broadcast %b dims [1] sizes(%m, %n) : tensor<?xf16> -> tensor<?x?xf16>
  %biased = arith.addf %x, %bias : tensor<?x?xf16>
  %pairs = swage.reshape %x sizes(%m, %n) : tensor<?x?xf16> -> tensor<?x?xf16>
  %exp = math.exp %pairs : tensor<?x?xf16>
  return %transposed, %columns, %sum, %biased, %exp
      : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?xf16>, tensor<?x?xf16>, tensor<?x?xf16>
}
