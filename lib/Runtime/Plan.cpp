//===- Plan.cpp - A frozen sequence of launches ---------------------------===//
//
// create turns the spec into arrays that launch only walks: per launch what is copied, the
// function, its shape, a template of the parameter pointers with the fixed values filled in, and
// the lists of places that take a caller's address and of tensor maps that do.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Plan.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::cuda;

/// Parameters of one launch; launch keeps this many addresses on its stack.
static constexpr unsigned kMaxArguments = 256;
/// Inputs, outputs and the workspace of a plan, whose addresses launch keeps there too.
static constexpr unsigned kMaxSlots = 1024;
/// What every device takes (and all of it when every parameter is an address).
static constexpr uint64_t kMaxParameterBytes = 4096;
/// Tensor maps of one launch, which launch copies to its stack too.
static constexpr unsigned kMaxTensorMaps = kMaxParameterBytes / sizeof(TensorMap);
/// What no device exceeds; how large it takes those of a kernel, it says itself.
static constexpr unsigned kMaxClusterSize = 16;
/// The first driver that makes overlapping launches edges of a captured graph.
static constexpr int kCapturesOverlap = 12030;

namespace {
/// A parameter that holds an address: which buffer (numbered inputs, outputs, workspace) and where
/// in it.
struct AddressArgument {
  unsigned parameter;
  unsigned slot;
  uint64_t byteOffset;
};

/// A parameter that is a tensor map: what of it is the same for all launches, and the address.
struct TensorMapArgument {
  AddressArgument address;
  TensorMap map;
};

/// A copy in front of a launch, of bytes that lie at these places.
struct FrozenCopy {
  AddressArgument from, to;
  uint64_t bytes;
};

/// What a launch checks of a caller's pointer.
struct SlotCheck {
  uint64_t bytes; ///< 0: the pointer is not looked at
  uint64_t alignmentMask;
  bool isWritten;
};

/// Two slots that must not overlap; where the IR allows an alias they may be the same place, but
/// not shifted.
struct DisjointPair {
  unsigned written;
  unsigned other;
  bool mayBeEqual;
};

struct FrozenLaunch {
  FunctionHandle function = nullptr; ///< null: there are only copies
  unsigned grid[3];
  unsigned threads;
  unsigned clusterSize;
  bool overlap;
  unsigned dynamicSharedBytes;
  std::vector<void *> parameters; ///< null where an address goes
  std::vector<AddressArgument> addresses;
  std::vector<TensorMapArgument> tensorMaps;
  std::vector<FrozenCopy> copies;
  std::string values;             ///< what the other parameters point to
  std::shared_ptr<Kernel> kernel; ///< keeps the function loaded
};
} // namespace

struct Plan::State {
  explicit State(const Device &device) : device(device) {}

  Device device;
  std::vector<BufferSpec> inputs;
  std::vector<BufferSpec> outputs;
  BufferSpec workspace;
  std::vector<FrozenLaunch> launches;
  std::vector<SlotCheck> slots;
  std::vector<DisjointPair> disjoint;

  unsigned slotCount() const { return unsigned(inputs.size() + outputs.size() + 1); }
  const BufferSpec &slot(unsigned number) const {
    if (number < inputs.size())
      return inputs[number];
    number -= unsigned(inputs.size());
    return number < outputs.size() ? outputs[number] : workspace;
  }
  const char *slotKind(unsigned number) const {
    if (number < inputs.size())
      return "input";
    return number < inputs.size() + outputs.size() ? "output" : "workspace";
  }
  Status freeze(const LaunchSpec &spec);
  Expected<AddressArgument> place(const LaunchSpec &spec, unsigned parameter) const;
  Expected<AddressArgument> place(const LaunchArgument &argument, uint64_t bytes,
                                  const std::string &what) const;
  Status checkTile(const LaunchSpec &spec, const AddressArgument &at) const;
  Status checkSlots(const DevicePointer *addresses) const;
  Status badSlot(unsigned number, DevicePointer address) const;

  /// "input 2 'gamma'".
  std::string slotName(unsigned number) const {
    std::string kind = slotKind(number);
    if (kind == "workspace")
      return kind;
    unsigned index = number < inputs.size() ? number : number - unsigned(inputs.size());
    return fmt::format("{} {} '{}'", kind, index, slot(number).name);
  }
};

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static Error badPlan(std::string message) {
  return makeError(Stage::Load, "cannot make a plan: " + std::move(message));
}

static Status checkBuffer(const BufferSpec &buffer, const std::string &name) {
  uint64_t alignment = buffer.alignment;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return badPlan(fmt::format("the alignment of {} is {}, not a power of two", name, alignment));
  return {};
}

static Status checkShape(const LaunchSpec &launch, const Device &device) {
  const DeviceProperties &properties = device.properties();
  const uint64_t gridLimits[3] = {0x7fffffff, 65535, 65535};
  for (int axis = 0; axis < 3; ++axis)
    if (launch.grid[axis] > gridLimits[axis])
      return badPlan(fmt::format("kernel @{} needs {} blocks along {}; the limit is {}",
                                 launch.kernel->name(), launch.grid[axis], "xyz"[axis],
                                 gridLimits[axis]));
  if (launch.threads == 0 || launch.threads > unsigned(properties.maxThreadsPerBlock))
    return badPlan(fmt::format("kernel @{} has {} threads per block; {} allows 1 to {}",
                               launch.kernel->name(), launch.threads, properties.name,
                               properties.maxThreadsPerBlock));
  unsigned cluster = launch.clusterSize;
  if (cluster == 0 || cluster > kMaxClusterSize || launch.grid[0] % cluster != 0)
    return badPlan(fmt::format("kernel @{} has clusters of {} blocks; needed: 1 to {}, a divisor "
                               "of its {} blocks along x",
                               launch.kernel->name(), cluster, kMaxClusterSize, launch.grid[0]));
  if (cluster > 1 && properties.ccMajor < 9)
    return badPlan(fmt::format("kernel @{} has clusters of {} blocks; {} ({}) has none, needed: "
                               "sm_90",
                               launch.kernel->name(), cluster, properties.name, properties.arch));
  uint64_t shared =
      uint64_t(launch.dynamicSharedBytes) + unsigned(launch.kernel->resources().sharedBytes);
  if (shared > unsigned(properties.sharedBytesPerBlockOptIn))
    return badPlan(fmt::format("kernel @{} needs {} bytes of shared memory; {} allows {}",
                               launch.kernel->name(), shared, properties.name,
                               properties.sharedBytesPerBlockOptIn));
  return {};
}

namespace {
/// What cuLaunchKernelEx takes; points into itself.
struct ExtendedLaunch {
  ExtendedLaunch(const FrozenLaunch &launch, bool overlaps, StreamHandle stream) {
    unsigned count = 0;
    if (launch.clusterSize > 1)
      attributes[count++] = LaunchAttribute::clusterOf(launch.clusterSize);
    if (overlaps)
      attributes[count++] = LaunchAttribute::overlap();
    config = {{launch.grid[0], launch.grid[1], launch.grid[2]},
              {launch.threads, 1, 1},
              launch.dynamicSharedBytes,
              stream,
              attributes,
              count};
  }
  ExtendedLaunch(const ExtendedLaunch &) = delete;

  LaunchAttribute attributes[2];
  LaunchConfig config;
};
} // namespace

/// A cluster lies in one group of multiprocessors, which may be too small for it.
static Status checkClustersFit(const FrozenLaunch &launch, const Device &device) {
  if (launch.clusterSize == 1)
    return {};
  ScopedContext scope(device);
  if (!scope.status())
    return scope.status().error();
  ExtendedLaunch extended(launch, launch.overlap, nullptr);
  int clusters = 0;
  Status asked = device.check(
      Stage::Load, "cuOccupancyMaxActiveClusters",
      device.driver().cuOccupancyMaxActiveClusters(&clusters, launch.function, &extended.config));
  if (asked && clusters > 0)
    return {};
  const DeviceProperties &properties = device.properties();
  return badPlan(fmt::format(
      "kernel @{} has clusters of {} blocks of {} threads and {} bytes of shared memory, of which "
      "{} ({}) holds none{}",
      launch.kernel->name(), launch.clusterSize, launch.threads,
      launch.dynamicSharedBytes + unsigned(launch.kernel->resources().sharedBytes), properties.name,
      properties.arch, asked ? "" : ": " + asked.error().message));
}

static size_t bytesOf(const LaunchArgument &argument) {
  return argument.isValue     ? argument.bytes.size()
         : argument.tensorMap ? sizeof(TensorMap)
                              : sizeof(DevicePointer);
}

/// The arguments against the parameters that the machine code declares, where the driver can tell.
static Status checkParameters(const LaunchSpec &launch, const Device &device) {
  for (size_t i = 0; i <= launch.arguments.size(); ++i) {
    Expected<size_t> declared = launch.kernel->parameterBytes(device, i);
    if (!declared)
      return {};
    bool isLast = i == launch.arguments.size();
    size_t given = isLast ? 0 : bytesOf(launch.arguments[i]);
    if (*declared != given)
      return badPlan(fmt::format("argument {} of kernel @{} has {} bytes; the kernel declares {}",
                                 i, launch.kernel->name(), given, *declared));
  }
  return {};
}

/// Where `bytes` lie in a buffer; `what`: "argument 1 of kernel @k".
Expected<AddressArgument> Plan::State::place(const LaunchArgument &argument, uint64_t bytes,
                                             const std::string &what) const {
  size_t count = argument.kind == BufferKind::Input    ? inputs.size()
                 : argument.kind == BufferKind::Output ? outputs.size()
                                                       : 1;
  unsigned first = argument.kind == BufferKind::Input    ? 0
                   : argument.kind == BufferKind::Output ? unsigned(inputs.size())
                                                         : slotCount() - 1;
  if (argument.index >= count)
    return badPlan(
        fmt::format("{} is {} {}; the plan has {}", what, slotKind(first), argument.index, count));
  unsigned number = first + argument.index;
  uint64_t all = slot(number).bytes;
  if (argument.byteOffset > all)
    return badPlan(fmt::format("{} starts at byte {} of {}, which has {} bytes", what,
                               argument.byteOffset, slotName(number), all));
  if (bytes > all - argument.byteOffset)
    return badPlan(fmt::format("{} has {} bytes from byte {} of {}, which has {} bytes", what,
                               bytes, argument.byteOffset, slotName(number), all));
  return AddressArgument{0, number, argument.byteOffset};
}

/// Where an argument lies that is no value.
Expected<AddressArgument> Plan::State::place(const LaunchSpec &spec, unsigned parameter) const {
  auto at = place(spec.arguments[parameter], 0,
                  fmt::format("argument {} of kernel @{}", parameter, spec.kernel->name()));
  if (at)
    at->parameter = parameter;
  return at;
}

/// What is moved in boxes lies in its buffer, where the copy engine can reach it.
Status Plan::State::checkTile(const LaunchSpec &spec, const AddressArgument &at) const {
  const TensorTile &tile = *spec.arguments[at.parameter].tensorMap;
  if (tile.isEmpty())
    return {};
  const BufferSpec &buffer = slot(at.slot);
  std::optional<uint64_t> bytes = tile.bytes();
  if (!bytes || *bytes > buffer.bytes - at.byteOffset)
    return badPlan(fmt::format("argument {} of kernel @{} is to be a map of {} bytes from byte {} "
                               "of {}, which has {} bytes",
                               at.parameter, spec.kernel->name(),
                               bytes ? std::to_string(*bytes) : "more than 2^64", at.byteOffset,
                               slotName(at.slot), buffer.bytes));
  if (uint64_t known = buffer.alignment | at.byteOffset; known % TensorTile::kAlignment != 0)
    return badPlan(fmt::format("argument {} of kernel @{} is to be a map from byte {} of {}, whose "
                               "address is only known to be divisible by {}; needed: {}",
                               at.parameter, spec.kernel->name(), at.byteOffset, slotName(at.slot),
                               buffer.alignment, TensorTile::kAlignment));
  return {};
}

Status Plan::State::freeze(const LaunchSpec &spec) {
  bool isEmpty = spec.grid[0] == 0 || spec.grid[1] == 0 || spec.grid[2] == 0;
  if (!spec.kernel && !isEmpty)
    return badPlan("a launch has no kernel");

  FrozenLaunch launch;
  launch.kernel = spec.kernel;
  for (const CopySpec &copy : spec.copies) {
    auto from = place(copy.from, copy.bytes, "a copy"), to = place(copy.to, copy.bytes, "a copy");
    if (!from)
      return from.takeError();
    if (!to)
      return to.takeError();
    if (copy.bytes != 0)
      launch.copies.push_back({*from, *to, copy.bytes});
  }
  if (isEmpty) {
    if (!launch.copies.empty())
      launches.push_back(std::move(launch));
    return {};
  }
  if (Status status = checkShape(spec, device); !status)
    return status;
  const std::string &name = spec.kernel->name();
  launch.threads = spec.threads;
  launch.clusterSize = spec.clusterSize;
  // Before the first there is what the caller has put on the stream.
  bool isFirst = std::all_of(launches.begin(), launches.end(),
                             [](const FrozenLaunch &before) { return !before.function; });
  launch.overlap = spec.overlap && !isFirst && device.properties().ccMajor >= 9 &&
                   device.driver().version() >= kCapturesOverlap;
  launch.dynamicSharedBytes = spec.dynamicSharedBytes;
  std::copy(spec.grid, spec.grid + 3, launch.grid);
  if (spec.arguments.size() > kMaxArguments)
    return badPlan(fmt::format("kernel @{} has {} arguments; the limit is {}", name,
                               spec.arguments.size(), kMaxArguments));

  // Where in `values` the parameters are that point there.
  std::vector<std::pair<unsigned, size_t>> valueOffsets;
  auto addValue = [&](unsigned parameter, std::string_view bytes) {
    // Parameters are read with at most their natural alignment, 16 bytes.
    launch.values.resize((launch.values.size() + 15) / 16 * 16);
    valueOffsets.push_back({parameter, launch.values.size()});
    launch.values += bytes;
  };
  uint64_t parameterBytes = 0;
  for (unsigned i = 0; i < spec.arguments.size(); ++i) {
    const LaunchArgument &argument = spec.arguments[i];
    launch.parameters.push_back(nullptr);
    if (argument.tensorMap)
      parameterBytes =
          (parameterBytes + alignof(TensorMap) - 1) / alignof(TensorMap) * alignof(TensorMap);
    parameterBytes += bytesOf(argument);
    if (argument.isValue) {
      if (argument.bytes.empty())
        return badPlan(fmt::format("argument {} of kernel @{} is an empty value", i, name));
      addValue(i, argument.bytes);
      continue;
    }
    auto at = place(spec, i);
    if (!at)
      return at.takeError();
    if (!argument.tensorMap) {
      launch.addresses.push_back(*at);
      continue;
    }
    TensorMap map;
    if (Status encoded = argument.tensorMap->encode(device, map); !encoded)
      return badPlan(fmt::format("argument {} of kernel @{} is to be a map of {}", i, name,
                                 encoded.error().message));
    if (Status fits = checkTile(spec, *at); !fits)
      return fits;
    // What is empty may have no address, and keeps the one that the map was made with.
    if (argument.tensorMap->isEmpty())
      addValue(i, {map.bytes, sizeof map});
    else
      launch.tensorMaps.push_back({*at, map});
  }
  if (parameterBytes > kMaxParameterBytes)
    return badPlan(fmt::format("the arguments of kernel @{} have {} bytes; the limit is {}", name,
                               parameterBytes, kMaxParameterBytes));
  Expected<FunctionHandle> function =
      spec.kernel->prepare(device, spec.dynamicSharedBytes, spec.clusterSize);
  if (!function)
    return function.takeError();
  launch.function = *function;
  if (Status fits = checkClustersFit(launch, device); !fits)
    return fits;
  if (Status status = checkParameters(spec, device); !status)
    return status;

  launches.push_back(std::move(launch));
  // Now that the values stay where they are.
  FrozenLaunch &kept = launches.back();
  for (auto [parameter, offset] : valueOffsets)
    kept.parameters[parameter] = kept.values.data() + offset;
  return {};
}

Expected<Plan> Plan::create(const Device &device, PlanSpec spec) {
  auto state = std::make_shared<State>(device);
  state->inputs = std::move(spec.inputs);
  state->outputs = std::move(spec.outputs);
  state->workspace = {"workspace", spec.workspaceBytes, spec.workspaceAlignment};
  if (state->slotCount() > kMaxSlots)
    return badPlan(fmt::format("it has {} inputs and outputs; the limit is {}",
                               state->slotCount() - 1, kMaxSlots - 1));
  for (unsigned number = 0; number < state->slotCount(); ++number) {
    const BufferSpec &buffer = state->slot(number);
    if (Status status = checkBuffer(buffer, state->slotName(number)); !status)
      return status.takeError();
    state->slots.push_back(
        {buffer.bytes, buffer.alignment - 1, number >= unsigned(state->inputs.size())});
  }

  // What is written, an output or the workspace, shares no memory with anything else.
  unsigned inputCount = unsigned(state->inputs.size());
  for (unsigned written = inputCount; written < state->slotCount(); ++written)
    for (unsigned other = 0; other < written; ++other) {
      std::pair<unsigned, unsigned> alias(written - inputCount, other);
      bool mayAlias = other < inputCount && std::find(spec.aliases.begin(), spec.aliases.end(),
                                                      alias) != spec.aliases.end();
      if (state->slot(written).bytes != 0 && state->slot(other).bytes != 0)
        state->disjoint.push_back({written, other, mayAlias});
    }

  // Elements must not move: their parameters point into their own values.
  state->launches.reserve(spec.launches.size());
  for (const LaunchSpec &launch : spec.launches)
    if (Status status = state->freeze(launch); !status)
      return status.takeError();
  return Plan(std::move(state));
}

//===----------------------------------------------------------------------===//
// Launch: no allocation before the first error
//===----------------------------------------------------------------------===//

static Result put(const Driver &cuda, const FrozenLaunch &launch, bool overlaps,
                  StreamHandle stream, void **parameters) {
  if (launch.clusterSize == 1 && !overlaps)
    return cuda.cuLaunchKernel(launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                               launch.threads, 1, 1, launch.dynamicSharedBytes, stream, parameters,
                               nullptr);
  ExtendedLaunch extended(launch, overlaps, stream);
  return cuda.cuLaunchKernelEx(&extended.config, launch.function, parameters, nullptr);
}

Status Plan::State::badSlot(unsigned number, DevicePointer address) const {
  const BufferSpec &buffer = slot(number);
  if (!address)
    return makeError(Stage::Launch,
                     fmt::format("{} is null; needed: {} bytes", slotName(number), buffer.bytes));
  return makeError(Stage::Launch, fmt::format("{} is at {:#x}; needed: an address divisible by {}",
                                              slotName(number), address, buffer.alignment));
}

/// Null pointers, alignment and overlaps.
Status Plan::State::checkSlots(const DevicePointer *addresses) const {
  for (unsigned number = 0; number < slots.size(); ++number)
    if (const SlotCheck &check = slots[number];
        check.bytes && (!addresses[number] || (addresses[number] & check.alignmentMask)))
      return badSlot(number, addresses[number]);

  // All pairs without a branch: there are few, and overlaps, which an alias may allow, are rare.
  bool overlaps = false;
  for (const DisjointPair &pair : disjoint) {
    DevicePointer a = addresses[pair.written], b = addresses[pair.other];
    overlaps |= (a < b + slots[pair.other].bytes) & (b < a + slots[pair.written].bytes);
  }
  if (!overlaps)
    return {};
  for (const auto &[written, other, mayBeEqual] : disjoint) {
    DevicePointer a = addresses[written], b = addresses[other];
    if (a == b && mayBeEqual)
      continue;
    if (a < b + slots[other].bytes && b < a + slots[written].bytes)
      return makeError(Stage::Launch,
                       fmt::format("{} ({} bytes at {:#x}) overlaps {} ({} bytes at {:#x})",
                                   slotName(written), slots[written].bytes, a, slotName(other),
                                   slots[other].bytes, b));
  }
  return {};
}

/// Tensor maps with the caller's addresses, which the driver writes for a current context only.
static Status placeMaps(const Device &device, const FrozenLaunch &launch,
                        const DevicePointer *slots, TensorMap *map, void **parameters) {
  ScopedContext scope(device);
  if (!scope.status())
    return scope.status();
  for (const TensorMapArgument &argument : launch.tensorMaps) {
    const AddressArgument &at = argument.address;
    *map = argument.map;
    DevicePointer address = slots[at.slot] + at.byteOffset;
    if (Result replaced =
            device.driver().cuTensorMapReplaceAddress(map, reinterpret_cast<void *>(address));
        replaced != kSuccess)
      return device.check(Stage::Launch, "cuTensorMapReplaceAddress", replaced,
                          fmt::format("kernel @{}, argument {} at {:#x}", launch.kernel->name(),
                                      at.parameter, address));
    parameters[at.parameter] = map++;
  }
  return {};
}

/// Copies what is not in place; whether something was copied.
static Expected<bool> putCopies(const Device &device, const FrozenLaunch &launch,
                                const DevicePointer *slots, StreamHandle stream) {
  bool hasCopied = false;
  for (const FrozenCopy &copy : launch.copies) {
    DevicePointer from = slots[copy.from.slot] + copy.from.byteOffset,
                  to = slots[copy.to.slot] + copy.to.byteOffset;
    if (from == to)
      continue;
    hasCopied = true;
    if (Result copied = device.driver().cuMemcpyDtoDAsync_v2(to, from, copy.bytes, stream);
        copied != kSuccess)
      return device
          .check(Stage::Launch, "cuMemcpyDtoDAsync", copied, fmt::format("{} bytes", copy.bytes))
          .error();
  }
  return hasCopied;
}

Status Plan::launch(StreamHandle stream, const void *const *inputs, void *const *outputs,
                    void *workspace) const {
  const State &plan = *state;
  if (!plan.device.isHealthy())
    return plan.device.health();
  DevicePointer slots[kMaxSlots];
  DevicePointer *end = slots;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    *end++ = reinterpret_cast<DevicePointer>(inputs[i]);
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    *end++ = reinterpret_cast<DevicePointer>(outputs[i]);
  *end = reinterpret_cast<DevicePointer>(workspace);
  if (Status checked = plan.checkSlots(slots); !checked)
    return checked;

  const Driver &cuda = plan.device.driver();
  DevicePointer addresses[kMaxArguments];
  void *parameters[kMaxArguments];
  TensorMap maps[kMaxTensorMaps];
  bool isBehindCopy = false; // which nothing may overlap
  for (const FrozenLaunch &launch : plan.launches) {
    std::copy(launch.parameters.begin(), launch.parameters.end(), parameters);
    for (const AddressArgument &argument : launch.addresses) {
      addresses[argument.parameter] = slots[argument.slot] + argument.byteOffset;
      parameters[argument.parameter] = &addresses[argument.parameter];
    }
    if (!launch.tensorMaps.empty())
      if (Status placed = placeMaps(plan.device, launch, slots, maps, parameters); !placed)
        return placed;
    auto hasCopied = putCopies(plan.device, launch, slots, stream);
    if (!hasCopied)
      return hasCopied.takeError();
    isBehindCopy |= *hasCopied;
    if (!launch.function)
      continue;
    bool overlaps = launch.overlap && !std::exchange(isBehindCopy, false);
    Result result = put(cuda, launch, overlaps, stream, parameters);
    if (result == kSuccess)
      continue;
    std::string clusters =
        launch.clusterSize == 1 ? "" : fmt::format(", clusters of {}", launch.clusterSize);
    return plan.device.check(
        Stage::Launch, launch.clusterSize > 1 || overlaps ? "cuLaunchKernelEx" : "cuLaunchKernel",
        result,
        fmt::format("kernel @{}, {}x{}x{} blocks of {} threads{}, {} bytes of shared memory",
                    launch.kernel->name(), launch.grid[0], launch.grid[1], launch.grid[2],
                    launch.threads, clusters, launch.dynamicSharedBytes));
  }
  return {};
}

const std::vector<BufferSpec> &Plan::inputs() const { return state->inputs; }
const std::vector<BufferSpec> &Plan::outputs() const { return state->outputs; }
uint64_t Plan::workspaceBytes() const { return state->workspace.bytes; }
const Device &Plan::device() const { return state->device; }

std::vector<std::shared_ptr<const Kernel>> Plan::kernels() const {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const FrozenLaunch &launch : state->launches)
    kernels.push_back(launch.kernel);
  return kernels;
}
