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
#include "Fuser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"

namespace swage {
#define GEN_PASS_DEF_FUSEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

/// Ops in a chain that its readers compute again: a bound for recursion.
constexpr int64_t kMaxInlinedDepth = 64;
/// Index ops in a row that are cut into kernels one by one.
constexpr size_t kMaxIndexOps = 64;

//===----------------------------------------------------------------------===//
// Copies where one kernel cannot read as it must
//===----------------------------------------------------------------------===//

/// Whether one kernel serves the ops and all their accesses.
bool Fuser::isServed(const OpSet &ops) const {
  std::string why;
  std::optional<BuiltKernel> built = build(ops, why);
  return built && accessProblem(*built->kernel).empty();
}

/// Whether elements are made of few ones, however many they are.
static bool isMadeOfFew(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<BroadcastOp>(op) || isSourceOp(op) || op->hasTrait<OpTrait::ConstantLike>() ||
                (isa<arith::ExtFOp, arith::TruncFOp>(op) && isMadeOfFew(op->getOperand(0))));
}

/// Operands that are not made of few elements.
static SmallVector<Value> largeOperands(Operation *op) {
  SmallVector<Value> large;
  for (Value operand : op->getOperands())
    if (!isMadeOfFew(operand) && !llvm::is_contained(large, operand))
      large.push_back(operand);
  return large;
}

/// The permute that alone reads a value, or what elementwise ops make of it and of few others, or
/// null; `ops` are these.
static PermuteOp onlyPermuteOf(Value value, OpSet &ops) {
  PermuteOp permute;
  llvm::SetVector<Value> made;
  made.insert(value);
  for (size_t i = 0; i < made.size(); ++i)
    for (Operation *user : made[i].getUsers()) {
      if (auto read = dyn_cast<PermuteOp>(user); read && (!permute || read == permute)) {
        permute = read;
      } else if (isa<ReshapeOp>(user)) {
        made.insert(user->getResult(0));
      } else if (isElementwiseOp(user) && !isa<CopyOp>(user) &&
                 int64_t(ops.size()) < kMaxInlinedDepth) {
        ops.insert(user);
        made.insert(user->getResult(0));
      } else {
        return {};
      }
    }
  for (Operation *op : ops)
    for (Value operand : largeOperands(op))
      if (!made.contains(operand))
        return {};
  return permute;
}

/// Copies the result of a norm or softmax behind the permute that alone reads it, or what is made
/// of each of its elements, if that makes a kernel of it: rows that lie across memory are then read
/// and written with the grain.
bool Fuser::tryBehindPermute(Operation *op) {
  if (!isa<LayerNormOp, RmsNormOp, SoftmaxOp>(op))
    return false;
  OpSet all;
  PermuteOp permute = onlyPermuteOf(op->getResult(0), all);
  if (!permute)
    return false;
  all.insert(op);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(permute);
  auto copy = CopyOp::create(builder, permute.getLoc(), permute.getType(), permute);
  permute.getResult().replaceAllUsesExcept(copy, copy);
  all.insert(copy);
  if (failed(analyse()) || isServed(all)) { // what is wrong with the shapes is an error by now
    behindPermutes[op] = copy;
    return true;
  }
  copy.getResult().replaceAllUsesWith(permute);
  copy.erase();
  return failed(analyse());
}

/// A row that would be read against the grain is permuted by a kernel of its own first, and a table
/// of pages is looked at in memory.
void Fuser::insertCopiesBeforeCollectives() {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isKernelNode(&op) || isa<CopyOp>(op) || op.use_empty())
      continue;
    OpSet alone;
    alone.insert(&op);
    if (isServed(alone) || (fuse && tryBehindPermute(&op)))
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

/// Whether an op makes the result of a norm or softmax narrow, of which nothing else is read: so it
/// is stored, if at all.
static bool isRoundedResult(Operation *op) {
  Operation *made = isa<arith::TruncFOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  return made && isa<LayerNormOp, RmsNormOp, SoftmaxOp>(made) && made->getResult(0).hasOneUse() &&
         made->getResult(0) == op->getOperand(0);
}

/// An elementwise op whose operands are one large tensor and small ones costs its readers no more
/// bytes than its result would, so it is computed where it is read. One that reads several large
/// tensors is better stored once.
void Fuser::chooseInlined() {
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
        isAppendedTo(op.getResult(0)) || isRoundedResult(&op))
      continue;
    SmallVector<Value> large = largeOperands(&op);
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

/// The position among a kernel's tensors of the argument that an output is to lie in, if it is one
/// of them (`swage.alias`).
std::optional<unsigned> Fuser::overwrittenBy(BuiltKernel &built, unsigned output) {
  for (OpOperand &use : built.outputs[output].getUses()) {
    if (!isa<func::ReturnOp>(use.getOwner()))
      continue;
    auto alias = function.getResultAttrOfType<IntegerAttr>(use.getOperandNumber(), "swage.alias");
    if (!alias || !alias.getValue().ult(function.getNumArguments()))
      continue;
    auto *it = llvm::find(built.tensors, function.getArgument(alias.getValue().getZExtValue()));
    if (it != built.tensors.end())
      return it - built.tensors.begin();
  }
  return std::nullopt;
}

/// Whether what a kernel writes in front of a norm that does not come first may lie where it reads,
/// and the row may be too long for registers: then it is read once more.
bool Fuser::overwritesLongRow(BuiltKernel &built) {
  KernelOp kernel = *built.kernel;
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  if (llvm::none_of(llvm::drop_begin(collectives),
                    [](CollectiveOp collective) { return collective.isPerElement(0); }))
    return false;
  AffineExpr length = getAffineConstantExpr(1, kernel.getContext());
  for (int64_t dim : kernel.getReduced())
    length = length ? multiplySizes(length, kernel.getExtents().getResult(dim)) : length;
  std::optional<int64_t> most = length ? upperBound(length, factsOf(kernel)) : std::nullopt;
  if (most && *most > 0 && *most <= kMostInRegisters)
    return false;
  for (unsigned i = 0; i < built.outputs.size(); ++i)
    if (Phase phase = phaseOf(kernel, i);
        (phase == Phase::Prologue || phase == Phase::Between) && overwrittenBy(built, i))
      return true;
  return false;
}

/// Whether a kernel of several collectives would read what it has written over by then: an operand
/// that a later phase reads, or the same one for another output alone (InPlace.cpp).
bool Fuser::overwritesReadLater(BuiltKernel &built) {
  KernelOp kernel = *built.kernel;
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  if (collectives.size() < 2 || built.outputs.size() != kernel.getOutputs().size())
    return false;
  auto yielded = cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues();
  auto reads = [&](Value value, Phase phase, unsigned behind, unsigned input) {
    return inputsRead(kernel, value, phase, phase == Phase::Between ? behind - 1 : 0)
        .contains(input);
  };
  for (unsigned written = 0; written < built.outputs.size(); ++written) {
    std::optional<unsigned> tensor = overwrittenBy(built, written);
    if (!tensor)
      continue;
    unsigned place = collectivesBehind(kernel, yielded[written]);
    for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>())) {
      if (view.getSource() != Source::Memory || view.getTensor() != int64_t(*tensor))
        continue;
      bool needsIt = reads(yielded[written], phaseOf(kernel, written), place, i);
      for (unsigned behind = place; behind < collectives.size(); ++behind)
        if (reads(collectives[behind].getValue(), behind == 0 ? Phase::Prologue : Phase::Between,
                  behind, i) &&
            (behind > place || !needsIt))
          return true;
      for (auto [other, value] : llvm::enumerate(yielded)) {
        unsigned behind = collectivesBehind(kernel, value);
        if (behind >= place && reads(value, phaseOf(kernel, other), behind, i) &&
            (behind > place || !needsIt))
          return true;
      }
    }
  }
  return false;
}

/// Whether what lies where an argument does is written by a reduction across memory, which reads
/// its operands once more, or beside what others write.
bool Fuser::overwritesAcrossMemory(BuiltKernel &built) {
  KernelOp kernel = *built.kernel;
  std::optional<unsigned> principal = principalDim(kernel);
  if (kernel.isAttention() || kernel.getReduced().empty() || !principal ||
      llvm::is_contained(kernel.getReduced(), int64_t(*principal)) ||
      hasElementResult(kernel.getCollective().getKind()))
    return false;
  return llvm::any_of(llvm::seq<unsigned>(0, built.outputs.size()),
                      [&](unsigned i) { return overwrittenBy(built, i).has_value(); });
}

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
  else if (built && overwritesLongRow(*built))
    why = "a row that may be too long for registers is written over what it is read from";
  else if (built && (overwritesReadLater(*built) || overwritesAcrossMemory(*built)))
    why = "an operand would be written over before it is read for the last time";
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
  SmallVector<Operation *> ofCaches = producersOf({attention.getK(), attention.getV()});
  add(ofCaches, /*isAdded=*/false);
  if (parts.empty())
    return;
  for (Operation *producer : ofCaches)
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
  SmallVector<std::pair<Operation *, Operation *>> waiting; ///< for other merges, with a producer
  for (Operation *op : nodes) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      tryStep(attention);
    SmallVector<Operation *> producers = producersOf(readBy(op));
    llvm::sort(producers, [](Operation *x, Operation *y) { return y->isBeforeInBlock(x); });
    for (Operation *producer : producers) {
      if (groupOf[producer] == groupOf[op] || (isa<AttentionOp>(op) && isa<AppendOp>(producer)))
        continue;
      // A kernel has so many collectives at most. The largest absolute values of a norm's elements,
      // by which they are quantised, save more behind it than it would behind another one. And rows
      // that lie across memory are written with the grain together with their copy alone.
      bool isBehindNorm = isa<LayerNormOp, RmsNormOp>(op) &&
                          llvm::any_of(groups[groupOf[producer]].ops, isCollectiveOp);
      if (isBehindNorm || behindPermutes.contains(op))
        waiting.push_back({op, producer});
      else
        tryMerge(groupOf[op], groupOf[producer], op);
    }
  }
  // What is in between is written against the grain with the norm alone, and so has gone to the
  // copy.
  for (auto [norm, copy] : behindPermutes)
    if (groupOf[norm] != groupOf[copy])
      tryMerge(groupOf[copy], groupOf[norm], copy);
  for (auto [op, producer] : waiting)
    if (groupOf[producer] != groupOf[op])
      tryMerge(groupOf[op], groupOf[producer], op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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
