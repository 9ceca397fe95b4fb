//===- SwageDialect.td - The swage dialect --------------------------------===//
//
// The dialect itself, its base classes, and the precision rule that every op and every kernel obeys.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_SWAGEDIALECT_TD
#define SWAGE_DIALECT_SWAGE_IR_SWAGEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Swage_Dialect : Dialect {
  let name = "swage";
  let cppNamespace = "::swage";
  let summary = "Op graphs of normalisations, reductions, permutations and attention, and the kernels they become";
  let description = [{
    The dialect has two levels.

    At **graph level** values are ranked tensors. Only ops that have a kernel template or need numerical care are
    `swage` ops (`layer_norm`, `rms_norm`, `softmax`, `attention`, `reduce`, and the index ops `permute`, `reshape`, `broadcast`,
    `slice`, `concat`); elementwise work is `arith` and `math` on tensors.

    At **kernel level** a `swage.kernel` symbol holds an iteration space, one linear access per operand, and a body of
    scalar `arith` and `math`; `swage.launch` calls it on tensors.

    **Precision rule.** Fused work is evaluated in f32, and in f64 where an operand, or the result of a reduction, norm or softmax, is f64. An implicit intermediate is
    not rounded; an explicit cast is; a value that is also an output of its kernel is used as rounded.

    Element types are f16, bf16, f32, f64; i1, i8, i32, f8E4M3FN and f8E5M2 are storage for masks, quantised values and indices.
    All floats are rounded to nearest even. What is too large becomes infinity, in f8E4M3FN, which has none, NaN: so `arith.truncf` folds, and so
    PyTorch and ml_dtypes cast. A graph that wants the largest number instead clamps first (448, 57344).

    **Promises about runtime values**, as attributes of a function's arguments: `swage.alignment = 32` is the alignment in bytes of the
    base pointer (16 where nothing is said; results take it too). `swage.multiple_of = array<i64: 1, 8>` and
    `swage.at_most = array<i64: 0, 1024>` hold one number for each dimension: what divides its extent (1: nothing known), and the
    largest extent (0: nothing known). With them kernels over dynamic extents get wide vectors, and rows that stay in registers. A
    launch that breaks a promise that a kernel relies on is an error.

    **What tools make up for an argument** of integers is -2 to 2, or `swage.range = array<i64: 1, 4096>`: the integers from 1 to 4096 in random
    order, each once before any comes again. So `swage-run` and `swage-bench` get lengths, positions and tables of pages like those of a real
    run. It promises nothing: no kernel relies on it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Promises about an argument's extents, one number for each dimension.
    static constexpr llvm::StringLiteral kMultipleOf{"swage.multiple_of"};
    static constexpr llvm::StringLiteral kAtMost{"swage.at_most"};
    /// The least and the greatest integer that tools make up for an argument.
    static constexpr llvm::StringLiteral kRange{"swage.range"};
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

class Swage_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Swage_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Swage_Op<string mnemonic, list<Trait> traits = []> : Op<Swage_Dialect, mnemonic, traits>;

/// What a graph-level tensor may hold.
def Swage_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Swage_Element : AnyTypeOf<[F16, BF16, F32, F64, F8E4M3FN, F8E5M2, I1, I8, I32, I64]>;
def Swage_FloatTensor : RankedTensorOf<[Swage_Float]>;
/// What attention multiplies.
def Swage_FactorTensor : RankedTensorOf<[Swage_Float, F8E4M3FN]>;
def Swage_Tensor : RankedTensorOf<[Swage_Element]>;

#endif
