//===- SwageKernelOps.td - Kernel-level ops -------------------------------===//
//
// What fusion leaves: kernels as symbols, with everything that emission prints in attributes, and launches on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_SWAGEKERNELOPS_TD
#define SWAGE_DIALECT_SWAGE_IR_SWAGEKERNELOPS_TD

include "swage/Dialect/Swage/IR/SwageAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Swage_KernelOp : Swage_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "One CUDA kernel: an iteration space, linear operand accesses, and a scalar body";
  let description = [{
    The body runs once for each point of the iteration space `extents` (a map from the `symbols` runtime sizes to extents). Its
    arguments are the inputs' elements at that point, widened to the type that the body computes in; `swage.yield` gives the elements
    of the outputs. A `swage.collective` in the body combines values over the dimensions `reduced`; an output that does not
    vary along them is written once.

    `multiples` and `limits` are what is promised of the runtime sizes, one number for each: what divides it (1: nothing known), and the
    largest value it takes (0: nothing known). Either is left out where it says nothing, and after scheduling where no decision rests on it.

    `swage-merge-dimensions` lowers the rank, `swage-select-schedule` adds `schedule`, `swage-prepare-for-emission` splits the body
    into `swage.phase` ops and adds `geometry`; then the kernel can be printed as CUDA.

    Constraints: (K1) every access is linear in the coordinates. (K2) the body has one argument for each input. (K3) the yield has one value for each
    output. (K4) reduced dimensions are in range and increasing; there are some exactly if the body has a collective. (K5) the schedule fits
    the kernel: thread counts, divisibility, shared memory. (K6) no access leaves its tensor (checked at launch where sizes are dynamic).
    (K7) multiples and limits have one value for each runtime size; multiples are positive, limits not negative.
    (K8) a tile of the geometry is of a view in memory that the copy engine can move so: contiguous along its first dimension, the same along those that
    it leaves out, addresses and strides multiples of 16 bytes (checked at launch where sizes are dynamic).
    (K9) an output of rows follows one in memory, in a kernel whose schedule is a pointwise one or one of rows as they lie (not aligned, staged or column), or in attention of few queries, whose
    keys and values are then the output's memory, with the new rows.
    (K10) only input 0 of attention may be of source `shared`; exactly then outputs of that source are what it is made of.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$symbols, OptionalAttr<DenseI64ArrayAttr>:$multiples,
                       OptionalAttr<DenseI64ArrayAttr>:$limits, AffineMapAttr:$extents, DenseI64ArrayAttr:$reduced,
                       Swage_ViewArrayAttr:$inputs, Swage_ViewArrayAttr:$outputs,
                       OptionalAttr<AnyAttr>:$schedule, OptionalAttr<Swage_LaunchAttr>:$geometry);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `symbols` $symbols (`multiples` $multiples^)? (`limits` $limits^)? `extents` $extents `reduced` $reduced
    `inputs` $inputs `outputs` $outputs (`schedule` $schedule^)? (`geometry` $geometry^)?
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    swage::ViewAttr getInput(unsigned i) { return mlir::cast<swage::ViewAttr>(getInputs()[i]); }
    swage::ViewAttr getOutput(unsigned i) { return mlir::cast<swage::ViewAttr>(getOutputs()[i]); }
    /// The output that says which rows of output `i` are written, or null: all of it is.
    swage::ViewAttr getRowsOf(unsigned i);
    /// Whether an output is written by rows.
    bool writesRows();
    unsigned getRank() { return getExtents().getNumResults(); }
    /// What an operand would touch outside of its tensor for these runtime sizes; empty if nothing.
    std::string findOutOfBounds(llvm::ArrayRef<int64_t> sizes);
    /// Whether the kernel is attention: it has contractions, or, once it is prepared, had them.
    bool isAttention();
    /// The collectives of the body, in order; and the first of them, or null.
    llvm::SmallVector<swage::CollectiveOp, 4> getCollectives();
    swage::CollectiveOp getCollective();
    /// How many there are, or, once the kernel is prepared, its phases are for.
    unsigned countCollectives();
    /// Whether the last one goes over groups of the row, before and after that.
    bool hasGroups();
    /// The phase of this kind, after `swage-prepare-for-emission`, or null; of `between` the first.
    swage::PhaseOp getPhase(swage::Phase kind);
    /// The phases in front of the second collective, the third, ...
    llvm::SmallVector<swage::PhaseOp, 4> getBetweenPhases();
  }];
  let hasVerifier = 1;
}

def Swage_YieldOp : Swage_Op<"yield", [Pure, Terminator]> {
  let summary = "Ends a kernel body or a phase with the values it gives";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Swage_CollectiveOp : Swage_Op<"collective", [Pure]> {
  let summary = "Combines one value of each point over the kernel's reduced dimensions";
  let description = [{
    Results, with v the value at a point and the row all points that differ in the reduced dimensions only:
    `layer_norm`: ((v - mean) * rstd, mean, rstd); `rms_norm`: (v * rstd, rstd); `softmax`: (exp(v - max) / sum, max, sum); `log_softmax`:
    (v - max - log(sum), max, sum); `sum`, `max`, `min`, `mean`, `abs_max` (of |v|, propagating NaN): (result). All but the first of the norms and
    softmax are the same for the whole row.

    With `zero_rows` a row of softmax that is -inf throughout gives 0 (log_softmax: -inf) in place of NaN.

    `sink`, only of softmax between contractions, is the same for the whole row and one value more of it, for which there is no result: max and sum have it.

    `dims`, only of the last collective of several, are the last of the reduced dimensions where it combines values over these alone.

    `batch_invariant`, only of softmax between contractions: what a row gives does not depend on other dimensions' extents or on other rows (`swage.attention`).

    Example:
    ```mlir
    %n, %mean, %rstd = swage.collective layer_norm %v eps 1.0e-5 : f32 -> f32, f32, f32
    ```
  }];
  let arguments = (ins Swage_Collective:$kind, AnyType:$value, Optional<AnyType>:$sink, OptionalAttr<F64Attr>:$epsilon,
                       OptionalAttr<DenseI64ArrayAttr>:$dims, UnitAttr:$zero_rows, UnitAttr:$batch_invariant);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat = "$kind $value (`sink` $sink^ `:` type($sink))? (`eps` $epsilon^)? (`dims` $dims^)? (`zero_rows` $zero_rows^)? (`batch_invariant` $batch_invariant^)? attr-dict `:` type($value) `->` type($values)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether result `i` varies along the reduced dimensions.
    bool isPerElement(unsigned i) { return i == 0 && swage::hasElementResult(getKind()); }
  }];
}

def Swage_ContractOp : Swage_Op<"contract", [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "Sums products over one reduced dimension";
  let description = [{
        result = sum of lhs * rhs over dimension `dim`

    on tensor cores, so both are rounded to the type of the queries in memory, or, where that is f32, with `tf32` to 11 bits. A kernel has two of them, attention's: queries times keys over the last
    dimension, and, behind a softmax over the one before it, weights times values over that. Keys and values may be integers of 8 bits that
    `arith.sitofp` converts; a weight may be multiplied by factors, which are the same for all of its key's values, and be 0 by `arith.select` where a condition does not hold.

    Example:
    ```mlir
    %s = swage.contract %q, %k dim 6 : f32
    ```
  }];
  let arguments = (ins AnyFloat:$lhs, AnyFloat:$rhs, I64Attr:$dim, UnitAttr:$tf32);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$lhs `,` $rhs `dim` $dim (`tf32` $tf32^)? attr-dict `:` type($result)";
}

def Swage_PhaseOp : Swage_Op<"phase", [IsolatedFromAbove, SingleBlock]> {
  let summary = "One scalar function of a prepared kernel";
  let description = [{
    `loads` and `stores` are positions among the kernel's inputs and outputs. In this order run `prologue`, once per element; the collective;
    for each further one `between`, per element, and the collective; `epilogue`, per element; `finish`, once per row, and `group_finish`, once
    per group of a last collective with `dims`. Arguments of the region: for `between` and `epilogue` first the per-element value, which is the per-element result
    of the collective before, or its operand where it has none; and where `statistics` is set, the row results of the collectives so far, in order. For `finish`
    the row results of all collectives over whole rows, for `group_finish` those of the last. Then the loads. The yield gives: for `prologue` and `between` first
    the collective's operand, then the stores. `access` says how each load, then each store, goes along the innermost dimension. `prologue` and `between` say what the
    kernel does with their values: `prologue for layer_norm eps 1.0e-5`.

    `bounded` are those of its stores, of 8-bit floats, that are given no number beyond the largest one.

    `bounds` runs once per row, before everything: from values that are the same for the whole row it yields two i64, the first position of the row, and
    the position behind the last, whose value may be other than -inf. The others need not be read. In a kernel with contractions neither falls from a query
    to the next, unless they are `scattered`.

    `sink` runs once per row, before everything, and yields the collective's sink in units of the scores that the prologue is handed.

    In a kernel with contractions the prologue is handed the score, and the softmax is of `scale` times its value and what `offset` yields, which is the same for
    all keys that a thread has of a block; `tf32` is that of its contractions; `inside` is the prologue for positions within the bounds of all rows at hand. `agree` yields two i64, one of the query and one of the key (documents, say), that are equal where the prologue is not -inf, and
    `alike` is `inside` where they are.
    `exponent` may stand for `alike`, or where nothing has to agree for `inside`, for scores of at most `reach` in magnitude. It is handed a score and a number, and
    yields the binary logarithm of the weight plus that number; it rises with the score, and with the key throughout or nowhere.
    `near_exponent` is the same in fewer instructions, within a `reach` of its own, and the same for all queries; one query's `offset` is above another's by as much for all keys.
    `weight` is handed a weight, which counts in the sum of weights as it is, and yields what values are multiplied by.
    `probability` is handed a weight divided by that sum, and yields it for the one output that has an element for each query and key.
    `query` makes queries, `key_row` and `value_row` new keys and values, each along its head dim; `place` yields for each query the rows of the caches that these go to,
    which are one number.
  }];
  let arguments = (ins Swage_Phase:$kind, OptionalAttr<Swage_Collective>:$collective, OptionalAttr<F64Attr>:$epsilon, OptionalAttr<F64Attr>:$scale, OptionalAttr<F64Attr>:$reach,
                       UnitAttr:$zero_rows, UnitAttr:$tf32, UnitAttr:$statistics, UnitAttr:$scattered, DenseI64ArrayAttr:$loads, DenseI64ArrayAttr:$stores, DenseI64ArrayAttr:$access,
                       OptionalAttr<DenseI64ArrayAttr>:$bounded);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The phases of the collectives whose row results the template can hand to this one.
    llvm::SmallVector<swage::PhaseOp, 4> getPhasesBehind();
  }];
  let assemblyFormat = "$kind (`for` $collective^)? (`eps` $epsilon^)? (`scale` $scale^)? (`within` $reach^)? (`zero_rows` $zero_rows^)? (`tf32` $tf32^)? (`statistics` $statistics^)? (`scattered` $scattered^)? `loads` $loads `stores` $stores `access` $access (`bounded` $bounded^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Swage_LaunchOp : Swage_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                        AttrSizedOperandSegments]> {
  let summary = "Runs a kernel on tensors";
  let description = [{
    `sizes` are the kernel's runtime sizes, in the order of its symbols.

    Constraints: (L1) the kernel exists. (L2) sizes, operands and results agree with its symbols and views in number, element type and static
    extents.

    Example:
    ```mlir
    %y = swage.launch @pointwise_add_1f0c9a2b [%n] (%a, %b) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Index>:$sizes, Variadic<Swage_Tensor>:$tensors);
  let results = (outs Variadic<Swage_Tensor>:$outputs);
  let assemblyFormat = [{
    $kernel (`[` $sizes^ `]`)? `(` $tensors `)` attr-dict `:` functional-type($tensors, results)
  }];
}

#endif
