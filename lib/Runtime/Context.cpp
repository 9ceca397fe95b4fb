//===- Context.cpp - What programs share ----------------------------------===//

#include "ContextState.h"
#include "swage/Runtime/Trace.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace swage;

unsigned swage::threadNumber() {
  static std::atomic<unsigned> next{0};
  static thread_local const unsigned number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

/// Threads of the pool: the one that asks works too.
static unsigned poolThreads(const ContextOptions &options) {
  unsigned cores = std::min(8u, std::max(1u, std::thread::hardware_concurrency()));
  return (options.compileThreads ? options.compileThreads : cores) - 1;
}

Context::State::State(ContextOptions given)
    : options(std::move(given)), pool(poolThreads(options)) {
  if (!options.cache)
    options.cache = std::make_shared<KernelCache>(options.environment);
  environmentEvents = environmentSink(options);
}

Context::Context(ContextOptions options) : state(std::make_shared<State>(std::move(options))) {}

Context &Context::process() {
  // Leaked on purpose: objects with static storage may hold programs until after our own statics
  // are gone.
  static Context *context = [] {
    auto *fresh = new Context();
    fresh->state->isOfProcess = true;
    return fresh;
  }();
  return *context;
}

const ContextOptions &Context::options() const { return state->options; }
KernelCache &Context::cache() const { return *state->options.cache; }

void Context::runAll(const std::vector<std::function<void()>> &tasks, Urgency urgency) const {
  // Nobody destroys this one.  Registered as late as here, after a compiler was opened: then its
  // statics go after its last task.
  if (state->isOfProcess) {
    static const int registered = std::atexit([] { process().state->pool.stop(); });
    (void)registered;
  }
  state->pool.run(tasks, urgency);
}

Status Context::checkProcess() const {
  if (state->generation == processGeneration())
    return {};
  return makeError(Stage::Input,
                   "this process was forked from the one that made the Swage context, whose "
                   "threads, locks and devices do not exist here: start processes with exec, or "
                   "make the first Swage call after the fork");
}

static void add(std::atomic<uint64_t> &counter, uint64_t count) {
  counter.fetch_add(count, std::memory_order_relaxed);
}

void Context::report(const TraceEvent &event) const {
  auto nanoseconds = uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(event.end - event.begin).count());
  switch (event.kind) {
  case TraceEvent::Kind::Parse:
    add(state->programs, 1);
    break;
  case TraceEvent::Kind::Lower:
    add(state->variants, 1);
    add(state->lowerNanoseconds, nanoseconds);
    break;
  case TraceEvent::Kind::Compile:
    add(state->kernelsCompiled, 1);
    add(state->compileNanoseconds, nanoseconds);
    break;
  case TraceEvent::Kind::Load:
    add(state->kernelsLoaded, 1);
    add(state->loadNanoseconds, nanoseconds);
    break;
  case TraceEvent::Kind::Plan:
    add(state->plans, 1);
    break;
  case TraceEvent::Kind::Evict:
    add(state->plansEvicted, 1);
    break;
  case TraceEvent::Kind::CacheHit:
  case TraceEvent::Kind::Variant:
  case TraceEvent::Kind::Progress:
  case TraceEvent::Kind::VariantHit:
    break;
  }
  if (state->options.events)
    state->options.events(event);
  if (state->environmentEvents)
    state->environmentEvents(event);
}

ContextStats Context::stats() const {
  ContextStats stats;
  stats.cache = state->options.cache->stats();
  stats.programs = state->programs;
  stats.variants = state->variants;
  stats.kernelsCompiled = state->kernelsCompiled;
  stats.kernelsLoaded = state->kernelsLoaded;
  stats.plans = state->plans;
  stats.plansEvicted = state->plansEvicted;
  for (const State::Launches &launches : state->launches)
    stats.launches += launches.count.load(std::memory_order_relaxed);
  stats.lowerMilliseconds = double(state->lowerNanoseconds) * 1e-6;
  stats.compileMilliseconds = double(state->compileNanoseconds) * 1e-6;
  stats.loadMilliseconds = double(state->loadNanoseconds) * 1e-6;
  return stats;
}
