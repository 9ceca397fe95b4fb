//===- DiagnosisTest.cpp - Dumps, overrides and sources that fail ---------===//

#include "RecordingCompiler.h"
#include "swage/JIT/Disassembler.h"
#include "swage/JIT/Program.h"
#include "swage/Support/Text.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

using namespace swage;
namespace fs = std::filesystem;

namespace {
/// Two kernels without fusion.
const char *const kTwo = R"(
func.func @main(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %a = math.exp %x : tensor<64x256xf32>
  %b = swage.reduce sum %a dims [1] : tensor<64x256xf32> -> tensor<64xf32>
  return %b : tensor<64xf32>
})";

class DiagnosisTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "swage-diagnosis-" + std::to_string(getpid());
    fs::remove_all(folder);
    fs::create_directories(folder);
    environment.cacheDir = folder / "cache";
    options.fuse = false;
    options.environment = Options();
    options.compiler = compiler;
  }
  void TearDown() override { fs::remove_all(folder); }

  Expected<Executable> compile() {
    options.cache = std::make_shared<KernelCache>(environment);
    auto program = Program::parse(kTwo, {}, context);
    if (!program)
      return program.takeError();
    return program->compile(options);
  }
  /// The generated kernels.
  std::vector<KernelInfo> generated() {
    auto overrides = std::exchange(options.environment.overrides, {});
    auto executable = compile();
    options.environment.overrides = std::move(overrides);
    return executable ? executable->kernels() : std::vector<KernelInfo>();
  }
  /// What compiling prints, while `failure` receives its error.
  std::string printed(Error *failure = nullptr) {
    testing::internal::CaptureStderr();
    auto executable = compile();
    if (!executable && failure)
      *failure = executable.takeError();
    return testing::internal::GetCapturedStderr();
  }

  fs::path folder;
  Options environment; ///< of the cache
  CompileOptions options;
  std::shared_ptr<RecordingCompiler> compiler = std::make_shared<RecordingCompiler>();
  std::mutex mutex;
  std::vector<TraceEvent> compiles;
  Context context = [this] {
    ContextOptions options;
    options.environment = Options();
    options.events = [this](const TraceEvent &event) {
      std::lock_guard<std::mutex> lock(mutex);
      if (event.kind == TraceEvent::Kind::Compile)
        compiles.push_back(event);
    };
    return Context(std::move(options));
  }();
};
} // namespace

static void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

//===----------------------------------------------------------------------===//
// Sources that fail
//===----------------------------------------------------------------------===//

TEST_F(DiagnosisTest, AFailedCompileKeepsItsSource) {
  compiler->fails = true;
  auto executable = compile();
  ASSERT_FALSE(executable);
  const Error &error = executable.error();
  EXPECT_EQ(fs::path(error.sourcePath).parent_path(), folder / "cache" / "failed");
  EXPECT_EQ(error.reproduce, "swage-sim --compile-only " + error.sourcePath);
  auto source = readFile(error.sourcePath);
  ASSERT_TRUE(source) << source.error().message;
  expectPart(*source, "__global__");
  EXPECT_EQ(*readFile(fs::path(error.sourcePath).replace_extension(".log")), "a log");
  expectPart(error.str(), "a log");
}

TEST_F(DiagnosisTest, WithoutACacheTheGraphReproduces) {
  compiler->fails = true;
  environment.cacheMode = CacheMode::Off;
  auto executable = compile();
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().sourcePath, "");
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST_F(DiagnosisTest, ADumpOfOtherPartsLeavesTheSourceToTheCache) {
  compiler->fails = true;
  options.environment.dump = {folder / "dump", DumpLog};
  auto executable = compile();
  ASSERT_FALSE(executable);
  EXPECT_EQ(fs::path(executable.error().sourcePath).parent_path(), folder / "cache" / "failed");
  size_t logs = 0;
  for (const auto &entry : fs::recursive_directory_iterator(folder / "dump"))
    if (entry.is_regular_file()) {
      EXPECT_EQ(entry.path().extension(), ".log");
      EXPECT_EQ(*readFile(entry.path()), "a log");
      ++logs;
    }
  EXPECT_EQ(logs, 1u);
}

//===----------------------------------------------------------------------===//
// Overrides
//===----------------------------------------------------------------------===//

TEST_F(DiagnosisTest, AnOverrideIsCompiledInPlaceOfTheGeneratedText) {
  std::vector<KernelInfo> kernels = generated();
  ASSERT_EQ(kernels.size(), 2u);
  std::string file = folder / "mine.cu";
  std::string mine = "// mine\nextern \"C\" __global__ void " + kernels[1].name + "() {}\n";
  ASSERT_TRUE(writeFile(file, mine));
  options.environment.overrides = {{kernels[1].name, file}};
  std::string line =
      "swage: kernel @" + kernels[1].name + " is compiled from '" + file + "' (SWAGE_OVERRIDE)\n";
  compiles.clear();
  EXPECT_EQ(printed(), line);
  ASSERT_EQ(compiles.size(), 1u);
  EXPECT_EQ(compiles[0].detail, "sm_90a, from " + file);
  EXPECT_EQ(printed(), "") << "said once";

  compiler->requests.clear();
  auto executable = compile();
  ASSERT_TRUE(executable) << executable.error().str();
  EXPECT_TRUE(compiler->requests.empty()) << "both are in the cache";
  EXPECT_EQ(executable->kernels()[0].source, kernels[0].source);
  EXPECT_EQ(executable->kernels()[0].overriddenBy, "");
  EXPECT_EQ(executable->kernels()[1].source, mine);
  EXPECT_EQ(executable->kernels()[1].overriddenBy, file);
  EXPECT_EQ(executable->kernels()[1].binary->image, mine);

  // The generated kernel is found as it was, and another text is another kernel.
  EXPECT_EQ(generated()[1].binary->image, kernels[1].source);
  EXPECT_TRUE(compiler->requests.empty());
  ASSERT_TRUE(writeFile(file, mine + "// edited\n"));
  ASSERT_TRUE(compile());
  ASSERT_EQ(compiler->requests.size(), 1u);
  EXPECT_EQ(compiler->requests[0].name, file);
}

TEST_F(DiagnosisTest, TheFirstOverrideThatFitsCounts) {
  std::vector<KernelInfo> kernels = generated();
  ASSERT_EQ(kernels.size(), 2u);
  std::string first = folder / "first.cu", second = folder / "second.cu";
  ASSERT_TRUE(writeFile(first, "first: " + kernels[0].name));
  ASSERT_TRUE(writeFile(second, "second: " + kernels[0].name + " " + kernels[1].name));
  options.environment.overrides = {{kernels[0].name.substr(0, 9) + "*", first}, {"*", second}};
  auto executable = compile();
  ASSERT_TRUE(executable) << executable.error().str();
  EXPECT_EQ(executable->kernels()[0].overriddenBy, first);
  EXPECT_EQ(executable->kernels()[1].overriddenBy, second);
}

TEST_F(DiagnosisTest, AnOverrideThatDoesNotCompileIsNamed) {
  std::vector<KernelInfo> kernels = generated();
  ASSERT_EQ(kernels.size(), 2u);
  std::string file = folder / "broken.cu";
  ASSERT_TRUE(writeFile(file, "#error in " + kernels[0].name));
  options.environment.overrides = {{kernels[0].name, file}};
  Error error;
  printed(&error);
  EXPECT_EQ(error.stage, Stage::Compile);
  expectPart(error.message, "kernel @" + kernels[0].name + " from '" + file +
                                "' (SWAGE_OVERRIDE): as the test asked");
  EXPECT_EQ(error.sourcePath, file);
  EXPECT_EQ(error.reproduce, "swage-sim --compile-only " + file);
  EXPECT_FALSE(fs::exists(folder / "cache" / "failed"));
}

TEST_F(DiagnosisTest, AnOverrideOfNothingIsWarnedAboutOnce) {
  std::vector<KernelInfo> kernels = generated();
  ASSERT_EQ(kernels.size(), 2u);
  std::string name = kernels[0].name, misspelt = name;
  std::swap(misspelt[1], misspelt[2]);
  options.environment.overrides = {{misspelt, "/nonexistent"}};
  EXPECT_EQ(printed(), "swage: warning: SWAGE_OVERRIDE: no kernel so far is named '" + misspelt +
                           "'; did you mean '" + name + "'?\n");
  EXPECT_EQ(printed(), "");
}

TEST_F(DiagnosisTest, AnOverrideMustDefineTheKernel) {
  std::vector<KernelInfo> kernels = generated();
  ASSERT_EQ(kernels.size(), 2u);
  std::string file = folder / "other.cu";
  ASSERT_TRUE(writeFile(file, "__global__ void " + kernels[0].name + "2() {}"));
  options.environment.overrides = {{kernels[0].name, file}};
  Error error;
  printed(&error);
  EXPECT_EQ(error.stage, Stage::Input);
  expectPart(error.message, "the file does not define it; needed: extern \"C\" __global__ void " +
                                kernels[0].name + "(...)");
  options.environment.overrides = {{kernels[0].name, folder / "absent.cu"}};
  printed(&error);
  expectPart(error.message, "absent.cu' (SWAGE_OVERRIDE): ");
}

//===----------------------------------------------------------------------===//
// Disassembly
//===----------------------------------------------------------------------===//

TEST_F(DiagnosisTest, SassIsWhatTheDisassemblerPrints) {
  std::string program = folder / "cuobjdump-of-mine";
  ASSERT_TRUE(
      writeFile(program, "#!/bin/sh\n[ \"$1\" = --version ] || { echo \"$1\"; cat \"$2\"; }\n"));
  ASSERT_EQ(chmod(program.c_str(), 0700), 0);
  KernelBinary binary;
  binary.name = "row";
  binary.arch = "sm_90a";
  binary.image = "machine code";
  auto sass = disassemble(binary, program);
  ASSERT_TRUE(sass) << sass.error().str();
  EXPECT_EQ(*sass, "-sass\nmachine code");

  ASSERT_TRUE(writeFile(program, "#!/bin/sh\necho no such format; exit 3\n"));
  ASSERT_EQ(chmod(program.c_str(), 0700), 0);
  auto failed = disassemble(binary, program);
  ASSERT_FALSE(failed);
  expectPart(failed.error().message, "cuobjdump-of-mine' ended with status 3");
  EXPECT_EQ(failed.error().log, "no such format\n");

  binary.arch = "sim:sm_90a";
  auto simulated = disassemble(binary, program);
  ASSERT_FALSE(simulated);
  expectPart(simulated.error().message, "was compiled for the simulator");
}
