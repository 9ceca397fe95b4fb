//===- RowPattern.h - Pieces of decomposed norms and softmax ----*- C++ -*-===//
//
// What recognition asks of values again and again: is this the mean of that, a square, one number
// for each row however it is spread. Everything that a piece looked at and that a structured op
// would compute inside is recorded.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ROWPATTERN_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ROWPATTERN_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>

namespace swage {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The value before casts to f32. A cast to f64 stays: a structured op on the narrower value would
/// be evaluated in f32.
mlir::Value widened(mlir::Value value);

/// The number that every element is, if that is known.
std::optional<double> splatOf(mlir::Value value);

/// `number` rounded to the element type of `like`.
double roundedAs(double number, mlir::Value like);

/// A number for a remark.
std::string textOf(double number);

/// Calls `match` with the operands of a commutative op in both orders.
template <class Op>
bool eitherOrder(mlir::Value value, llvm::function_ref<bool(mlir::Value, mlir::Value)> match) {
  auto op = value.getDefiningOp<Op>();
  return op && (match(op.getLhs(), op.getRhs()) || match(op.getRhs(), op.getLhs()));
}

/// The rows that a pattern is about: a full shape, and the dimensions that make one row.
struct Rows {
  llvm::SmallVector<int64_t> full, dims, keptDims;

  Rows(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> reduced);

  /// One element for each row.
  llvm::SmallVector<int64_t> kept() const;
  /// The same at full rank.
  llvm::SmallVector<int64_t> keptAsOne() const;
  std::optional<int64_t> length() const;
  /// The first dimension, where the rows are trailing dimensions.
  std::optional<int64_t> trailingAxis() const;
};

/// Statistics of a norm, as numbered among its results.
enum class Stat { None = -1, Mean = 0, Rstd = 1 };

/// One attempt to match what ends at an op.
class RowPattern {
public:
  explicit RowPattern(mlir::Operation *root) : root(root) {}

protected:
  mlir::Operation *root;
  std::optional<Rows> rows;
  /// Ops whose values the structured op computes inside, and which of them are statistics.
  llvm::SetVector<mlir::Operation *> matched;
  llvm::DenseMap<mlir::Operation *, Stat> stats;
  /// What the pattern nearly was, and the first thing that kept it from being that.
  llvm::StringRef what;
  std::string reason;

  bool miss(const llvm::Twine &why);
  void record(mlir::Operation *op, Stat stat = Stat::None);

  /// Runs `match` and forgets what it recorded where it comes to nothing.
  template <class F> auto attempt(F match) {
    size_t before = matched.size();
    auto result = match();
    while (!result && matched.size() > before) {
      stats.erase(matched.back());
      matched.pop_back();
    }
    return result;
  }

  /// Whether two values are the same but for widening; computing one twice does not matter.
  bool equivalent(mlir::Value a, mlir::Value b, int depth = 6);

  /// The first sum or mean over the root's shape that the row value is computed from, or null.
  ReduceOp findReduce(mlir::Value value, int depth = 10);

  /// The value before index ops that only spread one element a row over the row, or back, and
  /// before widening casts.
  mlir::Value rowValue(mlir::Value value, Stat stat = Stat::None);

  /// What `value` is the row mean of, or null.
  mlir::Value meanOf(mlir::Value value, Stat stat = Stat::None);

  /// What `value` is the square of, or null.
  mlir::Value squareOf(mlir::Value value);

  /// The x of `x - mean(x)`, or null.
  mlir::Value centeredOf(mlir::Value value);

  /// The tensor in the shape of a row that a full-shape operand repeats for each row, or null.
  mlir::Value parameter(mlir::Value value);

private:
  mlir::Value matchMean(mlir::Value value, Stat stat);
  mlir::Value reducedBy(ReduceKind kind, mlir::Value value);
};

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ROWPATTERN_H
