// RUN: swage-opt %s | FileCheck %s

// What looks like the start of a bomb and is none: brackets in strings and comments, arrows, comparisons in sets,
// numbers with minus signs, aliases used often, an attribute nested as deep as is allowed.

// ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0 * 8 + d1)>
#map = affine_map<(d0, d1) -> (d0 * 8 + d1)>
#set = affine_set<(d0): (d0 - 1 >= 0, -d0 + 5 >= 0)>
#nested = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]

// CHECK: func @accepted
func.func @accepted(%x: tensor<4x2xf32>, %big: tensor<1048576x1048576xi8>) -> tensor<4x2xf32>
    attributes {text = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ \" ((((",
                maps = [#map, #map, #map], set = #set, nested = #nested,
                function = (tensor<?x?xf32>) -> (() -> ())} {
  %c = arith.constant dense<[[-1.0, -2.0], [1.0e-5, -3.0e+7], [0x7F800000, -0.0], [1.0, 2.0]]> : tensor<4x2xf32>
  %y = arith.addf %x, %c : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
