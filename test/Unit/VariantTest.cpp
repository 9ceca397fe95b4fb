//===- VariantTest.cpp - Shapes to launches, without MLIR -----------------===//

#include "FakeCudaTest.h"
#include "FakeProgram.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace swage;
using namespace swage::test;
using Op = SizeExpression::Op;

namespace {
Guards guardsOf(int indexBits = 32) {
  Guards guards;
  guards.indexBits = indexBits;
  guards.alignment = {16, 16, 16};
  guards.extents.resize(3);
  return guards;
}

std::string problem(const Variant &variant, const std::vector<Dims> &inputs) {
  auto layout = variant.layOut(inputs);
  if (!layout) {
    EXPECT_EQ(layout.error().stage, Stage::Input);
    return layout.error().message;
  }
  return *layout ? "" : "does not fit";
}

/// Number `index` of sizes of 32 bits.
int32_t word(const std::string &bytes, size_t index) {
  int32_t value = 0;
  std::memcpy(&value, bytes.data() + 4 * index, sizeof value);
  return value;
}
} // namespace

TEST(VariantTest, ALayoutHasWhatALaunchNeeds) {
  auto variant = FakeSource::variant(guardsOf());
  auto layout = variant->layOut({{1000, 768}, {768}});
  ASSERT_TRUE(layout) << layout.error().str();
  ASSERT_TRUE(*layout);
  EXPECT_EQ((**layout).results[0].str(), "1000x768xf32");
  EXPECT_EQ((**layout).indexBits, 32);
  ASSERT_EQ((**layout).launches.size(), 1u);
  const LaunchInfo &launch = (**layout).launches[0];
  EXPECT_EQ(launch.blocks, 1000u * 768 / 256);
  EXPECT_EQ(launch.threads, 256u);
  EXPECT_EQ(launch.inputs[1].alignment, 16u);
  ASSERT_EQ(launch.inputViews.size(), 2u);
  EXPECT_EQ(launch.inputViews[1].tensor, 1u);
  EXPECT_FALSE(launch.inputViews[1].tile);
  ASSERT_EQ(launch.sizes.size(), 8u);
  EXPECT_EQ(word(launch.sizes, 0), 1000);
  EXPECT_EQ(word(launch.sizes, 1), 768);
}

TEST(VariantTest, ALaunchOfClustersHasAtLeastOne) {
  auto variant = FakeSource::variant(guardsOf());
  KernelInfo &kernel = variant->kernels[0];
  kernel.clusterSize = 4;
  kernel.dynamicSharedBytes = 50000;
  kernel.overlap = true;
  auto &blocks = variant->symbolic[0].blocks.steps;
  blocks = {{Op::Symbol, 0},
            {Op::Constant, 2},
            {Op::FloorDivide, 0},
            {Op::Constant, 4},
            {Op::Multiply, 0}};
  auto layout = variant->layOut({{10, 768}, {768}});
  ASSERT_TRUE(layout && *layout);
  const LaunchInfo &launch = (**layout).launches[0];
  EXPECT_EQ(launch.blocks, 20u);
  EXPECT_EQ(launch.clusterSize, 4u);
  EXPECT_EQ(launch.dynamicSharedBytes, 50000u);
  EXPECT_TRUE(launch.overlap);
  layout = variant->layOut({{1, 768}, {768}});
  ASSERT_TRUE(layout && *layout);
  EXPECT_EQ((**layout).launches[0].blocks, 4u) << "not one block, which is no cluster";
  layout = variant->layOut({{0, 768}, {768}});
  ASSERT_TRUE(layout && *layout);
  EXPECT_EQ((**layout).launches[0].blocks, 0u);
}

TEST(VariantTest, ATileIsWhatTheCopyEngineMustKnow) {
  auto variant = FakeSource::variant(guardsOf());
  SymbolicKernel &kernel = variant->symbolic[0];
  kernel.inputs[0].tile = SymbolicTile{{1, 0}, {32, 64}, 128};
  kernel.inputs[0].alignment = 4;
  kernel.inputs[1].tile = SymbolicTile{{1}, {32}, 0};
  kernel.inputs[1].offset.steps[0].value = 8;
  kernel.outputs[0].tile = kernel.inputs[0].tile;
  kernel.extents[1].steps = {{Op::Symbol, 1}, {Op::Constant, -8}, {Op::Add, 0}};
  auto layout = variant->layOut({{10, 72}, {72}});
  ASSERT_TRUE(layout) << layout.error().str();
  const LaunchInfo &launch = (**layout).launches[0];
  EXPECT_EQ(launch.inputs[0].alignment, 16u) << "whatever the view relies on";
  const LaunchView &x = launch.inputViews[0], &bias = launch.inputViews[1];
  ASSERT_TRUE(x.tile && bias.tile && launch.outputViews[0].tile);
  EXPECT_EQ(x.tile->element, "f32");
  EXPECT_EQ(x.tile->extents, (std::vector<uint64_t>{64, 10}));
  EXPECT_EQ(x.tile->byteStrides, (std::vector<uint64_t>{4, 288}));
  EXPECT_EQ(x.tile->box, (std::vector<uint32_t>{32, 64}));
  EXPECT_EQ(x.tile->swizzle, 128u);
  EXPECT_EQ(x.tileOffset, 0u);
  EXPECT_EQ(bias.tensor, 1u);
  EXPECT_EQ(bias.tile->extents, std::vector<uint64_t>{64});
  EXPECT_EQ(bias.tileOffset, 32u);

  EXPECT_EQ(problem(*variant, {{10, 74}, {74}}),
            "kernel @add: output 0 has rows of 264 bytes; needed: a multiple of 16, which the copy "
            "engine writes at a time");
  kernel.outputs[0].tile.reset();
  EXPECT_EQ(problem(*variant, {{10, 74}, {74}}), "");
}

TEST(VariantTest, WhatLiesWithinTheInnermostDimensionOfATileIsMovedWithIt) {
  auto variant = FakeSource::variant(guardsOf());
  variant->symbolic[0].inputs[0].tile = SymbolicTile{{0}, {3}, 0};
  auto layout = variant->layOut({{10, 72}, {72}});
  ASSERT_TRUE(layout) << layout.error().str();
  const std::optional<TensorTile> &tile = (**layout).launches[0].inputViews[0].tile;
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->extents, std::vector<uint64_t>{720});
  EXPECT_EQ(tile->byteStrides, std::vector<uint64_t>{4});
  EXPECT_EQ(tile->box, std::vector<uint32_t>{216});
}

TEST_F(FakeCudaTest, PlansPassMapsOfTiles) {
  auto variant = FakeSource::variant(guardsOf());
  SymbolicKernel &kernel = variant->symbolic[0];
  kernel.inputs[0].tile = SymbolicTile{{1, 0}, {32, 64}, 128};
  kernel.inputs[1].tile = SymbolicTile{{1}, {32}, 0};
  kernel.inputs[1].offset.steps[0].value = 8;
  kernel.inputs[1].alignment = 4;
  kernel.extents[1].steps = {{Op::Symbol, 1}, {Op::Constant, -8}, {Op::Add, 0}};
  auto layout = variant->layOut({{10, 72}, {72}});
  ASSERT_TRUE(layout) << layout.error().str();
  Device gpu = device();
  auto whole = variant->plan(gpu, **layout), single = variant->planLaunch(gpu, **layout, 0);
  ASSERT_TRUE(whole) << whole.error().str();
  ASSERT_TRUE(single) << single.error().str();
  fake->parameterSizes = {128, 128, 8, 8};
  alignas(16) static char x[2880], bias[288], y[2880];
  const void *inputs[] = {x, bias};
  void *outputs[] = {y};
  auto stream = gpu.createStream();
  for (const Plan *plan : {&*whole, &*single}) {
    EXPECT_EQ(plan->inputs()[1].alignment, 16u);
    Status launched = plan->launch(stream->handle(), inputs, outputs);
    ASSERT_TRUE(launched) << launched.error().str();
    FakeTensorMap maps[2];
    for (size_t i = 0; i < 2; ++i)
      std::memcpy(&maps[i], fake->launches.back().parameters[i].data(), sizeof maps[i]);
    EXPECT_EQ(maps[0].address, x);
    EXPECT_EQ(maps[0].rank, 2);
    EXPECT_EQ(maps[0].extents[1], 10u);
    EXPECT_EQ(maps[1].address, bias + 32);
    EXPECT_EQ(maps[1].rank, 1);
    EXPECT_EQ(word(fake->launches.back().parameters[3], 0), 10) << "the sizes";
  }
}

TEST(VariantTest, TheLeastNumberOfBlocksCounts) {
  auto variant = FakeSource::variant(guardsOf());
  auto &blocks = variant->symbolic[0].blocks.steps;
  blocks.push_back({Op::Constant, 132});
  blocks.push_back({Op::Min, 0});
  for (int64_t rows : {8, 8000}) {
    auto layout = variant->layOut({{rows, 256}, {256}});
    ASSERT_TRUE(layout && *layout);
    EXPECT_EQ((**layout).launches[0].blocks, uint64_t(std::min<int64_t>(rows, 132)));
  }
}

TEST(VariantTest, SizesAreAsWideAsTheKernelsIndices) {
  auto layout = FakeSource::variant(guardsOf(64))->layOut({{1000, 768}, {768}});
  ASSERT_TRUE(layout && *layout);
  EXPECT_EQ((**layout).indexBits, 64);
  EXPECT_EQ((**layout).launches[0].sizes.size(), 16u);
}

TEST(VariantTest, WhatDoesNotFit32BitsHasNoLayout) {
  auto variant = FakeSource::variant(guardsOf());
  EXPECT_EQ(problem(*variant, {{2000000, 768}, {768}}), "");
  EXPECT_EQ(problem(*variant, {{4000000, 768}, {768}}), "does not fit");
  EXPECT_EQ(problem(*FakeSource::variant(guardsOf(64)), {{4000000, 768}, {768}}), "");
}

TEST(VariantTest, ShapesMustFitTheProgram) {
  auto variant = FakeSource::variant(guardsOf());
  EXPECT_EQ(problem(*variant, {{4, 8}}), "the shapes of 1 inputs are given; @main has 2");
  EXPECT_EQ(problem(*variant, {{4, 8}, {1, 8}}),
            "input 1 has 2 dimensions (1x8); needed: 1 (?xf32)");
  EXPECT_EQ(problem(*variant, {{4, -8}, {8}}), "input 0 has extent -8 in dimension 1");
  EXPECT_EQ(problem(*variant, {{4, 8}, {9}}),
            "input 1 (9xf32) has extent 9 in dimension 0; needed: 8, because kernel @add reads it "
            "together with other inputs");
  EXPECT_EQ(problem(*variant, {{int64_t{1} << 40, 512}, {512}}),
            "input 0 (1099511627776x512) has more than 2^48 elements");
}

TEST(VariantTest, ExtentsThatBreakAGuardAreNamed) {
  Guards guards = guardsOf();
  guards.extents[1] = {8, 1024};
  auto variant = FakeSource::variant(guards);
  EXPECT_EQ(problem(*variant, {{3, 1024}, {1024}}), "");
  EXPECT_EQ(problem(*variant, {{3, 0}, {0}}), "");
  EXPECT_EQ(problem(*variant, {{3, 1020}, {1020}}),
            "input 0 (3x1020xf32) has extent 1020 in dimension 1; needed: a multiple of 8, which "
            "the kernels rely on");
  EXPECT_EQ(problem(*variant, {{3, 1032}, {1032}}),
            "input 0 (3x1032xf32) has extent 1032 in dimension 1; needed: at most 1024, which the "
            "kernels rely on");
}

TEST(VariantTest, WhatAKernelReliesOnIsChecked) {
  auto variant = FakeSource::variant(guardsOf());
  variant->symbolic[0].facts = {{1, 0}, {8, 1024}};
  EXPECT_EQ(problem(*variant, {{3, 1024}, {1024}}), "");
  EXPECT_EQ(problem(*variant, {{3, 1020}, {1020}}),
            "input 0 (3x1020xf32) has extent 1020 in dimension 1; needed: a multiple of 8, which "
            "is promised of an extent that the graph makes equal to it and kernel @add relies on");
  EXPECT_NE(problem(*variant, {{3, 1032}, {1032}}).find("at most 1024"), std::string::npos);
}

TEST(VariantTest, GuardsInWords) {
  Guards guards = guardsOf();
  auto inputs = FakeSource::inputTypes();
  EXPECT_EQ(guards.str(inputs), "sm_90a, 32-bit offsets, addresses aligned to 16 bytes");
  guards.alignment = {16, 16, 4};
  guards.extents[1] = {8, 1024};
  guards.extents[2].multipleOf = 2;
  EXPECT_EQ(guards.str(inputs),
            "sm_90a, 32-bit offsets, addresses aligned to 16/16/4 bytes, input 0 dimension 1 a "
            "multiple of 8 and at most 1024, input 1 dimension 0 a multiple of 2");
  EXPECT_NE(guards, guardsOf());
}

TEST(VariantTest, AccessesThatLeaveTheirTensorAreRefused) {
  auto variant = FakeSource::variant(guardsOf());
  variant->symbolic[0].inputs[0].offset.steps[0].value = 1;
  EXPECT_EQ(problem(*variant, {{4, 8}, {8}}),
            "kernel @add: input 0 reaches element 32 of a tensor of 32");
  variant->symbolic[0].inputs[0].offset.steps[0].value = -1;
  EXPECT_EQ(problem(*variant, {{4, 8}, {8}}),
            "kernel @add: input 0 reaches beyond 64 bits or before its first element of a tensor "
            "of 32");
  EXPECT_EQ(problem(*variant, {{0, 8}, {8}}), "") << "nothing is accessed";
}

TEST(VariantTest, NothingIsLaunchedForNoElements) {
  auto layout = FakeSource::variant(guardsOf())->layOut({{0, 8}, {8}});
  ASSERT_TRUE(layout && *layout);
  EXPECT_EQ((**layout).launches[0].blocks, 0u);
  EXPECT_EQ((**layout).results[0].str(), "0x8xf32");
}

TEST(VariantTest, ADividerOfAnEmptySpaceMayBeLarge) {
  auto variant = FakeSource::variant(guardsOf());
  variant->symbolic[0].dividers = {variant->symbolic[0].extents[1]};
  EXPECT_EQ(problem(*variant, {{0, int64_t{1} << 40}, {int64_t{1} << 40}}), "");
  // Reduced dimensions may be empty and the kernel is still launched.
  variant->symbolic[0].isReduced[0] = true;
  EXPECT_EQ(problem(*variant, {{0, int64_t{1} << 40}, {int64_t{1} << 40}}), "does not fit");
}

TEST(VariantTest, BytesOfAResultFit64Bits) {
  auto variant = FakeSource::variant(guardsOf(64));
  auto &shape = variant->symbolic[0].outputs[0].shape;
  shape[1].steps = {{Op::Symbol, 1}, {Op::Constant, int64_t{1} << 59}, {Op::Multiply, 0}};
  EXPECT_EQ(problem(*variant, {{4, 2}, {2}}),
            "kernel @add: output 0 (4x1152921504606846976) has more than 2^48 elements");
}

TEST(VariantTest, TheNumberOfBlocksHasALimit) {
  auto variant = FakeSource::variant(guardsOf(64));
  EXPECT_EQ(problem(*variant, {{int64_t{1} << 39, 1}, {1}}),
            "kernel @add needs 2147483648 blocks; the limit is 2147483647");
}

TEST(VariantTest, LayoutsAreMadeOnSeveralThreads) {
  auto variant = FakeSource::variant(guardsOf());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t rows = 1; rows < 200; ++rows) {
        auto layout = variant->layOut({{rows + t, 8}, {8}});
        wrong += !layout || !*layout || (**layout).results[0].shape[0] != rows + t;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
