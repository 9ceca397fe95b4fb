// Few queries and keys of 8 bits: sixteen warps of a multiprocessor where units are many and even, by fours where each block has one of its own (docs/notes/decode.md).
// RUN: swage-opt %s --split-input-file --swage-kernel-pipeline | FileCheck %s
// CHECK-LABEL: func.func @own
// CHECK: #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 4, spans = 512,
func.func @own(%q: tensor<64x32x1x128xbf16>, %k: tensor<64x8x1024x128xi8>, %v: tensor<64x8x1024x128xi8>) -> tensor<64x32x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<64x8x1024x128xi8> to tensor<64x8x1024x128xbf16>
  %vw = arith.sitofp %v : tensor<64x8x1024x128xi8> to tensor<64x8x1024x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<64x32x1x128xbf16>, tensor<64x8x1024x128xbf16>, tensor<64x8x1024x128xbf16>) -> tensor<64x32x1x128xbf16>
  return %y : tensor<64x32x1x128xbf16>
}

// -----

// Rows of 64 bytes come as they are in memory.
// CHECK-LABEL: func.func @short
// CHECK: #swage.decode_schedule<warps = 4, keys = 128, stages = 2, patience = 8, blocks = 4, spans = 512, bulk = true, index = 32, linear = true>
func.func @short(%q: tensor<64x8x1x64xbf16>, %k: tensor<64x8x1024x64xi8>, %v: tensor<64x8x1024x64xi8>) -> tensor<64x8x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<64x8x1024x64xi8> to tensor<64x8x1024x64xbf16>
  %vw = arith.sitofp %v : tensor<64x8x1024x64xi8> to tensor<64x8x1024x64xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<64x8x1x64xbf16>, tensor<64x8x1024x64xbf16>, tensor<64x8x1024x64xbf16>) -> tensor<64x8x1x64xbf16>
  return %y : tensor<64x8x1x64xbf16>
}

// -----

// By four of 528 blocks some multiprocessors would have six units, of one of 132 they have five.
// CHECK-LABEL: func.func @uneven
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 1, spans = 117,
func.func @uneven(%q: tensor<73x64x1x128xbf16>, %k: tensor<73x8x1000x128xi8>, %v: tensor<73x8x1000x128xi8>) -> tensor<73x64x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<73x8x1000x128xi8> to tensor<73x8x1000x128xbf16>
  %vw = arith.sitofp %v : tensor<73x8x1000x128xi8> to tensor<73x8x1000x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<73x64x1x128xbf16>, tensor<73x8x1000x128xbf16>, tensor<73x8x1000x128xbf16>) -> tensor<73x64x1x128xbf16>
  return %y : tensor<73x64x1x128xbf16>
}

// -----

// CHECK-LABEL: func.func @uneven_short_heads
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 1, spans = 115,
func.func @uneven_short_heads(%q: tensor<286x16x1x64xbf16>, %k: tensor<286x2x2048x64xi8>, %v: tensor<286x2x2048x64xi8>) -> tensor<286x16x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<286x2x2048x64xi8> to tensor<286x2x2048x64xbf16>
  %vw = arith.sitofp %v : tensor<286x2x2048x64xi8> to tensor<286x2x2048x64xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<286x16x1x64xbf16>, tensor<286x2x2048x64xbf16>, tensor<286x2x2048x64xbf16>) -> tensor<286x16x1x64xbf16>
  return %y : tensor<286x16x1x64xbf16>
}

// -----

// What is concluded under other units' keys is worth more than that.
// CHECK-LABEL: func.func @uneven_but_short
// CHECK: #swage.decode_schedule<warps = 4, keys = 128, stages = 2, patience = 8, blocks = 4, spans = 286,
func.func @uneven_but_short(%q: tensor<286x16x1x64xbf16>, %k: tensor<286x2x300x64xi8>, %v: tensor<286x2x300x64xi8>) -> tensor<286x16x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<286x2x300x64xi8> to tensor<286x2x300x64xbf16>
  %vw = arith.sitofp %v : tensor<286x2x300x64xi8> to tensor<286x2x300x64xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<286x16x1x64xbf16>, tensor<286x2x300x64xbf16>, tensor<286x2x300x64xbf16>) -> tensor<286x16x1x64xbf16>
  return %y : tensor<286x16x1x64xbf16>
}

// -----

// More units than multiprocessors, but not twice as many.
// CHECK-LABEL: func.func @two
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 2, spans = 156,
func.func @two(%q: tensor<78x8x1x64xbf16>, %k: tensor<78x2x3000x64xi8>, %v: tensor<78x2x3000x64xi8>) -> tensor<78x8x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<78x2x3000x64xi8> to tensor<78x2x3000x64xbf16>
  %vw = arith.sitofp %v : tensor<78x2x3000x64xi8> to tensor<78x2x3000x64xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<78x8x1x64xbf16>, tensor<78x2x3000x64xbf16>, tensor<78x2x3000x64xbf16>) -> tensor<78x8x1x64xbf16>
  return %y : tensor<78x8x1x64xbf16>
}

// -----

// Outputs leave sixteen warps too few registers.
// CHECK-LABEL: func.func @two_long
// CHECK: #swage.decode_schedule<warps = 8, keys = 128, stages = 2, patience = 8, blocks = 1, spans = 73,
func.func @two_long(%q: tensor<73x4x1x256xbf16>, %k: tensor<73x2x800x256xi8>, %v: tensor<73x2x800x256xi8>) -> tensor<73x4x1x256xbf16> {
  %kw = arith.sitofp %k : tensor<73x2x800x256xi8> to tensor<73x2x800x256xbf16>
  %vw = arith.sitofp %v : tensor<73x2x800x256xi8> to tensor<73x2x800x256xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<73x4x1x256xbf16>, tensor<73x2x800x256xbf16>, tensor<73x2x800x256xbf16>) -> tensor<73x4x1x256xbf16>
  return %y : tensor<73x4x1x256xbf16>
}

// -----

// CHECK-LABEL: func.func @few
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 1, spans = 128,
func.func @few(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x4096x128xi8>, %v: tensor<16x8x4096x128xi8>) -> tensor<16x32x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<16x8x4096x128xi8> to tensor<16x8x4096x128xbf16>
  %vw = arith.sitofp %v : tensor<16x8x4096x128xi8> to tensor<16x8x4096x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<16x32x1x128xbf16>, tensor<16x8x4096x128xbf16>, tensor<16x8x4096x128xbf16>) -> tensor<16x32x1x128xbf16>
  return %y : tensor<16x32x1x128xbf16>
}

// -----

// Lengths from memory are dealt out more evenly to more blocks, but not of few units.
// CHECK-LABEL: func.func @lengths
// CHECK: #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 4, spans = 528,
func.func @lengths(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x2000x128xi8>, %v: tensor<16x8x2000x128xi8>, %lengths: tensor<16xi32>) -> tensor<16x32x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<16x8x2000x128xi8> to tensor<16x8x2000x128xbf16>
  %vw = arith.sitofp %v : tensor<16x8x2000x128xi8> to tensor<16x8x2000x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<16xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<16x32x1x128xbf16>, tensor<16x8x2000x128xbf16>, tensor<16x8x2000x128xbf16>) -> tensor<16x32x1x128xbf16>
  return %y : tensor<16x32x1x128xbf16>
}

// -----

// CHECK-LABEL: func.func @few_lengths
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 1, spans = 132,
func.func @few_lengths(%q: tensor<8x32x1x128xbf16>, %k: tensor<8x8x2000x128xi8>, %v: tensor<8x8x2000x128xi8>, %lengths: tensor<8xi32>) -> tensor<8x32x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<8x8x2000x128xi8> to tensor<8x8x2000x128xbf16>
  %vw = arith.sitofp %v : tensor<8x8x2000x128xi8> to tensor<8x8x2000x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<8xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<8x32x1x128xbf16>, tensor<8x8x2000x128xbf16>, tensor<8x8x2000x128xbf16>) -> tensor<8x32x1x128xbf16>
  return %y : tensor<8x32x1x128xbf16>
}

// -----

// Sixteen queries of a key head take too many registers.
// CHECK-LABEL: func.func @sharing
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2, patience = 8, blocks = 1, spans = 128,
func.func @sharing(%q: tensor<64x128x1x128xbf16>, %k: tensor<64x8x1024x128xi8>, %v: tensor<64x8x1024x128xi8>) -> tensor<64x128x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<64x8x1024x128xi8> to tensor<64x8x1024x128xbf16>
  %vw = arith.sitofp %v : tensor<64x8x1024x128xi8> to tensor<64x8x1024x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<64x128x1x128xbf16>, tensor<64x8x1024x128xbf16>, tensor<64x8x1024x128xbf16>) -> tensor<64x128x1x128xbf16>
  return %y : tensor<64x128x1x128xbf16>
}

// -----

// Whole units also where it is not known how many keys they have.
// CHECK-LABEL: func.func @dynamic
// CHECK: #swage.decode_schedule<warps = 8, keys = 128, stages = 2, patience = 8, blocks = 2, spans = 156,
func.func @dynamic(%q: tensor<39x16x1x128xbf16>, %k: tensor<39x4x?x128xi8>, %v: tensor<39x4x?x128xi8>) -> tensor<39x16x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<39x4x?x128xi8> to tensor<39x4x?x128xbf16>
  %vw = arith.sitofp %v : tensor<39x4x?x128xi8> to tensor<39x4x?x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<39x16x1x128xbf16>, tensor<39x4x?x128xbf16>, tensor<39x4x?x128xbf16>) -> tensor<39x16x1x128xbf16>
  return %y : tensor<39x16x1x128xbf16>
}

// -----

// Rows of 128 bytes would all lie in the same banks.
// CHECK-LABEL: func.func @mixed
// CHECK: bulk = true, index = 32, parts = 2>
func.func @mixed(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x8x500x64xi8>, %v: tensor<2x8x500x128xi8>) -> tensor<2x8x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<2x8x500x64xi8> to tensor<2x8x500x64xbf16>
  %vw = arith.sitofp %v : tensor<2x8x500x128xi8> to tensor<2x8x500x128xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<2x8x1x64xbf16>, tensor<2x8x500x64xbf16>, tensor<2x8x500x128xbf16>) -> tensor<2x8x1x128xbf16>
  return %y : tensor<2x8x1x128xbf16>
}
