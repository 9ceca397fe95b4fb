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
