// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{argument 0 has swage.multiple_of 8 : i64, but it must be an array of i64}}
func.func @not_an_array(%x: tensor<?xf32> {swage.multiple_of = 8 : i64}) {
  return
}

// -----

// expected-error @+1 {{argument 1 has swage.at_most but is no ranked tensor}}
func.func @no_tensor(%x: tensor<?xf32>, %n: index {swage.at_most = array<i64: 8>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.at_most with 1 numbers, but has rank 2}}
func.func @rank(%x: tensor<?x?xf32> {swage.at_most = array<i64: 8>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.multiple_of 0 in dimension 1, but it must be positive}}
func.func @multiple_of_nothing(%x: tensor<?x?xf32> {swage.multiple_of = array<i64: 1, 0>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.at_most -1 in dimension 0, but it must be positive, or 0 for no bound}}
func.func @negative_bound(%x: tensor<?x?xf32> {swage.at_most = array<i64: -1, 0>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.multiple_of 8 in dimension 1, but the extent is 12}}
func.func @static_multiple(%x: tensor<?x12xf32> {swage.multiple_of = array<i64: 8, 8>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.at_most 8 in dimension 1, but the extent is 12}}
func.func @static_bound(%x: tensor<?x12xf32> {swage.at_most = array<i64: 8, 8>}) {
  return
}

// -----

// expected-error @+1 {{'swage.kernel' op has 2 multiples, but takes 1 sizes}}
swage.kernel @k7_count symbols 1 multiples [1, 8] extents affine_map<()[s0] -> (s0)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0), access = (d0)[s0] -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0), access = (d0)[s0] -> (d0), align = 16>] {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op limits has -1, but must be at least 0}}
swage.kernel @k7_limit symbols 1 limits [-1] extents affine_map<()[s0] -> (s0)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0), access = (d0)[s0] -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0), access = (d0)[s0] -> (d0), align = 16>] {
^body(%a: f32):
  swage.yield %a : f32
}
