//===- NvrtcTest.cpp - CUDA source to machine code ------------------------===//
//
// What needs NVRTC is skipped, with the reason, where there is none.
//
//===----------------------------------------------------------------------===//
#include "swage/JIT/Nvrtc.h"
#include "FindLibrary.h"
#include "swage/Support/BuildId.h"

#include <algorithm>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <thread>

using namespace swage;

namespace {
class NvrtcTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto found = Nvrtc::get();
    if (!found)
      GTEST_SKIP() << found.error().message;
    nvrtc = *found;
  }

  static CompileRequest reverse() {
    CompileRequest request;
    request.name = "reverse.cu";
    request.entry = "reverse";
    request.arch = "sm_90a";
    request.headers = {{"swage/types.cuh", "#pragma once\nusing f32 = float;\n"}};
    request.source = "#include \"swage/types.cuh\"\n"
                     "extern \"C\" __global__ void reverse(f32 *x) {\n"
                     "  __shared__ f32 row[64];\n"
                     "  row[threadIdx.x] = x[threadIdx.x];\n"
                     "  __syncthreads();\n"
                     "  x[threadIdx.x] = row[63 - threadIdx.x];\n"
                     "}\n";
    return request;
  }

  std::shared_ptr<const Nvrtc> nvrtc;
};
} // namespace

#define EXPECT_CONTAINS(TEXT, PART)                                                                \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << "'" << (TEXT) << "' lacks '" << (PART) << "'"

// Comes first: afterwards NVRTC is in the process.
TEST(NvrtcUnopened, IsTheLibraryThatIsOpenedLater) {
  auto unopened = Nvrtc::compiler();
  if (!unopened)
    GTEST_SKIP() << unopened.error().message;
  CompileRequest request;
  request.arch = "sm_90a";
  request.entry = "k";
  request.source = "extern \"C\" __global__ void k(int *p) { *p = 1; }\n";
  auto options = (*unopened)->options(request);
  ASSERT_TRUE(options);
  std::string identity = (*unopened)->identity();
  bool wasLoaded = isLoaded("libnvrtc.so.13") || isLoaded("libnvrtc.so.12");
  auto binary = (*unopened)->compile(request);
  ASSERT_TRUE(binary) << binary.error().str();
  auto opened = Nvrtc::get();
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->identity(), identity);
  EXPECT_EQ(*(*opened)->options(request), *options);
  if (std::string build = buildIdOfFile((*opened)->path()); !build.empty()) {
    EXPECT_EQ(identity, "NVRTC " + build);
    EXPECT_FALSE(wasLoaded) << "the cache could have been asked without";
  }
  EXPECT_EQ((*Nvrtc::compiler())->identity(), identity);
}

TEST(FindLibrary, FindsWhatTheLoaderOpens) {
  for (const char *soname : {"libm.so.6", "libnvrtc.so.13", "libnvrtc.so.12", "libz.so.1"}) {
    std::string file = findLibrary(soname);
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    EXPECT_EQ(file.empty(), library == nullptr) << soname << " " << file;
    if (!library || file.empty())
      continue;
    void *same = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    EXPECT_EQ(same, library) << soname << " is not " << file;
    EXPECT_TRUE(isLoaded(soname));
  }
  EXPECT_EQ(findLibrary("libswage-none.so.1"), "");
  EXPECT_FALSE(isLoaded("libswage-none.so.1"));
}

TEST_F(NvrtcTest, TellsItsVersion) {
  EXPECT_GE(nvrtc->version().major, 12);
  EXPECT_GT(nvrtc->version().build, 0);
  EXPECT_FALSE(nvrtc->path().empty());
  const auto &archs = nvrtc->supportedArchs();
  EXPECT_NE(std::find(archs.begin(), archs.end(), "sm_90"), archs.end());
}

TEST_F(NvrtcTest, CompilesAndReportsResources) {
  CompileRequest request = reverse();
  request.wantPtx = true;
  auto binary = nvrtc->compile(request);
  ASSERT_TRUE(binary) << binary.error().str();
  EXPECT_EQ(binary->image.substr(1, 3), "ELF");
  EXPECT_CONTAINS(binary->ptx, ".target sm_90a");
  EXPECT_EQ(binary->name, "reverse");
  EXPECT_EQ(binary->arch, "sm_90a");
  EXPECT_GT(binary->resources.registers, 0);
  EXPECT_EQ(binary->resources.sharedBytes, 256);
  EXPECT_EQ(binary->resources.barriers, 1);
  EXPECT_EQ(binary->resources.spillStores, 0);
  EXPECT_EQ(binary->resources.stackFrame, 0);
}

TEST_F(NvrtcTest, EqualRequestsGiveEqualBytes) {
  auto first = nvrtc->compile(reverse()), second = nvrtc->compile(reverse());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->image, second->image);
  EXPECT_EQ(first->log, second->log);
  EXPECT_TRUE(first->ptx.empty());
}

TEST_F(NvrtcTest, AnErrorCarriesTheLog) {
  CompileRequest request = reverse();
  request.source += "__device__ int broken = nothing;\n";
  auto binary = nvrtc->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().stage, Stage::Compile);
  EXPECT_CONTAINS(binary.error().message, "cannot compile 'reverse.cu' for sm_90a");
  EXPECT_CONTAINS(binary.error().log, "reverse.cu(8): error");
  EXPECT_CONTAINS(binary.error().log, "nothing");
}

TEST_F(NvrtcTest, HeadersComeFromMemoryOnly) {
  CompileRequest request = reverse();
  request.source = "#include <cuda_fp16.h>\n" + request.source;
  auto binary = nvrtc->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_CONTAINS(binary.error().log, "cuda_fp16.h");
}

TEST_F(NvrtcTest, AnUnknownArchitectureListsTheKnown) {
  for (const char *arch :
       {"sm_20", "sm_999", "sm_90x", "sm_90a -I/etc", "sm_", "compute_90", "", "90", "sm_90aa"}) {
    CompileRequest request = reverse();
    request.arch = arch;
    auto binary = nvrtc->compile(request);
    ASSERT_FALSE(binary) << arch;
    EXPECT_CONTAINS(binary.error().message,
                    std::string("does not know architecture '") + arch + "'; it knows sm_");
  }
}

TEST_F(NvrtcTest, OptionsAreComplete) {
  auto options = nvrtc->options(reverse());
  ASSERT_TRUE(options);
  EXPECT_EQ(options->front(), "--gpu-architecture=sm_90a");
  // The same for every version: which one it is, the identity says.
  EXPECT_NE(std::find(options->begin(), options->end(), "--minimal from 13.0"), options->end());
}

TEST_F(NvrtcTest, ThreadsCompileTogether) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto binary = nvrtc->compile(reverse());
      EXPECT_TRUE(binary);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(NvrtcLoad, MissingLibraryNamesTheVariable) {
  auto file = Nvrtc::load("/nonexistent/libnvrtc.so.13");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().stage, Stage::Load);
  EXPECT_CONTAINS(file.error().message, "/nonexistent/libnvrtc.so.13");
  EXPECT_CONTAINS(file.error().message, "SWAGE_NVRTC");
  auto directory = Nvrtc::load(testing::TempDir());
  ASSERT_FALSE(directory);
  EXPECT_CONTAINS(directory.error().message, "no libnvrtc.so.13 or libnvrtc.so.12 in");
  auto another = Nvrtc::load("libm.so.6");
  ASSERT_FALSE(another);
  EXPECT_CONTAINS(another.error().message, "lacks nvrtc");
}

TEST(PtxasReport, FindsTheEntryAmongOthers) {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
      "ptxas info    : Function properties for other\n"
      "ptxas         .     8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 99 registers, used 2 barriers, 4 bytes smem\n"
      "ptxas info    : Compiling entry function 'row' for 'sm_90a'\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     1 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads\n"
      "ptxas info    : Function properties for row\n"
      "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 528 bytes smem, 380 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'row2' for 'sm_90a'\n"
      "ptxas info    : Used 7 registers\n";
  KernelResources row = parsePtxasReport(log, "row");
  EXPECT_EQ(row.registers, 255);
  EXPECT_EQ(row.barriers, 1);
  EXPECT_EQ(row.sharedBytes, 528);
  EXPECT_EQ(row.stackFrame, 16);
  EXPECT_EQ(row.spillStores, 12);
  EXPECT_EQ(row.spillLoads, 20);
  EXPECT_EQ(parsePtxasReport(log, "row2").registers, 7);
  EXPECT_EQ(parsePtxasReport(log, "absent").registers, 0);
}
