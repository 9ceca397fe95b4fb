// Heads whose rows are an odd multiple of 16 bytes: without a mask they take longer blocks of keys than beside a causal one, as far as shared memory holds them.
// RUN: swage-opt %s --swage-kernel-pipeline | FileCheck %s
// CHECK: attention_schedule<groups = 3, keys = 112,
// CHECK: attention_schedule<groups = 3, keys = 96,
// CHECK: attention_schedule<groups = 3, keys = 96,
func.func @open(%q: tensor<64x4096x72xbf16>) -> tensor<64x4096x72xbf16> {
  %y = swage.attention %q, %q, %q scale 0.125 : (tensor<64x4096x72xbf16>, tensor<64x4096x72xbf16>, tensor<64x4096x72xbf16>) -> tensor<64x4096x72xbf16>
  return %y : tensor<64x4096x72xbf16>
}
func.func @causal(%q: tensor<64x4096x72xbf16>) -> tensor<64x4096x72xbf16> {
  %y = swage.attention %q, %q, %q scale 0.125 mask {
  ^bb0(%h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<64x4096x72xbf16>, tensor<64x4096x72xbf16>, tensor<64x4096x72xbf16>) -> tensor<64x4096x72xbf16>
  return %y : tensor<64x4096x72xbf16>
}
func.func @wide(%q: tensor<64x4096x104xbf16>) -> tensor<64x4096x104xbf16> {
  %y = swage.attention %q, %q, %q scale 0.125 : (tensor<64x4096x104xbf16>, tensor<64x4096x104xbf16>, tensor<64x4096x104xbf16>) -> tensor<64x4096x104xbf16>
  return %y : tensor<64x4096x104xbf16>
}
