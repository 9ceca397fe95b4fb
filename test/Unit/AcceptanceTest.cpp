//===- AcceptanceTest.cpp - What the acceptance rule lets through ---------===//

#include "swage/Reference/Acceptance.h"
#include "ReferenceGraph.h"
#include "gtest/gtest.h"
#include <random>
#include <regex>

using namespace swage::reference;
using namespace swage::reference::test;
using Kind = Verdict::Kind;

namespace {

constexpr int64_t kRows = 128, kLength = 257;

Value softmaxOf(ElementType type, InputFamily family, const std::string &name) {
  Tensor x = makeInput(type, {kRows, kLength}, family);
  std::string tensor = "tensor<128x257x" + name + ">";
  Graph graph("func.func @f(%x: " + tensor + ") -> " + tensor +
              " {\n%y = swage.softmax %x axis 1 : " + tensor + " -> " + tensor +
              "\nreturn %y : " + tensor + " }");
  std::vector<Value> results = graph.run({&x});
  EXPECT_EQ(results.size(), 1u) << graph.message;
  return results.front();
}

const Value &halves() {
  static const Value value = softmaxOf(ElementType::F16, InputFamily::Dense, "f16");
  return value;
}

Tensor right(const Value &value) { return llvm::cantFail(value.toTensor()); }

/// A value whose every element has this error.
Value valueWithError(ElementType type, const Tensor &x, double error) {
  Value value(type, x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    value.store(i, {x.real(i), error, x.real(i)});
  value.simplify();
  return value;
}

} // namespace

TEST(Acceptance, honestEvaluationsPass) {
  for (auto [type, name] :
       {std::make_pair(ElementType::F16, "f16"), std::make_pair(ElementType::BF16, "bf16"),
        std::make_pair(ElementType::F32, "f32"), std::make_pair(ElementType::F64, "f64")})
    for (unsigned i = 0; i < kInputFamilies; ++i) {
      auto family = static_cast<InputFamily>(i);
      Value value = softmaxOf(type, family, name);
      Verdict verdict = judge(llvm::cantFail(value.honestTensor()), value);
      EXPECT_NE(verdict.kind, Kind::Rejected)
          << swage::reference::name(family).str() << verdict.line();
      Verdict rounded = judge(right(value), value);
      EXPECT_NE(rounded.kind, Kind::Rejected) << rounded.line();
      if (family == InputFamily::Dense) {
        EXPECT_TRUE(verdict.accepted()) << verdict.line();
        EXPECT_GE(verdict.planted, 5);
      }
    }
}

TEST(Acceptance, reportsOnOneLine) {
  Tensor y = right(halves());
  y.setReal(5 * kLength + 7, 2 * y.real(5 * kLength + 7));
  AcceptanceOptions options;
  options.name = "softmax";
  Verdict verdict = judge(y, halves(), options);
  EXPECT_EQ(verdict.kind, Kind::Rejected);
  EXPECT_EQ(verdict.rule, 2);
  EXPECT_EQ(verdict.worst, 5 * kLength + 7);
  std::string line = verdict.line();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  for (const char *part : {"softmax: REJECTED by rule 2", "worst at [5, 7] r=", "bit-equal",
                           "f16: 32896 elements", "0 NaN", "ulp)", "honest max"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
}

TEST(Acceptance, rule1Patterns) {
  for (double wrong : {double(NAN), double(HUGE_VAL), double(-HUGE_VAL)}) {
    Tensor y = right(halves());
    y.setReal(3, wrong);
    EXPECT_EQ(judge(y, halves()).rule, 1);
  }
  Tensor x = makeTensor(ElementType::F32, {4}, {HUGE_VAL, -HUGE_VAL, NAN, 1});
  Value value = Value::fromTensor(x);
  EXPECT_TRUE(judge(x, value).accepted()) << judge(x, value).line();
  Tensor y = makeTensor(ElementType::F32, {4}, {-HUGE_VAL, -HUGE_VAL, NAN, 1});
  EXPECT_EQ(judge(y, value).rule, 1);
  y = makeTensor(ElementType::F32, {4}, {HUGE_VAL, -HUGE_VAL, 0, 1});
  EXPECT_EQ(judge(y, value).rule, 1);
}

TEST(Acceptance, shapesAndTypesMustAgree) {
  Verdict verdict = judge(makeTensor(ElementType::F16, {kRows, 3}), halves());
  EXPECT_EQ(verdict.kind, Kind::Rejected);
  EXPECT_NE(verdict.reason.find("is 128x3xf16, but the reference is 128x257xf16"),
            std::string::npos);
}

TEST(Acceptance, rule2OneUlpIsAllowedTwoAreNot) {
  auto moveBy = [&](int steps) {
    Tensor moved = right(halves());
    double x = moved.real(1000);
    bool up = x < halves().reference(1000);
    for (int i = 0; i < steps; ++i)
      x = nextRepresentable(ElementType::F16, x, up);
    moved.setReal(1000, x);
    return moved;
  };
  EXPECT_TRUE(judge(moveBy(1), halves()).accepted()) << judge(moveBy(1), halves()).line();
  EXPECT_EQ(judge(moveBy(2), halves()).rule, 2);
}

TEST(Acceptance, rule4NoticesBias) {
  // Always the second nearest number: within one ulp, but on average three quarters off.
  Tensor y = right(halves());
  for (int64_t i = 0; i < y.size(); ++i) {
    double r = halves().reference(i), x = y.real(i);
    y.setReal(i, nextRepresentable(ElementType::F16, x, x <= r));
  }
  Verdict verdict = judge(y, halves());
  EXPECT_EQ(verdict.rule, 4) << verdict.line();
}

TEST(Acceptance, rules3And5CompareWithTheHonestError) {
  // A bound far above what an honest evaluation needs leaves rule 2 open; 3 to 5 do not.
  Tensor x = makeInput(ElementType::F16, {kRows, kLength}, InputFamily::Dense);
  Value value = valueWithError(ElementType::F16, x, 0.01);
  EXPECT_TRUE(judge(x, value).accepted()) << judge(x, value).line();
  Tensor y = right(value);
  y.setReal(100, y.real(100) + 0.03);
  EXPECT_EQ(judge(y, value).rule, 3) << judge(y, value).line();
  // Errors are small numbers: both have digits.
  EXPECT_TRUE(std::regex_search(judge(y, value).reason,
                                std::regex(": [1-9]\\.[0-9]{2}e[-+][0-9]+ > [1-9]\\.[0-9]{2}e")))
      << judge(y, value).reason;
  for (int64_t i = 0; i < y.size(); ++i) // small elements with large relative errors
    y.setReal(i, x.real(i) + 0x1p-9);
  EXPECT_NE(judge(y, value).rule, 0);
}

TEST(Acceptance, rule6ExactElementsMustBeEqual) {
  Tensor x = makeInput(ElementType::F32, {kRows, kLength}, InputFamily::Exact);
  Value value = Value::fromTensor(x);
  EXPECT_TRUE(judge(x, value).accepted());
  Tensor y = right(value);
  for (int64_t i = 0; i < y.size(); ++i) // signed zeros do not matter
    if (y.real(i) == 0)
      y.setReal(i, -0.0);
  EXPECT_TRUE(judge(y, value).accepted());
  y.setReal(77, nextRepresentable(ElementType::F32, y.real(77), true));
  EXPECT_EQ(judge(y, value).rule, 6);
}

TEST(Acceptance, exactReferencesAreRoundedToTheType) {
  // 1 + 2^-11 lies between two f16 numbers: exact, but the kernel rounds it when it stores.
  Tensor one = makeTensor(ElementType::F16, {2}, {1, 1}),
         small = makeTensor(ElementType::F16, {2}, {0x1.8p-11, 0x1p-11});
  Graph graph(R"(func.func @f(%a: tensor<2xf16>, %b: tensor<2xf16>) -> tensor<2xf16> {
    %y = arith.addf %a, %b : tensor<2xf16>
    return %y : tensor<2xf16> })");
  Value value = graph.run({&one, &small})[0];
  EXPECT_TRUE(value.isExact());
  EXPECT_TRUE(judge(makeTensor(ElementType::F16, {2}, {1 + 0x1p-10, 1}), value).accepted());
  EXPECT_EQ(judge(makeTensor(ElementType::F16, {2}, {1, 1}), value).rule, 6);
  EXPECT_EQ(judge(makeTensor(ElementType::F16, {2}, {1 + 0x1p-10, 1 + 0x1p-10}), value).rule, 6);
}

TEST(Acceptance, integersAndBools) {
  for (ElementType type : {ElementType::I1, ElementType::I8, ElementType::I32, ElementType::I64}) {
    Tensor x = makeInput(type, {40, 50}, InputFamily::Dense);
    Value value = Value::fromTensor(x);
    EXPECT_TRUE(judge(x, value).accepted()) << judge(x, value).line();
    Tensor y = makeInput(type, {40, 50}, InputFamily::Dense);
    y.setInteger(99, y.integer(99) ^ 1);
    EXPECT_EQ(judge(y, value).rule, 6);
  }
}

//===----------------------------------------------------------------------===//
// Wrong kernels
//===----------------------------------------------------------------------===//

TEST(Acceptance, wrongAnswersAreRejected) {
  Tensor y = right(halves());
  auto reject = [&](const char *what, auto wrong) {
    Tensor answer = makeTensor(ElementType::F16, {kRows, kLength});
    for (int64_t i = 0; i < answer.size(); ++i)
      answer.setReal(i, wrong(i));
    EXPECT_EQ(judge(answer, halves()).kind, Kind::Rejected) << what;
  };
  int64_t size = y.size();
  reject("zeros", [](int64_t) { return 0.0; });
  reject("uniform", [](int64_t) { return 1.0 / kLength; });
  reject("shifted", [&](int64_t i) { return y.real((i + kLength) % size); });
  reject("last column lost", [&](int64_t i) { return i % kLength == kLength - 1 ? 0 : y.real(i); });
  reject("sum one percent off", [&](int64_t i) { return y.real(i) * 1.01; });
}

TEST(Acceptance, varianceByDifferenceOfSquaresIsRejected) {
  // E[x^2] - E[x]^2 in f32, the classic: harmless around 0, not around 256.
  Tensor x = makeInput(ElementType::F32, {128, 768}, InputFamily::LargeMean);
  Graph graph(R"(func.func @f(%x: tensor<128x768xf32>) -> tensor<128x768xf32> {
    %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<128x768xf32>) -> tensor<128x768xf32>
    return %y : tensor<128x768xf32> })");
  Value value = graph.run({&x})[0];
  Tensor y = makeTensor(ElementType::F32, {128, 768});
  for (int64_t row = 0; row < 128; ++row) {
    float sum = 0, squares = 0;
    for (int64_t i = row * 768; i < (row + 1) * 768; ++i) {
      sum += static_cast<float>(x.real(i));
      squares += static_cast<float>(x.real(i) * x.real(i));
    }
    float mean = sum / 768, rstd = 1 / std::sqrt(squares / 768 - mean * mean + 1e-5f);
    for (int64_t i = row * 768; i < (row + 1) * 768; ++i)
      y.setReal(i, (static_cast<float>(x.real(i)) - mean) * rstd);
  }
  EXPECT_EQ(judge(y, value).kind, Kind::Rejected) << judge(y, value).line();
}

TEST(Acceptance, statisticsInHalfPrecisionAreRejected) {
  Tensor x = makeInput(ElementType::F16, {128, 768}, InputFamily::Dense);
  Graph graph(R"(func.func @f(%x: tensor<128x768xf16>) -> tensor<128x768xf16> {
    %y = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<128x768xf16>) -> tensor<128x768xf16>
    return %y : tensor<128x768xf16> })");
  Value value = graph.run({&x})[0];
  Tensor y = makeTensor(ElementType::F16, {128, 768});
  for (int64_t row = 0; row < 128; ++row) {
    double squares = 0;
    for (int64_t i = row * 768; i < (row + 1) * 768; ++i)
      squares = roundTo(kF16, squares + x.real(i) * x.real(i));
    double rstd = 1 / std::sqrt(squares / 768 + 1e-5);
    for (int64_t i = row * 768; i < (row + 1) * 768; ++i)
      y.setReal(i, x.real(i) * rstd);
  }
  EXPECT_EQ(judge(y, value).kind, Kind::Rejected) << judge(y, value).line();
}

//===----------------------------------------------------------------------===//
// Rule 7
//===----------------------------------------------------------------------===//

TEST(Acceptance, casesThatAcceptZerosAreInvalid) {
  Tensor x = makeInput(ElementType::F32, {kRows, kLength}, InputFamily::Dense);
  Value value = valueWithError(ElementType::F32, x, 4);
  value.samples = 1; // so that rules 3 to 5 are as wide
  Verdict verdict = judge(x, value);
  EXPECT_EQ(verdict.kind, Kind::Invalid);
  EXPECT_NE(verdict.reason.find("would be accepted: zeros"), std::string::npos);
  AcceptanceOptions options;
  options.plantErrors = false;
  EXPECT_TRUE(judge(x, value, options).accepted());
}

TEST(Acceptance, mostlyUncertainCasesAreInvalid) {
  Tensor x = makeInput(ElementType::F32, {16}, InputFamily::Dense);
  Value value(ElementType::F32, {16});
  for (int64_t i = 0; i < 16; ++i)
    value.store(i, {x.real(i), i < 9 ? kUncertain : 1e-7, x.real(i)});
  Verdict verdict = judge(x, value);
  EXPECT_EQ(verdict.kind, Kind::Invalid);
  EXPECT_EQ(verdict.statistics.uncertain, 9);
}

TEST(Acceptance, plantsThatChangeNothingDoNotApply) {
  // One element; a constant tensor; all zeros; nothing at all.
  for (auto [shape, element] :
       {std::make_pair(Shape{}, 1.5), std::make_pair(Shape{1, 1}, 2.0),
        std::make_pair(Shape{30, 40}, 3.0), std::make_pair(Shape{30, 40}, 0.0),
        std::make_pair(Shape{0, 5}, 1.0)}) {
    Tensor x = makeTensor(ElementType::F32, shape);
    for (int64_t i = 0; i < x.size(); ++i)
      x.setReal(i, element);
    Value value = valueWithError(ElementType::F32, x, 1e-8);
    Verdict verdict = judge(x, value);
    EXPECT_TRUE(verdict.accepted()) << verdict.line();
    // Zeros, and a lost tail where a row is longer than one element or is all there is.
    EXPECT_EQ(verdict.planted, element == 0 || x.size() == 0 ? 0 : 2);
  }
}

TEST(Acceptance, layerNormOverTwoColumnsIsValid) {
  Tensor x = makeInput(ElementType::F16, {100, 2}, InputFamily::Dense);
  Graph graph(R"(func.func @f(%x: tensor<100x2xf16>) -> tensor<100x2xf16> {
    %y = swage.layer_norm %x axis 1 eps 1.0e-12 : (tensor<100x2xf16>) -> tensor<100x2xf16>
    return %y : tensor<100x2xf16> })");
  Value value = graph.run({&x})[0];
  Verdict verdict = judge(llvm::cantFail(value.honestTensor()), value);
  EXPECT_TRUE(verdict.accepted()) << verdict.line();
}

// Faults at random places of random shapes: whatever the shape, no rule may be too weak for them.
TEST(Acceptance, faultsAtRandomPlacesAreRejected) {
  std::mt19937_64 engine(7);
  auto below = [&](int64_t n) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); };
  for (int round = 0; round < 200; ++round) {
    ElementType type = round % 3 == 0   ? ElementType::F32
                       : round % 3 == 1 ? ElementType::F16
                                        : ElementType::BF16;
    int64_t rows = 2 + below(40), columns = 17 + below(200);
    std::string tensor =
        "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + name(type) + ">";
    const char *ops[] = {"swage.layer_norm %x axis 1 eps 1.0e-5 : (T) -> T",
                         "swage.softmax %x axis 1 : T -> T", "math.tanh %x : T"};
    std::string text =
        "func.func @f(%x: T) -> T {\n%y = " + std::string(ops[below(3)]) + "\nreturn %y : T }";
    for (size_t at; (at = text.find('T')) != std::string::npos;)
      text.replace(at, 1, tensor);
    Tensor x = makeInput(type, {rows, columns}, InputFamily::Dense, 0, engine());
    Graph graph(text);
    std::vector<Value> results = graph.run({&x});
    ASSERT_EQ(results.size(), 1u) << graph.message << text;
    Tensor right = llvm::cantFail(results[0].honestTensor());
    ASSERT_TRUE(judge(right, results[0]).accepted()) << judge(right, results[0]).line() << text;
    // A row left as it was poisoned, another row's values, one element's, the last vector's.
    for (int fault = 0; fault < 4; ++fault) {
      Tensor wrong = llvm::cantFail(results[0].honestTensor());
      int64_t row = below(rows), other = (row + 1 + below(rows - 1)) % rows;
      int64_t first = row * columns, at = first + below(columns);
      if (fault == 2) {
        wrong.setReal(at, std::nan(""));
      } else {
        for (int64_t j = fault == 3 ? columns - 8 : 0; j < columns; ++j)
          wrong.setReal(first + j, fault == 0   ? -1.5
                                   : fault == 1 ? right.real(other * columns + j)
                                                : 0.0);
      }
      EXPECT_FALSE(judge(wrong, results[0]).accepted())
          << "round " << round << " fault " << fault << "\n"
          << text;
    }
  }
}
