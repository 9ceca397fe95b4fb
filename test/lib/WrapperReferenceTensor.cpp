//===- WrapperReferenceTensor.cpp - tensor.cu -----------------------------===//
#include "WrapperReference.h"

#include "Bits.h"

using namespace swage::test;

namespace {
using Coordinates = std::vector<int64_t>;

/// Coordinate d is block * step[d] + start[d].
struct Affine {
  std::vector<std::pair<int, int>> dims;
  Coordinates at(unsigned block) const {
    Coordinates coordinates;
    for (auto [step, start] : dims)
      coordinates.push_back(int64_t(block) * step + start);
    return coordinates;
  }
};

const MapSpec &mapOf(const WrapperCase &test) { return test.run.arguments.back().map; }

/// Calls visit(offset in shared memory, offset in global memory or -1) for every element of a box
/// that begins at `shared`, relative to a multiple of 1024.
template <class Visit>
void eachElement(const MapSpec &map, const Coordinates &start, size_t shared, Visit visit) {
  size_t rank = map.dims.size(), bytes = bytesOf(map.element);
  std::vector<uint64_t> strides = {bytes};
  for (size_t d = 0; d + 1 < rank; ++d)
    strides.push_back(map.strides.empty() ? strides[d] * map.dims[d] : map.strides[d]);
  std::vector<int64_t> steps(rank, 1), extents;
  for (size_t d = 0; d < rank; ++d) {
    if (!map.elementStrides.empty())
      steps[d] = map.elementStrides[d];
    extents.push_back((int64_t(map.box[d]) + steps[d] - 1) / steps[d]);
  }
  // 16-byte chunks within a row of 32, 64 or 128 bytes are permuted by the number of the 128-byte
  // line, modulo their number.
  size_t chunks = map.swizzle == MapSwizzle::None ? 1 : size_t(1) << int(map.swizzle);
  size_t pitch = chunks > 1 ? 16 * chunks : size_t(extents[0]) * bytes;
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, global = 0, row = i / extents[0];
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      int64_t at = start[d] + rest % extents[d] * steps[d];
      rest /= extents[d];
      inside &= at >= 0 && at < int64_t(map.dims[d]);
      global += at * int64_t(strides[d]);
    }
    size_t address = shared + size_t(row) * pitch + size_t(i % extents[0]) * bytes;
    address ^= (address / 128 % chunks) * 16;
    visit(address, inside ? global : -1);
  }
}

void loadBox(const MapSpec &map, const Coordinates &start, const Memory &in, Memory &shared,
             size_t at) {
  Memory zero(2, 0);
  size_t bytes = bytesOf(map.element);
  eachElement(map, start, at, [&](size_t address, int64_t global) {
    shared.copy(address, global < 0 ? zero : in, global < 0 ? 0 : size_t(global), bytes);
  });
}

/// Words that are their own index.
Memory counted(size_t bytes) {
  Memory memory(bytes / 4, 0);
  for (size_t i = 0; i < bytes / 4; ++i)
    memory.set(i, uint32_t(i));
  return memory;
}

Reference load(Affine affine) {
  return [=](const WrapperCase &test, const Memory &in, Memory &out) {
    size_t bytes = test.run.dynamicSharedBytes;
    for (unsigned block = 0; block < test.run.blocks; ++block) {
      Memory shared = counted(bytes);
      loadBox(mapOf(test), affine.at(block), in, shared, 0);
      out.copy(bytes * block, shared, 0, bytes);
    }
  };
}

/// Both blocks of a cluster get the boxes of both, side by side.
Reference loadForTwo(Affine affine) {
  return [=](const WrapperCase &test, const Memory &in, Memory &out) {
    size_t bytes = test.run.dynamicSharedBytes;
    Memory shared(bytes / 4, 0);
    for (unsigned rank = 0; rank < 2; ++rank)
      loadBox(mapOf(test), affine.at(rank), in, shared, bytes / 2 * rank);
    for (unsigned block = 0; block < 2; ++block)
      out.copy(bytes * block, shared, 0, bytes);
  };
}

void multicast(const WrapperCase &test, const Memory &in, Memory &out) {
  const unsigned masks[] = {0xa, 0xf, 0x4, 0x5};
  size_t bytes = test.run.dynamicSharedBytes;
  for (unsigned block = 0; block < 8; ++block) {
    Memory shared = counted(bytes);
    int64_t cluster = block / 4;
    for (int64_t rank = 0; rank < 4; ++rank) {
      loadBox(mapOf(test), {64 * cluster, 16 * rank}, in, shared, size_t(2048 * rank));
      if (masks[rank] >> block % 4 & 1)
        loadBox(mapOf(test), {64 * (1 - cluster), 16 * rank + 3}, in, shared,
                size_t(8192 + 2048 * rank));
    }
    out.copy(bytes * block, shared, 0, bytes);
  }
}

Reference store(Affine affine) {
  return [=](const WrapperCase &test, const Memory &in, Memory &out) {
    size_t words = test.run.dynamicSharedBytes;
    for (unsigned block = 0; block < test.run.blocks; ++block)
      eachElement(mapOf(test), affine.at(block), 0, [&](size_t address, int64_t global) {
        if (global >= 0)
          out.copy(size_t(global), in, words * block + address, bytesOf(mapOf(test).element));
      });
  };
}

/// Integers: added to what is there.
template <class T> Reference add() {
  return [=](const WrapperCase &test, const Memory &in, Memory &out) {
    size_t words = test.run.dynamicSharedBytes;
    for (unsigned block = 0; block < test.run.blocks; ++block)
      eachElement(
          mapOf(test), {block * 8 + 4, block * 5 + 2}, 0, [&](size_t address, int64_t global) {
            if (global >= 0)
              out.put<T>(size_t(global),
                         T(out.get<T>(size_t(global)) + in.get<T>(words * block + address)));
          });
  };
}

/// Small integers as floats: the first half of shared memory is stored, the second added.
Reference addNumbers(Coordinates start) {
  return [=](const WrapperCase &test, const Memory &in, Memory &out) {
    const MapSpec &map = mapOf(test);
    size_t bytes = bytesOf(map.element), half = test.run.dynamicSharedBytes / 2;
    eachElement(map, start, 0, [&](size_t address, int64_t global) {
      if (global < 0)
        return;
      auto number = [&](size_t at) { return double(in[at / bytes] % 201) - 100; };
      double sum = number(address) + number(half + address);
      if (map.element == MapElement::F32)
        out.put<float>(size_t(global), float(sum));
      else
        out.put<uint16_t>(size_t(global),
                          map.element == MapElement::F16 ? toF16(sum) : toBf16(sum));
    });
  };
}
} // namespace

void swage::test::addTensorReferences(References &references) {
  references["tensor_1d"] = load({{{32, -16}}});
  references["tensor_2d"] = load({{{12, -4}, {10, -5}}});
  references["tensor_3d"] = load({{{8, -8}, {3, -2}, {2, -1}}});
  references["tensor_4d"] = load({{{8, -8}, {1, -1}, {1, -2}, {2, -3}}});
  references["tensor_5d"] = load({{{16, -16}, {1, -1}, {1, -1}, {1, -2}, {1, -1}}});
  references["tensor_strided"] = load({{{4, -4}, {8, -3}, {1, 0}}});
  references["tensor_steps"] = load({{{8, 0}, {13, 0}}});
  references["tensor_swizzle_32_f16"] = load({{{16, 0}, {20, -4}}});
  references["tensor_swizzle_64_f16"] = load({{{32, 0}, {20, -4}}});
  references["tensor_swizzle_128_f16"] = load({{{64, 0}, {20, -4}}});
  references["tensor_swizzle_128_f32"] = load({{{32, -8}, {20, 0}}});
  references["tensor_swizzle_128_u8"] = load({{{128, 0}, {9, 0}}});
  references["tensor_swizzle_64_bf16"] = load({{{24, 0}, {20, 0}}});
  for (const char *type : {"u32", "s32", "u64", "s64", "f64", "bf16"})
    references[std::string("tensor_") + type] = load({{{16, 0}, {15, -3}}});
  references["tensor_multicast"] = multicast;
  references["tensor_multicast_1d"] = loadForTwo({{{32, -16}}});
  references["tensor_multicast_3d"] = loadForTwo({{{8, -8}, {3, -2}, {2, -1}}});
  references["tensor_multicast_4d"] = loadForTwo({{{8, -8}, {1, -1}, {1, 0}, {2, 0}}});
  references["tensor_multicast_5d"] = loadForTwo({{{16, -16}, {1, -1}, {1, 0}, {1, 0}, {1, 0}}});
  references["tensor_store_1d"] = store({{{32, 4}}});
  references["tensor_store_2d"] = store({{{16, 4}, {9, 1}}});
  references["tensor_store_3d"] = store({{{8, 0}, {3, 1}, {2, 1}}});
  references["tensor_store_4d"] = store({{{16, 8}, {3, 1}, {2, 0}, {2, 1}}});
  references["tensor_store_5d"] = store({{{32, 16}, {2, 1}, {2, 1}, {1, 1}, {2, 1}}});
  references["tensor_store_swizzle_32"] = store({{{16, 8}, {20, 4}}});
  references["tensor_store_swizzle_64"] = store({{{32, 8}, {20, 4}}});
  references["tensor_store_swizzle_128"] = store({{{64, 8}, {20, 4}}});
  references["tensor_add_u32"] = add<uint32_t>();
  references["tensor_add_s32"] = add<uint32_t>();
  references["tensor_add_u64"] = add<uint64_t>();
  references["tensor_add_f32_1d"] = addNumbers({40});
  references["tensor_add_f16_2d"] = addNumbers({24, 10});
  references["tensor_add_bf16_3d"] = addNumbers({24, 6, 3});
  references["tensor_add_f16_4d"] = addNumbers({8, 3, 1, 2});
  references["tensor_add_bf16_5d"] = addNumbers({8, 1, 2, 3, 0});
  references["tensor_add_f32_2d"] = addNumbers({20, 11});
}
