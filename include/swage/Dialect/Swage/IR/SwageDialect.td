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
  let summary = "Op graphs of normalisations, reductions and permutations, and the kernels they become";
  let description = [{
    The dialect has two levels.

    At **graph level** values are ranked tensors. Only ops that have a kernel template or need numerical care are
    `swage` ops (`layer_norm`, `rms_norm`, `softmax`, `reduce`, and the index ops `permute`, `reshape`, `broadcast`,
    `slice`, `concat`); elementwise work is `arith` and `math` on tensors.

    At **kernel level** a `swage.kernel` symbol holds an iteration space, one linear access per operand, and a body of
    scalar `arith` and `math`; `swage.launch` calls it on tensors.

    **Precision rule.** Fused work is evaluated in f32, and in f64 where an operand is f64. An implicit intermediate is
    not rounded; an explicit cast is; a value that is also an output of its kernel is used as rounded.

    Element types are f16, bf16, f32, f64; i1, i8 and i32 are storage for masks, quantised values and indices.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

class Swage_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Swage_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Swage_Op<string mnemonic, list<Trait> traits = []> : Op<Swage_Dialect, mnemonic, traits>;

/// What a graph-level tensor may hold.
def Swage_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Swage_Element : AnyTypeOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;
def Swage_FloatTensor : RankedTensorOf<[Swage_Float]>;
def Swage_Tensor : RankedTensorOf<[Swage_Element]>;

#endif
