//===- RuntimeDriverTest.cpp - Finding and judging the driver -------------===//
//
// A driver that is missing, old or broken is named together with what is needed.
//
//===----------------------------------------------------------------------===//
#include "FakeCudaTest.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace swage;
using namespace swage::cuda;
using ::testing::Test;

namespace {
class DriverTest : public FakeCudaTest {
protected:
  static std::string messageOf(const std::string &path) {
    auto driver = Driver::load(path);
    return driver ? "loaded" : driver.error().str();
  }
};
} // namespace

#define EXPECT_CONTAINS(TEXT, PART)                                                                \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << "'" << (TEXT) << "' lacks '" << (PART) << "'"

TEST_F(DriverTest, LoadsAndTellsItsVersion) {
  fake->version = 12040;
  auto loaded = driver();
  EXPECT_EQ(loaded->version(), 12040);
  EXPECT_EQ(Driver::versionString(loaded->version()), "12.4");
  EXPECT_EQ(fake->count("cuInit"), 1u);
}

TEST_F(DriverTest, MissingLibraryNamesTheVariable) {
  std::string message = messageOf("/nonexistent/libcuda.so.1");
  EXPECT_CONTAINS(message, "load error: CUDA driver: /nonexistent/libcuda.so.1");
  EXPECT_CONTAINS(message, "CUDA 12.0");
  EXPECT_CONTAINS(message, "SWAGE_CUDA_DRIVER");
}

TEST_F(DriverTest, OldDriverIsNamedWithBothVersions) {
  fake->version = 11080;
  std::string message = messageOf(FAKE_CUDA);
  EXPECT_CONTAINS(message, "supports CUDA 11.8");
  EXPECT_CONTAINS(message, "needed: an NVIDIA driver for CUDA 12.0");
  EXPECT_EQ(fake->count("cuInit"), 0u);
}

TEST_F(DriverTest, MissingFunctionIsNamed) {
  EXPECT_CONTAINS(messageOf(FAKE_CUDA_WITHOUT_LIBRARIES), "lacks cuLibraryLoadData");
}

TEST_F(DriverTest, AnotherLibraryIsNotADriver) {
  EXPECT_CONTAINS(messageOf("libm.so.6"), "is not a CUDA driver");
}

TEST_F(DriverTest, NoDeviceHasAHint) {
  fake->failures["cuInit"] = {kNoDevice};
  std::string message = messageOf(FAKE_CUDA);
  EXPECT_CONTAINS(message, "cuInit: CUDA_ERROR_NO_DEVICE (100)");
  EXPECT_CONTAINS(message, "CUDA_VISIBLE_DEVICES");
}

TEST_F(DriverTest, ErrorsAfterAForkSaySo) {
  auto loaded = driver();
  pid_t child = fork();
  if (child == 0) {
    std::string message = loaded->failure(Stage::Load, "cuCtxSetCurrent", kNotInitialized).message;
    _exit(message.find("before this process was forked") == std::string::npos);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::string message = loaded->failure(Stage::Load, "cuCtxSetCurrent", kNotInitialized).message;
  EXPECT_EQ(message.find("forked"), std::string::npos);
}
