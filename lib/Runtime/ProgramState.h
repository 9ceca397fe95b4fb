//===- ProgramState.h - What Program holds --------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_PROGRAMSTATE_H
#define SWAGE_LIB_RUNTIME_PROGRAMSTATE_H

#include "ContextState.h"
#include "PlanTable.h"
#include "VariantSet.h"

namespace swage {

/// A tensor as run checks it.
struct DeclaredTensor {
  ElementType type = ElementType::F32;
  uint8_t naturalAlignment = 1; ///< the size of an element
  Dims shape;
};

/// Everything that decides which plan serves a call.
struct Call {
  const Device &device;
  const std::vector<Dims> &inputs;
  std::vector<uint8_t> alignment; ///< of inputs and results: 16, or that of the element
};

struct Program::State {
  State(std::string name, std::vector<TensorType> inputs, std::vector<TensorType> results,
        std::shared_ptr<VariantSource> source, const Context &context);

  const std::string name;
  const std::vector<TensorType> inputs, results;
  const std::shared_ptr<VariantSource> source;
  const Context context;
  std::vector<DeclaredTensor> declared; ///< inputs, then results
  size_t keyWords;
  VariantSet variants;
  PlanTable plans;

  /// A device that can be used, in the process of the context.
  Status checkUsable(const Device &device) const;
  Status checkShapes(const std::vector<Dims> &dims) const;
  Expected<std::vector<uint8_t>> alignmentClasses(const std::vector<uint8_t> &given) const;
  /// Of the dynamic dimensions, from shapes that were checked.
  Dims extentsOf(const std::vector<Dims> &dims) const;
  PlanKey keyOf(const Call &call) const;
  /// 32, or 64 where an input alone has more elements than that.
  int leastIndexBits(const std::vector<Dims> &dims) const;

  /// The variant that serves a call, and the layout for its shapes; made if need be, or null.
  struct Served {
    VariantSet::Made variant;
    Layout layout;
  };
  Expected<std::optional<Served>> serve(const std::string &arch, const std::vector<Dims> &dims,
                                        const std::vector<uint8_t> &alignment, PlanMode mode);
  /// From the table, or made.
  Expected<PlanTable::Entry> plan(const Call &call, PlanMode mode);
  /// Made for a call of run, whose stream may be captured: then nothing is loaded.
  Expected<PlanTable::Entry> planForRun(const Call &call, cuda::StreamHandle stream);
  std::string describe(const std::vector<Dims> &dims) const;

private:
  Expected<PlanTable::Entry> makePlan(const Call &call, const Served &served);
  Error notReady(const Call &call, const std::string &why) const;
};

// Keys: driver and context, alignment bits, extents.

/// Words of a key in front of the alignment bits: driver and context.
constexpr size_t kDeviceWords = 2;

inline size_t alignmentWords(size_t tensors) { return (tensors + 63) / 64; }

/// The device, and no tensor aligned.
inline void startKey(PlanKey &key, const Device &device, size_t tensors) {
  key[0] = reinterpret_cast<uint64_t>(&device.driver());
  key[1] = reinterpret_cast<uint64_t>(device.context());
  std::fill_n(key.data() + kDeviceWords, alignmentWords(tensors), 0);
}

inline void setAligned(PlanKey &key, size_t tensor) {
  key[kDeviceWords + tensor / 64] |= uint64_t(1) << (tensor % 64);
}

/// "{4, 768}", as a caller writes it.
std::string describeDims(const Dims &dims);

/// What kernels for a device are compiled for: "sm_90a", "sim:sm_90a".
std::string archOf(const Device &device);

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_PROGRAMSTATE_H
