//===- Device.cpp - Devices, memory and streams of the C API --------------===//

#include "Wrap.h"

#include "swage/Simt/Simulator.h"

using namespace swage;
using namespace swage::capi;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

SwageError swageDeviceGetCount(int *count) {
  if (!count)
    return isNull("count");
  *count = 0;
  auto driver = cuda::Driver::get();
  if (!driver)
    return fail(driver.takeError());
  auto found = (*driver)->deviceCount();
  if (!found)
    return fail(found.takeError());
  *count = *found;
  return succeed();
}

static SwageError finishOpening(Expected<Device> opened, SwageDevice *device) {
  if (!opened)
    return fail(opened.takeError());
  std::string arch = opened->properties().arch;
  if (opened->driver().isSimulator())
    arch.insert(0, kSimulatedArch);
  device->ptr = new DeviceObject{std::move(*opened), std::move(arch)};
  return succeed();
}

SwageError swageDeviceOpen(int ordinal, SwageDevice *device) {
  if (!device)
    return isNull("device");
  device->ptr = nullptr;
  return finishOpening(Device::open(ordinal), device);
}

SwageError swageDeviceOpenSimulator(SwageStringRef options, SwageStringRef arch,
                                    SwageDevice *device) {
  if (!device)
    return isNull("device");
  device->ptr = nullptr;
  auto parsed = simt::SimulatorOptions::parse(unwrap(options));
  if (!parsed)
    return fail(parsed.takeError());
  std::string_view name = unwrap(arch);
  return finishOpening(simt::openSimulator(*parsed, name.empty() ? "sm_90a" : name), device);
}

SwageError swageDeviceGetProperties(SwageDevice device, SwageDeviceProperties *properties) {
  if (!device.ptr)
    return isNull("device");
  if (!properties)
    return isNull("properties");
  const DeviceProperties &from = unwrap(device)->properties();
  SwageDeviceProperties to{};
  to.name = wrap(from.name);
  to.arch = wrap(static_cast<const DeviceObject *>(device.ptr)->arch);
  to.ordinal = unwrap(device)->ordinal();
  to.isSimulator = unwrap(device)->driver().isSimulator();
  to.multiprocessors = from.smCount;
  to.memoryBytes = uint64_t(from.memoryBytes);
  to.l2Bytes = uint64_t(from.l2Bytes);
  to.memoryBandwidth = from.memoryBandwidth;
  return writeStruct(to, properties, "SwageDeviceProperties");
}

SwageError swageDeviceMakeCurrent(SwageDevice device) {
  if (!device.ptr)
    return isNull("device");
  return finish(unwrap(device)->makeCurrent());
}

SwageError swageDeviceSynchronize(SwageDevice device) {
  if (!device.ptr)
    return isNull("device");
  return finish(unwrap(device)->synchronize());
}

void swageDeviceDestroy(SwageDevice device) { delete static_cast<DeviceObject *>(device.ptr); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static cuda::DevicePointer devicePointer(const void *memory) {
  return reinterpret_cast<cuda::DevicePointer>(memory);
}

/// Calls the driver with the device's context current.
template <class Call> static SwageError inContext(SwageDevice device, const char *name, Call call) {
  ScopedContext scope(*unwrap(device));
  if (!scope.status())
    return fail(scope.status().error());
  const cuda::Driver &driver = unwrap(device)->driver();
  return finish(driver.check(Stage::Run, name, call(driver)));
}

SwageError swageDeviceAllocate(SwageDevice device, size_t bytes, void **memory) {
  if (!memory)
    return isNull("memory");
  *memory = nullptr;
  if (!device.ptr)
    return isNull("device");
  auto buffer = unwrap(device)->allocate(bytes);
  if (!buffer)
    return fail(buffer.takeError());
  *memory = reinterpret_cast<void *>(buffer->release());
  return succeed();
}

SwageError swageDeviceFree(SwageDevice device, void *memory) {
  if (!device.ptr)
    return isNull("device");
  if (!memory)
    return succeed();
  return inContext(device, "cuMemFree", [&](const cuda::Driver &driver) {
    return driver.cuMemFree_v2(devicePointer(memory));
  });
}

SwageError swageDeviceCopyToDevice(SwageDevice device, void *to, const void *from, size_t bytes) {
  if (!device.ptr)
    return isNull("device");
  if (bytes == 0)
    return succeed();
  if (!to || !from)
    return isNull(to ? "from" : "to");
  return inContext(device, "cuMemcpyHtoD", [&](const cuda::Driver &driver) {
    return driver.cuMemcpyHtoD_v2(devicePointer(to), from, bytes);
  });
}

SwageError swageDeviceCopyToHost(SwageDevice device, void *to, const void *from, size_t bytes) {
  if (!device.ptr)
    return isNull("device");
  if (bytes == 0)
    return succeed();
  if (!to || !from)
    return isNull(to ? "from" : "to");
  return inContext(device, "cuMemcpyDtoH", [&](const cuda::Driver &driver) {
    return driver.cuMemcpyDtoH_v2(to, devicePointer(from), bytes);
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

SwageError swageDeviceCreateStream(SwageDevice device, SwageStream *stream) {
  if (!stream)
    return isNull("stream");
  *stream = nullptr;
  if (!device.ptr)
    return isNull("device");
  auto made = unwrap(device)->createStream();
  if (!made)
    return fail(made.takeError());
  *stream = made->release();
  return succeed();
}

SwageError swageDeviceSynchronizeStream(SwageDevice device, SwageStream stream) {
  if (!device.ptr)
    return isNull("device");
  return inContext(device, "cuStreamSynchronize",
                   [&](const cuda::Driver &driver) { return driver.cuStreamSynchronize(stream); });
}

SwageError swageDeviceIsCapturing(SwageDevice device, SwageStream stream, bool *isCapturing) {
  if (!device.ptr)
    return isNull("device");
  if (!isCapturing)
    return isNull("isCapturing");
  auto answer = unwrap(device)->isCapturing(stream);
  if (!answer)
    return fail(answer.takeError());
  *isCapturing = *answer;
  return succeed();
}

SwageError swageDeviceDestroyStream(SwageDevice device, SwageStream stream) {
  if (!device.ptr)
    return isNull("device");
  if (!stream)
    return succeed();
  return inContext(device, "cuStreamDestroy",
                   [&](const cuda::Driver &driver) { return driver.cuStreamDestroy_v2(stream); });
}
