//===- Fuse.cpp - --swage-fuse ---------------------------------------------===//
//
// Greedy and in program order: each op joins the groups of its producers as long as the union can
// be built as one kernel (legality), a template serves its accesses, and it moves fewer bytes
// (profitability). Cheap elementwise ops with one large operand are computed again by each reader
// rather than stored. Last, siblings that walk the same iteration space and share an operand become
// one kernel. The order of ops in the text decides ties, so the result is the same in every
// process.
//
//===----------------------------------------------------------------------===//

#include "AttentionForms.h"
#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "RepeatKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

namespace swage {
#define GEN_PASS_DEF_FUSEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {

using OpSet = llvm::SetVector<Operation *>;

/// A group of ops that becomes one kernel. A group that was merged into another is empty.
struct Group {
  OpSet ops;
  std::optional<BuiltKernel> built;
  /// Groups that became one kernel with this one although nothing flows between them.
  SmallVector<unsigned> siblings;
};

/// Ops in one kernel, also with those that it computes again, and ops in a chain that its readers
/// compute again: bounds for compile time and for recursion, far beyond what registers hold.
constexpr size_t kMaxOps = 256, kMaxBodyOps = 768, kMaxViews = 48;
constexpr int64_t kMaxInlinedDepth = 64;
/// Index ops in a row that are cut into kernels one by one.
constexpr size_t kMaxIndexOps = 64;

/// Fuses one function.
class Fuser {
public:
  Fuser(func::FuncOp function, bool fuse) : function(function), fuse(fuse) {}
  LogicalResult run();

private:
  FailureOr<bool> isDone();
  void insertCopiesBeforeCollectives();
  FailureOr<bool> splitIndexChain();
  LogicalResult analyse();
  void chooseInlined();
  void keepReadersBuildable();
  void formGroups();
  bool tryMerge(unsigned into, ArrayRef<unsigned> from, Operation *at);
  void tryStep(AttentionOp attention);
  void mergeSiblings();
  bool trySiblings(unsigned a, unsigned b);
  bool tryRows(unsigned a, unsigned b);
  void emitLaunches();

  SmallVector<Operation *> producersOf(SmallVector<Value> worklist) const;
  SmallVector<Operation *> consumersOf(Operation *node) const;
  bool isReturned(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [](Operation *user) { return isa<func::ReturnOp>(user); });
  }
  /// Whether a value is a cache that rows are added to: then it is in memory.
  bool isAppendedTo(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto append = dyn_cast<AppendOp>(user);
      return append && append.getCache() == value;
    });
  }
  SmallVector<Value> outputsOf(const OpSet &ops) const;
  std::optional<BuiltKernel> build(const OpSet &ops, std::string &why) const;
  bool reaches(unsigned from, unsigned to, bool skipDirect) const;
  std::optional<int64_t> bytesOf(const std::optional<BuiltKernel> &built) const {
    return built ? constantSize(bytesMoved(*const_cast<BuiltKernel &>(*built).kernel))
                 : std::nullopt;
  }

  func::FuncOp function;
  bool fuse;
  std::optional<SymbolicShapes> shapes;
  llvm::DenseSet<Operation *> inlined;
  SmallVector<Operation *> nodes;
  std::vector<Group> groups;
  llvm::DenseMap<Operation *, unsigned> groupOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Copies where one kernel cannot read as it must
//===----------------------------------------------------------------------===//

/// A row that would be read against the grain is permuted by a kernel of its own first, and a table
/// of pages is looked at in memory.
void Fuser::insertCopiesBeforeCollectives() {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isKernelNode(&op) || isa<CopyOp>(op))
      continue;
    OpSet alone;
    alone.insert(&op);
    std::string why;
    std::optional<BuiltKernel> built = build(alone, why);
    if (built && accessProblem(*built->kernel).empty())
      continue;
    for (OpOperand &operand : op.getOpOperands())
      if (Operation *source = operand.get().getDefiningOp(); source && isIndexOp(source)) {
        OpBuilder builder(&op);
        operand.set(
            CopyOp::create(builder, source->getLoc(), operand.get().getType(), operand.get()));
      }
  }
  // Behind the others, which are built with shapes that copies have not yet.
  llvm::DenseMap<Value, Value> stored; // one for keys and values
  for (PagesOp pages : function.getOps<PagesOp>()) {
    Value table = pages.getTable();
    Operation *root = table.getDefiningOp();
    while (root && isIndexOp(root))
      root = root->getOperand(0).getDefiningOp();
    if (!root || (!isSourceOp(root) && !root->hasTrait<OpTrait::ConstantLike>()))
      continue;
    OpBuilder builder(pages);
    if (!stored[table])
      stored[table] = CopyOp::create(builder, table.getLoc(), table.getType(), table);
    pages.getTableMutable().assign(stored[table]);
  }
}

/// Index ops whose composition is not linear are read by a copy in two steps: the longest part that
/// is linear is copied first. Whether there was such a copy.
FailureOr<bool> Fuser::splitIndexChain() {
  auto isKernel = [&](CopyOp copy) {
    OpSet alone;
    alone.insert(copy);
    std::string why;
    return build(alone, why).has_value();
  };
  for (CopyOp copy : function.getOps<CopyOp>()) {
    if (copy->use_empty() || isKernel(copy))
      continue;
    SmallVector<Operation *> chain; // from the copy to the source
    Operation *op = copy.getX().getDefiningOp();
    for (; op && isIndexOp(op); op = op->getOperand(0).getDefiningOp())
      chain.push_back(op);
    if (chain.size() > kMaxIndexOps)
      return copy.emitOpError() << "goes through " << chain.size()
                                << " reshapes and permutes that no one access follows; at most "
                                << kMaxIndexOps << " are taken apart";
    for (size_t first = 1; first < chain.size(); ++first) {
      OpBuilder builder(copy);
      Value part = chain[first]->getResult(0);
      auto partCopy = CopyOp::create(builder, part.getLoc(), part.getType(), part);
      SmallVector<Operation *> rest = {partCopy};
      for (size_t i = first; i-- > 0;) {
        Operation *moved = builder.clone(*chain[i]);
        moved->setOperand(0, rest.back()->getResult(0));
        rest.push_back(moved);
      }
      copy.setOperand(rest.back()->getResult(0));
      if (failed(analyse()))
        return failure();
      if (isKernel(partCopy))
        return true;
      copy.setOperand(chain[0]->getResult(0));
      for (Operation *unused : llvm::reverse(rest))
        unused->erase();
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// The nodes behind values, seen through index ops and inlined nodes.
SmallVector<Operation *> Fuser::producersOf(SmallVector<Value> worklist) const {
  OpSet found;
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isKernelNode(op) && !inlined.contains(op))
      found.insert(op);
    else
      worklist.append(op->operand_begin(), op->operand_end());
  }
  return found.takeVector();
}

/// The nodes that read a node's results, seen through index ops and inlined nodes.
SmallVector<Operation *> Fuser::consumersOf(Operation *node) const {
  OpSet found;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> worklist;
  auto addReaders = [&](Operation *op) {
    for (Value result : op->getResults())
      worklist.append(readersOf(result));
  };
  addReaders(node);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    if (isKernelNode(op) && !inlined.contains(op))
      found.insert(op);
    else if (!isa<func::ReturnOp>(op))
      addReaders(op);
  }
  return found.takeVector();
}

/// The values of a group that someone outside reads; and what attention's kernels compute anyhow,
/// beside sums of weights that alone are read.
SmallVector<Value> Fuser::outputsOf(const OpSet &ops) const {
  SmallVector<Value> outputs;
  for (Operation *op : ops)
    for (OpResult result : op->getResults()) {
      bool isWeighted = isa<AttentionOp>(op) && result.getResultNumber() == 0;
      if (result.use_empty() && !isWeighted)
        continue;
      bool outside = result.use_empty() || isReturned(result);
      llvm::DenseSet<Operation *> seen;
      SmallVector<Operation *> worklist = readersOf(result);
      while (!worklist.empty() && !outside) {
        Operation *user = worklist.pop_back_val();
        if (!seen.insert(user).second)
          continue;
        if (isKernelNode(user) && !inlined.contains(user))
          outside = !ops.contains(user);
        else
          for (Value passed : user->getResults())
            worklist.append(readersOf(passed));
      }
      if (outside)
        outputs.push_back(result);
    }
  return outputs;
}

std::optional<BuiltKernel> Fuser::build(const OpSet &ops, std::string &why) const {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpSet ordered(sorted.begin(), sorted.end());
  KernelBuilder builder(*shapes, ordered, inlined, outputsOf(ordered));
  std::optional<BuiltKernel> built = builder.build();
  if (!built)
    why = builder.reason().str();
  return built;
}

/// Whether something flows from one group to another; with `skipDirect`, through a third group.
bool Fuser::reaches(unsigned from, unsigned to, bool skipDirect) const {
  llvm::DenseSet<unsigned> seen;
  SmallVector<unsigned> worklist;
  auto expand = [&](unsigned group, bool direct) {
    for (Operation *op : groups[group].ops)
      for (Operation *consumer : consumersOf(op)) {
        unsigned next = groupOf.lookup(consumer);
        if (next == group || (direct && next == to) || !seen.insert(next).second)
          continue;
        worklist.push_back(next);
      }
    for (unsigned sibling : groups[group].siblings)
      if (seen.insert(sibling).second)
        worklist.push_back(sibling);
  };
  expand(from, skipDirect);
  while (!worklist.empty()) {
    unsigned group = worklist.pop_back_val();
    if (group == to)
      return true;
    expand(group, false);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Grouping
//===----------------------------------------------------------------------===//

/// An elementwise op whose operands are one large tensor and small ones costs its readers no more
/// bytes than its result would, so it is computed where it is read. One that reads several large
/// tensors is better stored once.
void Fuser::chooseInlined() {
  // Elements that are made of few ones, however many there are.
  std::function<bool(Value)> isSmall = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    return op && (isa<BroadcastOp>(op) || isSourceOp(op) || op->hasTrait<OpTrait::ConstantLike>() ||
                  (isa<arith::ExtFOp, arith::TruncFOp>(op) && isSmall(op->getOperand(0))));
  };
  auto bytes = [](Value value) {
    return elementBytes(cast<ShapedType>(value.getType()).getElementType());
  };
  // How many ops lie between an op and the kernel that computes it again.
  llvm::DenseMap<Operation *, int64_t> depth;
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    if (isIndexOp(&op))
      for (Operation *user : op.getUsers())
        depth[&op] = std::max(depth[&op], depth.lookup(user) + 1);
    if (!isElementwiseOp(&op) || isa<CopyOp>(op) || isReturned(op.getResult(0)) ||
        isAppendedTo(op.getResult(0)))
      continue;
    SmallVector<Value> large;
    for (Value operand : op.getOperands())
      if (!isSmall(operand) && !llvm::is_contained(large, operand))
        large.push_back(operand);
    int64_t readers = consumersOf(&op).size(), read = 0;
    for (Value operand : large)
      read += bytes(operand);
    int64_t stored = read + bytes(op.getResult(0)) * (1 + readers);
    int64_t below = 0;
    for (Operation *user : op.getUsers())
      below = std::max(below, depth.lookup(user));
    if (large.size() <= 1 && readers * read <= stored && below < kMaxInlinedDepth) {
      inlined.insert(&op);
      depth[&op] = below + 1;
    }
  }
}

/// An op that is computed where it is read puts the index ops in front of it into its reader, which
/// may be more than one access can say. Then it is stored after all.
void Fuser::keepReadersBuildable() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : function.getBody().front()) {
      if (!isKernelNode(&op) || inlined.contains(&op) || op.use_empty())
        continue;
      SmallVector<SmallVector<Value>> stored = {readBy(&op)};
      auto attention = dyn_cast<AttentionOp>(op);
      if (attention) // its kernel may make keys and values of a cache, but no queries
        stored = {{attention.getQ()}, {attention.getK(), attention.getV()}, readBy(&op)};
      OpSet alone;
      alone.insert(&op);
      for (SmallVector<Value> &worklist : stored) {
        std::string why;
        std::optional<BuiltKernel> built = build(alone, why);
        if (built && attention)
          why = accessProblem(*built->kernel);
        if (why.empty())
          break;
        bool isStored = false;
        while (!worklist.empty()) {
          Operation *producer = worklist.pop_back_val().getDefiningOp();
          if (producer && inlined.erase(producer))
            isStored = true;
          else if (producer && (isIndexOp(producer) || isa<PagesOp>(producer)))
            worklist.append(producer->operand_begin(), producer->operand_end());
        }
        if (isStored && attention)
          op.emitRemark() << "operands that are computed are stored first: " << why;
        changed |= isStored;
      }
    }
  }
}

static size_t bodyOps(KernelOp kernel) { return kernel.getBody().front().getOperations().size(); }

/// Joins groups that `at` reads from with its own: all of them, or none.
bool Fuser::tryMerge(unsigned into, ArrayRef<unsigned> from, Operation *at) {
  Group &b = groups[into];
  std::string name = (*groups[from.front()].ops.begin())->getName().getStringRef().str();
  OpSet all;
  std::optional<int64_t> before = bytesOf(b.built);
  for (unsigned part : from) {
    if (reaches(part, into, /*skipDirect=*/true)) {
      at->emitRemark() << "not fused with " << name << ": another kernel lies between them";
      return false;
    }
    all.insert(groups[part].ops.begin(), groups[part].ops.end());
    std::optional<int64_t> bytes = bytesOf(groups[part].built);
    before = before && bytes ? std::optional(*before + *bytes) : std::nullopt;
  }
  all.insert(b.ops.begin(), b.ops.end());
  std::string why;
  std::optional<BuiltKernel> built;
  if (all.size() > kMaxOps)
    why = "a kernel has at most " + std::to_string(kMaxOps) + " ops";
  else
    built = build(all, why);
  if (built && built->kernel->getInputs().size() + built->kernel->getOutputs().size() > kMaxViews)
    why = "a kernel has at most " + std::to_string(kMaxViews) + " operands";
  else if (built && bodyOps(*built->kernel) > kMaxBodyOps)
    why = "a kernel has at most " + std::to_string(kMaxBodyOps) +
          " ops, those included that it computes again";
  else if (built)
    why = accessProblem(*built->kernel);
  std::optional<int64_t> after = bytesOf(built);
  int64_t saved = before && after ? *before - *after : 0;
  if (why.empty() && saved < 0)
    why = "it would move " + std::to_string(-saved) + " more bytes";
  if (!why.empty()) {
    at->emitRemark() << "not fused with " << name << ": " << why;
    return false;
  }
  auto remark = at->emitRemark() << "fused with " << name << ": one iteration space serves both";
  if (before && after)
    remark << ", saves " << saved << " bytes";
  b.ops = all;
  b.built = std::move(built);
  for (unsigned part : from) {
    for (Operation *op : groups[part].ops)
      groupOf[op] = into;
    groups[part].ops.clear();
    groups[part].built.reset();
  }
  return true;
}

/// Rows that a sequence's attention puts among its keys, at most: three take as long as a kernel in
/// front, eight a sixth longer (docs/notes/decode.md).
constexpr int64_t kMostRowsOfStep = 2;

/// What adds attention's new keys and values to the caches that it reads, and what makes its
/// queries.
void Fuser::tryStep(AttentionOp attention) {
  SmallVector<unsigned> parts;
  auto add = [&](ArrayRef<Operation *> producers, bool isAdded) {
    for (Operation *producer : producers)
      if (isAdded || isa<AppendOp>(producer))
        if (unsigned part = groupOf[producer]; !llvm::is_contained(parts, part))
          parts.push_back(part);
  };
  add(producersOf({attention.getK(), attention.getV()}), /*isAdded=*/false);
  if (parts.empty())
    return;
  for (Operation *producer : producersOf({attention.getK(), attention.getV()}))
    if (auto append = dyn_cast<AppendOp>(producer))
      if (constantSize(shapes->shapeOf(append.getRows())[append.getAxis()]).value_or(INT64_MAX) >
          kMostRowsOfStep) {
        attention.emitRemark() << "not fused with swage.append: a sequence may have more than "
                               << kMostRowsOfStep << " new rows";
        return;
      }
  size_t appends = parts.size();
  add(producersOf({attention.getQ()}), /*isAdded=*/true);
  if (!tryMerge(groupOf[attention], parts, attention) && parts.size() > appends)
    tryMerge(groupOf[attention], ArrayRef(parts).take_front(appends), attention);
}

void Fuser::formGroups() {
  for (Operation *op : nodes) {
    groupOf[op] = groups.size();
    groups.emplace_back();
    groups.back().ops.insert(op);
  }
  for (unsigned i = 0; i < groups.size(); ++i) {
    std::string why;
    groups[i].built = build(groups[i].ops, why);
    if (!groups[i].built)
      (*groups[i].ops.begin())->emitRemark() << "cannot be a kernel of its own: " << why;
  }
  if (!fuse)
    return;
  for (Operation *op : nodes) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      tryStep(attention);
    SmallVector<Operation *> producers = producersOf(readBy(op));
    llvm::sort(producers, [](Operation *x, Operation *y) { return y->isBeforeInBlock(x); });
    for (Operation *producer : producers)
      if (groupOf[producer] != groupOf[op] && !(isa<AttentionOp>(op) && isa<AppendOp>(producer)))
        tryMerge(groupOf[op], groupOf[producer], op);
  }
}

/// Joins two kernels over one iteration space that share an operand and do not depend on each
/// other. What adds rows to caches is little work: there the space of one may go into the other's.
bool Fuser::trySiblings(unsigned a, unsigned b) {
  BuiltKernel &first = *groups[a].built, &second = *groups[b].built;
  KernelOp x = *first.kernel, y = *second.kernel;
  if (!x.getReduced().empty() || !y.getReduced().empty())
    return false;
  OwningOpRef<KernelOp> repeated;
  if ((x.writesRows() || y.writesRows()) && x.getExtents() != y.getExtents()) {
    if (repeated = repeatOver(y, x); repeated)
      y = *repeated;
    else if (repeated = repeatOver(x, y); repeated)
      x = *repeated;
  }
  if (x.getExtents() != y.getExtents() || first.symbols != second.symbols ||
      x.getInputs().size() + y.getInputs().size() > (repeated ? 32 : 12) ||
      x.getOutputs().size() + y.getOutputs().size() > kMaxViews - 12 ||
      bodyOps(x) + bodyOps(y) > kMaxBodyOps)
    return false;
  if (!llvm::any_of(second.tensors,
                    [&](Value tensor) { return llvm::is_contained(first.tensors, tensor); }))
    return false;
  if (reaches(a, b, false) || reaches(b, a, false))
    return false;
  OwningOpRef<KernelOp> merged = cast<KernelOp>(x->clone());
  SmallVector<Value> tensors = first.tensors;
  SmallVector<Attribute> inputs(x.getInputs().begin(), x.getInputs().end());
  SmallVector<Attribute> outputs(x.getOutputs().begin(), x.getOutputs().end());
  Block &body = merged->getBody().front();
  auto positionOf = [&](Value tensor) -> int64_t {
    auto *known = llvm::find(tensors, tensor);
    if (known == tensors.end())
      tensors.push_back(tensor), known = tensors.end() - 1;
    return known - tensors.begin();
  };
  IRMapping mapping;
  for (auto [i, view] : llvm::enumerate(y.getInputs().getAsRange<ViewAttr>())) {
    int64_t position = view.getTensor();
    if (view.getSource() != Source::Coordinate)
      position = positionOf(second.tensors[position]);
    auto moved = ViewAttr::get(view.getContext(), position, view.getElement(), view.getShape(),
                               view.getAccess(), view.getAlign(), view.getSource());
    int64_t at = llvm::find(inputs, moved) - inputs.begin();
    if (at == static_cast<int64_t>(inputs.size())) {
      inputs.push_back(moved);
      body.addArgument(y.getBody().getArgument(i).getType(), y.getBody().getArgument(i).getLoc());
    }
    mapping.map(y.getBody().getArgument(i), body.getArgument(at));
  }
  for (ViewAttr view : y.getOutputs().getAsRange<ViewAttr>())
    outputs.push_back(ViewAttr::get(
        view.getContext(),
        isRow(view.getSource()) ? positionOf(second.tensors[view.getTensor()])
                                : view.getTensor() + first.outputs.size(),
        view.getElement(), view.getShape(), view.getAccess(), view.getAlign(), view.getSource()));
  auto yield = cast<YieldOp>(body.getTerminator());
  OpBuilder builder(yield);
  for (Operation &op : y.getBody().front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> values(yield.getValues());
  for (Value value : cast<YieldOp>(y.getBody().front().getTerminator()).getValues())
    values.push_back(mapping.lookupOrDefault(value));
  yield->setOperands(values);
  Builder attrs(function.getContext());
  merged->setInputsAttr(attrs.getArrayAttr(inputs));
  merged->setOutputsAttr(attrs.getArrayAttr(outputs));
  merged->getOperation()->setLoc(FusedLoc::get(function.getContext(), {x.getLoc(), y.getLoc()}));
  if (!accessProblem(*merged).empty())
    return false;
  (*groups[b].ops.begin())->emitRemark()
      << "runs in one kernel with " << (*groups[a].ops.begin())->getName().getStringRef()
      << ": the same iteration space and a common operand";
  first.kernel = std::move(merged);
  first.tensors = tensors;
  first.outputs.append(second.outputs);
  groups[a].siblings.push_back(b);
  groups[b].siblings.push_back(a);
  groups[b].built.reset();
  return true;
}

/// Whether a kernel's only collective may be the second one of another, asked before anything is
/// built.
static bool mayComeSecond(KernelOp kernel) {
  CollectiveOp only = kernel.getCollective();
  return only && !kernel.getSecondCollective() &&
         mayComeSecond(only.getKind(), only.getValue().getType());
}

/// Joins two kernels with a collective each that go over the same rows, where the first one reads
/// an operand that the second one is made of, and that do not depend on each other.
bool Fuser::tryRows(unsigned a, unsigned b) {
  BuiltKernel &first = *groups[a].built, &second = *groups[b].built;
  if (first.kernel->getReduced().empty() || second.kernel->getReduced().empty() ||
      (!mayComeSecond(*first.kernel) && !mayComeSecond(*second.kernel)) ||
      !groups[a].siblings.empty() || !groups[b].siblings.empty() ||
      !llvm::any_of(second.tensors,
                    [&](Value tensor) { return llvm::is_contained(first.tensors, tensor); }) ||
      reaches(a, b, false) || reaches(b, a, false))
    return false;
  OpSet all = groups[a].ops;
  all.insert(groups[b].ops.begin(), groups[b].ops.end());
  std::string why;
  return build(all, why) && tryMerge(b, a, groups[b].ops.front());
}

void Fuser::mergeSiblings() {
  for (unsigned a = 0; a < groups.size(); ++a)
    for (unsigned b = a + 1; b < groups.size(); ++b)
      if (groups[a].built && groups[b].built)
        if (!trySiblings(a, b))
          tryRows(a, b);
}

//===----------------------------------------------------------------------===//
// Kernels and launches
//===----------------------------------------------------------------------===//

/// A name that says what the kernel does and is the same for the same kernel in every process.
static std::string nameOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Names must not follow the printing options of the command line.
  OpPrintingFlags flags;
  flags.enableDebugInfo(false).useLocalScope(false);
  kernel->print(os, flags.printGenericOpForm());
  std::string name;
  if (kernel.isAttention()) {
    name = "attention";
  } else if (CollectiveOp collective = kernel.getCollective()) {
    name = stringifyCollective(collective.getKind()).str();
    if (!hasElementResult(collective.getKind()))
      name = "reduce_" + name;
    if (CollectiveOp second = kernel.getSecondCollective())
      name += ("_" + stringifyCollective(second.getKind())).str();
  } else {
    bool computes = kernel.getBody().front().getOperations().size() > 1;
    Family family = familyOf(kernel);
    name = kernel.writesRows()       ? "append"
           : family == Family::Tiles ? "transpose"
           : computes                ? "pointwise"
           : family == Family::Runs  ? "permute"
                                     : "copy";
  }
  std::string hash = llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true);
  return name + "_" + std::string(16 - hash.size(), '0') + hash;
}

void Fuser::emitLaunches() {
  Block &block = function.getBody().front();
  auto module = function->getParentOfType<ModuleOp>();
  // A group comes after all groups that it reads from; its siblings' launches are its own.
  SmallVector<unsigned> order;
  llvm::DenseSet<unsigned> done;
  std::function<void(unsigned)> visit = [&](unsigned group) {
    if (!done.insert(group).second)
      return;
    SmallVector<unsigned> together = groups[group].siblings;
    together.push_back(group);
    for (unsigned i = 0; i < together.size(); ++i)
      for (unsigned sibling : groups[together[i]].siblings)
        if (!llvm::is_contained(together, sibling))
          together.push_back(sibling);
    done.insert(together.begin(), together.end());
    for (unsigned member : together)
      for (Operation *op : groups[member].ops)
        for (Operation *producer : producersOf(readBy(op)))
          if (unsigned from = groupOf[producer]; !llvm::is_contained(together, from))
            visit(from);
    for (unsigned member : together)
      if (groups[member].built)
        order.push_back(member);
  };
  for (unsigned group = 0; group < groups.size(); ++group)
    if (!groups[group].ops.empty())
      visit(group);

  OpBuilder builder(block.getTerminator());
  SmallVector<Value> sizes;
  auto sizeOf = [&](unsigned symbol) {
    sizes.resize(shapes->getSymbols().size());
    if (!sizes[symbol]) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&block);
      SymbolicShapes::Symbol at = shapes->getSymbols()[symbol];
      sizes[symbol] = tensor::DimOp::create(builder, function.getLoc(),
                                            function.getArgument(at.argument), at.dimension);
    }
    return sizes[symbol];
  };
  llvm::DenseMap<Value, Value> launched;
  for (unsigned group : order) {
    BuiltKernel &built = *groups[group].built;
    KernelOp kernel = *built.kernel;
    // Promises about sizes stand behind the name, so that what scheduling does not use can go.
    std::string suffix = factSuffix(kernel);
    SizeFacts facts = factsOf(kernel);
    SmallVector<int64_t> multiples(facts.multiples), limits(facts.limits);
    setFacts(kernel, {});
    std::string name = nameOf(kernel) + suffix;
    setFacts(kernel, {multiples, limits});
    SmallVector<Value> symbols, tensors;
    for (unsigned symbol : built.symbols)
      symbols.push_back(sizeOf(symbol));
    for (Value tensor : built.tensors)
      tensors.push_back(launched.lookup(tensor) ? launched.lookup(tensor) : tensor);
    SmallVector<Type> types;
    for (Value output : built.outputs)
      types.push_back(output.getType());
    auto launch = LaunchOp::create(builder, kernel.getLoc(), types, name, symbols, tensors);
    // Tells the oracle which intermediates are rounded to their storage type.
    SmallVector<Attribute> stored;
    for (Value output : built.outputs)
      if (!isReturned(output))
        stored.push_back(output.getLoc());
    if (!stored.empty())
      launch->setAttr("swage.stored", builder.getArrayAttr(stored));
    for (auto [output, result] : llvm::zip_equal(built.outputs, launch.getOutputs()))
      launched[output] = result;
    if (!module.lookupSymbol(name)) {
      kernel.setSymName(name);
      module.push_back(built.kernel.release());
    }
  }
  for (OpOperand &operand : block.getTerminator()->getOpOperands())
    if (Value result = launched.lookup(operand.get()))
      operand.set(result);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !isa<func::ReturnOp>(op))
      op.erase();
}

LogicalResult Fuser::analyse() {
  FailureOr<SymbolicShapes> result = SymbolicShapes::of(function);
  if (failed(result))
    return failure();
  shapes = std::move(*result);
  return success();
}

/// Whether an earlier run has left nothing but launches; an op beside them is an error.
FailureOr<bool> Fuser::isDone() {
  if (function.getOps<LaunchOp>().empty())
    return false;
  for (Operation &op : function.getOps())
    if (isKernelNode(&op) || (isIndexOp(&op) && !isa<tensor::CastOp>(op)))
      return op.emitOpError() << "stands beside launches, but a function is fused as a whole";
  return true;
}

LogicalResult Fuser::run() {
  FailureOr<bool> done = isDone();
  if (failed(done) || *done)
    return success(succeeded(done));
  if (failed(checkKernelOps(function)))
    return failure();
  for (AttentionOp attention : llvm::to_vector(function.getOps<AttentionOp>()))
    mergeBatches(attention);
  if (fuse)
    sinkConcats(function);
  insertResultCopies(function, fuse);
  insertCacheCopies(function);
  if (failed(analyse()))
    return failure();
  insertCopiesBeforeCollectives();
  FailureOr<bool> split = true;
  while (succeeded(split) && *split) {
    if (failed(analyse()))
      return failure();
    split = splitIndexChain();
  }
  if (failed(split))
    return failure();
  if (fuse) {
    chooseInlined();
    keepReadersBuildable();
  }
  for (Operation &op : function.getBody().front())
    if (isKernelNode(&op) && !inlined.contains(&op) && !op.use_empty())
      nodes.push_back(&op);
  formGroups();
  for (Group &group : groups)
    if (!group.ops.empty() && !group.built) {
      std::string why;
      build(group.ops, why);
      return (*group.ops.begin())->emitOpError() << "cannot become a kernel: " << why;
    }
  if (fuse)
    mergeSiblings();
  emitLaunches();
  return success();
}

namespace {
struct FusePass : swage::impl::FusePassBase<FusePass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isDeclaration() && failed(Fuser(function, fuse).run()))
        return signalPassFailure();
  }
};
} // namespace
