// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule --swage-prepare-for-emission 2>/dev/null | FileCheck %s
// RUN: not swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-prepare-for-emission 2>&1 | FileCheck %s --check-prefix=UNSCHEDULED
// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule --swage-prepare-for-emission --swage-prepare-for-emission 2>/dev/null | FileCheck %s

// UNSCHEDULED: :[[#]]:{{[0-9]+}}: error: 'swage.kernel' op has no schedule; run --swage-select-schedule first

// What the row's statistics are taken of is the prologue, with the residual sum that it stores; what follows them is the epilogue;
// what there is once a row is the finish. The sum goes on as its storage type holds it, because the graph returns it.
// CHECK:       #[[$ROW:.*]] = affine_map<() -> (8192)>
// CHECK:       #[[$VECTORS:.*]] = affine_map<() -> (96)>
// CHECK-LABEL: func.func @norm
// CHECK:       swage.kernel @layer_norm_
// CHECK-SAME:    geometry <blocks = () -> ({{[0-9]+}}), threads = 32, spaces = [#[[$ROW]], #[[$VECTORS]]], dividers = () -> ()>
// CHECK-NEXT:    swage.phase prologue for layer_norm eps 1.000000e-05 loads [0, 1] stores [0] access [0, 0, 0] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[R:.*]]: f32):
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[X]], %[[R]] : f32
// CHECK-NEXT:      %[[NARROW:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[NARROW]] : f16 to f32
// CHECK-NEXT:      swage.yield %[[WIDE]], %[[SUM]] : f32, f32
// CHECK:         swage.phase epilogue loads [2, 3] stores [1] access [0, 0, 0] {
// CHECK-NEXT:    ^bb0(%[[N:.*]]: f32, %[[G:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT:      %[[SCALED:.*]] = arith.mulf %[[N]], %[[G]] : f32
// CHECK-NEXT:      %[[Y:.*]] = arith.addf %[[SCALED]], %[[B]] : f32
// CHECK-NEXT:      swage.yield %[[Y]] : f32
// CHECK:         swage.phase finish loads [] stores [2, 3] access [0, 0] {
// CHECK-NEXT:    ^bb0(%[[MEAN:.*]]: f32, %[[RSTD:.*]]: f32):
// CHECK-NEXT:      swage.yield %[[MEAN]], %[[RSTD]] : f32, f32
func.func @norm(%x: tensor<8192x768xf16>, %r: tensor<8192x768xf16>, %g: tensor<768xf16>, %b: tensor<768xf16>)
    -> (tensor<8192x768xf16>, tensor<8192x768xf16>, tensor<8192xf32>, tensor<8192xf32>) {
  %s = arith.addf %x, %r : tensor<8192x768xf16>
  %y, %mean, %rstd = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<8192x768xf16>, tensor<768xf16>, tensor<768xf16>) -> (tensor<8192x768xf16>, tensor<8192xf32>, tensor<8192xf32>)
  return %s, %y, %mean, %rstd : tensor<8192x768xf16>, tensor<8192x768xf16>, tensor<8192xf32>, tensor<8192xf32>
}

// -----

// 16-bit floats that are only moved go as bits, so that every NaN arrives as it was.
// CHECK:       #[[$RUNS:.*]] = affine_map<() -> (16, 32, 2048, 16)>
// CHECK-LABEL: func.func @movement
// CHECK:       swage.kernel @permute_
// CHECK-SAME:    inputs [#swage.view<tensor = 0, element = i16,
// CHECK-SAME:    outputs [#swage.view<tensor = 0, element = i16,
// CHECK-SAME:    geometry <blocks = () -> (65536), threads = 256, spaces = [#[[$RUNS]]], dividers = () -> ()>
// CHECK-NEXT:    swage.phase body loads [0] stores [0] access [0, 0] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: i16):
// CHECK-NEXT:      swage.yield %[[X]] : i16
func.func @movement(%x: tensor<16x2048x32x128xf16>) -> tensor<16x32x2048x128xf16> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<16x2048x32x128xf16> -> tensor<16x32x2048x128xf16>
  return %y : tensor<16x32x2048x128xf16>
}

// -----

// A negation is no movement: it is computed in f32.
// CHECK-LABEL: func.func @computed
// CHECK:       inputs [#swage.view<tensor = 0, element = bf16,
// CHECK:       swage.phase body loads [0] stores [0] access [0, 0] {
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:    arith.negf %[[X]] : f32
func.func @computed(%x: tensor<1048576xbf16>) -> tensor<1048576xbf16> {
  %y = arith.negf %x : tensor<1048576xbf16>
  return %y : tensor<1048576xbf16>
}

// -----

// Tiles: the elements' space and the tiles'; the input is read along its own contiguous dimension.
// CHECK-DAG:   #[[$ELEMENTS:.*]] = affine_map<() -> (256, 512, 512)>
// CHECK-DAG:   #[[$TILES:.*]] = affine_map<() -> (256, 4, 4)>
// CHECK-LABEL: func.func @tiles
// CHECK:       swage.kernel @transpose_
// CHECK-SAME:    geometry <blocks = () -> (4096), threads = 512, spaces = [#[[$ELEMENTS]], #[[$TILES]]]
// CHECK-NEXT:    swage.phase body loads [0] stores [0] access [3, 0] {
// CHECK-NEXT:    ^bb0(%{{.*}}: i16):
func.func @tiles(%x: tensor<256x512x512xbf16>) -> tensor<256x512x512xbf16> {
  %y = swage.permute %x [0, 2, 1] : tensor<256x512x512xbf16> -> tensor<256x512x512xbf16>
  return %y : tensor<256x512x512xbf16>
}

// -----

// A broadcast along the vectors is one scalar (1), any other stride is gathered (2).
// CHECK-LABEL: func.func @accesses
// CHECK:       swage.phase body loads [0, 1, 2] stores [0] access [0, 1, 2, 0] {
func.func @accesses(%x: tensor<512x256xf32>, %c: tensor<512xf32>, %s: tensor<512x512xf32>) -> tensor<512x256xf32> {
  %b = swage.broadcast %c dims [0] : tensor<512xf32> -> tensor<512x256xf32>
  %h = swage.slice %s axis 1 from 0 size 256 step 2 : tensor<512x512xf32> -> tensor<512x256xf32>
  %t = arith.addf %x, %b : tensor<512x256xf32>
  %y = arith.mulf %t, %h : tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}

// -----

// Runtime extents: the blocks are counted at launch, and an extent behind the first is divided by.
// CHECK:       #[[$SPACE:.*]] = affine_map<()[s0, s1] -> (s0, s1, 16)>
// CHECK-LABEL: func.func @runtime
// CHECK:       swage.kernel @pointwise_
// CHECK-SAME:    geometry <blocks = ()[s0, s1] -> (((s0 * s1) * 16) ceildiv 256), threads = 256, spaces = [#[[$SPACE]]], dividers = ()[s0, s1] -> (s1)>
func.func @runtime(%x: tensor<?x?x64xf32>, %b: tensor<?x64xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %c = swage.broadcast %b dims [0, 2] sizes(%m, %n) : tensor<?x64xf32> -> tensor<?x?x64xf32>
  %y = arith.addf %x, %c : tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// -----

// A reduction has nothing at every element behind it; its result leaves through the finish.
// CHECK-DAG:   #[[$KEPT:.*]] = affine_map<() -> (128, 256)>
// CHECK-DAG:   #[[$REDUCED:.*]] = affine_map<() -> (1024)>
// CHECK-LABEL: func.func @reduction
// CHECK:       swage.kernel @reduce_sum_
// CHECK-SAME:    geometry <blocks = () -> (1024), threads = 256, spaces = [#[[$KEPT]], #[[$REDUCED]]]
// CHECK-NEXT:    swage.phase prologue for sum loads [0] stores [] access [0] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:      %[[A:.*]] = math.absf %[[X]] : f32
// CHECK-NEXT:      swage.yield %[[A]] : f32
// CHECK:         swage.phase epilogue loads [] stores [] access [] {
// CHECK:         swage.phase finish loads [] stores [0] access [0] {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT:      swage.yield %[[SUM]] : f32
func.func @reduction(%x: tensor<128x1024x1024xbf16>) -> tensor<128x1024xbf16> {
  %a = math.absf %x : tensor<128x1024x1024xbf16>
  %y = swage.reduce sum %a dims [1] : tensor<128x1024x1024xbf16> -> tensor<128x1024xbf16>
  return %y : tensor<128x1024xbf16>
}

// -----

// A second collective: what it goes over is made between, and the elements come to the epilogue with the row results that it asks for.
// The scale of each group is made once, by the group's finish.
// CHECK-LABEL: func.func @groups
// CHECK:         swage.phase prologue for layer_norm eps 1.000000e-05 loads [0] stores [] access [0] {
// CHECK:         swage.phase between for abs_max loads [1] stores [] access [0] {
// CHECK-NEXT:    ^bb0(%[[N:.*]]: f32, %[[G:.*]]: f32):
// CHECK-NEXT:      %[[V:.*]] = arith.mulf %[[N]], %[[G]] : f32
// CHECK-NEXT:      swage.yield %[[V]] : f32
// CHECK:         swage.phase epilogue statistics loads [] stores [2] access [0] {
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %[[M:.*]]: f32):
// CHECK-NEXT:      %[[Q:.*]] = arith.divf %[[E]], %[[M]] fastmath<arcp,contract> : f32
// CHECK:         swage.phase finish loads [] stores [0] access [0] {
// CHECK-NEXT:    ^bb0(%[[MEAN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      swage.yield %[[MEAN]] : f32
// CHECK:         swage.phase group_finish loads [] stores [1] access [2] {
// CHECK-NEXT:    ^bb0(%[[LARGEST:.*]]: f32):
// CHECK-NEXT:      swage.yield %[[LARGEST]] : f32
func.func @groups(%x: tensor<512x1024xf32>, %g: tensor<1024xf32>)
    -> (tensor<512x8x128xf8E4M3FN>, tensor<512x8xf32>, tensor<512xf32>) {
  %n, %mean, %rstd = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5
      : (tensor<512x1024xf32>, tensor<1024xf32>) -> (tensor<512x1024xf32>, tensor<512xf32>, tensor<512xf32>)
  %h = swage.reshape %n : tensor<512x1024xf32> -> tensor<512x8x128xf32>
  %a = math.absf %h : tensor<512x8x128xf32>
  %m = swage.reduce max %a dims [2] : tensor<512x8x128xf32> -> tensor<512x8xf32>
  %b = swage.broadcast %m dims [0, 1] : tensor<512x8xf32> -> tensor<512x8x128xf32>
  %d = arith.divf %h, %b : tensor<512x8x128xf32>
  %q = arith.truncf %d : tensor<512x8x128xf32> to tensor<512x8x128xf8E4M3FN>
  return %q, %m, %mean : tensor<512x8x128xf8E4M3FN>, tensor<512x8xf32>, tensor<512xf32>
}

// -----

// A plain reduction leaves the elements as they are: the epilogue has them, and the result.
// CHECK-LABEL: func.func @centred
// CHECK:         swage.phase prologue for mean loads [0] stores [] access [0] {
// CHECK:         swage.phase epilogue statistics loads [] stores [0] access [0] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[M:.*]]: f32):
// CHECK-NEXT:      %[[C:.*]] = arith.subf %[[X]], %[[M]] : f32
func.func @centred(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %m = swage.reduce mean %x dims [1] : tensor<512x1024xf32> -> tensor<512xf32>
  %b = swage.broadcast %m dims [0] : tensor<512xf32> -> tensor<512x1024xf32>
  %c = arith.subf %x, %b : tensor<512x1024xf32>
  return %c : tensor<512x1024xf32>
}
