//===- SpecEmitter.h - A prepared kernel as a Spec --------------*- C++ -*-===//
//
// Prints what the schedule, the geometry, the views and the phases of one kernel say, in the form
// that its template takes.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_SPECEMITTER_H
#define SWAGE_CODEGEN_SPECEMITTER_H

#include "NameTable.h"
#include "SourceText.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage::codegen {

/// One view as one phase sees it. Phases that see a view alike share the operand.
struct Operand {
  ViewAttr view;
  bool isOutput = false;
  unsigned position = 0; ///< among the kernel's inputs, or outputs
  Access access = Access::Vector;
  std::string structName; ///< "Gamma"
};

/// The type that a phase's collective works in; null where the phase yields nothing for it.
mlir::Type collectedType(PhaseOp phase);

class SpecEmitter {
public:
  SpecEmitter(KernelOp kernel, SourceText &out) : kernel(kernel), out(out) {}
  llvm::LogicalResult emit();

private:
  llvm::LogicalResult check();
  llvm::LogicalResult collectOperands();
  void nameOperands();
  void emitHeader();
  void emitConstants();
  /// What every template of attention wants to know.
  template <typename Schedule> void emitAttention(Schedule schedule);
  /// Whether what a mask leaves of attention's keys depends on one of these dimensions.
  bool doBoundsVary(llvm::ArrayRef<unsigned> dims) const;
  void emitSizes();
  int64_t mergedDims() const;
  void emitSpaces();
  void emitPart(const Operand &operand);
  void emitScoreTile(const Operand &operand);
  const Operand &rowsOf(const Operand &operand) const;
  void emitOperand(const Operand &operand);
  llvm::LogicalResult emitPhase(PhaseOp phase);
  llvm::LogicalResult emitLater(PhaseOp phase, llvm::StringRef name);
  void emitLaterConstants(PhaseOp phase);
  void emitBoundsUnits(); ///< what bounds of an attention vary with, beside its queries
  void emitSoftmaxFlags(PhaseOp phase);
  void emitEntry();

  /// Arguments that the template hands to a phase before its loads.
  std::vector<std::string> givenNames(PhaseOp phase) const;
  /// What the scalar function of a bounds phase sets.
  static constexpr llvm::StringRef boundNames[] = {"first", "last"},
                                   agreeNames[] = {"ofQuery", "ofKey"};
  /// Attention's parameters that are tensor maps.
  static constexpr llvm::StringRef tileNames[] = {"queries", "keys", "values", "result"};
  Operand *find(bool isOutput, unsigned position, Access access);
  llvm::StringRef elementOf(ViewAttr view, bool isOutput, unsigned position);
  std::string valueOf(const Operand &operand) const {
    return (operand.isOutput ? outputNames : inputNames)[operand.position];
  }
  std::string print(mlir::AffineExpr expr, bool nested = false) const;
  std::string extent(mlir::AffineExpr expr, bool first) const;
  void emitExtents(llvm::StringRef name, mlir::AffineMap space);
  int64_t knownBlocks() const;
  bool isReused(ViewAttr view) const;
  std::string trafficOf(const Operand &operand) const;
  bool hasSizes() const { return kernel.getSymbols() > 0; }
  void constant(llvm::StringRef name, int64_t value);
  void flag(const llvm::Twine &name, bool value = true);
  void numbers(llvm::StringRef name, llvm::ArrayRef<int64_t> list);
  void named(llvm::StringRef name, const llvm::Twine &value);

  mutable KernelOp kernel; // a handle, whose accessors are not const
  SourceText &out;
  std::vector<Operand> operands;
  std::vector<std::string> inputNames, outputNames;
  std::string index, compute, templateName, functionName;
  bool needsMath = false; ///< some phase calls what only swage/math.cuh has
};

} // namespace swage::codegen

#endif // SWAGE_CODEGEN_SPECEMITTER_H
