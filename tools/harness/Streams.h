//===- Streams.h - The fastest way to move so many bytes ------------------===//
//
// What a kernel's time is compared with: plain kernels that read and write as many bytes, in the
// same proportion, and do nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_STREAMS_H
#define SWAGE_TOOLS_HARNESS_STREAMS_H

#include "swage/JIT/Program.h"

#include <map>

namespace swage {

/// Bytes that a kernel reads from memory and writes to it.
struct Traffic {
  uint64_t read = 0, written = 0;
  uint64_t bytes() const { return read + written; }
};

/// A launch with one thread for so many vectors of 16 bytes.
struct StreamShape {
  unsigned reads = 1, writes = 1; ///< vectors a thread
  bool operator<(const StreamShape &other) const {
    return std::pair(reads, writes) < std::pair(other.reads, other.writes);
  }
};

/// Stream kernels of a device, compiled on first need.
class Streams {
public:
  explicit Streams(Device device) : device(std::move(device)) {}

  /// Shapes that move bytes in this proportion, which is rounded to small numbers: which is the
  /// fastest depends on the size.
  static std::vector<StreamShape> shapesFor(const Traffic &traffic);

  /// A plan with one input and one output that moves `bytes` in all.
  Expected<Plan> plan(StreamShape shape, uint64_t bytes);

private:
  Device device;
  std::map<StreamShape, std::shared_ptr<Kernel>> kernels;
};

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_STREAMS_H
