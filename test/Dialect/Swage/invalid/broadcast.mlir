// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @broadcast_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.broadcast' op dims has 1 entries, but x has rank 2}}
  %y = swage.broadcast %x dims [1] : tensor<4x8xf32> -> tensor<2x4x8xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.broadcast' op dims has 1 after 2, but must increase and stay below the result's rank 3}}
  %y = swage.broadcast %x dims [2, 1] : tensor<4x8xf32> -> tensor<2x8x4xf32>
  return
}

// -----

func.func @broadcast_c2_range(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.broadcast' op dims has 3 after 1, but must increase and stay below the result's rank 3}}
  %y = swage.broadcast %x dims [1, 3] : tensor<4x8xf32> -> tensor<2x4x8xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.broadcast' op x has extent 8 in dimension 1, but must have 1 or the result's extent 9}}
  %y = swage.broadcast %x dims [1, 2] : tensor<4x8xf32> -> tensor<2x4x9xf32>
  return
}

// -----

func.func @broadcast_c4(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.broadcast' op result has element type 'f64', but x has 'f32'}}
  %y = swage.broadcast %x dims [1, 2] : tensor<4x8xf32> -> tensor<2x4x8xf64>
  return
}

// -----

func.func @broadcast_c5(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.broadcast' op result's dimension 0 is dynamic and not x's, so sizes must give it}}
  %y = swage.broadcast %x dims [1, 2] : tensor<4x8xf32> -> tensor<?x4x8xf32>
  return
}

// -----

func.func @broadcast_c5_number(%x: tensor<4x8xf32>, %n: index) {
  // expected-error @+1 {{'swage.broadcast' op has 2 sizes, but the result has 1 dynamic extents}}
  %y = swage.broadcast %x dims [1, 2] sizes(%n, %n) : tensor<4x8xf32> -> tensor<?x4x8xf32>
  return
}
