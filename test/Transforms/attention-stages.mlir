// Few queries: a third stage only where two are less than memory needs under way, 96 KB (docs/notes/decode.md).
// RUN: swage-opt %s --split-input-file --swage-kernel-pipeline | FileCheck %s
// CHECK-LABEL: func.func @least
// CHECK: #swage.decode_schedule<warps = 8, keys = 128, stages = 2,
func.func @least(%q: tensor<8x8x1x96xbf16>, %k: tensor<8x8x2000x96xbf16>, %v: tensor<8x8x2000x96xbf16>) -> tensor<8x8x1x96xbf16> {
  %y = swage.attention %q, %k, %v scale 0.1 : (tensor<8x8x1x96xbf16>, tensor<8x8x2000x96xbf16>, tensor<8x8x2000x96xbf16>) -> tensor<8x8x1x96xbf16>
  return %y : tensor<8x8x1x96xbf16>
}

// -----

// CHECK-LABEL: func.func @less
// CHECK: #swage.decode_schedule<warps = 8, keys = 128, stages = 3,
func.func @less(%q: tensor<8x8x1x88xbf16>, %k: tensor<8x8x2000x88xbf16>, %v: tensor<8x8x2000x88xbf16>) -> tensor<8x8x1x88xbf16> {
  %y = swage.attention %q, %k, %v scale 0.1 : (tensor<8x8x1x88xbf16>, tensor<8x8x2000x88xbf16>, tensor<8x8x2000x88xbf16>) -> tensor<8x8x1x88xbf16>
  return %y : tensor<8x8x1x88xbf16>
}

// -----

// Of 8 bits half of it is enough.
// CHECK-LABEL: func.func @narrow
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 2,
func.func @narrow(%q: tensor<8x8x1x64xbf16>, %k: tensor<8x8x2000x64xi8>, %v: tensor<8x8x2000x64xi8>) -> tensor<8x8x1x64xbf16> {
  %kw = arith.sitofp %k : tensor<8x8x2000x64xi8> to tensor<8x8x2000x64xbf16>
  %vw = arith.sitofp %v : tensor<8x8x2000x64xi8> to tensor<8x8x2000x64xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<8x8x1x64xbf16>, tensor<8x8x2000x64xbf16>, tensor<8x8x2000x64xbf16>) -> tensor<8x8x1x64xbf16>
  return %y : tensor<8x8x1x64xbf16>
}

// -----

// CHECK-LABEL: func.func @narrow_less
// CHECK: #swage.decode_schedule<warps = 8, keys = 256, stages = 3,
func.func @narrow_less(%q: tensor<8x8x1x32xbf16>, %k: tensor<8x8x2000x32xi8>, %v: tensor<8x8x2000x32xi8>) -> tensor<8x8x1x32xbf16> {
  %kw = arith.sitofp %k : tensor<8x8x2000x32xi8> to tensor<8x8x2000x32xbf16>
  %vw = arith.sitofp %v : tensor<8x8x2000x32xi8> to tensor<8x8x2000x32xbf16>
  %y = swage.attention %q, %kw, %vw scale 0.1 : (tensor<8x8x1x32xbf16>, tensor<8x8x2000x32xbf16>, tensor<8x8x2000x32xbf16>) -> tensor<8x8x1x32xbf16>
  return %y : tensor<8x8x1x32xbf16>
}
