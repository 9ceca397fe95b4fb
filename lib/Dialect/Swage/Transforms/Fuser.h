//===- Fuser.h - Groups of ops that become kernels --------------*- C++ -*-===//
//
// What Fuse.cpp, FuseSiblings.cpp and FuseLaunches.cpp share.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_FUSER_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_FUSER_H

#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace swage {

using OpSet = llvm::SetVector<mlir::Operation *>;

/// A group of ops that becomes one kernel. A group that was merged into another is empty.
struct Group {
  OpSet ops;
  std::optional<BuiltKernel> built;
  /// Groups that became one kernel with this one although nothing flows between them.
  llvm::SmallVector<unsigned> siblings;
};

/// Bounds for compile time, far beyond what registers hold: of ops in one kernel, also with those
/// that it computes again, and of its operands.
constexpr size_t kMaxOps = 256, kMaxBodyOps = 768, kMaxViews = 48;

inline size_t bodyOps(KernelOp kernel) { return kernel.getBody().front().getOperations().size(); }

/// Fuses one function.
class Fuser {
public:
  Fuser(mlir::func::FuncOp function, bool fuse) : function(function), fuse(fuse) {}
  llvm::LogicalResult run();

private:
  llvm::FailureOr<bool> isDone();
  bool isServed(const OpSet &ops) const;
  bool tryBehindPermute(mlir::Operation *op);
  void insertCopiesBeforeCollectives();
  llvm::FailureOr<bool> splitIndexChain();
  llvm::LogicalResult analyse();
  void chooseInlined();
  void keepReadersBuildable();
  void formGroups();
  std::optional<unsigned> overwrittenBy(BuiltKernel &built, unsigned output);
  bool overwritesLongRow(BuiltKernel &built);
  bool overwritesReadLater(BuiltKernel &built);
  bool overwritesAcrossMemory(BuiltKernel &built);
  bool tryMerge(unsigned into, llvm::ArrayRef<unsigned> from, mlir::Operation *at);
  void tryStep(AttentionOp attention);
  void mergeSiblings();
  bool trySiblings(unsigned a, unsigned b);
  bool tryRows(unsigned a, unsigned b);
  void emitLaunches();

  llvm::SmallVector<mlir::Operation *> producersOf(llvm::SmallVector<mlir::Value> worklist) const;
  llvm::SmallVector<mlir::Operation *> consumersOf(mlir::Operation *node) const;
  bool isReturned(mlir::Value value) const {
    return llvm::any_of(value.getUsers(), [](mlir::Operation *user) {
      return llvm::isa<mlir::func::ReturnOp>(user);
    });
  }
  /// Whether a value is a cache that rows are added to: then it is in memory.
  bool isAppendedTo(mlir::Value value) const {
    return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
      auto append = llvm::dyn_cast<AppendOp>(user);
      return append && append.getCache() == value;
    });
  }
  llvm::SmallVector<mlir::Value> outputsOf(const OpSet &ops) const;
  std::optional<BuiltKernel> build(const OpSet &ops, std::string &why) const;
  bool reaches(unsigned from, unsigned to, bool skipDirect) const;
  std::optional<int64_t> bytesOf(const std::optional<BuiltKernel> &built) const {
    return built ? constantSize(bytesMoved(*const_cast<BuiltKernel &>(*built).kernel))
                 : std::nullopt;
  }

  mlir::func::FuncOp function;
  bool fuse;
  std::optional<SymbolicShapes> shapes;
  llvm::DenseSet<mlir::Operation *> inlined;
  /// Collectives whose results are copied behind the permutes that read them, and these copies.
  llvm::MapVector<mlir::Operation *, mlir::Operation *> behindPermutes;
  llvm::SmallVector<mlir::Operation *> nodes;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
};

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_FUSER_H
