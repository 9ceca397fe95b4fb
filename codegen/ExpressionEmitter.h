//===- ExpressionEmitter.h - Scalar arith and math as C++ -------*- C++ -*-===//
//
// Turns the body of a phase into statements and expressions. A value that is used once and is small
// is printed where it is used; every other one becomes a constant with a name.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_EXPRESSIONEMITTER_H
#define SWAGE_CODEGEN_EXPRESSIONEMITTER_H

#include "NameTable.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace swage::codegen {

/// How tightly an expression's outermost operator binds, loosest first.
enum class Precedence {
  Select,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relation,
  Shift,
  Sum,
  Product,
  Unary,
  Primary
};

struct Expression {
  std::string text;
  Precedence precedence = Precedence::Primary;
  /// Operators and calls in it.
  unsigned size = 0;
};

/// `const float sum = x + y;`
struct Statement {
  std::string text;
  mlir::Location loc;
  bool isShared; ///< by all elements of a row
};

/// Whether an expression calls a function that only swage/math.cuh declares. A kernel includes that
/// header only then: parsing it costs a few milliseconds.
bool callsMath(llvm::StringRef text);

class ExpressionEmitter {
public:
  explicit ExpressionEmitter(NameTable &names) : names(names) {}

  /// The value is printed as this identifier.
  void bind(mlir::Value value, llvm::StringRef name) { values[value].text = name.str(); }
  /// An argument, already bound, that is the same for all elements of a row.
  void share(mlir::Value value) { shared.insert(value); }
  /// Everything before the terminator; arguments must be bound.
  llvm::LogicalResult emit(mlir::Block &body);
  llvm::StringRef textOf(mlir::Value value) const { return values.find(value)->second.text; }
  llvm::ArrayRef<Statement> getStatements() const { return statements; }

private:
  /// The expression of an op; nothing after a diagnostic.
  std::optional<Expression> print(mlir::Operation &op);
  std::optional<Expression> printFloat(mlir::Operation &op);
  std::optional<Expression> printInteger(mlir::Operation &op);
  std::optional<Expression> printConversion(mlir::Operation &op);

  const Expression &operand(mlir::Operation &op, unsigned i) const {
    return values.find(op.getOperand(i))->second;
  }
  Expression infix(mlir::Operation &op, llvm::StringRef symbol, Precedence precedence) const;
  Expression unsignedInfix(mlir::Operation &op, llvm::StringRef symbol,
                           Precedence precedence) const;
  Expression call(mlir::Operation &op, llvm::StringRef function) const;
  /// Operand `i` of an op whose expression repeats it.
  std::string atom(mlir::Operation &op, unsigned i) const;

  NameTable &names;
  llvm::DenseMap<mlir::Value, Expression> values;
  std::vector<Statement> statements;
  llvm::DenseSet<mlir::Value> shared;
};

} // namespace swage::codegen

#endif // SWAGE_CODEGEN_EXPRESSIONEMITTER_H
