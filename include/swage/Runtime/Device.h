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
#include "swage/Support/DeviceProperties.h"

#include <memory>

namespace swage {

class Buffer;
class Event;
class Stream;

/// A device with its primary context retained; copies share it.
class Device {
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
  /// Waits for all work of the device; an error of an earlier kernel surfaces here.
  Status synchronize() const;

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
class ScopedContext {
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

/// Device memory.  Copies and fills are ordered with the streams of createStream.
class Buffer {
public:
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer();

  void *data() const { return reinterpret_cast<void *>(pointer); }
  size_t size() const { return bytes; }

  Status copyFrom(const void *host, size_t count, size_t offset = 0);
  /// Returns when the bytes are on the host.
  Status copyTo(void *host, size_t count, size_t offset = 0) const;
  Status fill(unsigned char value, cuda::StreamHandle stream = nullptr);

private:
  friend class Device;
  Buffer(Device device, cuda::DevicePointer pointer, size_t bytes)
      : device(std::move(device)), pointer(pointer), bytes(bytes) {}
  Device device;
  cuda::DevicePointer pointer = 0;
  size_t bytes = 0;
};

class Event {
public:
  Event(Event &&other) noexcept;
  Event &operator=(Event &&other) noexcept;
  ~Event();

  Status record(cuda::StreamHandle stream);
  Status synchronize() const;
  /// Milliseconds from `start` to this event, both complete.
  Expected<float> elapsedSince(const Event &start) const;

private:
  friend class Device;
  Event(Device device, cuda::EventHandle event) : device(std::move(device)), event(event) {}
  Device device;
  cuda::EventHandle event = nullptr;
};

/// An instantiated graph.
class GraphExec {
public:
  GraphExec(GraphExec &&other) noexcept;
  GraphExec &operator=(GraphExec &&other) noexcept;
  ~GraphExec();

  Status launch(cuda::StreamHandle stream) const;

private:
  friend class Graph;
  GraphExec(Device device, cuda::GraphExecHandle graph) : device(std::move(device)), graph(graph) {}
  Device device;
  cuda::GraphExecHandle graph = nullptr;
};

/// A captured graph.
class Graph {
public:
  Graph(Graph &&other) noexcept;
  Graph &operator=(Graph &&other) noexcept;
  ~Graph();

  Expected<size_t> nodeCount() const;
  Expected<GraphExec> instantiate() const;

private:
  friend class Stream;
  Graph(Device device, cuda::GraphHandle graph) : device(std::move(device)), graph(graph) {}
  Device device;
  cuda::GraphHandle graph = nullptr;
};

class Stream {
public:
  Stream(Stream &&other) noexcept;
  Stream &operator=(Stream &&other) noexcept;
  ~Stream();

  cuda::StreamHandle handle() const { return stream; }
  Status synchronize() const;
  Status beginCapture();
  Expected<Graph> endCapture();
  Expected<bool> isCapturing() const;

private:
  friend class Device;
  Stream(Device device, cuda::StreamHandle stream) : device(std::move(device)), stream(stream) {}
  Device device;
  cuda::StreamHandle stream = nullptr;
};

} // namespace swage

#endif // SWAGE_RUNTIME_DEVICE_H
