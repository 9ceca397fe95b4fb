//===- FuseLaunches.cpp - Groups as kernels and launches ------------------===//

#include "Fuser.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace swage;

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
  } else if (CollectiveOp first = kernel.getCollective()) {
    name = stringifyCollective(first.getKind()).str();
    if (!hasElementResult(first.getKind()))
      name = "reduce_" + name;
    SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
    if (collectives.size() == 2)
      name += ("_" + stringifyCollective(collectives.back().getKind())).str();
    else if (collectives.size() > 2)
      name += "_and_" + std::to_string(collectives.size() - 1) + "_more";
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
