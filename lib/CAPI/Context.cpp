//===- Context.cpp - Contexts of the C API --------------------------------===//

#include "Wrap.h"

#include "swage/Simt/Simulator.h"
#include "swage/Support/Text.h"

using namespace swage;
using namespace swage::capi;

static ContextObject *makeObject(Context context, bool isOfProcess) {
  std::string warnings = join(context.options().environment.warnings, "\n");
  std::string directory = context.cache().directory();
  return new ContextObject{std::move(context), std::move(warnings), std::move(directory),
                           isOfProcess};
}

/// Never destroyed, like the context that it holds.
static ContextObject *processObject() {
  static auto *object = makeObject(Context::process(), true);
  return object;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static Status applySettings(const char *const *settings, Options &options) {
  for (; settings && *settings; ++settings) {
    std::string_view setting = *settings;
    size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      return makeError(Stage::Input, fmt::format("setting '{}' has no '=', needed: NAME=value",
                                                 printable(setting)));
    std::string_view name = setting.substr(0, equals);
    for (std::string_view shared : {"SWAGE_CUDA_DRIVER", "SWAGE_NVRTC", "SWAGE_HOST_COMPILER"})
      if (name == shared)
        return makeError(Stage::Input,
                         fmt::format("{} names a library that the whole process shares; set it in "
                                     "the environment",
                                     name));
    if (Status stored = options.set(name, setting.substr(equals + 1)); !stored)
      return stored;
  }
  return {};
}

static EventSink makeSink(void (*onEvent)(const SwageEvent *, void *), void *userData) {
  static_assert(int(SwageEventParse) == int(TraceEvent::Kind::Parse) &&
                    int(SwageEventVariantHit) == int(TraceEvent::Kind::VariantHit),
                "the events have the same values");
  auto nanoseconds = [](std::chrono::steady_clock::time_point time) {
    return int64_t(std::chrono::nanoseconds(time.time_since_epoch()).count());
  };
  return [=](const TraceEvent &event) {
    SwageEvent passed{
        SwageEventKind(event.kind), wrap(event.name),       wrap(event.detail), wrap(event.reason),
        nanoseconds(event.begin),   nanoseconds(event.end), event.thread};
    onEvent(&passed, userData);
  };
}

static Expected<Context> makeContext(const SwageContextOptions &from) {
  ContextOptions options;
  if (from.ignoreEnvironment)
    options.environment = Options();
  if (Status applied = applySettings(from.settings, options.environment); !applied)
    return applied.takeError();
  options.compileThreads = from.compileThreads;
  if (from.planLimit)
    options.planLimit = from.planLimit;
  if (from.onEvent)
    options.events = makeSink(from.onEvent, from.userData);
  if (from.simulator) {
    auto simulated = simt::SimulatorOptions::parse(unwrap(from.simulatorOptions));
    if (!simulated)
      return simulated.takeError();
    auto compiler = simt::simulatorCompiler(*simulated);
    if (!compiler)
      return compiler.takeError();
    options.simulatorCompiler = *compiler;
  }
  return Context(std::move(options));
}

//===----------------------------------------------------------------------===//
// API
//===----------------------------------------------------------------------===//

SwageError swageContextCreate(const SwageContextOptions *options, SwageContext *context) {
  if (!context)
    return isNull("context");
  context->ptr = nullptr;
  auto read = readOptions(options, "SwageContextOptions");
  if (!read)
    return fail(read.takeError());
  auto made = makeContext(*read);
  if (!made)
    return fail(made.takeError());
  context->ptr = makeObject(std::move(*made), false);
  return succeed();
}

SwageContext swageProcessContext(void) { return {processObject()}; }

SwageStringRef swageContextGetWarnings(SwageContext context) {
  return context.ptr ? wrap(unwrap(context)->warnings) : swageStringRef("");
}

SwageStringRef swageContextGetCacheDirectory(SwageContext context) {
  return context.ptr ? wrap(unwrap(context)->cacheDirectory) : swageStringRef("");
}

SwageError swageContextGetStats(SwageContext context, SwageContextStats *stats) {
  if (!context.ptr)
    return isNull("context");
  if (!stats)
    return isNull("stats");
  const ContextStats from = unwrap(context)->context.stats();
  SwageContextStats to{};
  to.memoryHits = from.cache.memoryHits;
  to.diskHits = from.cache.diskHits;
  to.misses = from.cache.misses;
  to.rejected = from.cache.rejected;
  to.published = from.cache.published;
  to.evicted = from.cache.evicted;
  to.programs = from.programs;
  to.variants = from.variants;
  to.kernelsCompiled = from.kernelsCompiled;
  to.kernelsLoaded = from.kernelsLoaded;
  to.plans = from.plans;
  to.plansEvicted = from.plansEvicted;
  to.launches = from.launches;
  to.lowerMilliseconds = from.lowerMilliseconds;
  to.compileMilliseconds = from.compileMilliseconds;
  to.loadMilliseconds = from.loadMilliseconds;
  to.variantHits = from.cache.variantHits;
  return writeStruct(to, stats, "SwageContextStats");
}

void swageContextDestroy(SwageContext context) {
  if (context.ptr && !unwrap(context)->isOfProcess)
    delete unwrap(context);
}
