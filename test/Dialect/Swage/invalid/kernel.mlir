// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'swage.kernel' op input 0 has an access that is not linear in the coordinates}}
swage.kernel @kernel_k1 symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 floordiv 2 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 0 has an access of 1 coordinates and 0 sizes, but the kernel has 2 and 0}}
swage.kernel @kernel_k1_rank symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0) -> (d0), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op extents take 0 coordinates and 1 sizes, but must take 0 and 0}}
swage.kernel @kernel_k1_extents symbols 0 extents affine_map<()[s0] -> (s0, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op body has 2 arguments, but there are 1 inputs}}
swage.kernel @kernel_k2 symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32, %b: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op body yields 2 values, but there are 1 outputs}}
swage.kernel @kernel_k3 symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a, %a : f32, f32
}

// -----

// expected-error @+1 {{'swage.kernel' op reduces dimension 2 after -1, but dimensions must increase and stay below the rank 2}}
swage.kernel @kernel_k4 symbols 0 extents affine_map<() -> (8, 64)> reduced [2]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op reduces dimension 0 after 1, but dimensions must increase and stay below the rank 2}}
swage.kernel @kernel_k4_order symbols 0 extents affine_map<() -> (8, 64)> reduced [1, 0]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op reduces 1 dimensions, but the body has no collective}}
swage.kernel @kernel_k4_no_collective symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op reduces 0 dimensions, but the body has a collective}}
swage.kernel @kernel_k4_collective symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  %s = swage.collective sum %a : f32 -> f32
  swage.yield %s : f32
}

// -----

swage.kernel @collective_results symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  // expected-error @+1 {{'swage.collective' op has 2 results, but layer_norm gives 3}}
  %n, %m = swage.collective layer_norm %a eps 1.0e-5 : f32 -> f32, f32
  swage.yield %n : f32
}

// -----

swage.kernel @collective_eps symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  // expected-error @+1 {{'swage.collective' op rms_norm needs eps}}
  %n, %r = swage.collective rms_norm %a : f32 -> f32, f32
  swage.yield %n : f32
}

// -----

swage.kernel @collective_no_eps symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  // expected-error @+1 {{'swage.collective' op sum has no eps}}
  %n = swage.collective sum %a eps 1.0e-5 : f32 -> f32
  swage.yield %n : f32
}

// -----

// Only the last collective goes over the last of the reduced dimensions alone, and there is no fifth.
swage.kernel @collective_dims symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  %n, %r = swage.collective rms_norm %a eps 1.0e-5 : f32 -> f32, f32
  // expected-error @+1 {{'swage.collective' op has dims array<i64: 0>, but they must be the last of those that the kernel reduces: array<i64: 1>}}
  %m = swage.collective abs_max %n dims [0] : f32 -> f32
  %d = arith.divf %n, %m : f32
  swage.yield %d : f32
}

// -----

swage.kernel @norm_of_groups symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  %n, %r = swage.collective rms_norm %a eps 1.0e-5 : f32 -> f32, f32
  // expected-error @+1 {{'swage.collective' op gives elements, but has dims}}
  %m, %q = swage.collective rms_norm %n eps 1.0e-5 dims [1] : f32 -> f32, f32
  swage.yield %m : f32
}

// -----

swage.kernel @collective_first_dims symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  // expected-error @+1 {{'swage.collective' op has dims, but is not the last of several of its kernel}}
  %m = swage.collective abs_max %a dims [1] : f32 -> f32
  %d = arith.divf %a, %m : f32
  swage.yield %d : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has 5 collectives, but may have 4}}
swage.kernel @collective_fifth symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  %s = swage.collective sum %a : f32 -> f32
  %b = arith.subf %a, %s : f32
  %m = swage.collective abs_max %b : f32 -> f32
  %c = arith.divf %b, %m : f32
  %t = swage.collective sum %c : f32 -> f32
  %d = arith.divf %c, %t : f32
  %u = swage.collective max %d : f32 -> f32
  %v = swage.collective min %d : f32 -> f32
  %e = arith.subf %u, %v : f32
  swage.yield %e : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has groups of 48 elements, but must have a power of two of them}}
swage.kernel @collective_groups symbols 0 extents affine_map<() -> (8, 2, 48)> reduced [1, 2]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 96), access = (d0, d1, d2) -> (d0 * 96 + d1 * 48 + d2), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 96), access = (d0, d1, d2) -> (d0 * 96 + d1 * 48 + d2), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 16, rows_per_block = 8, vector = 8, vectors_per_thread = 1, index = 32> {
^body(%a: f32):
  %n, %r = swage.collective rms_norm %a eps 1.0e-5 : f32 -> f32, f32
  %m = swage.collective abs_max %n dims [2] : f32 -> f32
  %d = arith.divf %n, %m : f32
  swage.yield %d : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has groups of 64 elements, which the schedule gives to no lanes of one warp}}
swage.kernel @collective_lanes symbols 0 extents affine_map<() -> (8, 2, 64)> reduced [1, 2]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 128), access = (d0, d1, d2) -> (d0 * 128 + d1 * 64 + d2), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 128), access = (d0, d1, d2) -> (d0 * 128 + d1 * 64 + d2), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 4, rows_per_block = 32, vector = 8, vectors_per_thread = 4, index = 32> {
^body(%a: f32):
  %n, %r = swage.collective rms_norm %a eps 1.0e-5 : f32 -> f32, f32
  %m = swage.collective abs_max %n dims [2] : f32 -> f32
  %d = arith.divf %n, %m : f32
  swage.yield %d : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has several collectives, but a schedule of a class that has one}}
swage.kernel @collective_column symbols 0 extents affine_map<() -> (64, 8)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d1 * 64 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d1 * 64 + d0), align = 16>]
    schedule #swage.row_schedule<kind = column, threads_per_row = 8, rows_per_block = 16, vector = 1, vectors_per_thread = 2, index = 32> {
^body(%a: f32):
  %n, %r = swage.collective rms_norm %a eps 1.0e-5 : f32 -> f32, f32
  %m = swage.collective abs_max %n : f32 -> f32
  %d = arith.divf %n, %m : f32
  swage.yield %d : f32
}

// -----

// expected-error @+1 {{view of tensor -1, but must be 0 or more}}
func.func private @view_tensor() attributes {view = #swage.view<tensor = -1, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>}

// -----

// expected-error @+1 {{view of elements of type 'index', which no kernel moves}}
func.func private @view_index() attributes {view = #swage.view<tensor = 0, element = index, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>}

// -----

// expected-error @+1 {{view of elements of type 'i24', which no kernel moves}}
func.func private @view_width() attributes {view = #swage.view<tensor = 0, element = i24, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>}

// -----

// expected-error @+1 {{access has 2 results, but must have 1}}
func.func private @view_access() attributes {view = #swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0, d1), align = 16>}

// -----

// expected-error @+1 {{shape depends on 1 coordinates, but may only depend on sizes}}
func.func private @view_shape() attributes {view = #swage.view<tensor = 0, element = f16, shape = (d0) -> (d0), access = (d0, d1) -> (d0 * 64 + d1), align = 16>}

// -----

// expected-error @+1 {{shape has 1 sizes, but access has 0}}
func.func private @view_sizes() attributes {view = #swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>}

// -----

// expected-error @+1 {{align is 24, but must be a power of two up to 4096}}
func.func private @view_align() attributes {view = #swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 24>}

// -----

swage.kernel @collective_sink_row symbols 0 extents affine_map<() -> (8, 64)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>,
            #swage.view<tensor = 1, element = f32, shape = () -> (8), access = (d0, d1) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32, %b: f32):
  // expected-error @+1 {{'swage.collective' op has a sink, but is in a kernel without contractions}}
  %s:3 = swage.collective softmax %a sink %b : f32 : f32 -> f32, f32, f32
  swage.yield %s#0 : f32
}
