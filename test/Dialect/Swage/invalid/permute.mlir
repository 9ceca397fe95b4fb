// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @permute_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.permute' op permutation has 1 entries, but x has rank 2}}
  %y = swage.permute %x [0] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @permute_c1_range(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.permute' op permutation has 2, which is out of 0..1 or there twice}}
  %y = swage.permute %x [0, 2] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_c1_twice(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.permute' op permutation has 0, which is out of 0..1 or there twice}}
  %y = swage.permute %x [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @permute_c1_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.permute' op permutation has -1, which is out of 0..1 or there twice}}
  %y = swage.permute %x [-1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.permute' op result has extent 4 in dimension 0, but must have 8}}
  %y = swage.permute %x [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.permute' op result has element type 'f16', but x has 'f32'}}
  %y = swage.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf16>
  return
}
