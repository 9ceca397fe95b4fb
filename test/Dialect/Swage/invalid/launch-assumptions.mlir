// RUN: swage-opt %s -split-input-file --swage-fuse -verify-diagnostics

// What a dynamic graph assumes must follow from its arguments, because a launch checks these and nothing else.

func.func @reshape_drops_elements(%x: tensor<?xf32>) -> tensor<?x3xf32> {
  // expected-error @+1 {{'swage.reshape' op has a dynamic extent that does not follow from x for every size}}
  %y = swage.reshape %x : tensor<?xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

func.func @two_casts(%x: tensor<?xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %a = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  // expected-error @+1 {{'tensor.cast' op needs equal extents, but nothing makes 8 and 4 equal}}
  %b = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
  return %a, %b : tensor<4xf32>, tensor<8xf32>
}

// -----

func.func @rounding_mode(%x: tensor<8xf32>) -> tensor<8xf16> {
  // expected-error @+1 {{'arith.truncf' op rounds other than to nearest even, for which there is no kernel}}
  %y = arith.truncf %x toward_zero : tensor<8xf32> to tensor<8xf16>
  return %y : tensor<8xf16>
}
