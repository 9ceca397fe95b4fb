//===- Random.cpp - Random bits and coordinates ---------------------------===//

#include "swage/Reference/Random.h"
#include "Ops.h"
#include "swage/Reference/Parallel.h"

namespace swage::reference {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key[0] += 0x9E3779B9; // the golden ratio
    key[1] += 0xBB67AE85; // sqrt(3) - 1
  }
  return counter;
}

uint32_t philoxWord(uint64_t seed, uint64_t offset, uint64_t position) {
  uint64_t counter = offset + position / 4;
  return philox4x32({uint32_t(counter), uint32_t(counter >> 32), 0, 0},
                    {uint32_t(seed), uint32_t(seed >> 32)})[position % 4];
}

Value random(const Value &state, llvm::ArrayRef<int64_t> shape) {
  Value result(ElementType::I32, shape, /*exact=*/true);
  if (!result.isAllocated())
    return result;
  auto seed = static_cast<uint64_t>(state.load(0).integer),
       offset = static_cast<uint64_t>(state.load(1).integer);
  parallelFor(result.size(), /*chunk=*/1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Number number;
      number.integer = static_cast<int32_t>(philoxWord(seed, offset, static_cast<uint64_t>(i)));
      result.store(i, number);
    }
  });
  return result;
}

Value iota(int64_t dim, llvm::ArrayRef<int64_t> shape) {
  Value coordinates(ElementType::I32, {shape[dim]}, /*exact=*/true);
  if (!coordinates.isAllocated())
    return coordinates;
  for (int64_t i = 0; i < shape[dim]; ++i) {
    Number number;
    number.integer = static_cast<int32_t>(i);
    coordinates.store(i, number);
  }
  Shape strides(shape.size(), 0);
  strides[dim] = 1;
  return gather(coordinates, shape, 0, strides);
}

} // namespace swage::reference
