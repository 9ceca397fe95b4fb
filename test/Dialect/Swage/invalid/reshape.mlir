// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @reshape_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reshape' op result has 16 elements, but x has 32}}
  %y = swage.reshape %x : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reshape' op result has element type 'i32', but x has 'f32'}}
  %y = swage.reshape %x : tensor<4x8xf32> -> tensor<32xi32>
  return
}

// -----

func.func @reshape_c3(%x: tensor<?x?xf32>) {
  // expected-error @+1 {{'swage.reshape' op has 0 sizes, but the result has 2 dynamic extents}}
  %y = swage.reshape %x : tensor<?x?xf32> -> tensor<?x2x?xf32>
  return
}

// -----

func.func @reshape_c3_number(%x: tensor<?x?xf32>, %n: index) {
  // expected-error @+1 {{'swage.reshape' op has 1 sizes, but the result has 2 dynamic extents}}
  %y = swage.reshape %x sizes(%n) : tensor<?x?xf32> -> tensor<?x?xf32>
  return
}
