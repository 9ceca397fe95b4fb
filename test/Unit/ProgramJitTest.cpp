//===- ProgramJitTest.cpp - Programs from text and from C++ ---------------===//
//
// The real passes with a compiler that makes nothing: how many kernels a thousand shapes need, and
// that a graph built in C++ is the graph that its text is.
//
//===----------------------------------------------------------------------===//
#include "AnySource.h"
#include "FakeCudaTest.h"
#include "swage/JIT/GraphBuilder.h"
#include "swage/Support/Text.h"

#include <cmath>
#include <map>
#include <mutex>
#include <regex>
#include <set>

using namespace swage;

namespace {
/// Notes what it is asked for.
class CountingCompiler : public AnySource {
public:
  Expected<KernelBinary> compile(const CompileRequest &request) const override {
    std::lock_guard<std::mutex> lock(mutex);
    names.push_back(request.entry);
    sources[request.entry] = request.source;
    return AnySource::compile(request);
  }
  /// Most kernels that differ in nothing but what they were promised about extents.
  size_t mostOfOneSymbol() const {
    std::map<std::string, size_t> counts;
    size_t most = 0;
    for (const std::string &name : names)
      most = std::max(
          most, ++counts[std::regex_replace(name, std::regex("(_s[0-9]+(x|to)[0-9]+)+$"), "")]);
    return most;
  }

  mutable std::mutex mutex;
  mutable std::vector<std::string> names;
  mutable std::map<std::string, std::string> sources;
};

class ProgramJitTest : public FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    compiler = std::make_shared<CountingCompiler>();
    ContextOptions options;
    options.environment = Options();
    options.environment.cacheMode = CacheMode::Off;
    options.compiler = compiler;
    options.events = [this](const TraceEvent &event) {
      std::lock_guard<std::mutex> lock(compiler->mutex);
      events.push_back(event);
    };
    context.emplace(options);
  }
  Program parse(const std::string &text) {
    auto program = Program::parse(text, {}, *context);
    EXPECT_TRUE(program) << program.error().str();
    return *program;
  }
  Program example(const std::string &name) {
    auto text = readFile(SWAGE_EXAMPLES "/" + name);
    EXPECT_TRUE(text) << text.error().str();
    return parse(*text);
  }
  /// Shapes of the inputs, dynamic extents filled in by `extent`.
  static std::vector<Dims> shapes(const Program &program,
                                  const std::function<int64_t(size_t input, size_t dim)> &extent) {
    std::vector<Dims> all;
    for (size_t i = 0; i < program.inputs().size(); ++i) {
      all.push_back(program.inputs()[i].shape);
      for (size_t dim = 0; dim < all.back().size(); ++dim)
        if (all.back()[dim] == TensorType::kDynamic)
          all.back()[dim] = extent(i, dim);
    }
    return all;
  }
  size_t count(TraceEvent::Kind kind) {
    size_t count = 0;
    for (const TraceEvent &event : events)
      count += event.kind == kind;
    return count;
  }

  std::shared_ptr<CountingCompiler> compiler;
  std::vector<TraceEvent> events;
  std::optional<Context> context;
};

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}
} // namespace

//===----------------------------------------------------------------------===//
// Many shapes, few kernels
//===----------------------------------------------------------------------===//

TEST_F(ProgramJitTest, AThousandBatchSizesOfLlamaShareTheirKernels) {
  Program program = example("llama_block_dynamic.mlir");
  Device gpu = device();
  // Batch and tokens are the first and second dynamic extent wherever both are; tables of
  // positions have tokens alone.
  auto sizes = [&](int64_t batch) {
    return shapes(program, [&](size_t input, size_t dim) {
      return dim == 0 && program.inputs()[input].shape.size() > 2 ? batch : int64_t(2048);
    });
  };
  // The largest needs 64-bit offsets.
  ASSERT_TRUE(program.warmup(gpu, {sizes(1), sizes(1000)}));
  size_t warm = compiler->names.size();
  for (int64_t batch = 1; batch <= 1000; ++batch) {
    auto plan = program.plan(gpu, sizes(batch));
    ASSERT_TRUE(plan) << plan.error().str();
  }
  EXPECT_EQ(compiler->names.size(), warm) << "compiled after the warm-up";
  EXPECT_LE(compiler->mostOfOneSymbol(), 3u);
  std::printf("llama, 1000 batch sizes: %zu kernels, at most %zu of one symbol, %zu variants\n",
              warm, compiler->mostOfOneSymbol(), count(TraceEvent::Kind::Variant));
}

TEST_F(ProgramJitTest, AThousandLengthsOfGpt2ShareTheirKernels) {
  Program program = example("gpt2_block_dynamic.mlir");
  Device gpu = device();
  auto sizes = [&](int64_t tokens) {
    return shapes(program, [&](size_t input, size_t dim) {
      return dim == 0 && program.inputs()[input].shape.size() > 2 ? int64_t(2) : tokens;
    });
  };
  // Every class of extents that the policy tells apart, up to 16384 of them.
  for (int64_t tokens = 1; tokens <= 16384; tokens += tokens < 884 ? 1 : 125) {
    auto plan = program.plan(gpu, sizes(tokens));
    ASSERT_TRUE(plan) << plan.error().str();
  }
  EXPECT_LE(compiler->mostOfOneSymbol(), 13u);
  std::printf("gpt2, 1000 lengths: %zu kernels, at most %zu of one symbol, %zu variants\n",
              compiler->names.size(), compiler->mostOfOneSymbol(),
              count(TraceEvent::Kind::Variant));
  for (const TraceEvent &event : events)
    EXPECT_TRUE(!event.reason.empty() || (event.kind != TraceEvent::Kind::Compile &&
                                          event.kind != TraceEvent::Kind::Variant))
        << event.name;
}

TEST_F(ProgramJitTest, WhatAModulePromisesHoldsForEveryVariant) {
  Program program = parse("func.func @main(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 1, "
                          "24>, swage.at_most = array<i64: 0, 960>}) -> tensor<?x?xf16> {\n"
                          "  %y = swage.softmax %x axis 1 : tensor<?x?xf16> -> tensor<?x?xf16>\n"
                          "  return %y : tensor<?x?xf16>\n}");
  Device gpu = device();
  for (int64_t columns : {24, 48, 960})
    EXPECT_TRUE(program.plan(gpu, {{3, columns}}));
  EXPECT_EQ(count(TraceEvent::Kind::Variant), 1u);
  for (auto [columns, needed] : {std::pair(40, "multiple of 24"), std::pair(984, "960")}) {
    auto plan = program.plan(gpu, {{3, columns}});
    ASSERT_FALSE(plan);
    expectPart(plan.error().message, needed);
  }
  EXPECT_EQ(compiler->names.size(), 1u);
}

// No kernel reads y, so that nothing compares its length with that of x.
TEST_F(ProgramJitTest, APromiseHoldsForWhatTheGraphMakesEqual) {
  Program program = parse("func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32> {swage.multiple_of "
                          "= array<i64: 8>, swage.at_most = array<i64: 64>}) -> tensor<?x?xf32> {\n"
                          "  %c0 = arith.constant 0 : index\n"
                          "  %sum = arith.addf %x, %y : tensor<?xf32>\n"
                          "  %length = tensor.dim %sum, %c0 : tensor<?xf32>\n"
                          "  %rows = swage.broadcast %x dims [1] sizes(%length, %length) : "
                          "tensor<?xf32> -> tensor<?x?xf32>\n"
                          "  %all = swage.softmax %rows axis 1 : tensor<?x?xf32> -> "
                          "tensor<?x?xf32>\n"
                          "  return %all : tensor<?x?xf32>\n}");
  Device gpu = device();
  EXPECT_TRUE(program.plan(gpu, {{16}, {16}}));
  for (auto [length, needed] : {std::pair(13, "a multiple of 8"), std::pair(72, "at most 64")}) {
    auto plan = program.plan(gpu, {{length}, {16}});
    ASSERT_FALSE(plan) << length;
    expectPart(plan.error().message, "has extent " + std::to_string(length) + " in dimension 0");
    expectPart(plan.error().message, needed);
  }
  auto executable = program.compile();
  ASSERT_TRUE(executable) << executable.error().str();
  EXPECT_TRUE(executable->layout({{16}, {16}}));
  EXPECT_FALSE(executable->layout({{13}, {16}}));
}

TEST_F(ProgramJitTest, ALayoutKeepsItsVariantWhenAWiderOneIsMade) {
  // Whatever x is, the kernel of the other tensor has 64-bit offsets.
  Program program = parse("func.func @main(%x: tensor<?xf32>, %large: tensor<65536x65536xf32>) -> "
                          "(tensor<?xf32>, tensor<65536x65536xf32>) {\n"
                          "  %a = math.exp %x : tensor<?xf32>\n"
                          "  %b = math.exp %large : tensor<65536x65536xf32>\n"
                          "  return %a, %b : tensor<?xf32>, tensor<65536x65536xf32>\n}");
  auto executable = program.compile();
  ASSERT_TRUE(executable) << executable.error().str();
  const Dims large{65536, 65536};
  for (auto [length, bits] :
       {std::pair(int64_t{1000}, 32), {int64_t{1} << 32, 64}, {int64_t{1000}, 32}}) {
    auto layout = executable->layout({{length}, large});
    ASSERT_TRUE(layout) << layout.error().str();
    EXPECT_EQ(layout->indexBits, bits);
    const LaunchInfo &launch = layout->launches[layout->launches[0].sizes.empty()];
    EXPECT_EQ(executable->kernels(layout->indexBits)[launch.kernel].indexBits, bits);
    EXPECT_EQ(launch.sizes.size() % 8, bits == 64 ? 0u : 4u);
  }
}

TEST_F(ProgramJitTest, ExplanationsTellOfTheWorkspace) {
  Program program = parse("func.func @main(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {\n"
                          "  %y = swage.softmax %x axis 1 : tensor<?x16xf32> -> tensor<?x16xf32>\n"
                          "  %z = swage.softmax %y axis 0 : tensor<?x16xf32> -> tensor<?x16xf32>\n"
                          "  return %z : tensor<?x16xf32>\n}");
  Device gpu = device();
  auto plan = program.plan(gpu, {{40, 16}});
  ASSERT_TRUE(plan) << plan.error().str();
  auto explanation = program.explain(gpu, {{40, 16}});
  ASSERT_TRUE(explanation);
  EXPECT_EQ(explanation->workspaceLowerBound, 40u * 16 * 4);
  EXPECT_EQ(explanation->workspaceBytes, plan->workspaceBytes());
  expectPart(explanation->str(), "workspace: 2560 bytes, of which 2560 are in use at once");
}

TEST_F(ProgramJitTest, ArtifactsShowTheWay) {
  Program program = parse("func.func @main(%x: tensor<?x256xf32>) -> tensor<?x256xf32> {\n"
                          "  %y = swage.softmax %x axis 1 : tensor<?x256xf32> -> "
                          "tensor<?x256xf32>\n  return %y : tensor<?x256xf32>\n}");
  Device gpu = device();
  auto artifact = program.artifact(gpu, {{4, 256}});
  ASSERT_TRUE(artifact) << artifact.error().str();
  EXPECT_GT(artifact->passes.size(), 3u);
  ASSERT_EQ(artifact->kernels.size(), 1u);
  const Artifact::OfKernel &kernel = artifact->kernels[0];
  expectPart(kernel.info.source, "__global__");
  EXPECT_EQ(kernel.key.size(), 32u);
  ASSERT_TRUE(kernel.info.binary);
  EXPECT_EQ(kernel.info.binary->ptx, "// PTX");
  EXPECT_TRUE(kernel.sass.empty());
  EXPECT_FALSE(kernel.sassProblem.empty());
  EXPECT_GT(artifact->lowerMilliseconds, 0);
}

TEST_F(ProgramJitTest, ASimulatedDeviceNeedsItsCompiler) {
  Program program = parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                          "  %y = math.exp %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}");
  Status saved =
      program.save(testing::TempDir() + "swage-simulated.bundle", {"sim:sm_90a"}, {{{4}}});
  ASSERT_FALSE(saved);
  expectPart(saved.error().message, "needed: ContextOptions::simulatorCompiler");
}

TEST_F(ProgramJitTest, BundlesRunWithoutTheCompiler) {
  Program program = parse("func.func @main(%x: tensor<?x256xf32>) -> tensor<?x256xf32> {\n"
                          "  %y = swage.softmax %x axis 1 : tensor<?x256xf32> -> "
                          "tensor<?x256xf32>\n  return %y : tensor<?x256xf32>\n}");
  Device gpu = device();
  std::string path = testing::TempDir() + "swage-test-" + std::to_string(getpid()) + ".bundle";
  Status saved = program.save(path, {"sm_90a", "sm_80"}, {{{4, 256}}});
  ASSERT_TRUE(saved) << saved.error().str();
  size_t compiled = compiler->names.size();
  auto loaded = Program::load(path, *context);
  ASSERT_TRUE(loaded) << loaded.error().str();
  EXPECT_TRUE(loaded->isReady(gpu, {{4, 256}}));
  // What was made for 4 rows serves 128 of them, and what goes with it all others.
  for (int64_t rows : {0, 1, 128, 129, 777}) {
    auto plan = loaded->plan(gpu, {{rows, 256}});
    ASSERT_TRUE(plan) << plan.error().str();
  }
  EXPECT_EQ(compiler->names.size(), compiled);
  auto other = loaded->plan(gpu, {{777, 256}}, PlanMode::Blocking, {4});
  ASSERT_FALSE(other);
  expectPart(other.error().message, "has no kernels for sm_90a");
  expectPart(other.error().message, "it has: sm_90a");
  EXPECT_FALSE(loaded->compile());
  std::remove(path.c_str());
}

TEST_F(ProgramJitTest, WhatOnlyFewQueriesHaveIsSavedForThem) {
  Program program =
      parse("func.func @main(%q: tensor<?x4x?x64xbf16> {swage.at_most = array<i64: 8, 0, 0, 0>}, "
            "%p: tensor<64x2x16x64xbf16>, %t: tensor<?x8xi32>) -> tensor<?x4x?x64xbf16> {\n"
            "  %k = swage.pages %p, %t : (tensor<64x2x16x64xbf16>, tensor<?x8xi32>) -> "
            "tensor<?x2x128x64xbf16>\n"
            "  %y = swage.attention %q, %k, %k scale 0.125 : (tensor<?x4x?x64xbf16>, "
            "tensor<?x2x128x64xbf16>, tensor<?x2x128x64xbf16>) -> tensor<?x4x?x64xbf16>\n"
            "  return %y : tensor<?x4x?x64xbf16>\n}");
  Device gpu = device();
  auto shapes = [](int64_t batch, int64_t queries) -> std::vector<Dims> {
    return {{batch, 4, queries, 64}, {64, 2, 16, 64}, {batch, 8}};
  };
  std::string path = testing::TempDir() + "swage-test-" + std::to_string(getpid()) + ".bundle";
  Status saved = program.save(path, {"sm_90a"}, {shapes(2, 1)});
  ASSERT_TRUE(saved) << saved.error().str();
  auto loaded = Program::load(path, *context);
  ASSERT_TRUE(loaded) << loaded.error().str();
  EXPECT_TRUE(loaded->plan(gpu, shapes(3, 1)));
  // The promise holds although no kernel serves what nothing is known of.
  for (const Program &each : {program, *loaded}) {
    auto tooMany = each.plan(gpu, shapes(9, 1));
    ASSERT_FALSE(tooMany);
    expectPart(tooMany.error().message, "at most 8");
  }
  auto several = program.plan(gpu, shapes(2, 3));
  ASSERT_FALSE(several);
  expectPart(several.error().message, "unknown number of queries");
  std::remove(path.c_str());
}

//===----------------------------------------------------------------------===//
// Graphs from C++
//===----------------------------------------------------------------------===//

TEST_F(ProgramJitTest, ABuiltGraphIsTheGraphOfItsText) {
  const int64_t any = TensorType::kDynamic;
  GraphBuilder graph;
  auto x = graph.input(ElementType::F16, {any, 768});
  auto r = graph.input(ElementType::F16, {any, 768});
  auto gamma = graph.input(ElementType::F16, {768});
  auto beta = graph.input(ElementType::F16, {768});
  auto sum = graph.binary(BinaryOp::Add, x, r);
  GraphValue mean, rstd;
  auto y = graph.layerNorm(sum, gamma, beta, 1, 1e-5, &mean, &rstd);
  auto scaled = graph.binary(BinaryOp::Multiply, y, graph.constantLike(y, 0.5));
  graph.output(sum);
  graph.output(scaled);
  graph.output(rstd);
  auto built = graph.finish(*context);
  ASSERT_TRUE(built) << built.error().str();
  Program text = parse(R"(
func.func @main(%x: tensor<?x768xf16>, %r: tensor<?x768xf16>, %g: tensor<768xf16>,
                %b: tensor<768xf16>)
    -> (tensor<?x768xf16>, tensor<?x768xf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %s = arith.addf %x, %r : tensor<?x768xf16>
  %y, %mean, %rstd = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<?x768xf16>, tensor<768xf16>, tensor<768xf16>)
      -> (tensor<?x768xf16>, tensor<?xf32>, tensor<?xf32>)
  %half = arith.constant dense<0.5> : tensor<f16>
  %rows = tensor.dim %y, %c0 : tensor<?x768xf16>
  %halves = swage.broadcast %half dims [] sizes(%rows) : tensor<f16> -> tensor<?x768xf16>
  %z = arith.mulf %y, %halves : tensor<?x768xf16>
  return %s, %z, %rstd : tensor<?x768xf16>, tensor<?x768xf16>, tensor<?xf32>
})");
  auto names = [](const Program &program) {
    auto executable = program.compile();
    EXPECT_TRUE(executable) << executable.error().str();
    std::vector<std::string> names;
    for (const KernelInfo &kernel : executable->kernels())
      names.push_back(kernel.name);
    return names;
  };
  // Names come from content.
  EXPECT_EQ(names(*built), names(text));
  EXPECT_FALSE(names(text).empty());
  EXPECT_EQ(built->results()[2].str(), "?xf32");
}

TEST_F(ProgramJitTest, EveryOpOfTheBuilderIsAccepted) {
  const int64_t any = TensorType::kDynamic;
  GraphBuilder graph("every_op");
  auto x = graph.input(ElementType::F32, {any, 4, 8});
  auto flags = graph.input(ElementType::I1, {8});
  auto numbers = graph.input(ElementType::I32, {any, 4, 8});
  for (int op = 0; op <= int(UnaryOp::Ceil); ++op)
    graph.output(graph.unary(UnaryOp(op), x));
  for (int op = 0; op <= int(BinaryOp::Power); ++op)
    graph.output(graph.binary(BinaryOp(op), x, x));
  for (BinaryOp op :
       {BinaryOp::Add, BinaryOp::Multiply, BinaryOp::Maximum, BinaryOp::And, BinaryOp::Xor})
    graph.output(graph.binary(op, numbers, graph.constantLike(numbers, 7)));
  for (int op = 0; op <= int(Comparison::GreaterEqual); ++op) {
    graph.output(graph.compare(Comparison(op), x, graph.constantLike(x, 1)));
    graph.output(graph.compare(Comparison(op), numbers, graph.constantLike(numbers, 1)));
  }
  auto all = graph.broadcast(flags, {2}, {GraphBuilder::Extent(x, 0), 4, 8});
  auto half = graph.cast(x, ElementType::F16);
  graph.output(graph.select(all, x, graph.constantLike(x, -INFINITY)));
  graph.output(graph.cast(half, ElementType::BF16));
  graph.output(graph.cast(graph.cast(x, ElementType::F8E4M3FN), ElementType::F8E5M2));
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2})
    for (double value : {0.1, double(INFINITY), double(NAN)})
      graph.output(graph.constant(type, {2}, value));
  graph.output(graph.cast(numbers, ElementType::F32));
  graph.output(graph.cast(all, ElementType::F32));
  graph.output(graph.cast(x, ElementType::I32));
  graph.output(graph.cast(numbers, ElementType::I8));
  graph.output(graph.softmax(x, 2, 0.125));
  graph.output(graph.rmsNorm(x, {}, 2, 1e-6));
  for (int op = 0; op <= int(ReduceOp::Mean); ++op)
    graph.output(graph.reduce(ReduceOp(op), x, {1, 2}));
  graph.output(graph.permute(x, {1, 0, 2}));
  graph.output(graph.reshape(x, {any, 32}));
  graph.output(graph.slice(x, 2, 1, 3, 2));
  graph.output(graph.concat({x, x}, 2));
  graph.output(graph.constant(ElementType::F64, {2, 3}, 0.1));
  auto program = graph.finish(*context);
  ASSERT_TRUE(program) << program.error().str() << *graph.text();
  EXPECT_EQ(program->name(), "every_op");
}

TEST_F(ProgramJitTest, MistakesNameTheOp) {
  auto problem = [&](const std::function<void(GraphBuilder &, GraphValue)> &build) {
    GraphBuilder graph;
    auto x = graph.input(ElementType::F32, {4, 8});
    build(graph, x);
    graph.output(x);
    auto program = graph.finish(*context);
    return program ? "fine" : program.error().message;
  };
  EXPECT_EQ(problem([](GraphBuilder &g, GraphValue x) { g.softmax(x, 2); }),
            "op 2 (softmax): axis 2 of 4x8xf32; needed: less than 2");
  EXPECT_EQ(problem([](GraphBuilder &g, GraphValue x) {
              g.binary(BinaryOp::Add, x, g.input(ElementType::F32, {8, 4}));
            }),
            "op 3 (binary): the operands are 4x8xf32 and 8x4xf32; needed: one type");
  EXPECT_EQ(problem([](GraphBuilder &g, GraphValue x) { g.unary(UnaryOp::Exp, {}); }),
            "op 2 (math.exp): an operand is no value");
  EXPECT_EQ(problem([](GraphBuilder &g, GraphValue x) { g.unary(UnaryOp::Exp, {77}); }),
            "op 2 (math.exp): an operand is of another builder");
  EXPECT_EQ(problem([](GraphBuilder &g, GraphValue x) {
              g.permute(x, {0, 0});
            }),
            "op 2 (permute): dimensions [0, 0]; needed: different ones less than 2");
  EXPECT_EQ(problem([](GraphBuilder &g, GraphValue x) { g.permute(g.softmax(x, 9), {0}); }),
            "op 2 (softmax): axis 9 of 4x8xf32; needed: less than 2")
      << "the first mistake is told, not what follows from it";
  expectPart(problem([](GraphBuilder &g, GraphValue x) {
               g.reshape(x, {5, 5});
             }),
             "op 2 (reshape):2:1: ");
  GraphBuilder empty;
  EXPECT_FALSE(empty.finish(*context));
  GraphBuilder hostile("main() { }");
  hostile.output(hostile.input(ElementType::F32, {4}));
  EXPECT_FALSE(hostile.finish(*context));
}
