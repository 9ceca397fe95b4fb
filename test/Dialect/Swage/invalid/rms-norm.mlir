// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @rms_norm_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.rms_norm' op axis is 2, but x has rank 2}}
  %y = swage.rms_norm %x axis 2 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{'swage.rms_norm' op gamma has extent 4 in dimension 0, but must have 8}}
  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.rms_norm' op result has rank 1, but must have rank 2}}
  %y = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rms_norm_c4_number(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.rms_norm' op has 2 statistics, but must have none or rstd}}
  %y, %m, %r = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_c4_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.rms_norm' op a statistic has extent 8 in dimension 0, but must have 4}}
  %y, %r = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @rms_norm_c5(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{'swage.rms_norm' op a statistic has element type 'bf16', but must have f32}}
  %y, %r = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @rms_norm_c6(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.rms_norm' op eps is -5.000000e-01, but must be finite and not negative}}
  %y = swage.rms_norm %x axis 1 eps -0.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
