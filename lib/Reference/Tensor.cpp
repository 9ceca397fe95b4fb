//===- Tensor.cpp - Host tensors in their storage types -------------------===//

#include "swage/Reference/Tensor.h"
#include "llvm/Support/raw_ostream.h"

using namespace swage::reference;

int64_t swage::reference::elementCount(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t kMost = int64_t(1) << 48;
  bool empty = llvm::is_contained(shape, 0);
  int64_t count = empty ? 0 : 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (!empty && extent > kMost / count))
      return -1;
    count *= extent;
  }
  return count;
}

std::string swage::reference::describe(llvm::ArrayRef<int64_t> shape, ElementType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : shape)
    os << extent << 'x';
  os << name(type);
  return text;
}

llvm::Expected<Tensor> Tensor::create(ElementType type, llvm::ArrayRef<int64_t> shape) {
  Tensor tensor;
  tensor.elementType = type;
  tensor.extents.assign(shape.begin(), shape.end());
  tensor.count = elementCount(shape);
  if (tensor.count >= 0)
    tensor.storage = Buffer<char>(tensor.bytes());
  if (tensor.count < 0 || tensor.storage.size() != tensor.bytes())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "a tensor of %s does not fit in memory",
                                   describe(shape, type).c_str());
  return tensor;
}

uint64_t Tensor::bits(int64_t i) const {
  uint64_t bits = 0;
  std::memcpy(&bits, storage.data() + i * byteWidth(elementType), byteWidth(elementType));
  return bits;
}

void Tensor::setBits(int64_t i, uint64_t bits) {
  std::memcpy(storage.data() + i * byteWidth(elementType), &bits, byteWidth(elementType));
}

int64_t Tensor::integer(int64_t i) const {
  switch (elementType) {
  case ElementType::I1:
    return load<uint8_t>(i) != 0;
  case ElementType::I8:
    return load<int8_t>(i);
  case ElementType::I32:
    return load<int32_t>(i);
  default:
    return load<int64_t>(i);
  }
}

void Tensor::setInteger(int64_t i, int64_t value) {
  setBits(i, elementType == ElementType::I1 ? value & 1 : static_cast<uint64_t>(value));
}
