// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @matmul_c1(%a: tensor<8xf16>) {
  // expected-error @+1 {{'swage.matmul' op a has rank 1, but must have at least 2}}
  %y = swage.matmul %a, %a : (tensor<8xf16>, tensor<8xf16>) -> tensor<f16>
  return
}

// -----

func.func @matmul_c1_b(%a: tensor<4x8xf16>, %b: tensor<2x8x4xf16>) {
  // expected-error @+1 {{'swage.matmul' op b has rank 3, but must have rank 2}}
  %y = swage.matmul %a, %b : (tensor<4x8xf16>, tensor<2x8x4xf16>) -> tensor<4x4xf16>
  return
}

// -----

func.func @matmul_c2(%a: tensor<4x8xf16>, %b: tensor<8x4xf32>) {
  // expected-error @+1 {{'swage.matmul' op a and b have element types 'f16' and 'f32', but must have one}}
  %y = swage.matmul %a, %b : (tensor<4x8xf16>, tensor<8x4xf32>) -> tensor<4x4xf16>
  return
}

// -----

func.func @matmul_c3(%a: tensor<2x4x8xf16>, %b: tensor<1x8x4xf16>) {
  // expected-error @+1 {{'swage.matmul' op b has extent 1 in dimension 0, but must have 2}}
  %y = swage.matmul %a, %b : (tensor<2x4x8xf16>, tensor<1x8x4xf16>) -> tensor<2x4x4xf16>
  return
}

// -----

func.func @matmul_c4(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>) {
  // expected-error @+1 {{'swage.matmul' op b has extent 4 in dimension 0, but must have 8}}
  %y = swage.matmul %a, %b : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @matmul_c4_transposed(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>) {
  // expected-error @+1 {{'swage.matmul' op b has extent 4 in dimension 1, but must have 8}}
  %y = swage.matmul %a, %b transpose_b : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @matmul_c5(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>) {
  // expected-error @+1 {{'swage.matmul' op result has extent 8 in dimension 1, but must have 6}}
  %y = swage.matmul %a, %b : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @matmul_c5_transposed(%a: tensor<4x8xf16>, %b: tensor<6x8xf16>) {
  // expected-error @+1 {{'swage.matmul' op result has extent 5 in dimension 0, but must have 4}}
  %y = swage.matmul %a, %b transpose_b : (tensor<4x8xf16>, tensor<6x8xf16>) -> tensor<5x6xf16>
  return
}
