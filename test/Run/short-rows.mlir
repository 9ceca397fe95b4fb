// Rows that one thread takes: nothing is exchanged, and what several rows lie beside each other in goes through shared memory.
// RUN: swage-run %s --device=sim --check | FileCheck %s
// CHECK-DAG: layer_norm_{{.*}} row group {{.*}} threads_per_row=1 {{.*}} staged=true
// CHECK-DAG: rms_norm_{{.*}} row group {{.*}} threads_per_row=1
// CHECK-DAG: softmax_{{.*}} row group {{.*}} threads_per_row=1 {{.*}} staged=true
// CHECK-COUNT-3: accepted
func.func @main(%x: tensor<53000x17xf16>, %g: tensor<17xf16>, %y: tensor<2100x8xf16>, %z: tensor<54000x3xf32>)
    -> (tensor<53000x17xf16>, tensor<2100x8xf16>, tensor<54000x3xf32>) {
  %a = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<53000x17xf16>, tensor<17xf16>) -> tensor<53000x17xf16>
  %b = swage.rms_norm %y axis 1 eps 1.0e-5 : (tensor<2100x8xf16>) -> tensor<2100x8xf16>
  %c = swage.softmax %z axis 1 : tensor<54000x3xf32> -> tensor<54000x3xf32>
  return %a, %b, %c : tensor<53000x17xf16>, tensor<2100x8xf16>, tensor<54000x3xf32>
}
