// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @pages_c1(%pool: tensor<16x64xf16>, %table: tensor<2x3xi32>) {
  // expected-error @+1 {{'swage.pages' op pool has rank 2, but must have 3 at least}}
  %y = swage.pages %pool, %table : (tensor<16x64xf16>, tensor<2x3xi32>) -> tensor<2x48x64xf16>
  return
}

// -----

func.func @pages_c2(%pool: tensor<9x16x64xf16>, %table: tensor<i32>) {
  // expected-error @+1 {{'swage.pages' op table has rank 0, but must have 1 at least}}
  %y = swage.pages %pool, %table : (tensor<9x16x64xf16>, tensor<i32>) -> tensor<16x64xf16>
  return
}

// -----

func.func @pages_c2_type(%pool: tensor<9x16x64xf16>, %table: tensor<2xi64>) {
  // expected-error @+1 {{'swage.pages' op operand #1 must be ranked tensor of 32-bit signless integer values, but got 'tensor<2xi64>'}}
  %y = swage.pages %pool, %table : (tensor<9x16x64xf16>, tensor<2xi64>) -> tensor<32x64xf16>
  return
}

// -----

func.func @pages_c3(%pool: tensor<9x?x64xf16>, %table: tensor<2xi32>) {
  // expected-error @+1 {{'swage.pages' op pool has an unknown number of positions a page, but must have a known one}}
  %y = swage.pages %pool, %table : (tensor<9x?x64xf16>, tensor<2xi32>) -> tensor<?x64xf16>
  return
}

// -----

func.func @pages_c3_none(%pool: tensor<9x0x64xf16>, %table: tensor<2xi32>) {
  // expected-error @+1 {{'swage.pages' op pool has no positions a page, but must have a known one}}
  %y = swage.pages %pool, %table : (tensor<9x0x64xf16>, tensor<2xi32>) -> tensor<0x64xf16>
  return
}

// -----

func.func @pages_c4(%pool: tensor<9x4x16x64xf16>, %table: tensor<2x3xi32>) {
  // expected-error @+1 {{'swage.pages' op result has extent 50 in dimension 2, but must have 48}}
  %y = swage.pages %pool, %table : (tensor<9x4x16x64xf16>, tensor<2x3xi32>) -> tensor<2x4x50x64xf16>
  return
}

// -----

func.func @pages_c4_beyond(%pool: tensor<1x1125899906842624x1xf16>, %table: tensor<16384xi32>) {
  // expected-error @+1 {{'swage.pages' op table names 16384 pages of 1125899906842624 positions, which are beyond 64 bits}}
  %y = swage.pages %pool, %table : (tensor<1x1125899906842624x1xf16>, tensor<16384xi32>) -> tensor<?x1xf16>
  return
}

// -----

func.func @pages_c5(%pool: tensor<9x16x64xf16>, %table: tensor<3xi32>) {
  // expected-error @+1 {{'swage.pages' op result has element type 'f32', but x has 'f16'}}
  %y = swage.pages %pool, %table : (tensor<9x16x64xf16>, tensor<3xi32>) -> tensor<48x64xf32>
  return
}
