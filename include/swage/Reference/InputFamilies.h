//===- InputFamilies.h - What kernels are tested on -------------*- C++ -*-===//
//
// Inputs that find different faults: sparse small integers make structural faults gross and sums
// exact, dense random ones show rounding, the rest are values that break careless arithmetic.
// Element i depends on (seed, stream, i) alone: threads and tensor sizes do not change it.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_INPUTFAMILIES_H
#define SWAGE_REFERENCE_INPUTFAMILIES_H

#include "swage/Reference/Tensor.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace swage::reference {

/// A row is the last dimension. Each family but Exact is Dense with some elements replaced.
/// Integer tensors hold -2..2 in every family unless a range says otherwise, bools 0 or 1.
enum class InputFamily : uint8_t {
  Exact,        ///< 0 with probability 3/4, else -2, -1, 1 or 2
  Dense,        ///< the sum of four uniform numbers, scaled to mean 0, variance 1, |x| < 3.47
  SignedZeros,  ///< half of the elements are +0 or -0
  Denormals,    ///< half are denormal numbers of the type, either sign
  Infinities,   ///< one element in 64 is +inf, one in 64 -inf; every fourth row is all -inf
  OneNaN,       ///< one NaN in each even row, at a position that depends on the row
  Largest,      ///< one element in 64 is the largest finite number of the type, either sign
  ConstantRows, ///< every element of a row is that row's first dense value
  Spike,        ///< one element of each row is 1000
  LargeMean,    ///< 256 is added to every element: mean >> standard deviation
};

constexpr unsigned kInputFamilies = 10;

/// "exact", "dense", "signed-zeros", ...
llvm::StringRef name(InputFamily family);
std::optional<InputFamily> parseInputFamily(llvm::StringRef name);

/// 64 well-mixed bits for (seed, stream, counter).
uint64_t randomBits(uint64_t seed, uint64_t stream, uint64_t counter);

/// Fills the tensor. `stream` tells tensors of one case apart: use the argument's position.
void fillInput(Tensor &tensor, InputFamily family, uint64_t seed, uint64_t stream);

/// Integers from `least` to `greatest`, both included; least <= greatest.
struct IntegerRange {
  int64_t least = 0, greatest = 0;
};

/// Fills a tensor of integers with those of the range in random order, each once before any comes a
/// second time: lengths that differ, tables that name a page once. Element i depends on (seed,
/// stream, i) and the range alone.
void fillRange(Tensor &tensor, IntegerRange range, uint64_t seed, uint64_t stream);

} // namespace swage::reference

#endif // SWAGE_REFERENCE_INPUTFAMILIES_H
