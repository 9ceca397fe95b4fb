//===- CApiTest.h - What the tests of the C API share ---------------------===//
#ifndef SWAGE_TEST_CAPI_CAPITEST_H
#define SWAGE_TEST_CAPI_CAPITEST_H

#include "swage-c/Swage.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

inline std::string text(SwageStringRef ref) {
  EXPECT_NE(ref.data, nullptr);
  EXPECT_EQ(ref.data[ref.length], '\0');
  return std::string(ref.data, ref.length);
}

/// Success, or the error as the assertion's message.
inline ::testing::AssertionResult ok(SwageError error) {
  if (!swageIsError(error))
    return ::testing::AssertionSuccess();
  std::string all = text(swageErrorGetText(error));
  swageErrorDestroy(error);
  return ::testing::AssertionFailure() << all;
}

/// An error of this stage with this in its message.
inline ::testing::AssertionResult fails(SwageError error, SwageStage stage,
                                        const std::string &words) {
  if (!swageIsError(error))
    return ::testing::AssertionFailure() << "succeeded";
  std::string message = text(swageErrorGetMessage(error));
  SwageStage found = swageErrorGetStage(error);
  swageErrorDestroy(error);
  if (found != stage || message.find(words) == std::string::npos)
    return ::testing::AssertionFailure() << "stage " << found << ": " << message;
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult refused(SwageError error, const std::string &words) {
  return fails(error, SwageStageInput, words);
}

/// A directory that goes with the object.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "swage-capi-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string path;
};

/// exp of [?, 8], one kernel, and two norms of [?, 16], the first of which goes through the
/// workspace.
inline const char *const kExp = "func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {\n"
                                "  %y = math.exp %x : tensor<?x8xf32>\n"
                                "  return %y : tensor<?x8xf32>\n"
                                "}\n";
inline const char *const kNorms =
    "func.func @main(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {\n"
    "  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<?x16xf32>) -> tensor<?x16xf32>\n"
    "  %z = swage.layer_norm %y axis 0 eps 1.0e-5 : (tensor<?x16xf32>) -> tensor<?x16xf32>\n"
    "  return %z : tensor<?x16xf32>\n"
    "}\n";

#endif // SWAGE_TEST_CAPI_CAPITEST_H
