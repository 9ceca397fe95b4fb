// What no kernel computes yet, and why.
// RUN: not swage-opt %s --split-input-file --swage-kernel-pipeline 2>&1 | FileCheck %s

// CHECK: error: 'swage.attention' op cannot become a kernel: a region reads a tensor where no linear function of its coordinates is
func.func @table(%q: tensor<4x130x64xf16>, %of: tensor<130xi32>, %table: tensor<9xf32>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %place = tensor.extract %of[%j] : tensor<130xi32>
    %index = arith.index_cast %place : i32 to index
    %term = tensor.extract %table[%index] : tensor<9xf32>
    %t = arith.addf %s, %term : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xf16>, tensor<4x130x64xf16>, tensor<4x130x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// CHECK: error: 'swage.attention' op cannot become a kernel: attention multiplies queries and keys, and weights and values, but one of these products is not used
func.func @unused(%q: tensor<4x130x64xf16>, %slopes: tensor<4xf32>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    swage.yield %slope : f32
  } : (tensor<4x130x64xf16>, tensor<4x130x64xf16>, tensor<4x130x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention's head dims are known even numbers from 8 to 256, or for few queries multiples of 32 up to 576
func.func @dims(%q: tensor<4x130x40x35xf16>) -> tensor<4x130x40x35xf16> {
  %o = swage.attention %q, %q, %q : (tensor<4x130x40x35xf16>, tensor<4x130x40x35xf16>, tensor<4x130x40x35xf16>) -> tensor<4x130x40x35xf16>
  return %o : tensor<4x130x40x35xf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention's head dims are known even numbers from 8 to 256, or for few queries multiples of 32 up to 576, both where one is above 320
func.func @parts(%q: tensor<2x4x1x384xf16>, %k: tensor<2x4x130x384xf16>, %v: tensor<2x4x130x168xf16>) -> tensor<2x4x1x168xf16> {
  %o = swage.attention %q, %k, %v : (tensor<2x4x1x384xf16>, tensor<2x4x130x384xf16>, tensor<2x4x130x168xf16>) -> tensor<2x4x1x168xf16>
  return %o : tensor<2x4x1x168xf16>
}

// -----

// CHECK: error: 'swage.attention' op cannot become a kernel: the operands of attention come from memory, as floats of 8 to 32 bits, or for keys and values as 8 bits
func.func @double(%q: tensor<2x4x8xf64>) -> tensor<2x4x8xf64> {
  %o = swage.attention %q, %q, %q : (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
  return %o : tensor<2x4x8xf64>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention's head dims of f32 are multiples of 8 up to 256
func.func @wide(%q: tensor<2x4x12xf32>) -> tensor<2x4x12xf32> {
  %o = swage.attention %q, %q, %q : (tensor<2x4x12xf32>, tensor<2x4x12xf32>, tensor<2x4x12xf32>) -> tensor<2x4x12xf32>
  return %o : tensor<2x4x12xf32>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention's keys and values of f32 are in no pages
func.func @pages(%q: tensor<2x4x1x16xf32>, %pool: tensor<9x4x8x16xf32>, %table: tensor<2x3xi32>) -> tensor<2x4x1x16xf32> {
  %k = swage.pages %pool, %table : (tensor<9x4x8x16xf32>, tensor<2x3xi32>) -> tensor<2x4x24x16xf32>
  %v = swage.pages %pool, %table : (tensor<9x4x8x16xf32>, tensor<2x3xi32>) -> tensor<2x4x24x16xf32>
  %o = swage.attention %q, %k, %v : (tensor<2x4x1x16xf32>, tensor<2x4x24x16xf32>, tensor<2x4x24x16xf32>) -> tensor<2x4x1x16xf32>
  return %o : tensor<2x4x1x16xf32>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention writes its probabilities where queries have 16 bits, and are known to be up to 16 of a head, and 256 that share a key head
func.func @probabilities_of_many(%q: tensor<2x4x64x64xf16>) -> tensor<2x4x64x64xf32> {
  %o, %p = swage.attention %q, %q, %q : (tensor<2x4x64x64xf16>, tensor<2x4x64x64xf16>, tensor<2x4x64x64xf16>) -> (tensor<2x4x64x64xf16>, tensor<2x4x64x64xf32>)
  return %p : tensor<2x4x64x64xf32>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention writes its probabilities where queries have 16 bits
func.func @probabilities_of_f32(%q: tensor<2x4x1x64xf32>, %k: tensor<2x4x64x64xf32>) -> tensor<2x4x1x64xf32> {
  %o, %p = swage.attention %q, %k, %k : (tensor<2x4x1x64xf32>, tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>) -> (tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>)
  return %p : tensor<2x4x1x64xf32>
}

// -----

// Each step is taken once, not twice for what is before it; and the last ones have no 64 bits.
// CHECK: [[#@LINE+2]]:{{[0-9]+}}: error: 'swage.attention' op cannot become a kernel: a region reads a tensor where no linear function of its coordinates is
func.func @doubled(%q: tensor<4x130x64xf16>, %table: tensor<130xf32>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %x0: index):
    %x1 = arith.addi %x0, %x0 : index
    %x2 = arith.addi %x1, %x1 : index
    %x3 = arith.addi %x2, %x2 : index
    %x4 = arith.addi %x3, %x3 : index
    %x5 = arith.addi %x4, %x4 : index
    %x6 = arith.addi %x5, %x5 : index
    %x7 = arith.addi %x6, %x6 : index
    %x8 = arith.addi %x7, %x7 : index
    %x9 = arith.addi %x8, %x8 : index
    %x10 = arith.addi %x9, %x9 : index
    %x11 = arith.addi %x10, %x10 : index
    %x12 = arith.addi %x11, %x11 : index
    %x13 = arith.addi %x12, %x12 : index
    %x14 = arith.addi %x13, %x13 : index
    %x15 = arith.addi %x14, %x14 : index
    %x16 = arith.addi %x15, %x15 : index
    %x17 = arith.addi %x16, %x16 : index
    %x18 = arith.addi %x17, %x17 : index
    %x19 = arith.addi %x18, %x18 : index
    %x20 = arith.addi %x19, %x19 : index
    %x21 = arith.addi %x20, %x20 : index
    %x22 = arith.addi %x21, %x21 : index
    %x23 = arith.addi %x22, %x22 : index
    %x24 = arith.addi %x23, %x23 : index
    %x25 = arith.addi %x24, %x24 : index
    %x26 = arith.addi %x25, %x25 : index
    %x27 = arith.addi %x26, %x26 : index
    %x28 = arith.addi %x27, %x27 : index
    %x29 = arith.addi %x28, %x28 : index
    %x30 = arith.addi %x29, %x29 : index
    %x31 = arith.addi %x30, %x30 : index
    %x32 = arith.addi %x31, %x31 : index
    %x33 = arith.addi %x32, %x32 : index
    %x34 = arith.addi %x33, %x33 : index
    %x35 = arith.addi %x34, %x34 : index
    %x36 = arith.addi %x35, %x35 : index
    %x37 = arith.addi %x36, %x36 : index
    %x38 = arith.addi %x37, %x37 : index
    %x39 = arith.addi %x38, %x38 : index
    %x40 = arith.addi %x39, %x39 : index
    %x41 = arith.addi %x40, %x40 : index
    %x42 = arith.addi %x41, %x41 : index
    %x43 = arith.addi %x42, %x42 : index
    %x44 = arith.addi %x43, %x43 : index
    %x45 = arith.addi %x44, %x44 : index
    %x46 = arith.addi %x45, %x45 : index
    %x47 = arith.addi %x46, %x46 : index
    %x48 = arith.addi %x47, %x47 : index
    %x49 = arith.addi %x48, %x48 : index
    %x50 = arith.addi %x49, %x49 : index
    %x51 = arith.addi %x50, %x50 : index
    %x52 = arith.addi %x51, %x51 : index
    %x53 = arith.addi %x52, %x52 : index
    %x54 = arith.addi %x53, %x53 : index
    %x55 = arith.addi %x54, %x54 : index
    %x56 = arith.addi %x55, %x55 : index
    %x57 = arith.addi %x56, %x56 : index
    %x58 = arith.addi %x57, %x57 : index
    %x59 = arith.addi %x58, %x58 : index
    %x60 = arith.addi %x59, %x59 : index
    %x61 = arith.addi %x60, %x60 : index
    %x62 = arith.addi %x61, %x61 : index
    %x63 = arith.addi %x62, %x62 : index
    %x64 = arith.addi %x63, %x63 : index
    %x65 = arith.addi %x64, %x64 : index
    %x66 = arith.addi %x65, %x65 : index
    %x67 = arith.addi %x66, %x66 : index
    %x68 = arith.addi %x67, %x67 : index
    %x69 = arith.addi %x68, %x68 : index
    %x70 = arith.addi %x69, %x69 : index
    %term = tensor.extract %table[%x70] : tensor<130xf32>
    %t = arith.addf %s, %term : f32
    swage.yield %t : f32
  } : (tensor<4x130x64xf16>, tensor<4x130x64xf16>, tensor<4x130x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// CHECK: error: 'swage.attention' op cannot become a kernel: a region takes the bits of a narrow float
func.func @bits(%q: tensor<4x130x64xf16>, %bias: tensor<130xf16>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    %term = tensor.extract %bias[%j] : tensor<130xf16>
    %bits = arith.bitcast %term : f16 to i16
    %zero = arith.constant 0 : i16
    %seen = arith.cmpi sge, %bits, %zero : i16
    swage.yield %seen : i1
  } : (tensor<4x130x64xf16>, tensor<4x130x64xf16>, tensor<4x130x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// CHECK: error: 'swage.attention' op cannot become a kernel: a region uses an index of more than 32 bits
func.func @far(%q: tensor<4x130x64xf16>) -> tensor<4x130x64xf16> {
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    %far = arith.constant 4294967297 : index
    %seen = arith.cmpi slt, %j, %far : index
    swage.yield %seen : i1
  } : (tensor<4x130x64xf16>, tensor<4x130x64xf16>, tensor<4x130x64xf16>) -> tensor<4x130x64xf16>
  return %o : tensor<4x130x64xf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention with head dims of 36 and 36
func.func @narrow(%q: tensor<4x130x?x36xf16>) -> tensor<4x130x?x36xf16> {
  %o = swage.attention %q, %q, %q : (tensor<4x130x?x36xf16>, tensor<4x130x?x36xf16>, tensor<4x130x?x36xf16>) -> tensor<4x130x?x36xf16>
  return %o : tensor<4x130x?x36xf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: queries are not contiguous along the head dim, from multiples of 16 bytes on
func.func @vectors(%q: tensor<2x32x72xf8E4M3FN>) -> tensor<2x32x72xbf16> {
  %o = swage.attention %q, %q, %q : (tensor<2x32x72xf8E4M3FN>, tensor<2x32x72xf8E4M3FN>, tensor<2x32x72xf8E4M3FN>) -> tensor<2x32x72xbf16>
  return %o : tensor<2x32x72xbf16>
}

// -----

// CHECK: error: 'swage.kernel' op has no kernel yet: attention in pages of 8 bits, by an unknown number of queries, or of more than shared memory holds
func.func @anyQueries(%q: tensor<2x4x?x64xf16>, %pool: tensor<9x4x16x64xf16>, %table: tensor<2x5xi32>) -> tensor<2x4x?x64xf16> {
  %k = swage.pages %pool, %table : (tensor<9x4x16x64xf16>, tensor<2x5xi32>) -> tensor<2x4x80x64xf16>
  %o = swage.attention %q, %k, %k : (tensor<2x4x?x64xf16>, tensor<2x4x80x64xf16>, tensor<2x4x80x64xf16>) -> tensor<2x4x?x64xf16>
  return %o : tensor<2x4x?x64xf16>
}

// -----

// CHECK: [[#@LINE+4]]:{{[0-9]+}}: error: 'swage.attention' op cannot become a kernel: attention's keys and values are in pages of one table and one size, or neither are
func.func @twoTables(%q: tensor<2x4x1x64xf16>, %pool: tensor<9x4x16x64xf16>, %a: tensor<2x5xi32>, %b: tensor<2x5xi32>) -> tensor<2x4x1x64xf16> {
  %k = swage.pages %pool, %a : (tensor<9x4x16x64xf16>, tensor<2x5xi32>) -> tensor<2x4x80x64xf16>
  %v = swage.pages %pool, %b : (tensor<9x4x16x64xf16>, tensor<2x5xi32>) -> tensor<2x4x80x64xf16>
  %o = swage.attention %q, %k, %v : (tensor<2x4x1x64xf16>, tensor<2x4x80x64xf16>, tensor<2x4x80x64xf16>) -> tensor<2x4x1x64xf16>
  return %o : tensor<2x4x1x64xf16>
}

// -----

// CHECK: [[#@LINE+3]]:{{[0-9]+}}: error: 'swage.attention' op cannot become a kernel: attention's keys and values are in pages of one table and one size, or neither are
func.func @keysAlone(%q: tensor<2x4x1x64xf16>, %pool: tensor<9x4x16x64xf16>, %a: tensor<2x5xi32>, %v: tensor<2x4x80x64xf16>) -> tensor<2x4x1x64xf16> {
  %k = swage.pages %pool, %a : (tensor<9x4x16x64xf16>, tensor<2x5xi32>) -> tensor<2x4x80x64xf16>
  %o = swage.attention %q, %k, %v : (tensor<2x4x1x64xf16>, tensor<2x4x80x64xf16>, tensor<2x4x80x64xf16>) -> tensor<2x4x1x64xf16>
  return %o : tensor<2x4x1x64xf16>
}

// -----

// CHECK: [[#@LINE+2]]:{{[0-9]+}}: error: 'swage.copy' op cannot become a kernel: pages are read by attention, for its keys and values
func.func @gathered(%pool: tensor<9x4x16x64xf16>, %a: tensor<2x5xi32>) -> tensor<2x4x80x64xf16> {
  %k = swage.pages %pool, %a : (tensor<9x4x16x64xf16>, tensor<2x5xi32>) -> tensor<2x4x80x64xf16>
  return %k : tensor<2x4x80x64xf16>
}

// -----

// CHECK: error: 'swage.attention' op cannot become a kernel: keys in pages are whole there, not in runs of the head dim
func.func @runs_in_pages(%q: tensor<2x8x1x64xbf16>, %pool: tensor<9x2x8x16x8xbf16>, %values: tensor<9x2x16x64xbf16>, %table: tensor<2x5xi32>) -> tensor<2x8x1x64xbf16> {
  %turned = swage.permute %pool [0, 1, 3, 2, 4] : tensor<9x2x8x16x8xbf16> -> tensor<9x2x16x8x8xbf16>
  %whole = swage.reshape %turned : tensor<9x2x16x8x8xbf16> -> tensor<9x2x16x64xbf16>
  %k = swage.pages %whole, %table : (tensor<9x2x16x64xbf16>, tensor<2x5xi32>) -> tensor<2x2x80x64xbf16>
  %v = swage.pages %values, %table : (tensor<9x2x16x64xbf16>, tensor<2x5xi32>) -> tensor<2x2x80x64xbf16>
  %o = swage.attention %q, %k, %v scale 0.125 : (tensor<2x8x1x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
