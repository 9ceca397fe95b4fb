//===- Value.h - What the oracle knows of a tensor --------------*- C++ -*-===//
//
// Each element of a graph value is a Number: what it is, how far a correct kernel may be off, and
// what a plain evaluation in f32 makes of it.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_VALUE_H
#define SWAGE_REFERENCE_VALUE_H

#include "swage/Reference/Tensor.h"
#include <limits>

namespace swage::reference {

/// An element of which nothing is known, because a rounding error may decide a comparison or an
/// overflow that it depends on, has this error. It is not judged.
constexpr double kUncertain = std::numeric_limits<double>::infinity();

struct Number {
  double reference = 0; ///< r: the value in f64; explicit casts round it, nothing else does
  double error = 0;    ///< E: first-order bound of a kernel's error; 0: a kernel must get exactly r
  double honest = 0;   ///< b: sequential f32 evaluation (f64 for f64 types), rounded when stored
  int64_t integer = 0; ///< the value of an integer or bool element, instead of the above
};

/// One graph value. Copies share their elements, which do not change once other code sees them.
class Value {
public:
  Value() = default;

  /// A value whose elements are to be stored; isAllocated() is false where memory does not suffice.
  /// An exact one has no room for errors and honest numbers: both follow from the reference.
  Value(ElementType type, llvm::ArrayRef<int64_t> shape, bool exact = false);

  /// All elements are `number`; takes no memory.
  static Value splat(ElementType type, llvm::ArrayRef<int64_t> shape, const Number &number);

  /// The elements of a tensor, all exact.
  static Value fromTensor(const Tensor &tensor);

  bool isAllocated() const { return allocated; }
  ElementType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int64_t size() const { return count; }
  int64_t bytes() const;
  bool isSplat() const { return stride == 0 && count > 0; }
  /// No element carries an error.
  bool isExact() const { return elements->error.empty(); }

  /// Independent roundings behind this value: few rows share few row statistics, and then the
  /// honest evaluation says little about another evaluation's luck. See Acceptance.h.
  int64_t samples = std::numeric_limits<int64_t>::max();

  Number load(int64_t i) const {
    i *= stride;
    Number number;
    if (!elements->integers.empty())
      number.integer = elements->integers[i];
    else
      number.reference = number.honest = elements->reference[i];
    if (!elements->error.empty()) {
      number.error = widenError(elements->error[i]);
      if (!elements->honest.empty())
        number.honest = elements->honest[i];
    }
    return number;
  }

  double reference(int64_t i) const { return elements->reference[i * stride]; }

  void store(int64_t i, const Number &number) {
    if (!elements->integers.empty())
      elements->integers[i] = number.integer;
    else
      elements->reference[i] = number.reference;
    if (!elements->error.empty())
      elements->error[i] = narrowError(number.error);
    if (!elements->honest.empty())
      elements->honest[i] = number.honest;
  }

  /// To be called when all elements are stored: drops errors and honest numbers where every error
  /// is 0.
  void simplify();

  /// The same elements in another shape of equal size.
  Value reshaped(llvm::ArrayRef<int64_t> shape) const;

  /// The reference, rounded once to the element type.
  llvm::Expected<Tensor> toTensor() const;
  /// The honest evaluation, rounded to the element type.
  llvm::Expected<Tensor> honestTensor() const;

private:
  /// Errors are kept as the upper half of a double, rounded up: its range at half its size.
  static uint32_t narrowError(double error) {
    return static_cast<uint32_t>((bitsOf(error) + 0xffffffffu) >> 32);
  }
  static double widenError(uint32_t error) {
    uint64_t bits = static_cast<uint64_t>(error) << 32;
    double result;
    std::memcpy(&result, &bits, sizeof bits);
    return result;
  }

  struct Elements {
    Buffer<double> reference;
    Buffer<uint32_t> error;
    Buffer<double> honest;
    Buffer<int64_t> integers;
  };

  ElementType elementType = ElementType::F32;
  Shape extents;
  int64_t count = 0;
  int64_t stride = 1; ///< 0: one element stands for all
  bool allocated = true;
  std::shared_ptr<Elements> elements = std::make_shared<Elements>();
};

} // namespace swage::reference

#endif // SWAGE_REFERENCE_VALUE_H
