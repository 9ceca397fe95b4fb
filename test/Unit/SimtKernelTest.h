//===- SimtKernelTest.h - Kernels of a test, and their runs ---------------===//
#ifndef SWAGE_TEST_UNIT_SIMTKERNELTEST_H
#define SWAGE_TEST_UNIT_SIMTKERNELTEST_H

#include "HostCompiler.h"
#include "Launch.h"
#include "SimtTestSupport.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace swage::simt {

/// Modules of all kernels in a text, and the runs of one.
class SimtKernelTest : public ::testing::Test {
protected:
  explicit SimtKernelTest(const char *source) : modules(modulesOf(source)) {}

  void SetUp() override {
    if (auto compiler = HostCompiler::get(false); !compiler)
      GTEST_SKIP() << compiler.error().message;
    ASSERT_TRUE(modules[0] && modules[1]);
  }

  struct Shape {
    unsigned blocks = 1, threads = 32, cluster = 1, shared = 4096;
  };
  template <class... Arguments>
  std::optional<Finding> run(const char *kernel, const std::string &options, Shape shape,
                             const Arguments &...arguments) {
    auto parsed = SimulatorOptions::parse(options);
    EXPECT_TRUE(parsed);
    Launch launch;
    launch.module = modules[parsed->check].get();
    launch.kernel = launch.module->find(kernel);
    if (!launch.kernel) {
      ADD_FAILURE() << "no kernel " << kernel;
      return std::nullopt;
    }
    launch.blocks = shape.blocks;
    launch.threads = shape.threads;
    launch.clusterSize = shape.cluster;
    launch.dynamicSharedBytes = shape.shared;
    void *pointers[] = {const_cast<Arguments *>(&arguments)...};
    launch.arguments = pointers;
    launch.memory = &memory;
    return simt::run(launch, *parsed);
  }

  /// An allocation that the kernels may use, zero or counting up.
  template <class T> T *allocate(size_t count, bool counts = true) {
    storage.push_back(std::make_unique<char[]>(count * sizeof(T) + 256));
    auto begin = reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(storage.back().get()) + 255) &
                                       ~uintptr_t(255));
    for (size_t i = 0; i < count; ++i)
      begin[i] = counts ? T(i % 251 + i / 1000) : T(0);
    MemoryRange range{reinterpret_cast<char *>(begin), count * sizeof(T), "buffer"};
    memory.insert(std::upper_bound(memory.begin(), memory.end(), range,
                                   [](const auto &a, const auto &b) { return a.begin < b.begin; }),
                  range);
    return begin;
  }

  static std::vector<std::string> everyOptions() {
    std::vector<std::string> all;
    for (const char *order : {"forward", "reverse", "random"})
      for (const char *async : {"eager", "late", "random"})
        for (const char *check : {"", ",check", ",check,strict"})
          all.push_back(fmt::format("order={},async={},workers=1{}", order, async, check));
    for (int seed = 2; seed < 8; ++seed)
      all.push_back(fmt::format("order=random,async=random,seed={},workers=2,check", seed));
    return all;
  }

  using Modules = std::array<std::shared_ptr<swage::simt::Module>, 2>; ///< unchecked, checked
  const Modules &modules;
  std::vector<std::unique_ptr<char[]>> storage;
  std::vector<MemoryRange> memory;

private:
  /// Compiled once for all tests of a file.
  static const Modules &modulesOf(const char *source) {
    static std::map<const char *, Modules> known;
    auto [at, isNew] = known.try_emplace(source);
    for (bool checked : {false, true}) {
      auto compiler = HostCompiler::get(checked);
      if (!isNew || !compiler)
        continue;
      CompileRequest request = kernelRequest("copies", source);
      request.entry.clear(); // all kernels
      auto binary = (*compiler)->compile(request);
      EXPECT_TRUE(binary) << binary.error().str();
      auto module = binary ? Module::load(binary->image) : binary.takeError();
      EXPECT_TRUE(module);
      if (module)
        at->second[checked] = *module;
    }
    return at->second;
  }
};

struct alignas(64) TensorMap {
  char bytes[128];
};

#define EXPECT_CLEAN(FINDING, OPTIONS)                                                             \
  {                                                                                                \
    const auto finding = FINDING;                                                                  \
    EXPECT_FALSE(finding) << (OPTIONS) << "\n" << finding->str();                                  \
  }

} // namespace swage::simt

#endif // SWAGE_TEST_UNIT_SIMTKERNELTEST_H
