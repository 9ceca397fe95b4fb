//===- SimulatorKernels.cpp - Modules and launches of the simulator -------===//

#include "HostCompiler.h"
#include "Launch.h"
#include "SimulatorObjects.h"
#include "TensorMap.h"
#include "swage/Runtime/Kernel.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;
using namespace swage::cuda;

static constexpr unsigned kUsualDynamicShared = 48 << 10;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The size of an ELF file: it ends with a section, a segment or its table of sections.
static uint64_t elfBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, EI_NIDENT);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  std::memcpy(&header, image, sizeof header);
  const char *bytes = static_cast<const char *>(image);
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + uint64_t(i) * header.e_shentsize,
                sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max<uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

static Result loadLibrary(LibraryHandle *library, const void *image, void *, void **, unsigned,
                          void *, void **, unsigned) {
  uint64_t bytes = elfBytes(image);
  if (bytes == 0)
    return fail(kInvalidImage, "cuLibraryLoadData: not a module for the simulator");
  auto module = Module::load({static_cast<const char *>(image), bytes});
  if (!module)
    return fail(kInvalidImage, module.error().message);
  *library = new CUlib_st{*module, {}};
  return kSuccess;
}

static Result unloadLibrary(LibraryHandle library) {
  delete library;
  return kSuccess;
}

static Result getKernel(KernelHandle *kernel, LibraryHandle library, const char *name) {
  const KernelInfo *info = library->module->find(name);
  if (!info)
    return kNotFound;
  std::lock_guard<std::mutex> lock(global().mutex);
  for (CUkern_st &known : library->kernels)
    if (known.info == info) {
      *kernel = &known;
      return kSuccess;
    }
  library->kernels.push_back({library->module, info, kUsualDynamicShared, false, {}});
  *kernel = &library->kernels.back();
  return kSuccess;
}

static Result getFunction(FunctionHandle *function, KernelHandle kernel) {
  SimulatedDevice *device = currentDevice();
  if (!device)
    return kInvalidContext;
  if (bool checked = kernel->module->info().checked; checked != device->options.check)
    return fail(kInvalidImage,
                fmt::format("it was compiled {} and the simulator runs {} checks: compile with "
                            "the compiler for the same options",
                            checked ? "for checks" : "without checks",
                            device->options.check ? "with" : "without"));
  std::lock_guard<std::mutex> lock(global().mutex);
  for (CUfunc_st &known : kernel->functions)
    if (known.device == device) {
      *function = &known;
      return kSuccess;
    }
  kernel->functions.push_back({kernel, device});
  *function = &kernel->functions.back();
  return kSuccess;
}

static Result loadFunction(FunctionHandle) { return kSuccess; }

static Result setAttribute(FunctionAttribute attribute, int value, KernelHandle kernel,
                           DeviceOrdinal number) {
  if (attribute == kNonPortableClusterSizeAllowed) {
    kernel->takesLargeClusters = value != 0;
    return kSuccess;
  }
  if (attribute != kMaxDynamicSharedSizeBytes ||
      value > deviceAt(number).properties.sharedBytesPerBlockOptIn)
    return kInvalidValue;
  kernel->dynamicSharedLimit = std::max(kernel->dynamicSharedLimit, unsigned(value));
  return kSuccess;
}

static Result parameterInfo(KernelHandle kernel, size_t index, size_t *offset, size_t *bytes) {
  if (index >= kernel->info->parameters)
    return kInvalidValue;
  // Parameters lie apart here, and have no offsets in common.
  *offset = 0;
  *bytes = kernel->info->parameter[index].bytes;
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static Result encodeTiled(TensorMap *map, TensorMapElement element, uint32_t rank, void *address,
                          const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                          const uint32_t *steps, TensorMapInterleave interleave,
                          TensorMapSwizzle swizzle, TensorMapPromotion promotion,
                          TensorMapFill fill) {
  Status encoded =
      encodeTensorMap(map, unsigned(element), rank, address, extents, strides, box, steps,
                      unsigned(interleave), unsigned(swizzle), unsigned(promotion), unsigned(fill));
  return encoded ? kSuccess : fail(kInvalidValue, encoded.error().message);
}

static Result replaceAddress(TensorMap *map, void *address) {
  Status replaced = replaceTensorMapAddress(map, address);
  return replaced ? kSuccess : fail(kInvalidValue, replaced.error().message);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The values of a launch's parameters, each aligned as any type may ask.
class Arguments {
public:
  Arguments(const KernelInfo &kernel, void *const *values);
  void *const *get() const { return pointers.data(); }

private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines;
  std::vector<void *> pointers;
};
} // namespace

Arguments::Arguments(const KernelInfo &kernel, void *const *values) {
  size_t count = 0;
  for (unsigned i = 0; i < kernel.parameters; ++i)
    count += (kernel.parameter[i].bytes + sizeof(Line) - 1) / sizeof(Line);
  lines.resize(count);
  Line *next = lines.data();
  for (unsigned i = 0; i < kernel.parameters; ++i) {
    unsigned bytes = kernel.parameter[i].bytes;
    std::memcpy(next, values[i], bytes);
    pointers.push_back(next);
    next += (bytes + sizeof(Line) - 1) / sizeof(Line);
  }
}

static Result runNow(const CUfunc_st &function, const Launch &shape, const Arguments &arguments) {
  const KernelInfo &kernel = *function.kernel->info;
  std::vector<const char *> pointers(kernel.parameters, nullptr);
  for (unsigned i = 0; i < kernel.parameters; ++i)
    pointers[i] = pointedTo(kernel.parameter[i], arguments.get()[i]);
  std::vector<MemoryRange> memory = global().memory.ranges(pointers);
  Launch launch = shape;
  launch.module = function.kernel->module.get();
  launch.kernel = &kernel;
  launch.arguments = arguments.get();
  launch.memory = &memory;
  const DeviceProperties &properties = function.device->properties;
  launch.capability = unsigned(properties.ccMajor * 10 + properties.ccMinor);
  std::optional<Finding> finding = simt::run(launch, function.device->options);
  return finding ? fail(kLaunchFailed, finding->str()) : kSuccess;
}

/// What a launch's attributes say; an error where its kernel does not take such clusters.
static Result readAttributes(const LaunchConfig &config, const CUkern_st &kernel, Launch &shape) {
  for (unsigned i = 0; i < config.attributeCount; ++i)
    if (config.attributes[i].id == LaunchAttribute::kClusterDimension)
      shape.clusterSize = config.attributes[i].cluster[0];
    else if (config.attributes[i].id == LaunchAttribute::kProgrammaticStreamSerialization)
      shape.overlap = config.attributes[i].isAllowed != 0;
  if (shape.clusterSize > Kernel::kPortableClusterSize && !kernel.takesLargeClusters)
    return fail(kInvalidValue,
                fmt::format("a cluster of {} blocks; allowed: {}, more with cuKernelSetAttribute",
                            shape.clusterSize, Kernel::kPortableClusterSize));
  return kSuccess;
}

/// Any number of blocks can wait for each other here.
static Result maxActiveClusters(int *clusters, FunctionHandle function,
                                const LaunchConfig *config) {
  Launch shape;
  Result result = readAttributes(*config, *function->kernel, shape);
  *clusters = result == kSuccess;
  return result;
}

static Result launchEx(const LaunchConfig *config, FunctionHandle function, void **parameters,
                       void **extra) {
  if (extra)
    return fail(kNotSupported, "cuLaunchKernel: the simulator takes no packed parameters");
  for (int axis = 1; axis < 3; ++axis)
    if (config->grid[axis] != 1 || config->block[axis] != 1)
      return fail(kNotSupported, fmt::format("cuLaunchKernel: the simulator runs grids and blocks "
                                             "of one dimension only, and this one has {} blocks of "
                                             "{} threads along {}",
                                             config->grid[axis], config->block[axis], "xyz"[axis]));
  Launch shape;
  shape.blocks = config->grid[0];
  shape.threads = config->block[0];
  shape.dynamicSharedBytes = config->sharedBytes;
  if (Result result = readAttributes(*config, *function->kernel, shape); result != kSuccess)
    return result;
  if (shape.dynamicSharedBytes > function->kernel->dynamicSharedLimit)
    return fail(kInvalidValue,
                fmt::format("cuLaunchKernel: {} bytes of dynamic shared memory; allowed: {}, more "
                            "with cuKernelSetAttribute",
                            shape.dynamicSharedBytes, function->kernel->dynamicSharedLimit));
  auto arguments = std::make_shared<const Arguments>(*function->kernel->info, parameters);
  return put(config->stream, [=] { return runNow(*function, shape, *arguments); });
}

static Result launch(FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ,
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                     StreamHandle stream, void **parameters, void **extra) {
  LaunchConfig config = {
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, stream, nullptr, 0};
  return launchEx(&config, function, parameters, extra);
}

void swage::simt::addKernelFunctions(Driver &driver) {
  driver.cuLibraryLoadData = loadLibrary;
  driver.cuLibraryUnload = unloadLibrary;
  driver.cuLibraryGetKernel = getKernel;
  driver.cuKernelGetFunction = getFunction;
  driver.cuKernelSetAttribute = setAttribute;
  driver.cuLaunchKernel = launch;
  driver.cuLaunchKernelEx = launchEx;
  driver.cuOccupancyMaxActiveClusters = maxActiveClusters;
  driver.cuFuncLoad = loadFunction;
  driver.cuKernelGetParamInfo = parameterInfo;
  driver.cuTensorMapEncodeTiled = encodeTiled;
  driver.cuTensorMapReplaceAddress = replaceAddress;
}
