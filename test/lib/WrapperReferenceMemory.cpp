//===- WrapperReferenceMemory.cpp - memory, copies, atomics, tickets, launches -===//
#include "WrapperReference.h"

#include "Bits.h"

#include <algorithm>

using namespace swage::test;

namespace {
void globalMemory(const WrapperCase &, const Memory &in, Memory &out) {
  // Every access of every width inverts some bits of all bytes.
  for (size_t i = 0; i < out.bytes.size(); i += 4)
    out.set(i / 4, in[i / 4] ^ 0x5a5a5a5a);
}

void sharedPackets(const WrapperCase &, const Memory &in, Memory &out) {
  size_t base = 0;
  for (size_t bytes : {16, 8, 4, 2, 1}) {
    for (size_t thread = 0; thread < 64; ++thread)
      out.copy(base + bytes * thread, in, base + bytes * (thread ^ 21), bytes);
    base += 64 * bytes;
  }
}

void copyAsync(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 128);
  for (unsigned index = 0; index < 128; ++index) {
    unsigned thread = index % 64; // both blocks read the same
    auto first = [&](size_t bytes, unsigned other) { return bytes * (in[other] % 64); };
    for (size_t bytes : {4, 8, 16}) {
      for (size_t i = 0; i < bytes; i += 4)
        results.add(index, in.get<uint32_t>(first(bytes, thread) + i));
      Memory part(4, 0);
      part.copy(0, in, first(bytes, thread) + 64 * bytes, thread % (bytes + 1));
      for (size_t i = 0; i < bytes; i += 4)
        results.add(index, part.get<uint32_t>(i));
      results.add(index, in.get<uint32_t>(first(bytes, thread ^ 13)));
    }
  }
}

void copyPipeline(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned step = 0; step < 8; ++step)
    for (unsigned i = 0; i < 512; ++i)
      out.set(step * 512 + i, in[step * 512 + 511 - i] + step);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

template <class T> constexpr bool kIsFloat = T(0.5) != T(0);

template <class T> T operand(const Memory &in, unsigned thread, unsigned i) {
  uint32_t low = in[128 * i + thread], high = in[128 * i + 64 + thread];
  uint64_t wide = uint64_t(high) << 32 | low;
  T value;
  if constexpr (kIsFloat<T> && sizeof(T) == 4) {
    low &= thread % 4 == 3 ? 0x807fffff : 0xbfffffff;
    std::memcpy(&value, &low, 4);
  } else if constexpr (kIsFloat<T>) {
    wide &= thread % 4 == 3 ? 0x800fffffffffffff : 0xbfffffffffffffff;
    std::memcpy(&value, &wide, 8);
  } else {
    value = T(wide);
  }
  return value;
}

/// A sum as the hardware forms it: integers wrap.  atom.add.f32 flushes denormals in global memory
/// and keeps them in shared memory (PTX); double always keeps them.
template <class T> T sum(T a, T b, bool flushes) {
  if constexpr (kIsFloat<T>) {
    auto flush = [&](T x) {
      return flushes && sizeof(T) == 4 && std::fpclassify(x) == FP_SUBNORMAL
                 ? std::copysign(T(0), x)
                 : x;
    };
    return flush(flush(a) + flush(b));
  } else {
    using U = std::make_unsigned_t<T>;
    return T(U(a) + U(b));
  }
}

enum class Op { Add, AddRelease, Exchange, Min, Max, Load, Store, And, Or, Xor, CompareExchange };

/// What an operation returns and leaves.
template <class T> std::pair<T, T> apply(Op op, T a, T b, unsigned thread, bool flushes) {
  switch (op) {
  case Op::Add:
  case Op::AddRelease:
    return {a, sum(a, b, flushes)};
  case Op::Exchange:
    return {a, b};
  case Op::Min:
    return {a, std::min(a, b)};
  case Op::Max:
    return {a, std::max(a, b)};
  case Op::Load:
    return {a, a};
  case Op::Store:
    return {b, b};
  default:
    break;
  }
  if constexpr (!kIsFloat<T>) {
    if (op == Op::And)
      return {a, a & b};
    if (op == Op::Or)
      return {a, a | b};
    if (op == Op::Xor)
      return {a, a ^ b};
  }
  // Compared with what is there in odd threads, with b in even ones.
  return {a, thread % 2 || a == b ? b : a};
}

template <class T> Reference alone(std::vector<Op> ops, bool flushes) {
  return [=](const WrapperCase &, const Memory &in, Memory &out) {
    for (size_t i = 0; i < ops.size(); ++i)
      for (unsigned thread = 0; thread < 64; ++thread) {
        auto [old, now] =
            apply<T>(ops[i], operand<T>(in, thread, 0), operand<T>(in, thread, 1), thread, flushes);
        out.put<T>(sizeof(T) * (128 * i + thread), old);
        out.put<T>(sizeof(T) * (128 * i + 64 + thread), now);
      }
  };
}

void atomicCrowd(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned block = 0; block < 2; ++block) {
    Memory words = crowd(in, 128 * block, 128);
    for (unsigned copy = 0; copy < 2; ++copy)
      out.copy(4 * (32 * copy + 16 * block), words, 0, 64);
  }
}

void signals(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned block = 0; block < 4; ++block) {
    for (unsigned own = 0; own < 64; ++own)
      out.set(64 * block + own,
              (block ? out[64 * (block - 1) + own] * 3 : 0) + in[64 * block + own]);
    out.set(512 + block, block);
    out.put<uint64_t>(4 * 528 + 8 * block, uint64_t(block) << 40);
  }
  for (unsigned block = 0; block < 4; ++block)
    for (unsigned own = 0; own < 64; ++own)
      out.set(256 + 64 * block + own, out[64 * (3 - block) + own]);
  out.set(544, 3);
}
} // namespace

Memory swage::test::crowd(const Memory &in, unsigned first, unsigned count) {
  Memory words(16, 0);
  words.set(3, 0xffffffff);
  words.set(5, 0x7fffffff);
  uint64_t wide = 0;
  double total = 0;
  for (unsigned i = first; i < first + count; ++i) {
    uint32_t value = in[i];
    words.set(0, words[0] + value);
    total += double(value % 1000) - 300; // exact in both widths
    words.set(2, std::max(words[2], value));
    words.set(3, std::min(words[3], value));
    words.set(4, uint32_t(std::max(int32_t(words[4]), int32_t(value))));
    words.set(5, uint32_t(std::min(int32_t(words[5]), int32_t(value))));
    words.set(6, words[6] | uint32_t(1) << value % 32);
    words.set(7, words[7] ^ value);
    wide += value;
    words.set(12, words[12] + value);
    words.set(14, words[14] ^ value);
  }
  words.put<float>(4, float(total));
  words.put<uint64_t>(32, wide);
  words.put<double>(40, total);
  return words;
}

void swage::test::addMemoryReferences(References &references) {
  references["global_memory"] = globalMemory;
  references["other_memory"] = globalMemory;
  references["shared_packets"] = sharedPackets;
  references["copy_async"] = copyAsync;
  references["copy_pipeline"] = copyPipeline;

  const std::vector<Op> bits = {Op::Add,  Op::AddRelease, Op::Exchange,       Op::Min,   Op::Max,
                                Op::Load, Op::Store,      Op::Load,           Op::Store, Op::And,
                                Op::Or,   Op::Xor,        Op::CompareExchange};
  const std::vector<Op> wide = {Op::Min, Op::Max, Op::Load, Op::Store, Op::Load, Op::Store};
  const std::vector<Op> floats = {Op::Add, Op::AddRelease, Op::Exchange};
  auto shared = [](std::vector<Op> ops) {
    ops.erase(std::remove_if(
                  ops.begin(), ops.end(),
                  [](Op op) { return op == Op::AddRelease || op == Op::Load || op == Op::Store; }),
              ops.end());
    return ops;
  };
  references["atomic_u32"] = alone<uint32_t>(bits, true);
  references["atomic_s32"] = alone<int32_t>(bits, true);
  references["atomic_u64"] = alone<uint64_t>(bits, true);
  references["atomic_s64"] = alone<int64_t>(wide, true);
  references["atomic_f32"] = alone<float>(floats, true);
  references["atomic_f64"] = alone<double>(floats, true);
  references["atomic_shared_u32"] = alone<uint32_t>(shared(bits), false);
  references["atomic_shared_s32"] = alone<int32_t>(shared(bits), false);
  references["atomic_shared_u64"] = alone<uint64_t>(shared(bits), false);
  references["atomic_shared_s64"] = alone<int64_t>(shared(wide), false);
  references["atomic_shared_f32"] = alone<float>(shared(floats), false);
  references["atomic_shared_f64"] = alone<double>(shared(floats), false);
  references["atomic_crowd"] = atomicCrowd;
  references["signals"] = signals;
  // Whatever the six words held: ended, drawn from as 0 and 1, counting in between, and ended.
  references["tickets_of_anything"] = [](const WrapperCase &, const Memory &, Memory &out) {
    for (unsigned i = 0; i < 36; ++i)
      out.set(i, i >= 18);
  };

  references["registers"] = [](const WrapperCase &, const Memory &in, Memory &out) {
    for (unsigned i = 0; i < 512; ++i)
      out.set(i, in[i] * (i % 256 < 128 ? 3 : 5));
  };
  references["dependent_grids"] = [](const WrapperCase &, const Memory &in, Memory &out) {
    for (unsigned i = 0; i < 128; ++i)
      out.set(i, in[i] + 1);
  };
}
