//===- BuildVariantTest.cpp - A prepared module as plain data -------------===//
//
// What the runtime gets to know of a kernel that no pass makes yet in this form.
//
//===----------------------------------------------------------------------===//
#include "BuildVariant.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace swage;

/// x + column, in boxes; the column is an input of the kernel and no parameter.
static const char kModule[] = R"(
func.func @main(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf16>
  %y = swage.launch @add[%n] (%x) : (tensor<?x64xf16>) -> tensor<?x64xf16>
  return %y : tensor<?x64xf16>
}
swage.kernel @add symbols 1 extents affine_map<()[s0] -> (s0, 64)> reduced []
    inputs [#swage.view<tensor = -1, element = i32, shape = ()[s0] -> (), access = (d0, d1)[s0] -> (d1), align = 16, source = coordinate>,
            #swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = ()[s0] -> (s0, 64), access = (d0, d1)[s0] -> (d0 * 64 + d1), align = 16>]
    schedule #swage.pointwise_schedule<threads = 256, vector = 8, unroll = 1, tail = false, index = 32>
    geometry <blocks = ()[s0] -> (s0 ceildiv 8, 132), threads = 256, spaces = [], dividers = ()[s0] -> (),
              tiles = [#swage.tile<output = false, position = 1, dims = [1, 0], box = [64, 8], swizzle = 128>]> {
^body(%i: i32, %a: f32):
  %f = arith.sitofp %i : i32 to f32
  %s = arith.addf %a, %f : f32
  swage.yield %s : f32
}
)";

TEST(BuildVariant, TilesAndTheLeastNumberOfBlocks) {
  ProgramIR program;
  program.context.loadDialect<SwageDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                              mlir::tensor::TensorDialect>();
  LoweredModule lowered;
  lowered.module = mlir::parseSourceString<mlir::ModuleOp>(kModule, &program.context);
  ASSERT_TRUE(lowered.module);
  program.module = lowered.module->clone();
  program.entryName = "main";
  program.entry = program.module->lookupSymbol<mlir::func::FuncOp>("main");
  program.inputs = program.results = {{"f16", 2, {TensorType::kDynamic, 64}}};
  Status built = buildVariant(program, "sm_90a", 32, lowered);
  ASSERT_TRUE(built) << built.error().str();

  const SymbolicKernel &kernel = lowered.variant->symbolic[0];
  ASSERT_EQ(kernel.inputs.size(), 1u);
  ASSERT_TRUE(kernel.inputs[0].tile);
  EXPECT_EQ(kernel.inputs[0].tile->dims, (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(kernel.inputs[0].tile->box, (std::vector<uint32_t>{64, 8}));
  EXPECT_EQ(kernel.inputs[0].tile->swizzle, 128u);
  EXPECT_FALSE(kernel.outputs[0].tile);
  for (auto [rows, blocks] : {std::pair(20, 3u), std::pair(4000, 132u)}) {
    auto layout = lowered.variant->layOut({{rows, 64}});
    ASSERT_TRUE(layout && *layout);
    const LaunchInfo &launch = (**layout).launches[0];
    EXPECT_EQ(launch.blocks, blocks);
    ASSERT_TRUE(launch.inputViews[0].tile);
    EXPECT_EQ(launch.inputViews[0].tile->extents, (std::vector<uint64_t>{64, uint64_t(rows)}));
    EXPECT_EQ(launch.inputViews[0].tile->byteStrides, (std::vector<uint64_t>{2, 128}));
  }
}
