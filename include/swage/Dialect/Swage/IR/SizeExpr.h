//===- SizeExpr.h - Symbolic sizes and linear accesses ----------*- C++ -*-===//
//
// Extents and strides are affine expressions over a kernel's runtime sizes; products of sizes
// occur, so they are polynomials rather than affine in the strict sense. Everything that compares
// or divides them goes through here.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_SIZEEXPR_H
#define SWAGE_DIALECT_SWAGE_IR_SIZEEXPR_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace swage {

/// The one form that equal polynomials share: monomials in a fixed order, symbols sorted within
/// each, constant last. Divisions and remainders are kept as they are, as opaque factors.
/// Arithmetic that leaves 64 bits gives null.
mlir::AffineExpr normalizeSize(mlir::AffineExpr expr);

/// `a * b` and `a + b`, normalised; null where the arithmetic leaves 64 bits.
mlir::AffineExpr multiplySizes(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr addSizes(mlir::AffineExpr a, mlir::AffineExpr b);

/// The quotient where `b` is a monomial that divides `a` for every value of the symbols; null
/// otherwise.
mlir::AffineExpr divideSizes(mlir::AffineExpr a, mlir::AffineExpr b);

/// The constant that the expression is, if it is one.
std::optional<int64_t> constantSize(mlir::AffineExpr expr);

/// What is promised of runtime sizes: a number that divides each, and the largest value of each, 0
/// for none. Empty where nothing is promised.
struct SizeFacts {
  llvm::ArrayRef<int64_t> multiples, limits;

  int64_t multipleOf(unsigned symbol) const {
    return symbol < multiples.size() ? multiples[symbol] : 1;
  }
  int64_t limitOf(unsigned symbol) const { return symbol < limits.size() ? limits[symbol] : 0; }
};

/// The promises that a kernel rests on, which live as long as its attributes.
class KernelOp;
SizeFacts factsOf(KernelOp kernel);

/// Makes them the kernel's, without an attribute for what says nothing.
void setFacts(KernelOp kernel, const SizeFacts &facts);

/// Whether the facts make an expression over symbols a multiple of `factor`, which is positive, for
/// all sizes.
bool isMultipleOf(mlir::AffineExpr expr, int64_t factor, const SizeFacts &facts);

/// The largest value that the facts let an expression over symbols take; nothing where they set no
/// bound.
std::optional<int64_t> upperBound(mlir::AffineExpr expr, const SizeFacts &facts);

/// The value of an expression over symbols; nothing where the arithmetic leaves 64 bits or divides
/// by zero.
std::optional<int64_t> evaluateSize(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> symbols);

/// Values of all results of a map over symbols only.
std::optional<llvm::SmallVector<int64_t>> evaluateSizes(mlir::AffineMap map,
                                                        llvm::ArrayRef<int64_t> symbols);

/// `offset + sum(strides[i] * d_i)`: how an operand follows the iteration coordinates. In elements.
struct LinearAccess {
  llvm::SmallVector<mlir::AffineExpr> strides;
  mlir::AffineExpr offset;

  /// The access of a one-result map, or nothing where it is not linear in the coordinates.
  static std::optional<LinearAccess> of(mlir::AffineMap map);

  /// The map that this is the access of.
  mlir::AffineMap map(unsigned symbols) const;

  bool operator==(const LinearAccess &other) const {
    return strides == other.strides && offset == other.offset;
  }
  bool operator!=(const LinearAccess &other) const { return !(*this == other); }

  bool isBroadcast(unsigned dim) const { return constantSize(strides[dim]) == 0; }
  /// Whether it is the same everywhere.
  bool isConstant() const;
  /// Whether a tile turns it: contiguous along `in`, and not the same everywhere along `out`.
  bool isTransposed(unsigned in, unsigned out) const {
    return constantSize(strides[in]) == 1 && !isBroadcast(out);
  }
};

/// Row-major strides of a shape given as size expressions.
llvm::SmallVector<mlir::AffineExpr> rowMajorStrides(llvm::ArrayRef<mlir::AffineExpr> shape,
                                                    mlir::MLIRContext *context);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_SIZEEXPR_H
