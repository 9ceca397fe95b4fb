//===- SwageOps.td - Graph-level ops --------------------------------------===//
//
// Structured ops on tensors. Each states its semantics, labelled constraints that the verifier and the negative tests
// cite, and an example that the reference interpreter runs.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_SWAGEOPS_TD
#define SWAGE_DIALECT_SWAGE_IR_SWAGEOPS_TD

include "swage/Dialect/Swage/IR/SwageAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

def Swage_LayerNormOp : Swage_Op<"layer_norm", [Pure, AttrSizedOperandSegments]> {
  let summary = "Normalises trailing dimensions to zero mean and unit variance";
  let description = [{
    With `row` a slice of `x` over the dimensions `axis..rank-1` and n its size:

        mean = sum(row) / n     rstd = 1 / sqrt(sum((row - mean)^2) / n + eps)
        result = (row - mean) * rstd * gamma + beta

    `gamma` and `beta` may be left out. The statistics `mean` and `rstd` are optional results, given together, in f32 (f64 for
    an f64 `x`). A row that holds an infinity or NaN gives NaN, its statistics too, as in PyTorch. Equal
    elements have that element as their mean, exactly.

    Constraints: (C1) 0 <= axis < rank(x). (C2) gamma has the shape of the normalised dimensions. (C3) so has beta. (C4) result has
    the shape of x. (C5) there are no statistics or two, of the shape of the dimensions before axis. (C6) the statistics are f32, or f64 for an
    f64 x. (C7) eps >= 0.

    Example:
    ```mlir
    %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5
        : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Swage_FloatTensor:$x, Optional<Swage_FloatTensor>:$gamma, Optional<Swage_FloatTensor>:$beta,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Swage_FloatTensor:$result, Variadic<Swage_FloatTensor>:$stats);
  let assemblyFormat = [{
    $x (`gamma` $gamma^)? (`beta` $beta^)? `axis` $axis `eps` $epsilon attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The mean result, or null.
    mlir::Value getMean() { return getStats().empty() ? mlir::Value() : getStats()[0]; }
    /// The reciprocal standard deviation result, or null.
    mlir::Value getRstd() { return getStats().empty() ? mlir::Value() : getStats()[1]; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Swage_RmsNormOp : Swage_Op<"rms_norm", [Pure]> {
  let summary = "Divides trailing dimensions by their root mean square";
  let description = [{
    With `row` a slice of `x` over the dimensions `axis..rank-1` and n its size:

        rstd = 1 / sqrt(sum(row^2) / n + eps)     result = row * rstd * gamma

    `gamma` may be left out; `rstd` is an optional result in f32 (f64 for an f64 `x`).

    Constraints: (C1) 0 <= axis < rank(x). (C2) gamma has the shape of the normalised dimensions. (C3) result has the shape of x.
    (C4) there is at most one statistic, of the shape of the dimensions before axis. (C5) it is f32, or f64 for an f64 x. (C6) eps >= 0.

    Example:
    ```mlir
    %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Swage_FloatTensor:$x, Optional<Swage_FloatTensor>:$gamma, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Swage_FloatTensor:$result, Variadic<Swage_FloatTensor>:$stats);
  let assemblyFormat = [{
    $x (`gamma` $gamma^)? `axis` $axis `eps` $epsilon attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The reciprocal root mean square result, or null.
    mlir::Value getRstd() { return getStats().empty() ? mlir::Value() : getStats()[0]; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Swage_SoftmaxOp : Swage_Op<"softmax", [Pure]> {
  let summary = "Exponentials along one axis, divided by their sum";
  let description = [{
        result = exp(s - max(s)) / sum(exp(s - max(s)))     with s = scale * x, along `axis`

    `scale` is 1 where it is left out. With `log` the result is s - max(s) - log(sum(exp(s - max(s)))). Where `mask` is false the element is
    left out: its result is 0 (-inf with `log`), whatever x holds there. A row whose elements are masked or -inf throughout gives 0 (-inf), or NaN
    with `nan_rows`. Without a mask a row that is -inf throughout gives NaN, as in PyTorch; a row that holds +inf or NaN where it is not masked gives NaN in
    any case, its masked elements included. The optional statistic is log(sum(exp(s))), of the elements that count, in f32 (f64 for an f64 `x`): -inf for
    a row that is masked or -inf throughout, NaN for one that gives NaN for another reason.

    A mask that is a comparison of `swage.iota` along axis with something that is the same for the whole row (a causal or sliding window, lengths) bounds
    what is read: elements beyond it are not.

    Constraints: (C1) 0 <= axis < rank(x). (C2) result has the shape of x. (C3) so has mask. (C4) there is at most one statistic, of the shape of x without
    axis. (C5) it is f32, or f64 for an f64 x. (C6) nan_rows comes with a mask.

    Example:
    ```mlir
    %y = swage.softmax %x axis 1 scale 0.125 : tensor<4x8xf32> -> tensor<4x8xf32>
    %p, %lse = swage.softmax %x mask %m axis 1 : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4x8xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Swage_FloatTensor:$x, Optional<RankedTensorOf<[I1]>>:$mask, I64Attr:$axis, OptionalAttr<F64Attr>:$scale,
                       UnitAttr:$log, UnitAttr:$nan_rows);
  let results = (outs Swage_FloatTensor:$result, Variadic<Swage_FloatTensor>:$stats);
  let assemblyFormat = [{
    $x (`mask` $mask^)? `axis` $axis (`scale` $scale^)? (`log` $log^)? (`nan_rows` $nan_rows^)? attr-dict
    `:` type($x) (`,` type($mask)^)? `->` type($result) (`,` type($stats)^)?
  }];
  let extraClassDeclaration = [{
    /// The log-sum-exp result, or null.
    mlir::Value getLogSumExp() { return getStats().empty() ? mlir::Value() : getStats()[0]; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Matrix products and attention
//===----------------------------------------------------------------------===//

def Swage_MatmulOp : Swage_Op<"matmul", [Pure]> {
  let summary = "Products of matrices";
  let description = [{
        result[.., i, j] = sum_k a[.., i, k] * b[.., k, j]     or b[.., j, k] with `transpose_b`

    for each index of the leading dimensions. Sums are f32 (f64 for f64 operands). There is no kernel for it but as a part of attention, which
    `swage-recognize` makes of two with a softmax between them.

    Constraints: (C1) a, b and result have one rank, at least 2. (C2) a and b have one element type. (C3) a, b and result agree in the leading
    dimensions. (C4) b has as many rows (columns with transpose_b) as a has columns. (C5) result has the rows of a and the columns of b (rows with
    transpose_b).

    Example:
    ```mlir
    %y = swage.matmul %a, %b transpose_b : (tensor<1x2x3xf32>, tensor<1x4x3xf32>) -> tensor<1x2x4xf32>
    ```
  }];
  let arguments = (ins Swage_FloatTensor:$a, Swage_FloatTensor:$b, UnitAttr:$transpose_b);
  let results = (outs Swage_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b (`transpose_b` $transpose_b^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Swage_AttentionOp : Swage_Op<"attention", [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "Averages of values, weighted by the softmax of the scores of queries and keys";
  let description = [{
    `q` is [.., Hq, Sq, D], `k` [.., Hk, Sk, D] and `v` [.., Hk, Sk, Dv]. Query head h reads the keys and values of head h / (Hq / Hk).

        s_ij = score(scale * sum_d q_id k_jd, b.., h, i, j), or -inf where mask(b.., h, i, j) is false
        result_i = sum_j weight(b.., h, i, j) w_ij v_j     with w_ij = exp(s_ij - max_j s_ij) / sum_j exp(s_ij - max_j s_ij)

    `scale` is 1 where it is left out. The regions `score`, which changes a score, `mask` and `weight`, which is 1 where it is left out, are optional. Their
    coordinates have type `index`: the leading dimensions, the query head, the query and the key. Scores are f32 (f64 for f64 operands). The regions may use scalars of the function around them, and
    its tensors by `tensor.extract`, which stays inside the tensor for all coordinates, masked or not.

    `weight` is what a weight is multiplied by behind the softmax, whose sum and statistic do not know it: dropout, say, by what `swage.random` gives for a score. What it gives for
    a score that is masked or -inf does not count. A factor that is no number, or whose magnitude is above 2^119 (255 for f16 operands), may make the result NaN or infinite.

    Operands of f8E4M3FN stand for numbers of theirs times factors of whole tensors or heads: score takes those of q and k, a product with the result that of v.
    Where few queries share a head of keys, k and v may be of 8 bits although q has 16: `arith.sitofp` or `arith.extf` of a tensor of i8, f8E4M3FN or f8E5M2, with products by
    constants and by what `swage.broadcast` gives all of D, and `arith.truncf`, are then not stored. There D and Dv may be up to 576 (elsewhere 256); and v may be `swage.slice` of k, its
    first columns, which are then read once; and k of 16 bits may be `swage.permute` and `swage.reshape` of [.., Hk, D / 8, Sk, 8], which is read where it is.
    Products of f32 are those of two parts of 11 bits (docs/numerics.md), and with `tf32` those of the first 11 bits, which are up to three times as fast: queries and
    weights are then within 2^-11 of themselves, keys and values within 2^-10. A finite query, key or value from 2^128 - 2^116 on may count as infinite.

    A row that is masked or -inf throughout gives 0, or NaN with `nan_rows`. A row with a score of +inf or NaN that is not masked gives NaN; where it is masked, q, k and score do
    not matter. An infinity or NaN in v counts where its weight is not 0; where it is 0, whether by the mask or because exp is too small, the result may be
    NaN. Keys that no query sees by what `mask` compares their position with (a length, a window) never count, whatever k and v hold there. The optional statistic is log(sum_j exp(s_ij)): -inf for a row that is masked or -inf throughout, NaN for one that gives NaN by its scores.

    `sinks` gives each query head a score more, of a value of zeros, which only divides: w_ij = exp(s_ij - m) / (exp(sink_h - m) + sum_j exp(s_ij - m)). The
    statistic has it in its sum. With sinks a row that is masked or -inf throughout gives 0, and its statistic is the sink. A sink is finite or -inf, which
    is none; another one may give NaN or 0.

    The optional probabilities are the weights w_ij, sinks in their sum and before `weight` multiplies them: exp(s_ij - statistic_i). They are 0 for a key
    that is masked or -inf, and for all keys of a row of such ones (NaN with `nan_rows`, unless there are sinks); a row that gives NaN by its scores has NaN for all keys.
    There is a kernel for them where few queries (at most 16, and 256 that share a head of keys) of 16 bits are multiplied.

    With `batch_invariant` the bits of what a sequence (an index of the leading dimensions) gives depend on its own operands and on what the regions read for
    it alone: not on how many sequences there are, where among them it is, how long the others are, or how many multiprocessors share the work. That holds among kernels for the same GPU architecture and
    element types, of the same D, Dv, Sq and number of query heads that share a key head, all of them known.

    Constraints: (C1) q, k and v have one rank, at least 3. (C2) they have one element type. (C3) they agree in the leading dimensions. (C4) q's heads are a
    multiple of k's, v has k's. (C5) k has the D of q, v the Sk of k. (C6) result is [.., Hq, Sq, Dv]. (C7) there is at most one statistic, [.., Hq, Sq],
    and behind it there may be probabilities, [.., Hq, Sq, Sk]. (C8) both are f32, or f64 for f64 operands. (C9) scale is positive and finite. (C10) score takes a score and one index for each dimension of q, and
    yields a score. (C11) mask takes the indices and yields an i1. (C12) the regions hold ops of arith and math on scalars, constants and `tensor.extract`.
    (C13) sinks is [Hq]. (C14) weight takes the indices and yields what a score is; operands of f8E4M3FN have none. (C15) with tf32 operands are f32.

    Example:
    ```mlir
    %o = swage.attention %q, %k, %v scale 0.5 score {
    ^bb0(%s: f32, %h: index, %i: index, %j: index):
      %b = tensor.extract %bias[%h, %j] : tensor<2x5xf32>
      %t = arith.addf %s, %b : f32
      swage.yield %t : f32
    } mask {
    ^bb0(%h: index, %i: index, %j: index):
      %m = arith.cmpi sle, %j, %i : index
      swage.yield %m : i1
    } : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x2xf32>) -> tensor<2x3x2xf32>
    ```
  }];
  let arguments = (ins Swage_FactorTensor:$q, Swage_FactorTensor:$k, Swage_FactorTensor:$v,
                       Optional<Swage_FloatTensor>:$sinks, OptionalAttr<F64Attr>:$scale, UnitAttr:$nan_rows, UnitAttr:$batch_invariant,
                       UnitAttr:$tf32);
  let results = (outs Swage_FloatTensor:$result, Variadic<Swage_FloatTensor>:$stats);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask, MaxSizedRegion<1>:$weight);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`sinks` $sinks^)? (`scale` $scale^)? (`nan_rows` $nan_rows^)? (`batch_invariant` $batch_invariant^)? (`tf32` $tf32^)?
    (`score` $score^)? (`mask` $mask^)? (`weight` $weight^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The log-sum-exp result, or null.
    mlir::Value getLogSumExp();
    /// The result of probabilities, or null: of those beside the first it has the rank of q.
    mlir::Value getProbabilities();
    /// The type in which scores and statistics are: f32, or f64 for f64 operands.
    mlir::FloatType getScoreType();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Swage_ReduceOp : Swage_Op<"reduce", [Pure]> {
  let summary = "Combines the elements along some dimensions";
  let description = [{
    `sum`, `max`, `min` or `mean` over `dims`; the other dimensions stay, in order. `max` and `min` propagate NaN. The sum of nothing is 0,
    its mean NaN, its max -inf (the type's minimum for integers), its min +inf (the maximum).

    Constraints: (C1) dims are in 0..rank-1 and strictly increasing. (C2) there is at least one. (C3) result has the shape of the remaining
    dimensions. (C4) both element types are floats, or both are i32 and the kind is not mean.

    Example:
    ```mlir
    %y = swage.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Swage_ReduceKind:$kind, Swage_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$kind $x `dims` $dims attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Index ops: they move or repeat elements and never change them
//===----------------------------------------------------------------------===//

def Swage_PermuteOp : Swage_Op<"permute", [Pure]> {
  let summary = "Reorders dimensions";
  let description = [{
        result[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...]

    so the result's dimension k is x's dimension `permutation[k]`.

    Constraints: (C1) permutation is a permutation of 0..rank-1. (C2) the result's dimension k has the extent of x's dimension
    permutation[k]. (C3) the element types agree.

    Example:
    ```mlir
    %y = swage.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Swage_ReshapeOp : Swage_Op<"reshape", [Pure]> {
  let summary = "Gives the elements, in row-major order, another shape";
  let description = [{
    `sizes` gives the result's dynamic extents, in order. It may be left out where at most one extent is dynamic, and where the dynamic
    extents are x's own: x and result have equally many, and between two of them the static extents have the same product, as in
    `tensor<?x?x768xf32> -> tensor<?x?x12x64xf32>`.

    Constraints: (C1) x and result have the same number of elements (checked at run time where extents are dynamic). (C2) the element
    types agree. (C3) sizes has one value for each dynamic extent of the result, or none where there is at most one or they are x's own.

    Example:
    ```mlir
    %y = swage.reshape %x : tensor<4x8xf32> -> tensor<4x2x4xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$x, Variadic<Index>:$sizes);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$x (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($x) `->` type($result)";
  let extraClassDeclaration = [{
    /// Whether the dynamic extents of `result` are those of `x`, in order, wherever no sizes say otherwise.
    static bool keepsDynamicExtents(mlir::ShapedType x, mlir::ShapedType result);
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Swage_BroadcastOp : Swage_Op<"broadcast", [Pure]> {
  let summary = "Repeats elements along new or size-1 dimensions";
  let description = [{
    x's dimension k becomes the result's dimension `dims[k]`; the other dimensions of the result repeat x, and so does a
    dimension in which x has extent 1. `sizes` gives the result's dynamic extents, in order; it may be left out where each of them is
    x's own.

    Constraints: (C1) dims has one entry for each dimension of x. (C2) dims are in 0..rank(result)-1 and strictly increasing. (C3) x's extent
    k is a static 1 or the result's extent dims[k] (checked at run time where it is dynamic). (C4) the element types agree. (C5) sizes has one value for each dynamic extent of the result, or none
    where each comes from x.

    Example:
    ```mlir
    %y = swage.broadcast %x dims [1] : tensor<8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$x, DenseI64ArrayAttr:$dims, Variadic<Index>:$sizes);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$x `dims` $dims (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Swage_SliceOp : Swage_Op<"slice", [Pure]> {
  let summary = "Takes every step-th element of a range of one axis";
  let description = [{
        result[.., i, ..] = x[.., from + i * step, ..]     0 <= i < size, along `axis`

    Constraints: (C1) 0 <= axis < rank(x). (C2) from >= 0, size >= 0, step >= 1 and from + (size - 1) * step is inside x's extent, which is
    static. (C3) result has the shape of x with extent size at axis. (C4) the element types agree.

    Example:
    ```mlir
    %y = swage.slice %x axis 1 from 4 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$x, I64Attr:$axis, I64Attr:$from, I64Attr:$size,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$x `axis` $axis `from` $from `size` $size (`step` $step^)? attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Swage_ConcatOp : Swage_Op<"concat", [Pure]> {
  let summary = "Joins equal-shaped tensors along one axis";
  let description = [{
    The operands stand one after another along `axis`. They have one type, so that one kernel can write them all.

    Constraints: (C1) there is at least one operand. (C2) 0 <= axis < rank. (C3) the operands have one type, static at axis. (C4) result
    has their shape with the extent at axis times their number. (C5) the element types agree.

    Example:
    ```mlir
    %y = swage.concat %a, %b axis 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins Variadic<Swage_Tensor>:$parts, I64Attr:$axis);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$parts `axis` $axis attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Swage_PagesOp : Swage_Op<"pages", [Pure]> {
  let summary = "Strings together the pages of a pool that a table names";
  let description = [{
        result[b.., h.., j, d] = pool[table[b.., j / T], h.., j mod T, d]     pool: [P, h.., T, D], table: [b.., N]

    as caches of keys and values are kept that grow page by page: each sequence b has a list of N pages, of T positions each, anywhere in a pool of P. What the
    table has outside of 0 .. P-1 names no page, and stands for T positions of zeros. Attention of few queries reads through the table; no other kernel does yet.

    Constraints: (C1) pool has rank 3 at least. (C2) table has rank 1 at least, and element type i32. (C3) T is static and positive. (C4) result is
    [b.., h.., N * T, D]. (C5) the element types of pool and result agree.

    Example:
    ```mlir
    %k = swage.pages %pool, %table : (tensor<9x2x16x4xf32>, tensor<1x3xi32>) -> tensor<1x2x48x4xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$pool, RankedTensorOf<[I32]>:$table);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$pool `,` $table attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// T.
    int64_t getPageSize() {
      auto pool = mlir::cast<mlir::RankedTensorType>(getPool().getType());
      return pool.getDimSize(pool.getRank() - 2);
    }
  }];
  let hasVerifier = 1;
}

def Swage_AppendOp : Swage_Op<"append", [Pure, AllTypesMatch<["cache", "result"]>]> {
  let summary = "Replaces rows of a cache, from a position that a tensor gives for each sequence";
  let description = [{
        result[b, .., r, ..] = rows[b, .., s, ..]     r = positions[b] + s, along `axis`, 0 <= s < S
        result[b, .., r, ..] = cache[b, .., r, ..]    where no s has this r

    as new keys and values are added to those of the tokens before: L rows along `axis` of the cache, S in `rows`, and b counts along the first dimension. A row
    number outside of 0 .. L-1 is written nowhere, so that a sequence that has ended is left alone by a position of -S or L. With `circular`, row numbers count
    modulo L (the remainder is not negative), as a window that slides keeps its L latest rows. Row numbers are sums of 32 bits, which wrap. A position for
    all sequences has rank 0, or is a single one.

    With `paged` the cache is a pool of pages, whose first dimension counts them, as `swage.pages` reads, and each row has a place of its own in it:

        result[p, .., t, ..] = rows[b, .., s, ..]     places[b, s] = p * T + t, t along `axis`, which has T positions, 0 <= t < T

    `positions` are then these places, [B, S], or [B] where S is 1. A place of no page (-1) is written nowhere; where several rows have one place, any of them
    is there.

    Where the result is the memory of the cache (`swage.alias`), only the rows are written, by a kernel that takes in what computes them. Otherwise the cache is
    copied there first.

    Constraints: (C1) 0 <= axis < rank(cache). (C2) positions has rank 0 or 1; the extent of rank 1 is 1, or that of the cache's first dimension, which then is not
    `axis`. (C3) rows has the shape of cache, except S <= L at axis. (C4) the element types of cache and rows agree, and result has the type of cache. (C5) with
    `paged` axis is not 0 and its extent, T, is static and positive; rows has the shape of cache but for B and S; positions is [B, S], or [B] where S is 1; there is
    no `circular`.

    Example:
    ```mlir
    %k = swage.append %cache, %new at %positions axis 1 : (tensor<2x4x8xf32>, tensor<2x1x8xf32>, tensor<2xi32>) -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$cache, Swage_Tensor:$rows, RankedTensorOf<[I32]>:$positions, I64Attr:$axis, UnitAttr:$circular, UnitAttr:$paged);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = [{
    $cache `,` $rows `at` $positions `axis` $axis (`circular` $circular^)? (`paged` $paged^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The dimensions of rows that positions has.
    llvm::SmallVector<unsigned, 2> getPositionDims();
    /// Whether each sequence has a position of its own.
    bool isPerSequence() {
      auto type = mlir::cast<mlir::RankedTensorType>(getPositions().getType());
      return type.getRank() == 1 && type.getDimSize(0) != 1;
    }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Swage_IotaOp : Swage_Op<"iota", [Pure]> {
  let summary = "Each element is its own coordinate along one dimension";
  let description = [{
        result[i_0, i_1, ...] = i_dim

    With it a mask is an expression: `arith.cmpi ule` of two of them is causal, of one and a tensor of lengths a padding mask. Fused, it reads nothing.
    `sizes` gives the result's dynamic extents, in order.

    Constraints: (C1) 0 <= dim < rank(result). (C2) sizes has one value for each dynamic extent of the result.

    Example:
    ```mlir
    %j = swage.iota dim 1 : tensor<4x8xi32>
    ```
  }];
  let arguments = (ins I64Attr:$dim, Variadic<Index>:$sizes);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "`dim` $dim (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Swage_RandomOp : Swage_Op<"random", [Pure]> {
  let summary = "Reproducible random bits for each element";
  let description = [{
    With n the row-major position of an element in the result and (seed, offset) the two elements of `state`:

        result[n] = word (n mod 4) of philox4x32_10(counter = offset + n / 4, key = seed)

    where offset + n / 4 wraps at 2^64 and is the lower half of the 128-bit counter, whose upper half is 0, and seed the 64-bit key; the four words that a
    counter gives, those of the counter and those of the key count from the least significant one (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
    SC 2011). `sizes` gives the result's dynamic extents, in order. A dropout that keeps with probability q compares the bits, unsigned, with q * 2^32.

    Constraints: (C1) state is tensor<2xi64>. (C2) sizes has one value for each dynamic extent of the result.

    Example:
    ```mlir
    %r = swage.random %state : tensor<2xi64> -> tensor<4x8xi32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$state, Variadic<Index>:$sizes);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$state (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($state) `->` type($result)";
  let hasVerifier = 1;
}

def Swage_CopyOp : Swage_Op<"copy", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Writes a tensor to a buffer of its own";
  let description = [{
        result = x

    Fusion puts one in front of a function result that no kernel would write otherwise: a permuted view, an argument, a value that is
    returned twice.

    Constraints: (C1) result has the type of x.

    Example:
    ```mlir
    %y = swage.copy %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Swage_Tensor:$x);
  let results = (outs Swage_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

include "swage/Dialect/Swage/IR/SwageKernelOps.td"

#endif
