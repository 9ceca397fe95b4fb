//===- ReferenceTest.cpp - The oracle against constants -------------------===//

#include "ReferenceGraph.h"
#include "swage/Reference/Random.h"
#include "gtest/gtest.h"
#include <cfloat>

using namespace swage::reference;
using namespace swage::reference::test;
using Elements = std::vector<double>;

static Value runOne(llvm::StringRef text, llvm::ArrayRef<const Tensor *> inputs) {
  Graph graph(text);
  std::vector<Value> results = graph.run(inputs);
  EXPECT_EQ(results.size(), 1u) << graph.message;
  return results.empty() ? Value() : results.front();
}

//===----------------------------------------------------------------------===//
// Index ops
//===----------------------------------------------------------------------===//

TEST(Reference, permute) {
  Tensor x = makeIota(ElementType::F32, {2, 3, 2});
  Value y = runOne(R"(func.func @f(%x: tensor<2x3x2xf32>) -> tensor<3x2x2xf32> {
    %y = swage.permute %x [1, 2, 0] : tensor<2x3x2xf32> -> tensor<3x2x2xf32>
    return %y : tensor<3x2x2xf32> })",
                   {&x});
  EXPECT_EQ(references(y), (Elements{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
  EXPECT_TRUE(y.isExact());
}

TEST(Reference, broadcastRepeatsNewAndUnitDimensions) {
  Tensor x = makeIota(ElementType::I8, {2, 1});
  Value y = runOne(R"(func.func @f(%x: tensor<2x1xi8>) -> tensor<2x2x3xi8> {
    %y = swage.broadcast %x dims [0, 2] : tensor<2x1xi8> -> tensor<2x2x3xi8>
    return %y : tensor<2x2x3xi8> })",
                   {&x});
  EXPECT_EQ(references(y), (Elements{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
}

TEST(Reference, sliceWithStep) {
  Tensor x = makeIota(ElementType::I32, {2, 6});
  Value y = runOne(R"(func.func @f(%x: tensor<2x6xi32>) -> tensor<2x2xi32> {
    %y = swage.slice %x axis 1 from 1 size 2 step 3 : tensor<2x6xi32> -> tensor<2x2xi32>
    return %y : tensor<2x2xi32> })",
                   {&x});
  EXPECT_EQ(references(y), (Elements{1, 4, 7, 10}));
}

TEST(Reference, concatInTheMiddle) {
  Tensor a = makeIota(ElementType::F16, {2, 1, 2}), b = makeIota(ElementType::F16, {2, 1, 2});
  b.setReal(0, -1);
  Value y = runOne(R"(func.func @f(%a: tensor<2x1x2xf16>, %b: tensor<2x1x2xf16>)
      -> tensor<2x2x2xf16> {
    %y = swage.concat %a, %b axis 1 : (tensor<2x1x2xf16>, tensor<2x1x2xf16>) -> tensor<2x2x2xf16>
    return %y : tensor<2x2x2xf16> })",
                   {&a, &b});
  EXPECT_EQ(references(y), (Elements{0, 1, -1, 1, 2, 3, 2, 3}));
}

/// What names no page stands for zeros.
TEST(Reference, pagesByATable) {
  Tensor pool = makeIota(ElementType::F16, {3, 2, 2, 1}),
         table = makeIota(ElementType::I32, {2, 2});
  table.setInteger(0, 2);
  table.setInteger(1, 0);
  table.setInteger(2, -1);
  Value y = runOne(R"(func.func @f(%pool: tensor<3x2x2x1xf16>, %table: tensor<2x2xi32>)
      -> tensor<2x2x4x1xf16> {
    %y = swage.pages %pool, %table
        : (tensor<3x2x2x1xf16>, tensor<2x2xi32>) -> tensor<2x2x4x1xf16>
    return %y : tensor<2x2x4x1xf16> })",
                   {&pool, &table});
  EXPECT_EQ(references(y), (Elements{8, 9, 0, 1, 10, 11, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0}));
}

/// Rows outside of the cache are nowhere; where they count modulo their number, there are none.
TEST(Reference, appendAtPositions) {
  Tensor cache = makeIota(ElementType::F16, {3, 1, 4, 1}),
         rows = makeIota(ElementType::F16, {3, 1, 2, 1}),
         positions = makeIota(ElementType::I32, {3});
  positions.setInteger(0, 1);
  positions.setInteger(1, -1);
  positions.setInteger(2, 3);
  auto append = [&](const std::string &how) {
    return references(runOne(R"(func.func @f(%c: tensor<3x1x4x1xf16>, %r: tensor<3x1x2x1xf16>,
                   %p: tensor<3xi32>) -> tensor<3x1x4x1xf16> {
      %y = swage.append %c, %r at %p axis 2 )" +
                                 how + R"( : (tensor<3x1x4x1xf16>,
          tensor<3x1x2x1xf16>, tensor<3xi32>) -> tensor<3x1x4x1xf16>
      return %y : tensor<3x1x4x1xf16> })",
                             {&cache, &rows, &positions}));
  };
  EXPECT_EQ(append(""), (Elements{0, 0, 1, 3, 3, 5, 6, 7, 8, 9, 10, 4}));
  EXPECT_EQ(append("circular"), (Elements{0, 0, 1, 3, 3, 5, 6, 2, 5, 9, 10, 4}));
}

/// Each row has a place of its own in the pool, or none.
TEST(Reference, appendToPages) {
  Tensor pool = makeIota(ElementType::I8, {3, 2, 2}), rows = makeIota(ElementType::I8, {2, 2, 2}),
         places = makeIota(ElementType::I32, {2, 2});
  for (auto [i, place] : llvm::enumerate(std::vector<int64_t>{5, -1, 6, 2}))
    places.setInteger(static_cast<int64_t>(i), place);
  for (int64_t i = 0; i < pool.size(); ++i)
    pool.setInteger(i, -1);
  // [page, head, position] and [sequence, head, row].
  Value y = runOne(R"(func.func @f(%c: tensor<3x2x2xi8>, %r: tensor<2x2x2xi8>, %p: tensor<2x2xi32>)
      -> tensor<3x2x2xi8> {
    %y = swage.append %c, %r at %p axis 2 paged
        : (tensor<3x2x2xi8>, tensor<2x2x2xi8>, tensor<2x2xi32>) -> tensor<3x2x2xi8>
    return %y : tensor<3x2x2xi8> })",
                   {&pool, &rows, &places});
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < y.size(); ++i)
    elements.push_back(y.load(i).integer);
  EXPECT_EQ(elements, (std::vector<int64_t>{-1, -1, -1, -1, 5, -1, 7, -1, -1, 0, -1, 2}));
}

/// One position is for all sequences, also along the first dimension.
TEST(Reference, appendAtOnePosition) {
  Tensor cache = makeIota(ElementType::I8, {3, 2}), rows = makeIota(ElementType::I8, {1, 2}),
         position = makeIota(ElementType::I32, {});
  position.setInteger(0, 2);
  Value y = runOne(R"(func.func @f(%c: tensor<3x2xi8>, %r: tensor<1x2xi8>, %p: tensor<i32>)
      -> tensor<3x2xi8> {
    %y = swage.append %c, %r at %p axis 0
        : (tensor<3x2xi8>, tensor<1x2xi8>, tensor<i32>) -> tensor<3x2xi8>
    return %y : tensor<3x2xi8> })",
                   {&cache, &rows, &position});
  ASSERT_EQ(y.size(), 6);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(y.load(i).integer, i < 4 ? i : i - 4);
}

TEST(Reference, reshapeTakesTheMissingExtent) {
  Tensor x = makeIota(ElementType::BF16, {4, 3});
  Value y = runOne(R"(func.func @f(%x: tensor<?x3xbf16>) -> tensor<?x6xbf16> {
    %y = swage.reshape %x : tensor<?x3xbf16> -> tensor<?x6xbf16>
    return %y : tensor<?x6xbf16> })",
                   {&x});
  EXPECT_EQ(y.shape(), llvm::ArrayRef<int64_t>({2, 6}));
}

//===----------------------------------------------------------------------===//
// Reductions, norms, softmax
//===----------------------------------------------------------------------===//

TEST(Reference, reduceKinds) {
  Tensor x = makeTensor(ElementType::F32, {2, 2, 2}, {1, 2, 3, -4, 5, 6, 7, 8});
  auto run = [&](const std::string &kind) {
    return references(runOne("func.func @f(%x: tensor<2x2x2xf32>) -> tensor<2xf32> {\n"
                             "%y = swage.reduce " +
                                 kind +
                                 " %x dims [0, 2] : tensor<2x2x2xf32> -> tensor<2xf32>\n"
                                 "return %y : tensor<2xf32> }",
                             {&x}));
  };
  EXPECT_EQ(run("sum"), (Elements{14, 14}));
  EXPECT_EQ(run("mean"), (Elements{3.5, 3.5}));
  EXPECT_EQ(run("max"), (Elements{6, 8}));
  EXPECT_EQ(run("min"), (Elements{1, -4}));
}

TEST(Reference, reduceNothing) {
  Tensor x = makeTensor(ElementType::F32, {0, 2});
  auto run = [&](const std::string &kind) {
    return runOne("func.func @f(%x: tensor<0x2xf32>) -> tensor<2xf32> {\n"
                  "%y = swage.reduce " +
                      kind +
                      " %x dims [0] : tensor<0x2xf32> -> tensor<2xf32>\n"
                      "return %y : tensor<2xf32> }",
                  {&x})
        .reference(1);
  };
  EXPECT_EQ(run("sum"), 0);
  EXPECT_TRUE(std::isnan(run("mean")));
  EXPECT_EQ(run("max"), -HUGE_VAL);
  EXPECT_EQ(run("min"), HUGE_VAL);
}

TEST(Reference, integerSumsWrap) {
  Tensor x = makeTensor(ElementType::I32, {3}, {2147483647, 1, 5});
  Value y = runOne(R"(func.func @f(%x: tensor<3xi32>) -> tensor<i32> {
    %y = swage.reduce sum %x dims [0] : tensor<3xi32> -> tensor<i32>
    return %y : tensor<i32> })",
                   {&x});
  EXPECT_EQ(references(y), (Elements{-2147483643}));
}

TEST(Reference, layerNorm) {
  Tensor x = makeTensor(ElementType::F32, {2, 4}, {1, 2, 3, 4, -1, -1, 1, 1});
  Tensor gamma = makeTensor(ElementType::F32, {4}, {1, 2, 3, 4});
  Tensor beta = makeTensor(ElementType::F32, {4}, {0.5, 0, 0, -1});
  Graph graph(R"(func.func @f(%x: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>)
      -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>) {
    %y, %m, %r = swage.layer_norm %x gamma %g beta %b axis 1 eps 0.75
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>)
    return %y, %m, %r : tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32> })");
  std::vector<Value> results = graph.run({&x, &gamma, &beta});
  ASSERT_EQ(results.size(), 3u) << graph.message;
  double first = 1 / std::sqrt(2.0), second = 1 / std::sqrt(1.75); // variances 1.25 and 1
  Elements expected = {-1.5 * first + 0.5, -0.5 * 2 * first, 0.5 * 3 * first, 1.5 * 4 * first - 1,
                       -second + 0.5,      -2 * second,      3 * second,      4 * second - 1};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(results[0].reference(i), expected[i], 1e-14);
  EXPECT_EQ(references(results[1]), (Elements{2.5, 0}));
  EXPECT_NEAR(results[2].reference(0), first, 1e-15);
  EXPECT_NEAR(results[2].reference(1), second, 1e-15);
}

/// Whatever the order in which means of parts of the row are merged.
TEST(Reference, theMeanOfAnInfinityIsNaN) {
  Tensor x = makeTensor(ElementType::F32, {2, 3}, {1, HUGE_VAL, 2, 1, HUGE_VAL, -HUGE_VAL});
  Graph graph(
      R"(func.func @f(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) {
    %y, %m, %r = swage.layer_norm %x axis 1 eps 0.75 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
    return %y, %m, %r : tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32> })");
  std::vector<Value> results = graph.run({&x});
  ASSERT_EQ(results.size(), 3u) << graph.message;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(std::isnan(results[1].reference(i))) << i;
    EXPECT_EQ(results[1].load(i).error, 0) << i;
  }
  EXPECT_TRUE(std::isnan(results[2].reference(0)));
  EXPECT_EQ(results[2].load(0).error, 0);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(std::isnan(results[0].reference(i))) << i;
    EXPECT_EQ(results[0].load(i).error, 0) << i;
  }
}

/// The instruction for 2^x that kernels for 16-bit elements use flushes denormal numbers.
TEST(Reference, denormalResultsOfSoftmaxMayBeZero) {
  Tensor x = makeTensor(ElementType::F32, {1, 3}, {0, -80, -90});
  Value y = runOne(R"(func.func @f(%x: tensor<1x3xf32>) -> tensor<1x3xbf16> {
    %y = swage.softmax %x axis 1 : tensor<1x3xf32> -> tensor<1x3xbf16>
    return %y : tensor<1x3xbf16> })",
                   {&x});
  EXPECT_GT(y.reference(1), FLT_MIN);
  EXPECT_LT(y.load(1).error, 1e-3 * y.reference(1));
  EXPECT_LT(y.reference(2), FLT_MIN);
  EXPECT_GE(y.load(2).error, y.reference(2));
}

TEST(Reference, rmsNormOverTwoDimensions) {
  Tensor x = makeTensor(ElementType::F16, {1, 2, 2}, {1, 2, 3, 4});
  Value y = runOne(R"(func.func @f(%x: tensor<1x2x2xf16>) -> tensor<1x2x2xf16> {
    %y = swage.rms_norm %x axis 1 eps 1.5 : (tensor<1x2x2xf16>) -> tensor<1x2x2xf16>
    return %y : tensor<1x2x2xf16> })",
                   {&x});
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(y.reference(i), (i + 1) / 3.0, 1e-15); // 30 / 4 + 1.5 = 9
}

TEST(Reference, softmaxAlongAnOuterAxisWithScale) {
  Tensor x = makeTensor(ElementType::F32, {2, 2}, {0, 4, 2, 0});
  Value y = runOne(R"(func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %y = swage.softmax %x axis 0 scale 0.5 : tensor<2x2xf32> -> tensor<2x2xf32>
    return %y : tensor<2x2xf32> })",
                   {&x});
  double e = std::exp(1.0), e2 = std::exp(2.0);
  EXPECT_NEAR(y.reference(0), 1 / (1 + e), 1e-15);
  EXPECT_NEAR(y.reference(1), e2 / (1 + e2), 1e-15);
  EXPECT_NEAR(y.reference(2), e / (1 + e), 1e-15);
}

TEST(Reference, softmaxOfSpecialRows) {
  double inf = HUGE_VAL;
  Tensor x = makeTensor(ElementType::F32, {4, 2}, {-inf, -inf, inf, 0, NAN, 0, -inf, 3});
  Value y = runOne(R"(func.func @f(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %y = swage.softmax %x axis 1 : tensor<4x2xf32> -> tensor<4x2xf32>
    return %y : tensor<4x2xf32> })",
                   {&x});
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(std::isnan(y.reference(i)));
    EXPECT_EQ(y.load(i).error, 0);
  }
  EXPECT_EQ(y.reference(6), 0);
  EXPECT_EQ(y.load(6).error, 0);
  EXPECT_EQ(y.reference(7), 1);
}

static std::vector<Value> maskedSoftmax(const std::string &attributes, const Tensor &x,
                                        const Tensor &mask) {
  Graph graph(R"(func.func @f(%x: tensor<3x2xf32>, %m: tensor<3x2xi1>)
      -> (tensor<3x2xf32>, tensor<3xf32>) {
    %y, %lse = swage.softmax %x mask %m axis 1 )" +
              attributes + R"(: tensor<3x2xf32>, tensor<3x2xi1> -> tensor<3x2xf32>, tensor<3xf32>
    return %y, %lse : tensor<3x2xf32>, tensor<3xf32> })");
  std::vector<Value> results = graph.run({&x, &mask});
  EXPECT_EQ(results.size(), 2u) << graph.message;
  return results;
}

TEST(Reference, maskedSoftmax) {
  double inf = HUGE_VAL;
  Tensor x = makeTensor(ElementType::F32, {3, 2}, {NAN, 5, 1, 2, inf, -inf}),
         mask = makeTensor(ElementType::I1, {3, 2}, {0, 1, 0, 0, 0, 1});
  std::vector<Value> results = maskedSoftmax("", x, mask);
  // What is masked counts as nothing, whatever it is; so does a row without elements.
  EXPECT_EQ(references(results[0]), (Elements{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(references(results[1]), (Elements{5, -inf, -inf}));
  EXPECT_EQ(references(maskedSoftmax("log ", x, mask)[0]),
            (Elements{-inf, 0, -inf, -inf, -inf, -inf}));
  Value nan = maskedSoftmax("nan_rows ", x, mask)[0];
  EXPECT_EQ(nan.reference(1), 1);
  for (int i = 2; i < 6; ++i)
    EXPECT_TRUE(std::isnan(nan.reference(i)));
}

TEST(Reference, logSoftmax) {
  Tensor x = makeTensor(ElementType::F32, {2, 2}, {0, std::log(3.0f), -HUGE_VAL, 1e4});
  Value y = runOne(R"(func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %y = swage.softmax %x axis 1 log : tensor<2x2xf32> -> tensor<2x2xf32>
    return %y : tensor<2x2xf32> })",
                   {&x});
  EXPECT_NEAR(y.reference(0), -std::log(4.0), 1e-7);
  EXPECT_NEAR(y.reference(1), std::log(0.75), 1e-7);
  EXPECT_EQ(y.reference(2), -HUGE_VAL);
  EXPECT_EQ(y.reference(3), 0);
}

//===----------------------------------------------------------------------===//
// What is computed from positions
//===----------------------------------------------------------------------===//

// The known answers that the authors publish with their code.
TEST(Reference, philox) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Reference, philoxWordDependsOnPositionOnly) {
  EXPECT_EQ(philoxWord(7, 3, 5), philoxWord(7, 4, 1));
  // The counter is 64 bits of a larger one, and the upper half stays 0.
  EXPECT_EQ(philoxWord(7, ~0ull, 4), philoxWord(7, 0, 0));
  EXPECT_EQ(philoxWord(uint64_t(0x299f31d0) << 32 | 0xa4093822, uint64_t(1) << 32, 2),
            philox4x32({0, 1, 0, 0}, {0xa4093822, 0x299f31d0})[2]);
}

TEST(Reference, coordinatesAndRandomBitsOfDynamicExtents) {
  Tensor x = makeTensor(ElementType::F32, {2, 3}),
         state = makeTensor(ElementType::I64, {2}, {7, 3});
  Graph graph(R"(func.func @f(%x: tensor<?x3xf32>, %state: tensor<2xi64>)
      -> (tensor<?x3xi32>, tensor<?x3xi32>) {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x3xf32>
    %i = swage.iota dim 0 sizes(%n) : tensor<?x3xi32>
    %r = swage.random %state sizes(%n) : tensor<2xi64> -> tensor<?x3xi32>
    return %i, %r : tensor<?x3xi32>, tensor<?x3xi32> })");
  std::vector<Value> results = graph.run({&x, &state});
  ASSERT_EQ(results.size(), 2u) << graph.message;
  EXPECT_EQ(references(results[0]), (Elements{0, 0, 0, 1, 1, 1}));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(results[1].load(i).integer, static_cast<int32_t>(philoxWord(7, 3, i)));
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

TEST(Reference, integersAndBools) {
  Tensor a = makeTensor(ElementType::I8, {3}, {127, -128, 5});
  Tensor m = makeTensor(ElementType::I1, {3}, {1, 0, 1});
  Graph graph(R"(func.func @f(%a: tensor<3xi8>, %m: tensor<3xi1>)
      -> (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi1>, tensor<3xi32>) {
    %one = arith.constant dense<1> : tensor<3xi8>
    %sum = arith.addi %a, %one : tensor<3xi8>
    %signed = arith.sitofp %m : tensor<3xi1> to tensor<3xf32>
    %unsigned = arith.uitofp %a : tensor<3xi8> to tensor<3xf32>
    %wide = arith.extui %a : tensor<3xi8> to tensor<3xi32>
    %less = arith.cmpi ult, %a, %one : tensor<3xi8>
    %half = arith.constant dense<[1.5, -1.5, 2.9]> : tensor<3xf32>
    %whole = arith.fptosi %half : tensor<3xf32> to tensor<3xi32>
    return %sum, %signed, %unsigned, %wide, %less, %whole : tensor<3xi8>, tensor<3xf32>,
      tensor<3xf32>, tensor<3xi32>, tensor<3xi1>, tensor<3xi32> })");
  std::vector<Value> results = graph.run({&a, &m});
  ASSERT_EQ(results.size(), 6u) << graph.message;
  EXPECT_EQ(references(results[0]), (Elements{-128, -127, 6}));
  EXPECT_EQ(references(results[1]), (Elements{-1, 0, -1}));
  EXPECT_EQ(references(results[2]), (Elements{127, 128, 5}));
  EXPECT_EQ(references(results[3]), (Elements{127, 128, 5}));
  EXPECT_EQ(references(results[4]), (Elements{0, 0, 0}));
  EXPECT_EQ(references(results[5]), (Elements{1, -1, 2}));
}

TEST(Reference, maximumPropagatesNaNAndMaxnumDoesNot) {
  Tensor a = makeTensor(ElementType::F32, {2}, {NAN, 1}),
         b = makeTensor(ElementType::F32, {2}, {2, NAN});
  Graph graph(R"(func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>)
      -> (tensor<2xf32>, tensor<2xf32>) {
    %p = arith.maximumf %a, %b : tensor<2xf32>
    %n = arith.maxnumf %a, %b : tensor<2xf32>
    return %p, %n : tensor<2xf32>, tensor<2xf32> })");
  std::vector<Value> results = graph.run({&a, &b});
  ASSERT_EQ(results.size(), 2u) << graph.message;
  EXPECT_TRUE(std::isnan(results[0].reference(0)) && std::isnan(results[0].reference(1)));
  EXPECT_EQ(references(results[1]), (Elements{2, 1}));
}

//===----------------------------------------------------------------------===//
// The precision rule
//===----------------------------------------------------------------------===//

static constexpr const char *kThird = R"(
func.func @f(%x: tensor<1xf16>, %d: tensor<1xf16>) -> RESULTS {
  %q = arith.divf %x, %d : tensor<1xf16>
  BODY
})";

static std::vector<Value> runThird(std::string results, std::string body,
                                   const EvaluateOptions &options = {}) {
  std::string text = kThird;
  text.replace(text.find("RESULTS"), 7, results);
  text.replace(text.find("BODY"), 4, body);
  Graph graph(text);
  Tensor x = makeTensor(ElementType::F16, {1}, {1}), d = makeTensor(ElementType::F16, {1}, {3});
  std::vector<Value> values = graph.run({&x, &d}, options);
  EXPECT_FALSE(values.empty()) << graph.message;
  return values;
}

TEST(Reference, implicitIntermediatesAreNotRounded) {
  Value y = runThird("tensor<1xf16>", R"(%y = arith.addf %q, %q : tensor<1xf16>
    return %y : tensor<1xf16>)")[0];
  EXPECT_EQ(y.reference(0), 2.0 / 3);
  EXPECT_GT(y.load(0).error, 0x1p-24 / 3);
  EXPECT_LT(y.load(0).error, 0x1p-22);
}

TEST(Reference, explicitCastsAreRounded) {
  Value y = runThird("tensor<1xf32>", R"(%w = arith.extf %q : tensor<1xf16> to tensor<1xf32>
    %n = arith.truncf %w : tensor<1xf32> to tensor<1xf16>
    %y = arith.extf %n : tensor<1xf16> to tensor<1xf32>
    return %y : tensor<1xf32>)")[0];
  EXPECT_EQ(y.reference(0), roundTo(kF16, 1.0 / 3));
  EXPECT_EQ(y.load(0).honest, roundTo(kF16, 1.0 / 3));
}

/// A sum that may be infinite in f32, although its reference is finite, may be NaN after more work.
TEST(Reference, whatIsUncertainStaysSoWhenItIsCast) {
  Tensor x = makeTensor(ElementType::F32, {2}, {FLT_MAX, 1});
  Tensor z = makeTensor(ElementType::F32, {2}, {0x1p102, 1});
  Value y = runOne(R"(func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xbf16> {
    %s = arith.addf %x, %y : tensor<2xf32>
    %r = arith.truncf %s : tensor<2xf32> to tensor<2xbf16>
    return %r : tensor<2xbf16> })",
                   {&x, &z});
  EXPECT_EQ(y.load(0).error, kUncertain);
  EXPECT_EQ(y.reference(1), 2);
  EXPECT_EQ(y.load(1).error, 0);
}

// To nearest even; beyond the largest number stands infinity, or NaN where there is none.
TEST(Reference, conversionsToEightBits) {
  for (auto [name, type, values, expected] :
       {std::tuple("f8E4M3FN", ElementType::F8E4M3FN,
                   Elements{464, 464.0001, -HUGE_VAL, 17, 19, 0x1p-10, 0x1.8p-9, NAN},
                   Elements{448, NAN, NAN, 16, 20, 0, 0x1p-8, NAN}),
        std::tuple("f8E5M2", ElementType::F8E5M2,
                   Elements{61439, 61440, -HUGE_VAL, 9, 11, 0x1p-17, 0x1.8p-16, NAN},
                   Elements{57344, HUGE_VAL, -HUGE_VAL, 8, 12, 0, 0x1p-15, NAN})}) {
    Tensor x = makeTensor(ElementType::F32, {8}, values);
    std::string graph = std::string("func.func @f(%x: tensor<8xf32>) -> tensor<8xTYPE> {\n") +
                        "%y = arith.truncf %x : tensor<8xf32> to tensor<8xTYPE>\n" +
                        "return %y : tensor<8xTYPE> }";
    for (size_t at; (at = graph.find("TYPE")) != std::string::npos;)
      graph.replace(at, 4, name);
    Value y = runOne(graph, {&x});
    EXPECT_EQ(y.type(), type);
    for (int i = 0; i < 8; ++i) {
      double found = y.reference(i);
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(found) : found == expected[i])
          << name << " of " << values[i] << " is " << found;
    }
  }
}

TEST(Reference, outputsAreUsedAsRounded) {
  std::vector<Value> values =
      runThird("(tensor<1xf16>, tensor<1xf16>)", R"(%y = arith.addf %q, %q : tensor<1xf16>
    return %q, %y : tensor<1xf16>, tensor<1xf16>)");
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].reference(0), 1.0 / 3);
  EXPECT_EQ(values[1].reference(0), 2 * roundTo(kF16, 1.0 / 3));
}

/// Rows of two nearly equal values: the variance is all rounding, and its error is of second order.
TEST(Reference, roundingOfANearlyConstantRowIsWithinItsBound) {
  EvaluateOptions options;
  options.stored = {"2:8"};
  Graph graph(
      R"(func.func @main(%x: tensor<512x2xf16>, %g: tensor<512x2xf16>) -> (tensor<512x2xf16>, tensor<512xf32>, tensor<512xf32>) {
  %s = arith.addf %x, %g : tensor<512x2xf16>
  %y, %m, %r = swage.layer_norm %s axis 1 eps 1.0e-2 : (tensor<512x2xf16>) -> (tensor<512x2xf16>, tensor<512xf32>, tensor<512xf32>)
  return %y, %m, %r : tensor<512x2xf16>, tensor<512xf32>, tensor<512xf32>
})");
  Tensor x = makeTensor(ElementType::F16, {512, 2}), g = makeTensor(ElementType::F16, {512, 2});
  for (int64_t i = 0; i < x.size(); ++i) {
    x.setReal(i, 2 + (i / 2) * 0.001953125);
    g.setReal(i, (i % 2 ? 0.00097 : 0.00098) * (1 + i / 128));
  }
  std::vector<Value> results = graph.run({&x, &g}, options);
  ASSERT_EQ(results.size(), 3u) << graph.message;
  for (const Value &result : results)
    for (int64_t i = 0; i < result.size(); ++i) {
      Number number = result.load(i);
      EXPECT_LE(std::fabs(number.honest - number.reference), number.error * 1.0001 + 1e-6) << i;
    }
}

TEST(Reference, storedValuesAddARoundingToTheErrorOnly) {
  EvaluateOptions options;
  options.stored = {"3:8"};
  Value y = runThird("tensor<1xf16>", R"(%y = arith.addf %q, %q : tensor<1xf16>
    return %y : tensor<1xf16>)",
                     options)[0];
  EXPECT_EQ(y.reference(0), 2.0 / 3);
  EXPECT_GT(y.load(0).error, 0x1p-13); // two halves of an f16 ulp of 1/3
  EXPECT_LT(y.load(0).error, 0x1p-11);
  EXPECT_EQ(y.load(0).honest, 2 * roundTo(kF16, 1.0 / 3));
}

TEST(Reference, f64GraphsAreEvaluatedInF64) {
  Tensor x = makeTensor(ElementType::F64, {1}, {1}), d = makeTensor(ElementType::F64, {1}, {3});
  Value y = runOne(R"(func.func @f(%x: tensor<1xf64>, %d: tensor<1xf64>) -> tensor<1xf64> {
    %y = arith.divf %x, %d : tensor<1xf64>
    return %y : tensor<1xf64> })",
                   {&x, &d});
  EXPECT_EQ(y.load(0).honest, 1.0 / 3);
  EXPECT_GT(y.load(0).error, 0);
  EXPECT_LT(y.load(0).error, 0x1p-53);
}

//===----------------------------------------------------------------------===//
// Wrong inputs
//===----------------------------------------------------------------------===//

static std::string messageOf(llvm::StringRef text, llvm::ArrayRef<const Tensor *> inputs,
                             const EvaluateOptions &options = {}) {
  Graph graph(text);
  EXPECT_TRUE(graph.run(inputs, options).empty());
  return graph.message;
}

TEST(Reference, unknownOpsAreErrorsAtTheirLocation) {
  Tensor x = makeTensor(ElementType::F32, {1}, {1});
  EXPECT_EQ(messageOf("func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
                      "  %y = \"test.op\"(%x) : (tensor<1xf32>) -> tensor<1xf32>\n"
                      "  return %y : tensor<1xf32> }",
                      {&x}),
            "2:8 'test.op' op is not known to the reference\n");
}

TEST(Reference, inputsMustFitTheArguments) {
  const char *text = "func.func @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {\n"
                     "  return %x : tensor<?x2xf32> }";
  Tensor x = makeTensor(ElementType::F16, {1, 2}, {1, 2}), y = makeIota(ElementType::F32, {1, 3});
  EXPECT_NE(messageOf(text, {}).find("is given 0 inputs, but has 1 arguments"), std::string::npos);
  EXPECT_NE(messageOf(text, {&x}).find("is given 1x2xf16 as input 0, but its argument has type"),
            std::string::npos);
  EXPECT_NE(messageOf(text, {&y}).find("is given 1x3xf32 as input 0"), std::string::npos);
}

TEST(Reference, dynamicExtentsMustAgree) {
  Tensor x = makeIota(ElementType::F32, {2}), y = makeIota(ElementType::F32, {3});
  EXPECT_EQ(messageOf("func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {\n"
                      "  %z = arith.addf %x, %y : tensor<?xf32>\n"
                      "  return %z : tensor<?xf32> }",
                      {&x, &y}),
            "2:8 'arith.addf' op has operands of shapes 2xf32 and 3xf32\n");
  Tensor q = makeIota(ElementType::F32, {2, 3, 4}), k = makeIota(ElementType::F32, {3, 3, 4});
  std::string
      three = "func.func @f(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {\n",
      types = "(tensor<?x?x?xf32>, tensor<?x?x?xf32>";
  EXPECT_EQ(messageOf(three + "%y = swage.matmul %q, %k : " + types + ") -> tensor<?x?x?xf32>\n" +
                          "return %y : tensor<?x?x?xf32> }",
                      {&q, &k}),
            "2:6 'swage.matmul' op is given a as 2x3x4xf32 and b as 3x3x4xf32, which do not fit\n");
  EXPECT_EQ(
      messageOf(three + "%y = swage.attention %q, %k, %k : " + types +
                    ", tensor<?x?x?xf32>) -> tensor<?x?x?xf32>\nreturn %y : tensor<?x?x?xf32> }",
                {&q, &k}),
      "2:6 'swage.attention' op is given q as 2x3x4xf32, k as 3x3x4xf32 and v as 3x3x4xf32, which "
      "do not fit\n");
  EXPECT_NE(messageOf("func.func @f(%x: tensor<?xf32>) -> tensor<?x2xf32> {\n"
                      "  %z = swage.reshape %x : tensor<?xf32> -> tensor<?x2xf32>\n"
                      "  return %z : tensor<?x2xf32> }",
                      {&y})
                .find("is given 3xf32, which does not have the elements of 1x2xf32"),
            std::string::npos);
}

TEST(Reference, memoryIsLimited) {
  Tensor x = makeIota(ElementType::F32, {1000});
  EvaluateOptions options;
  options.memoryLimit = 10000;
  EXPECT_NE(messageOf("func.func @f(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n"
                      "  %y = math.exp %x : tensor<1000xf32>\n"
                      "  return %y : tensor<1000xf32> }",
                      {&x}, options)
                .find("needs a value of 1000 elements while 8000 bytes are in use, but the "
                      "reference may use 10000"),
            std::string::npos);
}

TEST(Reference, dynamicAndEmptyShapes) {
  const char *text = R"(func.func @f(%x: tensor<?x?xf16>, %g: tensor<?xf16>) -> tensor<?x?xf16> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf16>
    %b = swage.broadcast %g dims [1] sizes(%n, %m) : tensor<?xf16> -> tensor<?x?xf16>
    %s = arith.mulf %x, %b : tensor<?x?xf16>
    %y = swage.softmax %s axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>
    return %y : tensor<?x?xf16> })";
  std::string source = text;
  source.insert(source.find("%b = "), "%c1 = arith.constant 1 : index\n"
                                      "%m = tensor.dim %x, %c1 : tensor<?x?xf16>\n");
  for (Shape shape : {Shape{3, 5}, Shape{0, 5}, Shape{3, 0}, Shape{1, 1}}) {
    Tensor x = makeInput(ElementType::F16, shape, InputFamily::Dense);
    Tensor g = makeInput(ElementType::F16, {shape[1]}, InputFamily::Dense, 1);
    Value y = runOne(source, {&x, &g});
    EXPECT_EQ(y.shape(), llvm::ArrayRef<int64_t>(shape));
  }
}
