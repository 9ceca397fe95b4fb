//===- KernelBuilder.h - From a group of ops to one kernel ------*- C++ -*-===//
//
// What fusion asks: can these ops be one kernel, and if so, which? A group is legal exactly if it
// can be built: every value must follow one iteration space linearly, and every output must be
// written once by it.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_KERNELBUILDER_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_KERNELBUILDER_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/Analysis/SymbolicShapes.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <array>
#include <map>
#include <string>
#include <vector>

namespace swage {

/// One linear expression of the iteration coordinates for each dimension of a tensor: which element
/// of the tensor belongs to a point of the iteration space.
using Relation = llvm::SmallVector<LinearAccess>;

/// Whether an op moves or repeats elements without touching them.
bool isIndexOp(mlir::Operation *op);
/// Whether an op makes elements from their position alone, so that every kernel that needs them
/// makes them itself.
bool isSourceOp(mlir::Operation *op);
/// Whether an op combines elements along dimensions.
bool isCollectiveOp(mlir::Operation *op);
/// Whether a collective over elements of this type may follow another one in a kernel.
bool mayComeLater(mlir::Type type);
/// Whether an op is arith or math on tensors that a kernel body can hold.
bool isElementwiseOp(mlir::Operation *op);

/// Of an arith.truncf that stands for the narrow result of an op: a kernel that goes on with it
/// rounds no more than it does such results.
inline constexpr llvm::StringLiteral kRoundsAsStored = "swage.rounds_as_stored";

/// The scalar that a body holds for an element of this type: floats are widened to f32 or f64, an
/// index is a 32-bit integer.
mlir::Type scalarType(mlir::Type element);
/// An elementwise op on scalars that a body holds; null where that takes the bits of one of them,
/// and they are wider than the op says.
mlir::Value computeScalar(mlir::OpBuilder &builder, mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> operands);
/// Bytes that a tensor's base pointer is aligned to: what the function says of its argument or
/// result, 16 where it says nothing, and 256 for an intermediate.
int64_t alignmentOf(mlir::Value tensor);
/// What tells a value that is read through a relation from others, within these extents.
std::vector<const void *> keyOf(mlir::Value value, const Relation &relation,
                                mlir::AffineMap extents);
/// What a cache that rows are added to is in memory, seen through casts.
mlir::Value memoryOf(mlir::Value cache);
/// What an op reads, by its operands and in its regions.
llvm::SmallVector<mlir::Value> readBy(mlir::Operation *op);
/// The ops of a value's block that read it, themselves or in their regions.
llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value value);

/// A row of so many elements stays in registers on every GPU (SelectRowSchedule.cpp).
constexpr int64_t kMostInRegisters = 16384;

/// A kernel that is not in the module yet, and how to launch it.
struct BuiltKernel {
  mlir::OwningOpRef<KernelOp> kernel;
  llvm::SmallVector<mlir::Value> tensors; ///< operands of the launch
  llvm::SmallVector<mlir::Value> outputs; ///< the graph values that its results replace
  llvm::SmallVector<unsigned> symbols;    ///< which of the function's symbols are its sizes
};

class KernelBuilder {
public:
  /// `ops` become the kernel; values that they need and that are defined by `inlined` ops are
  /// computed in it; every other value is loaded. `outputs` are written.
  KernelBuilder(const SymbolicShapes &shapes, const llvm::SetVector<mlir::Operation *> &ops,
                const llvm::DenseSet<mlir::Operation *> &inlined,
                llvm::ArrayRef<mlir::Value> outputs);

  /// The kernel, or nothing; then `reason()` says what stood in the way.
  std::optional<BuiltKernel> build();
  llvm::StringRef reason() const { return why; }

private:
  /// A dimension of the iteration space that must be split before a reshape can be followed.
  struct Split {
    unsigned dim;
    mlir::AffineExpr inner;
  };

  std::nullopt_t refuse(const llvm::Twine &message);
  mlir::MLIRContext *context() const { return ops.front()->getContext(); }

  mlir::Value firstWritten(mlir::Value output) const;
  mlir::Value chooseSeed() const;
  Relation identityOf(mlir::Value seed) const;
  void span(mlir::Value seed);
  bool propagate(mlir::Value seed);
  bool relate(mlir::Value value, const Relation &relation);
  bool isAlongside(mlir::Operation *op) const;
  bool visitForPropagation(mlir::Operation *op, bool &changed);

  std::optional<Relation> pull(mlir::Operation *op, const Relation &result);
  std::optional<Relation> push(mlir::Operation *op, const Relation &operand);
  std::optional<Relation> reshape(const Relation &from, mlir::Value fromValue, mlir::Value toValue);

  Relation inMemory(const Relation &from, mlir::Value fromValue, mlir::Value toValue);

  mlir::Value evaluate(mlir::Value value, const Relation &relation);
  mlir::Value load(mlir::Value tensor, const Relation &relation);
  mlir::AffineMap ownExtents() const;
  mlir::Value loadComputed(mlir::Value value, const Relation &relation);
  mlir::Value addInput(ViewAttr view, mlir::Type type, mlir::Location loc);
  int64_t numberOf(mlir::Value tensor);
  mlir::Value constant(mlir::TypedAttr attr, mlir::Location loc);
  mlir::Value compute(mlir::OpResult result, const Relation &relation);
  mlir::Value computeCollective(mlir::OpResult result, const Relation &relation);
  mlir::Value softmaxOperand(SoftmaxOp op, mlir::Value x);
  bool spanAttention();
  bool findAppends();
  void putResultFirst();
  void placeArguments(mlir::Block &region);
  void place(mlir::Operation &op);
  std::optional<LinearAccess> positionOf(mlir::Value index) const;
  mlir::Value extract(mlir::tensor::ExtractOp op);
  mlir::Value inlineRegion(mlir::Region &region, mlir::Value score);
  mlir::Value evaluateWithin(mlir::Value value, const Relation &relation,
                             std::array<std::pair<unsigned, mlir::AffineExpr>, 2> own);
  mlir::Value evaluateOperand(unsigned input);
  mlir::Value evaluatePages(PagesOp op, const Relation &relation);
  bool evaluateTable();
  mlir::Value computeAttention(mlir::OpResult result);
  /// An operand of attention as its kernel takes it.
  struct Contracted {
    mlir::Value element; ///< in memory, or converted from there
    mlir::Value factor;  ///< what it is multiplied by, the same for a head dim; or null
  };
  void loadCache(mlir::Value tensor, const Relation &place);
  std::optional<Contracted> contracted(unsigned input);
  llvm::SmallVector<int64_t> reducedBy(mlir::Operation *op);
  std::optional<unsigned> numberOf(mlir::Operation *collective) const;
  bool findGroups(mlir::Operation *op, mlir::DenseI64ArrayAttr &dims);
  /// An element of a value: which one it is at each point of the iteration space, and the scalar.
  struct Element {
    Relation relation;
    mlir::Value scalar;
    mlir::AffineMap extents = {}; ///< that the relation is for, where they are not the kernel's
  };
  ConcatOp concatBehind(mlir::Value value) const;
  std::optional<llvm::SmallVector<Element>> elementsOf(mlir::Value value);
  mlir::Value storedScalar(mlir::Value scalar, mlir::Value output);
  void store(const Element &element, mlir::Value output,
             llvm::SmallVectorImpl<mlir::Value> &yields);
  bool storeRow(AppendOp op, Element element, llvm::SmallVectorImpl<mlir::Value> &yields);
  std::optional<std::pair<mlir::Value, Relation>> partAt(ConcatOp op, Relation relation);
  int64_t partsBehind(mlir::Value value) const;
  bool fallsIntoParts(mlir::Value value, const Relation &relation);
  std::optional<llvm::SmallVector<Element>> piecesOf(mlir::Value value, const Relation &relation,
                                                     unsigned dim);
  bool storeAppended(AppendOp op, llvm::SmallVectorImpl<mlir::Value> &yields);
  ViewAttr queryView(const LinearAccess &columns, mlir::AffineMap own);
  bool storeQueries(llvm::SmallVectorImpl<mlir::Value> &yields);
  bool storeOutput(mlir::Value output, llvm::SmallVectorImpl<mlir::Value> &yields);
  bool coversOnce(const Relation &relation, mlir::Value tensor,
                  std::optional<unsigned> repeated = std::nullopt);
  LinearAccess flatten(const Relation &relation, mlir::Value tensor) const;
  BuiltKernel finish(KernelOp kernel);
  bool isComputed(mlir::Value value) const;

  const SymbolicShapes &shapes;
  const llvm::SetVector<mlir::Operation *> &ops;
  const llvm::DenseSet<mlir::Operation *> &inlined;
  llvm::SetVector<mlir::Value> outputs;

  std::string why;
  std::optional<Split> wanted;
  llvm::SmallVector<Split> splits;
  llvm::SmallVector<mlir::AffineExpr> extents;
  llvm::MapVector<mlir::Value, Relation> relations;
  /// By the value and the relation that it is read through. Expressions are unique in their
  /// context, so that their addresses tell them apart; the order says nothing.
  std::map<std::vector<const void *>, mlir::Value> scalars;

  /// Sums of a position and how many rows behind it: one of each, by which AttentionProblem sees
  /// that keys and values have one place.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> rowNumbers;

  /// In the order of the graph, one of norms that differ in gamma and beta alone.
  llvm::SmallVector<mlir::Operation *> collectives;
  std::array<CollectiveOp, kMaxCollectives> collectiveScalars;
  AttentionOp attention;
  std::array<Relation, 3> operandPlaces; ///< of attention, which may be one tensor
  Relation scorePlace;                   ///< attention's score, as if there were a tensor of them
  Relation sinkPlace;
  /// What adds attention's new keys, and values: which element of the rows belongs to a point, and
  /// their head dim.
  llvm::MapVector<mlir::Operation *, std::pair<Relation, unsigned>> appends;
  bool followsLoads = false;             ///< whether loaded tensors are related to points, too
  bool makesQueries = false;             ///< of attention, in shared memory
  mlir::Value weighted;                  ///< attention's result for a query and a value dim
  llvm::SmallVector<PagesOp> pages;      ///< that attention's operands are in
  bool hasOwnExtents = false; ///< whether `extents` are those of a view alone
  mlir::AffineExpr keyRun;    ///< of attention's keys: elements of the head dim that lie together
  llvm::DenseMap<mlir::Value, LinearAccess> positions; ///< of a region's integers
  llvm::SmallVector<int64_t> reduced;
  mlir::Block *body = nullptr;
  std::unique_ptr<mlir::OpBuilder> builder;
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<mlir::Attribute> inputViews, outputViews;
  llvm::SmallVector<mlir::Location> locations;
};

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_KERNELBUILDER_H
