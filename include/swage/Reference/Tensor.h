//===- Tensor.h - Host tensors in their storage types -----------*- C++ -*-===//
//
// What goes into the oracle and into kernels, and what kernels give back: dense, row-major, in the
// bytes that a device would see.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_TENSOR_H
#define SWAGE_REFERENCE_TENSOR_H

#include "swage/Reference/NumberFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdlib>
#include <memory>

namespace swage::reference {

/// An array that is not cleared when made, so that the threads that fill it touch it first.
template <typename T> class Buffer {
public:
  Buffer() = default;
  /// An array of `size` elements, or an empty one when there is no memory for it.
  explicit Buffer(int64_t size)
      : data_(size > 0 ? static_cast<T *>(std::malloc(size * sizeof(T))) : nullptr),
        size_(data_ ? size : 0) {}

  bool empty() const { return size_ == 0; }
  int64_t size() const { return size_; }
  int64_t bytes() const { return size_ * static_cast<int64_t>(sizeof(T)); }
  T *data() { return data_.get(); }
  const T *data() const { return data_.get(); }
  T &operator[](int64_t i) { return data_.get()[i]; }
  const T &operator[](int64_t i) const { return data_.get()[i]; }

private:
  struct Free {
    void operator()(T *data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  int64_t size_ = 0;
};

using Shape = llvm::SmallVector<int64_t, 4>;

/// The number of elements of a shape, or -1 where it is negative or more than 2^48.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

/// "4x8xf16".
std::string describe(llvm::ArrayRef<int64_t> shape, ElementType type);

class Tensor {
public:
  Tensor() = default;

  /// A tensor of undefined content; an error where it does not fit in memory.
  static llvm::Expected<Tensor> create(ElementType type, llvm::ArrayRef<int64_t> shape);

  ElementType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int64_t size() const { return count; }
  int64_t bytes() const { return count * byteWidth(elementType); }
  char *data() { return storage.data(); }
  const char *data() const { return storage.data(); }

  /// The bits of element i.
  uint64_t bits(int64_t i) const;
  void setBits(int64_t i, uint64_t bits);

  /// Element i of a float tensor.
  double real(int64_t i) const {
    switch (elementType) {
    case ElementType::F8E4M3FN:
      return decodeE4M3(load<uint8_t>(i));
    case ElementType::F8E5M2:
      return decodeE5M2(load<uint8_t>(i));
    case ElementType::F16:
      return decodeHalf(load<uint16_t>(i));
    case ElementType::BF16:
      return decodeBFloat(load<uint16_t>(i));
    case ElementType::F32:
      return load<float>(i);
    default:
      return load<double>(i);
    }
  }

  /// Element i of an integer tensor, sign extended; a bool is 0 or 1, whatever its byte.
  int64_t integer(int64_t i) const;

  /// Rounds to the storage type.
  void setReal(int64_t i, double value) { setBits(i, encode(elementType, value)); }
  /// Wraps to the storage type.
  void setInteger(int64_t i, int64_t value);

private:
  template <typename T> T load(int64_t i) const {
    T value;
    std::memcpy(&value, storage.data() + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }

  ElementType elementType = ElementType::F32;
  Shape extents;
  int64_t count = 0;
  Buffer<char> storage;
};

} // namespace swage::reference

#endif // SWAGE_REFERENCE_TENSOR_H
