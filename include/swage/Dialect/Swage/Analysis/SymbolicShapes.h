//===- SymbolicShapes.h - Extents of a function's tensors -------*- C++ -*-===//
//
// One size expression for each extent of each tensor of a function, over the dynamic extents of its
// arguments. Two extents that an op forces to be equal get one expression, which is what lets a
// dynamic graph fuse like a static one.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_SYMBOLICSHAPES_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_SYMBOLICSHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/DenseMap.h"

namespace swage {

class SymbolicShapes {
public:
  /// Where a symbol's value comes from at run time: an extent of a function argument.
  struct Symbol {
    unsigned argument;
    unsigned dimension;
  };

  /// Analyses a function of one block. An extent that cannot be expressed, and extents that an op
  /// needs to be equal and that nothing makes so, are errors at the op.
  static mlir::FailureOr<SymbolicShapes> of(mlir::func::FuncOp function);

  llvm::ArrayRef<mlir::AffineExpr> shapeOf(mlir::Value tensor) const {
    return shapes.find(tensor)->second;
  }
  llvm::ArrayRef<Symbol> getSymbols() const { return symbols; }
  /// What `swage.multiple_of` and `swage.at_most` promise of each symbol. Promises about extents
  /// that are equal hold for all of them.
  SizeFacts facts() const { return {multiples, limits}; }

  /// The size expression of an index value, or null where it is none.
  mlir::AffineExpr sizeOf(mlir::Value index) const;

private:
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult equate(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr computeSize(mlir::Operation *op) const;
  void combineFacts();
  mlir::AffineExpr resolve(mlir::AffineExpr expr) const;

  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> shapes;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> sizes;
  llvm::SmallVector<Symbol> symbols;
  /// What each symbol stands for; itself unless it was equated with something.
  llvm::SmallVector<mlir::AffineExpr> meaning;
  llvm::SmallVector<int64_t> multiples, limits;
};

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_SYMBOLICSHAPES_H
