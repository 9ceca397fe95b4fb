//===- ProgramTest.cpp - Programs and plans of the C API, on the simulator ===//

#include "CApiTest.h"

#include <cmath>
#include <fstream>
#include <map>
#include <mutex>

namespace {

/// A context whose cache serves all tests: each kernel is compiled once.
struct Machine {
  TemporaryDirectory directory;
  SwageContext context = {};
  SwageDevice device = {};
  std::mutex mutex;
  std::map<SwageEventKind, std::vector<std::string>> events;

  Machine() {
    std::string setting = "SWAGE_CACHE_DIR=" + directory.path;
    const char *settings[] = {setting.c_str(), nullptr};
    SwageContextOptions options = {};
    options.size = sizeof options;
    options.settings = settings;
    options.simulator = true;
    options.userData = this;
    options.onEvent = [](const SwageEvent *event, void *data) {
      auto *machine = static_cast<Machine *>(data);
      std::lock_guard<std::mutex> lock(machine->mutex);
      EXPECT_LE(event->begin, event->end);
      machine->events[event->kind].push_back(text(event->name));
      text(event->detail), text(event->reason);
    };
    EXPECT_TRUE(ok(swageContextCreate(&options, &context)));
    EXPECT_TRUE(ok(swageDeviceOpenSimulator({}, {}, &device)));
  }
  ~Machine() {
    swageDeviceDestroy(device);
    swageContextDestroy(context);
  }
};

/// A tensor of ones on the simulated device.
struct Ones {
  SwageDevice device;
  std::vector<int64_t> shape;
  SwageTensor tensor = {};

  Ones(SwageDevice device, std::vector<int64_t> extents)
      : device(device), shape(std::move(extents)) {
    std::vector<float> ones(count(), 1.0f);
    tensor.elementType = SwageElementF32;
    tensor.rank = uint32_t(shape.size());
    tensor.shape = shape.data();
    EXPECT_TRUE(ok(swageDeviceAllocate(device, bytes(), &tensor.data)));
    EXPECT_TRUE(ok(swageDeviceCopyToDevice(device, tensor.data, ones.data(), bytes())));
  }
  ~Ones() { EXPECT_TRUE(ok(swageDeviceFree(device, tensor.data))); }
  size_t count() const {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= size_t(extent);
    return count;
  }
  size_t bytes() const { return count() * sizeof(float); }
  std::vector<float> values() const {
    std::vector<float> values(count());
    EXPECT_TRUE(ok(swageDeviceCopyToHost(device, values.data(), tensor.data, bytes())));
    return values;
  }
};

class CApiProgram : public ::testing::Test {
protected:
  static void SetUpTestSuite() { machine = new Machine; }
  static void TearDownTestSuite() {
    delete machine;
    machine = nullptr;
  }
  void SetUp() override {
    context = machine->context;
    device = machine->device;
    program = parse(kExp);
  }
  void TearDown() override { swageProgramDestroy(program); }

  SwageProgram parse(const char *graph) {
    SwageProgram parsed = {};
    EXPECT_TRUE(ok(swageProgramParse(context, swageStringRef(graph), nullptr, &parsed)));
    return parsed;
  }
  SwageError run(const SwageTensor &input, const SwageTensor &output) {
    return swageProgramRun(program, device, nullptr, &input, 1, &output, 1, nullptr, 0);
  }

  static Machine *machine;
  SwageContext context;
  SwageDevice device;
  SwageProgram program = {};
  const int64_t extents[2] = {4, 8};
  const SwageShape shape = {extents, 2};
};

Machine *CApiProgram::machine = nullptr;

} // namespace

TEST_F(CApiProgram, Types) {
  ASSERT_EQ(swageProgramGetInputCount(program), 1u);
  ASSERT_EQ(swageProgramGetResultCount(program), 1u);
  for (auto get : {swageProgramGetInputType, swageProgramGetResultType}) {
    SwageTensorType type;
    ASSERT_TRUE(ok(get(program, 0, &type)));
    EXPECT_EQ(type.elementType, SwageElementF32);
    ASSERT_EQ(type.rank, 2u);
    EXPECT_EQ(type.shape[0], SWAGE_DYNAMIC);
    EXPECT_EQ(type.shape[1], 8);
    EXPECT_TRUE(refused(get(program, 1, &type), "'index' is 1, needed: less than 1"));
    EXPECT_TRUE(refused(get(program, 0, nullptr), "'type' is null"));
  }
}

TEST_F(CApiProgram, ParseOptions) {
  SwageProgram other;
  SwageParseOptions options = {};
  options.size = sizeof options;
  options.entry = swageStringRef("missing");
  SwageError error = swageProgramParse(context, swageStringRef(kExp), &options, &other);
  EXPECT_NE(text(swageErrorGetMessage(error)).find("missing"), std::string::npos);
  swageErrorDestroy(error);
  options.size = 3;
  EXPECT_TRUE(refused(swageProgramParse(context, swageStringRef(kExp), &options, &other),
                      "'size' of SwageParseOptions is 3"));
}

TEST_F(CApiProgram, Run) {
  Ones x(device, {4, 8}), y(device, {4, 8});
  ASSERT_TRUE(ok(run(x.tensor, y.tensor)));
  for (float value : y.values())
    EXPECT_NEAR(value, std::exp(1.0f), 1e-5f);
  // Another number of rows is another plan and no other kernel.
  SwageContextStats before = {}, after = {};
  before.size = after.size = sizeof before;
  ASSERT_TRUE(ok(swageContextGetStats(context, &before)));
  Ones more(device, {36, 8}), result(device, {36, 8});
  ASSERT_TRUE(ok(run(more.tensor, result.tensor)));
  ASSERT_TRUE(ok(swageContextGetStats(context, &after)));
  EXPECT_EQ(after.kernelsCompiled, before.kernelsCompiled);
  EXPECT_EQ(after.plans, before.plans + 1);
  EXPECT_EQ(after.launches, before.launches + 1);
  EXPECT_NEAR(result.values().back(), std::exp(1.0f), 1e-5f);
}

TEST_F(CApiProgram, RunRefuses) {
  Ones x(device, {4, 8}), y(device, {4, 8});
  auto changed = [&](auto change) {
    SwageTensor tensor = x.tensor;
    change(tensor);
    return run(tensor, y.tensor);
  };
  const int64_t otherShape[] = {4, 9}, negative[] = {-4, 8}, strides[] = {8, 2};
  EXPECT_TRUE(
      fails(changed([](SwageTensor &t) { t.data = nullptr; }), SwageStageLaunch, "is null"));
  EXPECT_TRUE(refused(changed([](SwageTensor &t) { t.elementType = SwageElementF16; }), "f16"));
  EXPECT_TRUE(refused(changed([](SwageTensor &t) { t.elementType = 200; }), "input 0"));
  EXPECT_TRUE(refused(changed([](SwageTensor &t) { t.rank = 1; }), "input 0 is 4xf32"));
  EXPECT_TRUE(refused(changed([](SwageTensor &t) { t.shape = nullptr; }), "input 0"));
  EXPECT_TRUE(refused(changed([&](SwageTensor &t) { t.shape = otherShape; }), "9"));
  EXPECT_TRUE(refused(changed([&](SwageTensor &t) { t.shape = negative; }), "-4"));
  EXPECT_TRUE(refused(changed([&](SwageTensor &t) { t.strides = strides; }), "input 0"));
  Ones small(device, {2, 8});
  EXPECT_TRUE(refused(run(x.tensor, small.tensor), "output 0"));

  SwageTensor two[] = {x.tensor, x.tensor};
  auto counts = [&](const SwageTensor *in, size_t inputs, const SwageTensor *out, size_t outputs) {
    return swageProgramRun(program, device, nullptr, in, inputs, out, outputs, nullptr, 0);
  };
  EXPECT_TRUE(refused(counts(two, 2, &y.tensor, 1), "2"));
  EXPECT_TRUE(refused(counts(two, 0, &y.tensor, 1), "0"));
  EXPECT_TRUE(refused(counts(two, 1, two, 2), "2"));
  EXPECT_TRUE(refused(counts(nullptr, 1, &y.tensor, 1), "'inputs' is null"));
  EXPECT_TRUE(refused(counts(two, 1, nullptr, 1), "'outputs' is null"));
}

TEST_F(CApiProgram, Workspace) {
  SwageProgram norms = parse(kNorms);
  const int64_t rows[] = {8, 16};
  const SwageShape of = {rows, 2};
  uint64_t bytes = 0;
  ASSERT_TRUE(ok(swageProgramGetWorkspaceBytes(norms, device, &of, 1, nullptr, &bytes)));
  ASSERT_GE(bytes, 8 * 16 * sizeof(float));
  void *workspace = nullptr;
  ASSERT_TRUE(ok(swageDeviceAllocate(device, bytes, &workspace)));
  Ones x(device, {8, 16}), y(device, {8, 16});
  auto run = [&](void *memory, uint64_t size) {
    return swageProgramRun(norms, device, nullptr, &x.tensor, 1, &y.tensor, 1, memory, size);
  };
  EXPECT_TRUE(ok(run(workspace, bytes)));
  EXPECT_EQ(y.values()[5], 0.0f);
  EXPECT_TRUE(
      fails(run(workspace, bytes - 1), SwageStageLaunch, "needed: " + std::to_string(bytes)));
  EXPECT_TRUE(fails(run(nullptr, bytes), SwageStageLaunch, "workspace"));
  EXPECT_TRUE(ok(swageDeviceFree(device, workspace)));
  swageProgramDestroy(norms);
}

TEST_F(CApiProgram, ResultShapes) {
  int64_t result[2] = {};
  ASSERT_TRUE(ok(swageProgramGetResultShapes(program, device, &shape, 1, result, 2)));
  EXPECT_EQ(result[0], 4);
  EXPECT_EQ(result[1], 8);
  EXPECT_TRUE(refused(swageProgramGetResultShapes(program, device, &shape, 1, result, 1),
                      "'extentCount' is 1, needed: 2"));
  EXPECT_TRUE(refused(swageProgramGetResultShapes(program, device, &shape, 1, nullptr, 2),
                      "'extents' is null"));
}

TEST_F(CApiProgram, ShapesAreChecked) {
  uint64_t bytes = 0;
  auto with = [&](const SwageShape *shapes, size_t count) {
    return swageProgramGetWorkspaceBytes(program, device, shapes, count, nullptr, &bytes);
  };
  const SwageShape two[] = {shape, shape}, flat = {extents, 1}, null = {nullptr, 2};
  EXPECT_TRUE(refused(with(two, 2), "2 shapes were given, needed: one for each of the 1 inputs"));
  EXPECT_TRUE(refused(with(nullptr, 1), "'shapes' is null"));
  EXPECT_TRUE(refused(with(&flat, 1), "the shape of input 0 has rank 1, needed: 2 (?x8xf32)"));
  EXPECT_TRUE(refused(with(&null, 1), "the extents of input 0 are null"));
  const int64_t wrong[] = {4, 9};
  const SwageShape nine = {wrong, 2};
  EXPECT_TRUE(refused(with(&nine, 1), "9"));
  const SwageShape sets[] = {shape, nine, flat};
  EXPECT_TRUE(refused(swageProgramWarmup(program, device, sets, 3), "set 2: the shape of input 0"));
  EXPECT_TRUE(refused(swageProgramWarmup(program, device, nullptr, 1), "'shapes' is null"));
  EXPECT_TRUE(ok(swageProgramWarmup(program, device, nullptr, 0)));
}

TEST_F(CApiProgram, PlanAndItsModes) {
  EXPECT_FALSE(swageProgramIsReady(program, device, &shape, 1));
  SwagePlanOptions options = {};
  options.size = sizeof options;
  options.mode = SwagePlanCachedOnly;
  SwagePlan plan;
  SwageError error = swageProgramPlan(program, device, &shape, 1, &options, &plan);
  EXPECT_TRUE(swageIsError(error));
  EXPECT_EQ(plan.ptr, nullptr);
  swageErrorDestroy(error);

  ASSERT_TRUE(ok(swageProgramWarmup(program, device, &shape, 1)));
  EXPECT_TRUE(swageProgramIsReady(program, device, &shape, 1));
  EXPECT_FALSE(swageProgramIsReady(program, device, &shape, 2));
  ASSERT_TRUE(ok(swageProgramPlan(program, device, &shape, 1, &options, &plan)));
  EXPECT_EQ(swagePlanGetInputCount(plan), 1u);
  EXPECT_EQ(swagePlanGetOutputCount(plan), 1u);
  EXPECT_EQ(swagePlanGetKernelCount(plan), 1u);
  EXPECT_EQ(swagePlanGetWorkspaceBytes(plan), 0u);
  for (auto get : {swagePlanGetInput, swagePlanGetOutput}) {
    SwageBufferSpec spec;
    ASSERT_TRUE(ok(get(plan, 0, &spec)));
    EXPECT_EQ(spec.bytes, 4 * 8 * sizeof(float));
    EXPECT_EQ(spec.alignment & (spec.alignment - 1), 0u);
    EXPECT_TRUE(refused(get(plan, 1, &spec), "'index' is 1"));
    EXPECT_TRUE(refused(get(plan, 0, nullptr), "'spec' is null"));
  }
  swagePlanDestroy(plan);

  options.mode = SwagePlanMode(7);
  EXPECT_TRUE(refused(swageProgramPlan(program, device, &shape, 1, &options, &plan), "is 7"));
  options.mode = SwagePlanBlocking;
  options.size = 8;
  EXPECT_TRUE(refused(swageProgramPlan(program, device, &shape, 1, &options, &plan), "'size'"));
}

TEST_F(CApiProgram, PlanForAlignments) {
  SwagePlanOptions options = {};
  options.size = sizeof options;
  const uint8_t alignment[] = {4, 16, 4};
  options.alignment = alignment;
  SwagePlan plan;
  for (size_t count : {1, 2}) {
    options.alignmentCount = count;
    ASSERT_TRUE(ok(swageProgramPlan(program, device, &shape, 1, &options, &plan)));
    SwageBufferSpec spec;
    ASSERT_TRUE(ok(swagePlanGetInput(plan, 0, &spec)));
    EXPECT_LE(spec.alignment, 4u);
    swagePlanDestroy(plan);
  }
  for (size_t count : {0, 3}) {
    options.alignmentCount = count;
    EXPECT_TRUE(
        refused(swageProgramPlan(program, device, &shape, 1, &options, &plan), "needed: 1 or 2"));
  }
  for (uint8_t wrong : {0, 3, 255}) {
    options.alignment = &wrong;
    options.alignmentCount = 1;
    EXPECT_TRUE(refused(swageProgramPlan(program, device, &shape, 1, &options, &plan),
                        std::to_string(wrong)));
  }
}

TEST_F(CApiProgram, PlanOutlivesEverything) {
  SwagePlan plan;
  ASSERT_TRUE(ok(swageProgramPlan(program, device, &shape, 1, nullptr, &plan)));
  SwageDevice other;
  ASSERT_TRUE(ok(swageDeviceOpenSimulator({}, {}, &other)));
  Ones x(other, {4, 8}), y(other, {4, 8});
  swageProgramDestroy(program);
  program = {};
  const void *inputs[] = {x.tensor.data};
  void *outputs[] = {y.tensor.data};
  SwageStream stream;
  ASSERT_TRUE(ok(swageDeviceCreateStream(other, &stream)));
  EXPECT_TRUE(ok(swagePlanLaunch(plan, stream, inputs, 1, outputs, 1, nullptr)));
  EXPECT_TRUE(ok(swageDeviceDestroyStream(other, stream)));
  EXPECT_NEAR(y.values()[0], std::exp(1.0f), 1e-5f);

  EXPECT_TRUE(refused(swagePlanLaunch(plan, nullptr, inputs, 0, outputs, 1, nullptr),
                      "0 inputs and 1 outputs, needed: 1 and 1"));
  EXPECT_TRUE(
      refused(swagePlanLaunch(plan, nullptr, nullptr, 1, outputs, 1, nullptr), "'inputs' is null"));
  EXPECT_TRUE(
      refused(swagePlanLaunch(plan, nullptr, inputs, 1, nullptr, 1, nullptr), "'outputs' is null"));
  inputs[0] = nullptr;
  SwageError error = swagePlanLaunch(plan, nullptr, inputs, 1, outputs, 1, nullptr);
  EXPECT_TRUE(swageIsError(error));
  swageErrorDestroy(error);
  swagePlanDestroy(plan);
  // Memory goes before its device.
  EXPECT_TRUE(ok(swageDeviceSynchronize(other)));
  x.device = y.device = device;
  swageDeviceDestroy(other);
}

TEST_F(CApiProgram, Explanation) {
  SwageExplanation explanation;
  ASSERT_TRUE(ok(swageProgramExplain(program, device, &shape, 1, &explanation)));
  EXPECT_FALSE(swageExplanationHasPlan(explanation));
  EXPECT_FALSE(swageExplanationHasVariant(explanation));
  EXPECT_NE(text(swageExplanationGetReason(explanation)), "");
  swageExplanationDestroy(explanation);

  ASSERT_TRUE(ok(swageProgramWarmup(program, device, &shape, 1)));
  ASSERT_TRUE(ok(swageProgramExplain(program, device, &shape, 1, &explanation)));
  EXPECT_TRUE(swageExplanationHasPlan(explanation));
  EXPECT_TRUE(swageExplanationHasVariant(explanation));
  EXPECT_EQ(text(swageExplanationGetReason(explanation)), "");
  EXPECT_NE(text(swageExplanationGetGuards(explanation)).find("sm_90a"), std::string::npos);
  EXPECT_NE(text(swageExplanationGetText(explanation)), "");
  swageExplanationDestroy(explanation);
}

TEST_F(CApiProgram, Artifact) {
  SwageArtifact artifact;
  ASSERT_TRUE(ok(swageProgramGetArtifact(program, device, &shape, 1, &artifact)));
  ASSERT_GT(swageArtifactGetPassCount(artifact), 1u);
  SwagePass pass;
  ASSERT_TRUE(ok(swageArtifactGetPass(artifact, 0, &pass)));
  EXPECT_NE(text(pass.name), "");
  EXPECT_NE(text(pass.ir).find("math.exp"), std::string::npos);
  EXPECT_TRUE(refused(swageArtifactGetPass(artifact, ~size_t(0), &pass), "'index'"));
  EXPECT_TRUE(refused(swageArtifactGetPass(artifact, 0, nullptr), "'pass' is null"));
  ASSERT_EQ(swageArtifactGetKernelCount(artifact), 1u);
  SwageKernelInfo kernel = {};
  kernel.size = sizeof kernel;
  ASSERT_TRUE(ok(swageArtifactGetKernel(artifact, 0, &kernel)));
  EXPECT_NE(text(kernel.source).find(text(kernel.name)), std::string::npos);
  EXPECT_NE(text(kernel.schedule).find("#swage."), std::string::npos);
  EXPECT_EQ(text(kernel.image).substr(1, 3), "ELF");
  EXPECT_NE(text(kernel.family), "");
  EXPECT_NE(text(kernel.key), "");
  EXPECT_GT(kernel.threads, 0u);
  EXPECT_EQ(kernel.indexBits, 32u);
  EXPECT_TRUE(refused(swageArtifactGetKernel(artifact, 1, &kernel), "'index' is 1"));
  kernel.size = 0;
  EXPECT_TRUE(refused(swageArtifactGetKernel(artifact, 0, &kernel), "'size'"));
  EXPECT_GE(swageArtifactGetLowerMilliseconds(artifact), 0);
  EXPECT_GE(swageArtifactGetCompileMilliseconds(artifact), 0);
  swageArtifactDestroy(artifact);
}

TEST_F(CApiProgram, SaveAndLoad) {
  std::string path = machine->directory.path + "/exp.swage";
  const SwageStringRef archs[] = {swageStringRef("sim:sm_90a")};
  ASSERT_TRUE(ok(swageProgramSave(program, swageStringRef(path.c_str()), archs, 1, &shape, 1)));
  SwageProgram loaded;
  ASSERT_TRUE(ok(swageProgramLoad(context, swageStringRef(path.c_str()), &loaded)));
  Ones x(device, {4, 8}), y(device, {4, 8});
  ASSERT_TRUE(ok(swageProgramRun(loaded, device, nullptr, &x.tensor, 1, &y.tensor, 1, nullptr, 0)));
  EXPECT_NEAR(y.values()[0], std::exp(1.0f), 1e-5f);
  swageProgramDestroy(loaded);

  EXPECT_TRUE(
      refused(swageProgramSave(program, swageStringRef(path.c_str()), nullptr, 1, &shape, 1),
              "'archs' is null"));
  SwageError error =
      swageProgramSave(program, swageStringRef("/nonexistent/x"), archs, 1, &shape, 1);
  EXPECT_TRUE(swageIsError(error));
  swageErrorDestroy(error);
  EXPECT_TRUE(fails(swageProgramLoad(context, swageStringRef("/nonexistent/x"), &loaded),
                    SwageStageLoad, "/nonexistent/x"));
  EXPECT_EQ(loaded.ptr, nullptr);
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_TRUE(fails(swageProgramLoad(context, swageStringRef(path.c_str()), &loaded),
                    SwageStageLoad, path));
}

TEST_F(CApiProgram, Events) {
  Ones x(device, {4, 8}), y(device, {4, 8});
  ASSERT_TRUE(ok(run(x.tensor, y.tensor)));
  std::lock_guard<std::mutex> lock(machine->mutex);
  for (SwageEventKind kind :
       {SwageEventParse, SwageEventLower, SwageEventLoad, SwageEventVariant, SwageEventPlan})
    EXPECT_FALSE(machine->events[kind].empty()) << kind;
}

//===----------------------------------------------------------------------===//
// Null handles
//===----------------------------------------------------------------------===//

TEST_F(CApiProgram, NullHandlesAreErrors) {
  SwageProgram program;
  SwagePlan plan;
  SwageExplanation explanation;
  SwageArtifact artifact;
  SwageContextStats stats = {};
  SwageDeviceProperties properties = {};
  SwageTensorType type;
  SwageBufferSpec spec;
  SwagePass pass;
  SwageKernelInfo kernel = {};
  SwageStream stream;
  void *memory;
  uint64_t bytes;
  int64_t extent;
  const SwageStringRef none = {};
  const SwageProgram some = CApiProgram::program;
  const std::pair<SwageError, const char *> errors[] = {
      {swageContextCreate(nullptr, nullptr), "swageContextCreate: 'context'"},
      {swageContextGetStats({}, &stats), "swageContextGetStats: 'context'"},
      {swageContextGetStats(context, nullptr), "swageContextGetStats: 'stats'"},
      {swageDeviceGetCount(nullptr), "swageDeviceGetCount: 'count'"},
      {swageDeviceOpen(0, nullptr), "swageDeviceOpen: 'device'"},
      {swageDeviceOpenSimulator(none, none, nullptr), "swageDeviceOpenSimulator: 'device'"},
      {swageDeviceGetProperties({}, &properties), "swageDeviceGetProperties: 'device'"},
      {swageDeviceGetProperties(device, nullptr), "swageDeviceGetProperties: 'properties'"},
      {swageDeviceMakeCurrent({}), "swageDeviceMakeCurrent: 'device'"},
      {swageDeviceSynchronize({}), "swageDeviceSynchronize: 'device'"},
      {swageDeviceAllocate({}, 1, &memory), "swageDeviceAllocate: 'device'"},
      {swageDeviceAllocate(device, 1, nullptr), "swageDeviceAllocate: 'memory'"},
      {swageDeviceFree({}, nullptr), "swageDeviceFree: 'device'"},
      {swageDeviceCopyToDevice({}, nullptr, nullptr, 0), "swageDeviceCopyToDevice: 'device'"},
      {swageDeviceCopyToHost({}, nullptr, nullptr, 0), "swageDeviceCopyToHost: 'device'"},
      {swageDeviceCreateStream({}, &stream), "swageDeviceCreateStream: 'device'"},
      {swageDeviceCreateStream(device, nullptr), "swageDeviceCreateStream: 'stream'"},
      {swageDeviceSynchronizeStream({}, nullptr), "swageDeviceSynchronizeStream: 'device'"},
      {swageDeviceIsCapturing({}, nullptr, nullptr), "swageDeviceIsCapturing: 'device'"},
      {swageDeviceIsCapturing(device, nullptr, nullptr), "swageDeviceIsCapturing: 'isCapturing'"},
      {swageDeviceDestroyStream({}, nullptr), "swageDeviceDestroyStream: 'device'"},
      {swageProgramParse({}, none, nullptr, &program), "swageProgramParse: 'context'"},
      {swageProgramParse(context, none, nullptr, nullptr), "swageProgramParse: 'program'"},
      {swageProgramLoad({}, none, &program), "swageProgramLoad: 'context'"},
      {swageProgramLoad(context, none, nullptr), "swageProgramLoad: 'program'"},
      {swageProgramSave({}, none, nullptr, 0, nullptr, 0), "swageProgramSave: 'program'"},
      {swageProgramGetInputType({}, 0, &type), "swageProgramGetInputType: 'program'"},
      {swageProgramGetResultType({}, 0, &type), "swageProgramGetResultType: 'program'"},
      {swageProgramRun({}, device, nullptr, nullptr, 0, nullptr, 0, nullptr, 0),
       "swageProgramRun: 'program'"},
      {swageProgramRun(some, {}, nullptr, nullptr, 0, nullptr, 0, nullptr, 0),
       "swageProgramRun: 'device'"},
      {swageProgramGetResultShapes({}, device, &shape, 1, &extent, 1),
       "swageProgramGetResultShapes: 'program'"},
      {swageProgramGetResultShapes(some, {}, &shape, 1, &extent, 1),
       "swageProgramGetResultShapes: 'device'"},
      {swageProgramGetWorkspaceBytes({}, device, &shape, 1, nullptr, &bytes),
       "swageProgramGetWorkspaceBytes: 'program'"},
      {swageProgramGetWorkspaceBytes(some, {}, &shape, 1, nullptr, &bytes),
       "swageProgramGetWorkspaceBytes: 'device'"},
      {swageProgramGetWorkspaceBytes(some, device, &shape, 1, nullptr, nullptr),
       "swageProgramGetWorkspaceBytes: 'bytes'"},
      {swageProgramPlan({}, device, &shape, 1, nullptr, &plan), "swageProgramPlan: 'program'"},
      {swageProgramPlan(some, {}, &shape, 1, nullptr, &plan), "swageProgramPlan: 'device'"},
      {swageProgramPlan(some, device, &shape, 1, nullptr, nullptr), "swageProgramPlan: 'plan'"},
      {swageProgramWarmup({}, device, &shape, 1), "swageProgramWarmup: 'program'"},
      {swageProgramWarmup(some, {}, &shape, 1), "swageProgramWarmup: 'device'"},
      {swagePlanGetInput({}, 0, &spec), "swagePlanGetInput: 'plan'"},
      {swagePlanGetOutput({}, 0, &spec), "swagePlanGetOutput: 'plan'"},
      {swagePlanLaunch({}, nullptr, nullptr, 0, nullptr, 0, nullptr), "swagePlanLaunch: 'plan'"},
      {swageProgramExplain({}, device, &shape, 1, &explanation), "swageProgramExplain: 'program'"},
      {swageProgramExplain(some, {}, &shape, 1, &explanation), "swageProgramExplain: 'device'"},
      {swageProgramExplain(some, device, &shape, 1, nullptr), "swageProgramExplain: 'explanation'"},
      {swageProgramGetArtifact({}, device, &shape, 1, &artifact),
       "swageProgramGetArtifact: 'program'"},
      {swageProgramGetArtifact(some, {}, &shape, 1, &artifact),
       "swageProgramGetArtifact: 'device'"},
      {swageProgramGetArtifact(some, device, &shape, 1, nullptr),
       "swageProgramGetArtifact: 'artifact'"},
      {swageArtifactGetPass({}, 0, &pass), "swageArtifactGetPass: 'artifact'"},
      {swageArtifactGetKernel({}, 0, &kernel), "swageArtifactGetKernel: 'artifact'"},
  };
  for (const auto &[error, start] : errors)
    EXPECT_TRUE(refused(error, std::string(start) + " is null")) << start;
}

TEST_F(CApiProgram, NullHandlesHaveNothing) {
  EXPECT_EQ(text(swageContextGetWarnings({})), "");
  EXPECT_EQ(text(swageContextGetCacheDirectory({})), "");
  EXPECT_EQ(swageProgramGetInputCount({}), 0u);
  EXPECT_EQ(swageProgramGetResultCount({}), 0u);
  EXPECT_FALSE(swageProgramIsReady({}, device, &shape, 1));
  EXPECT_FALSE(swageProgramIsReady(program, {}, &shape, 1));
  EXPECT_EQ(swagePlanGetInputCount({}), 0u);
  EXPECT_EQ(swagePlanGetOutputCount({}), 0u);
  EXPECT_EQ(swagePlanGetWorkspaceBytes({}), 0u);
  EXPECT_EQ(swagePlanGetKernelCount({}), 0u);
  EXPECT_FALSE(swageExplanationHasPlan({}));
  EXPECT_FALSE(swageExplanationHasVariant({}));
  for (auto get : {swageExplanationGetGuards, swageExplanationGetReason, swageExplanationGetText})
    EXPECT_EQ(text(get({})), "");
  EXPECT_EQ(swageArtifactGetPassCount({}), 0u);
  EXPECT_EQ(swageArtifactGetKernelCount({}), 0u);
  EXPECT_EQ(swageArtifactGetLowerMilliseconds({}), 0);
  EXPECT_EQ(swageArtifactGetCompileMilliseconds({}), 0);
  swageContextDestroy({});
  swageDeviceDestroy({});
  swageProgramDestroy({});
  swagePlanDestroy({});
  swageExplanationDestroy({});
  swageArtifactDestroy({});
}
