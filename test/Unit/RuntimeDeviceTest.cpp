//===- RuntimeDeviceTest.cpp - Devices, memory, streams, kernels ----------===//
//
// The helpers do what they say, give everything back, and leave the caller's context as it was.
//
//===----------------------------------------------------------------------===//
#include "FakeCudaTest.h"

#include <cstring>

using namespace swage;
using namespace swage::cuda;

namespace {
class DeviceTest : public FakeCudaTest {};
class KernelTest : public FakeCudaTest {};
} // namespace

TEST_F(DeviceTest, QueriesProperties) {
  Device gpu = device();
  const DeviceProperties &properties = gpu.properties();
  EXPECT_EQ(properties.name, "Fake GPU 0");
  EXPECT_EQ(properties.arch, "sm_90a");
  EXPECT_EQ(properties.smCount, 132);
  EXPECT_EQ(properties.sharedBytesPerBlockOptIn, 232448);
  EXPECT_EQ(properties.l2Bytes, 62914560);
  EXPECT_NEAR(properties.memoryBandwidth, 4.9e12, 0.1e12);
}

TEST_F(DeviceTest, AnUnknownOrdinalSaysHowManyThereAre) {
  fake->deviceCount = 2;
  auto gpu = Device::open(driver(), 2);
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().message, "there is no CUDA device 2; found 2, numbered from 0");
}

TEST_F(DeviceTest, BuffersCopyAndAreGivenBack) {
  {
    Device gpu = device();
    auto buffer = gpu.allocate(64);
    ASSERT_TRUE(buffer);
    char out[64], in[64];
    std::memset(in, 7, sizeof in);
    ASSERT_TRUE(buffer->copyFrom(in, sizeof in));
    ASSERT_TRUE(buffer->copyTo(out, sizeof out));
    EXPECT_EQ(std::memcmp(in, out, sizeof in), 0);
    ASSERT_TRUE(buffer->fill(1));
    ASSERT_TRUE(buffer->copyTo(out, 1, 63));
    EXPECT_EQ(out[0], 1);
    Status past = buffer->copyFrom(in, 2, 63);
    ASSERT_FALSE(past);
    EXPECT_EQ(past.error().message, "cannot write 2 bytes at offset 63: the buffer has 64 bytes");
    Buffer moved = std::move(*buffer);
    EXPECT_EQ(moved.size(), 64u);
  }
  EXPECT_EQ(fake->liveObjects, 0);
  EXPECT_EQ(fake->allocatedBytes, 0u);
}

TEST_F(DeviceTest, AnEmptyBufferNeedsNoMemory) {
  Device gpu = device();
  auto buffer = gpu.allocate(0);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->data(), nullptr);
  EXPECT_TRUE(buffer->copyFrom(nullptr, 0));
  EXPECT_TRUE(buffer->fill(0));
}

TEST_F(DeviceTest, OutOfMemorySaysHowMuchWasAskedFor) {
  Device gpu = device();
  auto buffer = gpu.allocate(fake->memoryBytes + 1);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().stage, Stage::Run);
  EXPECT_NE(buffer.error().message.find("CUDA_ERROR_OUT_OF_MEMORY (2)"), std::string::npos);
  EXPECT_NE(buffer.error().message.find("1073741825 bytes asked for on device 0 (Fake GPU 0)"),
            std::string::npos);
}

TEST_F(DeviceTest, TheCallersContextStaysCurrent) {
  fake->deviceCount = 2;
  Device first = device(0), second = device(1);
  ASSERT_TRUE(first.makeCurrent());
  ASSERT_TRUE(second.allocate(16));
  ASSERT_TRUE(second.createStream());
  ContextHandle current = nullptr;
  first.driver().cuCtxGetCurrent(&current);
  EXPECT_EQ(current, first.context());
}

TEST_F(DeviceTest, EventsMeasure) {
  Device gpu = device();
  auto stream = gpu.createStream();
  auto start = gpu.createEvent(), end = gpu.createEvent();
  ASSERT_TRUE(stream && start && end);
  ASSERT_TRUE(start->record(stream->handle()));
  ASSERT_TRUE(end->record(stream->handle()));
  ASSERT_TRUE(end->synchronize());
  auto elapsed = end->elapsedSince(*start);
  ASSERT_TRUE(elapsed);
  EXPECT_EQ(*elapsed, 1.0f);
}

TEST_F(DeviceTest, AnEarlierKernelsErrorSurfacesWithAHint) {
  Device gpu = device();
  fake->stickyError = kIllegalAddress;
  Status status = gpu.synchronize();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos);
  EXPECT_NE(status.error().message.find("the context stays unusable"), std::string::npos);
}

TEST_F(KernelTest, LoadsOncePreparesOncePerDevice) {
  fake->deviceCount = 2;
  Device first = device(0), second = device(1);
  auto row = kernel(first);
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto a = row->prepare(first, 65536), b = row->prepare(second, 0);
    ASSERT_TRUE(a && b);
    EXPECT_NE(*a, *b);
  }
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 1u);
  EXPECT_EQ(fake->count("cuKernelGetFunction"), 2u);
  EXPECT_EQ(fake->count("cuFuncLoad"), 2u);
  EXPECT_EQ(fake->count("cuKernelSetAttribute 8=65536 on 0"), 1u);
  EXPECT_EQ(fake->count("cuKernelSetAttribute"), 1u);
}

TEST_F(KernelTest, SharedMemoryOnlyGrows) {
  Device gpu = device();
  auto row = kernel(gpu);
  ASSERT_TRUE(row->prepare(gpu, 100000));
  ASSERT_TRUE(row->prepare(gpu, 50000));
  ASSERT_TRUE(row->prepare(gpu, 200000));
  EXPECT_EQ(fake->count("cuKernelSetAttribute"), 2u);
}

TEST_F(KernelTest, AMissingEntryPointIsNamed) {
  Device gpu = device();
  KernelBinary binary;
  binary.name = "column";
  binary.arch = "sm_90a";
  binary.image = "kernels: row";
  auto column = Kernel::load(gpu.sharedDriver(), binary);
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().stage, Stage::Load);
  EXPECT_NE(column.error().message.find("cannot load kernel @column (sm_90a, 12 bytes): "
                                        "cuLibraryGetKernel: CUDA_ERROR_NOT_FOUND (500)"),
            std::string::npos)
      << column.error().message;
}

TEST_F(KernelTest, AKernelForTheSimulatorIsRefused) {
  Device gpu = device();
  KernelBinary binary;
  binary.name = "row";
  binary.arch = "sim:sm_90a";
  binary.image = "kernels: row";
  auto row = Kernel::load(gpu.sharedDriver(), binary);
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().message, "cannot load kernel @row: it was compiled for the simulator "
                                 "(sim:sm_90a) and the device is a GPU");
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 0u);
}

TEST_F(KernelTest, EverythingIsUnloaded) {
  {
    Device gpu = device();
    auto row = kernel(gpu);
    ASSERT_TRUE(row->prepare(gpu, 0));
  }
  EXPECT_EQ(fake->count("cuLibraryUnload"), 1u);
  EXPECT_EQ(fake->liveObjects, 0);
}

TEST_F(KernelTest, WhenTheDriverIsGoneNothingHappens) {
  {
    Device gpu = device();
    auto row = kernel(gpu);
    auto buffer = gpu.allocate(16);
    fake->stickyError = kDeinitialized;
  }
  SUCCEED();
}
