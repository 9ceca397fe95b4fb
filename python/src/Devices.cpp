//===- Devices.cpp - The devices and contexts of this process -------------===//
//
// Nothing here is ever closed: programs, arrays and CUDA itself end in an order of their own when
// the process does.
//
//===----------------------------------------------------------------------===//
#include "Devices.h"

#include <map>
#include <pthread.h>

using namespace swage::python;

namespace {
struct Simulator {
  SwageContext context{};
  SwageDevice device{};
};
} // namespace

static std::map<int, SwageDevice> &gpus() {
  static auto *map = new std::map<int, SwageDevice>;
  return *map;
}
static std::map<std::string, Simulator> &simulators() {
  static auto *map = new std::map<std::string, Simulator>;
  return *map;
}

/// In a child whose parent had opened devices.
static bool isForked = false;

/// Called after the first device was opened.
static void watchForks() {
  static bool isWatched = pthread_atfork(nullptr, nullptr, [] { isForked = true; }) == 0;
  (void)isWatched;
}

bool swage::python::checkNotForked() {
  return !isForked || raiseInput("this process was forked after its parent had used Swage; needed: "
                                 "a process of its own, as multiprocessing's start method 'spawn' "
                                 "gives");
}

static Ref &defaultDevice() {
  static auto *device = new Ref(Ref::share(Py_None));
  return *device;
}

PyObject *swage::python::setDefaultDevice(PyObject *, PyObject *device) {
  Ref old = std::exchange(defaultDevice(), Ref::share(device));
  return Ref::share(Py_None).release();
}

Ref swage::python::deviceOrDefault(PyObject *device) {
  return Ref::share(device == Py_None ? defaultDevice().get() : device);
}

static bool isDigits(std::string_view text) {
  return !text.empty() && text.size() < 4 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool swage::python::parseDevice(PyObject *object, DeviceChoice &choice) {
  if (object == Py_None)
    return true;
  Ref asText{PyObject_Str(object)};
  std::string text;
  if (!asText || !toString(asText.get(), text))
    return false;
  std::string_view rest = text;
  if (rest == "sim" || rest.substr(0, 4) == "sim:") {
    choice.isSimulator = true;
    choice.simulatorOptions = rest.size() > 4 ? rest.substr(4) : "";
    return true;
  }
  if (rest == "cuda")
    return true;
  if (rest.substr(0, 5) == "cuda:")
    rest.remove_prefix(5);
  if (isDigits(rest)) {
    choice.ordinal = std::stoi(std::string(rest));
    return true;
  }
  raiseInput("the device is '" + text + "'; needed: 'cuda', 'cuda:N', 'sim' or 'sim:OPTIONS'");
  return false;
}

static bool openSimulator(const std::string &options, Simulator &simulator) {
  auto found = simulators().find(options);
  if (found != simulators().end()) {
    simulator = found->second;
    return true;
  }
  SwageContextOptions contextOptions = {};
  contextOptions.size = sizeof contextOptions;
  contextOptions.simulator = true;
  contextOptions.simulatorOptions = toRef(options);
  SwageError error;
  {
    Unlocked unlocked;
    error = swageContextCreate(&contextOptions, &simulator.context);
    if (!swageIsError(error)) {
      error = swageDeviceOpenSimulator(toRef(options), toRef(""), &simulator.device);
      if (swageIsError(error))
        swageContextDestroy(simulator.context);
    }
  }
  if (swageIsError(error))
    return raise(error);
  watchForks();
  // Another thread may have been quicker; its simulator is the one that is kept.
  auto inserted = simulators().emplace(options, simulator);
  if (!inserted.second) {
    swageDeviceDestroy(simulator.device);
    swageContextDestroy(simulator.context);
    simulator = inserted.first->second;
  }
  return true;
}

bool swage::python::contextOf(const DeviceChoice &choice, SwageContext &context) {
  Simulator simulator;
  if (choice.isSimulator && !openSimulator(choice.simulatorOptions, simulator))
    return false;
  context = choice.isSimulator ? simulator.context : swageProcessContext();
  return true;
}

bool swage::python::openDevice(const DeviceChoice &choice, int ordinal, SwageDevice &device) {
  if (choice.isSimulator) {
    Simulator simulator;
    if (!openSimulator(choice.simulatorOptions, simulator))
      return false;
    device = simulator.device;
    return true;
  }
  auto found = gpus().find(ordinal);
  if (found != gpus().end()) {
    device = found->second;
    return true;
  }
  SwageError error;
  {
    Unlocked unlocked;
    error = swageDeviceOpen(ordinal, &device);
  }
  if (swageIsError(error))
    return raise(error);
  watchForks();
  auto inserted = gpus().emplace(ordinal, device);
  if (!inserted.second) {
    swageDeviceDestroy(device);
    device = inserted.first->second;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

PyObject *swage::python::stats(PyObject *, PyObject *) {
  struct Counter {
    const char *name;
    uint64_t SwageContextStats::*count;
  };
  struct Time {
    const char *name;
    double SwageContextStats::*milliseconds;
  };
  static const Counter counters[] = {
      {"memory_hits", &SwageContextStats::memoryHits},
      {"disk_hits", &SwageContextStats::diskHits},
      {"variant_hits", &SwageContextStats::variantHits},
      {"misses", &SwageContextStats::misses},
      {"rejected", &SwageContextStats::rejected},
      {"published", &SwageContextStats::published},
      {"evicted", &SwageContextStats::evicted},
      {"programs", &SwageContextStats::programs},
      {"variants", &SwageContextStats::variants},
      {"kernels_compiled", &SwageContextStats::kernelsCompiled},
      {"kernels_loaded", &SwageContextStats::kernelsLoaded},
      {"plans", &SwageContextStats::plans},
      {"plans_evicted", &SwageContextStats::plansEvicted},
      {"launches", &SwageContextStats::launches},
  };
  static const Time times[] = {
      {"lower_ms", &SwageContextStats::lowerMilliseconds},
      {"compile_ms", &SwageContextStats::compileMilliseconds},
      {"load_ms", &SwageContextStats::loadMilliseconds},
  };

  SwageContextStats sum = {};
  auto add = [&](SwageContext context) {
    SwageContextStats one = {};
    one.size = sizeof one;
    SwageError error = swageContextGetStats(context, &one);
    if (swageIsError(error))
      return raise(error) != nullptr;
    for (const Counter &counter : counters)
      sum.*counter.count += one.*counter.count;
    for (const Time &time : times)
      sum.*time.milliseconds += one.*time.milliseconds;
    return true;
  };
  if (!add(swageProcessContext()))
    return nullptr;
  for (auto &simulator : simulators())
    if (!add(simulator.second.context))
      return nullptr;

  Ref dict{PyDict_New()};
  auto set = [&](const char *name, Ref value) {
    return dict && value && PyDict_SetItemString(dict.get(), name, value.get()) == 0;
  };
  for (const Counter &counter : counters)
    if (!set(counter.name, Ref(PyLong_FromUnsignedLongLong(sum.*counter.count))))
      return nullptr;
  for (const Time &time : times)
    if (!set(time.name, Ref(PyFloat_FromDouble(sum.*time.milliseconds))))
      return nullptr;
  return dict.release();
}
