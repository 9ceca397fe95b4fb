// The longest tiles of few queries are those of the shortest heads: 64 keys for each of eight warps. What is selected can be read again.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-opt | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=CUDA
// CHECK: #swage.decode_schedule<warps = 8, keys = 512,
// CUDA: enum : int { kKeys = 512 };
func.func @main(%q: tensor<4x8x1x32xbf16>, %k: tensor<4x8x5000x32xbf16>, %v: tensor<4x8x5000x32xbf16>) -> tensor<4x8x1x32xbf16> {
  %y = swage.attention %q, %k, %v scale 0.125 : (tensor<4x8x1x32xbf16>, tensor<4x8x5000x32xbf16>, tensor<4x8x5000x32xbf16>) -> tensor<4x8x1x32xbf16>
  return %y : tensor<4x8x1x32xbf16>
}
