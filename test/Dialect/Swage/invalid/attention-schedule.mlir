// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'swage.kernel' op schedule takes keys that follow each other in memory, but these are in pages}}
swage.kernel @paged_prefill symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (5, 16, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 1024 + d5 * 64 + d6), align = 16, extents = () -> (5, 1, 1, 64, 64, 16, 64)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (5, 16, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 1024 + d5 * 64 + d4), align = 16, extents = () -> (5, 1, 1, 64, 64, 16, 64)>,
            #swage.view<tensor = 3, element = i32, shape = () -> (4), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5), align = 16, extents = () -> (1, 1, 1, 64, 64, 4, 64)>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32, %t: i32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule moves keys in bulk, but the pages have 4}}
swage.kernel @paged_bulk symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (5, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 256 + d5 * 64 + d6), align = 16, extents = () -> (5, 1, 1, 4, 64, 4, 64)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (5, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 256 + d5 * 64 + d4), align = 16, extents = () -> (5, 1, 1, 4, 64, 4, 64)>,
            #swage.view<tensor = 3, element = i32, shape = () -> (16), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5), align = 16, extents = () -> (1, 1, 1, 4, 64, 16, 64)>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32, %t: i32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but attention's keys and values are in pages of one size, through a table of them in input 3, or nothing is}}
swage.kernel @two_sizes symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (5, 16, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 1024 + d5 * 64 + d6), align = 16, extents = () -> (5, 1, 1, 4, 64, 16, 64)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (5, 32, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 2048 + d5 * 64 + d4), align = 16, extents = () -> (5, 1, 1, 4, 64, 32, 64)>,
            #swage.view<tensor = 3, element = i32, shape = () -> (4), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5), align = 16, extents = () -> (1, 1, 1, 4, 64, 4, 64)>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32, %t: i32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but attention's keys and values are in pages of one size, through a table of them in input 3, or nothing is}}
swage.kernel @values_alone symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (5, 64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 4096 + d5 * 64 + d6), align = 16, extents = () -> (5, 1, 1, 4, 64, 64, 64)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (5, 64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 4096 + d5 * 64 + d4), align = 16>,
            #swage.view<tensor = 3, element = i32, shape = () -> (1), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5), align = 16, extents = () -> (1, 1, 1, 4, 64, 1, 64)>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32, %t: i32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but attention's keys and values are in pages of one size, through a table of them in input 3, or nothing is}}
swage.kernel @no_numbers symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (5, 16, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 1024 + d5 * 64 + d6), align = 16, extents = () -> (5, 1, 1, 4, 64, 16, 64)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (5, 16, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 1024 + d5 * 64 + d4), align = 16, extents = () -> (5, 1, 1, 4, 64, 16, 64)>,
            #swage.view<tensor = 3, element = i64, shape = () -> (4), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5), align = 16, extents = () -> (1, 1, 1, 4, 64, 4, 64)>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32, %t: i64):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule takes head dims up to 256, but there is one of 288}}
swage.kernel @long_prefill symbols 0 extents affine_map<() -> (1, 1, 1, 64, 288, 64, 288)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 288), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 288 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 288), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 288 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 288), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 288 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 288), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 288 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule stages what scores read for each query and key, but they read nothing that lies together for a query}}
swage.kernel @staged symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>,
            #swage.view<tensor = 3, element = i1, shape = () -> (64, 66), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 + d5 * 66), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32, score_stages = 1> {
^body(%q: f32, %k: f32, %v: f32, %seen: i1):
  %s = swage.contract %q, %k dim 6 : f32
  %none = arith.constant 0xFF800000 : f32
  %score = arith.select %seen, %s, %none : f32
  %p:3 = swage.collective softmax %score zero_rows : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule leaves parts of 1813512192 bytes, but may leave 1073741824}}
swage.kernel @many_spans symbols 0 extents affine_map<() -> (1, 1, 1, 32, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (32, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (32, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 65536, bulk = true, index = 32, atoms = 2> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{atoms is 3, but must be in 1..2}}
func.func private @decode_atoms() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, atoms = 3>}

// -----

// expected-error @+1 {{view has extents affine_map<() -> (1, 2)>, but must have one of sizes for each of 3 dimensions, in memory}}
func.func private @view_extents() attributes {view = #swage.view<tensor = 0, element = f16, shape = () -> (4), access = (d0, d1, d2) -> (d2), align = 16, extents = () -> (1, 2)>}

// -----

// expected-error @+1 {{'swage.kernel' op schedule copies rows that follow each other in memory, but these do not}}
swage.kernel @linear symbols 0 extents affine_map<() -> (1, 2, 1, 4, 72, 64, 72)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 72), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 288 + d3 * 72 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (2, 64, 72), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 4608 + d5 * 72 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 2, 72), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 72 + d5 * 144 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 72), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 288 + d3 * 72 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, linear = true> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule moves keys in bulk, but they begin at multiples of 8 bytes}}
swage.kernel @bulk symbols 0 extents affine_map<() -> (1, 1, 1, 4, 100, 64, 100)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 100 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 100 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 100 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 100 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule takes operands that begin at multiples of 16 bytes, but these do at multiples of 8}}
swage.kernel @portable symbols 0 extents affine_map<() -> (1, 1, 1, 4, 100, 64, 100)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 100 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 100 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 100 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 100), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 100 + d4), align = 16>]
    schedule #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 48, stages = 2, patience = 8, holds_query = false, section = 16777216, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op does not depend on the batch, but schedule has no chunks}}
swage.kernel @no_chunks symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s batch_invariant : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has chunks, but results may depend on the batch}}
swage.kernel @chunks symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, chunk = 128> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule takes 32 rows at once, but with head dims beyond 320 must take 16}}
swage.kernel @team symbols 0 extents affine_map<() -> (1, 1, 32, 1, 512, 64, 512)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (32, 512), access = (d0, d1, d2, d3, d4, d5, d6) -> (d2 * 512 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 512), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 512 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 512), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 512 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (32, 512), access = (d0, d1, d2, d3, d4, d5, d6) -> (d2 * 512 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 1, keys = 16, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, atoms = 2> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule takes whole keys, but these are in runs of 8}}
swage.kernel @runs symbols 0 extents affine_map<() -> (1, 2, 1, 4, 64, 100, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 256 + d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (2, 8, 100, 8), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 6400 + d4 * 800 + d5 * 8 + d6), align = 16, extents = () -> (1, 2, 1, 4, 8, 100, 8)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (2, 100, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 6400 + d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 256 + d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}


// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but keys whose head dim is in runs are of 16 bits, and these of 16 bytes, one key's behind the other's}}
swage.kernel @short_runs symbols 0 extents affine_map<() -> (1, 2, 1, 4, 64, 100, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 256 + d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (2, 16, 100, 4), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 6400 + d4 * 400 + d5 * 4 + d6), align = 16, extents = () -> (1, 2, 1, 4, 16, 100, 4)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (2, 100, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 6400 + d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 256 + d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}


// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but keys whose head dim is in runs are of 16 bits, and these of 16 bytes, one key's behind the other's}}
swage.kernel @too_few_runs symbols 0 extents affine_map<() -> (1, 2, 1, 4, 64, 100, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 256 + d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (2, 8, 100, 8), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 6400 + d4 * 800 + d5 * 8 + d6), align = 16, extents = () -> (1, 2, 1, 4, 7, 100, 8)>,
            #swage.view<tensor = 2, element = f16, shape = () -> (2, 100, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 6400 + d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (2, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d1 * 256 + d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule takes 16 bits or fewer, but the operands have 32}}
swage.kernel @wide symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f32, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f32, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op does not depend on the batch, but schedule has 2 parts}}
swage.kernel @parts_of_batch symbols 0 extents affine_map<() -> (1, 1, 1, 64, 64, 640, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (640, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (640, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = false, section = 1, tail = 1, index = 32, parts = 2> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s batch_invariant : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule keeps no scores, but an output has probabilities}}
swage.kernel @probabilities_of_many symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d5), align = 16>]
    schedule #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 8, eager = true, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o, %p#0 : f32, f32
}

// -----

// expected-error @+1 {{'swage.kernel' op has a schedule of attention, but attention writes its probabilities once}}
swage.kernel @probabilities_twice symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d5), align = 16>, #swage.view<tensor = 2, element = f32, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d5), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o, %p#0, %p#0 : f32, f32, f32
}

// -----

swage.kernel @probability_loads symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d5), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32> {
  swage.phase prologue for softmax loads [] stores [] access [] {
  ^bb0(%s: f32):
    swage.yield %s : f32
  }
  // expected-error @+1 {{'swage.phase' op has 1 loads and 1 stores, but probabilities take none and go to one output}}
  swage.phase probability loads [0] stores [1] access [0, 0] {
  ^bb0(%p: f32, %q: f32):
    swage.yield %p : f32
  }
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule has 8 spans, but 6 parts of units}}
swage.kernel @parts_of_units symbols 0 extents affine_map<() -> (3, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (3, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 256 + d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (3, 64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 4096 + d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (3, 64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 4096 + d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (3, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 256 + d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 2, keys = 32, stages = 2, patience = 8, blocks = 1, spans = 8, bulk = true, index = 32, parts = 2> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule deals each unit out to 2 blocks, but there may be any number of units}}
swage.kernel @parts_of_any symbols 1 extents affine_map<()[s0] -> (s0, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 * 256 + d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = ()[s0] -> (s0, 64, 64), access = (d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 * 4096 + d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = ()[s0] -> (s0, 64, 64), access = (d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 * 4096 + d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 4, 64), access = (d0, d1, d2, d3, d4, d5, d6)[s0] -> (d0 * 256 + d3 * 64 + d4), align = 16>]
    schedule #swage.decode_schedule<warps = 2, keys = 32, stages = 2, patience = 8, blocks = 1, spans = 8, bulk = true, index = 32, parts = 2> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o : f32
}

// -----

// expected-error @+1 {{'swage.kernel' op schedule deals each unit out to 2 blocks, but one makes its probabilities}}
swage.kernel @parts_with_probabilities symbols 0 extents affine_map<() -> (1, 1, 1, 4, 64, 64, 64)> reduced [5, 6]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d6), align = 16>,
            #swage.view<tensor = 1, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d6), align = 16>,
            #swage.view<tensor = 2, element = f16, shape = () -> (64, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d5 * 64 + d4), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d4), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = () -> (4, 64), access = (d0, d1, d2, d3, d4, d5, d6) -> (d3 * 64 + d5), align = 16>]
    schedule #swage.decode_schedule<warps = 4, keys = 64, stages = 2, patience = 8, blocks = 1, spans = 2, bulk = true, index = 32, parts = 2> {
^body(%q: f32, %k: f32, %v: f32):
  %s = swage.contract %q, %k dim 6 : f32
  %p:3 = swage.collective softmax %s : f32 -> f32, f32, f32
  %o = swage.contract %p#0, %v dim 5 : f32
  swage.yield %o, %p#0 : f32, f32
}
