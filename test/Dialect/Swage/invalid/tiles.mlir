// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{position is -1, but must be 0 or more}}
func.func private @position() attributes {tile = #swage.tile<output = false, position = -1, dims = [1], box = [64], swizzle = 0>}

// -----

// expected-error @+1 {{has 2 dims and a box of 1, but must have as many of both, from 1 to 5}}
func.func private @box() attributes {tile = #swage.tile<output = false, position = 0, dims = [1, 0], box = [64], swizzle = 0>}

// -----

// expected-error @+1 {{has 6 dims and a box of 6, but must have as many of both, from 1 to 5}}
func.func private @rank() attributes {tile = #swage.tile<output = false, position = 0, dims = [5, 4, 3, 2, 1, 0], box = [8, 1, 1, 1, 1, 1], swizzle = 0>}

// -----

// expected-error @+1 {{dims has 1, but must have dimensions, each once}}
func.func private @twice() attributes {tile = #swage.tile<output = false, position = 0, dims = [1, 0, 1], box = [8, 1, 1], swizzle = 0>}

// -----

// expected-error @+1 {{box is 257, but must be in 1..256}}
func.func private @large() attributes {tile = #swage.tile<output = false, position = 0, dims = [1, 0], box = [8, 257], swizzle = 0>}

// -----

// expected-error @+1 {{swizzle is 16, but must be 0, 32, 64 or 128}}
func.func private @swizzle() attributes {tile = #swage.tile<output = false, position = 0, dims = [1, 0], box = [8, 8], swizzle = 16>}

// -----

// expected-error @+1 {{tiles has 12 : i64, but must have tiles, at most one for each view}}
func.func private @no_tile() attributes {geometry = #swage.launch_geometry<blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [12]>}

// -----

// expected-error @+1 {{tiles has #swage.tile<output = true, position = 0, dims = [1], box = [8], swizzle = 0>, but must have tiles, at most one for each view}}
func.func private @same_view() attributes {geometry = #swage.launch_geometry<blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (),
  tiles = [#swage.tile<output = true, position = 0, dims = [1, 0], box = [8, 8], swizzle = 0>,
           #swage.tile<output = true, position = 0, dims = [1], box = [8], swizzle = 0>]>}

// -----

// K8: a tile is of a view that the copy engine can move so.

// expected-error @+1 {{'swage.kernel' op has a tile of input 1, which it does not have}}
swage.kernel @k8_position symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 1, dims = [1, 0], box = [64, 8], swizzle = 128>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 is not in memory}}
swage.kernel @k8_memory symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = -1, element = i32, shape = () -> (), access = (d0, d1) -> (d1), align = 16, source = coordinate>]
    outputs [#swage.view<tensor = 0, element = i32, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [1, 0], box = [32, 8], swizzle = 128>]>
    {
^body(%a: i32):
  swage.yield %a : i32
}

// -----

// expected-error @+1 {{'swage.kernel' op output 0 is aligned to 8 bytes, but a tile needs 16}}
swage.kernel @k8_alignment symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 8>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = true, position = 0, dims = [1, 0], box = [64, 8], swizzle = 128>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile along dimension 2 of 2}}
swage.kernel @k8_dimension symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [1, 0, 2], box = [64, 8, 1], swizzle = 128>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile without dimension 0, along which its elements differ}}
swage.kernel @k8_left_out symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [1], box = [64], swizzle = 128>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile with dimension 0 innermost, but is not contiguous there}}
swage.kernel @k8_innermost symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [0, 1], box = [8, 64], swizzle = 0>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile with a stride of 120 bytes along dimension 0, but must have a multiple of 16}}
swage.kernel @k8_stride symbols 0 extents affine_map<() -> (8, 60)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 60), access = (d0, d1) -> (d0 * 60 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 60), access = (d0, d1) -> (d0 * 60 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [1, 0], box = [64, 8], swizzle = 128>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile that begins at byte 8, but must begin at a multiple of 16}}
swage.kernel @k8_offset symbols 0 extents affine_map<() -> (8, 32)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1 + 4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 32), access = (d0, d1) -> (d0 * 32 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [1, 0], box = [32, 8], swizzle = 64>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile of 256 bytes a row, but must have a multiple of 16 up to 128}}
swage.kernel @k8_row symbols 0 extents affine_map<() -> (8, 128)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 128), access = (d0, d1) -> (d0 * 128 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 128), access = (d0, d1) -> (d0 * 128 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [1, 0], box = [128, 8], swizzle = 128>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// Not along dimensions where it is the same; of one element any stride is good; unknown strides are seen at launch.
swage.kernel @good symbols 1 extents affine_map<()[s0] -> (4, 1, s0, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1, d2, d3)[s0] -> (d2 * 64 + d3), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = ()[s0] -> (64, s0), access = (d0, d1, d2, d3)[s0] -> (d1 * 3 + d2 + d3 * s0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (4, s0, 64), access = (d0, d1, d2, d3)[s0] -> (d0 * (s0 * 64) + d2 * 64 + d3), align = 16>]
    geometry <blocks = ()[s0] -> (s0, 132), threads = 32, spaces = [], dividers = ()[s0] -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [3, 2], box = [64, 8], swizzle = 128>,
      #swage.tile<output = false, position = 1, dims = [2, 1, 3], box = [64, 1, 8], swizzle = 128>,
      #swage.tile<output = true, position = 0, dims = [3, 2, 0], box = [32, 256, 1], swizzle = 64>]>
    {
^body(%a: f32, %b: f32):
  %s = arith.addf %a, %b : f32
  swage.yield %s : f32
}

// -----

// What lies between is moved as well.
// expected-error @+1 {{'swage.kernel' op input 0 has a tile of 512 elements a row, but must have up to 256}}
swage.kernel @k8_within symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [0], box = [8], swizzle = 0>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op input 0 has a tile with dimension 0 innermost, but is not contiguous there}}
swage.kernel @k8_gaps_within symbols 0 extents affine_map<() -> (8, 32)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 32), access = (d0, d1) -> (d0 * 32 + d1), align = 16>]
    geometry <blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), tiles = [
      #swage.tile<output = false, position = 0, dims = [0], box = [4], swizzle = 0>]>
    {
^body(%a: f32):
  swage.yield %a : f32
}
