// What scores read for each query and key comes to shared memory, if it lies together for a query; what is one for all queries, or apart, is read by elements.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: sed 's/512xi1/510xi1/g; s/512x64xbf16/510x64xbf16/g; s/4x300x512xbf16/4x510x300xbf16/g; s/%bias\[%h, %i, %j\]/%bias[%h, %j, %i]/' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=APART
// What is read by elements may be told so.
// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule | sed 's/, score_stages = [12]//' | swage-opt --swage-prepare-for-emission | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=ELEMENTS --implicit-check-not=Tiled
// RUN: swage-opt %s --swage-kernel-pipeline | sed 's/, score_stages = [12]//' | not swage-translate --swage-to-cuda 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: 'swage.phase' op has access 10 to operand 6, which its schedule does not stage
// CHECK: stages = 4,{{.*}}
// CHECK: score_stages = 1>
// CHECK: struct [[BIAS:Input[0-9]+]] : swage::Input<swage::bf16, swage::Access::Tiled, swage::Traffic::Reused> {
// CHECK-NEXT: enum : int { kTileAt = 1024 };
// CHECK-NEXT: enum : int { kTileRow = 272 };
// CHECK-NEXT: enum : int { kAlign = 16 };
// CHECK-NEXT: static __device__ Index offset
// CHECK-NEXT: return d[1] * 153600 + d[2] * 153600 + d[3] * 512 + d[5];
// CHECK: struct [[MASK:Input[0-9]+]] : swage::Input<bool, swage::Access::Tiled, swage::Traffic::Reused> {
// Behind 128 rows of the bias.
// CHECK-NEXT: enum : int { kTileAt = 35840 };
// CHECK-NEXT: enum : int { kTileRow = 144 };
// CHECK: struct {{Input[0-9]+}} : swage::Input<bool, swage::Access::Splat
// CHECK: using ScoreTiles = swage::List<[[BIAS]], [[MASK]]>;
// APART: struct {{Input[0-9]+}} : swage::Input<swage::bf16, swage::Access::Splat
// APART: struct [[MASK:Input[0-9]+]] : swage::Input<bool, swage::Access::Tiled
// APART: enum : int { kAlign = 2 };
// APART: struct {{Input[0-9]+}} : swage::Input<bool, swage::Access::Splat
// APART: using ScoreTiles = swage::List<[[MASK]]>;
// ELEMENTS: swage::Input<swage::bf16, swage::Access::Splat
func.func @main(%q: tensor<2x4x300x64xbf16>, %k: tensor<2x4x512x64xbf16>, %v: tensor<2x4x512x64xbf16>, %bias: tensor<4x300x512xbf16>, %mask: tensor<2x300x512xi1>, %padding: tensor<2x512xi1>) -> tensor<2x4x300x64xbf16> {
  %o = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %narrow = tensor.extract %bias[%h, %i, %j] : tensor<4x300x512xbf16>
    %wide = arith.extf %narrow : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %one = tensor.extract %mask[%b, %i, %j] : tensor<2x300x512xi1>
    %other = tensor.extract %padding[%b, %j] : tensor<2x512xi1>
    %seen = arith.andi %one, %other : i1
    swage.yield %seen : i1
  } : (tensor<2x4x300x64xbf16>, tensor<2x4x512x64xbf16>, tensor<2x4x512x64xbf16>) -> tensor<2x4x300x64xbf16>
  return %o : tensor<2x4x300x64xbf16>
}
