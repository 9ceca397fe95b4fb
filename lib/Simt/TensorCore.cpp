//===- TensorCore.cpp - Products of matrices as the hardware sums them ----===//
#include "TensorCore.h"
#include "MatrixElements.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

using namespace swage::simt;

#pragma GCC diagnostic ignored "-Wpsabi"

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

/// Exponents of what has none: far enough from all others that sums of two keep their meaning.
static constexpr int kOfZero = -8192, kOfSpecial = 12000;
/// A sum of exponents below this has a zero in it.
static constexpr int kNoTerm = -4000;
/// Between these the arithmetic on floats below neither overflows nor loses bits.
static constexpr int kSmallest = -100, kLargest = 120;

/// Exponents of the lanes of one vector, and of two.
using Shorts = short __attribute__((vector_size(16)));
using MoreShorts = short __attribute__((vector_size(32)));

static SWAGE_SIMT_INLINE void store(short *to, Shorts shorts) {
  std::memcpy(to, &shorts, sizeof(shorts));
}
template <class Vector> static SWAGE_SIMT_INLINE Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}

/// Of numbers of a type whose smallest exponent is `smallest`.
static SWAGE_SIMT_INLINE Shorts exponentsOf(Floats values, int smallest) {
  const Ints field = reinterpret_cast<Ints>(asWords(values) >> 23 & 0xff);
  const Ints exponent = larger(field - 127, Ints{} + smallest);
  const Ints isZero = reinterpret_cast<Ints>((asWords(values) << 1) == 0);
  const Ints isSpecial = field == 255;
  return __builtin_convertvector(
      (exponent & ~(isZero | isSpecial)) | (isZero & kOfZero) | (isSpecial & kOfSpecial), Shorts);
}

static int smallestExponent(MatrixUnit unit, MatrixElement element) {
  switch (element) {
  case MatrixElement::Bf16:
  case MatrixElement::Tf32:
    return -126;
  case MatrixElement::E4m3: // as f16 in mma.sync
    return unit == MatrixUnit::Warpgroup ? -6 : -14;
  default:
    return -14;
  }
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

template <MatrixElement Element>
static SWAGE_SIMT_INLINE void setFromWords(Factor &factor, MatrixUnit unit, const unsigned *words) {
  constexpr unsigned kPerWord = Element == MatrixElement::Tf32 ? 1
                                : Element == MatrixElement::F16 || Element == MatrixElement::Bf16
                                    ? 2
                                    : 4;
  const int smallest = smallestExponent(unit, Element);
  const bool isSplit = unit == MatrixUnit::Warp && kPerWord == 4;
  for (unsigned word = 0; word < kOperandWords; ++word)
    for (unsigned row = 0; row < factor.rows; row += kLanesOfVector) {
      const Words loaded = loadWords(words + word * factor.rows + row);
      for (unsigned i = 0; i < kPerWord; ++i) {
        const unsigned k = isSplit ? i / 2 * 16 + 2 * word + i % 2 : word * kPerWord + i;
        const Floats values = widen<Element>(loaded, i);
        store(&factor.values[k * factor.rows + row], values);
        store(&factor.exponents[k * factor.rows + row], exponentsOf(values, smallest));
      }
    }
}

SWAGE_SIMT_CLONES void Factor::set(MatrixUnit unit, MatrixElement newElement, unsigned newRows,
                                   const unsigned *words) {
  element = newElement;
  rows = newRows;
  steps = kStepBytes / elementBytes(element);
  switch (element) {
  case MatrixElement::F16:
    return setFromWords<MatrixElement::F16>(*this, unit, words);
  case MatrixElement::Bf16:
    return setFromWords<MatrixElement::Bf16>(*this, unit, words);
  case MatrixElement::Tf32:
    return setFromWords<MatrixElement::Tf32>(*this, unit, words);
  case MatrixElement::E4m3:
    return setFromWords<MatrixElement::E4m3>(*this, unit, words);
  case MatrixElement::E5m2:
    return setFromWords<MatrixElement::E5m2>(*this, unit, words);
  case MatrixElement::S8:
    return setFromWords<MatrixElement::S8>(*this, unit, words);
  case MatrixElement::U8:
    return setFromWords<MatrixElement::U8>(*this, unit, words);
  }
}

/// Rows are contiguous in pieces of eight 16-bit elements.
template <MatrixElement Element>
static SWAGE_SIMT_INLINE void setFromPieces(Factor &factor, const char *shared,
                                            const MatrixDescriptor &descriptor) {
  const int smallest = smallestExponent(MatrixUnit::Warpgroup, Element);
  for (unsigned k = 0; k < factor.steps; ++k)
    for (unsigned row = 0; row < factor.rows; row += 8) {
      unsigned short __attribute__((vector_size(16))) elements;
      std::memcpy(&elements, shared + descriptor.pieceOfStep(k, row / 8), kPieceBytes);
      const Floats values = widen<Element>(__builtin_convertvector(elements, Words), 0);
      store(&factor.values[k * factor.rows + row], values);
      store(&factor.exponents[k * factor.rows + row], exponentsOf(values, smallest));
    }
}

SWAGE_SIMT_CLONES static void setTransposed(Factor &factor, const char *shared,
                                            const MatrixDescriptor &descriptor) {
  if (factor.element == MatrixElement::F16)
    setFromPieces<MatrixElement::F16>(factor, shared, descriptor);
  else
    setFromPieces<MatrixElement::Bf16>(factor, shared, descriptor);
}

void Factor::set(MatrixElement newElement, const char *shared, const MatrixDescriptor &descriptor,
                 const MatrixOperand &operand) {
  if (!operand.kMajor) {
    element = newElement;
    rows = operand.rows;
    steps = operand.steps();
    return setTransposed(*this, shared, descriptor);
  }
  alignas(64) unsigned words[kOperandWords * kMaxRows];
  for (unsigned row = 0; row < operand.rows; ++row)
    for (unsigned half = 0; half < 2; ++half) {
      unsigned piece[4];
      std::memcpy(piece, shared + descriptor.pieceOfRow(row, half), kPieceBytes);
      for (unsigned i = 0; i < 4; ++i)
        words[(4 * half + i) * operand.rows + row] = piece[i];
    }
  set(MatrixUnit::Warpgroup, newElement, operand.rows, words);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Where terms are cut.
static constexpr int kWide = 25, kNarrow = 13;

namespace {
/// Steps [begin, begin + count) of two factors.
struct Steps {
  const Factor &a, &b;
  unsigned begin, count;
};
} // namespace

static float theNaN() {
  constexpr unsigned kBits = 0x7fffffff;
  float result;
  std::memcpy(&result, &kBits, sizeof(result));
  return result;
}

/// One sum of which a term is special, or so large or small that floats do not hold it.
static float sumSlowly(const Steps &steps, unsigned row, unsigned column, float before,
                       int digits) {
  const Factor &a = steps.a, &b = steps.b;
  const auto product = [&](unsigned k) {
    return double(a.values[k * a.rows + row]) * b.values[k * b.rows + column];
  };
  double sum = before;
  int largest = std::isfinite(before) && before != 0 ? std::max(std::ilogb(before), -126) : kOfZero;
  for (unsigned k = steps.begin; k < steps.begin + steps.count; ++k) {
    sum += product(k);
    largest = std::max(largest, a.exponents[k * a.rows + row] + b.exponents[k * b.rows + column]);
  }
  if (std::isnan(sum))
    return theNaN();
  if (std::isinf(sum))
    return float(sum);
  const auto cut = [&](double term) { return std::trunc(std::ldexp(term, digits - largest)); };
  sum = cut(before);
  for (unsigned k = steps.begin; k < steps.begin + steps.count; ++k)
    sum += cut(product(k));
  sum = std::ldexp(sum, largest - digits);
  if (digits == kNarrow && sum != 0) {
    const int last = std::ilogb(sum) - kNarrow;
    sum = std::ldexp(std::trunc(std::ldexp(sum, -last)), last);
  }
  float result = float(sum);
  if (std::fabs(double(result)) > std::fabs(sum) && !std::isinf(result))
    result = std::nextafter(result, 0.0f);
  return result == 0 ? 0 : result; // never -0
}

/// Integers cut to floats.
static SWAGE_SIMT_INLINE Floats cutToFloats(Ints integers) {
  const Floats nearest = __builtin_convertvector(integers, Floats);
  const Ints back = __builtin_convertvector(nearest, Ints);
  // One step towards zero where rounding went the other way.  2^31 comes back as a negative number.
  const Ints isFar = ((back > integers) & (integers > 0)) | ((back < integers) & (integers < 0)) |
                     ((back < 0) & (integers > 0));
  return asFloats(asWords(nearest) + reinterpret_cast<Words>(isFar));
}

/// `Rows` rows by `Vectors` times eight columns.
template <int Digits, unsigned Rows, unsigned Vectors>
static SWAGE_SIMT_INLINE void sumBlock(const Steps &steps, unsigned row, unsigned column,
                                       bool accumulate, float *d) {
  static_assert(Vectors <= 2);
  using Exponents = std::conditional_t<Vectors == 2, MoreShorts, Shorts>;
  const Factor &a = steps.a, &b = steps.b;
  const auto place = [&](unsigned i, unsigned j) {
    return d + (row + i) * b.rows + column + j * kLanesOfVector;
  };
  const unsigned end = steps.begin + steps.count;

  Floats before[Rows][Vectors];
  Exponents exponents[Rows];
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Vectors; ++j) {
      before[i][j] = accumulate ? loadFloats(place(i, j)) : Floats{};
      const Shorts own = exponentsOf(before[i][j], -126);
      std::memcpy(reinterpret_cast<char *>(&exponents[i]) + j * sizeof(own), &own, sizeof(own));
    }
  for (unsigned k = steps.begin; k < end; ++k) {
    Exponents right;
    std::memcpy(&right, &b.exponents[k * b.rows + column], sizeof(right));
    for (unsigned i = 0; i < Rows; ++i)
      exponents[i] = larger(exponents[i], right + a.exponents[k * a.rows + row + i]);
  }

  Ints odd{};
  Ints units[Rows][Vectors]; ///< exponents of the last digit
  Floats scale[Rows][Vectors];
  // Products have 22 bits; 16 of them, shifted to 27 bits, may need more than one integer.
  Ints sums[Rows][Vectors], moreSums[Rows][Vectors];
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Vectors; ++j) {
      Shorts own;
      std::memcpy(&own, reinterpret_cast<char *>(&exponents[i]) + j * sizeof(own), sizeof(own));
      const Ints exponent = __builtin_convertvector(own, Ints);
      odd |= (exponent > kLargest) | ((exponent < kSmallest) & (exponent > kNoTerm));
      units[i][j] = larger(exponent, Ints{} + kSmallest) - Digits;
      scale[i][j] = reinterpret_cast<Floats>((127 - units[i][j]) << 23);
      sums[i][j] = __builtin_convertvector(before[i][j] * scale[i][j], Ints);
      moreSums[i][j] = Ints{};
    }
  const auto add = [&](unsigned from, unsigned to, Ints(&into)[Rows][Vectors]) {
    for (unsigned k = from; k < to; ++k)
      for (unsigned j = 0; j < Vectors; ++j) {
        const Floats right = loadFloats(&b.values[k * b.rows + column + j * kLanesOfVector]);
        for (unsigned i = 0; i < Rows; ++i) {
          const Floats product = a.values[k * a.rows + row + i] * right;
          into[i][j] += __builtin_convertvector(product * scale[i][j], Ints);
        }
      }
  };
  const unsigned middle = Digits == kWide ? std::min(steps.begin + 8, end) : end;
  add(steps.begin, middle, sums);
  add(middle, end, moreSums);

  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Vectors; ++j) {
      const Floats unit = reinterpret_cast<Floats>((units[i][j] + 127) << 23);
      if (Digits == kWide) {
        const Words sum =
            reinterpret_cast<Words>(sums[i][j]) + reinterpret_cast<Words>(moreSums[i][j]);
        const Ints total = reinterpret_cast<Ints>(sum);
        odd |= ((sums[i][j] ^ total) & (moreSums[i][j] ^ total)) < 0; // too large
        store(place(i, j), cutToFloats(total) * unit);
      } else {
        const Floats sum = __builtin_convertvector(sums[i][j], Floats);
        store(place(i, j), asFloats(asWords(sum) & ~((1u << (23 - kNarrow)) - 1)) * unit);
      }
    }

  unsigned long long parts[4];
  std::memcpy(parts, &odd, sizeof(parts));
  if (!(parts[0] | parts[1] | parts[2] | parts[3]))
    return;
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Vectors; ++j)
      for (unsigned lane = 0; lane < kLanesOfVector; ++lane)
        if (odd[lane])
          place(i, j)[lane] = sumSlowly(steps, row + i, column + j * kLanesOfVector + lane,
                                        before[i][j][lane], Digits);
}

template <int Digits>
static SWAGE_SIMT_INLINE void sum(const Steps &steps, bool accumulate, float *d) {
  for (unsigned row = 0; row < steps.a.rows; row += 2) {
    unsigned column = 0;
    for (; column + 16 <= steps.b.rows; column += 16)
      sumBlock<Digits, 2, 2>(steps, row, column, accumulate, d);
    if (column < steps.b.rows)
      sumBlock<Digits, 2, 1>(steps, row, column, accumulate, d);
  }
}

/// Floats hold sums of 32 products of bytes.
static SWAGE_SIMT_INLINE void sumIntegers(const Factor &a, const Factor &b, float *d) {
  for (unsigned row = 0; row < a.rows; ++row)
    for (unsigned column = 0; column < b.rows; column += kLanesOfVector) {
      Floats sum{};
      for (unsigned k = 0; k < a.steps; ++k)
        sum += a.values[k * a.rows + row] * loadFloats(&b.values[k * b.rows + column]);
      store(d + row * b.rows + column, sum);
    }
}

SWAGE_SIMT_CLONES void swage::simt::multiplyFactors(MatrixUnit unit, const Factor &a,
                                                    const Factor &b, bool accumulate, float *d) {
  if (isInteger(a.element))
    return sumIntegers(a, b, d);
  if (elementBytes(a.element) > 1)
    return sum<kWide>({a, b, 0, a.steps}, accumulate, d);
  if (unit == MatrixUnit::Warpgroup)
    return sum<kNarrow>({a, b, 0, a.steps}, accumulate, d);
  float products[16 * 8];
  sum<kWide>({a, b, 0, a.steps / 2}, false, products);
  sum<kWide>({a, b, a.steps / 2, a.steps / 2}, true, products);
  for (unsigned i = 0; i < a.rows * b.rows; ++i) {
    d[i] = products[i] + (accumulate ? d[i] : 0);
    if (std::isnan(d[i]))
      d[i] = theNaN();
  }
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// A word of A in register r of lane (g, t) = (lane / 4, lane % 4) is word t + 4 (r / 2) of row
/// g + 8 (r % 2), and a word of B is word t + 4 r of column g, whatever the elements are.
SWAGE_SIMT_CLONES void swage::simt::multiplyFragments(void *const *lanes) {
  constexpr unsigned kRows = 16, kColumns = 8, kLanes = 32;
  static thread_local Factor a, b;
  alignas(64) unsigned aWords[kOperandWords][kRows], bWords[kOperandWords][kColumns];
  alignas(64) float d[kRows][kColumns];
  const LaneMultiply &first = *static_cast<const LaneMultiply *>(lanes[0]);
  const bool integers = isInteger(first.elementA);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const LaneMultiply &own = *static_cast<const LaneMultiply *>(lanes[lane]);
    const unsigned g = lane / 4, t = lane % 4;
    aWords[t][g] = own.a[0];
    aWords[t][g + 8] = own.a[1];
    aWords[t + 4][g] = own.a[2];
    aWords[t + 4][g + 8] = own.a[3];
    bWords[t][g] = own.b[0];
    bWords[t + 4][g] = own.b[1];
    std::memcpy(&d[g][2 * t], own.d, 8);
    std::memcpy(&d[g + 8][2 * t], static_cast<const float *>(own.d) + 2, 8);
  }
  a.set(MatrixUnit::Warp, first.elementA, kRows, aWords[0]);
  b.set(MatrixUnit::Warp, first.elementB, kColumns, bWords[0]);
  multiplyFactors(MatrixUnit::Warp, a, b, true, d[0]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const LaneMultiply &own = *static_cast<const LaneMultiply *>(lanes[lane]);
    const unsigned g = lane / 4, t = lane % 4;
    if (integers) {
      auto *to = static_cast<unsigned *>(own.d);
      for (unsigned i = 0; i < 4; ++i)
        to[i] += static_cast<unsigned>(static_cast<int>(d[g + i / 2 * 8][2 * t + i % 2]));
    } else {
      std::memcpy(own.d, &d[g][2 * t], 8);
      std::memcpy(static_cast<float *>(own.d) + 2, &d[g + 8][2 * t], 8);
    }
  }
}
