// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @copy_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.copy' op failed to verify that all of {x, result} have same type}}
  %y = "swage.copy"(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}
