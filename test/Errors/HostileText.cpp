//===- HostileText.cpp - Texts that are meant to do harm ------------------===//
//
// Written by hand, one weapon each.  What is large is made here rather than kept as a file.
//
//===----------------------------------------------------------------------===//
#include "HostileText.h"

#include <string_view>

using std::string;

static string repeat(std::string_view part, size_t times) {
  string text;
  text.reserve(part.size() * times);
  for (size_t i = 0; i < times; ++i)
    text += part;
  return text;
}

static string number(size_t i) { return std::to_string(i); }

/// `body` returns %y; %x is given.
static string graph(const string &body) {
  return "func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n" + body +
         "\n  return %y : tensor<4x8xf32>\n}\n";
}
static string graphBehind(const string &definitions) {
  return definitions + "\n" + graph("%y = swage.copy %x : tensor<4x8xf32>");
}
static string attribute(const string &value) {
  return "module attributes {func.a = " + value + "} {\n" + graphBehind("") + "}";
}
static string argument(const string &type) { return "func.func @main(%x: " + type + ")"; }

/// A kernel by hand, with what the fuser and the scheduler would have written.
static string kernel(const string &schedule, const string &body = "  swage.yield %a : f32\n",
                     const string &extents = "(1024)") {
  return "func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {\n"
         "  %y = swage.launch @k[] (%x) : (tensor<1024xf32>) -> tensor<1024xf32>\n"
         "  return %y : tensor<1024xf32>\n}\n"
         "swage.kernel @k symbols 0 extents affine_map<() -> " +
         extents +
         "> reduced []\n"
         "    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (1024), access = (d0) "
         "-> (d0), align = 16>]\n"
         "    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (1024), access = (d0) "
         "-> (d0), align = 16>]\n" +
         (schedule.empty() ? "" : "    schedule #swage." + schedule + "\n") +
         "{\n^body(%a: f32):\n" + body + "}\n";
}

static string chain(size_t count, const string &op, const string &type = "tensor<4x8xf32>") {
  string body, last = "%x";
  for (size_t i = 0; i < count; ++i) {
    string next = i + 1 == count ? "%y" : "%v" + number(i);
    string text = op;
    for (size_t at; (at = text.find('$')) != text.npos;)
      text.replace(at, 1, last);
    body += "  " + next + " = " + text + " : " + type + "\n";
    last = next;
  }
  return graph(body);
}

/// %y of the extent (a0 + a0') * (a1 + a1') * ..., for `count` arguments.
static string sums(size_t count) {
  string text;
  for (size_t i = 0; i < count; ++i) {
    string n = number(i), a = "%a" + n;
    text += "  %m" + n + " = tensor.dim " + a + ", %c0 : tensor<?x?xf32>\n  %n" + n +
            " = tensor.dim " + a + ", %c1 : tensor<?x?xf32>\n  %s" + n + " = arith.addi %m" + n +
            ", %n" + n + " : index\n";
    text += i == 0 ? string("  %p0 = arith.addi %s0, %c0 : index\n")
                   : "  %p" + n + " = arith.muli %p" + number(i - 1) + ", %s" + n + " : index\n";
  }
  return text +
         "  %z = swage.reshape %a0 : tensor<?x?xf32> -> tensor<?xf32>\n"
         "  %y = swage.broadcast %z dims [0] sizes(%p" +
         number(count - 1) + ") : tensor<?xf32> -> tensor<?xf32>\n";
}

static const char *const kTooDeep = "brackets are nested more than 64 deep";

const std::vector<HostileText> &hostileTexts() {
  static const std::vector<HostileText> texts = {
      // Nesting: MLIR's parser calls itself for each.
      {"ParenthesesNested", [] { return repeat("(", 7000); }, kTooDeep},
      {"AttributesNested", [] { return attribute(repeat("[", 5000) + repeat("]", 5000)); },
       kTooDeep},
      {"DictionariesNested",
       [] { return attribute(repeat("{a=", 5000) + "1" + repeat("}", 5000)); }, kTooDeep},
      {"TypesNested", [] { return argument(repeat("tuple<", 5000) + repeat(">", 5000)); },
       kTooDeep},
      {"FunctionTypesNested", [] { return argument(repeat("()->(", 5000) + repeat(")", 5000)); },
       kTooDeep},
      {"ShapedTypesNested", [] { return argument(repeat("vector<1x", 900) + repeat(">", 900)); },
       kTooDeep},
      {"RegionsNested", [] { return repeat("module {\n", 5000) + repeat("}\n", 5000); }, kTooDeep},
      {"FunctionsNested",
       [] { return repeat("func.func @f() { func.func @g() {", 100) + repeat("}}", 100); },
       kTooDeep},
      {"AffineExpressionsNested",
       [] {
         return "#m = affine_map<(d0) -> (" + repeat("(", 9000) + "d0" + repeat(")", 9000) + ")>";
       },
       kTooDeep},
      {"AffineMinusSigns",
       [] { return "#m = affine_map<(d0) -> (" + repeat("-", 100000) + "d0)>"; },
       "an affine map has more than 512 operators"},
      {"AffineMinusSignsWithoutTheWord",
       [] {
         return attribute("#swage.view<tensor = 0, element = f32, shape = () -> (8), access = (d0) "
                          "-> (" +
                          repeat("-", 100000) + "d0), align = 16>");
       },
       "an affine map has more than 512 operators"},
      {"AffineSum", [] { return "#m = affine_map<(d0) -> (" + repeat("d0 + ", 100000) + "d0)>"; },
       "an affine map has more than 512 operators"},
      {"LocationsNested", [] { return "module { } " + repeat("loc(fused[", 5000); }, kTooDeep},
      {"CallSitesNested",
       [] { return "module { } " + repeat("loc(callsite(\"a\" at ", 5000) + "\"b\""; }, kTooDeep},
      {"NestedThroughAliases",
       [] {
         string text = "#a0 = [1]\n";
         for (size_t i = 0; i < 5000; ++i)
           text += "#a" + number(i + 1) + " = [#a" + number(i) + "]\n";
         return text;
       },
       kTooDeep},
      {"NestedThroughTypeAliases",
       [] {
         string text = "!t0 = tuple<i1>\n";
         for (size_t i = 0; i < 5000; ++i)
           text += "!t" + number(i + 1) + " = tuple<!t" + number(i) + ">\n";
         return text;
       },
       kTooDeep},
      {"BillionLaughs",
       [] {
         string text = "#a0 = [1]\n";
         for (size_t i = 0; i < 60; ++i)
           text += "#a" + number(i + 1) + " = [#a" + number(i) + ", #a" + number(i) + "]\n";
         return text;
       },
       "aliases written out amount to more than 1048576 parts"},
      {"BracketsThatDoNotMatch", [] { return graphBehind("]>)}" + repeat("<[({", 20)); }, kTooDeep},

      // Aliases and symbols that lead to themselves.
      {"AliasOfItself", [] { return graphBehind("#a = #a"); }, "undefined symbol alias id 'a'"},
      {"AliasesInACircle", [] { return graphBehind("#a = [#b]\n#b = [#a]"); },
       "undefined symbol alias id 'b'"},
      {"TypeAliasOfItself", [] { return graphBehind("!t = tuple<!t>"); },
       "undefined symbol alias id 't'"},
      {"AliasTwice", [] { return graphBehind("#a = 1\n#a = 2"); },
       "redefinition of attribute alias id 'a'"},
      {"AffineMapOfItself", [] { return graphBehind("#m = affine_map<(d0) -> (#m)>"); },
       "expected affine expression"},
      {"SymbolsInACircle",
       [] {
         return graphBehind("func.func @a() { call @b() : () -> () return }\n"
                            "func.func @b() { call @a() : () -> () return }");
       },
       nullptr},
      {"FunctionThatCallsItself",
       [] { return graph("  %y = call @main(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>"); },
       "func.call"},
      {"SymbolTwice",
       [] { return graph("%y = swage.copy %x : tensor<4x8xf32>") + graphBehind(""); },
       "redefinition of symbol named 'main'"},
      {"ValueBeforeItself", [] { return graph("  %y = arith.addf %y, %x : tensor<4x8xf32>"); },
       "dominate"},
      {"ValueOfALaterRegion",
       [] {
         return string("func.func @main() {\n  \"a.b\"(%later) : (i32) -> ()\n  \"a.c\"() ({\n"
                       "    %later = arith.constant 1 : i32\n    ] }) : () -> ()\n}");
       },
       "unregistered dialect"},
      {"KernelThatIsNot",
       [] {
         return graph("  %y = swage.launch @main[] (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>");
       },
       "launches @main, which is no kernel of this module"},

      // Extents.
      {"LargestExtent", [] { return argument("tensor<9223372036854775807x9x1xf32>"); },
       "a tensor has more than 72057594037927936 elements"},
      {"ProductOverflows", [] { return argument("tensor<4294967296x4294967296xf32>"); },
       "a tensor has more than 72057594037927936 elements"},
      {"ExtentOf65Bits", [] { return argument("tensor<18446744073709551616xf32>"); },
       "a tensor has more than 72057594037927936 elements"},
      {"ExtentOf400Digits", [] { return argument("tensor<" + repeat("9", 400) + "xf32>"); },
       "a tensor has more than 72057594037927936 elements"},
      {"NegativeExtent", [] { return argument("tensor<-4x8xf32>"); }, "expected non-function type"},
      {"HexadecimalExtent", [] { return argument("tensor<0x10xf32>"); }, "public visibility"},
      {"Rank100000", [] { return argument("tensor<" + repeat("1x", 100000) + "f32>"); },
       "a tensor has a rank above 32"},
      {"DynamicRank100000", [] { return argument("tensor<" + repeat("?x", 100000) + "f32>"); },
       "a tensor has a rank above 32"},
      {"ExtentsThatHideAType",
       [] { return argument("tensor<4xtensor<" + repeat("1x", 100) + "f32>>"); },
       "a tensor has a rank above 32"},
      {"EncodedTensor", [] { return argument("tensor<4x8xf32, " + repeat("[", 100)); }, kTooDeep},
      {"UnrankedTensor", [] { return argument("tensor<*xf32>") + " { return }"; },
       "needed: a ranked tensor"},
      {"MemoryReference", [] { return argument("memref<4xf32>") + " { return }"; },
       "needed: a ranked tensor"},
      {"EmptyAndHuge",
       [] {
         return string("func.func @main(%x: tensor<0x72057594037927936xf32>) -> "
                       "tensor<0x72057594037927936xf32> {\n"
                       "  %y = swage.softmax %x axis 1 : tensor<0x72057594037927936xf32> -> "
                       "tensor<0x72057594037927936xf32>\n"
                       "  return %y : tensor<0x72057594037927936xf32>\n}");
       },
       nullptr},
      {"ConcatOverflows",
       [] {
         return string(
                    "func.func @main(%x: tensor<72057594037927935xi8>) {\n  %y = swage.concat ") +
                repeat("%x, ", 255) + "%x axis 0 : (" +
                repeat("tensor<72057594037927935xi8>, ", 255) +
                "tensor<72057594037927935xi8>) -> tensor<72057594037927935xi8>\n  return\n}";
       },
       "more than 2^63 elements in dimension 0"},
      {"SliceOverflows",
       [] {
         return graph("  %y = swage.slice %x axis 1 from 9223372036854775807 size "
                      "9223372036854775807 step 9223372036854775807 : tensor<4x8xf32> -> "
                      "tensor<4x8xf32>");
       },
       "swage.slice"},
      {"AxisOf64Bits",
       [] {
         return graph("  %y = swage.softmax %x axis -9223372036854775808 : tensor<4x8xf32> -> "
                      "tensor<4x8xf32>");
       },
       "axis"},
      {"PermutationOfNothing",
       [] {
         return graph("  %y = swage.permute %x [9223372036854775807, -1] : tensor<4x8xf32> -> "
                      "tensor<4x8xf32>");
       },
       "swage.permute"},
      {"PermutationOf100000",
       [] {
         return graph("  %y = swage.permute %x [" + repeat("0, ", 100000) +
                      "1] : tensor<4x8xf32> -> tensor<4x8xf32>");
       },
       "swage.permute"},

      // Types and constants.
      {"WidestInteger", [] { return argument("tensor<4xi16777215>"); },
       "an integer type has 16777215 bits, but may have 128"},
      {"IntegerOf2To24Bits", [] { return argument("si16777216"); },
       "an integer type has 16777216 bits, but may have 128"},
      {"IntegerOf100Digits", [] { return argument("i" + repeat("9", 100)); },
       "an integer type has 100000000 bits, but may have 128"},
      {"ConstantOf200000Digits",
       [] { return graph("  %c = arith.constant " + repeat("9", 200000) + " : i64"); },
       "a word or number has 200000 bytes, but may have 4096"},
      {"ExponentOf100000Digits",
       [] { return graph("  %c = arith.constant 1.0e" + repeat("9", 100000) + " : f64"); },
       "a word or number has 100004 bytes, but may have 4096"},
      {"SplatOfAGigabyte",
       [] {
         return graph("  %c = arith.constant dense<1.0> : tensor<268435456xf32>\n"
                      "  %y = swage.copy %x : tensor<4x8xf32>");
       },
       nullptr},
      {"SplatOf2To56",
       [] {
         return graph("  %c = arith.constant dense<1> : tensor<72057594037927936xi8>\n"
                      "  %d = arith.addi %c, %c : tensor<72057594037927936xi8>\n"
                      "  %y = swage.copy %x : tensor<4x8xf32>");
       },
       nullptr},
      {"HexadecimalOf65Megabytes",
       [] {
         return graph("  %c = arith.constant dense<\"0x" + repeat("0", 65 << 20) +
                      "\"> : tensor<8519680xf32>");
       },
       "the text has"},
      {"HexadecimalInParts",
       [] {
         return attribute(
             "[" +
             repeat("dense<\"0x" + repeat("00", 1 << 20) + "\"> : tensor<262144xf32>,\n", 40) +
             "1]");
       },
       "the text has"},
      {"HexadecimalTooShort",
       [] { return graph("  %c = arith.constant dense<\"0x00\"> : tensor<1048576xf32>"); },
       "hex data size is invalid"},
      {"HexadecimalThatIsNot",
       [] { return graph("  %c = arith.constant dense<\"0xzz\"> : tensor<1xi8>"); }, "hex digits"},
      {"DenseResource",
       [] {
         return attribute("dense_resource<blob> : tensor<4xf32>") +
                "\n{-#\n  dialect_resources: {\n    builtin: {\n      blob: \"0xFFFFFFFF" +
                repeat("00", 1 << 20) + "\"\n    }\n  }\n#-}\n";
       },
       "expected hex string blob"},
      {"SparseOutOfBounds",
       [] {
         return graph("  %c = arith.constant sparse<[[9223372036854775807]], [1.0]> : "
                      "tensor<4xf32>");
       },
       "not contained within the value shape"},
      {"DenseListOfAMillion",
       [] {
         return graph("  %c = arith.constant dense<[" + repeat("1.0, ", 1 << 20) +
                      "1.0]> : tensor<1048577xf32>\n  %y = swage.copy %x : tensor<4x8xf32>");
       },
       "the text has more than 1048576 words, numbers"},
      {"ArrayOfAMillion", [] { return attribute("[" + repeat("1,", 1000000) + "1]"); }, nullptr},
      {"ConstantFoldingInBulk",
       [] {
         string body = "  %v0 = arith.constant dense<\"0x" + repeat("0123456789abcdef", 1 << 18) +
                       "\"> : tensor<524288xf32>\n";
         for (size_t i = 0; i < 4000; ++i)
           body += "  %v" + number(i + 1) + " = arith.addf %v" + number(i) +
                   ", %v0 : tensor<524288xf32>\n";
         return "func.func @main(%x: tensor<524288xf32>) -> tensor<524288xf32> {\n" + body +
                "  return %v4000 : tensor<524288xf32>\n}\n";
       },
       "a constant that is no splat has 524288 elements, but may have 4096"},

      // Many of something.
      {"MillionResults",
       [] {
         return "func.func @main() { %a:1000000 = \"a.b\"() : () -> (" + repeat("i1,", 1000000) +
                "i1) }";
       },
       "unregistered dialect"},
      {"ResultsNeverGiven",
       [] { return string("func.func @main() { %a:4294967295 = \"a.b\"() : () -> (i1) return }"); },
       "unregistered dialect"},
      {"ArgumentsBy10000",
       [] {
         string text = "func.func @main(";
         for (size_t i = 0; i < 10000; ++i)
           text += (i ? ", %a" : "%a") + number(i) + ": tensor<4xf32>";
         return text + ") -> tensor<4xf32> { return %a0 : tensor<4xf32> }";
       },
       nullptr},
      {"FunctionsBy100000",
       [] {
         string text;
         for (size_t i = 0; i < 100000; ++i)
           text += "func.func private @f" + number(i) + "()\n";
         return graphBehind(text);
       },
       nullptr},
      {"BlocksBy100000",
       [] {
         string text = "func.func @main() {\n  cf.br ^b0\n";
         for (size_t i = 0; i < 100000; ++i)
           text += "^b" + number(i) + ":\n  cf.br ^b" + number(i + 1) + "\n";
         return text + "}";
       },
       "not found for custom op 'cf.br'"},
      {"OpsBy8192", [] { return chain(8200, "arith.addf $, %x"); }, "has 8201 ops"},
      {"OpsByAMillion", [] { return chain(200000, "arith.addf $, %x"); },
       "the text has more than 1048576 words, numbers"},
      {"OpsInAKernel",
       [] {
         string body, last = "%a";
         for (size_t i = 0; i < 60000; ++i) {
           string next = "%v" + number(i);
           body += "  " + next + " = arith.addf " + last + ", %a : f32\n";
           last = next;
         }
         return kernel("", body + "  swage.yield " + last + " : f32\n");
       },
       "has 60001 ops, but may have 4096"},
      {"ElementwiseChain", [] { return chain(500, "arith.mulf $, %x"); }, nullptr},
      {"DoublingChain", [] { return chain(4000, "arith.addf $, $"); }, nullptr},
      {"PermuteChain",
       [] { return chain(2000, "swage.permute $ [0, 1]", "tensor<4x8xf32> -> tensor<4x8xf32>"); },
       nullptr},
      {"SoftmaxChain",
       [] { return chain(1000, "swage.softmax $ axis 1", "tensor<4x8xf32> -> tensor<4x8xf32>"); },
       nullptr},
      {"ReshapeChain",
       [] {
         string body, last = "%x", type = "tensor<4x8xf32>";
         for (size_t i = 0; i < 1000; ++i) {
           string nextType = i % 2 ? "tensor<4x8xf32>" : "tensor<8x4xf32>";
           body += "  %r" + number(i) + " = swage.reshape " + last + " : " + type + " -> " +
                   nextType + "\n  %p" + number(i) + " = arith.negf %r" + number(i) + " : " +
                   nextType + "\n";
           last = "%p" + number(i);
           type = nextType;
         }
         return graph(body + "  %y = swage.copy " + last + " : tensor<4x8xf32>");
       },
       nullptr},
      {"TransposingChain",
       [] {
         string body, last = "%x";
         for (size_t i = 0; i < 300; ++i) {
           string n = number(i);
           body += "  %p" + n + " = swage.permute " + last +
                   " [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>\n  %r" + n +
                   " = swage.reshape %p" + n + " : tensor<8x4xf32> -> tensor<4x8xf32>\n";
           last = "%r" + n;
         }
         return graph(body + "  %y = swage.copy " + last + " : tensor<4x8xf32>");
       },
       nullptr},
      {"SizesThatMultiply",
       [] {
         string arguments;
         for (size_t i = 0; i < 16; ++i)
           arguments += (i ? ", %a" : "%a") + number(i) + ": tensor<?x?xf32>";
         return "func.func @main(" + arguments +
                ") -> tensor<?xf32> {\n"
                "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n" +
                sums(16) + "  return %y : tensor<?xf32>\n}";
       },
       "no sum or product of constants and extents"},
      {"ResultsOfOneInput",
       [] {
         string body, names, types;
         for (size_t i = 0; i < 1000; ++i) {
           string n = number(i);
           body += "  %c" + n + " = arith.constant dense<" + n + ".0> : tensor<4x8xf32>\n  %v" + n +
                   " = arith.addf %x, %c" + n + " : tensor<4x8xf32>\n";
           names += (i ? ", %v" : "%v") + n;
           types += i ? ", tensor<4x8xf32>" : "tensor<4x8xf32>";
         }
         return "func.func @main(%x: tensor<4x8xf32>) -> (" + types + ") {\n" + body + "  return " +
                names + " : " + types + "\n}\n";
       },
       nullptr},

      // Schedules and maps by hand.
      {"Unroll",
       [] {
         return kernel("pointwise_schedule<threads = 256, vector = 4, unroll = 2147483647, tail = "
                       "false, index = 32>");
       },
       "unroll is 2147483647, but must be in 1..16"},
      {"Vector",
       [] {
         return kernel("pointwise_schedule<threads = 256, vector = 4611686018427387904, unroll = "
                       "1, tail = false, index = 32>");
       },
       "vector is 4611686018427387904, but must be a power of two up to 16"},
      {"Threads",
       [] {
         return kernel("pointwise_schedule<threads = 1048576, vector = 4, unroll = 1, tail = "
                       "false, index = 32>");
       },
       "a block has 1048576 threads"},
      {"ThreadsThatOverflow",
       [] {
         return kernel("reduce_schedule<lanes = 4294967296, row_groups = 4294967296, vector = 1, "
                       "unroll = 1, index = 32>");
       },
       "lanes is 4294967296, but must be a power of two up to 1024"},
      {"Tile",
       [] {
         return kernel(
             "permute_schedule<kind = tiles, threads = 256, movement = 4, unroll = 1, "
             "transposed = 0, tile_in = 1073741824, tile_out = 1073741824, vector_in = 1, "
             "vector_out = 1, index = 32>");
       },
       "tile_in is 1073741824, but must be a power of two up to 256"},
      {"VectorsPerThread",
       [] {
         return kernel("row_schedule<kind = block, threads_per_row = 1024, rows_per_block = 1, "
                       "vector = 16, vectors_per_thread = 1000000, index = 32>");
       },
       "vectors_per_thread is 1000000, but must be in 1..64"},
      {"KernelBeyondItsTensor", [] { return kernel("", "  swage.yield %a : f32\n", "(1025)"); },
       "kernel"},
      {"KernelOfNegativeExtent", [] { return kernel("", "  swage.yield %a : f32\n", "(-1)"); },
       "has extent -1"},
      {"DivisionByZero", [] { return kernel("", "  swage.yield %a : f32\n", "(1024 floordiv 0)"); },
       "an extent beyond 64 bits"},
      {"AccessOf64Bits",
       [] {
         string text = kernel("");
         string from = "(d0) -> (d0)",
                to = "(d0) -> (d0 * 9223372036854775807 + 9223372036854775807)";
         return text.replace(text.find(from), from.size(), to);
       },
       "kernel"},
      {"ViewOfTensor2To62",
       [] {
         string text = kernel("");
         string from = "tensor = 0", to = "tensor = 4611686018427387904";
         return text.replace(text.find(from), from.size(), to);
       },
       "needs number 4611686018427387904"},
      {"SymbolsBy2To62",
       [] {
         string text = kernel("");
         string from = "symbols 0", to = "symbols 4611686018427387904";
         return text.replace(text.find(from), from.size(), to);
       },
       "kernel"},

      // Bytes.
      {"IdentifierOfAMegabyte", [] { return "func.func private @" + repeat("f", 1000000) + "()"; },
       "a word or number has 1000000 bytes, but may have 4096"},
      {"WordOfAMegabyte", [] { return repeat("f", 1000000); },
       "a word or number has 1000000 bytes, but may have 4096"},
      {"SymbolInQuotesOfAMegabyte",
       [] { return graphBehind("func.func private @\"" + repeat("\\22", 333333) + "\"()"); },
       nullptr},
      {"NulByte", [] { return string("module {\n  \0\n}", 14); }, "2:3: error: a NUL byte"},
      {"NulInAString", [] { return attribute(string("\"a\0b\"", 5)); }, "a NUL byte"},
      {"NulInAComment", [] { return graphBehind(string("// a\0b", 6)); }, "a NUL byte"},
      {"NulAtTheEnd", [] { return graphBehind("") + '\0'; }, "a NUL byte"},
      {"ArrayOfIndex", [] { return attribute("array<index: 3>"); }, "an array has elements of"},
      {"ArrayOfAnAlias", [] { return attribute("array // <\n < !a : 3>"); },
       "an array has elements of"},
      {"ByteOrderMark", [] { return graphBehind("\xEF\xBB\xBF"); }, "unexpected character"},
      {"InvalidUtf8", [] { return graphBehind("\xC0\x80\xFF\xFE"); }, "unexpected character"},
      {"InvalidUtf8InAString", [] { return attribute("\"\xC0\x80\xFF\xFE\""); }, nullptr},
      {"Utf16", [] { return string("\xFF\xFEm\0o\0d\0u\0l\0e\0", 14); }, "a NUL byte"},
      {"CarriageReturns",
       [] {
         string text;
         for (char c : graphBehind("// a comment"))
           text += c == '\n' ? string("\r\n") : string(1, c);
         return text;
       },
       nullptr},
      {"StringWithoutEnd", [] { return attribute("\"no end"); }, "expected '\"' in string literal"},
      {"StringThatEndsInABackslash", [] { return string("module attributes {func.a = \"\\"); },
       "unknown escape in string literal"},
      {"CommentWithoutEnd", [] { return graphBehind("") + "// and then"; }, nullptr},
      {"EscapesForATerminal", [] { return graph("  %y = swage.\x1b]0;title\x07 %x"); },
       "unexpected character"},
      {"Bytecode", [] { return string("ML\xEFR\x0d\x01\x02", 7); },
       "MLIR bytecode, but only text is accepted"},
      {"BytecodeBehindASeparator", [] { return graphBehind("") + "// -----\nML\xEFR\x0d"; },
       "MLIR bytecode, but only text is accepted"},
      {"TextBehindASeparator", [] { return graphBehind("") + "// -----\n" + repeat("[", 70); },
       kTooDeep},
      {"Empty", [] { return string(); }, "there is no function @main"},
      {"Whitespace", [] { return repeat(" \n", 1000000); }, "there is no function @main"},
      {"LineOf65Megabytes", [] { return "// " + repeat("a", 65 << 20); }, "the text has"},
      {"TextOf257Megabytes", [] { return repeat("//\n", (257 << 20) / 3); }, "the text has"},

      // What belongs to others.
      {"DialectNotLoaded", [] { return string("\"tosa.add\"() : () -> ()"); },
       "unregistered dialect"},
      {"OpNotRegistered",
       [] { return string("func.func @main() { \"func.evil\"() : () -> () return }"); },
       "unregistered operation 'func.evil'"},
      {"AttributeOfAnUnknownDialect",
       [] { return attribute("#evil<\"" + repeat("<", 1000) + "\">"); }, "evil"},
      {"TypeOfAnUnknownDialect", [] { return argument("!evil.type<" + repeat("<", 100)); },
       kTooDeep},
      {"CodeInAFunction",
       [] {
         return graph("  func.func @inner() { return }\n  %y = swage.copy %x : tensor<4x8xf32>");
       },
       "must have the SymbolTable trait"},
      {"PropertiesThatLie",
       [] {
         return graph("  %y = \"swage.softmax\"(%x) <{axis = 1 : i64, evil = dense<0> : "
                      "tensor<1000000xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>");
       },
       nullptr},
      {"PropertiesOfTheWrongKind",
       [] {
         return graph("  %y = \"swage.softmax\"(%x) <{axis = \"one\"}> : (tensor<4x8xf32>) -> "
                      "tensor<4x8xf32>");
       },
       "invalid properties"},
      {"NoOperands", [] { return graph("  %y = \"swage.softmax\"() : () -> tensor<4x8xf32>"); },
       "expected 1 or more operands"},
      {"NoBody", [] { return argument("tensor<4xf32>").insert(10, "private "); },
       "function @main has no body"},
  };
  return texts;
}
