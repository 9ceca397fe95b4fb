// RUN: swage-opt %s -split-input-file -verify-diagnostics

// K5: schedules that are valid by themselves and do not fit their kernel.

// expected-error @+1 {{'swage.kernel' op schedule has a tail, but results must lie as points are counted, and inputs too or be the same along a dimension}}
swage.kernel @k5_pointwise_tail symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 66), access = (d0, d1) -> (d0 * 66 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = true, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 8, but dimension 1 has extent 60}}
swage.kernel @k5_pointwise_vector symbols 0 extents affine_map<() -> (8, 60)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 8, but dimension 1 has a dynamic extent that need not be a multiple}}
swage.kernel @k5_pointwise_dynamic symbols 1 extents affine_map<()[s0] -> (8, s0)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 is aligned to 4 bytes, but a vector of 8 needs 16}}
swage.kernel @k5_align symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 4>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 0 has a stride in dimension 0 that is no multiple of the vector of 8}}
swage.kernel @k5_stride symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 66), access = (d0, d1) -> (d0 * 66 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has an offset that is no multiple of the vector of 8}}
swage.kernel @k5_offset symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 128), access = (d0, d1) -> (d0 * 128 + d1 + 1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule moves 1 bytes, but an element has 2}}
swage.kernel @k5_runs_movement symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.permute_schedule<kind = runs, threads = 256, movement = 1, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 8, but dimension 1 has extent 60}}
swage.kernel @k5_runs_extent symbols 0 extents affine_map<() -> (8, 60)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.permute_schedule<kind = runs, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule transposes dimension 1, but must name one before the innermost of 2}}
swage.kernel @k5_tiles_transposed symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1) -> (d1 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 1, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule needs 131072 bytes of shared memory, but a block has 49152}}
swage.kernel @k5_tiles_shared symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1) -> (d1 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 256, tile_out = 256, vector_in = 8, vector_out = 8, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of tiles, but both inputs and outputs that are contiguous along dimension 0}}
swage.kernel @turned_twice symbols 0 extents affine_map<() -> (8, 4, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1, d2) -> (d1 * 128 + d2 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1, d2) -> (d1 * 128 + d2 * 8 + d0), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 32, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule counts the last 2 dimensions as one, but}}
swage.kernel @merged_sizes symbols 1 extents affine_map<()[s0] -> (8, s0, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0 * 16, 8), access = (d0, d1, d2)[s0] -> (d1 * 128 + d2 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0 * 16), access = (d0, d1, d2)[s0] -> (d0 * 16 * s0 + d1 * 16 + d2), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 32, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 2>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule counts the last 2 dimensions as one, but}}
swage.kernel @merged_partly symbols 0 extents affine_map<() -> (8, 4, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1, d2) -> (d1 * 128 + d2 * 8 + d0), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (8, 4), access = (d0, d1, d2) -> (d0 * 4 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1, d2) -> (d0 * 64 + d1 * 16 + d2), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 32, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 2>
    {
^body(%a: f32, %b: f32):
  %c = arith.addf %a, %b : f32
  swage.yield %c : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 8, which do not fit its last 2 dimensions as one}}
swage.kernel @merged_align symbols 0 extents affine_map<() -> (8, 4, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1, d2) -> (d1 * 128 + d2 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1, d2) -> (d0 * 64 + d1 * 16 + d2), align = 8>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 32, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 2>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule counts the last 2 dimensions as one, but not everything lies so that it could}}
swage.kernel @merged_gap symbols 0 extents affine_map<() -> (8, 4, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1, d2) -> (d1 * 128 + d2 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 128), access = (d0, d1, d2) -> (d0 * 128 + d1 * 32 + d2), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 16, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 2>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule counts the last 3 dimensions as one, but}}
swage.kernel @merged_transposed symbols 0 extents affine_map<() -> (8, 4, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1, d2) -> (d1 * 128 + d2 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 4, 16), access = (d0, d1, d2) -> (d0 * 64 + d1 * 16 + d2), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 16, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 3>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 8, which do not fit its last 2 dimensions as one}}
swage.kernel @merged_vector symbols 0 extents affine_map<() -> (8, 4, 15)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (60, 8), access = (d0, d1, d2) -> (d1 * 120 + d2 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 60), access = (d0, d1, d2) -> (d0 * 60 + d1 * 15 + d2), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 16, unroll = 1, transposed = 0, tile_in = 32, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 2>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{, but reduces 0 dimensions}}
swage.kernel @k5_row_no_collective symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 1, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a row schedule, but must have kept dimensions before reduced ones}}
swage.kernel @k5_row_no_kept_dimension symbols 0 extents affine_map<() -> (8, 64)> reduced [0, 1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 1, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a reduce schedule, but must have kept dimensions before reduced ones}}
swage.kernel @k5_reduce_no_kept_dimension symbols 0 extents affine_map<() -> (8, 64)> reduced [0, 1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.reduce_schedule<lanes = 8, row_groups = 32, vector = 8, unroll = 1, index = 32>
    {
^body(%a: f32):
  %n = swage.collective sum %a : f32 -> f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule covers 32 elements a row, but the row has 64}}
swage.kernel @k5_row_short symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 4, rows_per_block = 8, vector = 8, vectors_per_thread = 1, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op group keeps a row in registers, but the extent of dimension 1 is dynamic and has no limit}}
swage.kernel @k5_row_dynamic symbols 1 extents affine_map<()[s0] -> (8, s0)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 1, vectors_per_thread = 1, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// A promise makes a runtime row fit: 135 is 16 vectors and a rest that no row has.
swage.kernel @k5_row_bounded symbols 1 multiples [8] limits [135] extents affine_map<()[s0] -> (8, s0)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 2, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule covers 128 elements a row, but the row has 136}}
swage.kernel @k5_row_bound_too_large symbols 1 multiples [8] limits [136] extents affine_map<()[s0] -> (8, s0)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 2, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 8, but dimension 1 has a dynamic extent that need not be a multiple}}
swage.kernel @k5_row_multiple_too_small symbols 1 multiples [4] limits [64] extents affine_map<()[s0] -> (8, s0)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 2, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a stride in dimension 0 that is no multiple of the vector of 8}}
swage.kernel @k5_row_stride symbols 2 multiples [8, 4] limits [64, 0] extents affine_map<()[s0, s1] -> (8, s0)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0, s1] -> (8, s1), access = (d0, d1)[s0, s1] -> (d0 * s1 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0, s1] -> (8, s0), access = (d0, d1)[s0, s1] -> (d0 * s0 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 2, index = 32>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule needs 327680 bytes of shared memory, but a block has 232448}}
swage.kernel @k5_column_shared symbols 0 extents affine_map<() -> (4096, 248)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (248, 4096), access = (d0, d1) -> (d1 * 4096 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (248, 4096), access = (d0, d1) -> (d1 * 4096 + d0), align = 16>]
    schedule #swage.row_schedule<kind = column, threads_per_row = 16, rows_per_block = 64, vector = 8, vectors_per_thread = 2, index = 32, staged = true>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has vectors of 16, but dimension 0 has extent 8}}
swage.kernel @k5_reduce_vector symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1) -> (d1 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8), access = (d0, d1) -> (d0), align = 16>]
    schedule #swage.reduce_schedule<lanes = 8, row_groups = 32, vector = 16, unroll = 1, index = 32>
    {
^body(%a: f32):
  %s = swage.collective sum %a : f32 -> f32
  swage.yield %s : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule needs 65536 bytes of shared memory, but a block has 49152}}
swage.kernel @k5_reduce_shared symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 8), access = (d0, d1) -> (d1 * 8 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8), access = (d0, d1) -> (d0), align = 16>]
    schedule #swage.reduce_schedule<lanes = 32, row_groups = 32, vector = 8, unroll = 1, index = 32>
    {
^body(%a: f32):
  %s = swage.collective sum %a : f32 -> f32
  swage.yield %s : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has schedule "row", which is of no kernel family}}
swage.kernel @k5_family symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    schedule "row" {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule covers 256 elements a row, but the row has 255}}
swage.kernel @aligned_row_too_long symbols 0 extents affine_map<() -> (8, 255)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 255), access = (d0, d1) -> (d0 * 255 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 255), access = (d0, d1) -> (d0 * 255 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 4, index = 32, aligned = true>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has aligned vectors of 8, but a row has 15 elements}}
swage.kernel @aligned_row_too_short symbols 0 extents affine_map<() -> (8, 15)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 15), access = (d0, d1) -> (d0 * 15 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 15), access = (d0, d1) -> (d0 * 15 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 1, index = 32, aligned = true>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has aligned vectors of 2 bytes, but must have 4 to 16}}
swage.kernel @aligned_vector_too_narrow symbols 0 extents affine_map<() -> (8, 255)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 255), access = (d0, d1) -> (d0 * 255 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 255), access = (d0, d1) -> (d0 * 255 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 2, vector = 1, vectors_per_thread = 8, index = 32, aligned = true>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has aligned vectors, but the row is no single dimension of fixed length along which something is contiguous}}
swage.kernel @aligned_row_of_any_length symbols 1 multiples [1] limits [135] extents affine_map<()[s0] -> (8, s0)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (8, s0), access = (d0, d1)[s0] -> (d0 * s0 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 4, index = 32, aligned = true>
    {
^body(%a: f32):
  %n, %m, %r = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32, f32
  swage.yield %n : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has 20 blocks a row, which meet in memory, but there may be too many rows for that}}
swage.kernel @k5_row_crowd symbols 1 extents affine_map<()[s0] -> (s0, 8192)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0, 8192), access = (d0, d1)[s0] -> (d0 * 8192 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = ()[s0] -> (s0, 8192), access = (d0, d1)[s0] -> (d0 * 8192 + d1), align = 16>]
    schedule #swage.row_schedule<kind = looped, threads_per_row = 64, rows_per_block = 1, vector = 4, vectors_per_thread = 1, index = 32, blocks_per_row = 20>
    {
^body(%a: f32):
  %0:3 = swage.collective softmax %a : f32 -> f32, f32, f32
  swage.yield %0#0 : f32
}

// -----

// Rows beside each other that do not share a warp must come out even.
// expected-error @+1 {{'swage.kernel' op schedule has rows of 245 vectors in runs of 5, which steps of 80 by 80 threads a row do not share evenly}}
swage.kernel @woven_uneven symbols 0 extents affine_map<() -> (4, 49, 10)> reduced [1, 2]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (49, 4, 10), access = (d0, d1, d2) -> (d1 * 40 + d0 * 10 + d2), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (49, 4, 10), access = (d0, d1, d2) -> (d1 * 40 + d0 * 10 + d2), align = 16>]
    schedule #swage.row_schedule<kind = looped, threads_per_row = 80, rows_per_block = 4, vector = 2, vectors_per_thread = 1, index = 32, staged = true>
    {
^body(%a: f32):
  %0:3 = swage.collective layer_norm %a eps 1.000000e-05 : f32 -> f32, f32, f32
  swage.yield %0#0 : f32
}
