// Votes, matches and reductions over the lanes of a warp.
//
// arch: sm_80
#include "swage/device/vote.cuh"

namespace {
/// Where a thread leaves its results: the first words of all threads, then the second ones.
struct Results {
  unsigned *next;
  unsigned threads;
  template <class T> __device__ void add(T value) {
    if constexpr (sizeof(T) == 1) {
      add<unsigned>(swage::bitCast<unsigned char>(value));
    } else if constexpr (sizeof(T) == 2) {
      add<unsigned>(swage::bitCast<unsigned short>(value));
    } else {
      struct Words {
        unsigned at[sizeof(T) / 4];
      };
      const auto words = swage::bitCast<Words>(value);
      for (unsigned word : words.at) {
        *next = word;
        next += threads;
      }
    }
  }
};
} // namespace

// launch: votes grid=2 block=64 in=4096 out=18432 exact
extern "C" __global__ void votes(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 64 + swage::threadIndex();
  Results results{out + thread, 128};
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned value = in[128 * i + thread];
    // Predicates that hold often, seldom, always, never.
    const bool predicate = i < 5 ? (value & 15u) != i : i == 5 ? (value & 63u) == 0 : i == 6;
    results.add(swage::ballot(predicate));
    results.add(swage::anyLane(predicate));
    results.add(swage::allLanes(predicate));
  }
  const unsigned value = in[thread];
  const bool predicate = value & 1u;
  if (swage::laneIndex() % 3 == 0) {
    results.add(swage::ballot(predicate, 0x49249249u));
    results.add(swage::anyLane(predicate, 0x49249249u));
    results.add(swage::allLanes(predicate, 0x49249249u));
    results.add(swage::allLanes(true, 0x49249249u));
  } else {
    results.add(swage::ballot(predicate, 0xb6db6db6u));
    results.add(swage::anyLane(false, 0xb6db6db6u));
    results.add(swage::anyLane(predicate, 0xb6db6db6u));
    results.add(swage::allLanes(predicate, 0xb6db6db6u));
  }
  for (unsigned i = 0; i < 8; ++i)
    results.add(swage::ballot(i & 1u));
}

// launch: matches grid=1 block=64 in=4096 out=8192 exact
extern "C" __global__ void matches(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  Results results{out + thread, 64};
  for (unsigned i = 0; i < 5; ++i) {
    const unsigned some = in[64 * i + thread] & (1u << i) - 1u; // 1 to 16 different values
    const unsigned long long wide = static_cast<unsigned long long>(some) << 33;
    results.add(swage::matchLanes(some));
    results.add(swage::matchLanes(static_cast<int>(some)));
    results.add(swage::matchLanes(static_cast<float>(some)));
    results.add(swage::matchLanes(wide));
    results.add(swage::matchLanes(static_cast<double>(some)));
    if (swage::laneIndex() < 20)
      results.add(swage::matchLanes(some, 0x000fffffu));
    else
      results.add(swage::matchLanes(wide, 0xfff00000u));
  }
  results.add(swage::matchLanes(in[64 * 6 + thread]));
  results.add(swage::matchLanes(swage::laneIndex()));
}

namespace {
template <swage::LaneOp Op> __device__ void reduce(Results &results, unsigned value) {
  results.add(swage::reduceLanes<Op>(value));
  results.add(swage::reduceLanes<Op>(static_cast<int>(value)));
  results.add(swage::reduceLanes<Op>(value & 0xffu));
  results.add(swage::reduceLanes<Op>(-static_cast<int>(value & 0xffu)));
  if (swage::laneIndex() & 4u) {
    results.add(swage::reduceLanes<Op>(value, 0xf0f0f0f0u));
    results.add(swage::reduceLanes<Op>(static_cast<int>(value), 0xf0f0f0f0u));
  } else if (swage::laneIndex() == 9) {
    results.add(swage::reduceLanes<Op>(value, 0x200u));
    results.add(swage::reduceLanes<Op>(static_cast<int>(value), 0x200u));
  } else {
    results.add(swage::reduceLanes<Op>(value, 0x0f0f0d0fu));
    results.add(swage::reduceLanes<Op>(static_cast<int>(value), 0x0f0f0d0fu));
  }
}
} // namespace

// launch: reductions grid=1 block=64 in=4096 out=9216 exact
extern "C" __global__ void reductions(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  Results results{out + thread, 64};
  reduce<swage::LaneOp::Add>(results, in[thread]);
  reduce<swage::LaneOp::Min>(results, in[64 + thread]);
  reduce<swage::LaneOp::Max>(results, in[128 + thread]);
  reduce<swage::LaneOp::And>(results, in[192 + thread] | 0x00ff0f0fu);
  reduce<swage::LaneOp::Or>(results, in[256 + thread] & in[320 + thread] & in[384 + thread]);
  reduce<swage::LaneOp::Xor>(results, in[448 + thread]);
}
