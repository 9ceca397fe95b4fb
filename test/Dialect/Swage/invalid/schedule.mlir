// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a block has 100 threads, but must have a multiple of 32 up to 1024}}
func.func private @pointwise_threads() attributes {schedule = #swage.pointwise_schedule<threads = 100, vector = 8, unroll = 1, tail = false, index = 32>}

// -----

// expected-error @+1 {{a block has 2048 threads, but must have a multiple of 32 up to 1024}}
func.func private @pointwise_threads_many() attributes {schedule = #swage.pointwise_schedule<threads = 2048, vector = 8, unroll = 1, tail = false, index = 32>}

// -----

// expected-error @+1 {{vector is 3, but must be a power of two up to 16}}
func.func private @pointwise_vector() attributes {schedule = #swage.pointwise_schedule<threads = 256, vector = 3, unroll = 1, tail = false, index = 32>}

// -----

// expected-error @+1 {{unroll is 0, but must be in 1..16}}
func.func private @pointwise_unroll() attributes {schedule = #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 0, tail = false, index = 32>}

// -----

// expected-error @+1 {{index is 16 bits, but must be 32 or 64}}
func.func private @pointwise_index() attributes {schedule = #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 16>}

// -----

// expected-error @+1 {{a block has 33 threads, but must have a multiple of 32 up to 1024}}
func.func private @permute_threads() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 33, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{movement is 32, but must be a power of two up to 16}}
func.func private @permute_movement() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 32, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{unroll is 17, but must be in 1..16}}
func.func private @permute_unroll() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 17, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{merged is 0, but must be 1, or more of tiles}}
func.func private @permute_merged() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 0>}

// -----

// expected-error @+1 {{merged is 2, but must be 1, or more of tiles}}
func.func private @permute_merged_runs() attributes {schedule = #swage.permute_schedule<kind = runs, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32, merged = 2>}

// -----

// expected-error @+1 {{transposed is -1, but tiles need a dimension}}
func.func private @permute_transposed() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = -1, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{tile_in is 48, but must be a power of two up to 256}}
func.func private @permute_tile_in() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 48, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{tile_out is 512, but must be a power of two up to 256}}
func.func private @permute_tile_out() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 512, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{vector_in is 0, but must be a power of two up to 16}}
func.func private @permute_vector_in() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 0, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{vector_out is 5, but must be a power of two up to 16}}
func.func private @permute_vector_out() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 5, index = 32>}

// -----

// expected-error @+1 {{a tile of 4 by 64 is not divisible by vectors of 8 and 8}}
func.func private @permute_tile_vector() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 4, tile_out = 64, vector_in = 8, vector_out = 8, index = 32>}

// -----

// expected-error @+1 {{index is 0 bits, but must be 32 or 64}}
func.func private @permute_index() attributes {schedule = #swage.permute_schedule<kind = tiles, threads = 256, movement = 16, unroll = 1, transposed = 0, tile_in = 64, tile_out = 64, vector_in = 8, vector_out = 8, index = 0>}

// -----

// expected-error @+1 {{vector is 12, but must be a power of two up to 16}}
func.func private @row_vector() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 12, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{vectors_per_thread is 65, but must be in 1..64}}
func.func private @row_vectors_per_thread() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 65, index = 32>}

// -----

// expected-error @+1 {{rows_per_block is 0, but must be in 1..1024}}
func.func private @row_rows_per_block() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 0, vector = 8, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{threads_per_row is 0, but must be in 1..1024}}
func.func private @row_threads_per_row() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 0, rows_per_block = 16, vector = 8, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{a block has 24 threads, but must have a multiple of 32 up to 1024}}
func.func private @row_threads() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 3, vector = 8, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{a group has 64 threads a row, but must have a power of two up to 32}}
func.func private @row_group() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 64, rows_per_block = 2, vector = 8, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{block has 2 rows a block, but must have 1}}
func.func private @row_block() attributes {schedule = #swage.row_schedule<kind = block, threads_per_row = 64, rows_per_block = 2, vector = 8, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{has 24 blocks a row, but more than 16 need looped, 1 row a block and as many threads, or column}}
func.func private @row_crowd() attributes {schedule = #swage.row_schedule<kind = block, threads_per_row = 128, rows_per_block = 1, vector = 4, vectors_per_thread = 1, index = 32, blocks_per_row = 24>}

// -----

// expected-error @+1 {{column has 40 blocks a row, which meet in memory, but may have 8 for each 4 of its threads a row}}
func.func private @column_crowd() attributes {schedule = #swage.row_schedule<kind = column, threads_per_row = 16, rows_per_block = 32, vector = 4, vectors_per_thread = 1, index = 32, blocks_per_row = 40>}

// -----

// expected-error @+1 {{column has 20 blocks a row, which meet in memory, and 21 threads a row, which must be a multiple of the vector, 2}}
func.func private @column_torn_crowd() attributes {schedule = #swage.row_schedule<kind = column, threads_per_row = 21, rows_per_block = 32, vector = 2, vectors_per_thread = 1, index = 32, blocks_per_row = 20>}

// -----

// expected-error @+1 {{column takes 4194304 elements of a row at a time, but may take 1048576}}
func.func private @column_large_crowd() attributes {schedule = #swage.row_schedule<kind = column, threads_per_row = 128, rows_per_block = 4, vector = 1, vectors_per_thread = 64, index = 32, blocks_per_row = 512>}

// -----

// expected-error @+1 {{column has 40 blocks a row, more than 16, which cannot be staged}}
func.func private @column_staged_crowd() attributes {schedule = #swage.row_schedule<kind = column, threads_per_row = 64, rows_per_block = 8, vector = 4, vectors_per_thread = 1, index = 32, blocks_per_row = 40, staged = true>}

// -----

// expected-error @+1 {{has 200 blocks a row, but more than 16 need looped, 1 row a block and as many threads, or column}}
func.func private @row_large_crowd() attributes {schedule = #swage.row_schedule<kind = looped, threads_per_row = 128, rows_per_block = 1, vector = 4, vectors_per_thread = 1, index = 32, blocks_per_row = 200>}

// -----

// expected-error @+1 {{looped has 3 rows a block, but must have a power of two up to 32}}
func.func private @row_looped() attributes {schedule = #swage.row_schedule<kind = looped, threads_per_row = 64, rows_per_block = 3, vector = 8, vectors_per_thread = 1, index = 32>}

// -----

// expected-error @+1 {{has 3 shelved steps, which only a staged looped can}}
func.func private @row_shelved() attributes {schedule = #swage.row_schedule<kind = looped, threads_per_row = 64, rows_per_block = 1, vector = 8, vectors_per_thread = 1, index = 32, shelved_steps = 3>}

// -----

// expected-error @+1 {{index is 31 bits, but must be 32 or 64}}
func.func private @row_index() attributes {schedule = #swage.row_schedule<kind = group, threads_per_row = 8, rows_per_block = 16, vector = 8, vectors_per_thread = 1, index = 31>}

// -----

// expected-error @+1 {{lanes is 12, but must be a power of two up to 1024}}
func.func private @reduce_lanes() attributes {schedule = #swage.reduce_schedule<lanes = 12, row_groups = 32, vector = 8, unroll = 1, index = 32>}

// -----

// expected-error @+1 {{row_groups is 0, but must be a power of two up to 128}}
func.func private @reduce_row_groups() attributes {schedule = #swage.reduce_schedule<lanes = 8, row_groups = 0, vector = 8, unroll = 1, index = 32>}

// -----

// expected-error @+1 {{a block has 16 threads, but must have a multiple of 32 up to 1024}}
func.func private @reduce_threads() attributes {schedule = #swage.reduce_schedule<lanes = 8, row_groups = 2, vector = 8, unroll = 1, index = 32>}

// -----

// expected-error @+1 {{vector is 32, but must be a power of two up to 16}}
func.func private @reduce_vector() attributes {schedule = #swage.reduce_schedule<lanes = 8, row_groups = 32, vector = 32, unroll = 1, index = 32>}

// -----

// expected-error @+1 {{unroll is 33, but must be in 1..32}}
func.func private @reduce_unroll() attributes {schedule = #swage.reduce_schedule<lanes = 8, row_groups = 32, vector = 8, unroll = 33, index = 32>}

// -----

// expected-error @+1 {{index is 8 bits, but must be 32 or 64}}
func.func private @reduce_index() attributes {schedule = #swage.reduce_schedule<lanes = 8, row_groups = 32, vector = 8, unroll = 1, index = 8>}

// -----

// expected-error @+1 {{fastest is 2, but boxes have rank 2}}
func.func private @f() attributes {s = #swage.box_schedule<threads = 256, box = [8, 64], lanes = 8, skewed = false, index = 32, fastest = 2>}

// -----

// expected-error @+1 {{groups is 1, but must be 2 or 3}}
func.func private @attention_groups() attributes {schedule = #swage.attention_schedule<groups = 1, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{keys is 24, but must be a multiple of 16}}
func.func private @attention_keys() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 24, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{keys is 272, but must be in 1..256}}
func.func private @attention_keys() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 272, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{stages is 1, but must be at least 2 without eager}}
func.func private @attention_stages_late() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 1, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{stages is 9, but must be in 1..8}}
func.func private @attention_stages() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 9, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{query_slots is 5, but must be in 1..4}}
func.func private @attention_query_slots() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 5, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{patience is 9, but must be from 0 to 8}}
func.func private @attention_patience() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 9, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32>}

// -----

// expected-error @+1 {{score_stages is 3, but must be from 0 to 2}}
func.func private @attention_score_stages() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32, score_stages = 3>}

// -----

// expected-error @+1 {{run is -1, but must not be negative}}
func.func private @attention_run() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32, run = -1>}

// -----

// expected-error @+1 {{parts is 9, but must be in 1..8}}
func.func private @attention_parts() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = false, section = 1, tail = 1, index = 32, parts = 9>}

// -----

// expected-error @+1 {{parts is 2, but must be 1 with dynamic or with several query_slots}}
func.func private @attention_parts_of_tiles() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 32, parts = 2>}

// -----

// expected-error @+1 {{section is 1073741825, but must be in 1..1073741824}}
func.func private @attention_section() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1073741825, tail = 1, index = 32>}

// -----

// expected-error @+1 {{index is 16 bits, but must be 32 or 64}}
func.func private @attention_index() attributes {schedule = #swage.attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 0, eager = false, holds_query = false, dynamic = true, section = 1, tail = 1, index = 16>}

// -----

// expected-error @+1 {{warps is 3, but must be a power of two up to 8}}
func.func private @portable_attention_warps() attributes {schedule = #swage.portable_attention_schedule<warps = 3, atoms = 2, keys = 48, stages = 2, patience = 8, holds_query = false, section = 16777216, tail = 1, index = 32>}

// -----

// expected-error @+1 {{atoms is 3, but must be in 1..2}}
func.func private @portable_attention_atoms() attributes {schedule = #swage.portable_attention_schedule<warps = 4, atoms = 3, keys = 48, stages = 2, patience = 8, holds_query = false, section = 16777216, tail = 1, index = 32>}

// -----

// expected-error @+1 {{keys is 40, but must be a multiple of 16}}
func.func private @portable_attention_keys() attributes {schedule = #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 40, stages = 2, patience = 8, holds_query = false, section = 16777216, tail = 1, index = 32>}

// -----

// expected-error @+1 {{stages is 3, but must be in 1..2}}
func.func private @portable_attention_stages() attributes {schedule = #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 48, stages = 3, patience = 8, holds_query = false, section = 16777216, tail = 1, index = 32>}

// -----

// expected-error @+1 {{patience is 9, but must be from 0 to 8}}
func.func private @portable_attention_patience() attributes {schedule = #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 48, stages = 2, patience = 9, holds_query = false, section = 16777216, tail = 1, index = 32>}

// -----

// expected-error @+1 {{index is 8 bits, but must be 32 or 64}}
func.func private @portable_attention_index() attributes {schedule = #swage.portable_attention_schedule<warps = 4, atoms = 2, keys = 48, stages = 2, patience = 8, holds_query = false, section = 16777216, tail = 1, index = 8>}

// -----

// expected-error @+1 {{stages is 1, but must be at least 2}}
func.func private @decode_stages() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 1, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32>}

// -----

// expected-error @+1 {{warps is 0, but must be a power of two up to 16}}
func.func private @decode_no_warps() attributes {schedule = #swage.decode_schedule<warps = 0, keys = 128, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32>}

// -----

// expected-error @+1 {{keys is 0, but must be in 1..512}}
func.func private @decode_no_keys() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 0, stages = 2, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, chunk = 64>}

// -----

// expected-error @+1 {{keys is 96, but must be a multiple of 16 for each of 8 warps}}
func.func private @decode_keys() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 96, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32>}

// -----

// expected-error @+1 {{spans is 0, but must be in 1..65536}}
func.func private @decode_spans() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 0, bulk = true, index = 32>}

// -----

// expected-error @+1 {{chunk is 192, but must be a multiple of 128 keys up to 1048576, or 0}}
func.func private @decode_chunk() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, chunk = 192>}

// -----

// expected-error @+1 {{chunk is 2097152, but must be a multiple of 128 keys up to 1048576, or 0}}
func.func private @decode_long_chunk() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, chunk = 2097152>}

// -----

// expected-error @+1 {{parts is 3, but must divide spans, without chunks}}
func.func private @decode_parts() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, parts = 3>}

// -----

// expected-error @+1 {{parts is 2, but must divide spans, without chunks}}
func.func private @decode_parts_of_chunks() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, chunk = 128, parts = 2>}

// -----

// expected-error @+1 {{parts is 32, but must be in 1..16}}
func.func private @decode_many_parts() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, parts = 32>}

// -----

// expected-error @+1 {{parts is 0, but must be in 1..16}}
func.func private @decode_no_parts() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = true, index = 32, parts = 0>}

// -----

// expected-error @+1 {{blocks is 9, but must be in 1..8}}
func.func private @decode_blocks() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 9, spans = 128, bulk = true, index = 32>}

// -----

// expected-error @+1 {{linear copies are the copy engine's, but bulk is false}}
func.func private @decode_linear() attributes {schedule = #swage.decode_schedule<warps = 8, keys = 128, stages = 3, patience = 8, blocks = 1, spans = 128, bulk = false, index = 32, linear = true>}
