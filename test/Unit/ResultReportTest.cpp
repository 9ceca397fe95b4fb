//===- ResultReportTest.cpp - A result over all input families ------------===//

#include "ResultReport.h"
#include "gtest/gtest.h"

using namespace swage;
using reference::Verdict;

static Verdict verdictOf(Verdict::Kind kind, int rule, int64_t ulps) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.rule = rule;
  verdict.ulpDistance = ulps;
  verdict.worstIndex = {ulps};
  return verdict;
}

TEST(ResultReport, TheFirstRejectedFamilyStays) {
  ResultReport report;
  EXPECT_TRUE(report.add(verdictOf(Verdict::Kind::Accepted, 0, 2), true));
  EXPECT_FALSE(report.add(verdictOf(Verdict::Kind::Rejected, 3, 1), true));
  EXPECT_FALSE(report.add(verdictOf(Verdict::Kind::Rejected, 2, 900), true));
  EXPECT_TRUE(report.add(verdictOf(Verdict::Kind::Accepted, 0, 1000), true));
  EXPECT_FALSE(report.accepted);
  EXPECT_EQ(report.verdict, "REJECTED by rule 3");
  EXPECT_EQ(report.worst, "1 ulp at [1]");
}

TEST(ResultReport, WeakStaysWeak) {
  ResultReport report;
  EXPECT_TRUE(report.add(verdictOf(Verdict::Kind::Invalid, 7, 0), true));
  EXPECT_TRUE(report.add(verdictOf(Verdict::Kind::Accepted, 0, 1), true));
  EXPECT_EQ(report.verdict, "accepted (weak)");
  EXPECT_EQ(report.worst, "1 ulp at [1]");
  ResultReport plain;
  EXPECT_FALSE(plain.add(verdictOf(Verdict::Kind::Invalid, 7, 0), false));
  EXPECT_EQ(plain.verdict, "INVALID by rule 7");
}
