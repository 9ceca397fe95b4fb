//===- TerminalTest.cpp - Messages that quote what others wrote -----------===//
//
// Names of files, functions and variables may hold escapes that move the cursor, set the title of a
// terminal, reverse the direction of text or forge a line of a log.  A message shows them.
//
//===----------------------------------------------------------------------===//
#include "AnySource.h"
#include "swage/JIT/Program.h"
#include "swage/Runtime/Driver.h"
#include "swage/Support/Text.h"
#include "swage/Support/TextGuard.h"

#include <functional>
#include <gtest/gtest.h>

using namespace swage;

namespace {

const std::string kEscape = "\x1b]0;owned\x07\x1b[2J\r\x9b\xE2\x80\xAE\x7f\b";
/// The same in a string of MLIR's text.
const std::string kQuoted = "\"\\1B]0;owned\\07\\1B[2J\\0D\\9B\\E2\\80\\AE\\7F\\08\"";
const std::string kGraph = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "  %y = arith.addf %x, %x : tensor<4xf32>\n"
                           "  return %y : tensor<4xf32>\n}\n";

std::string parse(const std::string &text, const std::string &file = "a.mlir",
                  const std::string &entry = "main") {
  auto program = Program::parse(text, {file, entry});
  return program ? std::string() : program.error().str();
}

std::string compile(const std::string &text, const std::function<void(CompileOptions &)> &change) {
  auto program = Program::parse(text, {kEscape + ".mlir", "main"});
  if (!program)
    return program.error().str();
  CompileOptions options = withoutMachineCode();
  change(options);
  auto executable = program->compile(options);
  return executable ? std::string() : executable.error().str();
}

std::string warnings(const std::string &variable) {
  const char *environment[] = {variable.c_str(), nullptr};
  return join(Options::parse(environment).warnings, "\n");
}

std::string cacheWarning(const std::string &directory) {
  Options options;
  options.cacheDir = directory;
  std::string warning;
  KernelCache cache(options, [&](const std::string &message) { warning = message; });
  (void)cache.getOrCompile(CacheKey::make({}),
                           []() -> Expected<KernelBinary> { return KernelBinary(); });
  return warning;
}

const std::vector<std::pair<const char *, std::function<std::string()>>> kCases = {
    {"file, guard", [] { return parse("((", kEscape) + parse(std::string(70, '('), kEscape); }},
    {"file, parser", [] { return parse("func.func @main(", kEscape); }},
    {"file, verifier",
     [] { return parse("func.func @main() { %c = arith.constant 1 : i32 }", kEscape); }},
    {"file, no functions", [] { return parse("", kEscape); }},
    {"entry", [] { return parse(kGraph, "a.mlir", kEscape); }},
    {"functions of the module", [] { return parse("func.func private @" + kQuoted + "()"); }},
    {"a symbol twice",
     [] {
       return parse("func.func private @" + kQuoted + "()\nfunc.func private @" + kQuoted + "()");
     }},
    {"an unknown kernel",
     [] {
       return parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = swage.launch @" +
                    kQuoted +
                    "[] (%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}");
     }},
    {"an op that is shown",
     [] {
       return parse(
           "func.func @main(%x: tensor<4xf32>) {\n  %y = \"swage.softmax\"(%x) <{axis = 7 : "
           "i64}> {func.a = " +
           kQuoted + "} : (tensor<4xf32>) -> tensor<4xf32>\n  return\n}");
     }},
    {"an op of no dialect",
     [] { return parse("func.func @main() { " + kQuoted + "() : () -> () }"); }},
    {"an attribute", [] { return parse("module attributes {" + kQuoted + " = 1} {}"); }},
    {"an enumerator",
     [] {
       return parse(
           "func.func @main(%x: tensor<4xf32>) {\n  %y = \"swage.reduce\"(%x) <{kind = " + kQuoted +
           ", dims = array<i64: 0>}> : (tensor<4xf32>) -> tensor<f32>\n  return\n}");
     }},
    {"bytes in the text", [] { return parse("func.func @main() { " + kEscape + " }"); }},
    {"a location",
     [] {
       return parse(
           "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = arith.addf %x, %x : "
           "tensor<4xf32>\n  func.return %y : tensor<4xf32>\n  %z = arith.addf %x, %x : "
           "tensor<4xf32> loc(" +
           kQuoted + ":1:1)\n} loc(" + kQuoted + ":1:2)");
     }},
    {"an element type",
     [] { return parse("func.func @main(%x: tensor<4xcomplex<f32>>) { return }", kEscape); }},
    {"an architecture",
     [] { return compile(kGraph, [](auto &options) { options.arch = kEscape; }); }},
    {"templates",
     [] { return compile(kGraph, [](auto &options) { options.templateDir = "/" + kEscape; }); }},
    {"dumps",
     [] {
       return compile(kGraph, [](auto &options) {
         options.environment.dump.directory = "/dev/null/" + kEscape;
       });
     }},
    {"alignments, with a way to see it again",
     [] { return compile(kGraph, [](auto &options) { options.alignment = {3}; }); }},
    {"a value of the environment", [] { return warnings("SWAGE_CACHE=" + kEscape); }},
    {"a variable of the environment", [] { return warnings("SWAGE_" + kEscape + "=1"); }},
    {"the cache", [] { return cacheWarning("/dev/null/" + kEscape); }},
    {"a file that is not there", [] { return readFile("/" + kEscape).error().str(); }},
    {"a file that cannot be written",
     [] { return writeFile("/dev/null/" + kEscape, "x").error().str(); }},
};

} // namespace

TEST(Terminal, WhatIsQuotedIsPrintable) {
  for (const auto &[name, run] : kCases) {
    std::string message = run();
    EXPECT_FALSE(message.empty()) << name;
    for (unsigned char c : message)
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f))
          << name << ": byte " << int(c) << " in " << printable(message);
  }
}
