// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @iota_c1() {
  // expected-error @+1 {{'swage.iota' op dim is 2, but the result has rank 2}}
  %i = swage.iota dim 2 : tensor<4x8xi32>
  return
}

// -----

func.func @iota_c2(%n: index) {
  // expected-error @+1 {{'swage.iota' op has 1 sizes, but the result has 2 dynamic extents}}
  %i = swage.iota dim 0 sizes(%n) : tensor<?x?xi32>
  return
}
