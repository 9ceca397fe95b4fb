//===- Value.cpp - What the oracle knows of a tensor ----------------------===//

#include "swage/Reference/Value.h"
#include "swage/Reference/Parallel.h"
#include <atomic>

using namespace swage::reference;

Value::Value(ElementType type, llvm::ArrayRef<int64_t> shape, bool exact)
    : elementType(type), extents(shape.begin(), shape.end()), count(elementCount(shape)) {
  if (count < 0) {
    count = 0;
    allocated = false;
    return;
  }
  auto allocate = [&](auto &buffer) {
    buffer = std::remove_reference_t<decltype(buffer)>(count);
    allocated &= buffer.size() == count;
  };
  if (isFloat(type))
    allocate(elements->reference);
  else
    allocate(elements->integers);
  if (!exact)
    allocate(elements->error);
  if (!exact && isFloat(type))
    allocate(elements->honest);
}

Value Value::splat(ElementType type, llvm::ArrayRef<int64_t> shape, const Number &number) {
  Value value(type, llvm::ArrayRef<int64_t>(1), number.error == 0);
  if (value.allocated)
    value.store(0, number);
  value.extents.assign(shape.begin(), shape.end());
  value.count = elementCount(shape);
  value.stride = 0;
  value.allocated &= value.count >= 0;
  return value;
}

Value Value::fromTensor(const Tensor &tensor) {
  Value value(tensor.type(), tensor.shape(), /*exact=*/true);
  if (!value.allocated)
    return value;
  parallelFor(value.count, kElementChunk, [&](int64_t begin, int64_t end) {
    if (isFloat(tensor.type()))
      for (int64_t i = begin; i < end; ++i)
        value.elements->reference[i] = tensor.real(i);
    else
      for (int64_t i = begin; i < end; ++i)
        value.elements->integers[i] = tensor.integer(i);
  });
  return value;
}

int64_t Value::bytes() const {
  return elements->reference.bytes() + elements->error.bytes() + elements->honest.bytes() +
         elements->integers.bytes();
}

void Value::simplify() {
  if (elements->error.empty())
    return;
  std::atomic<bool> exact{true};
  parallelFor(elements->error.size(), kElementChunk, [&](int64_t begin, int64_t end) {
    if (!exact)
      return;
    for (int64_t i = begin; i < end; ++i)
      if (elements->error[i] != 0) {
        exact = false;
        return;
      }
  });
  if (!exact)
    return;
  elements->error = Buffer<uint32_t>();
  elements->honest = Buffer<double>();
  samples = std::numeric_limits<int64_t>::max();
}

Value Value::reshaped(llvm::ArrayRef<int64_t> shape) const {
  Value value = *this;
  value.extents.assign(shape.begin(), shape.end());
  value.count = elementCount(shape);
  return value;
}

llvm::Expected<Tensor> Value::toTensor() const {
  llvm::Expected<Tensor> tensor = Tensor::create(elementType, extents);
  if (!tensor)
    return tensor;
  parallelFor(count, kElementChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (isFloat(elementType))
        tensor->setReal(i, reference(i));
      else
        tensor->setInteger(i, load(i).integer);
    }
  });
  return tensor;
}

llvm::Expected<Tensor> Value::honestTensor() const {
  llvm::Expected<Tensor> tensor = Tensor::create(elementType, extents);
  if (!tensor)
    return tensor;
  parallelFor(count, kElementChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Number number = load(i);
      if (isFloat(elementType))
        tensor->setReal(i, number.honest);
      else
        tensor->setInteger(i, number.integer);
    }
  });
  return tensor;
}
