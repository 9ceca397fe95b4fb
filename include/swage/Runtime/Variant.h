//===- Variant.h - A program's kernels for one set of guards --------------===//
//
// What the compiler leaves of a program: its kernels as machine code, and everything about their
// launches as expressions over runtime sizes.  Plain data without MLIR, so that the runtime lays
// out launches by itself and a bundle holds it as it is.  Immutable once made; safe to use from
// several threads.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_VARIANT_H
#define SWAGE_RUNTIME_VARIANT_H

#include "swage/Runtime/Plan.h"
#include "swage/Runtime/SizeExpression.h"
#include "swage/Support/Api.h"
#include "swage/Support/KernelBinary.h"
#include "swage/Support/TensorType.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace swage {

class Context;

/// What a variant relies on: it serves every call for which all of it holds.
struct SWAGE_API Guards {
  std::string arch = "sm_90a";
  int indexBits = 32; ///< 32: every offset fits; 64: any
  /// Of each input, then of each result, in bytes: a power of two up to 16.
  std::vector<uint8_t> alignment;
  /// Of each dynamic extent of the inputs, in order of argument and dimension.
  struct Extent {
    int64_t multipleOf = 1; ///< divides the extent
    int64_t atMost = 0;     ///< the extent is no larger; 0: any
  };
  std::vector<Extent> extents;

  /// "sm_90a, 32-bit offsets, addresses aligned to 16 bytes, input 0 dimension 1 a multiple of 8
  /// and at most 1024".  `inputs`: of the program, as declared.
  std::string str(const std::vector<TensorType> &inputs) const;
};
bool operator==(const Guards &a, const Guards &b);
inline bool operator!=(const Guards &a, const Guards &b) { return !(a == b); }

/// What is known about a compiled kernel.
struct KernelInfo {
  std::string name;
  std::string family;           ///< the template: "row", "permute", ...
  std::string schedule;         ///< the attribute, as text
  std::vector<std::string> ops; ///< "swage.layer_norm at 12:8": what it computes
  unsigned threads = 0;
  unsigned clusterSize = 1; ///< blocks; 1: no clusters
  unsigned dynamicSharedBytes = 0;
  unsigned scratchBytes = 0; ///< of the workspace, for each launch by itself
  bool overlap = false;      ///< it waits by itself for the kernels before it (Plan.h)
  int indexBits = 0;
  std::string source;
  std::string overriddenBy; ///< the file that `source` is from; empty: generated
  /// Null where all outputs are known to be empty: there is nothing to compile.
  std::shared_ptr<const KernelBinary> binary;
};

/// A view that the copy engine reads or writes in boxes (TensorTile.h): the kernel's parameter is a
/// tensor map.
struct SymbolicTile {
  std::vector<unsigned> dims; ///< of the iteration space, innermost first
  /// Along each of them. Where the innermost one's stride is not 1, all that lies between is moved.
  std::vector<uint32_t> box;
  unsigned swizzle = 0;       ///< bytes
};

/// How a kernel touches one tensor.
struct SymbolicView {
  unsigned tensor = 0; ///< among the launch's inputs, or its outputs
  std::string element; ///< as the kernel sees it: bits may be moved as i16
  int64_t elementBytes = 0;
  uint64_t alignment = 1; ///< that the kernel relies on
  std::vector<SizeExpression> shape;
  std::vector<SizeExpression> strides; ///< one for each extent of the kernel, in elements
  SizeExpression offset;
  std::optional<SymbolicTile> tile = {}; ///< none: the kernel's parameter is an address
  /// What strides and tiles are for; none: the kernel's.
  std::vector<SizeExpression> extents = {};
};

/// The part of a kernel's launch that depends on sizes.
struct SymbolicKernel {
  std::vector<SizeExpression> extents; ///< of the iteration space
  std::vector<bool> isReduced;         ///< one for each extent
  /// What the schedule relies on of each runtime size; empty: nothing.  The promise may have been
  /// made of another extent that the graph makes equal, so that it is no guard on this one.
  std::vector<Guards::Extent> facts;
  SizeExpression blocks;
  std::vector<SizeExpression> dividers;
  std::vector<SizeExpression> largestOffsets; ///< must fit the kernel's index type
  SizeExpression bytesMoved;
  std::vector<SymbolicView> inputs, outputs;
  /// (output, input) tensors that may be the same memory, if no other tensor of the launch is.
  std::vector<std::pair<unsigned, unsigned>> inPlace;
  /// (output, input) tensors, of which the output holds the input's elements where nothing is
  /// written: they are the same memory, or the input is copied there first.
  std::vector<std::pair<unsigned, unsigned>> kept;
  /// Of such outputs: how many rows there are, and how many are written at once, which is no more.
  std::vector<std::pair<SizeExpression, SizeExpression>> rows;
  /// Elements that a block takes. The last block reads elements of other threads too, and drops
  /// them, unless it is full. 0: any block may.
  int64_t elementsPerBlock = 1;
};

/// A launch of the entry function, in order.
struct SymbolicLaunch {
  /// An extent of an argument: what a runtime size is.
  struct Size {
    unsigned argument;
    unsigned dim;
  };
  /// Where a tensor comes from or goes to: an argument, a result of the function, or a result of a
  /// launch that stays in the workspace.
  struct Place {
    BufferKind kind;
    unsigned index; ///< for the workspace: of the value, counted over all launches
  };
  unsigned kernel = 0; ///< position in Variant::kernels
  std::vector<Size> sizes;
  std::vector<Place> inputs, outputs;
};

/// One tensor of a launch.
struct LaunchTensor {
  BufferKind kind = BufferKind::Input;
  unsigned index = 0;  ///< of the input or output
  uint64_t offset = 0; ///< in the workspace
  TensorType type;
  uint64_t alignment = 16; ///< that the kernel relies on
};

/// One of a kernel's parameters: the address of a tensor, or a map of it.
struct LaunchView {
  unsigned tensor = 0; ///< among the launch's inputs, or its outputs
  std::optional<TensorTile> tile;
  uint64_t tileOffset = 0; ///< bytes from the tensor's first element to the first of `tile`
};

struct LaunchInfo {
  unsigned kernel = 0; ///< position among the kernels of the variant
  uint64_t blocks = 0; ///< 0: there is nothing to do
  unsigned threads = 0;
  unsigned clusterSize = 1; ///< divides `blocks`
  unsigned dynamicSharedBytes = 0;
  bool overlap = false;    ///< it may start before the launch in front has ended
  uint64_t bytesMoved = 0; ///< least number of bytes that the kernel must read and write
  std::vector<LaunchTensor> inputs, outputs;
  /// (output, input) tensors: an output that lies elsewhere begins as a copy of the input.
  std::vector<std::pair<unsigned, unsigned>> kept;
  /// Those of them whose input is read where the output is, behind what is written there.
  std::vector<std::pair<unsigned, unsigned>> readBehind;
  /// The kernel's first parameters: one for each input view, then one for each output view.
  std::vector<LaunchView> inputViews, outputViews;
  /// Memory that the launch uses alone, and that holds anything: the next parameter is its address.
  unsigned scratchBytes = 0;  ///< 0: there is no such parameter
  uint64_t scratchOffset = 0; ///< in the workspace
  std::string sizes;          ///< bytes of the kernel's last parameter; empty: it has none
};

/// Everything about a run that depends on shapes and not on a device.
struct Layout {
  std::vector<TensorType> inputs, results;
  /// (result, input) pairs that the caller may pass as the same memory.
  std::vector<std::pair<unsigned, unsigned>> aliases;
  std::vector<LaunchInfo> launches;
  uint64_t workspaceBytes = 0;
  uint64_t workspaceLowerBound = 0; ///< most bytes that are in use at once: no plan needs less
  int indexBits = 32;               ///< of the variant that made it
};

/// Where the dynamic extents of the inputs are, in the order of Guards::extents.
std::vector<SymbolicLaunch::Size> dynamicExtents(const std::vector<TensorType> &inputs);

/// Which dynamic extents of the inputs matter to schedules, in the order of Guards::extents: guards
/// on the others are dropped, so that shapes share variants.
struct ExtentNeeds {
  bool multiple = false;
  bool limit = false;
  bool count = false; ///< of rows or queries
  /// What the module itself promises of the extent; every variant relies on it.
  Guards::Extent promised;
};

/// The classes of ShapeClass.h that dynamic extents belong to, as far as they matter, and what was
/// promised of them.
std::vector<Guards::Extent> extentClasses(const std::vector<ExtentNeeds> &needs,
                                          const Dims &extents);

class Variant {
public:
  // What the compiler fills in, before the variant is shared.
  std::string entryName; ///< for messages
  Guards guards;
  std::vector<TensorType> inputs, results; ///< as declared
  std::vector<KernelInfo> kernels;         ///< in the order of their first launch
  std::vector<SymbolicKernel> symbolic;    ///< one for each kernel
  std::vector<SymbolicLaunch> launches;
  unsigned workspaceValues = 0;
  /// (result, input) pairs that the caller may pass as the same memory.
  std::vector<std::pair<unsigned, unsigned>> aliases;
  std::vector<std::string> remarks; ///< what the passes decided and why, with locations
  /// "line:column" of the graph values that go through memory between two kernels.
  std::vector<std::string> storedLocations;

  /// Checks the shapes of the inputs and lays out launches and workspace.  Nothing where an offset
  /// does not fit the variant's index type; an error of stage Input where shapes do not fit the
  /// program or break a guard.
  Expected<std::optional<Layout>> layOut(const std::vector<Dims> &inputs) const;

  /// The launches of a layout of this variant, ready to go on `device`.  `context`, if given, hears
  /// of each kernel that is loaded.
  Expected<Plan> plan(const Device &device, const Layout &layout,
                      const Context *context = nullptr) const;
  /// Whether `plan` would load nothing.
  bool isLoaded(const Device &device, const Layout &layout) const;
  /// One launch of a layout by itself: its tensors are the plan's inputs and outputs.
  Expected<Plan> planLaunch(const Device &device, const Layout &layout, size_t launch,
                            const Context *context = nullptr) const;

private:
  Expected<std::shared_ptr<Kernel>> load(const KernelInfo &kernel, const Device &device,
                                         const Context *context) const;

  mutable std::mutex mutex; ///< of what follows
  mutable std::map<std::pair<const KernelBinary *, const cuda::Driver *>, std::shared_ptr<Kernel>>
      loaded;
};

} // namespace swage

#endif // SWAGE_RUNTIME_VARIANT_H
