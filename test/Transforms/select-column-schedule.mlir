// Rows across memory, on a device with clusters and on one without.
// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule=arch=sm_90a 2>/dev/null | FileCheck %s
// RUN: swage-opt %s -split-input-file --swage-fuse --swage-merge-dimensions --swage-select-schedule=arch=sm_80 2>/dev/null | FileCheck %s --check-prefix=OLD

// Few positions: small blocks with much of a row each.
// CHECK-LABEL: func.func @few_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 16, rows_per_block = 8, vector = 2, vectors_per_thread = 32, index = 32, blocks_per_row = 8, resident = 4>
// OLD-LABEL: func.func @few_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 2, vector = 8, vectors_per_thread = 2, index = 32>
func.func @few_columns(%x: tensor<8x4096x64xbf16>) -> tensor<8x4096x64xbf16> {
  %y = swage.softmax %x axis 1 : tensor<8x4096x64xbf16> -> tensor<8x4096x64xbf16>
  return %y : tensor<8x4096x64xbf16>
}

// -----

// More elements than the device holds at once: 64 bytes of neighbouring rows.
// CHECK-LABEL: func.func @many_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 8, rows_per_block = 16, vector = 2, vectors_per_thread = 32, index = 32, blocks_per_row = 8, resident = 4>
// OLD-LABEL: func.func @many_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 8, vector = 8, vectors_per_thread = 2, index = 32>
func.func @many_columns(%x: tensor<8x2048x2048xbf16>) -> tensor<8x2048x2048xbf16> {
  %y = swage.softmax %x axis 1 : tensor<8x2048x2048xbf16> -> tensor<8x2048x2048xbf16>
  return %y : tensor<8x2048x2048xbf16>
}

// -----

// Rows that do not come out even have fewer elements a thread.
// CHECK-LABEL: func.func @uneven_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 8, vector = 2, vectors_per_thread = 11, index = 32, blocks_per_row = 2>
// OLD-LABEL: func.func @uneven_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 2, vector = 8, vectors_per_thread = 2, index = 32>
func.func @uneven_columns(%x: tensor<1x700x3000xbf16>) -> tensor<1x700x3000xbf16> {
  %y = swage.softmax %x axis 1 : tensor<1x700x3000xbf16> -> tensor<1x700x3000xbf16>
  return %y : tensor<1x700x3000xbf16>
}

// -----

// Many long and uneven ones wait in shared memory.
// CHECK-LABEL: func.func @shelved_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 8, vector = 2, vectors_per_thread = 8, index = 32, blocks_per_row = 16, staged = true>
// OLD-LABEL: func.func @shelved_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 4, vector = 4, vectors_per_thread = 2, index = 32>
func.func @shelved_columns(%x: tensor<100x29237x20xbf16>) -> tensor<100x29237x20xbf16> {
  %y = swage.softmax %x axis 1 : tensor<100x29237x20xbf16> -> tensor<100x29237x20xbf16>
  return %y : tensor<100x29237x20xbf16>
}

// -----

// Few of these are held by larger blocks.
// CHECK-LABEL: func.func @large_blocks
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 4, vector = 2, vectors_per_thread = 20, index = 32, blocks_per_row = 16>
// OLD-LABEL: func.func @large_blocks
// OLD: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 2, vector = 8, vectors_per_thread = 2, index = 32>
func.func @large_blocks(%x: tensor<1x39680x16xbf16>) -> tensor<1x39680x16xbf16> {
  %y = swage.softmax %x axis 1 : tensor<1x39680x16xbf16> -> tensor<1x39680x16xbf16>
  return %y : tensor<1x39680x16xbf16>
}

// -----

// An odd number of them cannot be copied by 8 bytes.
// CHECK-LABEL: func.func @odd_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 16, vector = 1, vectors_per_thread = 41, index = 32, blocks_per_row = 16>
// OLD-LABEL: func.func @odd_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 8, vector = 1, vectors_per_thread = 2, index = 32>
func.func @odd_columns(%x: tensor<1x20736x2489xf32>) -> tensor<1x20736x2489xf32> {
  %y = swage.softmax %x axis 1 : tensor<1x20736x2489xf32> -> tensor<1x20736x2489xf32>
  return %y : tensor<1x20736x2489xf32>
}

// -----

// What nothing on the chip holds is read twice, by all multiprocessors: blocks that meet in memory.
// CHECK-LABEL: func.func @longest_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 16, vector = 4, vectors_per_thread = 4, index = 32, blocks_per_row = 32, resident = 1>
// OLD-LABEL: func.func @longest_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 16, vector = 4, vectors_per_thread = 4, index = 32, blocks_per_row = 27, resident = 1>
func.func @longest_columns(%x: tensor<1x401408x256xbf16>) -> tensor<1x401408x256xbf16> {
  %y = swage.softmax %x axis 1 : tensor<1x401408x256xbf16> -> tensor<1x401408x256xbf16>
  return %y : tensor<1x401408x256xbf16>
}

// -----

// Of fewer columns more blocks, of which each thread looks for eight states at most.
// CHECK-LABEL: func.func @few_long_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 8, vector = 4, vectors_per_thread = 8, index = 32, blocks_per_row = 66, resident = 1>
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 8, vector = 4, vectors_per_thread = 8, index = 32, blocks_per_row = 128, resident = 1>
func.func @few_long_columns(%x: tensor<100352x64xbf16>, %z: tensor<100352x24xbf16>) -> (tensor<100352x64xbf16>, tensor<100352x24xbf16>) {
  %y = swage.softmax %x axis 0 : tensor<100352x64xbf16> -> tensor<100352x64xbf16>
  %w = swage.softmax %z axis 0 : tensor<100352x24xbf16> -> tensor<100352x24xbf16>
  return %y, %w : tensor<100352x64xbf16>, tensor<100352x24xbf16>
}

// -----

// No rows at all.
// CHECK-LABEL: func.func @no_columns
// CHECK: #swage.row_schedule<kind = column
func.func @no_columns(%x: tensor<0x100352x64xbf16>) -> tensor<0x100352x64xbf16> {
  %y = swage.softmax %x axis 1 : tensor<0x100352x64xbf16> -> tensor<0x100352x64xbf16>
  return %y : tensor<0x100352x64xbf16>
}

// -----

// With a second operand more columns too, in rounds; but not of any number, whose states would have no bound.
// CHECK-LABEL: func.func @sums_of_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 16, vector = 4, vectors_per_thread = 4, index = 32, blocks_per_row = 33, resident = 1>
// CHECK: #swage.row_schedule<kind = column, {{.*}}blocks_per_row = 16, staged = true>
func.func @sums_of_columns(%a: tensor<1x25088x512xbf16>, %b: tensor<1x25088x512xbf16>, %c: tensor<?x25088x512xbf16>, %d: tensor<?x25088x512xbf16>)
    -> (tensor<1x25088x512xbf16>, tensor<?x25088x512xbf16>) {
  %x = arith.addf %a, %b : tensor<1x25088x512xbf16>
  %y = swage.softmax %x axis 1 : tensor<1x25088x512xbf16> -> tensor<1x25088x512xbf16>
  %z = arith.addf %c, %d : tensor<?x25088x512xbf16>
  %w = swage.softmax %z axis 1 : tensor<?x25088x512xbf16> -> tensor<?x25088x512xbf16>
  return %y, %w : tensor<1x25088x512xbf16>, tensor<?x25088x512xbf16>
}

// -----

// Columns that registers do not hold, widened.
// CHECK-LABEL: func.func @widened_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 16, rows_per_block = 16, vector = 2, vectors_per_thread = 20, index = 32, blocks_per_row = 16>
// OLD-LABEL: func.func @widened_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 8, rows_per_block = 32, vector = 4, vectors_per_thread = 2, index = 32>
func.func @widened_columns(%x: tensor<64x5000x512xf16>) -> tensor<64x5000x512xf32> {
  %y = swage.softmax %x axis 1 : tensor<64x5000x512xf16> -> tensor<64x5000x512xf32>
  return %y : tensor<64x5000x512xf32>
}

// -----

// So few threads that an exchange of blocks pays.
// CHECK-LABEL: func.func @four_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 4, vector = 1, vectors_per_thread = 8, index = 32, blocks_per_row = 4>
// OLD-LABEL: func.func @four_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 4, vector = 1, vectors_per_thread = 8, index = 32>
func.func @four_columns(%x: tensor<1x1024x4xf32>) -> tensor<1x1024x4xf32> {
  %y = swage.softmax %x axis 1 : tensor<1x1024x4xf32> -> tensor<1x1024x4xf32>
  return %y : tensor<1x1024x4xf32>
}

// -----

// And where it does not.
// CHECK-LABEL: func.func @short_columns
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 8, vector = 2, vectors_per_thread = 5, index = 32>
// OLD-LABEL: func.func @short_columns
// OLD: #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 8, vector = 2, vectors_per_thread = 5, index = 32>
func.func @short_columns(%x: tensor<4x640x128xbf16>) -> tensor<4x640x128xbf16> {
  %y = swage.softmax %x axis 1 : tensor<4x640x128xbf16> -> tensor<4x640x128xbf16>
  return %y : tensor<4x640x128xbf16>
}

// -----

// Any number of rows counts as many.
// CHECK-LABEL: func.func @any_batch
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 8, rows_per_block = 16, vector = 2, vectors_per_thread = 32, index = 32, blocks_per_row = 4, resident = 4>
// OLD-LABEL: func.func @any_batch
// OLD: #swage.row_schedule<kind = column, threads_per_row = 8, rows_per_block = 32, vector = 8, vectors_per_thread = 2, index = 32>
func.func @any_batch(%x: tensor<?x1024x4096xbf16>) -> tensor<?x1024x4096xbf16> {
  %y = swage.softmax %x axis 1 : tensor<?x1024x4096xbf16> -> tensor<?x1024x4096xbf16>
  return %y : tensor<?x1024x4096xbf16>
}

// -----

// Numbers of two registers: half as many.
// CHECK-LABEL: func.func @doubles
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 4, vector = 1, vectors_per_thread = 4, index = 32, blocks_per_row = 16>
// OLD-LABEL: func.func @doubles
// OLD: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 2, vector = 2, vectors_per_thread = 2, index = 32>
func.func @doubles(%x: tensor<1x60011x8xf64>) -> tensor<1x60011x8xf64> {
  %y = swage.softmax %x axis 1 : tensor<1x60011x8xf64> -> tensor<1x60011x8xf64>
  return %y : tensor<1x60011x8xf64>
}

// -----

// One block's shared memory holds what its registers do not.
// CHECK-LABEL: func.func @block_in_shared_memory
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 16, rows_per_block = 16, vector = 2, vectors_per_thread = 16, index = 32, blocks_per_row = 4>
// OLD-LABEL: func.func @block_in_shared_memory
// OLD: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 8, vector = 2, vectors_per_thread = 2, index = 32, staged = true>
func.func @block_in_shared_memory(%x: tensor<64x1000x50xbf16>) -> tensor<64x1000x50xbf16> {
  %y = swage.softmax %x axis 1 : tensor<64x1000x50xbf16> -> tensor<64x1000x50xbf16>
  return %y : tensor<64x1000x50xbf16>
}

// -----

// Bytes have no more elements a thread than others.
// CHECK-LABEL: func.func @bytes
// CHECK: #swage.row_schedule<kind = column, threads_per_row = 32, rows_per_block = 8, vector = 4, vectors_per_thread = 7, index = 32, blocks_per_row = 16, staged = true>
// OLD-LABEL: func.func @bytes
// OLD: #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 4, vector = 8, vectors_per_thread = 2, index = 32>
func.func @bytes(%x: tensor<1x25088x512xf8E4M3FN>) -> tensor<1x25088x512xbf16> {
  %w = arith.extf %x : tensor<1x25088x512xf8E4M3FN> to tensor<1x25088x512xf32>
  %s = swage.softmax %w axis 1 : tensor<1x25088x512xf32> -> tensor<1x25088x512xf32>
  %y = arith.truncf %s : tensor<1x25088x512xf32> to tensor<1x25088x512xbf16>
  return %y : tensor<1x25088x512xbf16>
}
