//===- TensorCopy.cpp - Copies of boxes through tensor maps ---------------===//
#include "Copy.h"
#include "TensorMap.h"

// The conversions of the 16-bit types are those of the device layer.
#define __device__
#define __forceinline__ inline
#include "swage/device/cpu/types.cuh"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

#define CODE SWAGE_SIMT_CALLER

static constexpr unsigned kSharedAlignment = 128, kMapAlignment = 64;

[[noreturn]] static void bad(const Thread &thread, const void *code, std::string message) {
  Worker::current().fail(thread, FindingKind::BadInstruction, code, std::move(message));
}

/// The box that an instruction names.
static TensorBox boxOf(Thread &thread, const TensorCopy &copy, bool write, const char *what,
                       const void *code) {
  if (reinterpret_cast<uintptr_t>(copy.map) % kMapAlignment != 0)
    Worker::current().fail(
        thread, FindingKind::Misaligned, code,
        fmt::format("{} with a tensor map at an address that is not a multiple of "
                    "{}",
                    what, kMapAlignment));
  const TensorMapData *map = tensorMapAt(copy.map);
  if (!map)
    bad(thread, code, fmt::format("{} with something that is no tensor map", what));
  if (map->rank != copy.rank)
    bad(thread, code,
        fmt::format("{} with {} coordinates and a tensor map of rank {}", what, copy.rank,
                    map->rank));
  TensorBox box(*map, copy.coordinates);
  const char *begin, *end;
  if (box.range(begin, end))
    accessGlobal(thread, begin, uint64_t(end - begin), 1, write, what, code);
  return box;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

namespace {
class TensorLoad final : public SignallingCopy {
public:
  explicit TensorLoad(const TensorBox &box) : box(box) {}

protected:
  void copyTo(const CopyTarget &target) override { box.load(target.block->shared, target.to); }
  void poison(const CopyTarget &target) override {
    box.fill(target.block->shared, target.to, kPoisonByte);
  }

private:
  TensorBox box;
};
} // namespace

void swage::simt::tensorLoad(const TensorCopy *copy) {
  const char *what = copy->multicast ? "tensorLoadMulticast" : "tensorLoad";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  TensorBox box = boxOf(thread, *copy, false, what, code);
  auto load = std::make_shared<TensorLoad>(box);
  load->begin(thread, what, code, Engine::BulkLoad, copy->shared, box.map().sharedBytes(),
              kSharedAlignment, box.map().boxBytes(), copy->mbarrier, copy->multicast);
  Worker::current().issue(load);
}

//===----------------------------------------------------------------------===//
// Stores and reductions
//===----------------------------------------------------------------------===//

template <class To, class From> static To bitsOf(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

template <class Number> static Number combined(Number a, Number b, ReduceOp op) {
  switch (op) {
  case ReduceOp::Min:
    return std::min(a, b);
  case ReduceOp::Max:
    return std::max(a, b);
  case ReduceOp::And:
  case ReduceOp::Or:
  case ReduceOp::Xor:
    if constexpr (std::is_integral_v<Number>)
      return op == ReduceOp::And ? a & b : op == ReduceOp::Or ? a | b : a ^ b;
    break;
  case ReduceOp::Add:
    break;
  }
  if constexpr (std::is_signed_v<Number> && std::is_integral_v<Number>)
    return Number(std::make_unsigned_t<Number>(a) + std::make_unsigned_t<Number>(b));
  return Number(a + b);
}

/// Computed with as floats, each result rounded to the type.
template <class Half> static uint16_t combinedHalves(uint16_t a, uint16_t b, ReduceOp op) {
  return Narrow<Half>::from(combined(widen(Half{a}), widen(Half{b}), op)).bits;
}

static uint32_t combinedFloats(uint32_t a, uint32_t b, ReduceOp op) {
  return bitsOf<uint32_t>(combined(bitsOf<float>(a), bitsOf<float>(b), op));
}

/// Other host threads may do the same at the same time.
template <class Word, class Combine>
static void atomically(char *at, const char *operand, Combine combine) {
  auto *place = reinterpret_cast<Word *>(at);
  Word value;
  std::memcpy(&value, operand, sizeof(value));
  Word old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, combine(old, value), true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED))
    ;
}

/// The PTX manual's table of cp.reduce.async.bulk.tensor.
static bool canReduce(TensorType type, ReduceOp op) {
  switch (op) {
  case ReduceOp::Add:
    return type == TensorType::Uint32 || type == TensorType::Int32 || type == TensorType::Uint64 ||
           type == TensorType::Float32 || type == TensorType::Float32Ftz ||
           type == TensorType::Float16 || type == TensorType::Bfloat16;
  case ReduceOp::Min:
  case ReduceOp::Max:
    return type == TensorType::Uint32 || type == TensorType::Int32 || type == TensorType::Uint64 ||
           type == TensorType::Int64 || type == TensorType::Float16 || type == TensorType::Bfloat16;
  case ReduceOp::And:
  case ReduceOp::Or:
  case ReduceOp::Xor:
    return type == TensorType::Uint32 || type == TensorType::Int32 || type == TensorType::Uint64 ||
           type == TensorType::Int64;
  }
  return false;
}

namespace {
class TensorStore final : public BulkStore {
public:
  TensorStore(const TensorBox &box, int reduction) : box(box), reduction(reduction) {}

protected:
  void readFrom(const char *shared, SharedAddress at) override {
    staged.resize(box.map().boxBytes());
    box.gather(shared, at, staged.data());
  }

  void write() override {
    if (reduction < 0)
      return box.store(staged.data());
    auto op = ReduceOp(reduction);
    switch (box.map().type) {
    case TensorType::Uint32:
      return reduce<uint32_t>([op](uint32_t a, uint32_t b) { return combined(a, b, op); });
    case TensorType::Int32:
      return reduce<int32_t>([op](int32_t a, int32_t b) { return combined(a, b, op); });
    case TensorType::Uint64:
      return reduce<uint64_t>([op](uint64_t a, uint64_t b) { return combined(a, b, op); });
    case TensorType::Int64:
      return reduce<int64_t>([op](int64_t a, int64_t b) { return combined(a, b, op); });
    case TensorType::Float16:
      return reduce<uint16_t>(
          [op](uint16_t a, uint16_t b) { return combinedHalves<f16>(a, b, op); });
    case TensorType::Bfloat16:
      return reduce<uint16_t>(
          [op](uint16_t a, uint16_t b) { return combinedHalves<bf16>(a, b, op); });
    default:
      return reduce<uint32_t>([op](uint32_t a, uint32_t b) { return combinedFloats(a, b, op); });
    }
  }

private:
  template <class Word, class Combine> void reduce(Combine combine) const {
    box.reduce(staged.data(),
               [&](char *at, const char *operand) { atomically<Word>(at, operand, combine); });
  }

  TensorBox box;
  int reduction;
};
} // namespace

void swage::simt::tensorStore(const TensorCopy *copy) {
  const char *what = copy->reduce < 0 ? "tensorStore" : "tensorReduceAdd";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  TensorBox box = boxOf(thread, *copy, true, what, code);
  if (copy->reduce >= 0 && !canReduce(box.map().type, ReduceOp(copy->reduce)))
    bad(thread, code,
        fmt::format("{} to a tensor of data type {}, which the copy engine cannot combine", what,
                    unsigned(box.map().type)));
  auto store = std::make_shared<TensorStore>(box, copy->reduce);
  store->begin(thread, what, code, copy->shared, box.map().sharedBytes(), kSharedAlignment);
  issueStore(thread, std::move(store));
}
