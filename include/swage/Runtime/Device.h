//===- Device.h - A GPU, its memory, streams and graphs -------------------===//
//
// What tools and tests need around a launch: the primary context of a device and RAII owners for
// memory, streams, events and captured graphs.  A host program that has its own of these passes raw
// handles to Plan::launch and needs only Device.
//
// Every call makes the device's context current for its own duration, so that several devices and
// other users of CUDA in the process do not disturb each other.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_DEVICE_H
#define SWAGE_RUNTIME_DEVICE_H

#include "swage/Runtime/Driver.h"
#include "swage/Support/Api.h"
#include "swage/Support/DeviceProperties.h"

#include <memory>
#include <utility>

namespace swage {

class Buffer;
class Event;
class Stream;

/// A device with its primary context retained; copies share it.
class SWAGE_API Device {
public:
  /// Device `ordinal` of Driver::get().
  static Expected<Device> open(int ordinal = 0);
  static Expected<Device> open(std::shared_ptr<const cuda::Driver> driver, int ordinal);

  int ordinal() const;
  const DeviceProperties &properties() const;
  const cuda::Driver &driver() const;
  const std::shared_ptr<const cuda::Driver> &sharedDriver() const;
  cuda::DeviceOrdinal handle() const;
  cuda::ContextHandle context() const;

  /// Makes the context current on this thread and leaves it so; needed to launch on the null
  /// stream.
  Status makeCurrent() const;
  /// Whether the device can be used: false after an error that the driver never takes back (an
  /// illegal address in a kernel, ...), and in a process forked from the one that opened it.  Costs
  /// two loads.
  bool isHealthy() const;
  /// Success, or why the device cannot be used: the first such error, from whatever showed it.
  Status health() const;
  /// Success, or the error of a failed call, which health remembers where the driver never takes it
  /// back; `doing`, if given, says what the call was for.
  Status check(Stage stage, const char *call, cuda::Result result,
               const std::string &doing = {}) const;
  /// Whether this is the process that opened the device; in a child there is nothing to give back.
  bool isOwn() const;

  /// Waits for all work of the device; an error of an earlier kernel surfaces here.
  Status synchronize() const;

  /// Whether work on the stream goes into a graph; also of the null stream while a capture forbids
  /// its use.
  Expected<bool> isCapturing(cuda::StreamHandle stream) const;

  Expected<Buffer> allocate(size_t bytes) const;
  Expected<Stream> createStream() const;
  Expected<Event> createEvent(bool timing = true) const;
  Expected<size_t> freeMemory() const;

private:
  struct State;
  explicit Device(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

/// The context of a device, current until the end of the scope.
class SWAGE_API ScopedContext {
public:
  explicit ScopedContext(const Device &device);
  ~ScopedContext();
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;
  /// Whether the context could be made current.
  const Status &status() const { return outcome; }

private:
  const cuda::Driver &driver;
  Status outcome;
};

/// A handle that a device gave out, given back with the device's context current.  A failure to do
/// so is ignored: either the driver is shutting down or the next call reports the error.
template <class Handle, cuda::Result (*cuda::Driver::*destroy)(Handle)> class Owned {
public:
  Owned(Device device, Handle owned) : device(std::move(device)), owned(owned) {}
  Owned(Owned &&other) noexcept
      : device(other.device), owned(std::exchange(other.owned, Handle())) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(device, other.device);
    std::swap(owned, other.owned);
    return *this;
  }
  ~Owned() {
    if (!owned || !device.isOwn())
      return;
    ScopedContext scope(device);
    (void)(device.driver().*destroy)(owned);
  }
  Handle handle() const { return owned; }
  /// Gives the handle to the caller, who destroys it.
  Handle release() { return std::exchange(owned, Handle()); }

protected:
  Device device;

private:
  Handle owned;
};

/// Device memory.  Copies and fills are ordered with the streams of createStream.
class SWAGE_API Buffer : public Owned<cuda::DevicePointer, &cuda::Driver::cuMemFree_v2> {
public:
  Buffer(Device device, cuda::DevicePointer pointer, size_t bytes)
      : Owned(std::move(device), pointer), bytes(bytes) {}

  void *data() const { return reinterpret_cast<void *>(handle()); }
  size_t size() const { return bytes; }

  Status copyFrom(const void *host, size_t count, size_t offset = 0);
  /// Returns when the bytes are on the host.
  Status copyTo(void *host, size_t count, size_t offset = 0) const;
  Status fill(unsigned char value, cuda::StreamHandle stream = nullptr);

private:
  size_t bytes;
};

class SWAGE_API Event : public Owned<cuda::EventHandle, &cuda::Driver::cuEventDestroy_v2> {
public:
  using Owned::Owned;

  Status record(cuda::StreamHandle stream);
  Status synchronize() const;
  /// Milliseconds from `start` to this event, both complete.
  Expected<float> elapsedSince(const Event &start) const;
};

/// An instantiated graph.
class SWAGE_API GraphExec : public Owned<cuda::GraphExecHandle, &cuda::Driver::cuGraphExecDestroy> {
public:
  using Owned::Owned;

  Status launch(cuda::StreamHandle stream) const;
};

/// A captured graph.
class SWAGE_API Graph : public Owned<cuda::GraphHandle, &cuda::Driver::cuGraphDestroy> {
public:
  using Owned::Owned;

  Expected<size_t> nodeCount() const;
  Expected<GraphExec> instantiate() const;
};

class SWAGE_API Stream : public Owned<cuda::StreamHandle, &cuda::Driver::cuStreamDestroy_v2> {
public:
  using Owned::Owned;

  Status synchronize() const;
  /// Capture in thread-local mode: other threads may allocate and load meanwhile.
  Status beginCapture();
  Expected<Graph> endCapture();
  Expected<bool> isCapturing() const;
};

} // namespace swage

#endif // SWAGE_RUNTIME_DEVICE_H
