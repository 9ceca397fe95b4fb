// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reduce' op dims has 2 after -1, but must increase and stay below the rank 2}}
  %y = swage.reduce sum %x dims [2] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c1_order(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reduce' op dims has 0 after 1, but must increase and stay below the rank 2}}
  %y = swage.reduce sum %x dims [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_twice(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reduce' op dims has 1 after 1, but must increase and stay below the rank 2}}
  %y = swage.reduce sum %x dims [1, 1] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reduce' op dims is empty, but must name at least one dimension}}
  %y = swage.reduce sum %x dims [] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reduce' op result has extent 8 in dimension 0, but must have 4}}
  %y = swage.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_c3_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.reduce' op result has rank 2, but must have rank 1}}
  %y = swage.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{'swage.reduce' op has element types 'i32' and 'i32', but must have two float types, or i32 twice and a kind other than mean}}
  %y = swage.reduce mean %x dims [1] : tensor<4x8xi32> -> tensor<4xi32>
  return
}

// -----

func.func @reduce_c4_mixed(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{'swage.reduce' op has element types 'i32' and 'f32', but must have}}
  %y = swage.reduce sum %x dims [1] : tensor<4x8xi32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c4_narrow(%x: tensor<4x8xi8>) {
  // expected-error @+1 {{'swage.reduce' op has element types 'i8' and 'i8', but must have}}
  %y = swage.reduce sum %x dims [1] : tensor<4x8xi8> -> tensor<4xi8>
  return
}
