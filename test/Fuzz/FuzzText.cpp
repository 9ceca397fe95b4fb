//===- FuzzText.cpp - Graphs from anywhere --------------------------------===//
//
// Whatever the bytes are: an error with a message, or a module that prints as text which parses
// again and prints the same; and if it does, kernels and a layout or an error.  Machine code is
// left out: NVRTC is not ours to fuzz.
//
//===----------------------------------------------------------------------===//
#include "AnySource.h"
#include "Fuzz.h"
#include "swage/JIT/Program.h"
#include "swage/JIT/ProgramIR.h"
#include "swage/Support/Hash.h"

using namespace swage;

static std::string print(const Program &program) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program.ir()->module->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

static void checkRoundTrip(const Program &program) {
  std::string once = print(program);
  auto again = Program::parse(once);
  if (!again)
    fuzzFailure("what was printed is not accepted", once + "\n" + again.error().str());
  if (std::string twice = print(*again); twice != once)
    fuzzFailure("what was printed changes when it is read", once + "\n" + twice);
}

/// Extents for the dynamic ones, the same for the same text: ordinary, odd, empty and huge.
static std::vector<Dims> shapesFor(const Program &program, uint64_t random) {
  static constexpr int64_t extents[] = {1, 2, 3, 8, 33, 0, 1024, 65537, int64_t(1) << 31};
  std::vector<Dims> shapes;
  for (const TensorType &type : program.inputs()) {
    shapes.push_back(type.shape);
    for (int64_t &extent : shapes.back())
      if (extent == TensorType::kDynamic) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        extent = extents[(random >> 33) % std::size(extents)];
      }
  }
  return shapes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const auto compiler = std::make_shared<const AnySource>();
  // A copy without a byte behind it, where a sanitizer watches.
  std::vector<char> text(data, data + size);
  auto program = Program::parse({text.data(), text.size()});
  if (!program) {
    if (program.error().message.empty())
      fuzzFailure("an error without a message", {text.data(), text.size()});
    return 0;
  }
  checkRoundTrip(*program);

  uint64_t random = hashBytes({text.data(), text.size()}).low;
  CompileOptions options;
  options.compiler = compiler;
  Options memoryOnly;
  memoryOnly.cacheMode = CacheMode::Off;
  options.cache = std::make_shared<KernelCache>(memoryOnly);
  options.fuse = random % 8 != 0;
  options.threads = 1;
  auto executable = program->compile(options);
  if (!executable) {
    if (executable.error().message.empty())
      fuzzFailure("an error without a message", {text.data(), text.size()});
    return 0;
  }
  (void)executable->layout(shapesFor(*program, random));
  return 0;
}
