//===- WrapperReferenceNumbers.cpp - types.cu, float8.cu, pairs.cu, bits.cu, arithmetic.cu, math.cu ===//
#include "WrapperReference.h"

#include "Bits.h"

#include <algorithm>
#include <cmath>

using namespace swage::test;

namespace {
double doubleFromBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}

/// What PTX makes of a NaN.
constexpr uint32_t kNaN = 0x7fffffff;
uint32_t canonical(double value) { return std::isnan(value) ? kNaN : bitsOf(float(value)); }

//===----------------------------------------------------------------------===//
// Storage types
//===----------------------------------------------------------------------===//

void widen16(const WrapperCase &, const Memory &, Memory &out) {
  Results results(out, 65536);
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    uint16_t bits = uint16_t(pattern), other = uint16_t(~pattern);
    uint16_t picked = pattern & 1 ? bits : other;
    for (uint32_t word :
         {canonical(fromF16(bits)), uint32_t(bits) << 16, uint32_t(bits), canonical(fromF16(other)),
          canonical(fromF16(bits)), uint32_t(picked) << 16, uint32_t(picked)})
      results.add(pattern, word);
  }
}

void narrow16(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 16384);
  for (unsigned thread = 0; thread < 16384; ++thread) {
    uint32_t a = in[thread], b = in[16384 + thread];
    uint32_t tameBits = (a & 0x807fffff) | (98 + b % 48) << 23;
    float wild = floatFromBits(a), tame = floatFromBits(tameBits);
    float tie16 = floatFromBits((tameBits & ~0x1fffu) | 0x1000);
    float tieB16 = floatFromBits((a & 0xffff0000) | 0x8000);
    for (uint32_t word :
         {uint32_t(toF16(wild)), uint32_t(toF16(tame)), uint32_t(toF16(tie16)),
          uint32_t(toBf16(wild)), uint32_t(toBf16(tieB16)), a & 0xffff,
          uint32_t(toF16(wild)) << 16 | toF16(tame), uint32_t(toBf16(wild)) << 16 | toBf16(tieB16),
          b << 16 | (a & 0xffff), canonical(fromF16(toF16(tame))), uint32_t(toBf16(tame)) << 16})
      results.add(thread, word);
  }
}

void widen8(const WrapperCase &, const Memory &, Memory &out) {
  Results results(out, 65536);
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    uint8_t low = uint8_t(pattern), high = uint8_t(pattern >> 8);
    double low5 = fromE5m2(low), high5 = fromE5m2(high);
    for (double value : {fromE4m3(low), fromE4m3(high), low5, high5, fromE4m3(low), low5,
                         fromE4m3(toE4m3(low5)), fromE5m2(toE5m2(high5))})
      results.add(pattern, canonical(value));
  }
}

void narrow8(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 16384);
  for (unsigned thread = 0; thread < 16384; ++thread) {
    uint32_t a = in[thread], b = in[16384 + thread];
    uint32_t tame4 = (a & 0x807fffff) | (115 + b % 23) << 23;
    uint32_t tame5 = (a & 0x807fffff) | (108 + b % 38) << 23;
    float wild = floatFromBits(a);
    float tie4 = floatFromBits((tame4 & ~0xfffffu) | 0x80000);
    float tie5 = floatFromBits((tame5 & ~0x1fffffu) | 0x100000);
    float some4 = floatFromBits(tame4), some5 = floatFromBits(tame5);
    for (uint32_t word :
         {uint32_t(toE4m3(wild)), uint32_t(toE5m2(wild)), uint32_t(toE4m3(some4)),
          uint32_t(toE5m2(some5)), uint32_t(toE4m3(tie4)), uint32_t(toE5m2(tie5)),
          uint32_t(toE4m3(wild)) << 8 | toE4m3(some4), uint32_t(toE5m2(some5)) << 8 | toE5m2(wild)})
      results.add(thread, word);
  }
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

void pairs(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 8192);
  for (unsigned thread = 0; thread < 8192; ++thread) {
    uint32_t a = in[thread], b = in[8192 + thread];
    uint32_t near16 = (a & 0x7c007c00) | (b & 0x83ff83ff),
             nearB16 = (a & 0x7f807f80) | (b & 0x807f807f);
    auto each = [&](uint32_t x, uint32_t y, auto f) {
      results.add(thread, uint32_t(f(uint16_t(x >> 16), uint16_t(y >> 16))) << 16 |
                              f(uint16_t(x), uint16_t(y)));
    };
    auto less16 = [](uint16_t x, uint16_t y) { return toF16(float(fromF16(x) - fromF16(y))); };
    auto lessB16 = [](uint16_t x, uint16_t y) {
      return toBf16(floatFromBits(uint32_t(x) << 16) - floatFromBits(uint32_t(y) << 16));
    };
    auto times16 = [](uint16_t x, uint16_t y) { return toF16(float(fromF16(x) * fromF16(y))); };
    each(a, b, less16);
    each(a, near16, less16);
    each(a, b, lessB16);
    each(a, nearB16, lessB16);
    each(a, b, times16);
    each(a, 0x14002c00, times16);
  }
}

void widenTwo(const WrapperCase &, const Memory &, Memory &out) {
  Results results(out, 256);
  for (uint32_t thread = 0; thread < 256; ++thread) {
    uint32_t word = thread * 0x01010101 ^ 0xc0351a00;
    double (*const wide[])(uint8_t) = {[](uint8_t x) { return double(int8_t(x)); }, fromE4m3,
                                       fromE5m2};
    for (auto *from : wide)
      for (bool isB16 : {false, true})
        for (auto [low, high] : {std::pair(0, 1), {2, 3}, {0, 2}, {1, 3}}) {
          auto narrow = [&](int i) {
            uint8_t byte = uint8_t(word >> 8 * i);
            if (from == wide[2] && !isB16) // its upper half, also where it is no number
              return uint32_t(byte) << 8;
            return uint32_t(isB16 ? toBf16(from(byte)) : toF16(float(from(byte))));
          };
          results.add(thread, narrow(high) << 16 | narrow(low));
        }
  }
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i)
    word |= uint32_t(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return word;
}

template <class T> uint32_t bitsSet(T value) {
  uint32_t count = 0;
  for (; value; value &= value - 1)
    ++count;
  return count;
}
template <class T> uint32_t leadingZeros(T value) {
  uint32_t count = 8 * sizeof(T);
  for (; value; value >>= 1)
    --count;
  return count;
}

void bits(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 512);
  for (unsigned thread = 0; thread < 512; ++thread) {
    uint32_t a = in[thread], b = in[512 + thread], c = in[1024 + thread] >> (a & 31);
    uint64_t wide = uint64_t(a) << 32 | b, narrow = wide >> (c & 63);
    results.add(thread, uint32_t(uint64_t(a) * b >> 32));
    results.add(thread, uint64_t(static_cast<unsigned __int128>(wide) * ~narrow >> 64));
    results.add(thread, a);
    results.add(thread, permuteBytes(a, b, 0x5140));
    results.add(thread, permuteBytes(a, b, c & 0x7777));
    results.add(thread, bitsSet(c));
    results.add(thread, bitsSet(narrow));
    results.add(thread, leadingZeros(c));
    results.add(thread, leadingZeros(narrow));
    results.add(thread, 32);
    results.add(thread, 64);
    results.add(thread, a);
    results.add(thread, wide & 0xbfffffffffffffff);
    results.add(thread, (a & b) ^ c);
  }
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The larger (sign 1) or smaller (-1): -0 is below +0; NaN if one is, or only if both are.
double extremum(double x, double y, int sign, bool skipsNaN) {
  if (std::isnan(x) || std::isnan(y))
    return skipsNaN ? (std::isnan(x) ? y : x) : NAN;
  if (x == 0 && y == 0)
    return std::signbit(x) == (sign > 0) ? y : x;
  return (x < y) == (sign > 0) ? y : x;
}

void extrema(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 8192);
  for (unsigned thread = 0; thread < 8192; ++thread) {
    auto add = [&](double value) { results.add(thread, canonical(value)); };
    uint32_t a = in[thread], b = in[8192 + thread];
    const uint32_t pairs[3][2] = {{a, b}, {a, a ^ 0x80000000}, {a & 0x80000000, b & 0x80000000}};
    for (auto &pair : pairs) {
      float x = floatFromBits(pair[0]), y = floatFromBits(pair[1]);
      add(extremum(x, y, 1, false));
      add(extremum(x, y, -1, false));
      add(extremum(x, y, 1, true));
      add(extremum(x, y, -1, true));
    }
    auto wide = [&](unsigned i) {
      return doubleFromBits(uint64_t(in[16384 * i + 8192 + thread]) << 32 | in[16384 * i + thread]);
    };
    double x = wide(0), y = wide(1);
    for (int i = 0; i < 4; ++i)
      results.add(thread,
                  std::isnan(x) || std::isnan(y) ? 0.0 : extremum(x, y, i % 2 ? -1 : 1, false));
    add(NAN);
    add(NAN);
    add(floatFromBits(a));
    add(floatFromBits(b));
    results.add(thread, true);
    results.add(thread, double(INFINITY));
    results.add(thread, 0);
  }
}

void reciprocals(const WrapperCase &, const Memory &in, Memory &out) {
  // Denormals are zeros, before and after.
  auto flush = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  };
  for (unsigned thread = 0; thread < 8192; ++thread)
    out.put(4 * thread, flush(float(1.0 / double(flush(floatFromBits(in[thread]))))));
}

void exponentials(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 8192);
  for (unsigned thread = 0; thread < 8192; ++thread) {
    uint32_t a = in[thread];
    double moderate = floatFromBits((a & 0x807fffff) | (110 + in[8192 + thread] % 24) << 23);
    for (double value : {std::exp(double(floatFromBits(a))), std::exp(moderate),
                         1 / std::sqrt(double(floatFromBits(a))),
                         1 / std::sqrt(double(floatFromBits(a & 0x7fffffff)))})
      results.add(thread, float(value));
  }
}

void exponentials64(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned thread = 0; thread < 8192; ++thread) {
    auto wide = [&](unsigned i) {
      return uint64_t(in[16384 * i + 8192 + thread]) << 32 | in[16384 * i + thread];
    };
    uint64_t x = wide(0), y = wide(1);
    double moderate = doubleFromBits((x & 0x800fffffffffffff) | (1000 + (y >> 20) % 33) << 52);
    const double values[] = {
        double(std::exp((long double)doubleFromBits(x))), double(std::exp((long double)moderate)),
        double(1 / std::sqrt((long double)doubleFromBits(x & 0x7fffffffffffffff))),
        double(1 / (long double)doubleFromBits(y))};
    for (unsigned i = 0; i < 4; ++i)
      out.put(8 * (8192 * i + thread), values[i]);
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Functions are evaluated in a wider type and rounded once.
using Wide = long double;

struct FloatInput {
  using Number = float;
  static float at(const Memory &in, unsigned i) {
    uint32_t bits = in[i], exponent = 117 + in[(i + 1) % 16384] % 18;
    return floatFromBits(i % 2 ? (bits & 0x807fffff) | exponent << 23 : bits);
  }
};
struct DoubleInput {
  using Number = double;
  static double at(const Memory &in, unsigned i) {
    uint64_t bits = uint64_t(in[i]) << 32 | in[(i + 7777) % 16384];
    uint64_t exponent = 1013 + in[(i + 1) % 16384] % 18;
    return doubleFromBits(i % 2 ? (bits & 0x800fffffffffffff) | exponent << 52 : bits);
  }
};

template <class T> T small(T x) { return std::abs(x) < 256 ? x * T(1.0 / 256) : x; }

/// One function after the other, each for all threads; of three arguments, as the kernels pick
/// them.
template <class Input> Reference functions(std::vector<Wide (*)(Wide, Wide, Wide)> list) {
  return [=](const WrapperCase &, const Memory &in, Memory &out) {
    using Number = typename Input::Number;
    for (unsigned thread = 0; thread < 16384; ++thread) {
      Wide x = Input::at(in, thread), y = Input::at(in, (thread + 4242) % 16384),
           z = Input::at(in, (thread + 9001) % 16384);
      for (size_t i = 0; i < list.size(); ++i)
        out.put(sizeof(Number) * (16384 * i + thread), Number(list[i](x, y, z)));
    }
  };
}

#define F(...) [](Wide x, Wide y, Wide z) -> Wide { return (void)x, (void)y, (void)z, __VA_ARGS__; }

/// fma is rounded once, from the exact sum, which no wider type holds.
template <class Input> Reference exactFunctions() {
  Reference others = functions<Input>({F(0), F(std::abs(x)), F(std::floor(x)), F(std::ceil(x)),
                                       F(std::trunc(x)), F(std::round(x)), F(std::nearbyint(x)),
                                       F(0), F(std::copysign(x, y)), F(std::fmod(x, y))});
  return [=](const WrapperCase &test, const Memory &in, Memory &out) {
    others(test, in, out);
    using Number = typename Input::Number;
    for (unsigned thread = 0; thread < 16384; ++thread) {
      Number x = Input::at(in, thread), y = Input::at(in, (thread + 4242) % 16384),
             z = Input::at(in, (thread + 9001) % 16384);
      out.put(sizeof(Number) * thread, std::sqrt(x));
      out.put(sizeof(Number) * (16384 * 7 + thread), std::fma(x, y, z));
      if constexpr (sizeof(Number) == 4) // the nearest i8, 0 of NaN
        out.put(sizeof(Number) * (16384 * 10 + thread),
                std::isnan(x) ? Number(0)
                              : std::nearbyint(std::clamp(x, Number(-128), Number(127))));
    }
  };
}

void integers(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned thread = 0; thread < 16384; ++thread) {
    uint32_t narrow = in[thread] | 1;
    uint64_t wide = uint64_t(in[16384 + thread]) << 32 | narrow;
    out.set(thread, narrow >> 31 ? 0 - narrow : narrow);
    uint64_t magnitude = wide >> 63 ? 0 - wide : wide;
    out.set(16384 + thread, uint32_t(magnitude));
    out.set(32768 + thread, uint32_t(magnitude >> 32));
  }
}
} // namespace

void swage::test::addNumberReferences(References &references) {
  references["widen_16"] = widen16;
  references["narrow_16"] = narrow16;
  references["widen_8"] = widen8;
  references["narrow_8"] = narrow8;
  references["pairs"] = pairs;
  references["widen_two"] = widenTwo;
  references["bits"] = bits;
  references["extrema"] = extrema;
  references["reciprocals"] = reciprocals;
  references["exponentials"] = exponentials;
  references["exponentials_64"] = exponentials64;
  references["math_integer"] = integers;
  references["math_exact"] = exactFunctions<FloatInput>();
  references["math_exact_64"] = exactFunctions<DoubleInput>();
  references["math_1"] = functions<FloatInput>(
      {F(std::log(x)), F(std::log2(x)), F(std::log1p(x)), F(std::expm1(x)), F(std::cbrt(x))});
  references["math_2"] =
      functions<FloatInput>({F(std::exp2(x)), F(std::log10(x)), F(std::tanh(x)), F(std::erf(x)),
                             F(std::atan(x)), F(std::asin(small(x)))});
  references["math_4"] = functions<FloatInput>(
      {F(std::erfc(x)), F(std::sinh(x)), F(std::cosh(x)), F(std::acos(small(x))), F(std::asinh(x)),
       F(std::acosh(x)), F(std::atanh(small(x))), F(std::pow(x, y)), F(std::atan2(x, y))});
  references["math_64"] =
      functions<DoubleInput>({F(std::log(x)), F(std::log2(x)), F(std::log1p(x)), F(std::expm1(x)),
                              F(std::cbrt(x)), F(std::exp2(x)), F(std::log10(x)), F(std::tanh(x)),
                              F(std::erf(x)), F(std::atan(x)), F(std::asin(small(x)))});
  references["math_more_64"] = functions<DoubleInput>(
      {F(std::erfc(x)), F(std::sinh(x)), F(std::cosh(x)), F(std::acos(small(x))), F(std::asinh(x)),
       F(std::acosh(x)), F(std::atanh(small(x))), F(std::pow(x, y)), F(std::atan2(x, y)),
       F(std::sin(x)), F(std::cos(x)), F(std::tan(x))});
}
