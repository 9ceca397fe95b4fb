// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @concat_c1() {
  // expected-error @+1 {{'swage.concat' op has 0 operands, but must have at least 1}}
  %y = "swage.concat"() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.concat' op axis is 2, but the operands have rank 2}}
  %y = swage.concat %x, %x axis 2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @concat_c3(%x: tensor<4x8xf32>, %z: tensor<2x8xf32>) {
  // expected-error @+1 {{'swage.concat' op has operands of types 'tensor<4x8xf32>' and 'tensor<2x8xf32>', but they must have one type}}
  %y = swage.concat %x, %z axis 0 : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @concat_c3_dynamic(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'swage.concat' op operands are dynamic in dimension 0, but must be static there}}
  %y = swage.concat %x, %x axis 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @concat_c4(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.concat' op result has extent 4 in dimension 0, but must have 8}}
  %y = swage.concat %x, %x axis 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @concat_c5(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.concat' op result has element type 'f16', but x has 'f32'}}
  %y = swage.concat %x, %x axis 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf16>
  return
}
