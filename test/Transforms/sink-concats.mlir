// RUN: swage-opt %s -split-input-file --swage-fuse 2>/dev/null | FileCheck %s

// What is computed from a concatenation is computed from its parts: a rotary embedding with its halves turned by hand, with a factor that is a part of another
// concatenation, a splat and a product that nothing else reads.
// CHECK-LABEL: func.func @concat_and_others
// CHECK:         swage.launch @pointwise_{{.*}} (%arg0, %arg1, %arg2) {{.*}} -> tensor<4x16xbf16>
// CHECK-NEXT:    return
// CHECK-LABEL:   swage.kernel
// CHECK-SAME:    extents #{{.*}} inputs
// CHECK-SAME:    outputs [#swage.view<tensor = 0, {{[^>]*}}>{{.*}}, #swage.view<tensor = 0
func.func @concat_and_others(%x: tensor<4x16xbf16>, %cos: tensor<16xbf16>, %sin: tensor<4x1xbf16>) -> tensor<4x16xbf16> {
  %two = arith.constant dense<2.0> : tensor<4x16xbf16>
  %a = swage.slice %x axis 1 from 0 size 8 : tensor<4x16xbf16> -> tensor<4x8xbf16>
  %b = swage.slice %x axis 1 from 8 size 8 : tensor<4x16xbf16> -> tensor<4x8xbf16>
  %n = arith.negf %b : tensor<4x8xbf16>
  %turned = swage.concat %n, %a axis 1 : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x16xbf16>
  %back = swage.concat %b, %a axis 1 : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x16xbf16>
  %c = swage.broadcast %cos dims [1] : tensor<16xbf16> -> tensor<4x16xbf16>
  %s = swage.broadcast %sin dims [0, 1] : tensor<4x1xbf16> -> tensor<4x16xbf16>
  %xc = arith.mulf %x, %c : tensor<4x16xbf16>
  %ts = arith.mulf %turned, %s : tensor<4x16xbf16>
  %sum = arith.addf %xc, %ts : tensor<4x16xbf16>
  %more = arith.addf %sum, %back : tensor<4x16xbf16>
  %twice = arith.mulf %more, %two : tensor<4x16xbf16>
  return %twice : tensor<4x16xbf16>
}

// -----

// Also behind a reshape, where the parts alternate; and where nothing is computed behind that.
// CHECK-LABEL: func.func @concat_alternates
// CHECK:         swage.launch @pointwise_{{.*}} -> (tensor<4x16xbf16>, tensor<4x16xbf16>)
// CHECK-NEXT:    return
func.func @concat_alternates(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %y: tensor<4x16xf32>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %sum = arith.addf %a, %b : tensor<4x8xf32>
  %difference = arith.subf %a, %b : tensor<4x8xf32>
  %0 = swage.reshape %sum : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %1 = swage.reshape %difference : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %pairs = swage.concat %0, %1 axis 2 : (tensor<4x8x1xf32>, tensor<4x8x1xf32>) -> tensor<4x8x2xf32>
  %flat = swage.reshape %pairs : tensor<4x8x2xf32> -> tensor<4x16xf32>
  %product = arith.mulf %flat, %y : tensor<4x16xf32>
  %r = arith.truncf %product : tensor<4x16xf32> to tensor<4x16xbf16>
  %2 = arith.truncf %0 : tensor<4x8x1xf32> to tensor<4x8x1xbf16>
  %3 = arith.truncf %1 : tensor<4x8x1xf32> to tensor<4x8x1xbf16>
  %stacked = swage.concat %2, %3 axis 2 : (tensor<4x8x1xbf16>, tensor<4x8x1xbf16>) -> tensor<4x8x2xbf16>
  %s = swage.reshape %stacked : tensor<4x8x2xbf16> -> tensor<4x16xbf16>
  return %r, %s : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// -----

// A softmax reads narrow elements of a concatenation and widens them itself.
// CHECK-LABEL: func.func @concat_stays_narrow
// CHECK:         swage.launch @copy_{{.*}} -> tensor<4x16xbf16>
// CHECK-NEXT:    swage.launch @softmax_
func.func @concat_stays_narrow(%a: tensor<4x8xbf16>, %b: tensor<4x8xbf16>) -> tensor<4x16xf32> {
  %c = swage.concat %a, %b axis 1 : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x16xbf16>
  %w = arith.extf %c : tensor<4x16xbf16> to tensor<4x16xf32>
  %d = arith.mulf %w, %w : tensor<4x16xf32>
  %s = swage.softmax %d axis 1 : tensor<4x16xf32> -> tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}
