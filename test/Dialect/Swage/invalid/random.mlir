// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @random_c1(%s: tensor<3xi64>) {
  // expected-error @+1 {{'swage.random' op state is 'tensor<3xi64>', but must be tensor<2xi64>}}
  %r = swage.random %s : tensor<3xi64> -> tensor<4x8xi32>
  return
}

// -----

func.func @random_c2(%s: tensor<2xi64>, %n: index) {
  // expected-error @+1 {{'swage.random' op has 1 sizes, but the result has 0 dynamic extents}}
  %r = swage.random %s sizes(%n) : tensor<2xi64> -> tensor<4x8xi32>
  return
}
