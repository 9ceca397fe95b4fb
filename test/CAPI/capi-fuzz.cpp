//===- capi-fuzz.cpp - Random calls of the C API --------------------------===//
//
//   swage-capi-fuzz [--seed=N] [--seconds=N | --rounds=N]
//
// and the libFuzzer target c-api, which takes the bytes from there.
//
// Any sequence of calls with live or null handles, arrays as long as their counts say, and any
// other argument must end in success or in an error with a text.  Handles are destroyed in any
// order.  On the simulator with all checks, so that an access out of bounds is an error also.
//
// A round begins anew and makes the calls that some random bytes stand for.  The last line before a
// failure is the options that repeat its round.
//
//===----------------------------------------------------------------------===//
#include "swage-c/Swage.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

const char *const kTexts[] = {
    "func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {\n"
    "  %y = math.exp %x : tensor<?x8xf32>\n"
    "  return %y : tensor<?x8xf32>\n}",
    "func.func @main(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {\n"
    "  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<?x16xf32>) -> tensor<?x16xf32>\n"
    "  %z = swage.layer_norm %y axis 0 eps 1.0e-5 : (tensor<?x16xf32>) -> tensor<?x16xf32>\n"
    "  return %z : tensor<?x16xf32>\n}",
    "func.func @main(%x: tensor<f32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {\n"
    "  return %y, %x : tensor<4xf32>, tensor<f32>\n}",
    "func.func @main(%x: tensor<4xi99>",
    "",
};
const char *const kWords[] = {"",      "main",         "sm_90a",   "sim:sm_90a",
                              "check", "order=random", "nonsense", "\xff"};

/// How often functions returned what.
struct Outcomes {
  uint64_t succeeded = 0, failed = 0;
};
std::map<std::string, Outcomes> outcomes;

/// Of all rounds: the cache, so that a kernel is compiled once, and a bundle.
struct Directory {
  Directory() {
    std::string name = std::filesystem::temp_directory_path() / "swage-capi-fuzz-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string path;
};
const std::string &directory() {
  static const Directory directory;
  return directory.path;
}

/// Options of a header that is newer: what this version does not know is zero.
template <class T> struct Newer {
  T known = {};
  char more[sizeof(T)] = {};
};

class Fuzzer {
public:
  Fuzzer(const uint8_t *bytes, size_t count);
  ~Fuzzer();
  /// Whether the bytes are used up.
  bool isDone() const { return next == end; }
  /// One call, or a few.
  void step();

private:
  uint64_t choose(int bytes) {
    uint64_t value = 0;
    for (; bytes > 0 && next != end; --bytes)
      value = value << 8 | *next++;
    return value;
  }
  uint64_t anything() { return choose(8); }
  uint64_t below(uint64_t bound) { return choose(bound <= 256 ? 1 : 8) % bound; }
  /// Rare for all bytes but the highest, so that a round ends in what is usual.
  bool oneIn(uint64_t bound) { return below(bound) == bound - 1; }
  template <class T, size_t count> T anyOf(const T (&values)[count]) {
    return values[below(count)];
  }

  /// Any live handle, and at times none.
  template <class Handle> Handle any(const std::vector<Handle> &pool) {
    return pool.empty() || oneIn(30) ? Handle{} : pool[below(pool.size())];
  }
  template <class Handle>
  void keep(std::vector<Handle> &pool, Handle handle, void (*destroy)(Handle));
  template <class Handle> void destroyAny(std::vector<Handle> &pool, void (*destroy)(Handle));
  template <class Handle> void destroyAll(std::vector<Handle> &pool, void (*destroy)(Handle));

  /// Reads everything of the error and destroys it.
  bool finish(SwageError error);
  void require(bool holds, const char *what);

  SwageStringRef word() { return swageStringRef(anyOf(kWords)); }
  size_t size(size_t right) { return oneIn(15) ? below(2 * right) : right; }
  size_t index() { return oneIn(10) ? size_t(anything()) : below(4); }
  int64_t extent() {
    const int64_t values[] = {1, 2, 4, 8, 16, 0, -1, 5, INT64_MAX, INT64_MIN};
    return values[oneIn(6) ? below(10) : below(5)];
  }
  void *memory() {
    return oneIn(20) || buffers.empty() ? nullptr : buffers[below(buffers.size())].second;
  }
  SwageDevice device() { return any(devices); }
  /// Shapes as the program has them, mostly.
  std::vector<SwageShape> shapes(SwageProgram program, size_t sets = 1);
  SwageTensor tensor(const SwageTensorType &type);
  const SwagePlanOptions *planOptions();

  void contextCalls();
  void deviceCalls();
  void programCalls();
  void runCalls();
  void planCalls();
  void inspectCalls();

  const uint8_t *next, *end;
  const char *name = "";
  std::vector<SwageContext> contexts;
  std::vector<SwageDevice> devices;
  std::vector<SwageProgram> programs;
  std::vector<SwagePlan> plans;
  std::vector<SwageExplanation> explanations;
  std::vector<SwageArtifact> artifacts;
  std::vector<std::pair<SwageDevice, void *>> buffers; ///< devices of their own
  /// What arguments point to, until the next call.
  std::vector<std::vector<int64_t>> extents;
  std::vector<uint8_t> alignment;
  Newer<SwagePlanOptions> newerOptions;
};

constexpr size_t kBufferBytes = 4096;
constexpr size_t kMostHandles = 6;

} // namespace

#define CALL(function, ...) (name = #function, finish(function(__VA_ARGS__)))

/// Begins with something to work on: without it, most first calls have null handles.
Fuzzer::Fuzzer(const uint8_t *bytes, size_t count) : next(bytes), end(bytes + count) {
  SwageDevice own;
  name = "setting up";
  require(!swageIsError(swageDeviceOpenSimulator(swageStringRef("check"), {}, &own)),
          "a simulator");
  for (int i = 0; i < 4; ++i) {
    void *memory;
    std::vector<char> zeros(kBufferBytes);
    require(!swageIsError(swageDeviceAllocate(own, kBufferBytes, &memory)), "memory");
    require(!swageIsError(swageDeviceCopyToDevice(own, memory, zeros.data(), kBufferBytes)),
            "a copy");
    buffers.push_back({own, memory});
  }
  SwageDevice device;
  require(!swageIsError(swageDeviceOpenSimulator(swageStringRef("check"), {}, &device)),
          "a second device");
  devices.push_back(device);
  std::string setting = "SWAGE_CACHE_DIR=" + directory();
  const char *settings[] = {setting.c_str(), nullptr};
  SwageContextOptions with = {};
  with.size = sizeof with;
  with.settings = settings;
  with.simulator = true;
  with.simulatorOptions = swageStringRef("check");
  SwageContext context;
  require(!swageIsError(swageContextCreate(&with, &context)), "a context");
  contexts.push_back(context);
  for (int i = 0; i < 3; ++i) {
    SwageProgram program;
    require(!swageIsError(swageProgramParse(context, swageStringRef(kTexts[i]), nullptr, &program)),
            "a program");
    programs.push_back(program);
  }
}

Fuzzer::~Fuzzer() {
  destroyAll(contexts, swageContextDestroy);
  destroyAll(programs, swageProgramDestroy);
  destroyAll(artifacts, swageArtifactDestroy);
  destroyAll(devices, swageDeviceDestroy);
  destroyAll(plans, swagePlanDestroy);
  destroyAll(explanations, swageExplanationDestroy);
  for (auto &[own, memory] : buffers)
    require(!swageIsError(swageDeviceFree(own, memory)), "memory that can be freed");
  swageDeviceDestroy(buffers.front().first);
}

void Fuzzer::require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s: needed: %s\n", name, what);
  std::abort();
}

bool Fuzzer::finish(SwageError error) {
  if (!swageIsError(error))
    return ++outcomes[name].succeeded, true;
  ++outcomes[name].failed;
  for (auto get : {swageErrorGetMessage, swageErrorGetText}) {
    SwageStringRef text = get(error);
    require(text.length > 0 && text.data[text.length] == 0, "an error with a text");
  }
  for (auto get : {swageErrorGetLog, swageErrorGetSourcePath, swageErrorGetReproduce})
    require(get(error).data != nullptr, "parts of an error, also empty ones");
  require(swageErrorGetStage(error) <= SwageStageRun, "a known stage");
  swageErrorDestroy(error);
  return false;
}

template <class Handle>
void Fuzzer::keep(std::vector<Handle> &pool, Handle handle, void (*destroy)(Handle)) {
  require(handle.ptr != nullptr, "a handle after a success");
  if (pool.size() == kMostHandles)
    destroyAny(pool, destroy);
  pool.push_back(handle);
}

template <class Handle>
void Fuzzer::destroyAny(std::vector<Handle> &pool, void (*destroy)(Handle)) {
  if (pool.empty())
    return destroy({});
  size_t victim = below(pool.size());
  destroy(pool[victim]);
  pool.erase(pool.begin() + long(victim));
}

template <class Handle>
void Fuzzer::destroyAll(std::vector<Handle> &pool, void (*destroy)(Handle)) {
  while (!pool.empty())
    destroyAny(pool, destroy);
}

std::vector<SwageShape> Fuzzer::shapes(SwageProgram program, size_t sets) {
  extents.clear();
  std::vector<SwageShape> result;
  const size_t count = swageProgramGetInputCount(program);
  extents.reserve(count * sets);
  int64_t rows = extent();
  for (size_t i = 0; i < count * sets; ++i) {
    SwageTensorType type;
    require(!swageIsError(swageProgramGetInputType(program, i % count, &type)), "a type");
    std::vector<int64_t> shape(type.shape, type.shape + type.rank);
    for (int64_t &one : shape)
      if (one == SWAGE_DYNAMIC)
        one = rows;
    if (oneIn(20) && !shape.empty())
      shape[below(shape.size())] = extent();
    if (oneIn(30))
      shape.push_back(extent());
    extents.push_back(std::move(shape));
    result.push_back({oneIn(40) ? nullptr : extents.back().data(), extents.back().size()});
  }
  return result;
}

SwageTensor Fuzzer::tensor(const SwageTensorType &type) {
  std::vector<int64_t> shape(type.shape, type.shape + type.rank);
  for (int64_t &one : shape)
    if (one == SWAGE_DYNAMIC || oneIn(40))
      one = oneIn(10) ? extent() : 4;
  std::vector<int64_t> strides(shape.size());
  for (int64_t &stride : strides)
    stride = extent();
  SwageTensor result = {};
  result.data = memory();
  // All kernels for addresses of 4 bytes are one more compile; any address is refused or right.
  if (oneIn(20) && result.data)
    result.data = static_cast<char *>(result.data) + (oneIn(2) ? 4 : below(kBufferBytes));
  result.elementType = oneIn(40) ? SwageElementType(anything()) : type.elementType;
  result.rank = oneIn(40) ? uint32_t(below(shape.size() + 1)) : uint32_t(shape.size());
  extents.push_back(std::move(shape));
  result.shape = oneIn(40) ? nullptr : extents.back().data();
  extents.push_back(std::move(strides));
  result.strides = oneIn(10) ? extents.back().data() : nullptr;
  return result;
}

const SwagePlanOptions *Fuzzer::planOptions() {
  if (oneIn(2))
    return nullptr;
  newerOptions = {};
  SwagePlanOptions &options = newerOptions.known;
  options.size = size(sizeof options);
  options.mode = SwagePlanMode(oneIn(10) ? below(4) : below(2));
  const uint8_t bytes[] = {16, 4, 1, 0, 3, 255};
  alignment.assign(below(6), oneIn(3) ? anyOf(bytes) : 16);
  options.alignment = oneIn(3) ? alignment.data() : nullptr;
  options.alignmentCount = alignment.size();
  return &options;
}

void Fuzzer::contextCalls() {
  std::string setting = "SWAGE_CACHE_DIR=" + directory();
  const char *settings[] = {setting.c_str(), oneIn(20) ? "SWAGE_CACHE=never" : nullptr, nullptr};
  switch (below(3)) {
  case 0: {
    Newer<SwageContextOptions> newer;
    SwageContextOptions &with = newer.known;
    with.size = size(sizeof with);
    with.settings = settings;
    with.ignoreEnvironment = oneIn(2);
    with.simulator = !oneIn(10);
    with.simulatorOptions = oneIn(10) ? word() : swageStringRef("check");
    with.compileThreads = unsigned(below(4));
    with.planLimit = oneIn(2) ? below(4) : 0;
    if (oneIn(2))
      with.onEvent = [](const SwageEvent *event, void *) { (void)strlen(event->name.data); };
    SwageContext context;
    if (CALL(swageContextCreate, oneIn(20) ? nullptr : &with, &context))
      keep(contexts, context, swageContextDestroy);
    break;
  }
  case 1: {
    SwageContextStats stats = {};
    stats.size = size(sizeof stats) % (sizeof stats + 1);
    CALL(swageContextGetStats, any(contexts), &stats);
    break;
  }
  case 2:
    if (oneIn(8))
      destroyAny(contexts, swageContextDestroy);
    else if (oneIn(4))
      keep(contexts, swageProcessContext(), swageContextDestroy);
    break;
  }
}

void Fuzzer::deviceCalls() {
  char host[64] = {};
  SwageStream stream;
  SwageDeviceProperties properties = {};
  switch (below(8)) {
  case 0: {
    SwageDevice opened;
    if (CALL(swageDeviceOpenSimulator, swageStringRef("check"),
             oneIn(10) ? word() : SwageStringRef{}, &opened))
      keep(devices, opened, swageDeviceDestroy);
    break;
  }
  case 1:
    properties.size = size(sizeof properties) % (sizeof properties + 1);
    CALL(swageDeviceGetProperties, device(), &properties);
    break;
  case 2: {
    void *allocated = nullptr;
    SwageDevice of = device();
    if (CALL(swageDeviceAllocate, of, oneIn(5) ? size_t(anything()) : below(1000), &allocated))
      CALL(swageDeviceFree, of, allocated);
    break;
  }
  case 3:
    CALL(swageDeviceCopyToDevice, device(), memory(), oneIn(20) ? nullptr : host,
         below(sizeof host));
    break;
  case 4:
    CALL(swageDeviceCopyToHost, device(), oneIn(20) ? nullptr : host, memory(), below(sizeof host));
    break;
  case 5: {
    SwageDevice of = device();
    if (CALL(swageDeviceCreateStream, of, &stream)) {
      bool isCapturing = false;
      CALL(swageDeviceIsCapturing, of, stream, &isCapturing);
      CALL(swageDeviceSynchronizeStream, of, stream);
      CALL(swageDeviceDestroyStream, of, stream);
    }
    break;
  }
  case 6:
    CALL(swageDeviceSynchronize, device());
    CALL(swageDeviceMakeCurrent, device());
    break;
  case 7:
    if (oneIn(8))
      destroyAny(devices, swageDeviceDestroy);
    break;
  }
}

void Fuzzer::programCalls() {
  SwageProgram program = any(programs), made;
  std::string path = directory() + (oneIn(10) ? "/missing/bundle" : "/bundle");
  switch (below(5)) {
  case 0: {
    Newer<SwageParseOptions> newer;
    SwageParseOptions &with = newer.known;
    with.size = size(sizeof with);
    with.filename = word();
    with.entry = oneIn(10) ? word() : SwageStringRef{};
    const char *text = oneIn(8) ? anyOf(kTexts) : kTexts[below(3)];
    SwageStringRef part = swageStringRef(text);
    if (oneIn(10))
      part.length = below(part.length + 1);
    if (CALL(swageProgramParse, any(contexts), part, oneIn(2) ? &with : nullptr, &made))
      keep(programs, made, swageProgramDestroy);
    break;
  }
  case 1: {
    const SwageStringRef archs[] = {oneIn(10) ? word() : swageStringRef("sim:sm_90a"), word()};
    size_t sets = below(3);
    CALL(swageProgramSave, program, swageStringRef(path.c_str()), oneIn(20) ? nullptr : archs,
         oneIn(10) ? below(3) : 1, shapes(program, sets).data(), sets);
    break;
  }
  case 2:
    if (CALL(swageProgramLoad, any(contexts), swageStringRef(path.c_str()), &made))
      keep(programs, made, swageProgramDestroy);
    break;
  case 3: {
    SwageTensorType type;
    CALL(swageProgramGetInputType, program, index(), oneIn(20) ? nullptr : &type);
    CALL(swageProgramGetResultType, program, index(), oneIn(20) ? nullptr : &type);
    break;
  }
  case 4:
    if (oneIn(4))
      destroyAny(programs, swageProgramDestroy);
    break;
  }
}

void Fuzzer::runCalls() {
  SwageProgram program = any(programs);
  switch (below(4)) {
  case 0: {
    std::vector<SwageTensor> inputs, outputs;
    extents.clear();
    extents.reserve(64);
    SwageTensorType type;
    for (size_t i = 0; i < swageProgramGetInputCount(program); ++i)
      if (!swageIsError(swageProgramGetInputType(program, i, &type)))
        inputs.push_back(tensor(type));
    for (size_t i = 0; i < swageProgramGetResultCount(program); ++i)
      if (!swageIsError(swageProgramGetResultType(program, i, &type)))
        outputs.push_back(tensor(type));
    auto count = [&](size_t right) { return oneIn(30) ? below(right + 1) : right; };
    CALL(swageProgramRun, program, device(), nullptr, inputs.data(), count(inputs.size()),
         outputs.data(), count(outputs.size()), memory(), below(2) * kBufferBytes);
    break;
  }
  case 1: {
    int64_t results[8];
    auto of = shapes(program);
    CALL(swageProgramGetResultShapes, program, device(), of.data(), of.size(),
         oneIn(20) ? nullptr : results, oneIn(5) ? below(8) : 2);
    break;
  }
  case 2: {
    uint64_t bytes;
    auto of = shapes(program);
    CALL(swageProgramGetWorkspaceBytes, program, device(), of.data(), of.size(), planOptions(),
         &bytes);
    break;
  }
  case 3: {
    size_t sets = below(3);
    auto of = shapes(program, sets);
    if (sets)
      swageProgramIsReady(program, device(), of.data(), of.size());
    CALL(swageProgramWarmup, program, device(), of.data(), sets);
    break;
  }
  }
}

void Fuzzer::planCalls() {
  SwagePlan plan = any(plans);
  switch (below(4)) {
  case 0: {
    SwageProgram program = any(programs);
    auto of = shapes(program);
    SwagePlan made;
    if (CALL(swageProgramPlan, program, device(), of.data(), of.size(), planOptions(), &made))
      keep(plans, made, swagePlanDestroy);
    break;
  }
  case 1: {
    const void *inputs[] = {memory(), memory(), memory(), memory()};
    void *outputs[] = {memory(), memory(), memory(), memory()};
    size_t in = swagePlanGetInputCount(plan), out = swagePlanGetOutputCount(plan);
    void *workspace = memory();
    if (swagePlanGetWorkspaceBytes(plan) > kBufferBytes)
      break; // nothing says how large the workspace is
    CALL(swagePlanLaunch, plan, nullptr, oneIn(30) ? nullptr : inputs, oneIn(20) ? below(4) : in,
         oneIn(30) ? nullptr : outputs, oneIn(20) ? below(4) : out, workspace);
    break;
  }
  case 2: {
    SwageBufferSpec spec;
    CALL(swagePlanGetInput, plan, index(), oneIn(20) ? nullptr : &spec);
    CALL(swagePlanGetOutput, plan, index(), oneIn(20) ? nullptr : &spec);
    swagePlanGetKernelCount(plan);
    break;
  }
  case 3:
    if (oneIn(4))
      destroyAny(plans, swagePlanDestroy);
    break;
  }
}

void Fuzzer::inspectCalls() {
  SwageProgram program = any(programs);
  auto of = shapes(program);
  switch (below(4)) {
  case 0: {
    SwageExplanation made;
    if (CALL(swageProgramExplain, program, device(), of.data(), of.size(), &made))
      keep(explanations, made, swageExplanationDestroy);
    SwageExplanation explanation = any(explanations);
    for (auto get : {swageExplanationGetGuards, swageExplanationGetReason, swageExplanationGetText})
      require(get(explanation).data != nullptr, "a text");
    break;
  }
  case 1: {
    SwageArtifact made;
    if (oneIn(3) && CALL(swageProgramGetArtifact, program, device(), of.data(), of.size(), &made))
      keep(artifacts, made, swageArtifactDestroy);
    break;
  }
  case 2: {
    SwageArtifact artifact = any(artifacts);
    SwagePass pass;
    SwageKernelInfo kernel = {};
    kernel.size = size(sizeof kernel) % (sizeof kernel + 1);
    CALL(swageArtifactGetPass, artifact, index(), &pass);
    CALL(swageArtifactGetKernel, artifact, index(), &kernel);
    break;
  }
  case 3:
    if (oneIn(2))
      destroyAny(artifacts, swageArtifactDestroy);
    else
      destroyAny(explanations, swageExplanationDestroy);
    break;
  }
}

void Fuzzer::step() {
  void (Fuzzer::*const calls[])() = {
      &Fuzzer::contextCalls, &Fuzzer::deviceCalls, &Fuzzer::programCalls, &Fuzzer::runCalls,
      &Fuzzer::runCalls,     &Fuzzer::planCalls,   &Fuzzer::planCalls,    &Fuzzer::inspectCalls};
  (this->*anyOf(calls))();
}

static void runRound(const uint8_t *bytes, size_t count) {
  for (Fuzzer fuzzer(bytes, count); !fuzzer.isDone();)
    fuzzer.step();
}

#ifdef SWAGE_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  runRound(data, size);
  return 0;
}

#else

int main(int argc, char **argv) {
  uint64_t seed = 1, rounds = UINT64_MAX, seconds = 10;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    auto value = [&](const std::string &prefix, uint64_t &to) {
      if (option.compare(0, prefix.size(), prefix) != 0)
        return false;
      to = std::strtoull(option.c_str() + prefix.size(), nullptr, 10);
      return true;
    };
    if (value("--rounds=", rounds))
      seconds = UINT64_MAX;
    else if (!value("--seed=", seed) && !value("--seconds=", seconds))
      return std::fprintf(stderr, "usage: swage-capi-fuzz [--seed=N] [--seconds=N | --rounds=N]\n"),
             2;
  }
  const auto start = std::chrono::steady_clock::now();
  auto passed = [&] {
    return uint64_t(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start)
            .count());
  };
  uint64_t done = 0;
  for (; done < rounds && passed() < seconds; ++done) {
    // Said before, because a failure ends the process.
    std::fprintf(stderr, "--seed=%llu --rounds=1\n", static_cast<unsigned long long>(seed + done));
    std::mt19937_64 random(seed + done);
    std::vector<uint8_t> bytes(4000);
    for (uint8_t &byte : bytes)
      byte = uint8_t(random());
    runRound(bytes.data(), bytes.size());
  }
  std::printf("%-32s %10s %10s\n", "function", "succeeded", "failed");
  for (const auto &[name, outcome] : outcomes)
    std::printf("%-32s %10llu %10llu\n", name.c_str(),
                static_cast<unsigned long long>(outcome.succeeded),
                static_cast<unsigned long long>(outcome.failed));
  std::printf("%llu rounds\n", static_cast<unsigned long long>(done));
  return 0;
}

#endif
