//===- SizeExpressionTest.cpp - Arithmetic on runtime sizes ---------------===//

#include "swage/Runtime/SizeExpression.h"

#include <gtest/gtest.h>

using namespace swage;
using Op = SizeExpression::Op;

static std::optional<int64_t> apply(Op op, int64_t left, int64_t right) {
  SizeExpression expression;
  expression.steps = {{Op::Symbol, 0}, {Op::Symbol, 1}, {op, 0}};
  return expression.evaluate({left, right});
}

TEST(SizeExpressionTest, DivisionsRoundAsTheirNamesSay) {
  for (int64_t value = -12; value <= 12; ++value)
    for (int64_t by = 1; by <= 5; ++by) {
      int64_t floor = *apply(Op::FloorDivide, value, by), ceil = *apply(Op::CeilDivide, value, by),
              rest = *apply(Op::Modulo, value, by);
      EXPECT_LE(floor * by, value);
      EXPECT_GT((floor + 1) * by, value);
      EXPECT_GE(ceil * by, value);
      EXPECT_LT((ceil - 1) * by, value);
      EXPECT_EQ(floor * by + rest, value);
    }
  EXPECT_EQ(apply(Op::CeilDivide, INT64_MAX, 2), INT64_MAX / 2 + 1);
  EXPECT_EQ(apply(Op::FloorDivide, INT64_MIN, 1), INT64_MIN);
}

TEST(SizeExpressionTest, DivisorsArePositive) {
  for (Op op : {Op::FloorDivide, Op::CeilDivide, Op::Modulo}) {
    EXPECT_FALSE(apply(op, 1, 0));
    EXPECT_FALSE(apply(op, INT64_MIN, -1));
  }
}

TEST(SizeExpressionTest, WhatLeaves64BitsHasNoValue) {
  EXPECT_FALSE(apply(Op::Add, INT64_MAX, 1));
  EXPECT_FALSE(apply(Op::Add, INT64_MIN, -1));
  EXPECT_FALSE(apply(Op::Multiply, int64_t{1} << 32, int64_t{1} << 31));
  EXPECT_FALSE(apply(Op::Multiply, INT64_MIN, -1));
  EXPECT_EQ(apply(Op::Multiply, int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
}

TEST(SizeExpressionTest, TheLeastOfTwo) {
  EXPECT_EQ(apply(Op::Min, 3, -5), -5);
  EXPECT_EQ(apply(Op::Min, INT64_MIN, INT64_MAX), INT64_MIN);
}

TEST(SizeExpressionTest, StepsGoFromLeftToRight) {
  // (s0 * 768 - s1) ceildiv 256
  SizeExpression expression;
  expression.steps = {{Op::Symbol, 0}, {Op::Constant, 768}, {Op::Multiply, 0},
                      {Op::Symbol, 1}, {Op::Constant, -1},  {Op::Multiply, 0},
                      {Op::Add, 0},    {Op::Constant, 256}, {Op::CeilDivide, 0}};
  EXPECT_EQ(expression.evaluate({10, 5}), (10 * 768 - 5 + 255) / 256);
}

TEST(SizeExpressionTest, MalformedStepsHaveNoValue) {
  auto evaluate = [](std::vector<SizeExpression::Step> steps) {
    return SizeExpression{std::move(steps)}.evaluate({7});
  };
  EXPECT_FALSE(evaluate({}));
  EXPECT_FALSE(evaluate({{Op::Add, 0}}));
  EXPECT_FALSE(evaluate({{Op::Constant, 1}, {Op::Add, 0}}));
  EXPECT_FALSE(evaluate({{Op::Constant, 1}, {Op::Constant, 2}}));
  EXPECT_FALSE(evaluate({{Op::Symbol, 1}}));
  EXPECT_FALSE(evaluate({{Op::Symbol, -1}}));
  EXPECT_FALSE(evaluate({{Op::Constant, 1}, {Op::Constant, 1}, {Op(99), 0}}));
  EXPECT_EQ(evaluate({{Op::Symbol, 0}}), 7);
}

TEST(SizeExpressionTest, ThereIsALimitOnTheDepth) {
  for (size_t depth : {SizeExpression::kMaxDepth, SizeExpression::kMaxDepth + 1}) {
    SizeExpression expression;
    expression.steps.assign(depth, {Op::Constant, 1});
    expression.steps.insert(expression.steps.end(), depth - 1, {Op::Add, 0});
    EXPECT_EQ(expression.evaluate({}).has_value(), depth == SizeExpression::kMaxDepth);
  }
}
