//===- OdsExamplesTest.cpp - The examples in SwageOps.td run --------------===//
//
// Takes each example out of the op definitions, parses, verifies and evaluates it, and holds the
// result against what the op's semantics give by hand. An op without an example, or an example
// without a case here, fails.
//
//===----------------------------------------------------------------------===//

#include "ReferenceGraph.h"
#include "swage/Reference/Random.h"
#include "gtest/gtest.h"
#include <fstream>
#include <functional>
#include <map>

using namespace swage::reference;
using namespace swage::reference::test;

namespace {

/// The examples, by op: "swage.reduce" -> "%y = swage.reduce sum ...".
std::map<std::string, std::vector<std::string>> examplesOf(const std::string &path) {
  std::ifstream file(path);
  std::map<std::string, std::vector<std::string>> examples;
  std::string line, op, example;
  bool inside = false;
  while (std::getline(file, line)) {
    size_t at = line.find("Swage_Op<\"");
    if (at != std::string::npos) {
      op = line.substr(at + 10, line.find('"', at + 10) - at - 10);
      examples[op];
    } else if (line.find("```mlir") != std::string::npos) {
      inside = true;
      example.clear();
    } else if (line.find("```") != std::string::npos) {
      inside = false;
      examples[op].push_back(example);
    } else if (inside) {
      example += line + "\n";
    }
  }
  return examples;
}

struct Case {
  const char *arguments;
  const char *result;
  const char *resultType;
  std::vector<Tensor> inputs;
  /// The element at a row and a column, the result seen as rows of `columns`.
  int64_t columns;
  std::function<double(int64_t row, int64_t column)> expected;
};

template <typename... Inputs> std::vector<Tensor> listOf(Inputs... inputs) {
  std::vector<Tensor> list;
  (list.push_back(std::move(inputs)), ...);
  return list;
}

Tensor iota(llvm::ArrayRef<int64_t> shape, double first = 0) {
  Tensor tensor = makeTensor(ElementType::F32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setReal(i, first + static_cast<double>(i));
  return tensor;
}

/// x is 0, 1, 2, ... in 4 rows of 8.
std::map<std::string, Case> makeCases() {
  std::map<std::string, Case> cases;
  auto x = [] { return iota({4, 8}); };
  const char *onlyX = "%x: tensor<4x8xf32>", *same = "tensor<4x8xf32>";
  // Each row is its mean +- 0.5, 1.5, 2.5 and 3.5, so its variance is 5.25; gamma is 1..8, beta
  // 10..17.
  cases["layer_norm"] = {
      "%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>",
      "%y",
      same,
      listOf(x(), iota({8}, 1), iota({8}, 10)),
      8,
      [](double, double j) { return (j - 3.5) / std::sqrt(5.25 + 1e-5) * (j + 1) + j + 10; }};
  // The squares of 8r..8r+7 add up to 512 r^2 + 448 r + 140.
  cases["rms_norm"] = {"%x: tensor<4x8xf32>, %g: tensor<8xf32>",
                       "%y",
                       same,
                       listOf(x(), iota({8}, 1)),
                       8,
                       [](double r, double j) {
                         double square = (512 * r * r + 448 * r + 140) / 8;
                         return (8 * r + j) / std::sqrt(square + 1e-6) * (j + 1);
                       }};
  // A geometric series of ratio e^(1/8), whose eight terms add up to (e - 1) / (ratio - 1).
  cases["softmax"] = {
      "%x: tensor<4x8xf32>, %m: tensor<4x8xi1>",
      "%y",
      same,
      listOf(x(), makeTensor(ElementType::I1, {4, 8})),
      8,
      [](double, double j) { return std::exp(j / 8) * std::expm1(0.125) / std::expm1(1.0); }};
  // Row i of a is 3i, 3i + 1, 3i + 2, and so is row j of b.
  cases["matmul"] = {"%a: tensor<1x2x3xf32>, %b: tensor<1x4x3xf32>",
                     "%y",
                     "tensor<1x2x4xf32>",
                     listOf(iota({1, 2, 3}), iota({1, 4, 3})),
                     4,
                     [](double i, double j) { return 27 * i * j + 9 * (i + j) + 5; }};
  // Scores are what the bias says, -j in head 0 and j - 5 in head 1, up to j = i; values are 2j and
  // 2j + 1, so that the result is twice the mean of j, and one more in column 1.
  cases["attention"] = {
      "%q: tensor<2x3x4xf32>, %k: tensor<1x5x4xf32>, %v: tensor<1x5x2xf32>, "
      "%bias: tensor<2x5xf32>",
      "%o",
      "tensor<2x3x2xf32>",
      listOf(makeTensor(ElementType::F32, {2, 3, 4}, std::vector<double>(24)), iota({1, 5, 4}),
             iota({1, 5, 2}),
             makeTensor(ElementType::F32, {2, 5}, {0, -1, -2, -3, -4, -5, -4, -3, -2, -1})),
      2,
      [](int64_t row, double d) {
        double sum = 0, weighted = 0, sign = row < 3 ? -1 : 1;
        for (int64_t j = 0; j <= row % 3; ++j) {
          double weight = std::exp(sign * static_cast<double>(j));
          sum += weight;
          weighted += weight * static_cast<double>(j);
        }
        return 2 * weighted / sum + d;
      }};
  cases["reduce"] = {onlyX,       "%y", "tensor<4xf32>",
                     listOf(x()), 1,    [](double r, double) { return 64 * r + 28; }};
  cases["permute"] = {onlyX,       "%y", "tensor<8x4xf32>",
                      listOf(x()), 4,    [](double i, double j) { return 8 * j + i; }};
  cases["reshape"] = {onlyX,       "%y", "tensor<4x2x4xf32>",
                      listOf(x()), 4,    [](double i, double j) { return 4 * i + j; }};
  cases["broadcast"] = {"%x: tensor<8xf32>", "%y", same,
                        listOf(iota({8})),   8,    [](double, double j) { return j; }};
  cases["slice"] = {onlyX,       "%y", "tensor<4x4xf32>",
                    listOf(x()), 4,    [](double i, double j) { return 8 * i + 4 + j; }};
  cases["concat"] = {"%a: tensor<4x8xf32>, %b: tensor<4x8xf32>",
                     "%y",
                     "tensor<4x16xf32>",
                     listOf(x(), iota({4, 8}, 100)),
                     16,
                     [](double i, double j) { return j < 8 ? 8 * i + j : 100 + 8 * i + j - 8; }};
  // Two heads of three pages, the last of which does not exist.
  cases["pages"] = {"%pool: tensor<9x2x16x4xf32>, %table: tensor<1x3xi32>",
                    "%k",
                    "tensor<1x2x48x4xf32>",
                    listOf(iota({9, 2, 16, 4}), makeTensor(ElementType::I32, {1, 3}, {7, 2, 9})),
                    4,
                    [](int64_t row, double d) {
                      int64_t head = row / 48, position = row % 48, page = position < 16 ? 7 : 2;
                      return position < 32 ? ((page * 2 + head) * 16 + position % 16) * 4.0 + d
                                           : 0.0;
                    }};
  // Row 2 of the first sequence; of the second, which has ended, none.
  cases["append"] = {"%cache: tensor<2x4x8xf32>, %new: tensor<2x1x8xf32>, %positions: tensor<2xi32>",
                     "%k",
                     "tensor<2x4x8xf32>",
                     listOf(iota({2, 4, 8}), iota({2, 1, 8}, 100),
                            makeTensor(ElementType::I32, {2}, {2, -1})),
                     8,
                     [](double r, double j) { return r == 2 ? 100 + j : 8 * r + j; }};
  cases["copy"] = {onlyX, "%y", same, listOf(x()), 8, [](double i, double j) { return 8 * i + j; }};
  cases["iota"] = {"", "%j", "tensor<4x8xi32>", {}, 8, [](double, double j) { return j; }};
  // Key and counter 0: the paper's first known answer, and what follows counter by counter.
  cases["random"] = {"%state: tensor<2xi64>",
                     "%r",
                     "tensor<4x8xi32>",
                     listOf(makeTensor(ElementType::I64, {2}, {0, 0})),
                     8,
                     [](double r, double j) {
                       auto at = static_cast<uint64_t>(8 * r + j);
                       return static_cast<int32_t>(philoxWord(0, 0, at));
                     }};
  return cases;
}

} // namespace

TEST(OdsExamples, giveWhatTheSemanticsSay) {
  std::map<std::string, std::vector<std::string>> examples = examplesOf(SWAGE_OPS_TD);
  ASSERT_FALSE(examples.empty()) << SWAGE_OPS_TD;
  std::map<std::string, Case> cases = makeCases();
  for (auto &[op, texts] : examples) {
    EXPECT_EQ(texts.size(), 1u) << "swage." << op << " has no example, or several";
    auto found = cases.find(op);
    ASSERT_NE(found, cases.end()) << "no case for swage." << op;
    Case &test = found->second;
    for (const std::string &text : texts) {
      std::string function = std::string("func.func @f(") + test.arguments + ") -> " +
                             test.resultType + " {\n" + text + "return " + test.result + " : " +
                             test.resultType + "\n}";
      Graph graph(function); // the parser verifies
      std::vector<const Tensor *> inputs;
      for (const Tensor &input : test.inputs)
        inputs.push_back(&input);
      std::vector<Value> results = graph.run(inputs);
      ASSERT_EQ(results.size(), 1u) << graph.message << function;
      Tensor result = llvm::cantFail(results[0].toTensor());
      for (int64_t i = 0; i < result.size(); ++i) {
        double expected = test.expected(i / test.columns, i % test.columns);
        double actual =
            isFloat(result.type()) ? result.real(i) : static_cast<double>(result.integer(i));
        EXPECT_NEAR(actual, expected, 1e-6 * (1 + std::fabs(expected)))
            << "swage." << op << " element " << i;
      }
    }
  }
  EXPECT_EQ(examples.size(), cases.size());
}
