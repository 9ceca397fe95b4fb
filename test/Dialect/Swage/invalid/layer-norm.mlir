// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @layer_norm_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op axis is 2, but x has rank 2}}
  %y = swage.layer_norm %x axis 2 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c1_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op axis is -1, but x has rank 2}}
  %y = swage.layer_norm %x axis -1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op gamma has extent 4 in dimension 0, but must have 8}}
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c2_rank(%x: tensor<4x8xf32>, %g: tensor<1x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op gamma has rank 2, but must have rank 1}}
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op beta has extent 4 in dimension 0, but must have 8}}
  %y = swage.layer_norm %x beta %b axis 1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c4(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op result has extent 8 in dimension 0, but must have 4}}
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @layer_norm_c5_number(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op has 1 statistics, but must have none or mean and rstd}}
  %y, %m = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @layer_norm_c5_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op a statistic has extent 8 in dimension 0, but must have 4}}
  %y, %m, %r = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_c6(%x: tensor<4x8xf16>) {
  // expected-error @+1 {{'swage.layer_norm' op a statistic has element type 'f16', but must have f32}}
  %y, %m, %r = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4xf16>, tensor<4xf16>)
  return
}

// -----

func.func @layer_norm_c6_f64(%x: tensor<4x8xf64>) {
  // expected-error @+1 {{'swage.layer_norm' op a statistic has element type 'f32', but must have f64}}
  %y, %m, %r = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @layer_norm_c7(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op eps is -1.000000e-05, but must be finite and not negative}}
  %y = swage.layer_norm %x axis 1 eps -1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c7_infinite(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.layer_norm' op eps is INF, but must be finite and not negative}}
  %y = swage.layer_norm %x axis 1 eps 0x7FF0000000000000 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_element(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{'swage.layer_norm' op operand #0 must be ranked tensor of}}
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return
}
