//===- InputSpec.h - What arguments hold ----------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_INPUTSPEC_H
#define SWAGE_TOOLS_HARNESS_INPUTSPEC_H

#include "swage/JIT/Program.h"
#include "swage/Reference/InputFamilies.h"
#include "swage/Reference/Tensor.h"

namespace swage {

reference::ElementType elementTypeNamed(const std::string &name);

/// LLVM's error as one of ours.
Error convert(llvm::Error error, Stage stage = Stage::Input);

Expected<reference::Tensor> makeTensor(const TensorType &type);

/// A tensor for a program's argument or for a launch's input, made up where it is not given.
struct InputSpec {
  TensorType type;
  std::optional<reference::IntegerRange> range; ///< from `swage.range`
  const reference::Tensor *given = nullptr;     ///< for `Benchmark`, of this type

  /// Filled with the range, or as the acceptance rule's input families do.
  Expected<reference::Tensor> make(reference::InputFamily family, uint64_t seed,
                                   uint64_t stream) const;
};

/// Of a program's arguments, of these types.
std::vector<InputSpec> inputSpecs(const Program &program, const std::vector<TensorType> &types);
/// Of what a launch of the program reads: its arguments, and what launches in front of it leave, of
/// which only the types are known.
std::vector<InputSpec> inputSpecs(const Program &program, const LaunchInfo &launch);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_INPUTSPEC_H
