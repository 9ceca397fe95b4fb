//===- TunedSchedulesTest.cpp - What an autotuner found -------------------===//

#include "swage/Runtime/TunedSchedules.h"
#include "CacheTestSupport.h"
#include "swage/Support/Text.h"

#include <filesystem>

using namespace swage;

static TunedSchedule sample(const char *kernel, const char *device, const char *schedule) {
  return {"sm_90a", device, kernel, schedule, 10.5, 11.25};
}

TEST(TunedSchedules, AreWhatWasWritten) {
  TunedSchedules tuned;
  tuned.add(sample("row_1", "NVIDIA H200", "#swage.row_schedule<kind = block>"));
  tuned.add(sample("row_2", "A\tB\n", "#s<2>"));
  TunedSchedules read = TunedSchedules::parse(tuned.format());
  ASSERT_EQ(read.all().size(), 2u);
  EXPECT_EQ(read.all()[0].arch, "sm_90a");
  EXPECT_EQ(read.all()[0].device, "NVIDIA H200");
  EXPECT_EQ(read.all()[0].kernel, "row_1");
  EXPECT_EQ(read.all()[0].schedule, "#swage.row_schedule<kind = block>");
  EXPECT_EQ(read.all()[0].microseconds, 10.5);
  EXPECT_EQ(read.all()[0].selectedMicroseconds, 11.25);
  EXPECT_EQ(read.all()[1].device, "A B ");
  EXPECT_EQ(read.format(), tuned.format());
}

TEST(TunedSchedules, TheGpusOwnComeFirstAndThenTheLatest) {
  TunedSchedules tuned;
  tuned.add(sample("row_1", "H100", "#s<1>"));
  tuned.add(sample("row_1", "H200", "#s<2>"));
  tuned.add(sample("row_1", "GH200", "#s<3>"));
  tuned.add({"sm_80", "A100", "row_1", "#s<4>", 1, 1});
  EXPECT_EQ(tuned.forDevice("sm_90a", "H100"), "row_1=#s<1>;");
  EXPECT_EQ(tuned.forDevice("sm_90a", "H200"), "row_1=#s<2>;");
  EXPECT_EQ(tuned.forDevice("sm_90a", ""), "row_1=#s<3>;");
  EXPECT_EQ(tuned.forDevice("sm_75", "H200"), "");
  tuned.add(sample("row_1", "H200", "#s<5>")); // again
  EXPECT_EQ(tuned.all().size(), 4u);
  EXPECT_EQ(tuned.forDevice("sm_90a", "H200"), "row_1=#s<5>;");
  tuned.add(sample("row_1", "H200", "")); // no longer
  EXPECT_EQ(tuned.forDevice("sm_90a", "H200"), "row_1=#s<3>;");
  // What would be two entries is none.
  tuned.add(sample("row_9", "H200", "#s<1>;row_1=#s<7>"));
  EXPECT_EQ(tuned.forDevice("sm_90a", "H200"), "row_1=#s<3>;");
}

TEST(TunedSchedules, ADamagedLineIsAsIfItWasNotThere) {
  TunedSchedules tuned;
  for (const char *kernel : {"row_1", "row_2", "row_3"})
    tuned.add(sample(kernel, "H200", "#s<1>"));
  std::string text = tuned.format();
  size_t first = text.find('\n') + 1, second = text.find('\n', first) + 1,
         third = text.find('\n', second) + 1;
  // Any byte of the second line, any flip.
  for (size_t at = second; at + 1 < third; ++at)
    for (char flip : {1, 0x20, 0x40}) {
      std::string damaged = text;
      damaged[at] ^= flip;
      std::string found = TunedSchedules::parse(damaged).forDevice("sm_90a", "H200");
      EXPECT_EQ(found, "row_1=#s<1>;row_3=#s<1>;") << at;
    }
  // Any prefix has the lines that are whole.
  for (size_t length = 0; length <= text.size(); ++length) {
    size_t whole = TunedSchedules::parse(std::string_view(text).substr(0, length)).all().size();
    EXPECT_EQ(whole, length + 1 < second        ? 0u
                     : length + 1 < third       ? 1u
                     : length + 1 < text.size() ? 2u
                                                : 3u)
        << length;
  }
  EXPECT_TRUE(TunedSchedules::parse("").all().empty());
  EXPECT_TRUE(
      TunedSchedules::parse("swage tuned schedules 2\n" + text.substr(first)).all().empty());
}

using TunedFileTest = CacheTest;

TEST_F(TunedFileTest, StandsInTheCacheDirectoryOrWhereToldOrNowhere) {
  EXPECT_TRUE(TunedSchedules::load(options).all().empty());
  ASSERT_TRUE(TunedSchedules::store(options, {sample("row_1", "H200", "#s<1>")}));
  ASSERT_TRUE(TunedSchedules::store(options, {sample("row_2", "H200", "#s<2>")}));
  EXPECT_TRUE(std::filesystem::exists(options.cacheDir + "/tuned-schedules"));
  EXPECT_EQ(TunedSchedules::load(options).forDevice("sm_90a", "H200"), "row_1=#s<1>;row_2=#s<2>;");
  Options elsewhere = options;
  elsewhere.tunedFile = options.cacheDir + "/folder/mine.txt";
  EXPECT_TRUE(TunedSchedules::load(elsewhere).all().empty());
  ASSERT_TRUE(TunedSchedules::store(elsewhere, {sample("row_3", "H200", "#s<3>")}));
  EXPECT_EQ(TunedSchedules::load(elsewhere).forDevice("sm_90a", "H200"), "row_3=#s<3>;");
  Options off = options;
  off.tuned = false;
  EXPECT_TRUE(TunedSchedules::load(off).all().empty());
  EXPECT_FALSE(TunedSchedules::store(off, {}));
  off = options;
  off.cacheMode = CacheMode::Off;
  EXPECT_TRUE(TunedSchedules::load(off).all().empty());
  EXPECT_FALSE(TunedSchedules::store(off, {}));
}

TEST_F(TunedFileTest, AForeignFileIsNotReadAndNotAReasonToFail) {
  ASSERT_TRUE(TunedSchedules::store(options, {sample("row_1", "H200", "#s<1>")}));
  std::string file = options.cacheDir + "/tuned-schedules";
  std::filesystem::permissions(file, std::filesystem::perms::all);
  EXPECT_TRUE(TunedSchedules::load(options).all().empty());
  ASSERT_TRUE(writeFile(file, std::string(1 << 16, '\x81')));
  EXPECT_TRUE(TunedSchedules::load(options).all().empty());
  // It is replaced by the next that is found.
  ASSERT_TRUE(TunedSchedules::store(options, {sample("row_2", "H200", "#s<2>")}));
  EXPECT_EQ(TunedSchedules::load(options).forDevice("sm_90a", "H200"), "row_2=#s<2>;");
}
