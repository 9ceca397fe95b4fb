//===- TensorCopy.cpp - Copies of boxes through tensor maps ---------------===//
#include "Copy.h"
#include "Reduce.h"
#include "TensorMap.h"

// The conversions of the 16-bit types are those of the device layer.
#define __device__
#define __forceinline__ inline
#include "swage/device/cpu/types.cuh"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

#define CODE SWAGE_SIMT_CALLER

static constexpr unsigned kSharedAlignment = 128;

[[noreturn]] static void bad(const Thread &thread, const void *code, std::string message) {
  Worker::current().fail(thread, FindingKind::BadInstruction, code, std::move(message));
}

/// The box that an instruction names.
static TensorBox boxOf(Thread &thread, const TensorCopy &copy, bool write, const char *what,
                       const void *code) {
  if (reinterpret_cast<uintptr_t>(copy.map) % kTensorMapAlignment != 0)
    Worker::current().fail(
        thread, FindingKind::Misaligned, code,
        fmt::format("{} with a tensor map at an address that is not a multiple of "
                    "{}",
                    what, kTensorMapAlignment));
  const TensorMapData *map = tensorMapAt(copy.map);
  if (!map)
    bad(thread, code, fmt::format("{} with something that is no tensor map", what));
  if (map->rank != copy.rank)
    bad(thread, code,
        fmt::format("{} with {} coordinates and a tensor map of rank {}", what, copy.rank,
                    map->rank));
  TensorBox box(*map, copy.coordinates);
  if (std::string problem = box.problem(write); !problem.empty())
    bad(thread, code, fmt::format("{}: {}", what, problem));
  const char *begin, *end;
  if (box.range(write, begin, end))
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
  void forEachPiece(SharedAddress to, const Visit &visit) override {
    box.forEachPiece(false, to, visit);
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

/// Of a number and a NaN the number; -0 is below +0.
static float combinedFloats(float a, float b, ReduceOp op) {
  if (op == ReduceOp::Add)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  bool isFirst = a == b ? std::signbit(a) : a < b;
  return isFirst == (op == ReduceOp::Min) ? a : b;
}

template <class Half> static uint16_t combinedHalves(uint16_t a, uint16_t b, ReduceOp op) {
  return Narrow<Half>::from(combinedFloats(widen(Half{a}), widen(Half{b}), op)).bits;
}

/// `flushes`: denormals are zero.
static uint32_t addedFloats(uint32_t a, uint32_t b, bool flushes) {
  auto flushed = [&](float value) {
    return flushes && std::abs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
  };
  float sum = flushed(flushed(llvm::bit_cast<float>(a)) + flushed(llvm::bit_cast<float>(b)));
  return std::isnan(sum) ? 0x7fffffff : llvm::bit_cast<uint32_t>(sum);
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
  switch (type) {
  case TensorType::Uint32:
  case TensorType::Int32:
  case TensorType::Uint64:
    return true;
  case TensorType::Int64:
    return op == ReduceOp::Min || op == ReduceOp::Max;
  case TensorType::Float16:
  case TensorType::Bfloat16:
    return op == ReduceOp::Add || op == ReduceOp::Min || op == ReduceOp::Max;
  case TensorType::Float32:
  case TensorType::Float32Ftz:
    return op == ReduceOp::Add;
  default:
    return false;
  }
}

namespace {
class TensorStore final : public BulkStore {
public:
  TensorStore(const TensorBox &box, int reduction) : box(box), reduction(reduction) {}

protected:
  void forEachPiece(const Visit &visit) override { box.forEachPiece(true, from, visit); }
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
      return reduce<uint32_t>([flushes = box.map().type == TensorType::Float32Ftz](
                                  uint32_t a, uint32_t b) { return addedFloats(a, b, flushes); });
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
