//===- ErrorBoundTest.cpp - Whether E bounds what kernels do --------------===//
//
// Evaluates the collectives in f32 in the orders that kernels use and holds every element against
// E itself, without the slack of the acceptance rule.
//
//===----------------------------------------------------------------------===//

#include "ReferenceGraph.h"
#include "swage/Reference/Acceptance.h"
#include "gtest/gtest.h"

using namespace swage::reference;
using namespace swage::reference::test;

namespace {

struct Moments {
  float count, mean, m2;
};

Moments merge(Moments a, Moments b) {
  float count = a.count + b.count;
  if (count == 0)
    return a;
  float delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

/// Mean and sum of squared deviations as a block of `threads` threads finds them: each its own
/// elements in two passes, then a tree.
Moments blockMoments(const std::vector<float> &row, int threads) {
  std::vector<Moments> parts;
  for (int t = 0; t < threads; ++t) {
    Moments m = {0, 0, 0};
    float sum = 0;
    for (size_t i = t; i < row.size(); i += threads) {
      sum += row[i];
      m.count += 1;
    }
    m.mean = m.count > 0 ? sum / m.count : 0;
    for (size_t i = t; i < row.size(); i += threads)
      m.m2 += (row[i] - m.mean) * (row[i] - m.mean);
    parts.push_back(m);
  }
  for (int step = 1; step < threads; step *= 2)
    for (int t = 0; t + step < threads; t += 2 * step)
      parts[t] = merge(parts[t], parts[t + step]);
  return parts[0];
}

/// Welford's update, one element after another.
Moments welford(const std::vector<float> &row) {
  Moments m = {0, 0, 0};
  for (float x : row) {
    m.count += 1;
    float delta = x - m.mean;
    m.mean += delta / m.count;
    m.m2 += delta * (x - m.mean);
  }
  return m;
}

float blockSum(const std::vector<float> &row, int threads) {
  std::vector<float> parts(threads, 0);
  for (size_t i = 0; i < row.size(); ++i)
    parts[i % threads] += row[i];
  for (int step = 1; step < threads; step *= 2)
    for (int t = 0; t + step < threads; t += 2 * step)
      parts[t] += parts[t + step];
  return parts[0];
}

std::vector<float> rowOf(const Tensor &x, int64_t row) {
  int64_t length = x.shape().back();
  std::vector<float> elements;
  for (int64_t i = 0; i < length; ++i)
    elements.push_back(static_cast<float>(x.real(row * length + i)));
  return elements;
}

std::string graphOf(const std::string &op, int64_t rows, int64_t length, const std::string &out) {
  std::string x = "tensor<" + std::to_string(rows) + "x" + std::to_string(length) + "xf32>";
  std::string y = out.empty() ? x : out;
  std::string text = "func.func @f(%x: X) -> Y {\n%y = " + op + "\nreturn %y : Y }";
  for (size_t at; (at = text.find_first_of("XY")) != std::string::npos;)
    text.replace(at, 1, text[at] == 'X' ? x : y);
  return text;
}

constexpr int64_t kLengths[] = {1, 2, 3, 7, 32, 100, 768, 1024, 5000, 65536};
constexpr InputFamily kFamilies[] = {InputFamily::Dense, InputFamily::LargeMean,
                                     InputFamily::ConstantRows, InputFamily::Spike,
                                     InputFamily::Exact};
constexpr int64_t kRows = 8;

/// Holds `kernel(row)` against E for every row length and family, and has `judge` accept it.
template <typename Kernel> void check(const std::string &op, bool reduces, Kernel kernel) {
  for (int64_t length : kLengths)
    for (InputFamily family : kFamilies) {
      Tensor x = makeInput(ElementType::F32, {kRows, length}, family);
      Graph graph(graphOf(op, kRows, length, reduces ? "tensor<8xf32>" : ""));
      std::vector<Value> results = graph.run({&x});
      ASSERT_EQ(results.size(), 1u) << graph.message;
      Tensor y = makeTensor(ElementType::F32, results[0].shape());
      int64_t width = reduces ? 1 : length;
      for (int64_t r = 0; r < kRows; ++r) {
        std::vector<float> row = kernel(rowOf(x, r));
        for (int64_t i = 0; i < width; ++i) {
          Number number = results[0].load(r * width + i);
          y.setReal(r * width + i, row[i]);
          // An exact element must be exact; others may round once more when stored.
          double allowed = number.error == 0 ? 0 : number.error + ulp(kF32, number.reference) / 2;
          ASSERT_LE(std::fabs(row[i] - number.reference), allowed)
              << op << " length " << length << " " << name(family).str() << " element " << i
              << " r " << number.reference;
          if (number.error > 0) {
            ASSERT_LE(std::fabs(number.honest - number.reference), 1.01 * number.error)
                << op << " length " << length << " " << name(family).str();
          }
        }
      }
      AcceptanceOptions options;
      options.plantErrors = false;
      Verdict verdict = judge(y, results[0], options);
      EXPECT_TRUE(verdict.accepted())
          << op << " length " << length << " " << name(family).str() << " " << verdict.line();
    }
}

std::vector<float> normalize(const std::vector<float> &row, Moments m) {
  float rstd = 1.0f / std::sqrt(m.m2 / m.count + 1e-5f);
  std::vector<float> y;
  for (float x : row)
    y.push_back((x - m.mean) * rstd);
  return y;
}

constexpr const char *kLayerNorm = "swage.layer_norm %x axis 1 eps 1.0e-5 : (X) -> X";

} // namespace

TEST(ErrorBound, layerNormInBlocks) {
  for (int threads : {4, 32, 256})
    check(kLayerNorm, false, [&](const std::vector<float> &row) {
      return normalize(row, blockMoments(row, threads));
    });
}

// Rules 3 to 5 compare with one draw of rounding errors; other draws must not fail by chance, at
// the number of rows from which on they apply without E.
TEST(ErrorBound, otherOrdersPassWhateverTheSeed) {
  std::string type = "tensor<64x100xf32>";
  Graph graph("func.func @f(%x: " + type + ") -> (" + type + ", tensor<64xf32>) {\n" +
              "%y = swage.layer_norm %x axis 1 eps 1.0e-5 : (" + type + ") -> " + type + "\n" +
              "%s = swage.reduce sum %x dims [1] : " + type + " -> tensor<64xf32>\n" +
              "return %y, %s : " + type + ", tensor<64xf32> }");
  AcceptanceOptions options;
  options.plantErrors = false;
  for (InputFamily family : {InputFamily::Dense, InputFamily::LargeMean, InputFamily::Spike})
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Tensor x = makeInput(ElementType::F32, {64, 100}, family, 0, seed);
      std::vector<Value> results = graph.run({&x});
      ASSERT_EQ(results.size(), 2u) << graph.message;
      Tensor y = makeTensor(ElementType::F32, {64, 100}), s = makeTensor(ElementType::F32, {64});
      for (int64_t r = 0; r < 64; ++r) {
        std::vector<float> row = rowOf(x, r), normal = normalize(row, blockMoments(row, 4));
        s.setReal(r, blockSum(row, 4));
        for (int64_t i = 0; i < 100; ++i)
          y.setReal(r * 100 + i, normal[i]);
      }
      Verdict norm = judge(y, results[0], options), sum = judge(s, results[1], options);
      EXPECT_TRUE(norm.accepted()) << name(family).str() << seed << " " << norm.line();
      EXPECT_TRUE(sum.accepted()) << name(family).str() << seed << " " << sum.line();
    }
}

TEST(ErrorBound, layerNormByWelford) {
  check(kLayerNorm, false,
        [](const std::vector<float> &row) { return normalize(row, welford(row)); });
}

TEST(ErrorBound, rmsNorm) {
  check("swage.rms_norm %x axis 1 eps 1.0e-6 : (X) -> X", false, [](const std::vector<float> &row) {
    std::vector<float> squares, y;
    for (float x : row)
      squares.push_back(x * x);
    float n = static_cast<float>(row.size());
    float rstd = 1.0f / std::sqrt(blockSum(squares, 128) * (1.0f / n) + 1e-6f);
    for (float x : row)
      y.push_back(x * rstd);
    return y;
  });
}

TEST(ErrorBound, softmaxWithExp2) {
  check("swage.softmax %x axis 1 : X -> X", false, [](const std::vector<float> &row) {
    float maximum = *std::max_element(row.begin(), row.end());
    std::vector<float> e;
    for (float x : row)
      e.push_back(std::exp2((x - maximum) * 1.44269504f));
    float factor = 1.0f / blockSum(e, 128);
    for (float &x : e)
      x *= factor;
    return e;
  });
}

TEST(ErrorBound, sumAndMean) {
  for (int threads : {1, 32, 512}) {
    check("swage.reduce sum %x dims [1] : X -> Y", true, [&](const std::vector<float> &row) {
      return std::vector<float>{blockSum(row, threads)};
    });
    check("swage.reduce mean %x dims [1] : X -> Y", true, [&](const std::vector<float> &row) {
      return std::vector<float>{blockSum(row, threads) / static_cast<float>(row.size())};
    });
  }
}

//===----------------------------------------------------------------------===//
// What is exact, what is uncertain
//===----------------------------------------------------------------------===//

static std::vector<Value> run(const std::string &text, llvm::ArrayRef<const Tensor *> inputs) {
  Graph graph(text);
  std::vector<Value> results = graph.run(inputs);
  EXPECT_FALSE(results.empty()) << graph.message;
  return results;
}

TEST(ErrorBound, smallIntegersAreExact) {
  Tensor x = makeInput(ElementType::F16, {64, 3000}, InputFamily::Exact);
  Tensor w = makeInput(ElementType::F16, {64, 3000}, InputFamily::Exact, 1);
  std::vector<Value> y = run(R"(func.func @f(%x: tensor<64x3000xf16>, %w: tensor<64x3000xf16>)
      -> (tensor<64xf32>, tensor<64xf32>) {
    %p = arith.mulf %x, %w : tensor<64x3000xf16>
    %q = arith.addf %p, %x : tensor<64x3000xf16>
    %s = swage.reduce sum %q dims [1] : tensor<64x3000xf16> -> tensor<64xf32>
    %e = math.exp %q : tensor<64x3000xf16>
    %t = swage.reduce sum %e dims [1] : tensor<64x3000xf16> -> tensor<64xf32>
    return %s, %t : tensor<64xf32>, tensor<64xf32> })",
                             {&x, &w});
  EXPECT_TRUE(y[0].isExact());
  EXPECT_FALSE(y[1].isExact());
}

TEST(ErrorBound, sumsBeyond24BitsAreNotExact) {
  Tensor x = makeTensor(ElementType::F32, {3}, {0x1p23, 0x1p23, 1});
  std::vector<Value> y = run(R"(func.func @f(%x: tensor<3xf32>) -> tensor<f32> {
    %s = swage.reduce sum %x dims [0] : tensor<3xf32> -> tensor<f32>
    return %s : tensor<f32> })",
                             {&x});
  EXPECT_GT(y[0].load(0).error, 0);
}

TEST(ErrorBound, decisionsWithinTheErrorAreUncertain) {
  // 1/3 + 2/3 against 1: a kernel may see them equal or not; 1/3 against 1 is safe.
  Tensor x = makeTensor(ElementType::F32, {2}, {1, 0.5}),
         y = makeTensor(ElementType::F32, {2}, {3, 3});
  std::vector<Value> results =
      run(R"(func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xi1>, tensor<2xf32>) {
    %q = arith.divf %x, %y : tensor<2xf32>
    %s = arith.addf %q, %q : tensor<2xf32>
    %t = arith.addf %s, %q : tensor<2xf32>
    %one = arith.constant dense<1.0> : tensor<2xf32>
    %less = arith.cmpf olt, %t, %one : tensor<2xf32>
    %chosen = arith.select %less, %x, %y : tensor<2xi1>, tensor<2xf32>
    return %less, %chosen : tensor<2xi1>, tensor<2xf32> })",
          {&x, &y});
  EXPECT_TRUE(std::isinf(results[0].load(0).error));
  EXPECT_TRUE(std::isinf(results[1].load(0).error));
  EXPECT_EQ(results[0].load(1).error, 0);
  EXPECT_EQ(results[1].load(1).error, 0);
}

TEST(ErrorBound, whatOverflowsF32IsUncertain) {
  Tensor x = makeTensor(ElementType::F32, {2}, {1e30, 2});
  std::vector<Value> y = run(R"(func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %s = arith.mulf %x, %x : tensor<2xf32>
    %r = math.sqrt %s : tensor<2xf32>
    return %r : tensor<2xf32> })",
                             {&x});
  EXPECT_TRUE(std::isinf(y[0].load(0).error));
  EXPECT_EQ(y[0].load(1).error, 0);
}

TEST(ErrorBound, elementaryFunctionsInF32) {
  for (const char *function : {"exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "sqrt",
                               "rsqrt", "expm1", "log1p"}) {
    std::string type = "tensor<4096xf32>";
    std::string text = "func.func @f(%x: " + type + ") -> " + type +
                       " {\n%a = math.absf %x : " + type + "\n%q = arith.mulf %a, %a : " + type +
                       "\n%y = math." + function + " %q : " + type + "\nreturn %y : " + type + " }";
    Tensor x = makeInput(ElementType::F32, {4096}, InputFamily::Dense);
    std::vector<Value> y = run(text, {&x});
    for (int64_t i = 0; i < 4096; ++i) {
      Number number = y[0].load(i);
      ASSERT_GT(number.error, 0) << function;
      ASSERT_LE(std::fabs(number.honest - number.reference), number.error) << function;
      ASSERT_LE(number.error, 64 * ulp(kF32, number.reference) + 0x1p-20) << function;
    }
  }
}
