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

// -----

func.func @softmax_c3(%x: tensor<4x8xf32>, %m: tensor<4x1xi1>) {
  // expected-error @+1 {{'swage.softmax' op mask has extent 1 in dimension 1, but must have 8}}
  %y = swage.softmax %x mask %m axis 1 : tensor<4x8xf32>, tensor<4x1xi1> -> tensor<4x8xf32>
  return
}

// -----

func.func @softmax_c4(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.softmax' op has 2 statistics, but must have at most 1}}
  %y, %a, %b = swage.softmax %x axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @softmax_c4_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.softmax' op a statistic has extent 4 in dimension 0, but must have 8}}
  %y, %a = swage.softmax %x axis 0 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @softmax_c5(%x: tensor<4x8xf16>) {
  // expected-error @+1 {{'swage.softmax' op a statistic has element type 'f16'}}
  %y, %a = swage.softmax %x axis 1 : tensor<4x8xf16> -> tensor<4x8xf16>, tensor<4xf16>
  return
}

// -----

func.func @softmax_c6(%x: tensor<4x8xf16>) {
  // expected-error @+1 {{'swage.softmax' op has nan_rows, but no mask}}
  %y = swage.softmax %x axis 1 nan_rows : tensor<4x8xf16> -> tensor<4x8xf16>
  return
}
