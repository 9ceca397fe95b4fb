// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule 2>/dev/null | FileCheck %s
// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule=index=64 2>/dev/null | FileCheck %s --check-prefix=WIDE
// RUN: not swage-opt %s -split-input-file --swage-fuse --swage-select-schedule=arch=sm_12 2>&1 | FileCheck %s --check-prefix=ARCH

// WIDE-COUNT-12: index = 64
// ARCH: error: {{.*}}sm_12

// 16 bytes of 2-byte elements.
// CHECK-LABEL: func.func @vectors_of_8
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
func.func @vectors_of_8(%x: tensor<1048576xf16>) -> tensor<1048576xf16> {
  %y = math.exp %x : tensor<1048576xf16>
  return %y : tensor<1048576xf16>
}

// -----

// One dimension that no vector divides ends in a tail.
// CHECK-LABEL: func.func @tail
// CHECK:       #swage.pointwise_schedule<{{.*}}vector = 4, unroll = 1, tail = true
func.func @tail(%x: tensor<1000003xf32>) -> tensor<1000003xf32> {
  %y = math.exp %x : tensor<1000003xf32>
  return %y : tensor<1000003xf32>
}

// -----

// Odd rows under a broadcast are counted through: vectors go on into the next row.
// CHECK-LABEL: func.func @odd_rows
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 4, unroll = 1, tail = true, index = 32>
func.func @odd_rows(%x: tensor<4096x769xf32>, %b: tensor<769xf32>) -> tensor<4096x769xf32> {
  %c = swage.broadcast %b dims [1] : tensor<769xf32> -> tensor<4096x769xf32>
  %y = arith.addf %x, %c : tensor<4096x769xf32>
  return %y : tensor<4096x769xf32>
}

// -----

// Of pairs of f32 each row's own vectors are as good, with more of them in flight.
// CHECK-LABEL: func.func @even_rows
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 2, unroll = 4, tail = false, index = 32>
func.func @even_rows(%x: tensor<4096x770xf32>, %b: tensor<770xf32>) -> tensor<4096x770xf32> {
  %c = swage.broadcast %b dims [1] : tensor<770xf32> -> tensor<4096x770xf32>
  %y = arith.addf %x, %c : tensor<4096x770xf32>
  return %y : tensor<4096x770xf32>
}

// -----

// What stands still is read element by element by lanes a vector apart: of two rows L1 would deliver less than memory by vectors of eight.
// CHECK-LABEL: func.func @two_odd_rows
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 4, unroll = 2, tail = true, index = 32>
func.func @two_odd_rows(%x: tensor<16384x8191xbf16>, %a: tensor<8191xbf16>, %b: tensor<8191xbf16>) -> tensor<16384x8191xbf16> {
  %c = swage.broadcast %a dims [1] : tensor<8191xbf16> -> tensor<16384x8191xbf16>
  %d = swage.broadcast %b dims [1] : tensor<8191xbf16> -> tensor<16384x8191xbf16>
  %e = arith.mulf %x, %c : tensor<16384x8191xbf16>
  %y = arith.addf %e, %d : tensor<16384x8191xbf16>
  return %y : tensor<16384x8191xbf16>
}

// -----

// The same along the rows: one line for all lanes, or two.
// CHECK-LABEL: func.func @two_odd_columns
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = true, index = 32>
func.func @two_odd_columns(%x: tensor<16384x8191xbf16>, %a: tensor<16384xbf16>, %b: tensor<16384xbf16>) -> tensor<16384x8191xbf16> {
  %c = swage.broadcast %a dims [0] : tensor<16384xbf16> -> tensor<16384x8191xbf16>
  %d = swage.broadcast %b dims [0] : tensor<16384xbf16> -> tensor<16384x8191xbf16>
  %e = arith.mulf %x, %c : tensor<16384x8191xbf16>
  %y = arith.addf %e, %d : tensor<16384x8191xbf16>
  return %y : tensor<16384x8191xbf16>
}

// -----

// Coordinates are each point's own.
// CHECK-LABEL: func.func @odd_triangle
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = true, index = 32>
func.func @odd_triangle(%x: tensor<64x577x577xf16>) -> tensor<64x577x577xf16> {
  %row = swage.iota dim 1 : tensor<64x577x577xi32>
  %column = swage.iota dim 2 : tensor<64x577x577xi32>
  %zero = arith.constant dense<0.0> : tensor<64x577x577xf16>
  %seen = arith.cmpi sle, %column, %row : tensor<64x577x577xi32>
  %y = arith.select %seen, %x, %zero : tensor<64x577x577xi1>, tensor<64x577x577xf16>
  return %y : tensor<64x577x577xf16>
}

// -----

// Rows of a slice are rows: boxes put them together.
// CHECK-LABEL: func.func @odd_slice
// CHECK:       #swage.box_schedule<threads = 512, box = [3, 2001], lanes = 32, skewed = true, index = 32>
func.func @odd_slice(%x: tensor<4096x2003xf16>, %b: tensor<2001xf16>) -> tensor<4096x2001xf16> {
  %s = swage.slice %x axis 1 from 1 size 2001 : tensor<4096x2003xf16> -> tensor<4096x2001xf16>
  %c = swage.broadcast %b dims [1] : tensor<2001xf16> -> tensor<4096x2001xf16>
  %y = arith.addf %s, %c : tensor<4096x2001xf16>
  return %y : tensor<4096x2001xf16>
}

// -----

// An argument that is only aligned to 4 bytes moves by 4.
// CHECK-LABEL: func.func @misaligned
// CHECK:       #swage.pointwise_schedule<{{.*}}vector = 2,
func.func @misaligned(%x: tensor<1048576xf16> {swage.alignment = 4 : i64}) -> tensor<1048576xf16> {
  %y = math.exp %x : tensor<1048576xf16>
  return %y : tensor<1048576xf16>
}

// -----

// The same innermost run on both sides.
// CHECK-LABEL: func.func @runs
// CHECK:       #swage.permute_schedule<kind = runs, threads = 256, movement = 16,
func.func @runs(%x: tensor<16x2048x32x128xbf16>) -> tensor<16x32x2048x128xbf16> {
  %y = swage.permute %x [0, 2, 1, 3] : tensor<16x2048x32x128xbf16> -> tensor<16x32x2048x128xbf16>
  return %y : tensor<16x32x2048x128xbf16>
}

// -----

// CHECK-LABEL: func.func @tiles
// CHECK:       #swage.permute_schedule<kind = tiles, threads = 512, {{.*}}transposed = 1, tile_in = 128, tile_out = 128, vector_in = 4, vector_out = 8
func.func @tiles(%x: tensor<256x512x512xf16>) -> tensor<256x512x512xf16> {
  %y = swage.permute %x [0, 2, 1] : tensor<256x512x512xf16> -> tensor<256x512x512xf16>
  return %y : tensor<256x512x512xf16>
}

// -----

// CHECK-LABEL: func.func @short_rows
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 16, rows_per_block = 8, vector = 8, vectors_per_thread = 1
func.func @short_rows(%x: tensor<65536x128xf16>) -> tensor<65536x128xf16> {
  %y = swage.softmax %x axis 1 : tensor<65536x128xf16> -> tensor<65536x128xf16>
  return %y : tensor<65536x128xf16>
}

// -----

// CHECK-LABEL: func.func @medium_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32>
func.func @medium_rows(%x: tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16> {
  %y = swage.softmax %x axis 1 : tensor<16384x4096xbf16> -> tensor<16384x4096xbf16>
  return %y : tensor<16384x4096xbf16>
}

// -----

// 416 threads with a vector each would leave a multiprocessor with too few rows at once.
// CHECK-LABEL: func.func @resident_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 224, rows_per_block = 1, vector = 8, vectors_per_thread = 2
func.func @resident_rows(%x: tensor<16384x3088xbf16>) -> tensor<16384x3088xbf16> {
  %y = swage.softmax %x axis 1 : tensor<16384x3088xbf16> -> tensor<16384x3088xbf16>
  return %y : tensor<16384x3088xbf16>
}

// -----

// Scores and a mask of their own rows take 24 registers for 16 elements: five blocks have room.
// CHECK-LABEL: func.func @capped_scores
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32, resident = 5>
func.func @capped_scores(%x: tensor<16x1024x4096xf32>, %m: tensor<1024x4096xbf16>) -> tensor<16x1024x4096xbf16> {
  %w = arith.extf %m : tensor<1024x4096xbf16> to tensor<1024x4096xf32>
  %b = swage.broadcast %w dims [1, 2] : tensor<1024x4096xf32> -> tensor<16x1024x4096xf32>
  %s = arith.addf %x, %b : tensor<16x1024x4096xf32>
  %p = swage.softmax %s axis 2 : tensor<16x1024x4096xf32> -> tensor<16x1024x4096xf32>
  %y = arith.truncf %p : tensor<16x1024x4096xf32> to tensor<16x1024x4096xbf16>
  return %y : tensor<16x1024x4096xbf16>
}

// -----

// A gate that is read ahead takes half as many registers as the row.
// CHECK-LABEL: func.func @gated_norm
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32, resident = 6>
func.func @gated_norm(%x: tensor<16384x4096xbf16>, %gate: tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16> {
  %n = swage.rms_norm %x axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16>
  %y = arith.mulf %n, %gate : tensor<16384x4096xbf16>
  return %y : tensor<16384x4096xbf16>
}

// -----

// A warp alone in its block, where what is written stays in L2 and the rows are more than blocks fit at once; a LayerNorm's share gamma.
// CHECK-LABEL: func.func @short_norm
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 1, vector = 8, vectors_per_thread = 3, index = 32>
func.func @short_norm(%x: tensor<8192x768xf16>, %g: tensor<768xf16>) -> tensor<8192x768xf16> {
  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<8192x768xf16>, tensor<768xf16>) -> tensor<8192x768xf16>
  return %y : tensor<8192x768xf16>
}

// -----

// CHECK-LABEL: func.func @short_layer_norm
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 4, vector = 8, vectors_per_thread = 3, index = 32>
func.func @short_layer_norm(%x: tensor<8192x768xf16>, %g: tensor<768xf16>) -> tensor<8192x768xf16> {
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<8192x768xf16>, tensor<768xf16>) -> tensor<8192x768xf16>
  return %y : tensor<8192x768xf16>
}

// -----

// So few rows that some multiprocessors would have two more than others.
// CHECK-LABEL: func.func @few_norms
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 1, vector = 8, vectors_per_thread = 3, index = 32>
func.func @few_norms(%x: tensor<1024x768xf16>, %g: tensor<768xf16>) -> tensor<1024x768xf16> {
  %y = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<1024x768xf16>, tensor<768xf16>) -> tensor<1024x768xf16>
  return %y : tensor<1024x768xf16>
}

// -----

// A warp takes a row whose mask leaves it another part than the next one's; without the mask two would.
// CHECK-LABEL: func.func @causal_rows
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 2, vector = 8, vectors_per_thread = 4
func.func @causal_rows(%x: tensor<16x1024x1024xf16>) -> tensor<16x1024x1024xf16> {
  %i = swage.iota dim 1 : tensor<16x1024x1024xi32>
  %j = swage.iota dim 2 : tensor<16x1024x1024xi32>
  %m = arith.cmpi sle, %j, %i : tensor<16x1024x1024xi32>
  %y = swage.softmax %x mask %m axis 2 : tensor<16x1024x1024xf16>, tensor<16x1024x1024xi1> -> tensor<16x1024x1024xf16>
  return %y : tensor<16x1024x1024xf16>
}

// -----

// Longer ones give each thread twice the vectors that they would have without a mask.
// CHECK-LABEL: func.func @causal_long_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 8, vectors_per_thread = 4
func.func @causal_long_rows(%x: tensor<4x4096x4096xf16>) -> tensor<4x4096x4096xf16> {
  %i = swage.iota dim 1 : tensor<4x4096x4096xi32>
  %j = swage.iota dim 2 : tensor<4x4096x4096xi32>
  %m = arith.cmpi sle, %j, %i : tensor<4x4096x4096xi32>
  %y = swage.softmax %x mask %m axis 2 : tensor<4x4096x4096xf16>, tensor<4x4096x4096xi1> -> tensor<4x4096x4096xf16>
  return %y : tensor<4x4096x4096xf16>
}

// -----

// Rows that begin at any element pass through shared memory while one or a few threads can take each.
// CHECK-LABEL: func.func @odd_short_rows
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 1, rows_per_block = 128, vector = 1, vectors_per_thread = 33, index = 32, staged = true
func.func @odd_short_rows(%x: tensor<65536x33xf16>) -> tensor<65536x33xf16> {
  %y = swage.softmax %x axis 1 : tensor<65536x33xf16> -> tensor<65536x33xf16>
  return %y : tensor<65536x33xf16>
}

// -----

// Longer ones go by vectors that are aligned in memory, many elements a thread.
// CHECK-LABEL: func.func @odd_rows_of_warps
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 2, vector = 4, vectors_per_thread = 8, index = 32, aligned = true>
func.func @odd_rows_of_warps(%x: tensor<16384x1001xbf16>) -> tensor<16384x1001xbf16> {
  %y = swage.softmax %x axis 1 : tensor<16384x1001xbf16> -> tensor<16384x1001xbf16>
  return %y : tensor<16384x1001xbf16>
}

// -----

// Norms that move more than a row in and one out: few vectors of 16 bytes a thread.
// CHECK-LABEL: func.func @odd_rows_of_norms
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 64, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32, aligned = true>
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 384, rows_per_block = 1, vector = 8, vectors_per_thread = 3, index = 32, aligned = true>
func.func @odd_rows_of_norms(%x: tensor<16384x1001xbf16>, %y: tensor<16384x1001xbf16>, %v: tensor<8192x9001xbf16>, %w: tensor<8192x9001xbf16>)
    -> (tensor<16384x1001xbf16>, tensor<16384x1001xbf16>, tensor<8192x9001xbf16>) {
  %s = arith.addf %x, %y : tensor<16384x1001xbf16>
  %n = swage.rms_norm %s axis 1 eps 1.0e-5 : (tensor<16384x1001xbf16>) -> tensor<16384x1001xbf16>
  %m = swage.layer_norm %v axis 1 eps 1.0e-5 : (tensor<8192x9001xbf16>) -> tensor<8192x9001xbf16>
  %g = arith.mulf %m, %w : tensor<8192x9001xbf16>
  return %s, %n, %g : tensor<16384x1001xbf16>, tensor<16384x1001xbf16>, tensor<8192x9001xbf16>
}

// -----

// Where threads would wait for banks of shared memory: more threads for each row, or aligned vectors.
// CHECK-LABEL: func.func @rows_of_banks
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 1, vectors_per_thread = 8, index = 32, staged = true
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 8, vector = 4, vectors_per_thread = 5, index = 32, aligned = true
func.func @rows_of_banks(%x: tensor<65536x64xf16> {swage.alignment = 2 : i64}, %w: tensor<65536x129xf16>)
    -> (tensor<65536x64xf16>, tensor<65536x129xf16>) {
  %y = swage.softmax %x axis 1 : tensor<65536x64xf16> -> tensor<65536x64xf16>
  %z = swage.softmax %w axis 1 : tensor<65536x129xf16> -> tensor<65536x129xf16>
  return %y, %z : tensor<65536x64xf16>, tensor<65536x129xf16>
}

// -----

// CHECK-LABEL: func.func @odd_rows_of_blocks
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 4, vectors_per_thread = 10, index = 32, aligned = true, resident = 7>
func.func @odd_rows_of_blocks(%x: tensor<16384x5001xbf16>) -> tensor<16384x5001xbf16> {
  %y = swage.softmax %x axis 1 : tensor<16384x5001xbf16> -> tensor<16384x5001xbf16>
  return %y : tensor<16384x5001xbf16>
}

// -----

// CHECK-LABEL: func.func @odd_long_rows
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}vector = 8, {{.*}}staged = true, aligned = true
func.func @odd_long_rows(%x: tensor<2048x50257xbf16>) -> tensor<2048x50257xbf16> {
  %y = swage.softmax %x axis 1 : tensor<2048x50257xbf16> -> tensor<2048x50257xbf16>
  return %y : tensor<2048x50257xbf16>
}

// -----

// What no block's registers hold waits in shared memory, a part of it in each of so few blocks as let three of them share a
// multiprocessor.
// CHECK-LABEL: func.func @long_rows
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 512, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32, blocks_per_row = 2, staged = true>
func.func @long_rows(%x: tensor<2048x65536xbf16>, %g: tensor<65536xbf16>, %b: tensor<65536xbf16>) -> tensor<2048x65536xbf16> {
  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<2048x65536xbf16>, tensor<65536xbf16>, tensor<65536xbf16>) -> tensor<2048x65536xbf16>
  return %y : tensor<2048x65536xbf16>
}

// -----

// Parts of 16 KB where there is no gamma to be read for each of them.
// CHECK-LABEL: func.func @long_rows_alone
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 128, rows_per_block = 1, vector = 8, vectors_per_thread = 4, index = 32, blocks_per_row = 8, staged = true>
func.func @long_rows_alone(%x: tensor<2048x65536xbf16>) -> tensor<2048x65536xbf16> {
  %y = swage.softmax %x axis 1 : tensor<2048x65536xbf16> -> tensor<2048x65536xbf16>
  return %y : tensor<2048x65536xbf16>
}

// -----

// Views may begin alike, at any element.
// CHECK-LABEL: func.func @views_of_long_rows
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}vectors_per_thread = 1, {{.*}}staged = true, aligned = true>
func.func @views_of_long_rows(%x: tensor<2048x65536xbf16> {swage.alignment = 2 : i64}) -> (tensor<2048x65536xbf16> {swage.alignment = 2 : i64}) {
  %y = swage.softmax %x axis 1 : tensor<2048x65536xbf16> -> tensor<2048x65536xbf16>
  return %y : tensor<2048x65536xbf16>
}

// -----

// A norm asks for two vectors of gamma at once, and has registers for them.
// CHECK-LABEL: func.func @long_norms
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}vectors_per_thread = 2, {{.*}}staged = true, resident = {{[2-9]}}>
func.func @long_norms(%x: tensor<1448x23080xf32>, %g: tensor<23080xf32>) -> tensor<1448x23080xf32> {
  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<1448x23080xf32>, tensor<23080xf32>) -> tensor<1448x23080xf32>
  return %y : tensor<1448x23080xf32>
}

// -----

// They are dealt out to so many threads that hardly a place stays empty, and three blocks fit.
// CHECK-LABEL: func.func @longer_rows
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 672, rows_per_block = 1, vector = 8, vectors_per_thread = 1, index = 32, blocks_per_row = 8, staged = true>
func.func @longer_rows(%x: tensor<223x300000xbf16>) -> tensor<223x300000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<223x300000xbf16> -> tensor<223x300000xbf16>
  return %y : tensor<223x300000xbf16>
}

// -----

// Few long rows of a LayerNorm have blocks of 256 threads where several share a multiprocessor, and as many as a cluster has for the longest.
// CHECK-LABEL: func.func @few_long_norms
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32, blocks_per_row = 8,
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 8, vectors_per_thread = 4, index = 32, blocks_per_row = 16,
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 512, rows_per_block = 1, vector = 8, vectors_per_thread = 1, index = 32, blocks_per_row = 8,
func.func @few_long_norms(%a: tensor<32x32768xbf16>, %b: tensor<32x131072xbf16>, %c: tensor<8x32768xbf16>) -> (tensor<32x32768xbf16>, tensor<32x131072xbf16>, tensor<8x32768xbf16>) {
  %x = swage.layer_norm %a axis 1 eps 1.0e-5 : (tensor<32x32768xbf16>) -> tensor<32x32768xbf16>
  %y = swage.layer_norm %b axis 1 eps 1.0e-5 : (tensor<32x131072xbf16>) -> tensor<32x131072xbf16>
  %z = swage.layer_norm %c axis 1 eps 1.0e-5 : (tensor<8x32768xbf16>) -> tensor<8x32768xbf16>
  return %x, %y, %z : tensor<32x32768xbf16>, tensor<32x131072xbf16>, tensor<8x32768xbf16>
}

// -----

// Longer ones are shared by more blocks than a cluster holds, of which two are on a multiprocessor.
// CHECK-LABEL: func.func @longest_rows
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 512, {{.*}}vectors_per_thread = 4, index = 32, blocks_per_row = 21, staged = true, shelved_steps = 3>
func.func @longest_rows(%x: tensor<128x1000000xbf16>) -> tensor<128x1000000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<128x1000000xbf16> -> tensor<128x1000000xbf16>
  return %y : tensor<128x1000000xbf16>
}

// -----

// Of norms three, also where a cluster would hold the row.
// CHECK-LABEL: func.func @longest_norms
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 512, {{.*}}vectors_per_thread = 2, index = 32, blocks_per_row = 22, staged = true, shelved_steps = 4>
func.func @longest_norms(%x: tensor<64x700000xbf16>) -> tensor<64x700000xbf16> {
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<64x700000xbf16>) -> tensor<64x700000xbf16>
  return %y : tensor<64x700000xbf16>
}

// -----

// Where nothing says how many rows there are a part waits, in clusters.
// CHECK-LABEL: func.func @any_long_rows
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}blocks_per_row = 16, staged = true, shelved_steps = 3>
func.func @any_long_rows(%x: tensor<?x1000000xbf16>) -> tensor<?x1000000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<?x1000000xbf16> -> tensor<?x1000000xbf16>
  return %y : tensor<?x1000000xbf16>
}

// -----

// Of rows that the device does not hold two of a part waits in as many blocks as there are multiprocessors.
// CHECK-LABEL: func.func @walked_rows
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}blocks_per_row = 132, staged = true, shelved_steps = 3>
func.func @walked_rows(%x: tensor<64x10000000xbf16>) -> tensor<64x10000000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<64x10000000xbf16> -> tensor<64x10000000xbf16>
  return %y : tensor<64x10000000xbf16>
}

// -----

// Odd ones of 16 bits hold as much.
// CHECK-LABEL: func.func @walked_odd_rows
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}blocks_per_row = 132, staged = true, shelved_steps = 13, aligned = true>
func.func @walked_odd_rows(%x: tensor<16x8000001xbf16>, %g: tensor<8000001xbf16>) -> tensor<16x8000001xbf16> {
  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<16x8000001xbf16>, tensor<8000001xbf16>) -> tensor<16x8000001xbf16>
  return %y : tensor<16x8000001xbf16>
}

// -----

// Crowds of so many rows would meet in more memory than a kernel may have for that.
// CHECK-LABEL: func.func @too_many_for_crowds
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}blocks_per_row = 16, staged = true, shelved_steps = 3>
func.func @too_many_for_crowds(%x: tensor<2500000x1000000xbf16>) -> tensor<2500000x1000000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<2500000x1000000xbf16> -> tensor<2500000x1000000xbf16>
  return %y : tensor<2500000x1000000xbf16>
}

// -----

// But more rows share long gamma and beta.
// CHECK-LABEL: func.func @walked_norms
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}blocks_per_row = 33, staged = true, shelved_steps = 6, resident = 3>
func.func @walked_norms(%x: tensor<64x8000000xbf16>, %g: tensor<8000000xbf16>, %b: tensor<8000000xbf16>) -> tensor<64x8000000xbf16> {
  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<64x8000000xbf16>, tensor<8000000xbf16>, tensor<8000000xbf16>) -> tensor<64x8000000xbf16>
  return %y : tensor<64x8000000xbf16>
}

// -----

// Rows that would leave most multiprocessors idle are shared by more blocks than a cluster holds.
// CHECK-LABEL: func.func @all_for_one_row
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 512, {{.*}}vectors_per_thread = 4, index = 32, blocks_per_row = 132, staged = true, shelved_steps = 1, aligned = true>
func.func @all_for_one_row(%x: tensor<1x1000003xf32>) -> tensor<1x1000003xf32> {
  %y = swage.softmax %x axis 1 : tensor<1x1000003xf32> -> tensor<1x1000003xf32>
  return %y : tensor<1x1000003xf32>
}

// -----

// CHECK-LABEL: func.func @all_for_three_rows
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 1024, {{.*}}vectors_per_thread = 2, index = 32, blocks_per_row = 44, staged = true, shelved_steps = 7>
func.func @all_for_three_rows(%x: tensor<3x8000000xbf16>) -> tensor<3x8000000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<3x8000000xbf16> -> tensor<3x8000000xbf16>
  return %y : tensor<3x8000000xbf16>
}

// -----

// Not where clusters do as well: they wait for each other for less time.
// CHECK-LABEL: func.func @a_cluster_is_enough
// CHECK:       #swage.row_schedule<kind = block, {{.*}}blocks_per_row = 16,
func.func @a_cluster_is_enough(%x: tensor<1x150000xf32>) -> tensor<1x150000xf32> {
  %y = swage.softmax %x axis 1 : tensor<1x150000xf32> -> tensor<1x150000xf32>
  return %y : tensor<1x150000xf32>
}

// -----

// The sum may take the place of an operand where the row is on chip, in clusters.
// CHECK-LABEL: func.func @sum_in_place
// CHECK:       #swage.row_schedule<kind = block, {{.*}}blocks_per_row = 16,
func.func @sum_in_place(%x: tensor<1x300000xf32>, %r: tensor<1x300000xf32>) -> (tensor<1x300000xf32>, tensor<1x300000xf32>) {
  %s = arith.addf %x, %r : tensor<1x300000xf32>
  %n = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<1x300000xf32>) -> tensor<1x300000xf32>
  return %s, %n : tensor<1x300000xf32>, tensor<1x300000xf32>
}

// -----

// Eight rows of two blocks on each multiprocessor: a second round of blocks that hold all of them would take longer than to read a part again.
// CHECK-LABEL: func.func @all_in_one_round
// CHECK:       #swage.row_schedule<kind = looped, {{.*}}blocks_per_row = 33, staged = true, shelved_steps = 3>
func.func @all_in_one_round(%x: tensor<8x4000000xf32>) -> tensor<8x4000000xf32> {
  %y = swage.softmax %x axis 1 : tensor<8x4000000xf32> -> tensor<8x4000000xf32>
  return %y : tensor<8x4000000xf32>
}

// -----

// A group's row is made of runs of 32 bytes: four groups are read together.
// CHECK-LABEL: func.func @rows_beside_each_other
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 128, rows_per_block = 4, {{.*}}blocks_per_row = 8, staged = true
func.func @rows_beside_each_other(%x: tensor<32x4096x32x16xbf16>) -> tensor<32x4096x32x16xbf16> {
  %groups = swage.permute %x [0, 2, 1, 3] : tensor<32x4096x32x16xbf16> -> tensor<32x32x4096x16xbf16>
  %n = swage.layer_norm %groups axis 2 eps 1.0e-5 : (tensor<32x32x4096x16xbf16>) -> tensor<32x32x4096x16xbf16>
  %y = swage.permute %n [0, 2, 1, 3] : tensor<32x32x4096x16xbf16> -> tensor<32x4096x32x16xbf16>
  return %y : tensor<32x4096x32x16xbf16>
}

// -----

// Few rows are shared by so many blocks that half of the multiprocessors work: larger clusters find room on fewer of them.
// CHECK-LABEL: func.func @few_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 512, {{.*}}blocks_per_row = 8, bypass_l1 = true, resident = 1>
func.func @few_rows(%x: tensor<8x128256xf32>) -> tensor<8x128256xf32> {
  %y = swage.softmax %x axis 1 : tensor<8x128256xf32> -> tensor<8x128256xf32>
  return %y : tensor<8x128256xf32>
}

// -----

// Random bits, which nothing is read for, come in the fours that a counter gives.
// CHECK-LABEL: func.func @random_bits
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 32, vector = 4
func.func @random_bits(%state: tensor<2xi64>) -> tensor<16384x32xi32> {
  %bits = swage.random %state : tensor<2xi64> -> tensor<16384x32x32xi32>
  %zero = arith.constant dense<0> : tensor<16384x32x32xi32>
  %keep = arith.cmpi slt, %bits, %zero : tensor<16384x32x32xi32>
  %ones = arith.extui %keep : tensor<16384x32x32xi1> to tensor<16384x32x32xi32>
  %place = swage.iota dim 2 : tensor<16384x32x32xi32>
  %placed = arith.shli %ones, %place : tensor<16384x32x32xi32>
  %mask = swage.reduce sum %placed dims [2] : tensor<16384x32x32xi32> -> tensor<16384x32xi32>
  return %mask : tensor<16384x32xi32>
}

// -----

// CHECK-LABEL: func.func @columns
// CHECK:       #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 8, vector = 4, vectors_per_thread = 8, index = 32>
func.func @columns(%x: tensor<64x512x512xf32>) -> tensor<64x512x512xf32> {
  %y = swage.softmax %x axis 1 : tensor<64x512x512xf32> -> tensor<64x512x512xf32>
  return %y : tensor<64x512x512xf32>
}

// -----

// CHECK-LABEL: func.func @outer
// CHECK:       #swage.reduce_schedule<lanes = 32, row_groups = 8, vector = 4, unroll = 8
func.func @outer(%x: tensor<128x1024x1024xbf16>) -> tensor<128x1024xbf16> {
  %y = swage.reduce sum %x dims [1] : tensor<128x1024x1024xbf16> -> tensor<128x1024xbf16>
  return %y : tensor<128x1024xbf16>
}

// -----

// Offsets beyond 2^31 need 64 bits, although there are fewer elements read than that.
// CHECK-LABEL: func.func @far
// CHECK:       index = 64
func.func @far(%x: tensor<4x1073741824xi8>) -> tensor<4x8xi8> {
  %y = swage.slice %x axis 1 from 0 size 8 : tensor<4x1073741824xi8> -> tensor<4x8xi8>
  return %y : tensor<4x8xi8>
}

// -----

// Bytes beside wider elements go by eights, many a thread where there is little else.
// CHECK-LABEL: func.func @quantised
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 8, vectors_per_thread = 4, index = 32>
func.func @quantised(%x: tensor<16384x4096xbf16>) -> tensor<16384x4096xf8E4M3FN> {
  %n = swage.rms_norm %x axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16>
  %q = arith.truncf %n : tensor<16384x4096xbf16> to tensor<16384x4096xf8E4M3FN>
  return %q : tensor<16384x4096xf8E4M3FN>
}

// -----

// It is the wider ones that keep memory busy.
// CHECK-LABEL: func.func @dequantised
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32>
func.func @dequantised(%x: tensor<16384x4096xi32>) -> tensor<16384x4096xi8> {
  %f = arith.sitofp %x : tensor<16384x4096xi32> to tensor<16384x4096xf32>
  %n = swage.layer_norm %f axis 1 eps 1.0e-6 : (tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %q = arith.fptosi %n : tensor<16384x4096xf32> to tensor<16384x4096xi8>
  return %q : tensor<16384x4096xi8>
}

// -----

// Tiles turn what moves along both of their sides; a bias along one of them is read where it is added, at any address.
// CHECK-LABEL: func.func @turned_with_bias
// CHECK:       #swage.permute_schedule<kind = tiles, threads = 512, movement = 1, unroll = 1, transposed = 1, tile_in = 128, tile_out = 128, vector_in = 4, vector_out = 8, index = 32>
func.func @turned_with_bias(%x: tensor<64x512x256xf16>, %b: tensor<300xf16>) -> tensor<64x256x512xf16> {
  %part = swage.slice %b axis 0 from 3 size 256 : tensor<300xf16> -> tensor<256xf16>
  %all = swage.broadcast %part dims [2] : tensor<256xf16> -> tensor<64x512x256xf16>
  %s = arith.addf %x, %all : tensor<64x512x256xf16>
  %y = swage.permute %s [0, 2, 1] : tensor<64x512x256xf16> -> tensor<64x256x512xf16>
  return %y : tensor<64x256x512xf16>
}

// -----

// Small ones, where there would be few.
// CHECK-LABEL: func.func @turned_small
// CHECK:       #swage.permute_schedule<kind = tiles, threads = 128, movement = 1, unroll = 1, transposed = 0, tile_in = 32, tile_out = 32, vector_in = 4, vector_out = 2, index = 32>
// CHECK:       #swage.permute_schedule<kind = tiles, threads = 256, movement = 1, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 4, vector_out = 4, index = 32>
func.func @turned_small(%x: tensor<512x512xf16>, %z: tensor<1024x1024xi8>) -> (tensor<512x512xf16>, tensor<1024x1024xi8>) {
  %y = swage.permute %x [1, 0] : tensor<512x512xf16> -> tensor<512x512xf16>
  %w = swage.permute %z [1, 0] : tensor<1024x1024xi8> -> tensor<1024x1024xi8>
  return %y, %w : tensor<512x512xf16>, tensor<1024x1024xi8>
}

// -----

// A scale narrower or wider than what is turned counts for no tile.
// CHECK-LABEL: func.func @turned_bytes
// CHECK:       #swage.permute_schedule<kind = tiles, threads = 256, movement = 1, unroll = 1, transposed = 0, tile_in = 128, tile_out = 128, vector_in = 8, vector_out = 8, index = 32>
func.func @turned_bytes(%x: tensor<4096x5120xi8>, %s: tensor<5120xf32>) -> tensor<5120x4096xf16> {
  %f = arith.sitofp %x : tensor<4096x5120xi8> to tensor<4096x5120xf32>
  %all = swage.broadcast %s dims [1] : tensor<5120xf32> -> tensor<4096x5120xf32>
  %v = arith.mulf %f, %all : tensor<4096x5120xf32>
  %h = arith.truncf %v : tensor<4096x5120xf32> to tensor<4096x5120xf16>
  %y = swage.permute %h [1, 0] : tensor<4096x5120xf16> -> tensor<5120x4096xf16>
  return %y : tensor<5120x4096xf16>
}

// -----

// Three channels go by boxes, whatever is computed on the way.
// CHECK-LABEL: func.func @normalised_planes
// CHECK:       #swage.box_schedule<threads = 256, box = [1, 3, 4096], lanes = 32, skewed = false, index = 32>
func.func @normalised_planes(%x: tensor<8x512x512x3xi8>, %mean: tensor<3xf32>) -> tensor<8x3x512x512xbf16> {
  %f = arith.uitofp %x : tensor<8x512x512x3xi8> to tensor<8x512x512x3xf32>
  %all = swage.broadcast %mean dims [3] : tensor<3xf32> -> tensor<8x512x512x3xf32>
  %c = arith.subf %f, %all : tensor<8x512x512x3xf32>
  %p = swage.permute %c [0, 3, 1, 2] : tensor<8x512x512x3xf32> -> tensor<8x3x512x512xf32>
  %y = arith.truncf %p : tensor<8x3x512x512xf32> to tensor<8x3x512x512xbf16>
  return %y : tensor<8x3x512x512xbf16>
}

// -----

// Short rows where all else lies as the result does are counted through.
// CHECK-LABEL: func.func @short_rows
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 2, tail = true, index = 32>
func.func @short_rows(%x: tensor<8x512x512x3xi8>, %mean: tensor<3xf32>) -> tensor<8x512x512x3xbf16> {
  %f = arith.uitofp %x : tensor<8x512x512x3xi8> to tensor<8x512x512x3xf32>
  %all = swage.broadcast %mean dims [3] : tensor<3xf32> -> tensor<8x512x512x3xf32>
  %c = arith.subf %f, %all : tensor<8x512x512x3xf32>
  %y = arith.truncf %c : tensor<8x512x512x3xf32> to tensor<8x512x512x3xbf16>
  return %y : tensor<8x512x512x3xbf16>
}

// -----

// Short pieces that share lines of memory with the next ones: those are the next block's, if they would else be far away. A large box has more threads.
// CHECK-LABEL: func.func @short_pieces
// CHECK:       #swage.box_schedule<threads = 512, box = [40, 1, 128], lanes = 32, skewed = true, index = 32, fastest = 0>
func.func @short_pieces(%x: tensor<10863x80x100xf32>) -> tensor<100x80x10863xf32> {
  %y = swage.permute %x [2, 1, 0] : tensor<10863x80x100xf32> -> tensor<100x80x10863xf32>
  return %y : tensor<100x80x10863xf32>
}

// -----

// Where a thread would have six windows there are more threads, of bytes and of few blocks too; not where windows are turned.
// CHECK-LABEL: func.func @many_windows
// CHECK:       #swage.box_schedule<threads = 512, box = [1, 1957, 13]
// CHECK:       #swage.box_schedule<threads = 256, box = [64, 384]
func.func @many_windows(%x: tensor<96x7x13x1957xi8>, %y: tensor<45710x512xi8>) -> (tensor<96x7x1957x13xi8>, tensor<512x45710xi8>) {
  %a = swage.permute %x [0, 1, 3, 2] : tensor<96x7x13x1957xi8> -> tensor<96x7x1957x13xi8>
  %b = swage.permute %y [1, 0] : tensor<45710x512xi8> -> tensor<512x45710xi8>
  return %a, %b : tensor<96x7x1957x13xi8>, tensor<512x45710xi8>
}

// -----

// Of whole sectors neighbours need not be met, and blocks follow what is read: not into the next piece, which is written next as
// well, but into the next row. Not along a dimension that is far apart on both sides (the second), nor in a small tensor by larger boxes (the third).
// CHECK-LABEL: func.func @whole_pieces
// CHECK:       #swage.box_schedule<threads = 512, box = [30, 1, 1, 4, 48], lanes = 32, skewed = true, index = 32, fastest = 1>
// CHECK:       #swage.box_schedule<threads = 512, box = [1, 4, {{[0-9]+}}, 64], lanes = 16, skewed = true, index = 32>
// CHECK:       #swage.box_schedule<threads = 512, box = [1, 48, 3, 16], lanes = 32, skewed = true, index = 32>
func.func @whole_pieces(%x: tensor<32x48x40x36x30xf32>, %y: tensor<288x64x128x4xi64>, %z: tensor<225x13x16x48xi64>) -> (tensor<30x40x32x36x48xf32>, tensor<288x4x128x64xi64>, tensor<13x48x225x16xi64>) {
  %a = swage.permute %x [4, 2, 0, 3, 1] : tensor<32x48x40x36x30xf32> -> tensor<30x40x32x36x48xf32>
  %b = swage.permute %y [0, 3, 2, 1] : tensor<288x64x128x4xi64> -> tensor<288x4x128x64xi64>
  %c = swage.permute %z [1, 3, 0, 2] : tensor<225x13x16x48xi64> -> tensor<13x48x225x16xi64>
  return %a, %b, %c : tensor<30x40x32x36x48xf32>, tensor<288x4x128x64xi64>, tensor<13x48x225x16xi64>
}

// -----

// Where there are many, large boxes of whole sectors cost little: pieces of 256 bytes, of 96 to read.
// CHECK-LABEL: func.func @many_whole_pieces
// CHECK:       #swage.box_schedule<threads = 256, box = [48, 1, 1, 2, 1, 8, 16]
func.func @many_whole_pieces(%x: tensor<8x4x16x2x64x8x48xf16>) -> tensor<48x2x4x8x8x64x16xf16> {
  %y = swage.permute %x [6, 3, 1, 5, 0, 4, 2] : tensor<8x4x16x2x64x8x48xf16> -> tensor<48x2x4x8x8x64x16xf16>
  return %y : tensor<48x2x4x8x8x64x16xf16>
}

// -----

// What lies together in the result makes whole rows of tiles, however short its last extent is; narrow ones of 4 bytes where more
// of them are full so (the second).
// CHECK-LABEL: func.func @merged
// CHECK:       #swage.permute_schedule<kind = tiles, threads = 256, movement = 1, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 4, vector_out = 4, index = 32, merged = 3>
// CHECK:       #swage.permute_schedule<{{.*}}transposed = 0, tile_in = 32, tile_out = 128, vector_in = 4, vector_out = 4, index = 32, merged = 3>
// CHECK:       #swage.permute_schedule<{{.*}}transposed = 0, tile_in = 64, tile_out = 128, vector_in = 4, vector_out = 8, index = 32, merged = 6>
func.func @merged(%x: tensor<97x3x112x128xf32>, %y: tensor<12x4x9x257x96xf32>, %z: tensor<8x4x16x2x64x8x64xf16>)
    -> (tensor<128x112x3x97xf32>, tensor<96x9x12x4x257xf32>, tensor<64x2x4x8x8x64x16xf16>) {
  %a = swage.permute %x [3, 2, 1, 0] : tensor<97x3x112x128xf32> -> tensor<128x112x3x97xf32>
  %b = swage.permute %y [4, 2, 0, 1, 3] : tensor<12x4x9x257x96xf32> -> tensor<96x9x12x4x257xf32>
  %c = swage.permute %z [6, 3, 1, 5, 0, 4, 2] : tensor<8x4x16x2x64x8x64xf16> -> tensor<64x2x4x8x8x64x16xf16>
  return %a, %b, %c : tensor<128x112x3x97xf32>, tensor<96x9x12x4x257xf32>, tensor<64x2x4x8x8x64x16xf16>
}

// -----

// But not bytes whose rows do not begin with sectors, where a tile would not be full, where another operand lies otherwise, or of
// sizes that are not known.
// CHECK-LABEL: func.func @not_merged
// CHECK-NOT:   merged
func.func @not_merged(%x: tensor<898x8x48x768xi8>, %y: tensor<56x9x1000x2x14xf64>, %z: tensor<97x3x112x128xf32>, %beside: tensor<97xf32>, %w: tensor<?x3x112x128xf32>)
    -> (tensor<48x768x8x898xi8>, tensor<14x9x2x56x1000xf64>, tensor<128x112x3x97xf32>, tensor<128x112x3x?xf32>) {
  %a = swage.permute %x [2, 3, 1, 0] : tensor<898x8x48x768xi8> -> tensor<48x768x8x898xi8>
  %b = swage.permute %y [4, 1, 3, 0, 2] : tensor<56x9x1000x2x14xf64> -> tensor<14x9x2x56x1000xf64>
  %c = swage.permute %z [3, 2, 1, 0] : tensor<97x3x112x128xf32> -> tensor<128x112x3x97xf32>
  %d = swage.broadcast %beside dims [3] : tensor<97xf32> -> tensor<128x112x3x97xf32>
  %e = arith.addf %c, %d : tensor<128x112x3x97xf32>
  %f = swage.permute %w [3, 2, 1, 0] : tensor<?x3x112x128xf32> -> tensor<128x112x3x?xf32>
  return %a, %b, %e, %f : tensor<48x768x8x898xi8>, tensor<14x9x2x56x1000xf64>, tensor<128x112x3x97xf32>, tensor<128x112x3x?xf32>
}

// -----

// But not of bytes, whose windows take registers, and not a small one.
// CHECK-LABEL: func.func @few_threads
// CHECK:       #swage.box_schedule<threads = 256, box = [112, 256]
// CHECK:       #swage.box_schedule<threads = 256, box = [24, 128]
func.func @few_threads(%x: tensor<2355749x112xi8>, %y: tensor<100000x24xf32>) -> (tensor<112x2355749xi8>, tensor<24x100000xf32>) {
  %a = swage.permute %x [1, 0] : tensor<2355749x112xi8> -> tensor<112x2355749xi8>
  %b = swage.permute %y [1, 0] : tensor<100000x24xf32> -> tensor<24x100000xf32>
  return %a, %b : tensor<112x2355749xi8>, tensor<24x100000xf32>
}

// -----

// Rows of the output that begin within sectors are written in long pieces, at the price of short ones that are read.
// CHECK-LABEL: func.func @torn
// CHECK:       #swage.box_schedule<threads = 256, box = [1, 64, 256]
func.func @torn(%x: tensor<56x354x56x224xi8>) -> tensor<56x224x354x56xi8> {
  %y = swage.permute %x [0, 3, 1, 2] : tensor<56x354x56x224xi8> -> tensor<56x224x354x56xi8>
  return %y : tensor<56x224x354x56xi8>
}

// -----

// Bytes whose rows do not begin with sectors go by boxes, others, and wider elements, by tiles.
// CHECK-LABEL: func.func @torn_bytes
// CHECK:       #swage.box_schedule<threads = 256, box = [64, 256]
// CHECK:       #swage.permute_schedule<kind = tiles
// CHECK:       #swage.permute_schedule<kind = tiles
func.func @torn_bytes(%x: tensor<462000x384xi8>, %y: tensor<462080x384xi8>, %z: tensor<40008x512xf16>) -> (tensor<384x462000xi8>, tensor<384x462080xi8>, tensor<512x40008xf16>) {
  %a = swage.permute %x [1, 0] : tensor<462000x384xi8> -> tensor<384x462000xi8>
  %b = swage.permute %y [1, 0] : tensor<462080x384xi8> -> tensor<384x462080xi8>
  %c = swage.permute %z [1, 0] : tensor<40008x512xf16> -> tensor<512x40008xf16>
  return %a, %b, %c : tensor<384x462000xi8>, tensor<384x462080xi8>, tensor<512x40008xf16>
}

// -----

// Whole lines are not shared.
// CHECK-LABEL: func.func @whole_lines
// CHECK:       #swage.box_schedule<threads = 256, box = [{{[0-9]+}}, {{[0-9]+}}], lanes = {{[0-9]+}}, skewed = {{.*}}, index = 32>
func.func @whole_lines(%x: tensor<25190x128xf32>) -> tensor<128x25190xf32> {
  %y = swage.permute %x [1, 0] : tensor<25190x128xf32> -> tensor<128x25190xf32>
  return %y : tensor<128x25190xf32>
}

// -----

// Rows that do not begin with sectors of memory: many lanes side by side tear fewer of them. Of 4 bytes lanes are beside each other
// where rows are long, shorter ones are in shared memory.
// CHECK-LABEL: func.func @torn_rows
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 4, vector = 2, vectors_per_thread = 4, index = 32>
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 4, vector = 2, vectors_per_thread = 4, index = 32>
// CHECK:       #swage.row_schedule<kind = group, {{.*}}vector = 2, {{.*}}staged = true>
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 2, vectors_per_thread = 5, index = 32>
func.func @torn_rows(%a: tensor<24606x254xf32>, %b: tensor<100000x254xbf16>, %c: tensor<200000x118xbf16>, %d: tensor<12626x990xf32>)
    -> (tensor<24606x254xf32>, tensor<100000x254xbf16>, tensor<200000x118xbf16>, tensor<12626x990xf32>) {
  %e = swage.softmax %a axis 1 : tensor<24606x254xf32> -> tensor<24606x254xf32>
  %f = swage.softmax %b axis 1 : tensor<100000x254xbf16> -> tensor<100000x254xbf16>
  %g = swage.softmax %c axis 1 : tensor<200000x118xbf16> -> tensor<200000x118xbf16>
  %h = swage.softmax %d axis 1 : tensor<12626x990xf32> -> tensor<12626x990xf32>
  return %e, %f, %g, %h : tensor<24606x254xf32>, tensor<100000x254xbf16>, tensor<200000x118xbf16>, tensor<12626x990xf32>
}

// -----

// With a residual threads have fewer elements of their own.
// CHECK-LABEL: func.func @torn_rows_and_others
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 16, rows_per_block = 8, vector = 4, vectors_per_thread = 2, index = 32>
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 4, vectors_per_thread = 2, index = 32>
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 8, {{.*}}vector = 1, vectors_per_thread = 13, index = 32, staged = true>
func.func @torn_rows_and_others(%a: tensor<107758x116xbf16>, %b: tensor<107758x116xbf16>, %c: tensor<12254x1020xbf16>, %d: tensor<12254x1020xbf16>,
                                %e: tensor<128865x97xbf16>, %f: tensor<128865x97xbf16>)
    -> (tensor<107758x116xbf16>, tensor<107758x116xbf16>, tensor<12254x1020xbf16>, tensor<12254x1020xbf16>, tensor<128865x97xbf16>, tensor<128865x97xbf16>) {
  %g = arith.addf %a, %b : tensor<107758x116xbf16>
  %h = swage.layer_norm %g axis 1 eps 1.0e-5 : (tensor<107758x116xbf16>) -> tensor<107758x116xbf16>
  %i = arith.addf %c, %d : tensor<12254x1020xbf16>
  %j = swage.layer_norm %i axis 1 eps 1.0e-5 : (tensor<12254x1020xbf16>) -> tensor<12254x1020xbf16>
  %k = arith.addf %e, %f : tensor<128865x97xbf16>
  %l = swage.layer_norm %k axis 1 eps 1.0e-5 : (tensor<128865x97xbf16>) -> tensor<128865x97xbf16>
  return %g, %h, %i, %j, %k, %l
      : tensor<107758x116xbf16>, tensor<107758x116xbf16>, tensor<12254x1020xbf16>, tensor<12254x1020xbf16>, tensor<128865x97xbf16>, tensor<128865x97xbf16>
}

// -----

// What is read may be torn; and of 8 bits 24 accesses would be too many elements.
// CHECK-LABEL: func.func @rows_of_bytes
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 4, index = 32>
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 2, {{.*}}vector = 4, vectors_per_thread = 12, index = 32, staged = true>
func.func @rows_of_bytes(%a: tensor<100000x240xf8E4M3FN>, %b: tensor<200000x92xf8E4M3FN>, %c: tensor<200000x92xf8E4M3FN>)
    -> (tensor<100000x240xf16>, tensor<200000x92xf8E4M3FN>, tensor<200000x92xf8E4M3FN>) {
  %d = arith.extf %a : tensor<100000x240xf8E4M3FN> to tensor<100000x240xf16>
  %e = swage.softmax %d axis 1 : tensor<100000x240xf16> -> tensor<100000x240xf16>
  %f = arith.extf %b : tensor<200000x92xf8E4M3FN> to tensor<200000x92xf32>
  %g = arith.extf %c : tensor<200000x92xf8E4M3FN> to tensor<200000x92xf32>
  %h = arith.addf %f, %g : tensor<200000x92xf32>
  %i = swage.layer_norm %h axis 1 eps 1.0e-5 : (tensor<200000x92xf32>) -> tensor<200000x92xf32>
  %j = arith.truncf %h : tensor<200000x92xf32> to tensor<200000x92xf8E4M3FN>
  %k = arith.truncf %i : tensor<200000x92xf32> to tensor<200000x92xf8E4M3FN>
  return %e, %j, %k : tensor<100000x240xf16>, tensor<200000x92xf8E4M3FN>, tensor<200000x92xf8E4M3FN>
}

// -----

// Few rows that begin anywhere go by what fits, by a warp or about 256 threads; those of one to four accesses of 8 bytes and more a
// lane by a warp alone in its block.
// CHECK-LABEL: func.func @few_rows_anywhere
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 4, vector = 2, vectors_per_thread = 12, index = 32>
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 2, vectors_per_thread = 2, index = 32, bypass_l1 = true>
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 1, vectors_per_thread = 4, index = 32, bypass_l1 = true>
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 1, vector = 4, vectors_per_thread = 3, index = 32>
func.func @few_rows_anywhere(%a: tensor<145x742xf16>, %b: tensor<64x1002xf16>, %c: tensor<100x1001xf32>, %d: tensor<128x352xf32>)
    -> (tensor<145x742xf16>, tensor<64x1002xf16>, tensor<100x1001xf32>, tensor<128x352xf32>) {
  %e = swage.softmax %a axis 1 : tensor<145x742xf16> -> tensor<145x742xf16>
  %f = swage.softmax %b axis 1 : tensor<64x1002xf16> -> tensor<64x1002xf16>
  %g = swage.softmax %c axis 1 : tensor<100x1001xf32> -> tensor<100x1001xf32>
  %h = swage.softmax %d axis 1 : tensor<128x352xf32> -> tensor<128x352xf32>
  return %e, %f, %g, %h : tensor<145x742xf16>, tensor<64x1002xf16>, tensor<100x1001xf32>, tensor<128x352xf32>
}

// -----

// Rows that leave multiprocessors idle: many threads for each where they begin anywhere, by vectors or by single elements.
// CHECK-LABEL: func.func @hardly_enough_odd_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 64, {{.*}}vector = 8, vectors_per_thread = 1, index = 32, {{.*}}aligned = true>
func.func @hardly_enough_odd_rows(%x: tensor<1029x501xf16>) -> tensor<1029x501xf16> {
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<1029x501xf16>) -> tensor<1029x501xf16>
  return %y : tensor<1029x501xf16>
}

// -----

// CHECK-LABEL: func.func @hardly_enough_short_rows
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 4, vector = 1, vectors_per_thread = 5, index = 32>
func.func @hardly_enough_short_rows(%x: tensor<1029x131xf16>) -> tensor<1029x131xf16> {
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<1029x131xf16>) -> tensor<1029x131xf16>
  return %y : tensor<1029x131xf16>
}

// -----

// Few odd rows are in the registers of clusters, 16 blocks of them only where all have room.
// CHECK-LABEL: func.func @few_odd_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 320, {{.*}}vectors_per_thread = 1, {{.*}}blocks_per_row = 8, {{.*}}aligned = true>
func.func @few_odd_rows(%x: tensor<11x20421xbf16>) -> tensor<11x20421xbf16> {
  %y = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<11x20421xbf16>) -> tensor<11x20421xbf16>
  return %y : tensor<11x20421xbf16>
}

// -----

// CHECK-LABEL: func.func @three_rows
// CHECK:       #swage.row_schedule<kind = block, {{.*}}blocks_per_row = 16
func.func @three_rows(%x: tensor<3x100000xbf16>) -> tensor<3x100000xbf16> {
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<3x100000xbf16>) -> tensor<3x100000xbf16>
  return %y : tensor<3x100000xbf16>
}

// -----

// 528 blocks of 384 threads fit at once, which would leave 74 rows for a second wave.
// CHECK-LABEL: func.func @one_wave
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 288, {{.*}}vectors_per_thread = 5
func.func @one_wave(%x: tensor<602x5696xf32>) -> tensor<602x5696xf32> {
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<602x5696xf32>) -> tensor<602x5696xf32>
  return %y : tensor<602x5696xf32>
}

// -----

// What a mask leaves out is left out by whole vectors.
// CHECK-LABEL: func.func @odd_causal_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 288, {{.*}}vector = 8, vectors_per_thread = 4, index = 32, aligned = true>
func.func @odd_causal_rows(%x: tensor<2x8191x8191xbf16>) -> tensor<2x8191x8191xbf16> {
  %i = swage.iota dim 1 : tensor<2x8191x8191xi32>
  %j = swage.iota dim 2 : tensor<2x8191x8191xi32>
  %seen = arith.cmpi sle, %j, %i : tensor<2x8191x8191xi32>
  %p = swage.softmax %x mask %seen axis 2 : tensor<2x8191x8191xbf16>, tensor<2x8191x8191xi1> -> tensor<2x8191x8191xbf16>
  return %p : tensor<2x8191x8191xbf16>
}

// -----

// Few columns get many threads each, in blocks for all multiprocessors.
// CHECK-LABEL: func.func @few_columns
// CHECK:       #swage.row_schedule<kind = column, threads_per_row = 16, rows_per_block = 16, vector = 1, vectors_per_thread = 5
func.func @few_columns(%x: tensor<1x77x4097xf16>) -> tensor<1x77x4097xf16> {
  %y = swage.softmax %x axis 1 : tensor<1x77x4097xf16> -> tensor<1x77x4097xf16>
  return %y : tensor<1x77x4097xf16>
}

// -----

// A thread takes all of a short row at once.
// CHECK-LABEL: func.func @sum_of_few
// CHECK:       #swage.reduce_schedule<lanes = 256, row_groups = 1, vector = 1, unroll = 17
func.func @sum_of_few(%x: tensor<17x2000001xf16>) -> tensor<2000001xf16> {
  %y = swage.reduce sum %x dims [0] : tensor<17x2000001xf16> -> tensor<2000001xf16>
  return %y : tensor<2000001xf16>
}

// -----

// A tensor of 1 MB in boxes for all multiprocessors.
// CHECK-LABEL: func.func @small_transpose
// CHECK:       #swage.box_schedule<threads = 256, box = [32, 64]
func.func @small_transpose(%x: tensor<1000x1000xi8>) -> tensor<1000x1000xi8> {
  %y = swage.permute %x [1, 0] : tensor<1000x1000xi8> -> tensor<1000x1000xi8>
  return %y : tensor<1000x1000xi8>
}

// -----

// CHECK-LABEL: func.func @sum_to_four
// CHECK:       #swage.reduce_schedule<lanes = {{.*}}, row_groups = 128
func.func @sum_to_four(%x: tensor<3001x4xf32>) -> tensor<4xf32> {
  %y = swage.reduce sum %x dims [0] : tensor<3001x4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Few results: many threads for each, four lanes side by side at least, by narrower accesses where these are more threads.
// CHECK-LABEL: func.func @sums_of_few_columns
// CHECK:       #swage.reduce_schedule<lanes = 4, row_groups = 128, vector = 1, unroll = 4
// CHECK:       #swage.reduce_schedule<lanes = 4, row_groups = 64, vector = 4, unroll = 8
// CHECK:       #swage.reduce_schedule<lanes = 8, row_groups = 64, vector = 1, unroll = 8
func.func @sums_of_few_columns(%x: tensor<1412x49xbf16>, %y: tensor<300x4096xbf16>, %z: tensor<356x2505xbf16>) -> (tensor<49xbf16>, tensor<4096xbf16>, tensor<2505xbf16>) {
  %a = swage.reduce sum %x dims [0] : tensor<1412x49xbf16> -> tensor<49xbf16>
  %b = swage.reduce sum %y dims [0] : tensor<300x4096xbf16> -> tensor<4096xbf16>
  %c = swage.reduce sum %z dims [0] : tensor<356x2505xbf16> -> tensor<2505xbf16>
  return %a, %b, %c : tensor<49xbf16>, tensor<4096xbf16>, tensor<2505xbf16>
}

// -----

// A thread has all of its seven rows on their way at once, or sixteen narrow ones.
// CHECK-LABEL: func.func @rows_in_flight
// CHECK:       #swage.reduce_schedule<lanes = 32, row_groups = 8, vector = 4, unroll = 8
// CHECK:       #swage.reduce_schedule<lanes = 64, row_groups = 4, vector = 1, unroll = 16
func.func @rows_in_flight(%x: tensor<128x49x768xbf16>, %y: tensor<5000x64x33xbf16>) -> (tensor<128x768xbf16>, tensor<5000x33xbf16>) {
  %a = swage.reduce sum %x dims [1] : tensor<128x49x768xbf16> -> tensor<128x768xbf16>
  %b = swage.reduce sum %y dims [1] : tensor<5000x64x33xbf16> -> tensor<5000x33xbf16>
  return %a, %b : tensor<128x768xbf16>, tensor<5000x33xbf16>
}

// -----

// The states of more threads with 16 bytes each would not fit shared memory.
// CHECK-LABEL: func.func @maxima_of_bytes
// CHECK:       #swage.reduce_schedule<lanes = 32, row_groups = 16, vector = 8, unroll = 8
func.func @maxima_of_bytes(%x: tensor<200x98304xf8E4M3FN>) -> tensor<98304xf8E4M3FN> {
  %y = swage.reduce max %x dims [0] : tensor<200x98304xf8E4M3FN> -> tensor<98304xf8E4M3FN>
  return %y : tensor<98304xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @sum_of_nothing
// CHECK:       #swage.reduce_schedule<{{.*}}unroll = 1,
func.func @sum_of_nothing(%x: tensor<0x2000000xf32>) -> tensor<2000000xf32> {
  %y = swage.reduce sum %x dims [0] : tensor<0x2000000xf32> -> tensor<2000000xf32>
  return %y : tensor<2000000xf32>
}

// -----

// 79 vectors are more than a thread takes.
// CHECK-LABEL: func.func @odd_rows_of_f64
// CHECK-NOT:   vectors_per_thread = 79
func.func @odd_rows_of_f64(%x: tensor<200000x79xf64>) -> tensor<200000x79xf64> {
  %y = swage.softmax %x axis 1 : tensor<200000x79xf64> -> tensor<200000x79xf64>
  return %y : tensor<200000x79xf64>
}

// -----

// Groups of Stable Diffusion's channels, which threads of five vectors each share evenly; those that registers have no room
// for at once wait in shared memory.
// CHECK-LABEL: func.func @groups
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 8, vectors_per_thread = 5, index = 32, blocks_per_row = 8, bypass_l1 = true>
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 512, rows_per_block = 1, vector = 8, vectors_per_thread = 2, index = 32, blocks_per_row = 2, staged = true>
func.func @groups(%x: tensor<2x32x10x64x64xf16>, %y: tensor<2x32x24x64x64xf16>) -> (tensor<2x32x10x64x64xf16>, tensor<2x32x24x64x64xf16>) {
  %n = swage.layer_norm %x axis 2 eps 1.0e-5 : (tensor<2x32x10x64x64xf16>) -> tensor<2x32x10x64x64xf16>
  %m = swage.layer_norm %y axis 2 eps 1.0e-5 : (tensor<2x32x24x64x64xf16>) -> tensor<2x32x24x64x64xf16>
  return %n, %m : tensor<2x32x10x64x64xf16>, tensor<2x32x24x64x64xf16>
}

// -----

// Runs of 96 bytes, whose neighbours are wanted much later: half of memory's bursts would be read twice.
// CHECK-LABEL: func.func @apart
// CHECK:       #swage.box_schedule<threads = 256, box = [2, 43, 24]
func.func @apart(%x: tensor<1000000x2x24xf32>) -> tensor<2x1000000x24xf32> {
  %y = swage.permute %x [1, 0, 2] : tensor<1000000x2x24xf32> -> tensor<2x1000000x24xf32>
  return %y : tensor<2x1000000x24xf32>
}

// -----

// Those that follow each other go as they are, as do heads of 128 bytes.
// CHECK-LABEL: func.func @beside
// CHECK-COUNT-2: #swage.permute_schedule<kind = runs, threads = 256, movement = 16, unroll = 1
func.func @beside(%x: tensor<10x100000x24xf32>, %h: tensor<128x197x12x64xf16>) -> (tensor<100000x10x24xf32>, tensor<128x12x197x64xf16>) {
  %y = swage.permute %x [1, 0, 2] : tensor<10x100000x24xf32> -> tensor<100000x10x24xf32>
  %z = swage.permute %h [0, 2, 1, 3] : tensor<128x197x12x64xf16> -> tensor<128x12x197x64xf16>
  return %y, %z : tensor<100000x10x24xf32>, tensor<128x12x197x64xf16>
}

// -----

// By 4 bytes a copy is out of reach; by 8, of bytes, boxes are as far from it.
// CHECK-LABEL: func.func @narrow
// CHECK:       #swage.box_schedule
// CHECK:       #swage.permute_schedule<kind = runs, threads = 256, movement = 8, unroll = 4
func.func @narrow(%x: tensor<64x577x12x33xf32>, %y: tensor<64x577x120x120xi8>) -> (tensor<64x12x577x33xf32>, tensor<64x120x577x120xi8>) {
  %a = swage.permute %x [0, 2, 1, 3] : tensor<64x577x12x33xf32> -> tensor<64x12x577x33xf32>
  %b = swage.permute %y [0, 2, 1, 3] : tensor<64x577x120x120xi8> -> tensor<64x120x577x120xi8>
  return %a, %b : tensor<64x12x577x33xf32>, tensor<64x120x577x120xi8>
}

// -----

// What is summed up is written for no element: short rows are read as they lie, by threads that have L1 put lines together.
// CHECK-LABEL: func.func @sums_of_thirteen
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 2, rows_per_block = 128, vector = 1, vectors_per_thread = 7, index = 32>
func.func @sums_of_thirteen(%x: tensor<60000x13xf16>) -> tensor<60000xf16> {
  %y = swage.reduce sum %x dims [1] : tensor<60000x13xf16> -> tensor<60000xf16>
  return %y : tensor<60000xf16>
}

// -----

// Many of them come from memory, where shared memory makes whole lines of them.
// CHECK-LABEL: func.func @many_sums_of_thirteen
// CHECK:       #swage.row_schedule<kind = group, {{.*}}staged = true
func.func @many_sums_of_thirteen(%x: tensor<2500000x13xf16>) -> tensor<2500000xf16> {
  %y = swage.reduce sum %x dims [1] : tensor<2500000x13xf16> -> tensor<2500000xf16>
  return %y : tensor<2500000xf16>
}

// -----

// Few rows go to a warp each as long as its threads' loads are on their way together.
// CHECK-LABEL: func.func @few_sums
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 1, vector = 8, vectors_per_thread = 8, index = 32>
func.func @few_sums(%x: tensor<7x2048xbf16>) -> tensor<7xbf16> {
  %y = swage.reduce sum %x dims [1] : tensor<7x2048xbf16> -> tensor<7xbf16>
  return %y : tensor<7xbf16>
}

// -----

// Of sums nothing is gained by threads that have a vector or two each.
// CHECK-LABEL: func.func @sums_of_256
// CHECK:       #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 32, vector = 8, vectors_per_thread = 4, index = 32>
func.func @sums_of_256(%x: tensor<26011x256xbf16>) -> tensor<26011xbf16> {
  %y = swage.reduce sum %x dims [1] : tensor<26011x256xbf16> -> tensor<26011xbf16>
  return %y : tensor<26011xbf16>
}

// -----

// Few columns go by 4 bytes to more threads.
// CHECK-LABEL: func.func @columns_of_sixteen
// CHECK:       #swage.row_schedule<kind = column, threads_per_row = 4, rows_per_block = 32, vector = 1, vectors_per_thread = 4, index = 32>
func.func @columns_of_sixteen(%x: tensor<1305x16x16xf32>) -> tensor<1305x16x16xf32> {
  %y = swage.softmax %x axis 1 : tensor<1305x16x16xf32> -> tensor<1305x16x16xf32>
  return %y : tensor<1305x16x16xf32>
}

// -----

// What is written is no wider than 16 bytes of a lane, however narrow what is read: of 32 each sector would be written by halves.
// CHECK-LABEL: func.func @widened
// CHECK:       #swage.pointwise_schedule<threads = 256, vector = 4, unroll = 4, tail = false, index = 32>
func.func @widened(%x: tensor<2048x4096xbf16>) -> tensor<2048x4096xf32> {
  %y = arith.extf %x : tensor<2048x4096xbf16> to tensor<2048x4096xf32>
  return %y : tensor<2048x4096xf32>
}

// -----

// CHECK-LABEL: func.func @widened_rows
// CHECK:       #swage.row_schedule<kind = block, threads_per_row = 256, rows_per_block = 1, vector = 4, vectors_per_thread = 4
func.func @widened_rows(%x: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>) -> tensor<16384x4096xf32> {
  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xf32>
  return %y : tensor<16384x4096xf32>
}

// -----

// GroupNorm, channels last, of ten channels a group: no access is wider than 4 bytes, but a cluster's registers hold a row.
// CHECK-LABEL: func.func @groups_of_ten
// CHECK:       #swage.row_schedule<kind = block, {{.*}}vector = 2, {{.*}}blocks_per_row = 8
func.func @groups_of_ten(%x: tensor<16x4096x32x10xf16>) -> tensor<16x32x4096x10xf16> {
  %p = swage.permute %x [0, 2, 1, 3] : tensor<16x4096x32x10xf16> -> tensor<16x32x4096x10xf16>
  %n = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<16x32x4096x10xf16>) -> tensor<16x32x4096x10xf16>
  return %n : tensor<16x32x4096x10xf16>
}

// -----

// Of eight channels a group, neighbouring groups beside each other, however short their rows.
// CHECK-LABEL: func.func @groups_of_eight
// CHECK:       #swage.row_schedule<kind = looped, threads_per_row = 8, rows_per_block = 8, vector = 8, {{.*}}staged = true
func.func @groups_of_eight(%x: tensor<128x64x32x8xf16>) -> tensor<128x64x32x8xf16> {
  %p = swage.permute %x [0, 2, 1, 3] : tensor<128x64x32x8xf16> -> tensor<128x32x64x8xf16>
  %n = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<128x32x64x8xf16>) -> tensor<128x32x64x8xf16>
  %y = swage.permute %n [0, 2, 1, 3] : tensor<128x32x64x8xf16> -> tensor<128x64x32x8xf16>
  return %y : tensor<128x64x32x8xf16>
}

// -----

// Statistics keep the row for a second pass: no more vectors a thread than where it is written.
// CHECK-LABEL: func.func @variance
// CHECK:       #swage.row_schedule<kind = {{.*}}vector = 8, vectors_per_thread = {{[1-4]}}, index = 32
func.func @variance(%x: tensor<26011x1024xbf16>) -> tensor<26011xf32> {
  %m = swage.reduce mean %x dims [1] : tensor<26011x1024xbf16> -> tensor<26011xf32>
  %b = swage.broadcast %m dims [0] : tensor<26011xf32> -> tensor<26011x1024xf32>
  %w = arith.extf %x : tensor<26011x1024xbf16> to tensor<26011x1024xf32>
  %d = arith.subf %w, %b : tensor<26011x1024xf32>
  %s = arith.mulf %d, %d : tensor<26011x1024xf32>
  %v = swage.reduce mean %s dims [1] : tensor<26011x1024xf32> -> tensor<26011xf32>
  return %v : tensor<26011xf32>
}

// -----

// How many rows there are at most is more than can be multiplied: they do not fit L2.
// CHECK-LABEL: func.func @countless_sums
// CHECK:       #swage.row_schedule<kind = group, {{.*}}staged = true
func.func @countless_sums(%x: tensor<?x?x13xf16> {swage.at_most = array<i64: 1073741824, 1073741824, 0>}) -> tensor<?x?xf16> {
  %y = swage.reduce sum %x dims [2] : tensor<?x?x13xf16> -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// -----

// Few elements side by side: a thread takes all rows of one or two of them.
// CHECK-LABEL: func.func @sums_of_seventeen_fours
// CHECK:       #swage.reduce_schedule<lanes = 256, row_groups = 1, vector = 2, unroll = 17
func.func @sums_of_seventeen_fours(%x: tensor<1000000x17x4xf16>) -> tensor<1000000x4xf16> {
  %y = swage.reduce sum %x dims [1] : tensor<1000000x17x4xf16> -> tensor<1000000x4xf16>
  return %y : tensor<1000000x4xf16>
}

// -----

// Groups of ten channels: four beside each other, in small blocks.
// CHECK-LABEL: func.func @ten_channels
// CHECK: #swage.row_schedule<kind = looped, threads_per_row = 80, rows_per_block = 4, vector = 2, vectors_per_thread = 8, index = 32, blocks_per_row = 8, staged = true>
func.func @ten_channels(%x: tensor<16x4096x32x10xf16>, %g: tensor<32x10xf16>, %b: tensor<32x10xf16>) -> tensor<16x4096x32x10xf16> {
  %p = swage.permute %x [0, 2, 1, 3] : tensor<16x4096x32x10xf16> -> tensor<16x32x4096x10xf16>
  %n0 = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<16x32x4096x10xf16>) -> tensor<16x32x4096x10xf16>
  %n = swage.permute %n0 [0, 2, 1, 3] : tensor<16x32x4096x10xf16> -> tensor<16x4096x32x10xf16>
  %gb = swage.broadcast %g dims [2, 3] : tensor<32x10xf16> -> tensor<16x4096x32x10xf16>
  %bb = swage.broadcast %b dims [2, 3] : tensor<32x10xf16> -> tensor<16x4096x32x10xf16>
  %y0 = arith.mulf %n, %gb : tensor<16x4096x32x10xf16>
  %y = arith.addf %y0, %bb : tensor<16x4096x32x10xf16>
  return %y : tensor<16x4096x32x10xf16>
}

// -----

// Large ones where all are on the device at once.
// CHECK-LABEL: func.func @twenty_channels
// CHECK: #swage.row_schedule<kind = looped, threads_per_row = 80, rows_per_block = 4, vector = 4, vectors_per_thread = 8, index = 32, blocks_per_row = 2, staged = true>
func.func @twenty_channels(%x: tensor<16x1024x32x20xf16>, %g: tensor<32x20xf16>, %b: tensor<32x20xf16>) -> tensor<16x1024x32x20xf16> {
  %p = swage.permute %x [0, 2, 1, 3] : tensor<16x1024x32x20xf16> -> tensor<16x32x1024x20xf16>
  %n0 = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<16x32x1024x20xf16>) -> tensor<16x32x1024x20xf16>
  %n = swage.permute %n0 [0, 2, 1, 3] : tensor<16x32x1024x20xf16> -> tensor<16x1024x32x20xf16>
  %gb = swage.broadcast %g dims [2, 3] : tensor<32x20xf16> -> tensor<16x1024x32x20xf16>
  %bb = swage.broadcast %b dims [2, 3] : tensor<32x20xf16> -> tensor<16x1024x32x20xf16>
  %y0 = arith.mulf %n, %gb : tensor<16x1024x32x20xf16>
  %y = arith.addf %y0, %bb : tensor<16x1024x32x20xf16>
  return %y : tensor<16x1024x32x20xf16>
}

// -----

// Few of them by more blocks.
// CHECK-LABEL: func.func @few_of_ten_channels
// CHECK: #swage.row_schedule<kind = looped, threads_per_row = 80, rows_per_block = 4, vector = 2, vectors_per_thread = 8, index = 32, blocks_per_row = 16, staged = true>
func.func @few_of_ten_channels(%x: tensor<2x4096x32x10xf16>, %g: tensor<32x10xf16>, %b: tensor<32x10xf16>) -> tensor<2x4096x32x10xf16> {
  %p = swage.permute %x [0, 2, 1, 3] : tensor<2x4096x32x10xf16> -> tensor<2x32x4096x10xf16>
  %n0 = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<2x32x4096x10xf16>) -> tensor<2x32x4096x10xf16>
  %n = swage.permute %n0 [0, 2, 1, 3] : tensor<2x32x4096x10xf16> -> tensor<2x4096x32x10xf16>
  %gb = swage.broadcast %g dims [2, 3] : tensor<32x10xf16> -> tensor<2x4096x32x10xf16>
  %bb = swage.broadcast %b dims [2, 3] : tensor<32x10xf16> -> tensor<2x4096x32x10xf16>
  %y0 = arith.mulf %n, %gb : tensor<2x4096x32x10xf16>
  %y = arith.addf %y0, %bb : tensor<2x4096x32x10xf16>
  return %y : tensor<2x4096x32x10xf16>
}

// -----

// Any number.
// CHECK-LABEL: func.func @any_of_twenty_channels
// CHECK: #swage.row_schedule<kind = looped, threads_per_row = 80, rows_per_block = 4, vector = 4, vectors_per_thread = 8, index = 32, blocks_per_row = 16, staged = true>
func.func @any_of_twenty_channels(%x: tensor<?x4096x32x20xf16>) -> tensor<?x4096x32x20xf16> {
  %p = swage.permute %x [0, 2, 1, 3] : tensor<?x4096x32x20xf16> -> tensor<?x32x4096x20xf16>
  %n0 = swage.layer_norm %p axis 2 eps 1.0e-5 : (tensor<?x32x4096x20xf16>) -> tensor<?x32x4096x20xf16>
  %n = swage.permute %n0 [0, 2, 1, 3] : tensor<?x32x4096x20xf16> -> tensor<?x4096x32x20xf16>
  return %n : tensor<?x4096x32x20xf16>
}
