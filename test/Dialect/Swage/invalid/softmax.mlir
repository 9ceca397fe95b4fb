// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @softmax_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.softmax' op axis is 5, but x has rank 2}}
  %y = swage.softmax %x axis 5 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @softmax_c1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{'swage.softmax' op axis is 0, but x has rank 0}}
  %y = swage.softmax %x axis 0 : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @softmax_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.softmax' op result has extent 4 in dimension 1, but must have 8}}
  %y = swage.softmax %x axis 1 : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}
