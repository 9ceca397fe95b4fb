// RUN: split-file %s %t
// RUN: not swage-translate --swage-to-cuda %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not swage-translate --swage-to-cuda %t/narrow.mlir 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not swage-translate --swage-to-cuda %t/symbol.mlir 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: not swage-translate --swage-to-cuda %t/position.mlir 2>&1 | FileCheck %s --check-prefix=POSITION
// RUN: not swage-translate --swage-to-cuda %t/phase.mlir 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not swage-translate --swage-to-cuda %t/spaces.mlir 2>&1 | FileCheck %s --check-prefix=SPACES
// RUN: not swage-translate --swage-to-cuda %t/type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE

// OP: op.mlir:8:10: error: 'math.ctlz' has no CUDA form
// NARROW: narrow.mlir:8:10: error: 'arith.addf' has no CUDA form
// SYMBOL: symbol.mlir:1:1: error: 'swage.kernel' op has a symbol that cannot be the name of a CUDA kernel
// POSITION: error: 'swage.phase' op has load 3, but the kernel has 1
// PHASE: error: 'swage.phase' op is of kind epilogue, but the kernel reduces 0 dimensions
// SPACES: error: 'swage.kernel' op has 2 lists of extents in its geometry, but its template takes 1
// TYPE: error: 'swage.phase' op takes 'f64' from input 0, which holds 'f32'

//--- op.mlir
swage.kernel @k symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0] stores [0] access [0, 0] {
  ^bb0(%x: i1):
    %y = math.ctlz %x : i1
    swage.yield %y : i1
  }
}
//--- narrow.mlir
swage.kernel @k symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0] stores [0] access [0, 0] {
  ^bb0(%x: f16):
    %y = arith.addf %x, %x : f16
    swage.yield %y : f16
  }
}
//--- symbol.mlir
swage.kernel @"k(); evil" symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [] outputs []
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [] stores [] access [] {
    swage.yield
  }
}
//--- position.mlir
swage.kernel @k symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs []
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [3] stores [] access [0] {
  ^bb0(%x: f32):
    swage.yield
  }
}
//--- phase.mlir
swage.kernel @k symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [] outputs []
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase epilogue loads [] stores [] access [] {
    swage.yield
  }
}
//--- spaces.mlir
swage.kernel @k symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [] outputs []
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>, affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [] stores [] access [] {
    swage.yield
  }
}
//--- type.mlir
swage.kernel @k symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0] stores [0] access [0, 0] {
  ^bb0(%x: f64):
    swage.yield %x : f64
  }
}
