//===- TensorCore.h - Products of matrices as the hardware sums them ------===//
//
// Bit for bit what an H200 computes; found by experiment, and equal on 1.6 million random sums of
// all element types, subnormal and special values included.
//
// One instruction adds the 8, 16 or 32 products of an element of D, and what D held before, at
// once:
//  - The products are exact.  The exponent of a term is that of the accumulator, or the sum of the
//    exponents of the factors, whose significands are not multiplied for that; subnormal factors
//    have the smallest exponent of their type, zeros have none.
//  - Every term is cut, towards zero, at the 25th binary digit below the largest exponent of all.
//  - The sum of these is exact, and cut to a float.
// wgmma of 8-bit floats cuts at the 13th digit instead, and the sum too: D has 14 significant bits.
// mma.sync of 8-bit floats is two such instructions for f16, the first on elements 0 and 1 of each
// word of four, the second on 2 and 3, which start at zero; D is added in a float addition at the
// end. Special values give what IEEE 754 says; every NaN is 0x7fffffff.  s8 and u8 are exact.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_TENSORCORE_H
#define SWAGE_LIB_SIMT_TENSORCORE_H

#include "Descriptor.h"

#include <array>

namespace swage::simt {

enum class MatrixUnit {
  Warp,     ///< mma.sync
  Warpgroup ///< wgmma
};

/// Every matrix instruction reads 32 bytes along k of each row of A and each column of B: eight
/// words, each with one, two or four elements.
constexpr unsigned kOperandWords = 8;

/// A, or B transposed.
struct alignas(64) Factor {
  static constexpr unsigned kMaxRows = 256, kMaxSteps = 32;

  MatrixElement element = MatrixElement::F16;
  unsigned rows = 0, steps = 0;
  /// [k][row]; k in the order in which the unit takes it.
  std::array<float, kMaxSteps * kMaxRows> values;
  std::array<short, kMaxSteps * kMaxRows> exponents;

  Factor() {}
  /// From words [word][row].
  void set(MatrixUnit unit, MatrixElement element, unsigned rows, const unsigned *words);
  /// From shared memory, of which address 0 is `shared`.
  void set(MatrixElement element, const char *shared, const MatrixDescriptor &descriptor,
           const MatrixOperand &operand);
};

/// d[row][column] = (accumulate ? d : 0) + a b, with as many rows as `a` and columns as `b` has
/// rows. Of integers d is a float too: the exact sum of the products alone.
void multiplyFactors(MatrixUnit unit, const Factor &a, const Factor &b, bool accumulate, float *d);

/// What one lane of a warp passes to mma.sync.
struct LaneMultiply {
  MatrixElement elementA, elementB;
  void *d; ///< four floats, or ints
  const unsigned *a, *b;
};
/// mma.sync, from what the lanes passed.
void multiplyFragments(void *const *lanes);

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_TENSORCORE_H
