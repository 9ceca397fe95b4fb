//===- HostCompilerTest.cpp - Kernels by the compiler of the host ---------===//
//
// What goes wrong is tried with small programs that take the compiler's place.
//
//===----------------------------------------------------------------------===//
#include "HostCompiler.h"
#include "SimtTestSupport.h"
#include "swage/Simt/SimulatorOptions.h"
#include "swage/Support/Subprocess.h"

#include <chrono>
#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace swage;
using namespace swage::simt;

namespace {
class HostCompilerTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto found = HostCompiler::get(false);
    if (!found)
      GTEST_SKIP() << found.error().message;
    compiler = *found;
  }
  std::shared_ptr<const HostCompiler> compiler;
};

/// With a program in the compiler's place.
class StandInCompilerTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "swage-compiler-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    root = pattern;
  }
  void TearDown() override {
    std::error_code error;
    std::filesystem::remove_all(root, error);
  }
  /// A shell script that tells a version of its own and otherwise does as `body` says.
  std::string standIn(const std::string &name, const std::string &body) const {
    std::string path = root + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = --version ] && echo '" << name
                        << " 1.0' && exit\n"
                        << body << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }
  Error errorOf(const std::string &path, HostCompiler::Seconds limit = std::chrono::minutes(1)) {
    auto found = HostCompiler::find(path, false, limit);
    EXPECT_TRUE(found) << found.error().message;
    auto binary = (*found)->compile(kernelRequest("twice", kTwice));
    EXPECT_FALSE(binary);
    return binary ? Error() : binary.takeError();
  }
  std::string root;
};
} // namespace

TEST_F(HostCompilerTest, MakesAModule) {
  EXPECT_EQ(compiler->target(), KernelTarget::Simulator);
  auto binary = compiler->compile(kernelRequest("twice", kTwice));
  ASSERT_TRUE(binary) << binary.error().str();
  EXPECT_EQ(binary->name, "twice");
  EXPECT_EQ(binary->arch, "sim:sm_90a");
  EXPECT_EQ(binary->target(), KernelTarget::Simulator);
  EXPECT_EQ(binary->image.substr(1, 3), "ELF");
}

TEST_F(HostCompilerTest, EqualRequestsGiveEqualBytes) {
  auto first = compiler->compile(kernelRequest("twice", kTwice));
  auto second = compiler->compile(kernelRequest("twice", kTwice));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->image, second->image);
}

TEST_F(HostCompilerTest, CheckedModulesAreOthers) {
  auto checked = HostCompiler::get(true);
  ASSERT_TRUE(checked);
  CompileRequest request = kernelRequest("twice", kTwice);
  EXPECT_NE(*compiler->options(request), *(*checked)->options(request));
  auto binary = (*checked)->compile(request);
  ASSERT_TRUE(binary) << binary.error().str();
}

TEST_F(HostCompilerTest, AnErrorShowsTheLineOfTheKernel) {
  CompileRequest request = kernelRequest("k", "extern \"C\" __global__ void k(int *p) {\n"
                                              "  *p = missing + 1;\n"
                                              "}\n");
  auto binary = compiler->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().stage, Stage::Compile);
  EXPECT_CONTAINS(binary.error().message, "cannot compile 'k.cu' for the simulator");
  EXPECT_CONTAINS(binary.error().log, "k.cu:3:");
  EXPECT_CONTAINS(binary.error().log, "*p = missing + 1;");
}

TEST_F(HostCompilerTest, HeadersOfTheSystemAreNotFound) {
  auto binary = compiler->compile(kernelRequest("k", "#include <vector>\n"));
  ASSERT_FALSE(binary);
  EXPECT_CONTAINS(binary.error().log, "vector");
}

TEST_F(HostCompilerTest, AnyTextCanBeASource) {
  CompileRequest request =
      kernelRequest("k", std::string("// \"quotes\" \\ ?\?/ \t )\" \x01 \xc3\xa9 \xff\r\n") +
                             "extern \"C\" __global__ void k(int *p) { *p = '\\n'; }\n");
  auto binary = compiler->compile(request);
  EXPECT_TRUE(binary) << binary.error().str();
}

TEST_F(HostCompilerTest, NamesCannotLeadElsewhere) {
  CompileRequest request = kernelRequest("twice", kTwice);
  request.source += "#include \"../outside.cuh\"\n";
  request.headers.push_back({"../outside.cuh", ""});
  auto binary = compiler->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_CONTAINS(binary.error().message, "'../outside.cuh'");
  request.source += "#include \"/outside.cuh\"\n";
  request.headers.back().first = "/outside.cuh";
  binary = compiler->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_CONTAINS(binary.error().message, "'/outside.cuh'");
  request = kernelRequest("twice", kTwice);
  request.name = "/nowhere/../x\"y.cu";
  EXPECT_TRUE(compiler->compile(request));
  request.entry = "twice) int x = (0";
  binary = compiler->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_CONTAINS(binary.error().message, "is no name of a kernel");
}

TEST_F(HostCompilerTest, WithoutAnEntryAllKernelsAreExported) {
  CompileRequest request = kernelRequest("", kTwice);
  EXPECT_TRUE(compiler->compile(request));
  request.source = "int x;\n";
  auto binary = compiler->compile(request);
  ASSERT_FALSE(binary);
  EXPECT_CONTAINS(binary.error().message, "holds no __global__ function");
}

TEST(HostCompiler, FindsKernelNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(kernelNames(kTwice), Names{"twice"});
  EXPECT_EQ(kernelNames("extern \"C\" __global__ void __launch_bounds__(Spec::kThreads, (1))\n"
                        "    __cluster_dims__(2) a_1(int x) {}\n"
                        "__global__\nvoid b() {}\n"),
            (Names{"a_1", "b"}));
  EXPECT_EQ(kernelNames("__global__"), Names());
  EXPECT_EQ(kernelNames("__global__ void ("), Names());
}

TEST(HostCompiler, AMissingCompilerSaysWhatToDo) {
  auto found = HostCompiler::find("/nowhere/g++", false);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::Load);
  EXPECT_EQ(found.error().message,
            "host compiler: '/nowhere/g++' could not be started: No such file or directory; the "
            "simulator compiles kernels with g++ or clang++; install one (on Debian: apt-get "
            "install g++) or name it with SWAGE_HOST_COMPILER");
}

TEST_F(StandInCompilerTest, OneThatFailsSaysSo) {
  Error error = errorOf(standIn("failing", "echo 'no room' >&2; exit 3"));
  EXPECT_EQ(error.message,
            "failing 1.0 cannot compile 'twice.cu' for the simulator: it ended with status 3");
  EXPECT_EQ(error.log, "no room\n");
  error = errorOf(standIn("killed", "kill -SEGV $$"));
  EXPECT_CONTAINS(error.message, "it was killed by signal 11");
  error = errorOf(standIn("idle", "exit 0"));
  EXPECT_CONTAINS(error.message, "it ended with status 0 and left no module");
}

TEST_F(StandInCompilerTest, OneThatHangsIsStoppedWithAllItStarted) {
  std::string mark = root + "/mark";
  std::string path = standIn("hanging", "(sleep 2; touch " + mark + ") & sleep 60");
  auto begin = std::chrono::steady_clock::now();
  Error error = errorOf(path, std::chrono::milliseconds(300));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_CONTAINS(error.message, "it was stopped after 0.3 s");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(StandInCompilerTest, ItsDirectoryIsPrivateAndRemoved) {
  Error error = errorOf(standIn("looking", "pwd; stat -c 'mode %a' .; ls; exit 1"));
  EXPECT_CONTAINS(error.log, "mode 700");
  EXPECT_CONTAINS(error.log, "twice.cu");
  std::string directory = error.log.substr(0, error.log.find('\n'));
  EXPECT_CONTAINS(directory, "swage-");
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(StandInCompilerTest, ItSeesNoIncludePathsOfTheUser) {
  setenv("CPATH", "/somewhere", 1);
  Error error = errorOf(standIn("looking", "env; exit 1"));
  unsetenv("CPATH");
  EXPECT_EQ(error.log.find("CPATH"), std::string::npos);
  EXPECT_CONTAINS(error.log, "LC_ALL=C");
}

TEST_F(StandInCompilerTest, FloodsOfOutputAreCut) {
  Error error = errorOf(standIn("talking", "yes | head -c 3000000; exit 1"));
  EXPECT_EQ(error.log.size(), size_t(256) << 10);
}

TEST(Subprocess, RunsWithoutAShell) {
  auto outcome = runProgram({"echo", "$HOME", "a b"}, "", std::chrono::seconds(10));
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.output, "$HOME a b\n");
  outcome = runProgram({"cat"}, "", std::chrono::seconds(10));
  EXPECT_TRUE(outcome.succeeded()) << "it has no input";
}

//===----------------------------------------------------------------------===//
// SimulatorOptions
//===----------------------------------------------------------------------===//

TEST(SimulatorOptions, ReadWhatTheyPrint) {
  for (const char *text :
       {"", "order=reverse", "async=late", "check", "check,strict",
        "order=random,async=random,check,strict,seed=18446744073709551615,workers=7"}) {
    auto options = SimulatorOptions::parse(text);
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->str(), text);
  }
  auto options = SimulatorOptions::parse("seed=3,check,async=late");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->seed, 3u);
  EXPECT_TRUE(options->check);
  EXPECT_EQ(options->async, Asynchrony::Late);
  EXPECT_EQ(options->order, Order::Forward);
}

TEST(SimulatorOptions, MistakesAreNamed) {
  auto message = [](const char *text) {
    auto options = SimulatorOptions::parse(text);
    return options ? std::string("accepted") : options.error().message;
  };
  EXPECT_EQ(message("orders=random"),
            "simulator option 'orders=random' is unknown; allowed: order=forward|reverse|random, "
            "async=eager|late|random, check, strict, seed=NUMBER, workers=NUMBER");
  EXPECT_CONTAINS(message("order=sideways"), "'order=sideways' has a value that it cannot have");
  EXPECT_CONTAINS(message("order"), "has a value that it cannot have");
  EXPECT_CONTAINS(message("check=1"), "'check=1' takes no value");
  EXPECT_CONTAINS(message("seed=-1"), "has a value that it cannot have");
  EXPECT_CONTAINS(message("seed=1x"), "has a value that it cannot have");
  EXPECT_CONTAINS(message("seed=18446744073709551616"), "has a value that it cannot have");
  EXPECT_CONTAINS(message("check,,strict"), "'' is empty");
  EXPECT_CONTAINS(message("check,"), "is empty");
  EXPECT_CONTAINS(message("che\nck"), "'che\\x0ack' is unknown");
}
