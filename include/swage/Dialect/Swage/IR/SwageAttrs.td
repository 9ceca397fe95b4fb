//===- SwageAttrs.td - Attributes of the swage dialect --------------------===//
//
// Reduction kinds, operand views and schedules. A schedule is plain data: printable, parseable, hashable, editable by
// hand in a .mlir file; `swage-select-schedule` fills it in and the emitter only prints it.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_SWAGEATTRS_TD
#define SWAGE_DIALECT_SWAGE_IR_SWAGEATTRS_TD

include "swage/Dialect/Swage/IR/SwageDialect.td"

def Swage_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines elements", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Mean", 3, "mean">]> {
  let cppNamespace = "::swage";
}

def Swage_Collective : I32EnumAttr<"Collective", "what a kernel computes over its reduced dimensions", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Mean", 3, "mean">,
    I32EnumAttrCase<"LayerNorm", 4, "layer_norm">, I32EnumAttrCase<"RmsNorm", 5, "rms_norm">,
    I32EnumAttrCase<"Softmax", 6, "softmax">, I32EnumAttrCase<"LogSoftmax", 7, "log_softmax">,
    I32EnumAttrCase<"AbsMax", 8, "abs_max">]> {
  let cppNamespace = "::swage";
}

def Swage_Phase : I32EnumAttr<"Phase", "a step of a kernel that has a scalar function of its own", [
    I32EnumAttrCase<"Body", 0, "body">, I32EnumAttrCase<"Prologue", 1, "prologue">,
    I32EnumAttrCase<"Epilogue", 2, "epilogue">, I32EnumAttrCase<"Finish", 3, "finish">,
    I32EnumAttrCase<"Between", 4, "between">, I32EnumAttrCase<"GroupFinish", 5, "group_finish">,
    I32EnumAttrCase<"Bounds", 6, "bounds">, I32EnumAttrCase<"Inside", 7, "inside">,
    I32EnumAttrCase<"Agree", 8, "agree">, I32EnumAttrCase<"Alike", 9, "alike">,
    I32EnumAttrCase<"Sink", 10, "sink">, I32EnumAttrCase<"Offset", 11, "offset">,
    I32EnumAttrCase<"Exponent", 12, "exponent">,
    I32EnumAttrCase<"NearExponent", 13, "near_exponent">, I32EnumAttrCase<"Weight", 14, "weight">,
    I32EnumAttrCase<"Probability", 15, "probability">, I32EnumAttrCase<"Query", 16, "query">,
    I32EnumAttrCase<"Place", 17, "place">, I32EnumAttrCase<"KeyRow", 18, "key_row">,
    I32EnumAttrCase<"ValueRow", 19, "value_row">]> {
  let cppNamespace = "::swage";
}

def Swage_Access : I32EnumAttr<"Access", "how an operand is read along the vectorised dimension, or where points are counted through", [
    I32EnumAttrCase<"Vector", 0, "vector">, I32EnumAttrCase<"Splat", 1, "splat">,
    I32EnumAttrCase<"Gather", 2, "gather">, I32EnumAttrCase<"Transposed", 3, "transposed">,
    I32EnumAttrCase<"Staged", 4, "staged">, I32EnumAttrCase<"Aligned", 5, "aligned">,
    I32EnumAttrCase<"Shifted", 6, "shifted">, I32EnumAttrCase<"Anywhere", 7, "anywhere">,
    I32EnumAttrCase<"Boxed", 8, "boxed">,
    I32EnumAttrCase<"StagedInStep", 9, "staged_in_step">, I32EnumAttrCase<"Tiled", 10, "tiled">]> {
  let cppNamespace = "::swage";
}

def Swage_RowClass : I32EnumAttr<"RowClass", "who works on one row", [
    I32EnumAttrCase<"Group", 0, "group">, I32EnumAttrCase<"Block", 1, "block">,
    I32EnumAttrCase<"Looped", 2, "looped">, I32EnumAttrCase<"Column", 3, "column">]> {
  let cppNamespace = "::swage";
}

def Swage_Source : I32EnumAttr<"Source", "where an input's elements come from, or what an output's are", [
    I32EnumAttrCase<"Memory", 0, "memory">, I32EnumAttrCase<"Coordinate", 1, "coordinate">,
    I32EnumAttrCase<"Random", 2, "random">, I32EnumAttrCase<"Row", 3, "row">,
    I32EnumAttrCase<"CircularRow", 4, "circular_row">, I32EnumAttrCase<"PagedRow", 5, "paged_row">,
    I32EnumAttrCase<"Shared", 6, "shared">]> {
  let cppNamespace = "::swage";
}

def Swage_PermuteClass : I32EnumAttr<"PermuteClass", "how a permutation moves its elements", [
    I32EnumAttrCase<"Runs", 0, "runs">, I32EnumAttrCase<"Tiles", 1, "tiles">]> {
  let cppNamespace = "::swage";
}

def Swage_ViewAttr : Swage_Attr<"View", "view"> {
  let summary = "One operand of a kernel: a tensor and the linear access that reads or writes it";
  let description = [{
    `tensor` is the position of the tensor among the launch's operands (for an input) or results (for an output); several
    views may share one tensor. `shape` maps the kernel's runtime sizes to the tensor's extents; `access` maps iteration
    coordinates and sizes to an element offset, linear in the coordinates; `align` is the alignment in bytes that the base
    pointer is known to have.

    An input may be computed instead of read. `source = coordinate`: the element is the offset itself, as i32; there is no tensor (-1).
    `source = random`: the element is 32 random bits, as i32, of the Philox stream that the tensor, two i64 (seed, offset), starts; the offset of
    `access` is the position in the stream.

    `extents`, one for each dimension of the iteration space, are those that the access is for where they are not the kernel's: attention's keys and values may
    be in pages (`swage.pages`). Then Batch counts the pages of a pool and Key the positions of a page in their views, and Key the entries of a sequence's table
    in that of the table, which is input 3. Queries, and new keys and values, may be made in pieces, halves or alternating columns: HeadDim or ValueDim counts
    within a piece.

    `source = shared`: attention's queries that the kernel makes itself, in shared memory; there is no tensor (-1). Outputs of this source are what input 0 is made of.

    An output may say where the output in front of it goes, of which only some rows are written. `source = row`: the element, as i32, is the number of a row;
    `shape` is how many rows there are and how many follow one another from a position, the offset of `access`, which is the same everywhere, what a row adds to
    the other output's offset, and `tensor` an operand of the launch, whose elements the result has where nothing is written. A row that does not exist is not written; with `source = circular_row` numbers
    count modulo the number of rows. With `source = paged_row` the element is page * T + position; `shape` has how many rows there are up to the last page's last
    position, T, and how many rows apart pages begin.

    ```mlir
    #swage.view<tensor = 0, element = f16, shape = affine_map<()[s0] -> (s0, 768)>,
                access = affine_map<(d0, d1)[s0] -> (d0 * 768 + d1)>, align = 16>
    ```
  }];
  let parameters = (ins "int64_t":$tensor, "::mlir::Type":$element, "::mlir::AffineMap":$shape,
                        "::mlir::AffineMap":$access, "int64_t":$align,
                        DefaultValuedParameter<"::swage::Source", "::swage::Source::Memory">:$source,
                        OptionalParameter<"::mlir::AffineMap">:$extents);
  let builders = [AttrBuilder<(ins "int64_t":$tensor, "::mlir::Type":$element, "::mlir::AffineMap":$shape,
                                   "::mlir::AffineMap":$access, "int64_t":$align,
                                   CArg<"::swage::Source", "::swage::Source::Memory">:$source), [{
    return $_get($_ctxt, tensor, element, shape, access, align, source, ::mlir::AffineMap());
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What the access is for, in a kernel of these extents.
    ::mlir::AffineMap getExtentsOr(::mlir::AffineMap kernel) const { return getExtents() ? getExtents() : kernel; }
  }];
}
def Swage_ViewArrayAttr : TypedArrayAttrBase<Swage_ViewAttr, "array of operand views">;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def Swage_PointwiseScheduleAttr : Swage_Attr<"PointwiseSchedule", "pointwise_schedule"> {
  let summary = "Schedule of templates/swage/pointwise.cuh";
  let description = [{
    `threads` a block (a multiple of 32, at most 1024), each moving `unroll` vectors of `vector` elements (a power of two) of the
    innermost dimension. `tail`: vectors are counted over all points, wherever rows end, and the last elements go one
    by one; results must lie as points are counted, and inputs too or be the same along a dimension: these go one by one. `index`: 32 or 64 bits.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$vector, "int64_t":$unroll, "bool":$tail, "int64_t":$index);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Swage_PermuteScheduleAttr : Swage_Attr<"PermuteSchedule", "permute_schedule"> {
  let summary = "Schedule of a permutation: templates/swage/pointwise.cuh for runs, permute.cuh for tiles";
  let description = [{
    `runs`: the innermost dimension is the same on both sides and moves `movement` bytes at a time (1, 2, 4, 8, 16) with
    `unroll` movements a thread. `tiles`: the iteration dimension `transposed` is innermost in the input; `tile_in` by
    `tile_out` elements go through shared memory, `vector_in` and `vector_out` elements an access. The last `merged` dimensions are
    counted as one, along which the results are dense; what is turned is found there by division (IR/TileProblem.h).
  }];
  let parameters = (ins EnumParameter<Swage_PermuteClass>:$kind, "int64_t":$threads, "int64_t":$movement,
                        "int64_t":$unroll, "int64_t":$transposed, "int64_t":$tile_in, "int64_t":$tile_out,
                        "int64_t":$vector_in, "int64_t":$vector_out, "int64_t":$index,
                        DefaultValuedParameter<"int64_t", "1">:$merged);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Swage_BoxScheduleAttr : Swage_Attr<"BoxSchedule", "box_schedule"> {
  let summary = "Schedule of templates/swage/permute_boxes.cuh";
  let description = [{
    A block of `threads` writes `box` points, one number for each dimension, through shared memory. `lanes` threads of a warp (a power of two
    up to 32) write neighbouring vectors, the others neighbouring runs. `skewed`: 4 bytes, or an element, stay free in shared memory
    behind every 128. `index`: 32 or 64 bits. Blocks that follow each other have boxes that do so along dimension `fastest`, then along
    the last one and so on; where it is left out they do as the outputs lie. What follows from these is in IR/BoxLayout.h.
  }];
  let parameters = (ins "int64_t":$threads, ArrayRefParameter<"int64_t">:$box, "int64_t":$lanes, "bool":$skewed,
                        "int64_t":$index, DefaultValuedParameter<"int64_t", "-1">:$fastest);
  let assemblyFormat = [{
    `<` `threads` `=` $threads `,` `box` `=` `[` $box `]` `,` `lanes` `=` $lanes `,` `skewed` `=` $skewed `,` `index` `=` $index
    (`,` `fastest` `=` $fastest^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dimension that blocks count fastest.
    int64_t fastestDim() const { return getFastest() < 0 ? int64_t(getBox().size()) - 1 : getFastest(); }
  }];
}

def Swage_RowScheduleAttr : Swage_Attr<"RowSchedule", "row_schedule"> {
  let summary = "Schedule of templates/swage/row.cuh";
  let description = [{
    `group`: 1 to 32 threads a row and `rows_per_block` rows a block; `block`: one row a block of `threads_per_row` threads;
    both keep the row in registers, `vectors_per_thread` vectors of `vector` elements. `looped`: a block walks a row of any
    length twice; `rows_per_block` of them beside each other, where they are made of runs that are so short that only together they
    fill a cache line; if these are no power of two of vectors rows must come out even (templates/swage/woven_team.cuh). `blocks_per_row` blocks, a cluster, share a row of the classes `block` and `looped`, or the rows of `column`; more than 16 of
    them, which no cluster holds, only of `looped` and of a `column` that is not staged: they meet in memory (templates/swage/crowd.cuh). `column`: the reduced dimension is not innermost; `rows_per_block`
    lanes own `vector` neighbouring positions each, and `threads_per_row` threads of each block share a position's row, each with `vectors_per_thread`
    loads in flight; where these are all there is they stay in registers. `staged`: operands go through shared memory. For `group` and `block`, which
    read and write tensors that are contiguous across a block's rows there by aligned 16-byte accesses; for `looped` and `column`, where what a
    thread reads waits for the second walk; only `shelved_steps` steps of a looped row, if that is not 0, and the others are read again.
    `bypass_l1`: what is read once leaves nothing in L1. `aligned`: vectors begin where memory is aligned and not where the row does, so that
    rows of any length and place take wide accesses (templates/swage/row_aligned.cuh). `resident`: the blocks that a multiprocessor is to
    hold, which bounds their registers; 0: as the compiler likes. `index`: 32 or 64 bits.
  }];
  let parameters = (ins EnumParameter<Swage_RowClass>:$kind, "int64_t":$threads_per_row, "int64_t":$rows_per_block,
                        "int64_t":$vector, "int64_t":$vectors_per_thread, "int64_t":$index,
                        DefaultValuedParameter<"int64_t", "1">:$blocks_per_row,
                        DefaultValuedParameter<"bool", "false">:$staged,
                        DefaultValuedParameter<"int64_t", "0">:$shelved_steps,
                        DefaultValuedParameter<"bool", "false">:$bypass_l1,
                        DefaultValuedParameter<"bool", "false">:$aligned,
                        DefaultValuedParameter<"int64_t", "0">:$resident);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the blocks of a row meet in memory.
    bool meetsInMemory() const;
  }];
}

def Swage_ReduceScheduleAttr : Swage_Attr<"ReduceSchedule", "reduce_schedule"> {
  let summary = "Schedule of templates/swage/reduce.cuh";
  let description = [{
    The kept innermost dimension is spread over `lanes` threads of `vector` elements; `row_groups` groups of threads share
    the reduced dimensions, each with `unroll` loads in flight, and are combined in shared memory. `index`: 32 or 64 bits.
  }];
  let parameters = (ins "int64_t":$lanes, "int64_t":$row_groups, "int64_t":$vector, "int64_t":$unroll, "int64_t":$index);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Swage_TileAttr : Swage_Attr<"Tile", "tile"> {
  let summary = "A view of a kernel that the copy engine reads or writes in boxes";
  let description = [{
    The parameter for the view at `position` among the kernel's inputs, or outputs, is a tensor map and not an address
    (include/swage/Runtime/TensorTile.h). `dims` are the dimensions of the iteration space along which it is laid out, the innermost first; along the
    others the elements are the same, but for one that is all that lies between one of the innermost dimension and the next, and is moved with it. A copy
    moves `box` of each. `swizzle`: bytes of shared memory within which chunks of 16 change
    places, 0, 32, 64 or 128.

    ```mlir
    #swage.tile<output = false, position = 0, dims = [6, 3, 2, 1, 0], box = [64, 128, 1, 1, 1], swizzle = 128>
    ```
  }];
  let parameters = (ins "bool":$output, "int64_t":$position, ArrayRefParameter<"int64_t">:$dims,
                        ArrayRefParameter<"int64_t">:$box, "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` `output` `=` $output `,` `position` `=` $position `,` `dims` `=` `[` $dims `]` `,` `box` `=` `[` $box `]` `,` `swizzle` `=` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

def Swage_AttentionScheduleAttr : Swage_Attr<"AttentionSchedule", "attention_schedule"> {
  let summary = "Schedule of templates/swage/attention_hopper.cuh";
  let description = [{
    `groups` warpgroups of 64 queries each compute, beside one that loads; blocks of `keys` keys and their values come through rings of `stages`, tiles of
    queries through `query_slots` places (up to 4). `patience`: outputs are rescaled where the highest score of a row grows by more than 2^patience only; 0: always.
    `eager`: products with values are waited for in front of the exponentials, not behind them. `holds_query`: queries stay in registers. `dynamic`: blocks
    draw tickets for tiles, instead of taking them in turn. Tiles come one key head after the other, but those of about the last `tail` heads, with no more than
    `section` bytes of keys and values, together, most work first. `index`: 32 or 64 bits. For operands of 8 bits `keys` is a multiple of 32 and patience
    up to 4; after `run` blocks their outputs are added to sums in shared memory, unless it is 0. Where there are too few tiles for all multiprocessors, the
    blocks of a cluster of `parts` (up to 8) share one tile's keys: with one query slot, not dynamic, not of 8 bits. `score_stages`:
    places (up to 2) for what scores read for each query and key, which comes through shared memory, by copies that are under way while so many blocks of keys
    are computed; 0: it is read by elements.
  }];
  let parameters = (ins "int64_t":$groups, "int64_t":$keys, "int64_t":$stages, "int64_t":$query_slots, "int64_t":$patience, "bool":$eager,
                        "bool":$holds_query, "bool":$dynamic, "int64_t":$section, "int64_t":$tail, "int64_t":$index, DefaultValuedParameter<"int64_t", "0">:$run,
                        DefaultValuedParameter<"int64_t", "1">:$parts, DefaultValuedParameter<"int64_t", "0">:$score_stages);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Swage_PortableAttentionScheduleAttr : Swage_Attr<"PortableAttentionSchedule", "portable_attention_schedule"> {
  let summary = "Schedule of templates/swage/attention_portable.cuh";
  let description = [{
    A block computes `warps` times 16 `atoms` queries; blocks of `keys` keys and their values pass through `stages` places. `patience`, `holds_query`, `section`,
    `tail` and `index`: as in `attention_schedule`. The only one for operands of f32.
  }];
  let parameters = (ins "int64_t":$warps, "int64_t":$atoms, "int64_t":$keys, "int64_t":$stages, "int64_t":$patience, "bool":$holds_query,
                        "int64_t":$section, "int64_t":$tail, "int64_t":$index);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Queries of a block.
    int64_t getRows() const { return 16 * getWarps() * getAtoms(); }
  }];
}

def Swage_DecodeScheduleAttr : Swage_Attr<"DecodeSchedule", "decode_schedule"> {
  let summary = "Schedule of templates/swage/attention_decode.cuh";
  let description = [{
    For few queries and many keys: the queries of all heads that share a key head are rows of a matrix, 16 or, with `atoms` of 2, 32 of which are computed together.
    `warps` split a tile of `keys` keys among them; tiles come through `stages` places. The tiles of all sequences and heads, laid end to end, are cut into `spans` as long as each other, one for each block of the
    launch, of which `blocks` share a multiprocessor. `bulk`: the copy engine brings keys and values, not every thread; `linear`: as the bytes that they are in memory, where the
    rows of a head follow each other, and not by boxes of columns. With a `chunk` (0: none) a unit's keys are summed in chunks of so many from its first one on, or of twice as many as
    often as it takes to have 64 of them at most; each is one block's, and their parts are merged in one order, so that results depend neither on `spans` nor on other sequences.
    With `parts` (1: none) each unit, the rows of a key head of a sequence that are computed together, is dealt out to the blocks of a cluster of so many, and `spans` are these times units. `patience` and `index`: as in `attention_schedule`.
  }];
  let parameters = (ins "int64_t":$warps, "int64_t":$keys, "int64_t":$stages, "int64_t":$patience, "int64_t":$blocks, "int64_t":$spans, "bool":$bulk,
                        "int64_t":$index, DefaultValuedParameter<"int64_t", "1">:$atoms, DefaultValuedParameter<"bool", "false">:$linear,
                        DefaultValuedParameter<"int64_t", "0">:$chunk, DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Swage_LaunchAttr : Swage_Attr<"Launch", "launch_geometry"> {
  let summary = "How a prepared kernel is launched and how it takes its block and thread numbers apart";
  let description = [{
    `blocks` maps the kernel's runtime sizes to the number of blocks of `threads` threads, the least of its results; where it gives 0 for a kernel
    that has elements, one block is launched. `spaces` are the lists of extents that the template takes linear positions apart by, each a map from the runtime
    sizes: pointwise: the iteration space in vectors, or with a tail in elements; tiles: in elements, and in tiles; row and reduce: the kept part and the reduced part, with the
    vectorised extent in vectors. `dividers` are the runtime extents that the kernel divides by; the host computes their multipliers. `cluster` blocks
    (1: no clusters) are a cluster; they divide the number of blocks. `overlap`: the kernel waits by itself for the grids before it, so the launch may overlap
    them (programmatic dependent launch). `shared_bytes`: shared memory that the launch asks for, for an arena of more than the 48 KB that a kernel may
    declare; 0: the arena is declared. `tiles`: the views that are read or written through tensor maps, each once. `scratch_bytes`: memory of the
    launch's own, that holds anything; its address comes behind those of the views.
  }];
  let parameters = (ins "::mlir::AffineMap":$blocks, "int64_t":$threads, "::mlir::ArrayAttr":$spaces,
                        "::mlir::AffineMap":$dividers, DefaultValuedParameter<"int64_t", "1">:$cluster,
                        DefaultValuedParameter<"bool", "false">:$overlap,
                        DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
                        OptionalParameter<"::mlir::ArrayAttr">:$tiles,
                        DefaultValuedParameter<"int64_t", "0">:$scratch_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tile of a view, or null: its parameter is an address.
    ::swage::TileAttr tileOf(bool isOutput, int64_t position) const;
  }];
}

#endif
