//===- ShapeFactsTest.cpp - Which promises about extents matter -----------===//
//
// What symbolNeeds says of a program whose extents nobody knows anything about, and that it says
// enough: schedules that know everything about every extent are those that only know what is
// needed. Classes of extents are checked against what they claim.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "swage/Dialect/Swage/Transforms/SelectSchedule.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Support/ShapeClass.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace swage;

namespace {

struct Program {
  const char *text;
  const char *needs; ///< by kernel: for each size m (multiple), l (limit), c (count), or -
};

/// One function @main of each.
const Program kPrograms[] = {
    // The row's length twice, the number of rows where there are few.
    {"func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {\n"
     "  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>\n"
     "  return %y : tensor<?x?xf16>\n}",
     "c,ml"},
    // A row of a known length.
    {"func.func @main(%x: tensor<?x?x768xf16>) -> tensor<?x?x768xf16> {\n"
     "  %y = swage.layer_norm %x axis 2 eps 1.0e-5 : (tensor<?x?x768xf16>) -> tensor<?x?x768xf16>\n"
     "  return %y : tensor<?x?x768xf16>\n}",
     "c,c"},
    // Half a vector comes from the number 4, but a row of f32 needs no more.
    {"func.func @main(%x: tensor<?x?x4xf32>) -> tensor<?x?xf32> {\n"
     "  %y = swage.reduce sum %x dims [2] : tensor<?x?x4xf32> -> tensor<?x?xf32>\n"
     "  return %y : tensor<?x?xf32>\n}",
     "c,c"},
    // A tail serves every length.
    {"func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {\n"
     "  %y = math.exp %x : tensor<?x?xf16>\n"
     "  return %y : tensor<?x?xf16>\n}",
     "-,-"},
    // There is none under a broadcast.
    {"func.func @main(%x: tensor<?x?xf16>, %b: tensor<?xf16>) -> tensor<?x?xf16> {\n"
     "  %c0 = arith.constant 0 : index\n"
     "  %c1 = arith.constant 1 : index\n"
     "  %m = tensor.dim %x, %c0 : tensor<?x?xf16>\n"
     "  %n = tensor.dim %x, %c1 : tensor<?x?xf16>\n"
     "  %c = swage.broadcast %b dims [1] sizes(%m, %n) : tensor<?xf16> -> tensor<?x?xf16>\n"
     "  %y = arith.addf %x, %c : tensor<?x?xf16>\n"
     "  return %y : tensor<?x?xf16>\n}",
     "-,m"},
    // Nothing helps an operand that is aligned to one element, or an odd stride.
    {"func.func @main(%x: tensor<?x?xf16> {swage.alignment = 2 : i64}) -> (tensor<?x?xf16> "
     "{swage.alignment = 2 : i64}) {\n"
     "  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>\n"
     "  return %y : tensor<?x?xf16>\n}",
     "c,l"},
    // Both sides of a transpose.
    {"func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {\n"
     "  %y = swage.permute %x [1, 0] : tensor<?x?xf16> -> tensor<?x?xf16>\n"
     "  return %y : tensor<?x?xf16>\n}",
     "m,m"},
    // Across the rows it is the other extent that carries the vectors, and a row may be as long as
    // it likes.
    {"func.func @main(%x: tensor<?x?xf16>) -> (tensor<?x?xf16>, tensor<?xf16>) {\n"
     "  %y = swage.softmax %x axis 0 : tensor<?x?xf16> -> tensor<?x?xf16>\n"
     "  %z = swage.reduce sum %x dims [0] : tensor<?x?xf16> -> tensor<?xf16>\n"
     "  return %y, %z : tensor<?x?xf16>, tensor<?xf16>\n}",
     "-,m;-,m"},
};

class ShapeFacts : public testing::Test {
protected:
  ShapeFacts() {
    context.loadDialect<SwageDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                        tensor::TensorDialect>();
    context.disableMultithreading();
  }

  /// The prepared module; `promise` is asked for each runtime extent.
  OwningOpRef<ModuleOp>
  compile(const char *text,
          function_ref<ShapeClass(unsigned argument, unsigned dimension)> promise) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    for (BlockArgument argument : function.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> multiples(type.getRank(), 1), limits(type.getRank(), 0);
      for (unsigned dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim)) {
          ShapeClass known = promise(argument.getArgNumber(), dim);
          multiples[dim] = known.multiple;
          limits[dim] = known.limit;
        }
      Builder builder(&context);
      function.setArgAttr(argument.getArgNumber(), SwageDialect::kMultipleOf,
                          builder.getDenseI64ArrayAttr(multiples));
      function.setArgAttr(argument.getArgNumber(), SwageDialect::kAtMost,
                          builder.getDenseI64ArrayAttr(limits));
    }
    PassManager manager(&context);
    buildKernelPipeline(manager, KernelPipelineOptions());
    EXPECT_TRUE(succeeded(manager.run(*module))) << text;
    return module;
  }

  static std::string needsOf(ModuleOp module) {
    std::string text;
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      text += text.empty() ? "" : ";";
      std::string separator;
      for (SymbolNeeds needs : symbolNeeds(kernel)) {
        text += std::exchange(separator, ",");
        text += needs.multiple ? "m" : "";
        text += needs.limit ? "l" : "";
        text += needs.count ? "c" : "";
        text += needs.multiple || needs.limit || needs.count ? "" : "-";
      }
    }
    return text;
  }

  /// Every kernel, without what may differ although nothing was decided by it.
  static std::string textOf(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    for (KernelOp kernel : module.getOps<KernelOp>())
      os << kernel.getScheduleAttr() << kernel.getGeometryAttr() << "\n";
    return text;
  }

  MLIRContext context;
};

} // namespace

TEST_F(ShapeFacts, needsAreThoseOfTheProgram) {
  for (const Program &program : kPrograms)
    EXPECT_EQ(needsOf(*compile(program.text, [](unsigned, unsigned) { return ShapeClass(); })),
              program.needs)
        << program.text;
}

TEST_F(ShapeFacts, needsDoNotDependOnFacts) {
  for (const Program &program : kPrograms)
    for (int64_t extent : {1000, 1001, 5000, 100000})
      EXPECT_EQ(
          needsOf(*compile(program.text, [&](unsigned, unsigned) { return shapeClassOf(extent); })),
          program.needs)
          << program.text;
}

TEST_F(ShapeFacts, whatIsNotNeededDecidesNothing) {
  for (const Program &program : kPrograms) {
    // A one-dimensional space without a tail is the exception that symbolNeeds names.
    if (StringRef(program.text).contains("math.exp"))
      continue;
    OwningOpRef<ModuleOp> plain =
        compile(program.text, [](unsigned, unsigned) { return ShapeClass(); });
    // The kernels of these programs take the extents of the first argument, in order.
    SmallVector<SymbolNeeds> needs;
    for (KernelOp kernel : plain->getOps<KernelOp>()) {
      SmallVector<SymbolNeeds> more = symbolNeeds(kernel);
      needs.resize(std::max(needs.size(), more.size()));
      for (auto [to, from] : llvm::zip_first(more, needs)) {
        from.multiple |= to.multiple;
        from.limit |= to.limit | to.count;
      }
    }
    std::vector<ShapeClass> classes;
    for (int64_t extent : {0, 8, 1000, 1001, 4096, 4097, 5000, 16384, 100000})
      classes.push_back(shapeClassOf(extent));
    for (int64_t count : {1, 100, 500, 600})
      classes.push_back({multipleClass(count), countClass(count)});
    for (ShapeClass known : classes) {
      OwningOpRef<ModuleOp> all = compile(program.text, [&](unsigned, unsigned) { return known; });
      OwningOpRef<ModuleOp> needed = compile(program.text, [&](unsigned argument, unsigned dim) {
        ShapeClass some;
        if (argument == 0 && dim < needs.size() && needs[dim].multiple)
          some.multiple = known.multiple;
        if (argument == 0 && dim < needs.size() && needs[dim].limit)
          some.limit = known.limit;
        return some;
      });
      EXPECT_EQ(textOf(*needed), textOf(*all)) << "at most " << known.limit << "\n" << program.text;
    }
  }
}

TEST_F(ShapeFacts, classesHoldTheirExtents) {
  std::vector<ShapeClass> seen;
  for (int64_t extent = 0; extent < 40000; ++extent) {
    ShapeClass known = shapeClassOf(extent);
    ASSERT_TRUE(known.contains(extent)) << extent;
    if (std::find(seen.begin(), seen.end(), known) == seen.end())
      seen.push_back(known);
  }
  EXPECT_EQ(seen.size(), size_t(kShapeClasses));
  for (int64_t count = 0; count < 1000; ++count)
    EXPECT_TRUE((ShapeClass{1, countClass(count)}).contains(count)) << count;
  EXPECT_EQ(countClass(1), 1);
  EXPECT_EQ(countClass(2), 128);
  EXPECT_EQ(countClass(513), 0);
  EXPECT_FALSE((ShapeClass{8, 1024}).contains(1032));
  EXPECT_FALSE((ShapeClass{8, 1024}).contains(1001));
}
