// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'swage.kernel' op has 1 contractions, but must have none or 2}}
swage.kernel @one symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  swage.yield %p#0 : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has contractions, but must have a softmax between them}}
swage.kernel @sum symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p = swage.collective sum %s : f32 -> f32
  %o = swage.contract %p, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @swapped symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    {
^body(%q: f32, %k: f32, %v: f32):
  // expected-error @+1 {{'swage.contract' op must be of inputs 0 and 1 over dimension 6}}
  %s = swage.contract %k, %q dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @over symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    {
^body(%q: f32, %k: f32, %v: f32):
  // expected-error @+1 {{'swage.contract' op must be of inputs 0 and 1 over dimension 6}}
  %s = swage.contract %q, %k dim 5 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @weights symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  // expected-error @+1 {{'swage.contract' op must be of the softmax and input 2 over dimension 5}}
  %o = swage.contract %p#1, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @values symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  // expected-error @+1 {{'swage.contract' op must be of the softmax and input 2 over dimension 5}}
  %o = swage.contract %p#0, %k dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule needs 263168 bytes of shared memory, but a block has 232448}}
swage.kernel @fits symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 240, stages = 4, query_slots = 1, patience = 8, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule keeps 224 registers a thread, but may keep 204}}
swage.kernel @registers symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 256, stages = 1, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @sink_type symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>] {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %d = arith.constant 1.0 : f64
  // expected-error @+1 {{'swage.collective' op softmax of 'f32' has a sink of 'f64', which is for softmax and of its type}}
  %p:3 = swage.collective softmax %s sink %d : f64 : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but keys and values of 8 bits are for few queries that share a key head}}
swage.kernel @cache_of_many symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = i8, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = i8, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 8, keys = 256, stages = 3, patience = 8, blocks = 1, spans = 1, bulk = true, index = 32> {
^body(%q: f32, %k: i8, %v: i8):
  %kw = arith.sitofp %k : i8 to f32
  %vw = arith.sitofp %v : i8 to f32
  %s = swage.contract %q, %kw dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %vw dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule takes operands of one type, but keys and values are 'f8E5M2'}}
swage.kernel @cache_of_tiles symbols 0 extents affine_map<() -> (1, 1, 1, 1, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f8E5M2, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f8E5M2, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @factor symbols 0 extents affine_map<() -> (1, 1, 1, 1, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>,
            #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>] {
^body(%q: f32, %k: f32, %v: f32, %f: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %w = arith.mulf %f, %p#0 : f32
  // expected-error @+1 {{'swage.contract' op must be of the softmax and input 2 over dimension 5}}
  %o = swage.contract %w, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

swage.kernel @tf32 symbols 0 extents affine_map<() -> (1, 1, 1, 1, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f32, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f32, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (1, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>] {
^body(%q: f32, %k: f32, %v: f32):
  // expected-error @+1 {{'swage.contract' op has tf32, which both contractions of f32 have, or none}}
  %s = swage.contract %q, %k dim 6 tf32 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}
