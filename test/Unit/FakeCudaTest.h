//===- FakeCudaTest.h - Tests against the stand-in driver -----------------===//
//
// A fixture that loads the fake driver in its initial state.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_UNIT_FAKECUDATEST_H
#define SWAGE_TEST_UNIT_FAKECUDATEST_H

#include "../FakeDriver/FakeCuda.h"
#include "swage/Runtime/Kernel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

class FakeCudaTest : public ::testing::Test {
protected:
  void SetUp() override {
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    auto *function = reinterpret_cast<FakeCudaFunction *>(dlsym(library, "fakeCuda"));
    ASSERT_TRUE(function);
    fake = function();
    *fake = FakeCuda();
  }

  std::shared_ptr<const swage::cuda::Driver> driver() {
    auto driver = swage::cuda::Driver::load(FAKE_CUDA);
    EXPECT_TRUE(driver) << driver.error().str();
    return *driver;
  }
  swage::Device device(int ordinal = 0) {
    auto device = swage::Device::open(driver(), ordinal);
    EXPECT_TRUE(device) << device.error().str();
    return *device;
  }
  /// A kernel that the fake driver accepts.
  static std::shared_ptr<swage::Kernel> kernel(const swage::Device &device,
                                               const std::string &name = "row") {
    swage::KernelBinary binary;
    binary.name = name;
    binary.arch = "sm_90a";
    binary.image = "kernels: " + name;
    auto kernel = swage::Kernel::load(device.sharedDriver(), binary);
    EXPECT_TRUE(kernel) << kernel.error().str();
    return *kernel;
  }

  FakeCuda *fake = nullptr;
};

#endif // SWAGE_TEST_UNIT_FAKECUDATEST_H
