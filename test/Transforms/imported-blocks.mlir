// Blocks as exported from torch (test/Python/blocks.py): norms and attention are found, however a framework writes them.
// RUN: swage-opt %S/Inputs/gpt2_block.mlir --canonicalize --cse --swage-recognize --canonicalize --cse 2>/dev/null | FileCheck %s --check-prefix=GPT2
// RUN: swage-opt %S/Inputs/gpt2_block_fused.mlir --canonicalize --cse --swage-recognize --canonicalize --cse 2>/dev/null | FileCheck %s --check-prefix=GPT2-FUSED
// RUN: swage-opt %S/Inputs/llama_block.mlir --canonicalize --cse --swage-recognize --canonicalize --cse 2>/dev/null | FileCheck %s --check-prefix=LLAMA
// RUN: swage-opt %S/Inputs/llama_block_fused.mlir --canonicalize --cse --swage-recognize --canonicalize --cse 2>/dev/null | FileCheck %s --check-prefix=LLAMA-FUSED

// The causal mask is a buffer of the model, and what it masks a number like any other.
// GPT2: swage.layer_norm
// GPT2: swage.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 nan_rows score {
// GPT2-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// GPT2-NEXT:   %[[KEEP:.*]] = tensor.extract %arg13[%{{.*}}, %{{.*}}, %[[I]], %[[J]]] : tensor<1x1x32x32xi1>
// GPT2-NEXT:   %[[T:.*]] = arith.select %[[KEEP]], %[[S]], %{{.*}} : f32
// GPT2-NEXT:   swage.yield %[[T]] : f32
// GPT2-NEXT: } : (tensor<2x4x32x16xf16>, tensor<2x4x32x16xf16>, tensor<2x4x32x16xf16>) -> tensor<2x4x32x16xf16>
// GPT2: swage.layer_norm
// GPT2-NOT: swage.softmax

// GPT2-FUSED: swage.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 mask {
// GPT2-FUSED-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// GPT2-FUSED-NEXT:   %[[M:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// GPT2-FUSED-NEXT:   swage.yield %[[M]] : i1

// RMSNorm written out, and keys whose heads are repeated for the queries.
// LLAMA: swage.rms_norm
// LLAMA: swage.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 nan_rows score {
// LLAMA-NEXT: ^bb0(%[[S:.*]]: f32, %[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// LLAMA-NEXT:   %[[X:.*]] = tensor.extract %arg3[%[[B]], %{{.*}}, %[[I]], %[[J]]] : tensor<2x1x32x32xbf16>
// LLAMA-NEXT:   %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
// LLAMA-NEXT:   %[[T:.*]] = arith.addf %[[S]], %[[W]] : f32
// LLAMA-NEXT:   swage.yield %[[T]] : f32
// LLAMA-NEXT: } : (tensor<2x4x32x16xbf16>, tensor<2x2x32x16xbf16>, tensor<2x2x32x16xbf16>) -> tensor<2x4x32x16xbf16>
// LLAMA: swage.rms_norm
// LLAMA-NOT: swage.reduce
// LLAMA-NOT: swage.softmax

// LLAMA-FUSED: swage.rms_norm
// LLAMA-FUSED: swage.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 score {
// LLAMA-FUSED: } : (tensor<2x4x32x16xbf16>, tensor<2x2x32x16xbf16>, tensor<2x2x32x16xbf16>) -> tensor<2x4x32x16xbf16>
// LLAMA-FUSED: swage.rms_norm
