//===- Plan.h - A frozen sequence of launches -----------------------------===//
//
// A graph compiled for given shapes and one device, as plain launches over numbered buffers.
// Everything that can fail or take time happens in create; launch checks the caller's pointers,
// puts them into the tensor maps that kernels take and calls cuLaunchKernel, and cuMemcpyDtoDAsync
// where a kernel writes a part of what is not in place, nothing else: it never
// compiles, loads, allocates, locks or reads the environment, so it is safe from several threads
// and under stream capture.
//
// Overlap (programmatic dependent launch).  A launch may start before the one in front of it in the
// plan has ended, if its kernel waits by itself: every thread, before anything it reads or writes
// in global memory.  The wait is for the one grid in front to end, with all it wrote visible; as
// that grid waited in the same way, or was launched in plain stream order, everything before it has
// ended too.  The first launch of a plan, or behind a copy, is in plain stream order, so nothing overlaps what the
// caller put on the stream before; what follows the plan waits for its last kernel, and so for all.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_PLAN_H
#define SWAGE_RUNTIME_PLAN_H

#include "swage/Runtime/Kernel.h"
#include "swage/Runtime/TensorTile.h"
#include "swage/Support/Api.h"

#include <string>
#include <utility>
#include <vector>

namespace swage {

enum class BufferKind { Input, Output, Workspace };

/// A buffer that the caller passes to launch.
struct BufferSpec {
  std::string name;       ///< for messages: the IR's name of the value
  uint64_t bytes = 0;     ///< the launch touches nothing beyond; 0: the pointer may be null
  uint64_t alignment = 1; ///< that the kernels rely on: a power of two
};

/// One kernel parameter: the address of a place in a buffer, the map of a tensor that begins there,
/// or bytes fixed at creation.
struct LaunchArgument {
  static LaunchArgument buffer(BufferKind kind, unsigned index, uint64_t byteOffset = 0) {
    return {false, kind, index, byteOffset, {}, {}};
  }
  static LaunchArgument input(unsigned index, uint64_t byteOffset = 0) {
    return buffer(BufferKind::Input, index, byteOffset);
  }
  static LaunchArgument output(unsigned index, uint64_t byteOffset = 0) {
    return buffer(BufferKind::Output, index, byteOffset);
  }
  static LaunchArgument workspace(uint64_t byteOffset) {
    return buffer(BufferKind::Workspace, 0, byteOffset);
  }
  /// A map of what begins at `place`, which is a multiple of TensorTile::kAlignment.
  static LaunchArgument tile(LaunchArgument place, TensorTile tile) {
    place.tensorMap = std::move(tile);
    return place;
  }
  /// A parameter passed by value, laid out as the device code declares it.
  static LaunchArgument value(std::string bytes) {
    return {true, BufferKind::Input, 0, 0, std::move(bytes), {}};
  }
  template <class T> static LaunchArgument of(const T &value) {
    return LaunchArgument::value(std::string(reinterpret_cast<const char *>(&value), sizeof(T)));
  }

  bool isValue = false;
  BufferKind kind = BufferKind::Input;
  unsigned index = 0;
  uint64_t byteOffset = 0;
  std::string bytes;
  std::optional<TensorTile> tensorMap;
};

/// What is copied on the device unless both places turn out to be the same.
struct CopySpec {
  LaunchArgument from, to; ///< buffers
  uint64_t bytes = 0;
};

struct LaunchSpec {
  std::shared_ptr<Kernel> kernel;
  uint64_t grid[3] = {1, 1, 1}; ///< a zero: there is nothing to do but copies, and no kernel needed
  unsigned threads = 1;         ///< per block, along x
  unsigned clusterSize = 1;     ///< blocks along x that share a cluster; divides grid[0]
  /// The kernel waits for the grids before it, as described above, so that its launch may overlap
  /// them.  Where the driver cannot put that into a captured graph (before 12.3), it does not.
  bool overlap = false;
  unsigned dynamicSharedBytes = 0;
  std::vector<LaunchArgument> arguments;
  /// What the kernel writes a part of, before it does.
  std::vector<CopySpec> copies;
};

struct PlanSpec {
  std::vector<BufferSpec> inputs;
  std::vector<BufferSpec> outputs;
  uint64_t workspaceBytes = 0;
  uint64_t workspaceAlignment = 256;
  /// (output, input) pairs that may be the same memory (not shifted), because the IR says so.
  std::vector<std::pair<unsigned, unsigned>> aliases;
  std::vector<LaunchSpec> launches;
};

/// Shared and immutable; copies are cheap.
class SWAGE_API Plan {
public:
  /// Loads and prepares every kernel on `device` and checks the spec against the device and the
  /// kernels.
  static Expected<Plan> create(const Device &device, PlanSpec spec);

  /// Puts the launches on `stream`, in order.  `inputs` and `outputs` hold one device pointer for
  /// each buffer of the spec; `workspace` holds workspaceBytes() and may be null when that is 0. On
  /// a default stream (null, 1 or 2) the device's context must be current (Device::makeCurrent).
  /// The error names the argument or the kernel.
  Status launch(cuda::StreamHandle stream, const void *const *inputs, void *const *outputs,
                void *workspace = nullptr) const;

  const std::vector<BufferSpec> &inputs() const;
  const std::vector<BufferSpec> &outputs() const;
  uint64_t workspaceBytes() const;
  /// Kernels in launch order, without those that had nothing to do.
  std::vector<std::shared_ptr<const Kernel>> kernels() const;
  const Device &device() const;

private:
  struct State;
  explicit Plan(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

} // namespace swage

#endif // SWAGE_RUNTIME_PLAN_H
