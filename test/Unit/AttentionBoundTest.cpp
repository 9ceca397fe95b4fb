//===- AttentionBoundTest.cpp - Whether E bounds attention kernels --------===//
//
// Evaluates attention as kernels do: blocks of keys, scores in f32, exp2 of scaled scores relative
// to a running maximum that may be too small, weights rounded to the operands' type, one division
// at the end. Holds every element against E without slack, has the acceptance rule judge it, and
// has it reject kernels with one fault each.
//
//===----------------------------------------------------------------------===//

#include "ReferenceGraph.h"
#include "swage/Reference/Acceptance.h"
#include "gtest/gtest.h"
#include <cstring>
#include <fmt/format.h>
#include <functional>

using namespace swage::reference;
using namespace swage::reference::test;

namespace {

/// What a kernel may get wrong.
enum class Fault {
  None,
  NoRescaling,    ///< of what was added up before a new maximum
  NoSumRescaling, ///< of the sum of weights only
  LateMask,       ///< one key too many
  EarlyMask,      ///< one key too few
  NoMask,
  HeadsInterleaved, ///< query head h reads key head h % Hk
  KeysTransposed,   ///< keys 8j + i and 8i + j change places among the values
  LastKeyDropped,
  NoScale,
  ScaleTwice,
  NaturalExponent, ///< exp2 of scores that were not multiplied by log2(e)
  NoScore,
  SumOfRounded8, ///< weights rounded to four bits
  Float16Scores, ///< scores rounded to f16
  BaseTwoSum,    ///< log-sum-exp in base 2
  NoFactor,      ///< of keys of 8 bits
  NoWeight,      ///< factor of weights
  SummedWeight,  ///< the sum is that of weights times factors
  Factors8Bits,  ///< factors of f32 have as many bits as bf16
};

/// One problem, as text and as the functions of a kernel.
struct Problem {
  ElementType type = ElementType::BF16;
  int64_t batch = 1, heads = 2, keyHeads = 2, queries = 64, keys = 64, depth = 32, width = 32;
  float scale = 0.125f;
  std::string attributes, scoreText, maskText, weightText;
  std::function<float(float s, int64_t h, int64_t i, int64_t j)> score;
  std::function<bool(int64_t h, int64_t i, int64_t j)> mask;
  std::function<float(int64_t h, int64_t i, int64_t j)> weight; ///< the factor of one
  InputFamily family = InputFamily::Dense;
  double queryFactor = 1; ///< for scores of any size
  double bias = 0;        ///< added to the values
  /// Keys and values have 8 bits of this type, times a factor as f32, rounded to `type`; kernels
  /// multiply by these behind the sums, and round weights to f16.
  std::optional<ElementType> cache;
  float keyFactor = 1, valueFactor = 1;
  bool tf32 = false; ///< factors of f32 have 11 bits
};

std::string tensorType(llvm::ArrayRef<int64_t> shape, ElementType type) {
  return "tensor<" + describe(shape, type) + ">";
}

std::string textOf(const Problem &p) {
  std::string q = tensorType({p.batch, p.heads, p.queries, p.depth}, p.type),
              k = tensorType({p.batch, p.keyHeads, p.keys, p.depth}, p.type),
              v = tensorType({p.batch, p.keyHeads, p.keys, p.width}, p.type),
              o = tensorType({p.batch, p.heads, p.queries, p.width}, p.type),
              lse = tensorType({p.batch, p.heads, p.queries}, ElementType::F32),
              weights = tensorType({p.batch, p.heads, p.queries, p.keys}, ElementType::F32),
              results = o + ", " + lse + ", " + weights;
  std::string converted;
  auto convert = [&](std::string name, const std::string &to, llvm::ArrayRef<int64_t> shape,
                     float factor) {
    if (!p.cache)
      return to;
    std::string from = tensorType(shape, *p.cache), wide = tensorType(shape, ElementType::F32);
    converted += "%" + name + "0 = arith.extf %" + name + "8 : " + from + " to " + wide + "\n%" +
                 name + "1 = arith.constant dense<" + fmt::format("{:.9e}", factor) +
                 "> : " + wide + "\n%" + name + "2 = arith.mulf %" + name + "0, %" + name +
                 "1 : " + wide + "\n%" + name + " = arith.truncf %" + name + "2 : " + wide +
                 " to " + to + "\n";
    return from;
  };
  std::string suffix = p.cache ? "8" : "",
              kCache = convert("k", k, {p.batch, p.keyHeads, p.keys, p.depth}, p.keyFactor),
              vCache = convert("v", v, {p.batch, p.keyHeads, p.keys, p.width}, p.valueFactor);
  std::string at = "%b: index, %h: index, %i: index, %j: index):\n";
  std::string text = "func.func @f(%q: " + q + ", %k" + suffix + ": " + kCache + ", %v" + suffix +
                     ": " + vCache + ") -> (" + results + ") {\n" + converted +
                     "%o, %l, %p = swage.attention %q, %k, %v scale " + std::to_string(p.scale) +
                     (p.tf32 ? " tf32" : "") + p.attributes;
  if (!p.scoreText.empty())
    text += " score {\n^bb0(%s: f32, " + at + p.scoreText + "\nswage.yield %t : f32 }";
  if (!p.maskText.empty())
    text += " mask {\n^bb0(" + at + p.maskText + "\nswage.yield %m : i1 }";
  if (!p.weightText.empty())
    text += " weight {\n^bb0(" + at + p.weightText + "\nswage.yield %f : f32 }";
  return text + " : (" + q + ", " + k + ", " + v + ") -> (" + results +
         ")\nreturn %o, %l, %p : " + results + " }";
}

struct Operands {
  Tensor q, k, v;
};

Operands makeOperands(const Problem &p, uint64_t seed) {
  Operands operands = {makeInput(p.type, {p.batch, p.heads, p.queries, p.depth}, p.family, 0, seed),
                       makeInput(p.cache.value_or(p.type), {p.batch, p.keyHeads, p.keys, p.depth},
                                 p.family, 1, seed),
                       makeInput(p.cache.value_or(p.type), {p.batch, p.keyHeads, p.keys, p.width},
                                 InputFamily::Dense, 2, seed)};
  for (int64_t i = 0; i < operands.q.size(); ++i)
    operands.q.setReal(i, operands.q.real(i) * p.queryFactor);
  for (int64_t i = 0; i < operands.v.size(); ++i)
    operands.v.setReal(i, operands.v.real(i) + p.bias);
  return operands;
}

/// A kernel's result, log-sum-exp and probabilities. `late` is by how much, as a power of two, the
/// running maximum may be too small; `blocks` keys at a time.
class Kernel {
public:
  Kernel(const Problem &p, const Operands &x, int64_t block, float late, Fault fault)
      : p(p), x(x), block(block), late(late), fault(fault),
        result(makeTensor(p.type, {p.batch, p.heads, p.queries, p.width})),
        logSumExp(makeTensor(ElementType::F32, {p.batch, p.heads, p.queries})),
        probabilities(makeTensor(ElementType::F32, {p.batch, p.heads, p.queries, p.keys})) {
    for (int64_t row = 0; row < logSumExp.size(); ++row)
      evaluateRow(row);
  }

private:
  static constexpr float kLog2e = 1.44269504f;

  bool keeps(int64_t h, int64_t i, int64_t j) const {
    if (fault == Fault::LastKeyDropped && j == p.keys - 1)
      return false;
    if (!p.mask || fault == Fault::NoMask)
      return true;
    return p.mask(h, i, j + (fault == Fault::EarlyMask) - (fault == Fault::LateMask));
  }

  /// What tensor cores take of a factor.
  float factorOf(double number, bool isNearest) const {
    float factor = static_cast<float>(number);
    if (fault == Fault::Factors8Bits)
      return static_cast<float>(roundTo(ElementType::BF16, factor));
    if (!p.tf32)
      return factor;
    uint32_t bits;
    std::memcpy(&bits, &factor, sizeof bits);
    bits = (bits + (isNearest ? 0x1000 : 0)) & 0xffffe000u;
    std::memcpy(&factor, &bits, sizeof bits);
    return factor;
  }

  float scoreOf(int64_t row, int64_t keyRow, int64_t h, int64_t i, int64_t j) const {
    // Four sums, as the lanes of an instruction have them.
    float parts[4] = {};
    for (int64_t d = 0; d < p.depth; ++d)
      parts[d % 4] += factorOf(x.q.real(row * p.depth + d), true) *
                      factorOf(x.k.real((keyRow + j) * p.depth + d), false);
    float s = (parts[0] + parts[2]) + (parts[1] + parts[3]);
    if (fault == Fault::Float16Scores)
      s = static_cast<float>(roundTo(ElementType::F16, s));
    if (fault != Fault::NoFactor)
      s *= p.keyFactor;
    if (fault != Fault::NoScale)
      s *= p.scale;
    if (fault == Fault::ScaleTwice)
      s *= p.scale;
    return p.score && fault != Fault::NoScore ? p.score(s, h, i, j) : s;
  }

  void evaluateRow(int64_t row) {
    int64_t i = row % p.queries, h = row / p.queries % p.heads, b = row / p.queries / p.heads;
    int64_t head = fault == Fault::HeadsInterleaved ? h % p.keyHeads : h / (p.heads / p.keyHeads);
    int64_t keyRow = (b * p.keyHeads + head) * p.keys;
    float maximum = -HUGE_VALF, sum = 0, exactSum = 0; // exact: of differences, for probabilities
    std::vector<float> output(p.width, 0), kept;
    for (int64_t first = 0; first < p.keys; first += block) {
      int64_t last = std::min(p.keys, first + block);
      std::vector<float> scores;
      float largest = maximum;
      for (int64_t j = first; j < last; ++j) {
        scores.push_back(keeps(h, i, j) ? scoreOf(row, keyRow, h, i, j) : -HUGE_VALF);
        largest = std::max(largest, scores.back());
      }
      kept.insert(kept.end(), scores.begin(), scores.end());
      if (largest == -HUGE_VALF)
        continue;
      if (maximum == -HUGE_VALF || (largest - maximum) * kLog2e > late) {
        float factor = maximum == -HUGE_VALF ? 0 : std::exp2((maximum - largest) * kLog2e);
        if (fault == Fault::NoRescaling)
          factor = 1;
        for (float &value : output)
          value *= factor;
        sum *= fault == Fault::NoSumRescaling ? 1 : factor;
        exactSum *= fault == Fault::NoSumRescaling ? 1 : factor;
        maximum = largest;
      }
      float shift = maximum * kLog2e, part = 0;
      for (int64_t j = first; j < last; ++j) {
        float s = scores[j - first];
        if (s == -HUGE_VALF)
          continue;
        float weight = fault == Fault::NaturalExponent ? std::exp2(s - maximum)
                                                       : std::exp2(std::fma(s, kLog2e, -shift));
        float factor = p.weight && fault != Fault::NoWeight ? p.weight(h, i, j) : 1;
        part += fault == Fault::SummedWeight ? weight * factor : weight;
        exactSum += std::exp2((s - maximum) * kLog2e) * (fault == Fault::SummedWeight ? factor : 1);
        weight *= factor;
        weight = static_cast<float>(roundTo(fault == Fault::SumOfRounded8 ? ElementType::F8E4M3FN
                                            : p.cache                     ? ElementType::F16
                                                                          : p.type,
                                            weight));
        weight = factorOf(weight, true);
        int64_t from = j;
        if (fault == Fault::KeysTransposed && j < 64 && p.keys >= 64)
          from = j % 8 * 8 + j / 8;
        for (int64_t d = 0; d < p.width; ++d)
          output[d] += weight * factorOf(x.v.real((keyRow + from) * p.width + d), false);
      }
      sum += part;
    }
    float inverse = sum == 0 ? 0 : 1 / sum;
    for (int64_t d = 0; d < p.width; ++d)
      result.setReal(row * p.width + d, output[d] * inverse * p.valueFactor);
    float logSum = fault == Fault::BaseTwoSum ? std::log2(sum) : std::log(sum);
    logSumExp.setReal(row, sum == 0 ? -HUGE_VALF : maximum + logSum);
    for (int64_t j = 0; j < p.keys; ++j)
      probabilities.setReal(row * p.keys + j,
                            sum == 0 ? 0 : std::exp2((kept[j] - maximum) * kLog2e) / exactSum);
  }

  const Problem &p;
  const Operands &x;
  int64_t block;
  float late;
  Fault fault;

public:
  Tensor result, logSumExp, probabilities;
};

/// No element is further off than E and the rounding to storage.
void expectWithinBound(const Tensor &actual, const Value &expected, const std::string &what) {
  double largest = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    Number number = expected.load(i);
    double y = actual.real(i);
    if (!std::isfinite(number.reference) || number.error == 0) {
      ASSERT_EQ(y, number.reference) << what << " element " << i;
      continue;
    }
    double stored = ulp(formatOf(actual.type()), number.reference) / 2;
    ASSERT_LE(std::fabs(y - number.reference), number.error + stored)
        << what << " element " << i << " r " << number.reference << " E " << number.error;
    ASSERT_LE(std::fabs(number.honest - number.reference), number.error)
        << what << " element " << i << " r " << number.reference;
    largest = std::max(largest, number.error);
  }
  EXPECT_TRUE(std::isfinite(largest)) << what;
}

std::vector<Value> evaluate(const Problem &p, const Operands &x) {
  Graph graph(textOf(p));
  std::vector<Value> results = graph.run({&x.q, &x.k, &x.v});
  EXPECT_EQ(results.size(), 3u) << graph.message << textOf(p);
  return results;
}

void check(const Problem &p, const std::string &what) {
  Operands x = makeOperands(p, 1);
  std::vector<Value> expected = evaluate(p, x);
  for (auto [block, late] : {std::pair<int64_t, float>(64, 0.f), {16, 8.f}, {p.keys, 0.f}}) {
    Kernel kernel(p, x, block, late, Fault::None);
    std::string name = what + " by " + std::to_string(block);
    expectWithinBound(kernel.result, expected[0], name);
    expectWithinBound(kernel.logSumExp, expected[1], name + " log-sum-exp");
    Verdict result = judge(kernel.result, expected[0]), sum = judge(kernel.logSumExp, expected[1]);
    EXPECT_TRUE(result.accepted()) << name << " " << result.line();
    EXPECT_TRUE(sum.accepted()) << name << " " << sum.line();
    expectWithinBound(kernel.probabilities, expected[2], name + " probabilities");
    Verdict probabilities = judge(kernel.probabilities, expected[2]);
    EXPECT_TRUE(probabilities.accepted()) << name << " " << probabilities.line();
  }
}

/// By its probabilities alone.
bool areProbabilitiesRejected(const Problem &p, Fault fault) {
  Operands x = makeOperands(p, 1);
  AcceptanceOptions options;
  options.plantErrors = false;
  return !judge(Kernel(p, x, 32, 0, fault).probabilities, evaluate(p, x)[2], options).accepted();
}

bool isRejected(const Problem &p, Fault fault) {
  Operands x = makeOperands(p, 1);
  std::vector<Value> expected = evaluate(p, x);
  Kernel kernel(p, x, 32, 0, fault);
  AcceptanceOptions options;
  options.plantErrors = false;
  return !judge(kernel.result, expected[0], options).accepted() ||
         !judge(kernel.logSumExp, expected[1], options).accepted();
}

Problem causal(Problem p) {
  p.maskText = "%m = arith.cmpi ule, %j, %i : index";
  p.mask = [](int64_t, int64_t i, int64_t j) { return j <= i; };
  return p;
}

/// Attends to the `left` keys up to its own.
Problem window(Problem p, int64_t left) {
  p.maskText = "%c = arith.constant " + std::to_string(left) +
               " : index\n%a = arith.cmpi ule, %j, %i : index\n%e = arith.addi %j, %c : index\n"
               "%w = arith.cmpi ugt, %e, %i : index\n%m = arith.andi %a, %w : i1";
  p.mask = [=](int64_t, int64_t i, int64_t j) { return j <= i && j + left > i; };
  return p;
}

/// A slope for each head, and the score within (-50, 50).
Problem slopeAndCap(Problem p) {
  p.scoreText = R"(%n = arith.subi %j, %i : index
    %n32 = arith.index_cast %n : index to i32
    %d = arith.sitofp %n32 : i32 to f32
    %h32 = arith.index_cast %h : index to i32
    %g = arith.sitofp %h32 : i32 to f32
    %one = arith.constant 1.0 : f32
    %g1 = arith.addf %g, %one : f32
    %slope = arith.constant -0.0625 : f32
    %a = arith.mulf %slope, %g1 : f32
    %bias = arith.mulf %a, %d : f32
    %cap = arith.constant 50.0 : f32
    %x = arith.divf %s, %cap : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %cap : f32
    %t = arith.addf %z, %bias : f32)";
  p.score = [](float s, int64_t h, int64_t i, int64_t j) {
    return std::tanh(s / 50.f) * 50.f +
           -0.0625f * static_cast<float>(h + 1) * static_cast<float>(j - i);
  };
  return p;
}

/// Factors from -4 to 3 in turn, or, of 11 keys, 1.1 for eight and 0 for three.
Problem weighted(Problem p, bool drops) {
  p.weightText = R"(%c3 = arith.constant 3 : index
    %c11 = arith.constant 11 : index
    %i3 = arith.muli %i, %c3 : index
    %n = arith.addi %i3, %j : index
    %r = arith.remui %n, %c11 : index
    %r32 = arith.index_cast %r : index to i32
    %x = arith.sitofp %r32 : i32 to f32
    %a = arith.constant 0.7 : f32
    %low = arith.constant -4.0 : f32
    %y = arith.mulf %x, %a : f32
    %z = arith.addf %y, %low : f32
    %zero = arith.constant 0.0 : f32
    %raised = arith.constant 1.1 : f32
    %c8 = arith.constant 8 : index
    %kept = arith.cmpi ult, %r, %c8 : index
    %d = arith.select %kept, %raised, %zero : f32
    %drops = arith.constant )" +
                 std::string(drops ? "true" : "false") + R"(
    %f = arith.select %drops, %d, %z : f32)";
  p.weight = [=](int64_t, int64_t i, int64_t j) {
    int64_t r = (3 * i + j) % 11;
    return drops ? r < 8 ? 1.1f : 0.f : static_cast<float>(r) * 0.7f + -4.f;
  };
  return p;
}

} // namespace

TEST(AttentionBound, kernelsOfAllKinds) {
  for (ElementType type : {ElementType::BF16, ElementType::F16, ElementType::F32})
    for (int64_t keys : {1, 7, 64, 200, 700})
      for (InputFamily family : {InputFamily::Dense, InputFamily::Exact}) {
        Problem p;
        p.type = type;
        p.family = family;
        p.keys = keys;
        p.queries = 70;
        std::string what =
            std::string(name(type)) + " " + name(family).str() + " " + std::to_string(keys);
        check(p, what);
        check(causal(p), what + " causal");
        check(window(p, 20), what + " window");
        check(slopeAndCap(p), what + " slope and cap");
        check(weighted(causal(p), /*drops=*/true), what + " causal, dropped");
        check(weighted(p, /*drops=*/false), what + " weighted");
      }
}

// What keys and values of 8 bits are multiplied by is not rounded with them; most weights are below
// what f16 holds with all its bits.
TEST(AttentionBound, cachesOf8Bits) {
  for (ElementType type : {ElementType::BF16, ElementType::F16})
    for (ElementType cache : {ElementType::F8E4M3FN, ElementType::F8E5M2})
      for (double factor : {0.25, 1.0, 8.0})
        for (int64_t keys : {1, 70, 700}) {
          Problem p;
          p.type = type;
          p.cache = cache;
          p.keyFactor = 0.33333334f;
          p.valueFactor = 0.7f;
          p.queryFactor = factor;
          p.keys = keys;
          check(p, std::string(name(type)) + " " + std::string(name(cache)) + " " +
                       std::to_string(factor) + " " + std::to_string(keys));
          EXPECT_TRUE(isRejected(p, Fault::NoFactor));
        }
}

TEST(AttentionBound, factorsOf11Bits) {
  for (int64_t keys : {1, 64, 700})
    for (double factor : {1e-3, 1.0, 8.0}) {
      Problem p;
      p.type = ElementType::F32;
      p.tf32 = true;
      p.queryFactor = factor;
      p.keys = keys;
      std::string what = std::to_string(factor) + " " + std::to_string(keys);
      check(p, what);
      check(slopeAndCap(causal(p)), what + " slope and cap");
      check(weighted(p, /*drops=*/true), what + " dropped");
      EXPECT_TRUE(isRejected(p, Fault::Factors8Bits)) << what;
      EXPECT_TRUE(isRejected(p, Fault::NoScale) || keys == 1 || factor < 1) << what;
      p.tf32 = false;
      EXPECT_TRUE(isRejected(p, Fault::Factors8Bits)) << what;
    }
}

TEST(AttentionBound, groupsOfHeadsAndOtherWidths) {
  Problem p;
  p.batch = 2;
  p.heads = 6;
  p.depth = 72;
  p.width = 24;
  p.keys = 130;
  p.queries = 33;
  check(p, "grouped");
  check(slopeAndCap(causal(p)), "grouped, causal, slope and cap");
  p.keyHeads = 1;
  check(p, "one key head");
}

// Scores up to 1e4, where a rounding of the score itself is seen in the weights, values far from
// zero, and scores so close that all weights are alike.
TEST(AttentionBound, scoresAndValuesOfAnySize) {
  for (ElementType type : {ElementType::BF16, ElementType::F16, ElementType::F32})
    for (double factor : {1e-3, 30.0, 1000.0, 16000.0}) {
      Problem p;
      p.type = type;
      p.queryFactor = factor;
      p.keys = 300;
      check(p, "factor " + std::to_string(factor));
      p.bias = 100;
      check(causal(p), "bias, factor " + std::to_string(factor));
    }
}

/// f32 with scores of 10^4: hardly a row is shared by keys.
Problem largeScores(int64_t depth) {
  Problem p;
  p.type = ElementType::F32;
  p.heads = p.keyHeads = 1;
  p.queries = p.keys = 150;
  p.depth = depth;
  p.width = 8;
  p.scale = 3000 / std::sqrt(static_cast<float>(depth));
  return p;
}

// A row or two have the largest error of both a kernel and an honest evaluation, which add up in
// different orders. Of two evaluations in one order 35 of these 600 kernels are rejected.
TEST(AttentionBound, otherOrdersOfLargeScores) {
  AcceptanceOptions options;
  options.plantErrors = false;
  int rejected = 0;
  for (int64_t depth : {8, 48, 152})
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      Problem p = largeScores(depth), tf32 = p;
      tf32.tf32 = true;
      Operands x = makeOperands(p, seed);
      std::vector<Value> expected = evaluate(p, x);
      auto isRejected = [&](const Problem &kernel, Fault fault) {
        return !judge(Kernel(kernel, x, 64, 0, fault).result, expected[0], options).accepted();
      };
      rejected += isRejected(p, Fault::None);
      if (seed % 10 != 0)
        continue;
      std::string what = "depth " + std::to_string(depth) + " seed " + std::to_string(seed);
      EXPECT_TRUE(isRejected(p, Fault::Factors8Bits)) << what;
      EXPECT_TRUE(isRejected(tf32, Fault::None)) << what;
      // Nothing of scores shows in rows that are one key's.
      double least = 1;
      for (int64_t i = 0; i < expected[2].size(); ++i)
        least = std::min(least, std::fabs(expected[2].reference(i) - 0.5));
      EXPECT_TRUE(isRejected(p, Fault::Float16Scores) || least > 0.49) << what;
    }
  EXPECT_LE(rejected, 6);
}

TEST(AttentionBound, faultsAreRejected) {
  for (ElementType type : {ElementType::BF16, ElementType::F16})
    for (int64_t keys : {100, 1000}) {
      Problem p;
      p.type = type;
      p.heads = 4;
      p.keys = keys;
      p.queries = 100;
      p.queryFactor = 3;
      p = slopeAndCap(window(p, 70));
      EXPECT_FALSE(isRejected(p, Fault::None));
      for (Fault fault :
           {Fault::NoRescaling, Fault::NoSumRescaling, Fault::LateMask, Fault::EarlyMask,
            Fault::NoMask, Fault::HeadsInterleaved, Fault::KeysTransposed, Fault::NoScale,
            Fault::ScaleTwice, Fault::NaturalExponent, Fault::NoScore, Fault::SumOfRounded8,
            Fault::BaseTwoSum})
        EXPECT_TRUE(isRejected(p, fault)) << name(type) << keys << " fault " << int(fault);
      // Without what makes most weights vanish.
      p.mask = nullptr, p.score = nullptr;
      p.maskText.clear(), p.scoreText.clear();
      for (Fault fault : {Fault::LastKeyDropped, Fault::KeysTransposed, Fault::Float16Scores})
        EXPECT_TRUE(isRejected(p, fault)) << name(type) << keys << " fault " << int(fault);
      for (bool drops : {false, true})
        for (Fault fault : {Fault::NoWeight, Fault::SummedWeight, Fault::KeysTransposed})
          EXPECT_TRUE(isRejected(weighted(p, drops), fault))
              << name(type) << keys << " fault " << int(fault);
    }
}

//===----------------------------------------------------------------------===//
// Rows that are special
//===----------------------------------------------------------------------===//

TEST(AttentionBound, rowsWithNothingToAttendTo) {
  Problem p;
  p.type = ElementType::F16;
  p.maskText = "%m = arith.cmpi ult, %j, %i : index";
  p.mask = [](int64_t, int64_t i, int64_t j) { return j < i; };
  check(p, "first row empty");
  Operands x = makeOperands(p, 1);
  std::vector<Value> y = evaluate(p, x);
  for (int64_t d = 0; d < p.width; ++d) {
    EXPECT_EQ(y[0].load(d).reference, 0);
    EXPECT_EQ(y[0].load(d).error, 0);
  }
  EXPECT_EQ(y[1].load(0).reference, -HUGE_VAL);
  EXPECT_EQ(y[1].load(0).error, 0);
  p.attributes = " nan_rows";
  y = evaluate(p, x);
  EXPECT_TRUE(std::isnan(y[0].load(0).reference));
  EXPECT_EQ(y[0].load(0).error, 0);
  EXPECT_TRUE(std::isfinite(y[0].load(p.width).reference));
  EXPECT_EQ(y[1].load(0).reference, -HUGE_VAL);
  p.attributes.clear();
  p.keys = 0;
  y = evaluate(p, makeOperands(p, 1));
  EXPECT_TRUE(y[0].isExact());
  EXPECT_EQ(y[0].load(77).reference, 0);
  EXPECT_EQ(y[1].load(77).reference, -HUGE_VAL);
}

// Query 2 is infinite; key 5 is NaN and value 7 infinite, seen from query 5 and 7 on.
TEST(AttentionBound, infinitiesAndNaN) {
  Problem p = causal({});
  Operands x = makeOperands(p, 1);
  x.q.setReal(2 * p.depth, HUGE_VAL);
  x.v.setReal(7 * p.width + 3, HUGE_VAL);
  std::vector<Value> y = evaluate(p, x);
  auto at = [&](int64_t i, int64_t d) { return y[0].load(i * p.width + d); };
  EXPECT_TRUE(std::isfinite(at(1, 0).reference));
  EXPECT_TRUE(std::isinf(at(6, 3).error)); // a weight of 0 times infinity, or left out
  EXPECT_TRUE(std::isfinite(at(6, 2).error));
  EXPECT_EQ(at(7, 3).reference, HUGE_VAL);
  EXPECT_EQ(at(7, 3).error, 0);
  x.k.setReal(5 * p.depth, NAN);
  y = evaluate(p, x);
  EXPECT_TRUE(std::isfinite(at(4, 0).reference));
  EXPECT_TRUE(std::isnan(at(5, 0).reference));
  EXPECT_EQ(at(5, 0).error, 0);
  EXPECT_TRUE(std::isnan(y[1].load(5).reference));
  EXPECT_TRUE(std::isnan(y[1].load(63).reference));
}

// What an op of the graph gives is rounded for tensor cores, which inputs are already.
TEST(AttentionBound, computedOperandsAreRounded) {
  std::string text = R"(func.func @f(%q: X, %k: X, %b: tensor<8xf32>) -> X {
    %c = arith.constant dense<1.1> : X
    %p = arith.mulf %q, %c : X
    %o = swage.attention %p, %k, %k score {
    ^bb0(%s: f32, %h: index, %i: index, %j: index):
      %x = tensor.extract %b[%j] : tensor<8xf32>
      %t = arith.addf %s, %x : f32
      swage.yield %t : f32
    } : (X, X, X) -> X
    return %o : X })";
  for (size_t at; (at = text.find('X')) != std::string::npos;)
    text.replace(at, 1, "tensor<1x8x8xbf16>");
  Tensor q = makeInput(ElementType::BF16, {1, 8, 8}, InputFamily::Dense),
         k = makeInput(ElementType::BF16, {1, 8, 8}, InputFamily::Dense, 1),
         b = makeInput(ElementType::F32, {8}, InputFamily::Dense, 2),
         shorter = makeInput(ElementType::F32, {7}, InputFamily::Dense, 2);
  Graph graph(text);
  std::vector<Value> y = graph.run({&q, &k, &b});
  ASSERT_EQ(y.size(), 1u) << graph.message;
  for (int64_t i = 0; i < y[0].size(); ++i) {
    Number number = y[0].load(i);
    EXPECT_GT(number.error, 0x1p-9 * std::fabs(number.reference));
    EXPECT_LE(std::fabs(number.honest - number.reference), number.error);
  }
  // Beyond the end of a tensor nothing is known.
  text.replace(text.find("tensor<8xf32>"), 13, "tensor<?xf32>");
  text.replace(text.find("tensor<8xf32>"), 13, "tensor<?xf32>");
  Graph open(text);
  y = open.run({&q, &k, &shorter});
  ASSERT_EQ(y.size(), 1u) << open.message;
  EXPECT_TRUE(std::isinf(y[0].load(0).error));
}

TEST(AttentionBound, faultyProbabilitiesAreRejected) {
  for (int64_t keys : {70, 700}) {
    Problem p;
    p.queries = 70;
    p.keys = keys;
    for (Fault fault : {Fault::NoSumRescaling, Fault::NoScale, Fault::ScaleTwice,
                        Fault::LastKeyDropped, Fault::HeadsInterleaved, Fault::Float16Scores}) {
      if (fault == Fault::HeadsInterleaved)
        p.heads = 4;
      EXPECT_TRUE(areProbabilitiesRejected(p, fault)) << static_cast<int>(fault) << " " << keys;
    }
    for (Fault fault : {Fault::LateMask, Fault::EarlyMask, Fault::NoMask})
      EXPECT_TRUE(areProbabilitiesRejected(causal(p), fault)) << static_cast<int>(fault);
    EXPECT_TRUE(areProbabilitiesRejected(slopeAndCap(p), Fault::NoScore));
    EXPECT_TRUE(areProbabilitiesRejected(weighted(p, /*drops=*/true), Fault::SummedWeight));
  }
}
