// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule --swage-prepare-for-emission 2>/dev/null | FileCheck %s
// By itself a kernel may overlap those before it whose blocks are on the device all at once, and attention of few queries.

// Of the many blocks of a softmax the last ones would wait until there is place for them; the step behind it is short.
// CHECK:       swage.kernel @softmax_
// CHECK-NOT:   overlap
// CHECK:       swage.kernel @transpose_
// CHECK-SAME:  overlap = true
func.func @long(%x: tensor<65536x1024xf16>) -> (tensor<65536x1024xf16>, tensor<8x16xf16>) {
  %y = swage.softmax %x axis 1 : tensor<65536x1024xf16> -> tensor<65536x1024xf16>
  %few = swage.slice %y axis 0 from 0 size 16 : tensor<65536x1024xf16> -> tensor<16x1024xf16>
  %less = swage.slice %few axis 1 from 0 size 8 : tensor<16x1024xf16> -> tensor<16x8xf16>
  %z = swage.permute %less [1, 0] : tensor<16x8xf16> -> tensor<8x16xf16>
  return %y, %z : tensor<65536x1024xf16>, tensor<8x16xf16>
}

// CHECK:       swage.kernel @append_{{.*}} overlap = true
// CHECK:       swage.kernel @attention_{{.*}} overlap = true
func.func @step(%q: tensor<128x8x1x64xf16>, %cache: tensor<128x8x512x64xf16>, %k: tensor<128x8x1x64xf16>, %at: tensor<128xi32>) -> (tensor<128x8x1x64xf16>, tensor<128x8x512x64xf16>) {
  %keys = swage.append %cache, %k at %at axis 2 : (tensor<128x8x512x64xf16>, tensor<128x8x1x64xf16>, tensor<128xi32>) -> tensor<128x8x512x64xf16>
  %o = swage.attention %q, %keys, %keys scale 0.125 : (tensor<128x8x1x64xf16>, tensor<128x8x512x64xf16>, tensor<128x8x512x64xf16>) -> tensor<128x8x1x64xf16>
  return %o, %keys : tensor<128x8x1x64xf16>, tensor<128x8x512x64xf16>
}
