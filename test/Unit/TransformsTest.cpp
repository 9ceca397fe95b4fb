//===- TransformsTest.cpp - Properties of merging and fusion --------------===//
//
// What must hold for every input, held against brute force on random ones: merging dimensions
// visits the same offsets together, fusion never adds bytes, is done after one run, and says the
// same in every process. A failure names the seed that reproduces it.
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/Transforms/MergeDimensions.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Pipelines/Pipelines.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace mlir;
using namespace swage;

//===----------------------------------------------------------------------===//
// Merging dimensions, against brute force
//===----------------------------------------------------------------------===//

namespace {

/// A space whose sizes are numbers.
struct Concrete {
  std::vector<int64_t> extents;
  std::vector<bool> reduced;
  std::vector<std::vector<int64_t>> strides; ///< by operand
  std::vector<int64_t> offsets;
};

Concrete at(const IterationSpace &space, ArrayRef<int64_t> symbols) {
  Concrete result;
  auto number = [&](AffineExpr expr) { return *evaluateSize(expr, symbols); };
  for (AffineExpr extent : space.extents)
    result.extents.push_back(number(extent));
  result.reduced.assign(space.reduced.begin(), space.reduced.end());
  for (const LinearAccess &access : space.accesses) {
    result.strides.emplace_back();
    for (AffineExpr stride : access.strides)
      result.strides.back().push_back(number(stride));
    result.offsets.push_back(number(access.offset));
  }
  return result;
}

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// For every point of the kept dimensions a hash of the multiset of the operands' offsets over the
/// reduced ones; sorted, because the order of the points is free.
std::vector<uint64_t> rowsOf(const Concrete &space) {
  std::vector<size_t> dims;
  for (bool reduced : {false, true})
    for (size_t d = 0; d < space.extents.size(); ++d)
      if (space.reduced[d] == reduced)
        dims.push_back(d);
  int64_t points = 1, inRow = 1;
  for (size_t d : dims) {
    points *= space.extents[d];
    inRow *= space.reduced[d] ? space.extents[d] : 1;
  }
  std::vector<uint64_t> rows;
  for (int64_t point = 0; point < points; ++point) {
    if (point % inRow == 0)
      rows.push_back(0);
    int64_t left = point;
    std::vector<int64_t> offsets = space.offsets;
    for (size_t i = dims.size(); i-- > 0;) {
      int64_t d = static_cast<int64_t>(dims[i]), coordinate = left % space.extents[d];
      left /= space.extents[d];
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += coordinate * space.strides[k][d];
    }
    uint64_t tuple = 0;
    for (int64_t offset : offsets)
      tuple = mix(tuple ^ (static_cast<uint64_t>(offset) + 0x9e3779b97f4a7c15u));
    rows.back() += mix(tuple);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T> T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<int64_t>(from.size()))];
  }

private:
  std::mt19937_64 engine;
};

/// Operands as graphs make them: permuted, padded, broadcast and offset.
IterationSpace randomSpace(Random &random, MLIRContext *context, bool symbolic) {
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, context); };
  IterationSpace space;
  int64_t rank = 1 + random.below(8), points = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = random.pick<int64_t>({1, 2, 3, 4, 5, 7});
    if (points * extent > 20000)
      extent = 1;
    bool isSymbol = symbolic && random.chance(40);
    points *= isSymbol ? 4 : extent;
    space.extents.push_back(isSymbol ? getAffineSymbolExpr(random.below(3), context)
                                     : constant(extent));
  }
  bool reduces = random.chance(50);
  int64_t firstReduced = random.below(rank + 1), length = 1 + random.below(rank);
  bool scattered = random.chance(20);
  for (int64_t d = 0; d < rank; ++d)
    space.reduced.push_back(
        reduces &&
        (scattered ? random.chance(50) : d >= firstReduced && d < firstReduced + length));
  if (reduces && random.chance(30))
    for (bool reduced : space.reduced)
      space.grouped.push_back(reduced && random.chance(50));
  int64_t operands = 1 + random.below(4);
  for (int64_t k = 0; k < operands; ++k) {
    std::vector<int64_t> order;
    for (int64_t d = 0; d < rank; ++d)
      order.push_back(d);
    if (random.chance(40))
      std::rotate(order.begin(), order.begin() + random.below(rank), order.end());
    else if (random.chance(40))
      for (int64_t d = rank - 1; d > 0; --d)
        std::swap(order[d], order[random.below(d + 1)]);
    LinearAccess access;
    access.strides.assign(rank, constant(0));
    access.offset = constant(random.chance(30) ? random.below(100) : 0);
    AffineExpr stride = constant(1);
    int64_t broadcasts = random.pick({0, 0, 25, 50}), gaps = random.pick({0, 0, 20});
    for (int64_t i = rank; i-- > 0;) {
      int64_t d = order[i];
      if (random.chance(static_cast<int>(broadcasts)))
        continue;
      access.strides[d] = stride;
      stride = multiplySizes(stride, space.extents[d]);
      if (random.chance(static_cast<int>(gaps)))
        stride = addSizes(stride, constant(1 + random.below(5)));
    }
    space.accesses.push_back(access);
  }
  return space;
}

std::string textOf(const IterationSpace &space) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [extent, reduced] : llvm::zip(space.extents, space.reduced))
    os << extent << (reduced ? "r " : " ");
  for (bool grouped : space.grouped)
    os << (grouped ? "g" : "-");
  for (const LinearAccess &access : space.accesses) {
    os << "| ";
    for (AffineExpr stride : access.strides)
      os << stride << " ";
    os << "+ " << access.offset << " ";
  }
  return text;
}

/// What holds for the result whatever the space was.
void checkShape(const IterationSpace &space, const IterationSpace &merged, unsigned keptLeader,
                unsigned reducedLeader) {
  size_t rank = merged.extents.size();
  ASSERT_GE(rank, 1u);
  ASSERT_EQ(merged.reduced.size(), rank);
  ASSERT_EQ(merged.grouped.size(), space.grouped.empty() ? 0 : rank);
  for (size_t d = 0; d < merged.grouped.size(); ++d)
    EXPECT_LE(merged.grouped[d], merged.reduced[d]);
  ASSERT_EQ(merged.accesses.size(), space.accesses.size());
  EXPECT_EQ(llvm::is_contained(space.reduced, true), llvm::is_contained(merged.reduced, true));
  EXPECT_TRUE(llvm::is_contained(merged.reduced, false));
  for (auto [access, before] : llvm::zip(merged.accesses, space.accesses)) {
    ASSERT_EQ(access.strides.size(), rank);
    EXPECT_EQ(access.offset, before.offset);
  }
  for (size_t d = 0; d < rank; ++d) {
    // An extent of 1 only stands for a kind that has no other.
    if (constantSize(merged.extents[d]) == 1) {
      EXPECT_EQ(llvm::count(merged.reduced, merged.reduced[d]), 1);
    }
    if (d == 0)
      continue;
    EXPECT_LE(merged.reduced[d - 1], merged.reduced[d]) << "kept dimensions come first";
    if (merged.reduced[d - 1] != merged.reduced[d])
      continue;
    if (!merged.grouped.empty()) {
      EXPECT_LE(merged.grouped[d - 1], merged.grouped[d]) << "groups come last";
      if (merged.grouped[d - 1] != merged.grouped[d])
        continue;
    }
    bool mergeable = static_cast<bool>(multiplySizes(merged.extents[d - 1], merged.extents[d]));
    for (const LinearAccess &access : merged.accesses)
      mergeable =
          mergeable && access.strides[d - 1] == multiplySizes(access.strides[d], merged.extents[d]);
    EXPECT_FALSE(mergeable) << "dimensions " << d - 1 << " and " << d;
    // Where the leader moves along both, it takes the larger steps outside.
    const LinearAccess &leader = merged.accesses[merged.reduced[d] ? reducedLeader : keptLeader];
    std::optional<int64_t> outer = constantSize(leader.strides[d - 1]),
                           inner = constantSize(leader.strides[d]);
    if (outer && inner && *outer != 0 && *inner != 0) {
      EXPECT_GE(*outer, *inner) << "dimensions " << d - 1 << " and " << d;
    }
  }
}

} // namespace

TEST(MergeDimensions, visitsTheSameOffsetsTogether) {
  MLIRContext context;
  int64_t ranksBefore = 0, ranksAfter = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    IterationSpace space = randomSpace(random, &context, /*symbolic=*/false);
    unsigned kept = random.below(space.accesses.size()),
             reduced = random.below(space.accesses.size());
    IterationSpace merged = mergeDimensions(space, kept, reduced, &context);
    ranksBefore += static_cast<int64_t>(space.extents.size());
    ranksAfter += static_cast<int64_t>(merged.extents.size());
    checkShape(space, merged, kept, reduced);
    EXPECT_EQ(rowsOf(at(space, {})), rowsOf(at(merged, {})));
    if (!space.grouped.empty()) {
      Concrete before = at(space, {}), after = at(merged, {});
      before.reduced.assign(space.grouped.begin(), space.grouped.end());
      after.reduced.assign(merged.grouped.begin(), merged.grouped.end());
      EXPECT_EQ(rowsOf(before), rowsOf(after)) << "the groups are others";
    }
    IterationSpace again = mergeDimensions(merged, kept, reduced, &context);
    EXPECT_EQ(textOf(again), textOf(merged)) << "a second run finds something to do";
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n"
                               << textOf(space) << "\n"
                               << textOf(merged);
  }
  // The cases are of the interesting kind: a good part of the dimensions goes, and not all.
  EXPECT_LT(ranksAfter, ranksBefore * 3 / 4);
  EXPECT_GT(ranksAfter, ranksBefore / 4);
}

TEST(MergeDimensions, holdsForEveryValueOfRuntimeExtents) {
  MLIRContext context;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    IterationSpace space = randomSpace(random, &context, /*symbolic=*/true);
    unsigned kept = random.below(space.accesses.size()),
             reduced = random.below(space.accesses.size());
    IterationSpace merged = mergeDimensions(space, kept, reduced, &context);
    checkShape(space, merged, kept, reduced);
    using Sizes = std::array<int64_t, 3>;
    for (const Sizes &symbols : {Sizes{2, 3, 1}, Sizes{1, 1, 4}, Sizes{3, 0, 2}, Sizes{2, 2, 2}})
      EXPECT_EQ(rowsOf(at(space, symbols)), rowsOf(at(merged, symbols)))
          << symbols[0] << " " << symbols[1] << " " << symbols[2];
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n"
                               << textOf(space) << "\n"
                               << textOf(merged);
  }
}

TEST(MergeDimensions, neverWraps) {
  MLIRContext context;
  constexpr int64_t k31 = int64_t(1) << 31, k62 = int64_t(1) << 62;
  auto modulo = [](const IterationSpace &space) {
    unsigned __int128 product = 1;
    for (AffineExpr extent : space.extents)
      product *= static_cast<unsigned __int128>(*constantSize(extent));
    return product;
  };
  auto logarithm = [](const IterationSpace &space) {
    double sum = 0;
    for (AffineExpr extent : space.extents)
      sum += std::log2(static_cast<double>(*constantSize(extent)));
    return sum;
  };
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    IterationSpace space;
    int64_t rank = 2 + random.below(4);
    for (int64_t d = 0; d < rank; ++d)
      space.extents.push_back(getAffineConstantExpr(
          random.pick<int64_t>({1, 2, 3, k31 - 1, k31, k31 + 1, k31 * 256, k62 - 1, k62,
                                std::numeric_limits<int64_t>::max()}),
          &context));
    space.reduced.assign(rank, false);
    for (int64_t k = 0; k < 2; ++k) {
      LinearAccess access;
      access.offset = getAffineConstantExpr(0, &context);
      access.strides.assign(rank, access.offset);
      AffineExpr stride = getAffineConstantExpr(1, &context);
      // An operand ends where its strides leave 64 bits; from there on it stands still.
      for (int64_t d = rank; d-- > 0 && stride;) {
        access.strides[d] = stride;
        stride = multiplySizes(stride, space.extents[d]);
      }
      space.accesses.push_back(access);
    }
    IterationSpace merged = mergeDimensions(space, 0, 0, &context);
    for (AffineExpr extent : merged.extents)
      EXPECT_GT(*constantSize(extent), 0);
    EXPECT_TRUE(modulo(space) == modulo(merged));
    EXPECT_NEAR(logarithm(space), logarithm(merged), 1e-6);
    checkShape(space, merged, 0, 0);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n"
                               << textOf(space) << "\n"
                               << textOf(merged);
  }
}

TEST(MergeDimensions, mergesRuntimeExtentsIntoProducts) {
  MLIRContext context;
  AffineExpr s0 = getAffineSymbolExpr(0, &context), s1 = getAffineSymbolExpr(1, &context);
  SmallVector<AffineExpr> shape = {s0, getAffineConstantExpr(4, &context), s1};
  IterationSpace space;
  space.extents = shape;
  space.reduced.assign(3, false);
  space.accesses = {{rowMajorStrides(shape, &context), getAffineConstantExpr(0, &context)}};
  IterationSpace merged = mergeDimensions(space, 0, 0, &context);
  ASSERT_EQ(merged.extents.size(), 1u);
  EXPECT_EQ(merged.extents[0], normalizeSize(s0 * s1 * 4));
}

TEST(MergeDimensions, emptyAndSingleSpaces) {
  MLIRContext context;
  AffineExpr zero = getAffineConstantExpr(0, &context), one = getAffineConstantExpr(1, &context);
  for (AffineExpr extent : {zero, one}) {
    IterationSpace space;
    space.extents = {one, extent, one};
    space.reduced = {false, false, true};
    space.accesses = {{{one, one, one}, zero}};
    IterationSpace merged = mergeDimensions(space, 0, 0, &context);
    ASSERT_EQ(merged.extents.size(), 2u);
    EXPECT_EQ(merged.extents[0], extent);
    EXPECT_EQ(merged.extents[1], one);
    EXPECT_TRUE(merged.reduced[1]);
  }
  IterationSpace scalar;
  scalar.accesses = {{{}, zero}};
  EXPECT_EQ(mergeDimensions(scalar, 0, 0, &context).extents.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Fusion of random graphs
//===----------------------------------------------------------------------===//

namespace {

class Compiler {
public:
  Compiler()
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            errors += diagnostic.str() + "\n";
          return success();
        }) {
    context.loadDialect<SwageDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                        tensor::TensorDialect>();
    context.disableMultithreading();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// The pipeline up to fusion.
  LogicalResult fuse(ModuleOp module, bool fuse) {
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(createInferShapesPass());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    if (fuse)
      manager.addNestedPass<func::FuncOp>(createRecognizePass());
    manager.addNestedPass<func::FuncOp>(createSplitReducePass());
    manager.addPass(createFusePass({fuse}));
    return manager.run(module);
  }

  LogicalResult fuseAgain(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(createFusePass());
    return manager.run(module);
  }

  LogicalResult runPipeline(ModuleOp module) {
    PassManager manager(&context);
    buildKernelPipeline(manager, KernelPipelineOptions());
    return manager.run(module);
  }

  std::string errors;

private:
  MLIRContext context;
  ScopedDiagnosticHandler handler;
};

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

/// Bytes that all launches move, and how many there are.
struct Traffic {
  int64_t bytes = 0, launches = 0;
};

Traffic trafficOf(ModuleOp module) {
  Traffic traffic;
  module.walk([&](LaunchOp launch) {
    auto kernel = module.lookupSymbol<KernelOp>(launch.getKernel());
    traffic.bytes += *constantSize(bytesMoved(kernel));
    traffic.launches += 1;
  });
  return traffic;
}

constexpr uint64_t kGraphs = 300;

} // namespace

TEST(Fuse, neverAddsBytes) {
  int64_t launches = 0, launchesAlone = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Compiler compiler;
    std::string text = swage::test::randomGraph(seed);
    OwningOpRef<ModuleOp> fused = compiler.parse(text), alone = compiler.parse(text);
    ASSERT_TRUE(fused && alone) << "seed " << seed << "\n" << compiler.errors;
    bool succeeded = llvm::succeeded(compiler.fuse(*fused, true)) &&
                     llvm::succeeded(compiler.fuse(*alone, false));
    EXPECT_TRUE(succeeded) << "seed " << seed << "\n" << compiler.errors;
    if (!succeeded)
      continue;
    Traffic together = trafficOf(*fused), apart = trafficOf(*alone);
    EXPECT_LE(together.bytes, apart.bytes) << "seed " << seed;
    EXPECT_LE(together.launches, apart.launches) << "seed " << seed;
    launches += together.launches;
    launchesAlone += apart.launches;
  }
  EXPECT_LT(launches, launchesAlone * 3 / 4);
}

TEST(Fuse, hasNothingToDoTwice) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Compiler compiler;
    OwningOpRef<ModuleOp> module = compiler.parse(swage::test::randomGraph(seed));
    ASSERT_TRUE(module) << "seed " << seed << "\n" << compiler.errors;
    if (failed(compiler.fuse(*module, true)))
      continue; // the test above says so
    std::string once = textOf(*module);
    EXPECT_TRUE(succeeded(compiler.fuseAgain(*module))) << "seed " << seed << compiler.errors;
    EXPECT_EQ(textOf(*module), once) << "seed " << seed;
  }
}

// A reshape across every boundary of its operand, a chain of index ops that no one access can say,
// and an op whose inlining would make such a chain.
TEST(Fuse, findsKernelsForEveryChainOfIndexOps) {
  for (uint64_t seed : {782, 1325, 2280, 3381, 3573, 4237, 5509}) {
    Compiler compiler;
    OwningOpRef<ModuleOp> module = compiler.parse(swage::test::randomGraph(seed));
    ASSERT_TRUE(module) << "seed " << seed;
    EXPECT_TRUE(succeeded(compiler.runPipeline(*module))) << "seed " << seed << compiler.errors;
  }
}

TEST(Fuse, refusesOpsBesideLaunches) {
  Compiler compiler;
  OwningOpRef<ModuleOp> module =
      compiler.parse("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "%y = math.exp %x : tensor<4xf32>\nreturn %y : tensor<4xf32> }");
  ASSERT_TRUE(module && succeeded(compiler.fuse(*module, true)));
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  Operation *terminator = function.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  terminator->setOperand(
      0, math::ExpOp::create(builder, function.getLoc(), terminator->getOperand(0)));
  EXPECT_TRUE(failed(compiler.fuseAgain(*module)));
  EXPECT_NE(compiler.errors.find("stands beside launches"), std::string::npos) << compiler.errors;
}

TEST(Pipeline, sameTextSameKernels) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    std::string text = swage::test::randomGraph(seed), first;
    Compiler shared;
    for (int round = 0; round < 3; ++round) {
      Compiler fresh; // another context: other addresses, other orders of hash tables
      Compiler &compiler = round < 2 ? shared : fresh;
      OwningOpRef<ModuleOp> module = compiler.parse(text);
      ASSERT_TRUE(module) << "seed " << seed;
      bool succeeded = llvm::succeeded(compiler.runPipeline(*module));
      EXPECT_TRUE(succeeded) << "seed " << seed << "\n" << compiler.errors;
      if (!succeeded)
        break;
      std::string result = textOf(*module);
      if (round == 0)
        first = result;
      EXPECT_EQ(result, first) << "seed " << seed << " round " << round;
    }
  }
}
