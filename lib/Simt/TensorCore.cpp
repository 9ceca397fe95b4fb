//===- TensorCore.cpp - Products of matrices as the hardware sums them ----===//
#include "TensorCore.h"
#include "MatrixElements.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

using namespace swage::simt;

static const bool hasAvx2 = SWAGE_SIMT_HAS_AVX2;

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

/// Exponents of what has none: far enough from all others that sums of two keep their meaning.
static constexpr int kOfZero = -8192, kOfSpecial = 12000;
/// A sum of exponents below this has a zero in it.
static constexpr int kNoTerm = -4000;
/// Between these the arithmetic on floats below neither overflows nor loses bits.
static constexpr int kSmallest = -100, kLargest = 120;

template <class Vector> static SWAGE_SIMT_INLINE Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}

/// Of numbers of a type whose smallest exponent is `smallest`.
template <class V>
static SWAGE_SIMT_INLINE typename V::Shorts exponentsOf(typename V::Floats values, int smallest) {
  using Words = typename V::Words;
  using Ints = typename V::Ints;
  const Ints field = as<Ints>(as<Words>(values) >> 23 & 0xff);
  const Ints exponent = larger(field - 127, Ints{} + smallest);
  const Ints isZero = as<Ints>((as<Words>(values) << 1) == 0);
  const Ints isSpecial = field == 255;
  return __builtin_convertvector((exponent & ~(isZero | isSpecial)) | (isZero & kOfZero) |
                                     (isSpecial & kOfSpecial),
                                 typename V::Shorts);
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

template <class V, MatrixElement Element>
static SWAGE_SIMT_INLINE void setFromWords(Factor &factor, MatrixUnit unit, const unsigned *words) {
  constexpr unsigned kPerWord = Element == MatrixElement::Tf32 ? 1
                                : Element == MatrixElement::F16 || Element == MatrixElement::Bf16
                                    ? 2
                                    : 4;
  const int smallest = smallestExponent(unit, Element);
  const bool isSplit = unit == MatrixUnit::Warp && kPerWord == 4;
  for (unsigned word = 0; word < kOperandWords; ++word)
    for (unsigned row = 0; row < factor.rows; row += V::kLanes) {
      const auto loaded = load<typename V::Words>(words + word * factor.rows + row);
      for (unsigned i = 0; i < kPerWord; ++i) {
        const unsigned k = isSplit ? i / 2 * 16 + 2 * word + i % 2 : word * kPerWord + i;
        const auto values = widen<V, Element>(loaded, i);
        store(&factor.values[k * factor.rows + row], values);
        store(&factor.exponents[k * factor.rows + row], exponentsOf<V>(values, smallest));
      }
    }
}

template <class V>
static SWAGE_SIMT_INLINE void setFromWords(Factor &factor, MatrixUnit unit, const unsigned *words) {
  switch (factor.element) {
  case MatrixElement::F16:
    return setFromWords<V, MatrixElement::F16>(factor, unit, words);
  case MatrixElement::Bf16:
    return setFromWords<V, MatrixElement::Bf16>(factor, unit, words);
  case MatrixElement::Tf32:
    return setFromWords<V, MatrixElement::Tf32>(factor, unit, words);
  case MatrixElement::E4m3:
    return setFromWords<V, MatrixElement::E4m3>(factor, unit, words);
  case MatrixElement::E5m2:
    return setFromWords<V, MatrixElement::E5m2>(factor, unit, words);
  case MatrixElement::S8:
    return setFromWords<V, MatrixElement::S8>(factor, unit, words);
  case MatrixElement::U8:
    return setFromWords<V, MatrixElement::U8>(factor, unit, words);
  }
}
SWAGE_SIMT_AVX2 static void setFromWordsFast(Factor &factor, MatrixUnit unit,
                                             const unsigned *words) {
  setFromWords<LargeVectors>(factor, unit, words);
}
static void setFromWordsAnywhere(Factor &factor, MatrixUnit unit, const unsigned *words) {
  setFromWords<SmallVectors>(factor, unit, words);
}

void Factor::set(MatrixUnit unit, MatrixElement newElement, unsigned newRows,
                 const unsigned *words) {
  element = newElement;
  rows = newRows;
  steps = kStepBytes / elementBytes(element);
  (hasAvx2 ? setFromWordsFast : setFromWordsAnywhere)(*this, unit, words);
}

/// Rows are contiguous in pieces of eight 16-bit elements.
template <class V, MatrixElement Element>
static SWAGE_SIMT_INLINE void setFromPieces(Factor &factor, const char *shared,
                                            const MatrixDescriptor &descriptor) {
  const int smallest = smallestExponent(MatrixUnit::Warpgroup, Element);
  for (unsigned k = 0; k < factor.steps; ++k)
    for (unsigned row = 0; row < factor.rows; row += V::kLanes) {
      const auto elements = load<typename V::HalfWords>(
          shared + descriptor.pieceOfStep(k, row / 8) + row % 8 * sizeof(short));
      const auto values =
          widen<V, Element>(__builtin_convertvector(elements, typename V::Words), 0);
      store(&factor.values[k * factor.rows + row], values);
      store(&factor.exponents[k * factor.rows + row], exponentsOf<V>(values, smallest));
    }
}

template <class V>
static SWAGE_SIMT_INLINE void setFromPieces(Factor &factor, const char *shared,
                                            const MatrixDescriptor &descriptor) {
  if (factor.element == MatrixElement::F16)
    setFromPieces<V, MatrixElement::F16>(factor, shared, descriptor);
  else
    setFromPieces<V, MatrixElement::Bf16>(factor, shared, descriptor);
}
SWAGE_SIMT_AVX2 static void setFromPiecesFast(Factor &factor, const char *shared,
                                              const MatrixDescriptor &descriptor) {
  setFromPieces<LargeVectors>(factor, shared, descriptor);
}
static void setFromPiecesAnywhere(Factor &factor, const char *shared,
                                  const MatrixDescriptor &descriptor) {
  setFromPieces<SmallVectors>(factor, shared, descriptor);
}

void Factor::set(MatrixElement newElement, const char *shared, const MatrixDescriptor &descriptor,
                 const MatrixOperand &operand) {
  if (!operand.kMajor) {
    element = newElement;
    rows = operand.rows;
    steps = operand.steps();
    return (hasAvx2 ? setFromPiecesFast : setFromPiecesAnywhere)(*this, shared, descriptor);
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
template <class V>
static SWAGE_SIMT_INLINE typename V::Floats cutToFloats(typename V::Ints integers) {
  using Words = typename V::Words;
  using Ints = typename V::Ints;
  using Floats = typename V::Floats;
  const Floats nearest = __builtin_convertvector(integers, Floats);
  const Ints back = __builtin_convertvector(nearest, Ints);
  // One step towards zero where rounding went the other way.  2^31 comes back as a negative number.
  const Ints isFar = ((back > integers) & (integers > 0)) | ((back < integers) & (integers < 0)) |
                     ((back < 0) & (integers > 0));
  return as<Floats>(as<Words>(nearest) + as<Words>(isFar));
}

/// `Rows` rows by `Columns` vectors.
template <class V, int Digits, unsigned Rows, unsigned Columns>
static SWAGE_SIMT_INLINE void sumBlock(const Steps &steps, unsigned row, unsigned column,
                                       bool accumulate, float *d) {
  using Words = typename V::Words;
  using Ints = typename V::Ints;
  using Floats = typename V::Floats;
  using Shorts = typename V::Shorts;
  // Exponents of all columns are one vector.
  static_assert(Columns <= 2);
  using Exponents = std::conditional_t<Columns == 2, typename V::MoreShorts, Shorts>;
  const Factor &a = steps.a, &b = steps.b;
  const auto place = [&](unsigned i, unsigned j) __attribute__((always_inline)) {
    return d + (row + i) * b.rows + column + j * V::kLanes;
  };
  const unsigned end = steps.begin + steps.count;

  Floats before[Rows][Columns];
  Exponents exponents[Rows];
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Columns; ++j) {
      before[i][j] = accumulate ? load<Floats>(place(i, j)) : Floats{};
      store(reinterpret_cast<char *>(&exponents[i]) + j * sizeof(Shorts),
            exponentsOf<V>(before[i][j], -126));
    }
  for (unsigned k = steps.begin; k < end; ++k) {
    const auto right = load<Exponents>(&b.exponents[k * b.rows + column]);
    for (unsigned i = 0; i < Rows; ++i)
      exponents[i] = larger(exponents[i], right + a.exponents[k * a.rows + row + i]);
  }

  Ints odd{};
  Ints units[Rows][Columns]; ///< exponents of the last digit
  Floats scale[Rows][Columns];
  // Products have 22 bits; 16 of them, shifted to 27 bits, may need more than one integer.
  Words sums[Rows][Columns], moreSums[Rows][Columns];
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Columns; ++j) {
      const Ints exponent = __builtin_convertvector(
          load<Shorts>(reinterpret_cast<const char *>(&exponents[i]) + j * sizeof(Shorts)), Ints);
      odd |= (exponent > kLargest) | ((exponent < kSmallest) & (exponent > kNoTerm));
      units[i][j] = larger(exponent, Ints{} + kSmallest) - Digits;
      scale[i][j] = as<Floats>((127 - units[i][j]) << 23);
      sums[i][j] = as<Words>(__builtin_convertvector(before[i][j] * scale[i][j], Ints));
      moreSums[i][j] = Words{};
    }
  const auto add = [&](unsigned from, unsigned to, Words(&into)[Rows][Columns])
      __attribute__((always_inline)) {
    for (unsigned k = from; k < to; ++k)
      for (unsigned j = 0; j < Columns; ++j) {
        const auto right = load<Floats>(&b.values[k * b.rows + column + j * V::kLanes]);
        for (unsigned i = 0; i < Rows; ++i) {
          const Floats product = a.values[k * a.rows + row + i] * right;
          into[i][j] += as<Words>(__builtin_convertvector(product * scale[i][j], Ints));
        }
      }
  };
  const unsigned middle = Digits == kWide ? std::min(steps.begin + 8, end) : end;
  add(steps.begin, middle, sums);
  add(middle, end, moreSums);

  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Columns; ++j) {
      const Floats unit = as<Floats>((units[i][j] + 127) << 23);
      if (Digits == kWide) {
        const Words total = sums[i][j] + moreSums[i][j];
        odd |= as<Ints>((sums[i][j] ^ total) & (moreSums[i][j] ^ total)) < 0; // too large
        store(place(i, j), cutToFloats<V>(as<Ints>(total)) * unit);
      } else {
        const Floats sum = __builtin_convertvector(as<Ints>(sums[i][j]), Floats);
        store(place(i, j), as<Floats>(as<Words>(sum) & ~((1u << (23 - kNarrow)) - 1)) * unit);
      }
    }

  unsigned long long parts[sizeof(odd) / 8], any = 0;
  std::memcpy(parts, &odd, sizeof(parts));
  for (unsigned long long part : parts)
    any |= part;
  if (!any)
    return;
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < Columns; ++j)
      for (unsigned lane = 0; lane < V::kLanes; ++lane)
        if (odd[lane])
          place(i, j)[lane] =
              sumSlowly(steps, row + i, column + j * V::kLanes + lane, before[i][j][lane], Digits);
}

template <class V, int Digits>
static SWAGE_SIMT_INLINE void sum(const Steps &steps, bool accumulate, float *d) {
  for (unsigned row = 0; row < steps.a.rows; row += 2) {
    unsigned column = 0;
    for (; column + 2 * V::kLanes <= steps.b.rows; column += 2 * V::kLanes)
      sumBlock<V, Digits, 2, 2>(steps, row, column, accumulate, d);
    if (column < steps.b.rows)
      sumBlock<V, Digits, 2, 1>(steps, row, column, accumulate, d);
  }
}

/// Floats hold sums of 32 products of bytes.
template <class V>
static SWAGE_SIMT_INLINE void sumIntegers(const Factor &a, const Factor &b, float *d) {
  using Floats = typename V::Floats;
  for (unsigned row = 0; row < a.rows; ++row)
    for (unsigned column = 0; column < b.rows; column += V::kLanes) {
      Floats sum{};
      for (unsigned k = 0; k < a.steps; ++k)
        sum += a.values[k * a.rows + row] * load<Floats>(&b.values[k * b.rows + column]);
      store(d + row * b.rows + column, sum);
    }
}

template <class V>
static SWAGE_SIMT_INLINE void multiply(MatrixUnit unit, const Factor &a, const Factor &b,
                                       bool accumulate, float *d) {
  if (isInteger(a.element))
    return sumIntegers<V>(a, b, d);
  if (elementBytes(a.element) > 1)
    return sum<V, kWide>({a, b, 0, a.steps}, accumulate, d);
  if (unit == MatrixUnit::Warpgroup)
    return sum<V, kNarrow>({a, b, 0, a.steps}, accumulate, d);
  float products[16 * 8];
  sum<V, kWide>({a, b, 0, a.steps / 2}, false, products);
  sum<V, kWide>({a, b, a.steps / 2, a.steps / 2}, true, products);
  for (unsigned i = 0; i < a.rows * b.rows; ++i) {
    d[i] = products[i] + (accumulate ? d[i] : 0);
    if (std::isnan(d[i]))
      d[i] = theNaN();
  }
}
SWAGE_SIMT_AVX2 static void multiplyFast(MatrixUnit unit, const Factor &a, const Factor &b,
                                         bool accumulate, float *d) {
  multiply<LargeVectors>(unit, a, b, accumulate, d);
}
static void multiplyAnywhere(MatrixUnit unit, const Factor &a, const Factor &b, bool accumulate,
                             float *d) {
  multiply<SmallVectors>(unit, a, b, accumulate, d);
}

void swage::simt::multiplyFactors(MatrixUnit unit, const Factor &a, const Factor &b,
                                  bool accumulate, float *d) {
  (hasAvx2 ? multiplyFast : multiplyAnywhere)(unit, a, b, accumulate, d);
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// A word of A in register r of lane (g, t) = (lane / 4, lane % 4) is word t + 4 (r / 2) of row
/// g + 8 (r % 2), and a word of B is word t + 4 r of column g, whatever the elements are.
void swage::simt::multiplyFragments(void *const *lanes) {
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
