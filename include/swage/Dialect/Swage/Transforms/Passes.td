//===- Passes.td - The passes from a graph to kernels ---------------------===//
//
// In the order in which the pipeline runs them. One pass is one .cpp, one flag and one lit file of the same stem.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_PASSES_TD
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferShapesPass : Pass<"swage-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "Gives results the static extents that their operands imply";
  let description = [{
    First in the order: every later decision is better on static extents. A function's own types stay as they are; a
    `tensor.cast` joins a refined value to them.

    ```mlir
    %0 = swage.permute %x [1, 0] : tensor<4x8xf32> -> tensor<?x?xf32>
    ==>
    %0 = swage.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def MaterializeResultsPass : Pass<"swage-materialize-results", "::mlir::func::FuncOp"> {
  let summary = "Gives a rounded function result that the graph goes on with a value of its own";
  let description = [{
    The very first pass, because folding and CSE may make one value of two: a value that is also an output is used as rounded, an
    equal value that is none is not. Only floats of 8 and 16 bits differ once rounded; arguments, and what
    `swage.append` gives, are rounded already.

    ```mlir
    %s = arith.addf %x, %y ; %n = swage.layer_norm %s ; return %s, %n
    ==>
    %s = arith.addf %x, %y ; %c = swage.copy %s ; %n = swage.layer_norm %c ; return %c, %n
    ```

    It comes a second time, as `folded`, behind folding and CSE: what these have made an output is used as it was.
  }];
  let dependentDialects = ["::swage::SwageDialect"];
  let options = [
    Option<"folded", "folded", "bool", "false", "The function result alone gets the value of its own">,
  ];
}

def RecognizePass : Pass<"swage-recognize", "::mlir::func::FuncOp"> {
  let summary = "Raises decomposed LayerNorm, RMSNorm, softmax, log-softmax and attention to the structured ops";
  let description = [{
    After shape inference and canonicalisation, before fusion: a structured op computes its statistics in one pass over a row on chip,
    which separate reductions cannot. Only what means the same is raised; a near miss (another axis, a missing maximum, a
    biased variance, an intermediate that is used elsewhere and is not a statistic) stays, with a remark that says why.

    Log-softmax is x - max - log(sum), in either order. What a softmax reads may be scaled, and an `arith.select` between it and -inf, on either side,
    is its mask: with `nan_rows`, for a row that is masked throughout was one of -inf. A select of another number, such as -1e4, is no mask.

    Attention is two products of matrices with a softmax between them, whatever moves whole matrices, casts, or repeats heads of keys and values around them.
    What changes scores becomes the region `score`, also a mask of -1e4; a select of -inf, or a sum with one between 0 and -inf, becomes the region `mask`.
    Scores or weights that are used elsewhere, or a softmax along queries, keep the products apart. A cast of weights to the type of the values is
    the rounding that attention does itself, before it divides by their sum instead of after it.

    ```mlir
    %m = swage.reduce max %x dims [1] ... ; broadcast; arith.subf; math.exp; swage.reduce sum ...; broadcast; arith.divf
    ==>
    %y = swage.softmax %x axis 1 : tensor<4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::swage::SwageDialect"];
}

def SplitReducePass : Pass<"swage-split-reduce", "::mlir::func::FuncOp"> {
  let summary = "Splits a reduction that has too few results to fill the GPU into two or three";
  let description = [{
    Before fusion, so that the first half still takes its producers in. The partial results are f32 (f64 and integers keep their type), and their
    number is chosen so that the first half has several blocks for each multiprocessor. Where no such number divides an extent, what as many parts leave over
    is a reduction of its own.

    ```mlir
    %y = swage.reduce sum %x dims [0] : tensor<16384x8192xbf16> -> tensor<8192xbf16>
    ==>
    %p = swage.reduce sum (swage.reshape %x) dims [1] : tensor<64x256x8192xbf16> -> tensor<64x8192xf32>
    %y = swage.reduce sum %p dims [0] : tensor<64x8192xf32> -> tensor<8192xbf16>
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_90a\"", "GPU whose properties count">];
  let dependentDialects = ["::swage::SwageDialect"];
}

def FusePass : Pass<"swage-fuse", "::mlir::ModuleOp"> {
  let summary = "Groups ops into kernels and leaves launches";
  let description = [{
    Elementwise ops, index ops and a few collectives over the same rows, of which the last may be the largest absolute value or the sum of
    integers of groups of them, become one `swage.kernel` as long as one iteration space serves them all and
    each access stays linear in it (legality), and as long as it saves bytes (profitability). What is computed from a concatenation is
    computed from its parts, which a kernel writes where they end up. Equal kernels become one symbol, named by content.
    A remark for every decision, made or refused, names the rule and the bytes that it saves. With `fuse=false` each op becomes a
    kernel of its own, which is what the fused result is compared with.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "group ops; otherwise one kernel an op">];
  let dependentDialects = ["::swage::SwageDialect"];
}

def MergeDimensionsPass : Pass<"swage-merge-dimensions", "::mlir::ModuleOp"> {
  let summary = "Lowers each kernel's iteration space to the least rank that serves all operands";
  let description = [{
    After fusion, because one answer must hold for all operands of a kernel; before the schedule, which looks at the innermost extents.
    Dimensions of extent 1 go, dimensions are ordered by the strides of the outputs, and neighbours that every operand walks as
    one are merged.

    ```mlir
    extents (8, 1024, 768) with accesses d0 * 786432 + d1 * 768 + d2 and d2
    ==>
    extents (8192, 768) with accesses d0 * 768 + d1 and d1
    ```
  }];
}

def SelectSchedulePass : Pass<"swage-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Chooses a template and its parameters for each kernel";
  let description = [{
    A pure function of the kernel and the device properties, which are those of `arch`: no GPU is asked. A kernel that has a schedule
    keeps it. A remark gives the reason. `index` forces the index width in bits; by default it is the least that reaches every offset, where
    a runtime size counts as small enough for 32 bits.

    What the kernel's `multiples` and `limits` promise counts like a number in the module: a size that is a multiple of 8 is moved by vectors of
    8, and a row of bounded length is kept in registers. Promises that no decision rests on are dropped, with what they add to the kernel's name.
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_90a\"", "GPU whose properties count">,
                 Option<"index", "index", "int64_t", "0", "index width in bits; 0 for the least that is enough">];
}

def ApplySchedulesPass : Pass<"swage-apply-schedules", "::mlir::ModuleOp"> {
  let summary = "Gives kernels the schedules that an autotuner found";
  let description = [{
    `schedules` is `kernel=#swage...;kernel=#swage...`. A schedule takes the place of the selected one where it is of the same family and the
    kernel's verifier accepts it; the width of offsets stays the selected one. Otherwise the kernel keeps what it has. A remark tells which.
  }];
  let options = [Option<"schedules", "schedules", "std::string", "\"\"", "schedules by name of kernel">];
}

def PrepareForEmissionPass : Pass<"swage-prepare-for-emission", "::mlir::ModuleOp"> {
  let summary = "Splits bodies into phases and fixes the launch geometry";
  let description = [{
    The last pass that changes IR. The body becomes one `swage.phase` for each scalar function that the template calls; loads and stores are
    dealt out to the phases; `geometry` gets blocks, threads and shared memory. What the emitter prints is all here. Divisions and exponentials
    whose last digits nobody sees get `fastmath<arcp>` and `fastmath<afn>` (docs/numerics.md).

    `overlap` tells which kernels of a function with several launches wait by themselves for the grids before them, where `arch` can (9.0), so
    that their launches may overlap: with `auto` those whose blocks a GPU holds all at once. A kernel that is prepared already keeps its own answer. What `arch` has not, clusters, overlap, or so much
    shared memory, is an error.
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_90a\"", "GPU whose properties count">,
                 Option<"overlap", "overlap", "::swage::Overlap", "::swage::Overlap::Auto", "which kernels may overlap those before them",
                        [{::llvm::cl::values(clEnumValN(::swage::Overlap::Off, "off", "none"), clEnumValN(::swage::Overlap::On, "on", "all"),
                                             clEnumValN(::swage::Overlap::Auto, "auto", "those that are over soon"))}]>];
}

#endif
