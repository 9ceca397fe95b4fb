//===- InputFamilies.cpp - What kernels are tested on ---------------------===//

#include "swage/Reference/InputFamilies.h"
#include "swage/Reference/Parallel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/bit.h"

using namespace swage::reference;

static constexpr llvm::StringLiteral kNames[kInputFamilies] = {
    "exact",   "dense",   "signed-zeros",  "denormals", "infinities",
    "one-nan", "largest", "constant-rows", "spike",     "large-mean"};

llvm::StringRef swage::reference::name(InputFamily family) {
  return kNames[static_cast<int>(family)];
}

std::optional<InputFamily> swage::reference::parseInputFamily(llvm::StringRef name) {
  for (unsigned i = 0; i < kInputFamilies; ++i)
    if (kNames[i] == name)
      return static_cast<InputFamily>(i);
  return std::nullopt;
}

/// The finaliser of splitmix64: every output bit depends on every input bit.
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t swage::reference::randomBits(uint64_t seed, uint64_t stream, uint64_t counter) {
  uint64_t key = mix(mix(seed + 0x9e3779b97f4a7c15) ^ (stream * 0xd1342543de82ef95 + 1));
  return mix(key + counter * 0x9e3779b97f4a7c15);
}

namespace {

/// The numbers of one tensor. Uses integers and exact scaling only, so that every platform makes
/// the same ones.
struct Generator {
  uint64_t seed, stream;
  FloatFormat format;

  uint64_t bits(uint64_t purpose, uint64_t i) const {
    return randomBits(seed, stream * 4 + purpose, i);
  }

  double exact(int64_t i) const {
    uint64_t random = bits(0, i);
    static const double values[] = {-2, -1, 1, 2};
    return (random & 12) ? 0 : values[random & 3];
  }

  double dense(int64_t i) const {
    uint64_t a = bits(0, 2 * i), b = bits(0, 2 * i + 1);
    uint64_t sum = (a >> 32) + (a & 0xffffffff) + (b >> 32) + (b & 0xffffffff);
    // Four uniform numbers have mean 2 and variance 1/3.
    return (static_cast<double>(sum) * 0x1p-32 - 2.0) * 1.7320508075688772;
  }

  double element(InputFamily family, int64_t i, int64_t length) const {
    int64_t row = i / length, column = i % length;
    uint64_t random = bits(1, i);
    double sign = random >> 63 ? -1.0 : 1.0;
    auto chosenColumn = [&] { return static_cast<int64_t>(bits(2, row) % length); };
    switch (family) {
    case InputFamily::Exact:
      return exact(i);
    case InputFamily::Dense:
      break;
    case InputFamily::SignedZeros:
      if (random & 1)
        return sign * 0.0;
      break;
    case InputFamily::Denormals:
      if (random & 1) { // 1 .. 2^(precision-1)-1 times the smallest number
        uint64_t most = (1ull << (format.precision - 1)) - 1;
        return sign * std::ldexp(static_cast<double>(1 + (random >> 1) % most),
                                 format.minExponent - format.precision + 1);
      }
      break;
    case InputFamily::Infinities:
      if (row % 4 == 3)
        return -HUGE_VAL;
      if (random % 32 == 0)
        return sign * HUGE_VAL;
      break;
    case InputFamily::OneNaN:
      if (row % 2 == 0 && column == chosenColumn())
        return NAN;
      break;
    case InputFamily::Largest:
      if (random % 64 == 0)
        return sign * format.largest;
      break;
    case InputFamily::ConstantRows:
      return dense(row * length);
    case InputFamily::Spike:
      if (column == chosenColumn())
        return std::min(1000.0, format.largest);
      break;
    case InputFamily::LargeMean:
      return dense(i) + 256.0;
    }
    return dense(i);
  }
};

} // namespace

void swage::reference::fillInput(Tensor &tensor, InputFamily family, uint64_t seed,
                                 uint64_t stream) {
  Generator generator = {seed, stream, formatOf(tensor.type())};
  int64_t length = tensor.shape().empty() ? 1 : tensor.shape().back();
  parallelFor(tensor.size(), kElementChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (tensor.type() == ElementType::I1)
        tensor.setInteger(i, generator.bits(0, i) >> 63);
      else if (!isFloat(tensor.type()))
        tensor.setInteger(i, static_cast<int64_t>(generator.bits(0, i) % 5) - 2);
      else
        tensor.setReal(i, generator.element(family, i, length));
    }
  });
}

/// Element `i` of a permutation of 0..last that `key` chooses: a Feistel network over the next even
/// power of two, walked until it is inside (Black and Rogaway, Ciphers with arbitrary finite
/// domains, 2002).
static uint64_t permuted(uint64_t i, uint64_t last, uint64_t key) {
  constexpr unsigned kRounds = 4;
  unsigned half = std::max(1, (llvm::bit_width(last) + 1) / 2);
  uint64_t mask = (1ull << half) - 1;
  do {
    uint64_t left = i >> half, right = i & mask;
    for (unsigned round = 0; round < kRounds; ++round)
      left = std::exchange(right, left ^ (randomBits(key, round, right) & mask));
    i = left << half | right;
  } while (i > last);
  return i;
}

void swage::reference::fillRange(Tensor &tensor, IntegerRange range, uint64_t seed,
                                 uint64_t stream) {
  uint64_t last = static_cast<uint64_t>(range.greatest) - static_cast<uint64_t>(range.least);
  Generator generator = {seed, stream, {}};
  parallelFor(tensor.size(), kElementChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // Without wrapping to 0 for all 2^64 numbers: no tensor has that many elements.
      uint64_t count = last + (last != UINT64_MAX), turn = static_cast<uint64_t>(i) / count;
      uint64_t place = permuted(static_cast<uint64_t>(i) % count, last, generator.bits(3, turn));
      tensor.setInteger(i, static_cast<int64_t>(static_cast<uint64_t>(range.least) + place));
    }
  });
}
