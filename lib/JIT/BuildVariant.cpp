//===- BuildVariant.cpp - A prepared module as plain data -----------------===//
//
// Reads launches and kernels from a module that the passes are done with, and turns everything that
// depends on sizes from affine expressions into those that the runtime evaluates by itself.
//
//===----------------------------------------------------------------------===//
#include "BuildVariant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Analysis/InPlace.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace swage;

//===----------------------------------------------------------------------===//
// Reading the prepared module
//===----------------------------------------------------------------------===//

static std::string familyName(KernelOp kernel) {
  mlir::Attribute schedule = kernel.getScheduleAttr();
  if (auto row = mlir::dyn_cast_or_null<RowScheduleAttr>(schedule))
    return "row " + stringifyRowClass(row.getKind()).str();
  if (auto permute = mlir::dyn_cast_or_null<PermuteScheduleAttr>(schedule))
    return "permute " + stringifyPermuteClass(permute.getKind()).str();
  if (mlir::isa_and_nonnull<BoxScheduleAttr>(schedule))
    return "permute boxes";
  if (mlir::isa_and_nonnull<AttentionScheduleAttr, PortableAttentionScheduleAttr>(schedule))
    return "attention";
  if (mlir::isa_and_nonnull<DecodeScheduleAttr>(schedule))
    return "attention decode";
  return mlir::isa_and_nonnull<ReduceScheduleAttr>(schedule) ? "reduce" : "pointwise";
}

/// What a kernel was made from: the graph's ops at the locations that its loc lists.
static std::vector<std::string> provenance(KernelOp kernel, ProgramIR &program) {
  std::map<mlir::Location, mlir::Operation *, bool (*)(mlir::Location, mlir::Location)> at(
      [](mlir::Location a, mlir::Location b) {
        return a.getAsOpaquePointer() < b.getAsOpaquePointer();
      });
  program.entry.walk([&](mlir::Operation *op) { at[op->getLoc()] = op; });
  std::vector<std::string> ops;
  kernel.getLoc()->walk([&](mlir::Location location) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location);
    auto op = at.find(location);
    if (!file || op == at.end() || mlir::isa<mlir::arith::ConstantOp>(op->second))
      return mlir::WalkResult::advance();
    std::string text = fmt::format("{} at {}:{}", op->second->getName().getStringRef().str(),
                                   file.getLine(), file.getColumn());
    if (!llvm::is_contained(ops, text))
      ops.push_back(text);
    return mlir::WalkResult::advance();
  });
  return ops;
}

/// The argument's extent that a launch gets as a runtime size.
static std::optional<SymbolicLaunch::Size> sizeOf(mlir::Value value) {
  auto dim = value.getDefiningOp<mlir::tensor::DimOp>();
  auto argument = dim ? mlir::dyn_cast<mlir::BlockArgument>(dim.getSource()) : nullptr;
  llvm::APInt index;
  if (!argument || !mlir::matchPattern(dim.getIndex(), mlir::m_ConstantInt(&index)))
    return std::nullopt;
  return SymbolicLaunch::Size{argument.getArgNumber(), unsigned(index.getZExtValue())};
}

static mlir::Value behindCasts(mlir::Value value) {
  while (auto cast = value.getDefiningOp<mlir::tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// Launches and kernels of the entry function, in order.
static Status readLaunches(ProgramIR &program, LoweredModule &lowered) {
  Variant &variant = *lowered.variant;
  auto entry = lowered.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  auto failure = [&](mlir::Operation *op, const char *why) {
    return makeError(Stage::Lower, fmt::format("{}: '{}' {}", describeLocation(op->getLoc()),
                                               op->getName().getStringRef().str(), why));
  };
  llvm::DenseMap<mlir::Value, SymbolicLaunch::Place> places;
  for (mlir::BlockArgument argument : entry.getArguments())
    places[argument] = {BufferKind::Input, argument.getArgNumber()};
  mlir::Operation *terminator = entry.getBody().front().getTerminator();
  for (mlir::OpOperand &operand : terminator->getOpOperands()) {
    mlir::Value value = behindCasts(operand.get());
    if (!value.getDefiningOp<LaunchOp>() || places.count(value))
      return failure(terminator, "returns a value that no kernel writes");
    places[value] = {BufferKind::Output, operand.getOperandNumber()};
  }
  for (mlir::Operation &op : entry.getBody().front()) {
    auto launch = mlir::dyn_cast<LaunchOp>(op);
    if (!launch) {
      if (mlir::isa<mlir::tensor::DimOp, mlir::tensor::CastOp, mlir::arith::ConstantOp,
                    mlir::func::ReturnOp>(op))
        continue;
      return failure(&op, "is left over: no kernel computes it");
    }
    SymbolicLaunch symbolic;
    auto kernel = lowered.module->lookupSymbol<KernelOp>(launch.getKernel());
    auto known = llvm::find(lowered.kernels, kernel);
    symbolic.kernel = unsigned(known - lowered.kernels.begin());
    if (known == lowered.kernels.end())
      lowered.kernels.push_back(kernel);
    for (mlir::Value size : launch.getSizes()) {
      auto place = sizeOf(size);
      if (!place)
        return failure(launch, "has a size that is no extent of an argument");
      symbolic.sizes.push_back(*place);
    }
    for (mlir::Value tensor : launch.getTensors()) {
      auto place = places.find(behindCasts(tensor));
      if (place == places.end())
        return failure(launch, "reads a value that no kernel writes");
      symbolic.inputs.push_back(place->second);
    }
    for (mlir::Value output : launch.getOutputs()) {
      auto place = places.try_emplace(
          output, SymbolicLaunch::Place{BufferKind::Workspace, variant.workspaceValues});
      variant.workspaceValues += place.second;
      symbolic.outputs.push_back(place.first->second);
    }
    if (auto stored = launch->getAttrOfType<mlir::ArrayAttr>("swage.stored"))
      for (mlir::Attribute attr : stored)
        if (auto location = mlir::dyn_cast<mlir::LocationAttr>(attr))
          mlir::Location(location)->walk([&](mlir::Location inner) {
            auto file = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
            if (!file)
              return mlir::WalkResult::advance();
            variant.storedLocations.push_back(
                fmt::format("{}:{}", file.getLine(), file.getColumn()));
            return mlir::WalkResult::interrupt();
          });
    variant.launches.push_back(std::move(symbolic));
  }
  return {};
}

/// A value that the graph computes twice, once to return it, is computed once; then both uses see
/// what is stored. Adds the places of such twins to what the reference must know of.
static void addTwins(ProgramIR &program, Variant &variant) {
  std::map<std::vector<const void *>, mlir::Operation *> first;
  llvm::DenseMap<mlir::Value, mlir::Value> classOf;
  auto leaderOf = [&](mlir::Value value) {
    auto known = classOf.find(value);
    return known == classOf.end() ? value : known->second;
  };
  llvm::DenseSet<mlir::Value> kept; // leaders of classes with a returned or stored member
  auto lineAndColumn = [](mlir::Operation *op) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(op->getLoc());
    return file ? fmt::format("{}:{}", file.getLine(), file.getColumn()) : std::string();
  };
  mlir::Block &block = program.entry.getBody().front();
  for (mlir::Operation &op : block) {
    std::vector<const void *> key{op.getName().getAsOpaquePointer(),
                                  op.getAttrDictionary().getAsOpaquePointer()};
    for (mlir::Value operand : op.getOperands())
      key.push_back(leaderOf(operand).getAsOpaquePointer());
    for (mlir::Type type : op.getResultTypes())
      key.push_back(type.getAsOpaquePointer());
    mlir::Operation *leader = first.try_emplace(std::move(key), &op).first->second;
    bool isStored = llvm::is_contained(variant.storedLocations, lineAndColumn(&op));
    for (auto [own, leading] : llvm::zip(op.getResults(), leader->getResults())) {
      classOf[own] = leading;
      if (isStored || llvm::is_contained(block.getTerminator()->getOperands(), own))
        kept.insert(leading);
    }
  }
  auto isTwin = [&](mlir::Value result) {
    return kept.contains(leaderOf(result)) &&
           !llvm::is_contained(block.getTerminator()->getOperands(), result);
  };
  for (mlir::Operation &op : block)
    if (std::string place = lineAndColumn(&op); !place.empty() &&
                                                llvm::any_of(op.getResults(), isTwin) &&
                                                !llvm::is_contained(variant.storedLocations, place))
      variant.storedLocations.push_back(place);
}

bool swage::isAlwaysEmpty(KernelOp kernel) {
  for (auto [dim, extent] : llvm::enumerate(kernel.getExtents().getResults()))
    if (!llvm::is_contained(kernel.getReduced(), int64_t(dim)))
      if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(extent);
          constant && constant.getValue() == 0)
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static void append(mlir::AffineExpr expr, SizeExpression &to) {
  using Op = SizeExpression::Op;
  if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    to.steps.push_back({Op::Constant, constant.getValue()});
    return;
  }
  if (auto symbol = mlir::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    to.steps.push_back({Op::Symbol, int64_t(symbol.getPosition())});
    return;
  }
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
  append(binary.getLHS(), to);
  append(binary.getRHS(), to);
  switch (binary.getKind()) {
  case mlir::AffineExprKind::Add:
    return to.steps.push_back({Op::Add, 0});
  case mlir::AffineExprKind::Mul:
    return to.steps.push_back({Op::Multiply, 0});
  case mlir::AffineExprKind::FloorDiv:
    return to.steps.push_back({Op::FloorDivide, 0});
  case mlir::AffineExprKind::CeilDiv:
    return to.steps.push_back({Op::CeilDivide, 0});
  default:
    return to.steps.push_back({Op::Modulo, 0});
  }
}

/// What left 64 bits while it was put together is null, and has no value at run time either.
static SizeExpression sizeExpression(mlir::AffineExpr expr) {
  SizeExpression result;
  if (expr)
    append(expr, result);
  return result;
}

static SizeExpression leastOf(llvm::ArrayRef<mlir::AffineExpr> exprs) {
  SizeExpression least = sizeExpression(exprs.front());
  for (mlir::AffineExpr expr : exprs.drop_front()) {
    SizeExpression next = sizeExpression(expr);
    least.steps.insert(least.steps.end(), next.steps.begin(), next.steps.end());
    least.steps.push_back({SizeExpression::Op::Min, 0});
  }
  return least;
}

template <class Range> static std::vector<SizeExpression> sizeExpressions(Range exprs) {
  std::vector<SizeExpression> result;
  for (mlir::AffineExpr expr : exprs)
    result.push_back(sizeExpression(expr));
  return result;
}

/// The tile of a view, if it has one.
static std::optional<SymbolicTile> symbolicTile(LaunchAttr geometry, bool isOutput,
                                                size_t position) {
  TileAttr tile = geometry.tileOf(isOutput, int64_t(position));
  if (!tile)
    return std::nullopt;
  SymbolicTile symbolic;
  symbolic.dims.assign(tile.getDims().begin(), tile.getDims().end());
  symbolic.box.assign(tile.getBox().begin(), tile.getBox().end());
  symbolic.swizzle = unsigned(tile.getSwizzle());
  return symbolic;
}

/// Those of views that have a parameter. Of a random stream the whole state is read,
/// whatever the position in the stream.
static std::vector<SymbolicView> symbolicViews(KernelOp kernel, bool isOutput) {
  std::vector<SymbolicView> result;
  mlir::ArrayAttr views = isOutput ? kernel.getOutputs() : kernel.getInputs();
  for (auto [position, view] : llvm::enumerate(views.getAsRange<ViewAttr>())) {
    if (!hasParameter(view.getSource()))
      continue;
    LinearAccess access = *LinearAccess::of(view.getAccess());
    mlir::Type element = view.getElement();
    if (view.getSource() == Source::Random) {
      element = mlir::IntegerType::get(element.getContext(), 64);
      for (mlir::AffineExpr &stride : access.strides)
        stride = mlir::getAffineConstantExpr(0, element.getContext());
      access.offset = mlir::getAffineConstantExpr(1, element.getContext());
    }
    SymbolicView symbolic;
    symbolic.tensor = unsigned(view.getTensor());
    llvm::raw_string_ostream(symbolic.element) << element;
    symbolic.elementBytes = elementBytes(element);
    symbolic.alignment = uint64_t(view.getAlign());
    symbolic.shape = sizeExpressions(view.getShape().getResults());
    // Of an output that is written by rows it is the last one.
    if (ViewAttr rows = isOutput ? kernel.getRowsOf(unsigned(position)) : ViewAttr()) {
      mlir::AffineExpr last = addSizes(
          rows.getShape().getResult(0), mlir::getAffineConstantExpr(-1, element.getContext()));
      last = last ? multiplySizes(last, rows.getAccess().getResult(0)) : last;
      access.offset = last ? addSizes(access.offset, last) : last;
    }
    symbolic.strides = sizeExpressions(access.strides);
    symbolic.offset = sizeExpression(access.offset);
    symbolic.tile = symbolicTile(kernel.getGeometryAttr(), isOutput, position);
    if (mlir::AffineMap extents = view.getExtents())
      symbolic.extents = sizeExpressions(extents.getResults());
    result.push_back(std::move(symbolic));
  }
  return result;
}

static SymbolicKernel symbolicKernel(KernelOp kernel) {
  LaunchAttr geometry = kernel.getGeometryAttr();
  SymbolicKernel symbolic;
  symbolic.extents = sizeExpressions(kernel.getExtents().getResults());
  symbolic.isReduced.resize(kernel.getRank());
  for (int64_t dim : kernel.getReduced())
    symbolic.isReduced[size_t(dim)] = true;
  SizeFacts facts = factsOf(kernel);
  if (kernel.getMultiples() || kernel.getLimits())
    for (unsigned symbol = 0; symbol < kernel.getSymbols(); ++symbol)
      symbolic.facts.push_back({facts.multipleOf(symbol), facts.limitOf(symbol)});
  symbolic.blocks = leastOf(geometry.getBlocks().getResults());
  symbolic.dividers = sizeExpressions(geometry.getDividers().getResults());
  symbolic.largestOffsets = sizeExpressions(largestOffsets(kernel));
  symbolic.bytesMoved = sizeExpression(bytesMoved(kernel));
  symbolic.inputs = symbolicViews(kernel, /*isOutput=*/false);
  symbolic.outputs = symbolicViews(kernel, /*isOutput=*/true);
  auto inPlace = inPlacePairs(kernel);
  symbolic.inPlace.assign(inPlace.begin(), inPlace.end());
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (isRow(view.getSource()) && view.getSource() != Source::PagedRow)
      symbolic.rows.push_back({sizeExpression(view.getShape().getResult(0)),
                               sizeExpression(view.getShape().getResult(1))});
  auto kept = keptPairs(kernel);
  symbolic.kept.assign(kept.begin(), kept.end());
  symbolic.elementsPerBlock = elementsPerBlock(kernel);
  return symbolic;
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

/// The alignment that the kernels may count on; no access is wider than 16 bytes.
static uint8_t alignmentOf(mlir::Attribute attr) {
  auto bytes = mlir::dyn_cast_or_null<mlir::IntegerAttr>(attr);
  return bytes ? uint8_t(std::clamp<int64_t>(bytes.getInt(), 1, 16)) : 16;
}

std::vector<Guards::Extent> swage::promisesOf(mlir::func::FuncOp entry) {
  std::vector<Guards::Extent> extents;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = mlir::cast<mlir::RankedTensorType>(entry.getArgumentTypes()[i]);
    auto multiples = entry.getArgAttrOfType<mlir::DenseI64ArrayAttr>(i, SwageDialect::kMultipleOf);
    auto limits = entry.getArgAttrOfType<mlir::DenseI64ArrayAttr>(i, SwageDialect::kAtMost);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(unsigned(dim)))
        extents.push_back({multiples && dim < multiples.size() ? multiples[dim] : 1,
                           limits && dim < limits.size() ? limits[dim] : 0});
  }
  return extents;
}

/// What the entry's attributes promise.
static Guards readGuards(mlir::func::FuncOp entry, const std::string &arch, int indexBits) {
  Guards guards;
  guards.arch = arch;
  guards.indexBits = indexBits == 64 ? 64 : 32;
  guards.extents = promisesOf(entry);
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    guards.alignment.push_back(alignmentOf(entry.getArgAttr(i, "swage.alignment")));
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    guards.alignment.push_back(alignmentOf(entry.getResultAttr(i, "swage.alignment")));
  return guards;
}

//===----------------------------------------------------------------------===//
// Memory that the caller shares
//===----------------------------------------------------------------------===//

/// Why a result must not be the memory of an argument; empty if it may. What was read before the
/// result is written does not matter; after that the argument is gone.
static std::string aliasProblem(const Variant &variant, unsigned result, unsigned argument) {
  bool isWritten = false;
  for (const SymbolicLaunch &launch : variant.launches) {
    const std::string &name = variant.kernels[launch.kernel].name;
    auto isArgument = [&](SymbolicLaunch::Place place) {
      return place.kind == BufferKind::Input && place.index == argument;
    };
    auto isResult = [&](SymbolicLaunch::Place place) {
      return place.kind == BufferKind::Output && place.index == result;
    };
    auto reads = std::find_if(launch.inputs.begin(), launch.inputs.end(), isArgument);
    auto writes = std::find_if(launch.outputs.begin(), launch.outputs.end(), isResult);
    if (reads != launch.inputs.end() && isWritten)
      return fmt::format("kernel @{} reads the argument after the result is written", name);
    if (writes == launch.outputs.end())
      continue;
    isWritten = true;
    if (reads == launch.inputs.end())
      continue;
    std::pair<unsigned, unsigned> pair(unsigned(writes - launch.outputs.begin()),
                                       unsigned(reads - launch.inputs.begin()));
    if (!llvm::is_contained(variant.symbolic[launch.kernel].inPlace, pair) ||
        llvm::count_if(launch.inputs, isArgument) != 1)
      return fmt::format("kernel @{} may read the argument's elements after they are written",
                         name);
  }
  return "";
}

/// `swage.alias = N` on a result: the caller may pass the memory of argument N for it.
static Status readAliases(mlir::func::FuncOp entry, Variant &variant) {
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    mlir::Attribute attr = entry.getResultAttr(i, "swage.alias");
    if (!attr)
      continue;
    auto error = [&](const std::string &why) {
      return makeError(Stage::Lower,
                       fmt::format("{}: result {} {}", describeLocation(entry.getLoc()), i, why));
    };
    auto number = mlir::dyn_cast<mlir::IntegerAttr>(attr);
    if (!number || !number.getValue().ult(entry.getNumArguments())) {
      std::string text;
      llvm::raw_string_ostream(text) << attr;
      return error(
          fmt::format("has swage.alias = {}; needed: the number of one of the {} arguments", text,
                      entry.getNumArguments()));
    }
    unsigned argument = unsigned(number.getValue().getZExtValue());
    if (std::string problem = aliasProblem(variant, i, argument); !problem.empty())
      return error(fmt::format("cannot be the memory of argument {}: {}", argument, problem));
    for (auto [other, taken] : variant.aliases)
      if (taken == argument)
        return error(
            fmt::format("cannot be the memory of argument {}: result {} is", argument, other));
    variant.aliases.push_back({i, argument});
  }
  return {};
}

Status swage::buildVariant(ProgramIR &program, const std::string &arch, int indexBits,
                           LoweredModule &lowered) {
  Variant &variant = *lowered.variant;
  variant.entryName = program.entryName;
  variant.inputs = program.inputs;
  variant.results = program.results;
  auto entry = lowered.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  variant.guards = readGuards(entry, arch, indexBits);
  if (Status read = readLaunches(program, lowered); !read)
    return read;
  addTwins(program, variant);
  for (KernelOp kernel : lowered.kernels) {
    KernelInfo info;
    info.name = kernel.getSymName().str();
    info.family = familyName(kernel);
    llvm::raw_string_ostream(info.schedule) << kernel.getScheduleAttr();
    info.ops = provenance(kernel, program);
    LaunchAttr geometry = kernel.getGeometryAttr();
    info.threads = unsigned(geometry.getThreads());
    info.clusterSize = unsigned(geometry.getCluster());
    info.dynamicSharedBytes = unsigned(geometry.getSharedBytes());
    info.scratchBytes = unsigned(geometry.getScratchBytes());
    info.overlap = geometry.getOverlap();
    info.indexBits = int(indexBitsOf(kernel.getScheduleAttr()));
    variant.kernels.push_back(std::move(info));
    variant.symbolic.push_back(symbolicKernel(kernel));
  }
  return readAliases(entry, variant);
}
