//===- SimtCopyTest.cpp - Tensor maps: what they allow, where elements go -===//
//
// The arithmetic of tensor copies against a reference that goes element by element, and against
// what an H200 left in memory after the same copies.
//
//===----------------------------------------------------------------------===//
#include "TensorMap.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

using namespace swage;
using namespace swage::simt;

namespace {

/// The parameters of cuTensorMapEncodeTiled.
struct Parameters {
  unsigned type = 7, rank = 2; // f32
  uint64_t base = 0x10000;
  uint64_t dims[5] = {100, 60, 5, 4, 3}, strides[4] = {416, 26624, 133120, 532480};
  unsigned box[5] = {16, 8, 2, 2, 2}, elementStrides[5] = {1, 1, 1, 1, 1};
  unsigned interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct alignas(64) Map {
  char bytes[128];
  const TensorMapData &data() const { return *tensorMapAt(bytes); }
};

Status encode(const Parameters &p, Map &map) {
  return encodeTensorMap(map.bytes, p.type, p.rank, reinterpret_cast<const void *>(p.base), p.dims,
                         p.strides, p.box, p.elementStrides, p.interleave, p.swizzle, p.promotion,
                         p.fill);
}

std::string problemOf(const std::function<void(Parameters &)> &change) {
  Parameters parameters;
  change(parameters);
  Map map;
  Status status = encode(parameters, map);
  return status ? "" : status.error().message;
}

TEST(TensorMap, KeepsTheRulesOfTheDriver) {
  using P = Parameters;
  const uint64_t two = 2;
  const std::pair<std::function<void(P &)>, const char *> wrong[] = {
      {[](P &p) { p.type = 13; }, "data type 13; allowed: 0 to 12"},
      {[](P &p) { p.rank = 0; }, "rank 0; allowed: 1 to 5"},
      {[](P &p) { p.rank = 6; }, "rank 6"},
      {[](P &p) { p.interleave = 1; }, "interleave 1"},
      {[](P &p) { p.swizzle = 4; }, "swizzle 4; allowed: 0 to 3"},
      {[](P &p) { p.promotion = 4; }, "L2 promotion 4"},
      {[](P &p) { p.fill = 2; }, "out-of-bounds fill 2"},
      {[](P &p) { p.fill = 1, p.type = 5; }, "the data type is an integer"},
      {[](P &p) { p.base += 8; }, "global address 0x10008; needed: a multiple of 16"},
      {[&](P &p) { p.base = two << 56; }, "below 2^57"},
      {[](P &p) { p.dims[1] = 0; }, "0 elements in dimension 1; allowed: 1 to 2^32"},
      {[&](P &p) { p.dims[0] = (two << 31) + 1; }, "4294967297 elements in dimension 0"},
      {[](P &p) { p.strides[0] += 8; }, "a stride of 424 bytes in dimension 1; needed"},
      {[&](P &p) { p.strides[0] = two << 39; }, "a stride of 1099511627776 bytes"},
      {[](P &p) { p.box[1] = 0; }, "a box of 0 in dimension 1; allowed: 1 to 256"},
      {[](P &p) { p.box[1] = 257; }, "a box of 257 in dimension 1"},
      {[](P &p) { p.box[0] = 6; }, "a box of 24 bytes in dimension 0; needed: a multiple of 16"},
      {[](P &p) { p.elementStrides[1] = 0; }, "element stride 0 in dimension 1; allowed: 1 to 8"},
      {[](P &p) { p.elementStrides[0] = 9; }, "element stride 9 in dimension 0"},
      {[](P &p) { p.swizzle = 1; },
       "a box of 64 bytes in dimension 0; the swizzle allows at most 32"},
      {[](P &p) { p.swizzle = 3, p.box[0] = 36; }, "a box of 144 bytes"},
      {[](P &p) { p.rank = 5, p.box[0] = 64, p.box[2] = p.box[3] = 11; },
       "a box of 495616 bytes; allowed: 233472"},
  };
  for (const auto &[change, text] : wrong)
    EXPECT_NE(problemOf(change).find(text), std::string::npos)
        << "'" << problemOf(change) << "' lacks '" << text << "'";

  const std::function<void(P &)> right[] = {
      [](P &p) {},
      [](P &p) { p.base = 0; },
      [](P &p) { p.type = 12, p.fill = 1, p.promotion = 3; },
      [](P &p) { p.rank = 5; },
      [&](P &p) { p.dims[0] = two << 31, p.strides[0] = (two << 39) - 16; },
      [](P &p) { p.strides[0] = 0; }, // every row is the same
      [](P &p) { p.swizzle = 3, p.box[0] = 32; },
      [](P &p) { p.swizzle = 3, p.box[0] = 4; },
      [](P &p) { p.rank = 1, p.type = 4, p.box[0] = 256; },
      [](P &p) { p.elementStrides[0] = 8, p.elementStrides[1] = 8, p.box[1] = 256; },
      [](P &p) { p.rank = 3, p.box[0] = 228, p.box[1] = 256, p.box[2] = 1; },
  };
  for (const auto &change : right)
    EXPECT_EQ(problemOf(change), "");
}

TEST(TensorMap, IsRecognised) {
  Map map;
  ASSERT_TRUE(encode(Parameters(), map));
  EXPECT_TRUE(tensorMapAt(map.bytes));
  map.bytes[0] ^= 1;
  EXPECT_FALSE(tensorMapAt(map.bytes));
  Parameters p;
  Status misplaced = encodeTensorMap(map.bytes + 16, p.type, p.rank, nullptr, p.dims, p.strides,
                                     p.box, p.elementStrides, 0, 0, 0, 0);
  ASSERT_FALSE(misplaced);
  EXPECT_NE(misplaced.error().message.find("needed: a multiple of 64"), std::string::npos);
}

TEST(TensorMap, WhereABoxMayBegin) {
  Map map;
  ASSERT_TRUE(encode(Parameters(), map));
  auto problem = [&](int x, int y, bool isStore) {
    int at[] = {x, y};
    return TensorBox(map.data(), at).problem(isStore);
  };
  EXPECT_EQ(problem(4, 3, false), "");
  EXPECT_EQ(problem(-4, -3, false), "");
  EXPECT_EQ(problem(1000, 70, true), "");
  EXPECT_EQ(problem(2, 0, false),
            "coordinate 2 of elements of 4 bytes: a box begins at a multiple of 16 bytes");
  EXPECT_EQ(problem(0, -1, true),
            "coordinate -1 in dimension 1: only loads begin in front of a tensor");
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

constexpr unsigned kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr unsigned kSpans[] = {0, 32, 64, 128};
constexpr unsigned kTensorBytes = 1 << 20, kStoredBytes = 32 << 10, kSharedBytes = 12 << 10;

/// One copy; `at` in shared memory.
struct Case : Parameters {
  int start[5] = {};
  unsigned at = 0;

  unsigned elementBytes() const { return kElementBytes[type]; }
  unsigned extent(unsigned dim) const {
    return dim == 0 ? box[0] : (box[dim] + elementStrides[dim] - 1) / elementStrides[dim];
  }
  unsigned pitch() const { return std::max(box[0] * elementBytes(), kSpans[swizzle]); }
  unsigned rows() const {
    unsigned count = 1;
    for (unsigned dim = 1; dim < rank; ++dim)
      count *= extent(dim);
    return count;
  }
};

/// xorshift64*.
struct Random {
  uint64_t state;
  unsigned below(unsigned count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return unsigned((state * 0x2545F4914F6CDD1Dull >> 16) % count);
  }
  int between(int low, int high) { return low + int(below(unsigned(high - low + 1))); }
};

/// Bytes that tell where they come from.
char contentOf(uint64_t index, uint64_t salt) {
  uint64_t x = (index + 1 + salt * 1000003) * 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return char(x >> 40);
}

/// Any copy into or out of a tensor of at most `tensorBytes`.
Case randomCase(Random &random, unsigned tensorBytes, bool isLoad) {
  for (;;) {
    Case c;
    c.type = random.below(13);
    c.rank = 1 + random.below(5);
    c.swizzle = random.below(4);
    unsigned bytes = c.elementBytes(), span = kSpans[c.swizzle];
    unsigned chunks = span ? 1 + random.below(span / 16) : 1 + random.below(16);
    for (unsigned dim = 0; dim < 5; ++dim) {
      c.dims[dim] = c.box[dim] = 0;
      c.elementStrides[dim] = dim == 0;
    }
    c.box[0] = chunks * 16 / bytes;
    if (c.box[0] > 256)
      continue;
    bool isStrided = random.below(3) == 0;
    for (unsigned dim = 1; dim < c.rank; ++dim) {
      unsigned &stride = c.elementStrides[dim];
      stride = isStrided ? 1 + random.below(8) : 1;
      unsigned count = 1 + random.below(c.rank > 3 ? 3 : c.rank == 2 ? 24 : 7);
      c.box[dim] = std::min(count * stride - (stride > 1 ? random.below(stride) : 0), 256u);
    }
    c.fill = c.type >= 6 && random.below(2);
    if (c.pitch() * c.rows() > kSharedBytes - 1024)
      continue;
    c.dims[0] = 1 + random.below(2 * c.box[0] + 8);
    uint64_t size = c.dims[0] * bytes;
    bool fits = true;
    for (unsigned dim = 1; dim < c.rank; ++dim) {
      c.strides[dim - 1] = (size + 15) / 16 * 16 + 16 * random.below(3);
      c.dims[dim] = std::min(1 + random.below(2 * c.box[dim] + 3), 40u);
      size = c.strides[dim - 1] * c.dims[dim];
      fits &= size <= tensorBytes;
    }
    if (!fits || size > tensorBytes)
      continue;
    for (unsigned dim = 0; dim < c.rank; ++dim)
      c.start[dim] = random.between(isLoad ? -int(c.box[dim]) : 0, int(c.dims[dim]) + 2);
    if (random.below(2))
      for (unsigned dim = 0; dim < c.rank; ++dim)
        c.start[dim] = random.between(isLoad ? -int(c.box[dim] / 2) : 0,
                                      c.dims[dim] > c.box[dim] ? int(c.dims[dim] - c.box[dim]) : 0);
    int aligned = int(16 / bytes);
    c.start[0] = c.start[0] / aligned * aligned;
    c.at = 128 * random.below(8);
    return c;
  }
}

std::vector<Case> loadCases() {
  std::vector<Case> cases;
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    for (unsigned width = 16; width <= (swizzle ? kSpans[swizzle] : 256);
         width += width < 128 ? 16 : 64)
      for (unsigned at = 0; at < 1024; at += width == 64 || width == 128 ? 128 : 384) {
        Case c;
        c.type = 2;
        c.swizzle = swizzle;
        c.box[0] = width / 4;
        c.box[1] = 19;
        c.start[0] = 4;
        c.start[1] = 3;
        c.at = at;
        cases.push_back(c);
      }
  Random random{12345};
  while (cases.size() < 800)
    cases.push_back(randomCase(random, kTensorBytes, true));
  return cases;
}

std::vector<Case> storeCases() {
  std::vector<Case> cases;
  Random random{55};
  while (cases.size() < 120) {
    cases.push_back(randomCase(random, kStoredBytes, false));
    cases.back().fill = 0;
  }
  return cases;
}

/// visit(element of the box by dimension, its number among its row's, the row's number).
void forEachElement(const Case &c,
                    const std::function<void(const int64_t *, unsigned, unsigned)> &visit) {
  unsigned row = 0;
  auto extent = [&](unsigned dim) { return dim < c.rank ? c.extent(dim) : 1; };
  for (unsigned e = 0; e < extent(4); ++e)
    for (unsigned d = 0; d < extent(3); ++d)
      for (unsigned b = 0; b < extent(2); ++b)
        for (unsigned a = 0; a < extent(1); ++a, ++row)
          for (unsigned x = 0; x < c.box[0]; ++x) {
            const unsigned index[] = {x, a, b, d, e};
            int64_t at[5];
            for (unsigned dim = 0; dim < 5; ++dim)
              at[dim] = c.start[dim] + int64_t(index[dim]) * (dim ? c.elementStrides[dim] : 1);
            visit(at, x, row);
          }
}

bool isInside(const Case &c, const int64_t *at, unsigned firstDim = 0) {
  for (unsigned dim = firstDim; dim < c.rank; ++dim)
    if (at[dim] < 0 || at[dim] >= int64_t(c.dims[dim]))
      return false;
  return true;
}

uint64_t offsetOf(const Case &c, const int64_t *at) {
  uint64_t offset = uint64_t(at[0]) * c.elementBytes();
  for (unsigned dim = 1; dim < c.rank; ++dim)
    offset += uint64_t(at[dim]) * c.strides[dim - 1];
  return offset;
}

/// The swizzles as the CUDA programming guide's table has them: rows of 128 bytes, of which chunk x
/// of row y lies at x ^ y, modulo the chunks of the span.
unsigned placeOf(const Case &c, unsigned row, unsigned byte) {
  unsigned at = c.at + row * c.pitch() + byte;
  if (c.swizzle == 0)
    return at;
  unsigned chunks = kSpans[c.swizzle] / 16, chunk = at % 128 / 16, line = at / 128;
  unsigned moved = chunk / chunks * chunks + ((chunk % chunks) ^ (line % chunks));
  return line * 128 + moved * 16 + at % 16;
}

/// To the nearest of 10 bits behind the point.
uint32_t tf32Of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  if (std::isnan(value))
    return 0x7fffe000;
  if (std::isinf(value))
    return bits;
  double unit = std::ldexp(1.0, std::max(value == 0 ? -126 : std::ilogb(value), -126) - 10);
  float rounded = float(std::nearbyint(value / unit) * unit);
  std::memcpy(&bits, &rounded, 4);
  return bits;
}

std::vector<char> content(unsigned bytes, uint64_t salt) {
  std::vector<char> data(bytes);
  for (unsigned i = 0; i < bytes; ++i)
    data[i] = contentOf(i, salt);
  return data;
}

uint64_t hash(uint64_t sum, const std::vector<char> &data) {
  for (char byte : data)
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  return sum;
}
constexpr uint64_t kHashBegin = 0xcbf29ce484222325ull;

/// Of the bytes that an H200 (driver 580.159) left behind after the same copies.
constexpr uint64_t kLoadsOfAnH200 = 0x7f4d409f7c7c5911, kStoresOfAnH200 = 0x326b6c2fcb74362e;

/// 16-byte aligned.
struct Tensor {
  explicit Tensor(std::vector<char> data) : storage(data.size() + 64), bytes(data.size()) {
    begin = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(storage.data()) + 63) &
                                     ~uintptr_t(63));
    std::memcpy(begin, data.data(), data.size());
  }
  std::vector<char> copy() const { return {begin, begin + bytes}; }
  std::vector<char> storage;
  size_t bytes;
  char *begin;
};

TEST(TensorBox, LoadsWhatItShould) {
  Tensor tensor(content(kTensorBytes, 1));
  uint64_t sum = kHashBegin;
  for (Case c : loadCases()) {
    c.base = reinterpret_cast<uintptr_t>(tensor.begin);
    Map map;
    ASSERT_TRUE(encode(c, map));
    TensorBox box(map.data(), c.start);
    EXPECT_EQ(box.problem(false), "");
    EXPECT_EQ(map.data().boxBytes(), c.rows() * c.box[0] * c.elementBytes());
    EXPECT_EQ(map.data().sharedBytes(), c.rows() * c.pitch());
    std::vector<char> shared(kSharedBytes, char(0xcd)), expected = shared;
    box.load(shared.data(), c.at);

    unsigned bytes = c.elementBytes();
    const char *low = nullptr, *high = nullptr;
    forEachElement(c, [&](const int64_t *at, unsigned x, unsigned row) {
      char *to = &expected[placeOf(c, row, x * bytes)];
      if (!isInside(c, at)) {
        for (unsigned i = 0; i < bytes; ++i)
          to[i] = c.fill ? char(i % 2 ? 0x7f : 0xf7) : 0;
        return;
      }
      const char *from = tensor.begin + offsetOf(c, at);
      low = low && low < from ? low : from;
      high = std::max(high, from + bytes);
      std::memcpy(to, from, bytes);
      if (c.type >= 11) {
        uint32_t value;
        std::memcpy(&value, from, 4);
        value = tf32Of(value);
        std::memcpy(to, &value, 4);
      }
    });
    ASSERT_EQ(shared, expected);
    const char *begin = nullptr, *end = nullptr;
    ASSERT_EQ(box.range(false, begin, end), low != nullptr);
    if (low) {
      EXPECT_EQ(begin, low);
      EXPECT_EQ(end, high);
    }
    sum = hash(sum, shared);

    std::vector<char> written(kSharedBytes), marked(kSharedBytes);
    box.forEachPiece(false, c.at, [&](uint32_t at, unsigned size) {
      for (unsigned i = 0; i < size; ++i)
        ++written[at + i];
    });
    forEachElement(c, [&](const int64_t *, unsigned x, unsigned row) {
      std::memset(&marked[placeOf(c, row, x * bytes)], 1, bytes);
    });
    ASSERT_EQ(written, marked);
  }
  EXPECT_EQ(sum, kLoadsOfAnH200);
}

TEST(TensorBox, StoresWholeChunks) {
  const std::vector<char> shared = content(kSharedBytes, 3);
  uint64_t sum = kHashBegin;
  for (Case c : storeCases()) {
    Tensor tensor(content(kStoredBytes, 2));
    std::vector<char> expected = tensor.copy();
    c.base = reinterpret_cast<uintptr_t>(tensor.begin);
    Map map;
    ASSERT_TRUE(encode(c, map));
    TensorBox box(map.data(), c.start);
    EXPECT_EQ(box.problem(true), "");
    std::vector<char> rows(map.data().boxBytes());
    box.gather(shared.data(), c.at, rows.data());
    box.store(rows.data());

    unsigned bytes = c.elementBytes();
    const char *low = nullptr, *high = nullptr;
    unsigned stored = 0;
    std::vector<char> needed(kSharedBytes), marked(kSharedBytes);
    forEachElement(c, [&](const int64_t *at, unsigned x, unsigned row) {
      // An element behind the end of its row is written if its 16 bytes begin in front of it.
      int64_t leader[5];
      std::memcpy(leader, at, sizeof(leader));
      leader[0] -= leader[0] % int64_t(16 / bytes);
      if (!isInside(c, leader))
        return;
      uint64_t offset = offsetOf(c, at);
      low = low && low < tensor.begin + offset ? low : tensor.begin + offset;
      high = std::max<const char *>(high, tensor.begin + offset + bytes);
      std::memcpy(&expected[offset], &shared[placeOf(c, row, x * bytes)], bytes);
      std::memset(&marked[placeOf(c, row, x * bytes)], 1, bytes);
      ++stored;
    });
    ASSERT_EQ(tensor.copy(), expected);
    const char *begin = nullptr, *end = nullptr;
    ASSERT_EQ(box.range(true, begin, end), low != nullptr);
    if (low) {
      EXPECT_EQ(begin, low);
      EXPECT_EQ(end, high);
    }
    sum = hash(sum, tensor.copy());

    box.forEachPiece(true, c.at, [&](uint32_t at, unsigned size) {
      for (unsigned i = 0; i < size; ++i)
        ++needed[at + i];
    });
    ASSERT_EQ(needed, marked);

    // A reduction meets each of those elements once, with its operand.
    Tensor reduced(content(kStoredBytes, 2));
    c.base = reinterpret_cast<uintptr_t>(reduced.begin);
    ASSERT_TRUE(encode(c, map));
    unsigned count = 0;
    TensorBox(map.data(), c.start).reduce(rows.data(), [&](char *at, const char *operand) {
      std::memcpy(at, operand, bytes);
      ++count;
    });
    ASSERT_EQ(reduced.copy(), expected);
    EXPECT_EQ(count, stored);
  }
  EXPECT_EQ(sum, kStoresOfAnH200);
}

} // namespace
