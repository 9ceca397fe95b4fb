// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{argument 0 has swage.range 8 : i64, but it must be an array of i64}}
func.func @not_an_array(%x: tensor<4xi32> {swage.range = 8 : i64}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.range but is no ranked tensor}}
func.func @no_tensor(%n: index {swage.range = array<i64: 0, 8>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.range but does not hold integers of 8 bits or more}}
func.func @floats(%x: tensor<4xf32> {swage.range = array<i64: 0, 8>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.range but does not hold integers of 8 bits or more}}
func.func @bools(%x: tensor<4xi1> {swage.range = array<i64: 0, 1>}) {
  return
}

// -----

// expected-error @+1 {{argument 1 has swage.range with 1 numbers, but it must have two}}
func.func @one_number(%x: tensor<4xf32>, %n: tensor<4xi32> {swage.range = array<i64: 8>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.range from 4 to 3, which is empty}}
func.func @nothing(%n: tensor<4xi32> {swage.range = array<i64: 4, 3>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has swage.range 128, which is no 'i8'}}
func.func @too_large(%n: tensor<4xi8> {swage.range = array<i64: 0, 128>}) {
  return
}

// -----

func.func @all(%n: tensor<4xi64> {swage.range = array<i64: -9223372036854775808, 9223372036854775807>}, %m: tensor<?xi8> {swage.range = array<i64: -128, 127>}) {
  return
}
