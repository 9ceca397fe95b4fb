//===- BenchTest.cpp - What swage-bench is made of ------------------------===//

#include "CaseFile.h"
#include "Records.h"

#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace swage;

static std::vector<std::string> namesOf(const std::vector<BenchCase> &cases) {
  std::vector<std::string> names;
  for (const BenchCase &one : cases)
    names.push_back(one.family + " " + one.name);
  return names;
}

static std::vector<std::string> parsedNames(std::string_view text) {
  auto cases = parseCases(text, "cases.txt");
  EXPECT_TRUE(cases) << cases.error().message;
  return cases ? namesOf(*cases) : std::vector<std::string>();
}

static std::string problemOf(std::string_view text) {
  auto cases = parseCases(text, "some/cases.txt");
  return cases ? "" : cases.error().message;
}

//===----------------------------------------------------------------------===//
// Case files
//===----------------------------------------------------------------------===//

TEST(CaseFile, CombinesShapesTypesAndOffsets) {
  EXPECT_EQ(parsedNames("# norms\n\nlayernorm 4x8 2x16 f32 f16 offset=0,1 # and views\n"),
            (std::vector<std::string>{"layernorm 4x8 f32", "layernorm 4x8 f32 offset 1",
                                      "layernorm 2x16 f32", "layernorm 2x16 f32 offset 1",
                                      "layernorm 4x8 f16", "layernorm 4x8 f16 offset 1",
                                      "layernorm 2x16 f16", "layernorm 2x16 f16 offset 1"}));
  EXPECT_EQ(parsedNames("softmax rows=8 cols=10,20 bf16"),
            (std::vector<std::string>{"softmax 8x10 bf16", "softmax 8x20 bf16"}));
  EXPECT_EQ(parsedNames("permute 64x3x5 0,2,1 f16"),
            (std::vector<std::string>{"permute (64, 3, 5) (0, 2, 1) f16"}));
  EXPECT_EQ(parsedNames("mask_softmax 8x16x1024 f16\ncopy 64 256"),
            (std::vector<std::string>{"mask_softmax b8 h16 s1024 f16 scale+bool mask", "copy 64MB",
                                      "copy 256MB"}));
  EXPECT_EQ(parsedNames("attention 4x16x8x77x99x64 1x8x8x64x64x128 causal f16\n"
                        "decode 64x32x8x4x4096x128 bf16 i8"),
            (std::vector<std::string>{"attention b4 hq16 hk8 77x99 d64 c1 f16",
                                      "attention b1 hq8 hk8 64x64 d128 c1 f16",
                                      "decode b64 hq32 hk8 ctx4096 d128 q4 bf16",
                                      "decode b64 hq32 hk8 ctx4096 d128 q4 i8"}));
}

TEST(CaseFile, BytesAreThoseThatAllStreamsMove) {
  auto cases = parseCases("layernorm bytes=1M cols=64 f32\nadd_layernorm bytes=1M cols=64 f32\n"
                          "softmax bytes=64 cols=4096 bf16\n",
                          "cases.txt");
  ASSERT_TRUE(cases);
  EXPECT_EQ((*cases)[0].shape, (std::vector<int64_t>{2048, 64}));
  EXPECT_EQ((*cases)[0].countedBytes, 1u << 20);
  EXPECT_EQ((*cases)[1].shape, (std::vector<int64_t>{1024, 64}));
  EXPECT_EQ((*cases)[1].countedBytes, 1u << 20);
  EXPECT_EQ((*cases)[2].shape, (std::vector<int64_t>{1, 4096})); // never less than a row
}

TEST(CaseFile, SweepsHaveShortLongOddAndPrimeLengths) {
  std::vector<int64_t> lengths = sweepLengths(1, 300000, 60);
  ASSERT_EQ(lengths.size(), 60u);
  EXPECT_EQ(lengths.front(), 1);
  EXPECT_EQ(lengths.back(), 300000);
  EXPECT_TRUE(std::adjacent_find(lengths.begin(), lengths.end(), std::greater_equal<>()) ==
              lengths.end());
  auto isPrime = [](int64_t number) {
    for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
      if (number % divisor == 0)
        return false;
    return number > 1;
  };
  EXPECT_GE(std::count_if(lengths.begin(), lengths.end(),
                          [&](int64_t length) { return length > 64 && isPrime(length); }),
            12);
  EXPECT_GE(std::count_if(lengths.begin(), lengths.end(),
                          [](int64_t length) { return length > 64 && length % 8 == 0; }),
            12);
  EXPECT_EQ(sweepLengths(5, 9, 5), (std::vector<int64_t>{5, 6, 7, 8, 9}));
  EXPECT_EQ(sweepLengths(100, 104, 5), (std::vector<int64_t>{100, 101, 102, 103, 104}));
  EXPECT_EQ(sweepLengths(7, 7, 1), (std::vector<int64_t>{7}));
  EXPECT_TRUE(sweepLengths(5, 9, 6).empty());
}

TEST(CaseFile, MarksSomeLengthsForTorch) {
  auto cases = parseCases("softmax bytes=1M cols=1..3000/40 f32 bf16 offset=0,1 torch=20", "c");
  ASSERT_TRUE(cases);
  EXPECT_EQ(cases->size(), 160u);
  int marked = 0;
  for (const BenchCase &one : *cases)
    if (one.torch) {
      ++marked;
      EXPECT_EQ(one.element, "bf16");
      EXPECT_EQ(one.offset, 0);
    }
  EXPECT_EQ(marked, 20);
}

TEST(CaseFile, GraphsLieBesideTheFile) {
  auto cases = parseCases("graph model.mlir /abs/other.mlir", "some/cases.txt");
  ASSERT_TRUE(cases);
  EXPECT_EQ((*cases)[0].file, "some/model.mlir");
  EXPECT_EQ((*cases)[0].name, "model");
  EXPECT_EQ((*cases)[1].file, "/abs/other.mlir");
  EXPECT_EQ((*cases)[1].name, "other");
}

TEST(CaseFile, ErrorsNameTheLine) {
  EXPECT_EQ(problemOf("\n# x\nlayernorn 4x8 f32\n"),
            "some/cases.txt:3: 'layernorn' is no family; there are layernorm, rmsnorm, softmax, "
            "log_softmax, add_layernorm, add_bias_res_ln, mask_softmax, causal_softmax, permute, "
            "attention, decode, copy, peers, graph; did you mean 'layernorm'?");
  EXPECT_EQ(problemOf("layernorm 4x8"),
            "some/cases.txt:1: needed: an element type: f16, bf16, f32 or f64");
  EXPECT_EQ(problemOf("layernorm 4x8 f33"),
            "some/cases.txt:1: 'f33' is no element type; there are f16, bf16, f32, f64, i8, i32, "
            "i64; did you mean 'f32'?");
  EXPECT_EQ(problemOf("layernorm 4x8 i8"), "some/cases.txt:1: layernorm has no integers");
  for (const char *line : {"layernorm 4x f32",
                           "layernorm 4x8x2 f32",
                           "layernorm f32",
                           "layernorm 4x-8 f32",
                           "layernorm 0x8 f32",
                           "layernorm cols=8 f32",
                           "layernorm rows=8 f32",
                           "layernorm rows=8 bytes=1M cols=8 f32",
                           "layernorm cols=1..2/3 bytes=1M f32",
                           "layernorm cols=9..2/3 bytes=1M f32",
                           "layernorm cols=1..300000 bytes=1M f32",
                           "layernorm cols=1..300000/x bytes=1M f32",
                           "layernorm bytes=0 cols=8 f32",
                           "layernorm bytes=1Q cols=8 f32",
                           "layernorm 4x8 f32 color=2",
                           "layernorm 4x8 f32 offset=-1",
                           "layernorm 4x8 1,0 f32",
                           "layernorm 99999999999x8 f32",
                           "permute 4x8 f32",
                           "permute 4x8 0,2 f32",
                           "permute 4x8 0,0 f32",
                           "permute 4x8 0,1,2 f32",
                           "permute 4x8 1,0 f32 rows=2",
                           "mask_softmax 4x8 f32",
                           "attention 4x8x8x16x16 bf16",
                           "attention 4x8x3x16x16x64 bf16",
                           "attention 4x8x8x16x16x64",
                           "attention bf16",
                           "attention 4x8x8x16x16x64 i8",
                           "decode 4x8x8x1x16x64 causal bf16",
                           "copy",
                           "copy x",
                           "copy 99999999",
                           "graph",
                           "peers lm",
                           "layernorm 1000000x1000000x1000000 f32"})
    EXPECT_EQ(problemOf(line).rfind("some/cases.txt:1: ", 0), 0u)
        << line << ": " << problemOf(line);
}

/// compare.py joins records by these names, which bench/peers.py makes by itself.
TEST(CaseFile, PeersHaveTheNamesOfPeersPy) {
  EXPECT_EQ(parsedNames("peers ln softmax"),
            (std::vector<std::string>{"layernorm 8192x768 f32",
                                      "layernorm 8192x768 f16",
                                      "layernorm 16x4096 bf16",
                                      "layernorm 8192x1024 bf16",
                                      "layernorm 32768x1024 bf16",
                                      "layernorm 16384x4096 bf16",
                                      "layernorm 16384x4096 f32",
                                      "layernorm 8192x8192 bf16",
                                      "layernorm 4096x16384 bf16",
                                      "layernorm 2048x65536 bf16",
                                      "layernorm 32768x5000 f16",
                                      "layernorm 65536x128 f16",
                                      "add_bias_res_ln 16384x4096 bf16",
                                      "rmsnorm 16384x4096 bf16",
                                      "add_bias_res_ln 8192x768 f16",
                                      "rmsnorm 8192x768 f16",
                                      "softmax 65536x128 f16",
                                      "softmax 49152x1024 f16",
                                      "softmax 32768x2048 bf16",
                                      "softmax 16384x8192 bf16",
                                      "softmax 2048x32768 bf16",
                                      "softmax 1024x128256 bf16",
                                      "softmax 32768x1000 f32",
                                      "softmax 8x128256 f32",
                                      "mask_softmax b8 h16 s1024 f16 scale+bool mask",
                                      "causal_softmax b8 h16 s1024 f16 scale+causal"}));
  EXPECT_EQ(parsedNames("peers permute"),
            (std::vector<std::string>{
                "permute (128, 512, 512) (1, 0, 2) f32", "permute (128, 512, 512) (0, 2, 1) f32",
                "permute (8192, 8192) (1, 0) f32", "permute (256, 512, 512) (1, 0, 2) f16",
                "permute (256, 512, 512) (0, 2, 1) f16", "permute (8192, 8192) (1, 0) f16",
                "permute (16, 2048, 32, 128) (0, 2, 1, 3) bf16",
                "permute (64, 3, 512, 512) (0, 2, 3, 1) f16",
                "permute (64, 512, 512, 3) (0, 3, 1, 2) f16",
                "permute (64, 64, 112, 112) (0, 2, 3, 1) f16",
                "permute (32, 48, 40, 36, 30) (4, 2, 0, 3, 1) f32",
                "permute (40, 36, 32, 30, 48) (2, 4, 1, 0, 3) f32",
                "permute (8, 4, 16, 2, 64, 8, 64) (6, 3, 1, 5, 0, 4, 2) f16"}));
  // Two of attention's and six of decoding have 8 bits, for which it has no peer.
  EXPECT_EQ(parsedNames("peers").size(), 6u + 4 + 5 + 16 + 10 + 13 + (12 + 2) + (8 + 6));
}

TEST(CaseGraphs, EveryGraphIsValid) {
  auto cases = parseCases("peers\nlog_softmax 3x5 f64\nadd_layernorm 3x5 f16\n"
                          "mask_softmax 2x3x4 f32\ncausal_softmax 2x3x4 bf16 f32 f64\n"
                          "attention 1x2x1x8x8x16 f16 bf16 f32 f8E4M3FN\n"
                          "decode 1x4x2x3x16x64 bf16 i8 f8E4M3FN\n",
                          "c");
  ASSERT_TRUE(cases);
  for (const BenchCase &one : *cases) {
    auto program = Program::parse(one.text);
    EXPECT_TRUE(program) << one.family << " " << one.name << ": " << program.error().message;
  }
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static std::vector<Record> twoRecords() {
  Record norm;
  norm.family = "layernorm";
  norm.caseName = "8192x768 f32";
  norm.time = {10e-6, 9e-6};
  norm.bytes = 40'000'000;
  norm.neededBytes = 41'000'000;
  norm.element = "f32";
  norm.rows = 8192;
  norm.length = 768;
  norm.kernels = 1;
  norm.schedule = "kind=group";
  Record graph;
  graph.family = "graph";
  graph.caseName = "a<b>";
  graph.time = {20e-6, 30e-6};
  graph.neededBytes = graph.bytes = 1000;
  graph.kernels = 7;
  return {norm, graph};
}

TEST(Records, AreWhatCompareReads) {
  auto parsed = llvm::json::parse(formatRecords(twoRecords()));
  ASSERT_TRUE(bool(parsed));
  const llvm::json::Array &array = *parsed->getAsArray();
  ASSERT_EQ(array.size(), 2u);
  const llvm::json::Object &norm = *array[0].getAsObject(), &graph = *array[1].getAsObject();
  EXPECT_EQ(norm.getString("family"), "layernorm");
  EXPECT_EQ(norm.getString("case"), "8192x768 f32");
  EXPECT_EQ(norm.getString("peer"), "swage");
  EXPECT_NEAR(*norm.getNumber("us"), 10, 1e-9);
  EXPECT_NEAR(*norm.getNumber("GBs"), 4000, 1e-6);
  EXPECT_NEAR(*norm.getNumber("share"), 0.9, 1e-9);
  EXPECT_NEAR(*norm.getNumber("copy_us"), 9, 1e-9);
  EXPECT_EQ(norm.getInteger("cols"), 768);
  EXPECT_NEAR(*graph.getNumber("share"), 1.5, 1e-9);
  EXPECT_FALSE(graph.get("cols"));
}

TEST(Records, CasesSayWhatTorchIsToDo) {
  auto cases = parseCases("permute 2x3 1,0 f16\nsoftmax rows=4 cols=5 f32 offset=1", "c");
  auto parsed = llvm::json::parse(formatCases(*cases));
  ASSERT_TRUE(bool(parsed));
  const llvm::json::Object &permute = *(*parsed->getAsArray())[0].getAsObject(),
                           &softmax = *(*parsed->getAsArray())[1].getAsObject();
  EXPECT_EQ((*permute.getArray("permutation"))[0].getAsInteger(), 1);
  EXPECT_EQ((*softmax.getArray("shape"))[1].getAsInteger(), 5);
  EXPECT_EQ(softmax.getString("type"), "f32");
  EXPECT_EQ(softmax.getInteger("offset"), 1);
  EXPECT_EQ(softmax.getBoolean("torch"), false);
}

static size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

TEST(Records, PlotHasADotForEachRecordThatHasAPlace) {
  std::string plot = plotShares(twoRecords(), "Share & more");
  EXPECT_EQ(count(plot, "r='3'"), 3u); // by size both, by row length only the norm
  EXPECT_EQ(count(plot, "r='4'"), 2u); // the legend
  EXPECT_EQ(count(plot, "0.900 of a copy"), 2u);
  EXPECT_NE(plot.find("Share &amp; more"), plot.npos);
  EXPECT_NE(plot.find("a&lt;b&gt;"), plot.npos);
  EXPECT_EQ(plot.find("nan"), plot.npos);
  EXPECT_EQ(plot.find("inf"), plot.npos);
  // Of nothing there is an empty picture.
  EXPECT_EQ(count(plotShares({}, "none"), "circle"), 0u);
}
