//===- WorkspaceTest.cpp - Placement of intermediate tensors --------------===//

#include "Workspace.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace swage;

namespace {
bool liveTogether(const WorkspaceValue &a, const WorkspaceValue &b) {
  return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse;
}

bool overlap(const WorkspaceValue &a, const WorkspaceValue &b) {
  return a.bytes && b.bytes && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// Whether `a` took the place of `b`, at once or through others.
bool follows(const std::vector<WorkspaceValue> &values, size_t a, size_t b) {
  while (a != b && values[a].takesPlaceOf)
    a = *values[a].takesPlaceOf;
  return a == b;
}

void expectValid(const std::vector<WorkspaceValue> &values, const WorkspaceSize &size) {
  uint64_t end = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i].offset % kWorkspaceAlignment, 0u);
    end = std::max(end, values[i].offset + values[i].bytes);
    for (size_t j = 0; j < i; ++j)
      if (liveTogether(values[i], values[j]) && !follows(values, i, j) && !follows(values, j, i)) {
        EXPECT_FALSE(overlap(values[i], values[j])) << i << " and " << j;
      }
    if (values[i].takesPlaceOf) {
      EXPECT_EQ(values[i].offset, values[*values[i].takesPlaceOf].offset);
    }
  }
  EXPECT_EQ(size.bytes, end);
  EXPECT_GE(size.bytes, size.lowerBound);
}

/// Chains of launches, each of which writes a value: most are read soon, some late, a few are much
/// larger than the rest.
std::vector<WorkspaceValue> randomValues(std::mt19937 &random, size_t count, bool inPlace) {
  auto from = [&](uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random);
  };
  std::vector<WorkspaceValue> values(count);
  for (size_t i = 0; i < count; ++i) {
    size_t length = from(0, 9) == 0 ? from(1, count / 2 + 1) : from(1, 4);
    values[i].firstUse = i;
    values[i].lastUse = std::min(i + length, count);
    values[i].bytes = from(0, 19) == 0 ? 0 : from(1, from(0, 2) ? 2000 : 80000);
  }
  if (inPlace)
    for (size_t i = 1; i < count; ++i)
      for (size_t j = 0; j < i && !values[i].takesPlaceOf; ++j)
        if (values[j].lastUse == i && from(0, 1)) {
          values[i].takesPlaceOf = j;
          values[i].bytes = values[j].bytes;
          values[j].lastUse = i;
          break;
        }
  std::vector<bool> taken(count);
  for (WorkspaceValue &value : values)
    if (value.takesPlaceOf) {
      if (taken[*value.takesPlaceOf])
        value.takesPlaceOf.reset();
      else
        taken[*value.takesPlaceOf] = true;
    }
  return values;
}

/// The least bytes over all orders, where each goes to the lowest offset that is free: some order
/// gives an optimum.
uint64_t optimum(const std::vector<WorkspaceValue> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  uint64_t best = UINT64_MAX;
  do {
    std::vector<WorkspaceValue> placed;
    uint64_t total = 0;
    for (size_t i : order) {
      WorkspaceValue value = values[i];
      value.offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (const WorkspaceValue &other : placed)
          if (liveTogether(value, other) && overlap(value, other)) {
            value.offset = (other.offset + other.bytes + kWorkspaceAlignment - 1) /
                           kWorkspaceAlignment * kWorkspaceAlignment;
            moved = true;
          }
      }
      total = std::max(total, value.offset + value.bytes);
      placed.push_back(value);
    }
    best = std::min(best, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}
} // namespace

TEST(WorkspaceTest, NothingNeedsNothing) {
  std::vector<WorkspaceValue> values;
  WorkspaceSize size = placeValues(values);
  EXPECT_EQ(size.bytes, 0u);
  EXPECT_EQ(size.lowerBound, 0u);
}

TEST(WorkspaceTest, AChainNeedsTwoPlaces) {
  std::vector<WorkspaceValue> values(5);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = {i, i + 1, 1000, std::nullopt, 0};
  WorkspaceSize size = placeValues(values);
  EXPECT_EQ(size.bytes, 1024u + 1000u);
  EXPECT_EQ(size.lowerBound, 2000u);
  expectValid(values, size);
}

TEST(WorkspaceTest, AChainInPlaceNeedsOne) {
  std::vector<WorkspaceValue> values(5);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = {i, i + 1, 1000, std::nullopt, 0};
    if (i > 0)
      values[i].takesPlaceOf = i - 1;
  }
  WorkspaceSize size = placeValues(values);
  EXPECT_EQ(size.bytes, 1000u);
  EXPECT_EQ(size.lowerBound, 1000u);
  expectValid(values, size);
}

TEST(WorkspaceTest, LiveValuesNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    auto values = randomValues(random, 1 + round % 40, round % 2);
    WorkspaceSize size = placeValues(values);
    expectValid(values, size);
    if (HasFailure())
      FAIL() << "round " << round;
  }
}

// Up to 12 launches are what examples have without fusion, 40 a whole layer, 200 a model.
TEST(WorkspaceTest, ThePeakIsNearTheLowerBound) {
  struct {
    size_t count;
    double mean, worst;
  } const cases[] = {{12, 1.005, 1.10}, {40, 1.01, 1.30}, {200, 1.02, 1.30}};
  std::mt19937 random(2);
  for (auto [count, mean, worst] : cases) {
    double sum = 0, most = 0;
    int optimal = 0;
    const int rounds = 500;
    for (int round = 0; round < rounds; ++round) {
      auto values = randomValues(random, count, false);
      // Padding to the alignment is no fault of the placement.
      for (WorkspaceValue &value : values)
        value.bytes = (value.bytes / kWorkspaceAlignment + 1) * kWorkspaceAlignment;
      WorkspaceSize size = placeValues(values);
      double ratio = double(size.bytes) / double(size.lowerBound);
      sum += ratio;
      most = std::max(most, ratio);
      optimal += size.bytes == size.lowerBound;
    }
    RecordProperty("mean-" + std::to_string(count), std::to_string(sum / rounds));
    std::printf("%zu values: mean %.4f, worst %.4f of the lower bound, which %d of %d reach\n",
                count, sum / rounds, most, optimal, rounds);
    EXPECT_LE(sum / rounds, mean) << count << " values";
    EXPECT_LE(most, worst) << count << " values";
  }
}

TEST(WorkspaceTest, SmallCasesAreNearlyAllOptimal) {
  std::mt19937 random(3);
  int optimal = 0;
  double worst = 1;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    auto values = randomValues(random, 6, false);
    uint64_t least = optimum(values);
    WorkspaceSize size = placeValues(values);
    EXPECT_GE(size.bytes, least);
    EXPECT_LE(size.lowerBound, least);
    optimal += size.bytes == least;
    worst = std::max(worst, double(size.bytes) / double(least));
  }
  std::printf("%d of %d are optimal, the worst takes %.4f of the optimum\n", optimal, rounds,
              worst);
  EXPECT_GE(optimal, rounds * 97 / 100);
  EXPECT_LE(worst, 1.1);
}
