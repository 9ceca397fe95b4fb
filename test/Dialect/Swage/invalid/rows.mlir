// Outputs that are written by rows.
// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'swage.kernel' op output 0 is the row of no output in front of it}}
swage.kernel @k9_alone symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = 0, element = i32, shape = () -> (4), access = (d0) -> (d0), align = 16>]
  outputs [#swage.view<tensor = 0, element = i32, shape = () -> (4, 1), access = (d0) -> (1), align = 1, source = row>] {
^bb0(%x: i32):
  swage.yield %x : i32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 1 is a row, which pointwise kernels, those of rows and attention of few queries write}}
swage.kernel @k9_schedule symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = 0, element = i32, shape = () -> (4), access = (d0) -> (d0), align = 16>]
  outputs [#swage.view<tensor = 0, element = i32, shape = () -> (3, 4), access = (d0) -> (d0), align = 16>,
           #swage.view<tensor = 1, element = i32, shape = () -> (3, 1), access = (d0) -> (4), align = 1, source = row>]
  schedule #swage.permute_schedule<kind = runs, threads = 32, movement = 4, unroll = 1, transposed = 0, tile_in = 1, tile_out = 1, vector_in = 1, vector_out = 1, index = 32> {
^bb0(%x: i32):
  swage.yield %x, %x : i32, i32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 0 reaches element 15 of a tensor of 12}}
swage.kernel @k6 symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = 0, element = i32, shape = () -> (4), access = (d0) -> (d0), align = 16>]
  outputs [#swage.view<tensor = 0, element = i32, shape = () -> (3, 4), access = (d0) -> (d0), align = 16>,
           #swage.view<tensor = 1, element = i32, shape = () -> (4, 1), access = (d0) -> (4), align = 1, source = row>] {
^bb0(%x: i32):
  swage.yield %x, %x : i32, i32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 0 has 4 rows for a tensor that has 3}}
swage.kernel @k6_rows symbols 0 extents affine_map<() -> (4, 4)> reduced []
  inputs [#swage.view<tensor = 0, element = i32, shape = () -> (4, 4), access = (d0, d1) -> (d0 * 4 + d1), align = 16>]
  outputs [#swage.view<tensor = 0, element = i32, shape = () -> (3, 4), access = (d0, d1) -> (d1), align = 16>,
           #swage.view<tensor = 1, element = i32, shape = () -> (3, 4), access = (d0, d1) -> (4), align = 1, source = circular_row>] {
^bb0(%x: i32):
  swage.yield %x, %x : i32, i32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 1 has rows whose offsets are no multiples of the vector of 4}}
swage.kernel @k5_vector symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = 0, element = i32, shape = () -> (4), access = (d0) -> (d0), align = 16>]
  outputs [#swage.view<tensor = 0, element = i32, shape = () -> (3, 6), access = (d0) -> (d0), align = 16>,
           #swage.view<tensor = 1, element = i32, shape = () -> (3, 1), access = (d0) -> (6), align = 1, source = circular_row>]
  schedule #swage.pointwise_schedule<threads = 32, vector = 4, unroll = 1, tail = false, index = 32> {
^bb0(%x: i32):
  swage.yield %x, %x : i32, i32
}

// -----

swage.kernel @k symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = 0, element = i32, shape = () -> (4), access = (d0) -> (d0), align = 16>]
  outputs [#swage.view<tensor = 0, element = i32, shape = () -> (3, 4), access = (d0) -> (d0), align = 16>,
           #swage.view<tensor = 1, element = i32, shape = () -> (3, 1), access = (d0) -> (4), align = 1, source = row>] {
^bb0(%x: i32):
  swage.yield %x, %x : i32, i32
}
func.func @l2_kept(%x: tensor<4xi32>, %cache: tensor<4x4xi32>) -> tensor<3x4xi32> {
  // expected-error @+1 {{'swage.launch' op result 0 of type 'tensor<3x4xi32>' keeps elements of operand 1, which is not like it}}
  %y = swage.launch @k (%x, %cache) : (tensor<4xi32>, tensor<4x4xi32>) -> tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}

// -----

// expected-error @+1 {{view of rows has a shape of 1 extents and an access of coordinates, but must have 2 extents and an offset that is the same everywhere}}
#rows = #swage.view<tensor = 0, element = i32, shape = () -> (3), access = (d0) -> (d0), align = 1, source = row>

// -----

// expected-error @+1 {{view of rows has a shape of 2 extents and an access of coordinates, but must have 3 extents and an offset that is the same everywhere}}
#rows = #swage.view<tensor = 0, element = i32, shape = () -> (3, 4), access = (d0) -> (4), align = 1, source = paged_row>

// -----

// expected-error @+1 {{view of rows in pages has affine_map<() -> (3, 0, 4)>, but the second of these, the rows of a page, must be static and 1 or more}}
#rows = #swage.view<tensor = 0, element = i32, shape = () -> (3, 0, 4), access = (d0) -> (4), align = 1, source = paged_row>

// -----

// expected-error @+1 {{'swage.kernel' op output 1 is of source shared, but input 0 is no such queries}}
swage.kernel @k10 symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4), access = (d0) -> (d0), align = 16>]
  outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4), access = (d0) -> (d0), align = 16>,
           #swage.view<tensor = -1, element = f16, shape = () -> (1, 4), access = (d0) -> (d0), align = 16, source = shared>] {
^bb0(%x: f32):
  swage.yield %x, %x : f32, f32
}

// -----

// Of a step's caches nothing else is read: input 4 is values beside attention's own.
// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but a cache that rows are added to is read as keys and values only}}
swage.kernel @cache_beside symbols 0 extents affine_map<() -> (1, 1, 1, 1, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>,
            #swage.view<tensor = 3, element = i32, shape = () -> (1), access = (d0, d1, d2, d3, d4, d5, d6) -> (0), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>,
             #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d6), align = 16>,
             #swage.view<tensor = 1, element = i32, shape = () -> (64, 1), access = (d0, d1, d2, d3, d4, d5, d6) -> (64), align = 1, source = row>,
             #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d4), align = 16>,
             #swage.view<tensor = 2, element = i32, shape = () -> (64, 1), access = (d0, d1, d2, d3, d4, d5, d6) -> (64), align = 1, source = row>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32, %at: i32, %beside: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  %sum = arith.addf %o, %beside : f32
  swage.yield %sum, %q, %at, %q, %at : f32, f32, i32, f32, i32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 is of source shared, but only attention's queries are}}
swage.kernel @k10_input symbols 0 extents affine_map<() -> (4)> reduced []
  inputs [#swage.view<tensor = -1, element = f16, shape = () -> (1, 4), access = (d0) -> (d0), align = 16, source = shared>]
  outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4), access = (d0) -> (d0), align = 16>] {
^bb0(%x: f32):
  swage.yield %x : f32
}
