//===- WrapperReferenceThreads.cpp - warp.cu, vote.cu, block.cu -----------===//
#include "WrapperReference.h"

#include <algorithm>

using namespace swage::test;

namespace {
/// What a thread hands to a shuffle.
struct Value {
  unsigned words;
  uint32_t word[4];
};

constexpr unsigned kTypes = 8;

/// The value of each type that a thread makes of its input.
Value valueOf(const Memory &in, unsigned thread, unsigned type) {
  uint32_t w[4];
  for (unsigned i = 0; i < 4; ++i)
    w[i] = in[4 * thread + i];
  switch (type) {
  case 0:
    return {1, {w[0] & 0xff}};
  case 1:
    return {1, {w[0] >> 8 & 0xffff}};
  case 2:
    return {1, {w[0]}};
  case 3:
  case 4:
    return {1, {w[1]}};
  case 5:
  case 6:
    return {2, {w[1], w[2]}};
  default:
    return {4, {w[0], w[1], w[2], w[3]}};
  }
}

// PTX, shfl.sync: the lane whose value a lane gets.
unsigned sourceXor(unsigned lane, unsigned mask) { return lane ^ mask; }
unsigned sourceFrom(unsigned lane, unsigned source, unsigned width) {
  return (lane & ~(width - 1)) | (source & (width - 1));
}
unsigned sourceUp(unsigned lane, unsigned delta, unsigned width) {
  return lane % width >= delta ? lane - delta : lane;
}
unsigned sourceDown(unsigned lane, unsigned delta, unsigned width) {
  return lane % width + delta < width ? lane + delta : lane;
}

/// `sources(thread, k)`: the lane whose value the k-th shuffle of each type gives to a thread.
template <class Sources>
void shuffles(const Memory &in, Memory &out, unsigned count, Sources sources) {
  Results results(out, 64);
  for (unsigned thread = 0; thread < 64; ++thread)
    for (unsigned type = 0; type < kTypes; ++type)
      for (unsigned k = 0; k < count; ++k) {
        Value value = valueOf(in, thread / 32 * 32 + sources(thread, k), type);
        for (unsigned i = 0; i < value.words; ++i)
          results.add(thread, value.word[i]);
      }
}

void shuffleXor(const WrapperCase &, const Memory &in, Memory &out) {
  shuffles(in, out, 8, [&](unsigned thread, unsigned k) {
    const unsigned masks[] = {1, 2, 5, 8, 16, 31, in[0] & 31, in[1] & 31};
    return sourceXor(thread % 32, masks[k]);
  });
}

void shuffleFrom(const WrapperCase &, const Memory &in, Memory &out) {
  shuffles(in, out, 14, [&](unsigned thread, unsigned k) {
    if (k < 2)
      return sourceFrom(thread % 32, k == 0 ? 0 : in[thread] & 31, 32);
    return sourceFrom(thread % 32, k % 2 ? 17 : 3, 32u >> (k - 2) / 2);
  });
}

void shuffleUpOrDown(bool up, const Memory &in, Memory &out) {
  shuffles(in, out, 19, [&](unsigned thread, unsigned k) {
    unsigned delta = k == 18 ? in[0] & 31 : k % 3 * 3, width = k == 18 ? 32 : 32u >> k / 3;
    return up ? sourceUp(thread % 32, delta, width) : sourceDown(thread % 32, delta, width);
  });
}

void shuffleGroups(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (lane < 16) {
      results.add(lane, in[sourceXor(lane, 5)]);
      results.add(lane, in[sourceDown(lane, 3, 16)]);
    } else if (lane < 24) {
      results.add(lane, in[sourceFrom(lane, 2, 8)]);
      results.add(lane, in[sourceUp(lane, 1, 4)]);
    } else if (lane % 2) {
      results.add(lane, in[sourceXor(lane, 2)]);
      results.add(lane, in[sourceXor(lane, 4)]);
    } else {
      results.add(lane, in[sourceXor(lane, 6)]);
      results.add(lane, lane);
    }
    results.add(lane, in[sourceXor(lane, 16)]);
    for (unsigned i = 0; i < 3; ++i)
      results.add(lane, in[i]);
  }
}

void syncWarp(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 64);
  auto last = [&](unsigned thread) { return in[thread] * (thread % 32 < 8 ? 3 : 5); };
  for (unsigned thread = 0; thread < 64; ++thread) {
    unsigned lane = thread % 32, first = thread - lane;
    results.add(thread, in[first + (lane + 7) % 32]);
    results.add(thread, last(first + (lane < 8 ? 7 - lane : 39 - lane)));
    results.add(thread, last(thread ^ 31));
  }
}

//===----------------------------------------------------------------------===//
// Votes, matches, reductions
//===----------------------------------------------------------------------===//

void votes(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 128);
  for (unsigned warp = 0; warp < 4; ++warp) {
    // The lanes of `mask` for which `holds`.
    auto ballot = [&](auto holds, uint32_t mask = 0xffffffff) {
      uint32_t bits = 0;
      for (unsigned lane = 0; lane < 32; ++lane)
        bits |= uint32_t((mask >> lane & 1) && holds(32 * warp + lane)) << lane;
      return bits;
    };
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned thread = 32 * warp + lane;
      auto add = [&](uint32_t word) { results.add(thread, word); };
      for (unsigned i = 0; i < 8; ++i) {
        uint32_t bits = ballot([&](unsigned other) {
          uint32_t value = in[128 * i + other];
          return i < 5 ? (value & 15) != i : i == 5 ? (value & 63) == 0 : i == 6;
        });
        add(bits);
        add(bits != 0);
        add(bits == 0xffffffff);
      }
      uint32_t mask = lane % 3 == 0 ? 0x49249249 : 0xb6db6db6;
      uint32_t bits = ballot([&](unsigned other) { return in[other] & 1; }, mask);
      add(bits);
      if (lane % 3 == 0) {
        add(bits != 0);
        add(bits == mask);
        add(1);
      } else {
        add(0);
        add(bits != 0);
        add(bits == mask);
      }
      for (unsigned i = 0; i < 8; ++i)
        add(i & 1 ? 0xffffffff : 0);
    }
  }
}

void matches(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 64);
  for (unsigned thread = 0; thread < 64; ++thread) {
    unsigned first = thread / 32 * 32;
    auto same = [&](auto value, uint32_t mask = 0xffffffff) {
      uint32_t bits = 0;
      for (unsigned lane = 0; lane < 32; ++lane)
        bits |= uint32_t((mask >> lane & 1) && value(first + lane) == value(thread)) << lane;
      return bits;
    };
    for (unsigned i = 0; i < 5; ++i) {
      auto some = [&](unsigned other) { return in[64 * i + other] & ((1u << i) - 1); };
      for (int type = 0; type < 5; ++type)
        results.add(thread, same(some));
      results.add(thread, same(some, thread % 32 < 20 ? 0x000fffff : 0xfff00000));
    }
    results.add(thread, same([&](unsigned other) { return in[64 * 6 + other]; }));
    results.add(thread, uint32_t(1) << thread % 32);
  }
}

uint32_t combine(unsigned op, bool isSigned, uint32_t a, uint32_t b) {
  bool less = isSigned ? int32_t(a) < int32_t(b) : a < b;
  const uint32_t all[] = {a + b, less ? a : b, less ? b : a, a & b, a | b, a ^ b};
  return all[op];
}

void reductions(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 64);
  auto input = [&](unsigned op, unsigned thread) {
    const uint32_t all[] = {in[thread],
                            in[64 + thread],
                            in[128 + thread],
                            in[192 + thread] | 0x00ff0f0f,
                            in[256 + thread] & in[320 + thread] & in[384 + thread],
                            in[448 + thread]};
    return all[op];
  };
  for (unsigned thread = 0; thread < 64; ++thread)
    for (unsigned op = 0; op < 6; ++op) {
      auto reduce = [&](bool isSigned, uint32_t mask, auto change) {
        uint32_t total = 0;
        bool first = true;
        for (unsigned lane = 0; lane < 32; ++lane) {
          if (!(mask >> lane & 1))
            continue;
          uint32_t value = change(input(op, thread / 32 * 32 + lane));
          total = first ? value : combine(op, isSigned, total, value);
          first = false;
        }
        results.add(thread, total);
      };
      auto same = [](uint32_t value) { return value; };
      reduce(false, 0xffffffff, same);
      reduce(true, 0xffffffff, same);
      reduce(false, 0xffffffff, [](uint32_t value) { return value & 0xff; });
      reduce(true, 0xffffffff, [](uint32_t value) { return 0 - (value & 0xff); });
      unsigned lane = thread % 32;
      uint32_t mask = lane & 4 ? 0xf0f0f0f0 : lane == 9 ? 0x200 : 0x0f0f0d0f;
      reduce(false, mask, same);
      reduce(true, mask, same);
    }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void barriers(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 256);
  for (unsigned thread = 0; thread < 256; ++thread) {
    unsigned own = thread % 128, first = thread - own, odd = 0, zero = 0;
    for (unsigned i = first; i < first + 128; ++i) {
      odd += in[i] & 1;
      zero += (in[i] & 0xff) == 0;
    }
    results.add(thread, in[first + 127 - own]);
    results.add(thread, odd);
    results.add(thread, zero != 0);
    results.add(thread, false);
    results.add(thread, true);
    results.add(thread, zero == 0);
    results.add(thread, true);
    results.add(thread, false);
    results.add(thread, 5);
    results.add(thread, in[first + (own ^ 64)] + 1);
  }
}

void namedBarriers(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 256);
  for (unsigned thread = 0; thread < 256; ++thread) {
    unsigned own = thread % 128, first = thread - own;
    results.add(thread, own < 64 ? in[first + 64 + (own ^ 5)] * 7 : in[first + own - 64]);
    for (unsigned mask : {63u, 127u})
      results.add(thread, in[first + (own ^ mask)] + (own ^ mask));
  }
}

void sharedMemory(const WrapperCase &test, const Memory &in, Memory &out) {
  Results results(out, 128);
  for (unsigned thread = 0; thread < 128; ++thread) {
    unsigned own = thread % 64, other = thread - own + (own ^ 33);
    for (uint32_t word :
         {test.run.dynamicSharedBytes, 0u, 4 * own, 128 * own, in[other], in[other] * 3})
      results.add(thread, word);
  }
}
} // namespace

void swage::test::addThreadReferences(References &references) {
  references["lanes"] = [](const WrapperCase &, const Memory &, Memory &out) {
    Results results(out, 192);
    for (unsigned thread = 0; thread < 192; ++thread) {
      results.add(thread, thread % 32);
      results.add(thread, thread % 96 / 32);
    }
  };
  references["shuffle_xor"] = shuffleXor;
  references["shuffle_from"] = shuffleFrom;
  references["shuffle_up"] = [](const WrapperCase &, const Memory &in, Memory &out) {
    shuffleUpOrDown(true, in, out);
  };
  references["shuffle_down"] = [](const WrapperCase &, const Memory &in, Memory &out) {
    shuffleUpOrDown(false, in, out);
  };
  references["shuffle_groups"] = shuffleGroups;
  references["sync_warp"] = syncWarp;
  references["votes"] = votes;
  references["matches"] = matches;
  references["reductions"] = reductions;
  references["places"] = [](const WrapperCase &, const Memory &, Memory &out) {
    Results results(out, 288);
    for (unsigned thread = 0; thread < 288; ++thread)
      for (unsigned word : {thread % 96, thread / 96, 2u})
        results.add(thread, word);
  };
  references["barriers"] = barriers;
  references["named_barriers"] = namedBarriers;
  references["shared_memory"] = sharedMemory;
  references["elect"] = [](const WrapperCase &, const Memory &, Memory &out) {
    Results results(out, 96);
    for (unsigned thread = 0; thread < 96; ++thread)
      for (unsigned word : {1u, 1u, thread / 32 + 5})
        results.add(thread, word);
  };
}
