//===- InjectionTest.cpp - Strings that would like to be code -------------===//
//
// A graph's names and locations reach generated CUDA.  Whatever they are, the tokens of the source
// are those that a harmless string gives, up to the names made of that string: nothing leaves its
// comment or its identifier, and nothing swallows what stands behind it.
//
//===----------------------------------------------------------------------===//
#include "AnySource.h"
#include "swage/JIT/Program.h"

#include <gtest/gtest.h>
#include <random>

using namespace swage;

namespace {

/// As MLIR's text has a string: every byte by its number.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "\\%02X", c);
    result += escaped;
  }
  return result + "\"";
}

/// A graph with the string in every place that takes one: names and files of locations, of values
/// and functions, and attributes.
std::string graphWith(const std::string &text) {
  std::string s = quoted(text);
  return "module attributes {func.note = " + s + "} {\n" +      //
         "func.func private @" + quoted(text + " f") + "()\n" + //
         "func.func @main(%x: tensor<64x64xf32> {func.name = " + s + "} loc(" + s + ")," +
         "                %g: tensor<64xf32> loc(" + s + "(" + s + ":7:9)))" +
         "    -> (tensor<64x64xf32>, tensor<64xf32>) attributes {func.note = " + s + "} {\n" +
         "  %a = arith.addf %x, %x : tensor<64x64xf32> loc(" + s + ")\n" +
         "  %e = math.exp %a {func.note = " + s + "} : tensor<64x64xf32> loc(" + s + ":1:2)\n" +
         "  %n = swage.rms_norm %e gamma %g axis 1 eps 1.0e-5 : (tensor<64x64xf32>, tensor<64xf32>)"
         " -> tensor<64x64xf32> loc(" +
         s + "(" + s + ":3:4))\n" + "  %m = arith.mulf %n, %a : tensor<64x64xf32> loc(fused<" + s +
         ">[" + s + ":5:6, " + s + "])\n" + //
         "  %r = swage.reduce sum %m dims [0] : tensor<64x64xf32> -> tensor<64xf32> loc(callsite(" +
         s + " at " + s + "))\n" + //
         "  return %m, %r : tensor<64x64xf32>, tensor<64xf32> loc(" + s + ")\n} loc(" + s +
         ")\n} loc(" + s + ")\n";
}

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool isName(const std::string &token) {
  return isWord(token.front()) && !std::isdigit(static_cast<unsigned char>(token.front()));
}

/// A kernel is called after its ops and a hash of all that it is, attributes included.
std::string withoutHash(const std::string &token) {
  size_t hash = token.rfind('_') + 1;
  bool isHash = hash > 0 && token.size() - hash == 16 &&
                token.find_first_not_of("0123456789abcdef", hash) == token.npos;
  return isHash ? token.substr(0, hash) : token;
}

/// The tokens as a compiler has them: trigraphs and spliced lines first, then comments dropped.
std::vector<std::string> tokensOf(std::string source) {
  auto replaceAll = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = source.find(from, at)) != source.npos; at += to.size())
      source.replace(at, from.size(), to);
  };
  replaceAll("?\?/", "\\");
  replaceAll("\\\r\n", "");
  replaceAll("\\\n", "");
  std::vector<std::string> tokens;
  for (size_t at = 0; at < source.size();) {
    char c = source[at];
    size_t end = at + 1;
    if (source.compare(at, 2, "//") == 0) {
      // A form feed, a carriage return and Unicode's separators end no line in C++.
      at = std::min(source.find('\n', at), source.size());
      continue;
    }
    if (source.compare(at, 2, "/*") == 0) {
      size_t close = source.find("*/", at + 2);
      at = close == source.npos ? source.size() : close + 2;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(c))) {
      at = end;
      continue;
    }
    if (c == '"' || c == '\'') {
      while (end < source.size() && source[end] != c && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      ++end;
    } else if (isWord(c)) {
      while (end < source.size() && isWord(source[end]))
        ++end;
    }
    tokens.push_back(withoutHash(source.substr(at, end - at)));
    at = end;
  }
  return tokens;
}

/// Of a harmless string, "qqq".
bool isMadeOfQ(const std::string &token) {
  size_t end = token.find_first_not_of("qQ");
  return end != 0 &&
         (end == token.npos || token.find_first_not_of("_0123456789", end) == token.npos);
}

/// Where the harmless source has a name made of the harmless string, any name is right.
testing::AssertionResult sameTokens(const std::string &source, const std::string &harmless) {
  std::vector<std::string> found = tokensOf(source), expected = tokensOf(harmless);
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    bool anyName = isMadeOfQ(expected[i]) && isName(found[i]) && found[i].size() <= 64;
    if (!anyName && found[i] != expected[i])
      return testing::AssertionFailure()
             << "token " << i << " is " << found[i] << ", expected " << expected[i] << ", in\n"
             << source;
  }
  if (found.size() != expected.size())
    return testing::AssertionFailure()
           << found.size() << " tokens, expected " << expected.size() << ", in\n"
           << source;
  return testing::AssertionSuccess();
}

Expected<std::vector<std::string>> sourcesOf(const std::string &text, const std::string &file) {
  auto program = Program::parse(text, {file, "main"});
  if (!program)
    return program.takeError();
  auto executable = program->compile(withoutMachineCode());
  if (!executable)
    return executable.takeError();
  std::vector<std::string> sources;
  for (const KernelInfo &kernel : executable->kernels())
    sources.push_back(kernel.source);
  return sources;
}

/// By hand, and random ones of what is dangerous in C++, in CUDA and in a shell.
std::vector<std::string> hostileStrings() {
  std::vector<std::string> strings = {"",
                                      "\\",
                                      "\\\\",
                                      "a\\",
                                      "a\\ ",
                                      "a\\\n",
                                      "?\?/",
                                      "a?\?/",
                                      "*/",
                                      "/*",
                                      "*/ #error /*",
                                      "//",
                                      "\n#error",
                                      "\r#error",
                                      "\r\n#error",
                                      "\n#include </etc/passwd>",
                                      "\v",
                                      "\f",
                                      "\x85",
                                      "\xE2\x80\xA8#error",
                                      "\xE2\x80\xAE reversed",
                                      std::string("\0", 1),
                                      std::string("a\0b", 3),
                                      "\xFF\xFE",
                                      "\xC3",
                                      "\x1b[2J",
                                      "\x7f",
                                      "\"",
                                      "'",
                                      "R\"(",
                                      ")\"",
                                      "\" asm volatile(\"trap;\"",
                                      "__global__",
                                      "__attribute__((constructor))",
                                      "main",
                                      "return",
                                      "operator",
                                      "int x = 0;",
                                      "); asm(\"trap;\"); (",
                                      "#pragma unroll",
                                      "$(reboot)",
                                      "`reboot`",
                                      "%s%n",
                                      "{}",
                                      "<:",
                                      "%:",
                                      "u8\"",
                                      "0x",
                                      "_",
                                      "__",
                                      "_A",
                                      "9lives",
                                      std::string(100000, 'a'),
                                      std::string(5000, '*') + "/",
                                      std::string(300, '\\'),
                                      "?\?=define main",
                                      "swage::",
                                      "threadIdx",
                                      "kThreads",
                                      "/*//*/\n"};
  const std::vector<std::string> parts = {"\\",
                                          "\n",
                                          "\r",
                                          "*/",
                                          "/*",
                                          "//",
                                          "?\?/",
                                          "?\?=",
                                          "\"",
                                          "'",
                                          "R\"x(",
                                          "#",
                                          "a",
                                          "_",
                                          "9",
                                          " ",
                                          ";",
                                          "{",
                                          "}",
                                          "(",
                                          ")",
                                          "<",
                                          ">",
                                          "\xE2\x80\xA8",
                                          std::string("\0", 1),
                                          "\x80",
                                          "\t",
                                          "asm",
                                          "%",
                                          "@",
                                          "$",
                                          "u0041",
                                          "\\u000A",
                                          "\f"};
  std::mt19937 random(28);
  while (strings.size() < 500) {
    std::string text;
    for (size_t count = random() % 12; count > 0; --count)
      text += parts[random() % parts.size()];
    strings.push_back(text);
  }
  return strings;
}

} // namespace

TEST(Injection, TheTokensAreThoseOfAHarmlessString) {
  // How a long expression is divided depends on the length of the names in it.
  std::vector<std::vector<std::string>> harmless;
  for (size_t length = 1; length <= 64; ++length) {
    auto sources = sourcesOf(graphWith(std::string(length, 'q')), "model.mlir");
    ASSERT_TRUE(sources) << sources.error().str();
    harmless.push_back(std::move(*sources));
  }
  size_t shown = 0;
  for (const std::string &text : hostileStrings()) {
    SCOPED_TRACE(quoted(text).substr(0, 200));
    // A file name is one too.
    auto sources = sourcesOf(graphWith(text), text);
    ASSERT_TRUE(sources) << sources.error().str().substr(0, 2000);
    ASSERT_EQ(sources->size(), harmless.front().size());
    for (size_t i = 0; i < sources->size(); ++i) {
      const std::string &source = (*sources)[i];
      for (char c : source)
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~' && c != '\\')) << int(c) << " in\n"
                                                                      << source;
      bool same = false;
      for (size_t length = 0; length < harmless.size() && !same; ++length)
        same = bool(sameTokens(source, harmless[length][i]));
      ASSERT_TRUE(same) << sameTokens(source, harmless[7][i]).message();
      shown += source != harmless[7][i];
    }
  }
  // Otherwise this tests nothing.
  EXPECT_GT(shown, 200u);
}

/// A kernel by hand has a name of its own, which is a symbol: it is one, or an error.
TEST(Injection, KernelsByHand) {
  auto kernel = [](const std::string &name) {
    return "func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {\n  %y = swage.launch @" +
           quoted(name) +
           "[] (%x) : (tensor<1024xf32>) -> tensor<1024xf32>\n  return %y : tensor<1024xf32>\n}\n"
           "swage.kernel @" +
           quoted(name) +
           " symbols 0 extents affine_map<() -> (1024)> reduced []\n"
           "    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (1024), access = (d0) "
           "-> (d0), align = 16>]\n"
           "    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (1024), access = (d0)"
           " -> (d0), align = 16>] {\n^body(%a: f32):\n  swage.yield %a : f32\n}\n";
  };
  auto harmless = sourcesOf(kernel("qqq"), "model.mlir");
  ASSERT_TRUE(harmless) << harmless.error().str();
  size_t refused = 0;
  for (const std::string &name : hostileStrings()) {
    auto sources = sourcesOf(kernel(name), "model.mlir");
    if (!sources) {
      ++refused;
      continue;
    }
    EXPECT_TRUE(sameTokens(sources->front(), harmless->front())) << quoted(name);
  }
  EXPECT_GT(refused, 400u);
}
