//===- ReferenceScalarsTest.cpp - Every scalar op of a kernel body --------===//
//
// Op by op: values against hand-computed ones, errors against an honest f32 evaluation, and what
// has no defined value is uncertain rather than some number.
//
//===----------------------------------------------------------------------===//

#include "ReferenceGraph.h"
#include "gtest/gtest.h"

using namespace swage::reference;
using namespace swage::reference::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// `op` on operands %a, %b, %c of one length; "T" in `op` is their type.
Value run(std::string op, llvm::ArrayRef<const Tensor *> operands, const std::string &type,
          const std::string &resultType) {
  std::string size = std::to_string(operands[0]->size());
  auto tensorOf = [&](const std::string &element) {
    return "tensor<" + size + "x" + element + ">";
  };
  for (size_t at; (at = op.find('T')) != std::string::npos;)
    op.replace(at, 1, tensorOf(type));
  std::string text = "func.func @f(";
  for (size_t i = 0; i < operands.size(); ++i)
    text += std::string(i ? ", %" : "%") + "abc"[i] + ": " +
            tensorOf(std::string(name(operands[i]->type())));
  text += ") -> " + tensorOf(resultType) + " {\n%r = " + op +
          "\nreturn %r : " + tensorOf(resultType) + " }";
  Graph graph(text);
  std::vector<Value> results = graph.run(operands);
  EXPECT_EQ(results.size(), 1u) << graph.message << text;
  return results.empty() ? Value() : results[0];
}

using Numbers = std::vector<double>;

/// What is uncertain reads as NaN.
Numbers integersOf(const Value &value) {
  Numbers numbers;
  for (int64_t i = 0; i < value.size(); ++i) {
    Number number = value.load(i);
    numbers.push_back(number.error > 0 ? kNaN : static_cast<double>(number.integer));
  }
  return numbers;
}

void expectEqual(const Numbers &actual, const Numbers &expected, const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
        << what << " element " << i << ": " << actual[i] << ", expected " << expected[i];
}

void checkBinary(const std::string &op, ElementType type, const Numbers &a, const Numbers &b,
                 const Numbers &expected) {
  int64_t size = static_cast<int64_t>(a.size());
  Tensor x = makeTensor(type, {size}, a), y = makeTensor(type, {size}, b);
  std::string element(name(type));
  expectEqual(integersOf(run(op + " %a, %b : T", {&x, &y}, element, element)), expected,
              op + " " + element);
}

void checkUnary(const std::string &op, ElementType type, const Numbers &a,
                const Numbers &expected) {
  Tensor x = makeTensor(type, {static_cast<int64_t>(a.size())}, a);
  std::string element(name(type));
  expectEqual(integersOf(run(op + " %a : T", {&x}, element, element)), expected,
              op + " " + element);
}

constexpr ElementType I8 = ElementType::I8, I32 = ElementType::I32, I64 = ElementType::I64,
                      F32 = ElementType::F32, F64 = ElementType::F64;
constexpr double kLeast32 = -2147483648.0;

} // namespace

TEST(ReferenceScalars, signedDivision) {
  Numbers a = {7, -7, 7, -7, 6, -6, 0, 7, kLeast32, kLeast32},
          b = {2, 2, -2, -2, 3, 3, 5, 0, -1, 2};
  checkBinary("arith.divsi", I32, a, b, {3, -3, -3, 3, 2, -2, 0, kNaN, kNaN, -1073741824});
  checkBinary("arith.remsi", I32, a, b, {1, -1, 1, -1, 0, 0, 0, kNaN, kNaN, 0});
  checkBinary("arith.floordivsi", I32, a, b, {3, -4, -4, 3, 2, -2, 0, kNaN, kNaN, -1073741824});
  checkBinary("arith.ceildivsi", I32, a, b, {4, -3, -3, 4, 2, -2, 0, kNaN, kNaN, -1073741824});
  checkBinary("arith.divsi", I8, {-128, -128, 100}, {-1, 3, -7}, {kNaN, -42, -14});
}

TEST(ReferenceScalars, unsignedDivision) {
  // -1 is 255, and 2^32 - 1.
  checkBinary("arith.divui", I8, {-1, 100, -56, 1}, {2, 7, -1, 0}, {127, 14, 0, kNaN});
  checkBinary("arith.remui", I8, {-1, 100, -56, 1}, {2, 7, -1, 0}, {1, 2, -56, kNaN});
  checkBinary("arith.ceildivui", I8, {-1, 100, -56, 1}, {2, 7, -1, 0}, {-128, 15, 1, kNaN});
  checkBinary("arith.divui", I32, {-1, kLeast32}, {10, -1}, {429496729, 0});
  checkBinary("arith.ceildivui", I32, {-1}, {1}, {-1});
}

TEST(ReferenceScalars, shifts) {
  Numbers a = {1, -1, 127, -128, 64, 5}, b = {7, 4, 1, 7, 8, -1};
  checkBinary("arith.shli", I8, a, b, {-128, -16, -2, 0, kNaN, kNaN});
  checkBinary("arith.shrsi", I8, a, b, {0, -1, 63, -1, kNaN, kNaN});
  checkBinary("arith.shrui", I8, a, b, {0, 15, 63, 1, kNaN, kNaN});
  checkBinary("arith.shli", I32, {1, 3, 1}, {31, 31, 32}, {kLeast32, kLeast32, kNaN});
  checkBinary("arith.shrui", I32, {-1, -1}, {28, 0}, {15, -1});
}

TEST(ReferenceScalars, bitCounts) {
  checkUnary("math.ctpop", I8, {0, -1, 5, -128}, {0, 8, 2, 1});
  checkUnary("math.ctlz", I8, {0, -1, 5, 1}, {8, 0, 5, 7});
  checkUnary("math.cttz", I8, {0, -1, 4, -128}, {8, 0, 2, 7});
  checkUnary("math.ctlz", I32, {0, -1, 1}, {32, 0, 31});
  checkUnary("math.cttz", I64, {0, 8}, {64, 3});
  checkUnary("math.ctpop", I64, {-1}, {64});
}

TEST(ReferenceScalars, integerPowers) {
  checkBinary("math.ipowi", I32, {2, -3, 2, 0, 7, 3}, {10, 3, 31, 0, 0, 21},
              {1024, -27, kLeast32, 1, 1, 1870418611}); // 3^21 modulo 2^32
  checkBinary("math.ipowi", I32, {1, -1, -1, 2, 3, 0}, {-5, -5, -4, -1, -2147483647, -1},
              {1, -1, 1, 0, 0, kNaN});
  checkBinary("math.ipowi", I8, {2, 3}, {7, 5}, {-128, -13});
}

TEST(ReferenceScalars, wrapping) {
  checkBinary("arith.addi", I8, {127, -128}, {1, -1}, {-128, 127});
  checkBinary("arith.muli", I32, {65536, 65537}, {65536, 65537}, {0, 131073});
  checkBinary("arith.subi", I32, {kLeast32}, {1}, {2147483647});
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

TEST(ReferenceScalars, remainderIsExact) {
  Tensor a = makeTensor(F32, {7}, {7.5, -7.5, 1e30, 1, 5, 3, kInf}),
         b = makeTensor(F32, {7}, {2, 2, 3, 0, kInf, -2, 2});
  Value r = run("arith.remf %a, %b : T", {&a, &b}, "f32", "f32");
  expectEqual(references(r), {1.5, -1.5, std::fmod(double(1e30f), 3), kNaN, 5, 1, kNaN}, "remf");
  EXPECT_TRUE(r.isExact());
}

TEST(ReferenceScalars, remainderNearAMultipleIsUncertain) {
  // 3 * (1 / 3) may be 1, or just below.
  Tensor a = makeTensor(F32, {2}, {1, 1.5}), b = makeTensor(F32, {2}, {3, 3});
  Graph graph(R"(func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
    %q = arith.divf %a, %b : tensor<2xf32>
    %p = arith.mulf %q, %b : tensor<2xf32>
    %one = arith.constant dense<1.0> : tensor<2xf32>
    %r = arith.remf %p, %one : tensor<2xf32>
    return %r : tensor<2xf32> })");
  std::vector<Value> r = graph.run({&a, &b});
  ASSERT_EQ(r.size(), 1u) << graph.message;
  EXPECT_TRUE(std::isinf(r[0].load(0).error));
  EXPECT_EQ(r[0].reference(1), 0.5);
  EXPECT_EQ(r[0].load(1).error, 0);
}

TEST(ReferenceScalars, roundingToIntegers) {
  Numbers x = {2.5, -2.5, 3.5, 0.4, -0.6, 1e30};
  struct {
    const char *op;
    Numbers expected;
  } cases[] = {{"floor", {2, -3, 3, 0, -1, double(1e30f)}},
               {"ceil", {3, -2, 4, 1, 0, double(1e30f)}},
               {"trunc", {2, -2, 3, 0, 0, double(1e30f)}},
               {"round", {3, -3, 4, 0, -1, double(1e30f)}},
               {"roundeven", {2, -2, 4, 0, -1, double(1e30f)}}};
  Tensor a = makeTensor(F32, {6}, x);
  for (auto &[op, expected] : cases) {
    Value r = run("math." + std::string(op) + " %a : T", {&a}, "f32", "f32");
    expectEqual(references(r), expected, op);
    EXPECT_TRUE(r.isExact()) << op;
  }
}

TEST(ReferenceScalars, clamps) {
  Tensor a = makeTensor(F32, {5}, {-2, 0.5, 2, kNaN, kInf}),
         b = makeTensor(F32, {5}, {-1, -1, -1, -1, -1}), c = makeTensor(F32, {5}, {1, 1, 1, 1, 1});
  Value r = run("math.clampf %a to [%b, %c] : T", {&a, &b, &c}, "f32", "f32");
  expectEqual(references(r), {-1, 0.5, 1, kNaN, 1}, "clampf");
  EXPECT_TRUE(r.isExact());
}

TEST(ReferenceScalars, classes) {
  Numbers x = {1, -kInf, kNaN, 0, 1e-40, -3};
  for (ElementType type : {F32, F64}) {
    Tensor a = makeTensor(type, {6}, x);
    std::string element(name(type));
    auto of = [&](const std::string &op) {
      return integersOf(run("math." + op + " %a : T", {&a}, element, "i1"));
    };
    expectEqual(of("isfinite"), {1, 0, 0, 1, 1, 1}, "isfinite");
    expectEqual(of("isinf"), {0, 1, 0, 0, 0, 0}, "isinf");
    expectEqual(of("isnan"), {0, 0, 1, 0, 0, 0}, "isnan");
    expectEqual(of("isnormal"), {1, 0, 0, 0, type == F64 ? 1.0 : 0.0, 1}, "isnormal");
  }
}

TEST(ReferenceScalars, bitcasts) {
  Tensor a = makeTensor(F32, {4}, {1, -2, 0.5, kNaN});
  expectEqual(integersOf(run("arith.bitcast %a : T to tensor<4xi32>", {&a}, "f32", "i32")),
              {0x3f800000, -1073741824.0, 0x3f000000, kNaN}, "f32 to i32");
  Tensor b = makeTensor(I32, {3}, {0x40490fdb, 0, kLeast32});
  Value pi = run("arith.bitcast %a : T to tensor<3xf32>", {&b}, "i32", "f32");
  expectEqual(references(pi), {double(3.14159274f), 0, 0}, "i32 to f32");
  EXPECT_TRUE(std::signbit(pi.reference(2)));
  Tensor c = makeTensor(I64, {1}, {0x4008000000000000});
  expectEqual(references(run("arith.bitcast %a : T to tensor<1xf64>", {&c}, "i64", "f64")), {3},
              "i64 to f64");
}

TEST(ReferenceScalars, copies) {
  Tensor a = makeTensor(F32, {2}, {1, kNaN});
  expectEqual(references(run("swage.copy %a : T", {&a}, "f32", "f32")), {1, kNaN}, "copy");
  Tensor b = makeTensor(I8, {2}, {-1, 5});
  expectEqual(references(run("swage.copy %a : T", {&b}, "i8", "i8")), {-1, 5}, "copy");
}

TEST(ReferenceScalars, powersWithIntegerExponents) {
  Tensor a = makeTensor(F32, {8}, {3, -3, 2, 1.1, 0, 0, 5, -kInf}),
         n = makeTensor(I32, {8}, {4, 3, -2, 7, 0, -1, 0, -3});
  Value r = run("math.fpowi %a, %b : T, tensor<8xi32>", {&a, &n}, "f32", "f32");
  for (int64_t i : {0, 1, 2, 4, 5, 6, 7})
    EXPECT_EQ(r.load(i).error, 0) << i;
  expectEqual({r.reference(0), r.reference(1), r.reference(2), r.reference(4), r.reference(5),
               r.reference(6), r.reference(7)},
              {81, -27, 0.25, 1, kInf, 1, 0}, "fpowi");
  EXPECT_NEAR(r.reference(3), std::pow(double(1.1f), 7), 1e-12);
  EXPECT_GT(r.load(3).error, 0);
  EXPECT_LT(r.load(3).error, 1e-6);
  // 1 / 1e39 is a denormal, but 1e39 is no f32.
  Tensor b = makeTensor(F32, {1}, {1e13}), m = makeTensor(I32, {1}, {-3});
  Value lost = run("math.fpowi %a, %b : T, tensor<1xi32>", {&b, &m}, "f32", "f32");
  EXPECT_TRUE(std::isinf(lost.load(0).error));
}

TEST(ReferenceScalars, conversionsThroughSinglePrecision) {
  // 2^24 + 2^16 + 1 lies above a tie of bf16; rounded to f32 first it lies on it.
  Tensor a = makeTensor(I32, {2}, {16842753, 257});
  Value r = run("arith.sitofp %a : T to tensor<2xbf16>", {&a}, "i32", "bf16");
  EXPECT_EQ(r.reference(0), 16777216.0 + 131072);
  EXPECT_EQ(r.load(0).error, 131072);
  EXPECT_EQ(r.load(1).error, 0);
}

//===----------------------------------------------------------------------===//
// Functions: E bounds an f32 evaluation, with inputs that are themselves in error
//===----------------------------------------------------------------------===//

namespace {

struct FunctionCase {
  const char *op;
  double least, most; ///< where the arguments lie
};

constexpr FunctionCase kFunctions[] = {
    {"math.tan", -1.5, 1.5},     {"math.asin", -0.99, 0.99},  {"math.acos", -0.99, 0.99},
    {"math.atan", -50, 50},      {"math.sinh", -10, 10},      {"math.cosh", -10, 10},
    {"math.tanh", -4, 4},        {"math.asinh", -1000, 1000}, {"math.acosh", 1.01, 1000},
    {"math.atanh", -0.99, 0.99}, {"math.cbrt", -1000, 1000},  {"math.erf", -3, 3},
    {"math.erfc", -3, 3},        {"math.exp", -20, 20},       {"math.expm1", -2, 2},
    {"math.exp2", -20, 20},      {"math.log", 0.01, 100},     {"math.log2", 0.01, 100},
    {"math.log10", 0.01, 100},   {"math.log1p", -0.9, 10},    {"math.rsqrt", 0.01, 100},
    {"math.sqrt", 0.01, 100},    {"math.sin", -100, 100},     {"math.cos", -100, 100}};

} // namespace

TEST(ReferenceScalars, errorsOfFunctionsBoundAnHonestEvaluation) {
  constexpr int64_t kSize = 4096;
  Tensor three = makeTensor(F32, {kSize}, std::vector<double>(kSize, 3));
  for (const FunctionCase &function : kFunctions) {
    std::vector<double> arguments;
    for (int64_t i = 0; i < kSize; ++i)
      arguments.push_back(3 * (function.least + (function.most - function.least) *
                                                    static_cast<double>(i) / (kSize - 1)));
    Tensor x = makeTensor(F32, {kSize}, arguments);
    // x / 3 carries an error into the function.
    std::string type = "tensor<4096xf32>";
    Graph graph("func.func @f(%x: " + type + ", %t: " + type + ") -> (" + type + ", " + type +
                ") {\n%q = arith.divf %x, %t : " + type + "\n%y = " + function.op +
                " %q : " + type + "\n%z = " + function.op + " %x : " + type +
                "\nreturn %y, %z : " + type + ", " + type + " }");
    std::vector<Value> results = graph.run({&x, &three});
    ASSERT_EQ(results.size(), 2u) << graph.message;
    int64_t certain = 0;
    for (int64_t i = 0; i < kSize; ++i) {
      Number number = results[0].load(i);
      if (std::isinf(number.error))
        continue;
      ++certain;
      ASSERT_LE(std::fabs(number.honest - number.reference), number.error)
          << function.op << " of " << arguments[i] / 3;
      // A bound that is far too wide would hide faults.
      double slope = std::fabs(number.reference) + 1;
      ASSERT_LE(number.error, 0x1p-12 * slope * slope) << function.op << " of " << arguments[i] / 3;
    }
    EXPECT_GT(certain, kSize * 9 / 10) << function.op;
  }
}

TEST(ReferenceScalars, arcTangentOfTwo) {
  Numbers y = {1, 1, -1, -1, 0, 0, 2, -2}, x = {1, -1, -1, 1, 1, -1, 0, 0};
  Tensor a = makeTensor(F32, {8}, y), b = makeTensor(F32, {8}, x);
  Value r = run("math.atan2 %a, %b : T", {&a, &b}, "f32", "f32");
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(r.reference(i), std::atan2(y[i], x[i])) << i;
    EXPECT_LE(std::fabs(r.load(i).honest - r.reference(i)), r.load(i).error) << i;
  }
  // 1/3 + 2/3 - 1 may have either sign, at which the angle jumps from pi to -pi.
  Tensor one = makeTensor(F32, {1}, {1}), three = makeTensor(F32, {1}, {3});
  Graph graph(R"(func.func @f(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1xf32> {
    %q = arith.divf %a, %b : tensor<1xf32>
    %s = arith.addf %q, %q : tensor<1xf32>
    %t = arith.addf %s, %q : tensor<1xf32>
    %y = arith.subf %t, %a : tensor<1xf32>
    %x = arith.negf %a : tensor<1xf32>
    %r = math.atan2 %y, %x : tensor<1xf32>
    return %r : tensor<1xf32> })");
  std::vector<Value> jump = graph.run({&one, &three});
  ASSERT_EQ(jump.size(), 1u) << graph.message;
  EXPECT_TRUE(std::isinf(jump[0].load(0).error));
}

TEST(ReferenceScalars, whereAnErrorMayLeaveTheDomainNothingIsKnown) {
  Tensor one = makeTensor(F32, {1}, {1}), three = makeTensor(F32, {1}, {3});
  for (const char *op : {"math.asin", "math.acos", "math.atanh", "math.acosh"}) {
    Graph graph(std::string(R"(func.func @f(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1xf32> {
      %q = arith.divf %a, %b : tensor<1xf32>
      %s = arith.mulf %q, %b : tensor<1xf32>
      %r = )") + op +
                " %s : tensor<1xf32>\nreturn %r : tensor<1xf32> }");
    std::vector<Value> results = graph.run({&one, &three});
    ASSERT_EQ(results.size(), 1u) << graph.message;
    EXPECT_TRUE(std::isinf(results[0].load(0).error)) << op;
  }
  // Outside for sure: NaN.
  Tensor two = makeTensor(F32, {1}, {2});
  Value r = run("math.asin %a : T", {&two}, "f32", "f32");
  EXPECT_TRUE(std::isnan(r.reference(0)));
  EXPECT_EQ(r.load(0).error, 0);
}
