// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @slice_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op axis is 2, but x has rank 2}}
  %y = swage.slice %x axis 2 from 0 size 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op takes 5 elements from 4 by step 1, but x has extent 8}}
  %y = swage.slice %x axis 1 from 4 size 5 : tensor<4x8xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_c2_step(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op takes 5 elements from 0 by step 2, but x has extent 8}}
  %y = swage.slice %x axis 1 from 0 size 5 step 2 : tensor<4x8xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_c2_zero_step(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op takes 4 elements from 0 by step 0, but x has extent 8}}
  %y = swage.slice %x axis 1 from 0 size 4 step 0 : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @slice_c2_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op takes 4 elements from -1 by step 1, but x has extent 8}}
  %y = swage.slice %x axis 1 from -1 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @slice_c2_overflow(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op takes 9223372036854775807 elements from 1 by step 9223372036854775807, but x has extent 8}}
  %y = swage.slice %x axis 1 from 1 size 9223372036854775807 step 9223372036854775807 : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @slice_c2_dynamic(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{'swage.slice' op x is dynamic in dimension 1, but must be static there}}
  %y = swage.slice %x axis 1 from 0 size 4 : tensor<4x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op result has extent 5 in dimension 1, but must have 4}}
  %y = swage.slice %x axis 1 from 0 size 4 : tensor<4x8xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_c4(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'swage.slice' op result has element type 'f16', but x has 'f32'}}
  %y = swage.slice %x axis 1 from 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf16>
  return
}
