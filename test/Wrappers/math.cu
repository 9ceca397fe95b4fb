// Transcendental and rounding functions.  The bounds are those of swage/device/cuda/math.cuh and
// one unit for the simulator's own.  Arguments: random bits, and numbers of moderate size.
//
// arch: sm_80
#include "swage/device/math.cuh"

namespace {
/// Random bits for even i, and the exponents from 2^-10 to 2^8 for odd ones.
__device__ float floatOf(const unsigned *in, unsigned i) {
  const unsigned bits = in[i], exponent = 117u + in[(i + 1) % 16384] % 18u;
  return swage::bitCast<float>(i % 2 ? (bits & 0x807fffffu) | exponent << 23 : bits);
}
__device__ double doubleOf(const unsigned *in, unsigned i) {
  const unsigned long long bits =
      static_cast<unsigned long long>(in[i]) << 32 | in[(i + 7777) % 16384];
  const unsigned long long exponent = 1013u + in[(i + 1) % 16384] % 18u;
  return swage::bitCast<double>(i % 2 ? (bits & 0x800fffffffffffffull) | exponent << 52 : bits);
}
/// Between -1 and 1 for asin and the like.
template <class T> __device__ T small(T x) {
  return x == x && swage::abs(x) < T(256) ? x * T(0.00390625) : x;
}
} // namespace

// launch: math_exact grid=64 block=256 in=65536 out=720896 ulp=0
extern "C" __global__ void math_exact(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<float *>(out) + thread;
  const float x = floatOf(in, thread);
  const float y = floatOf(in, (thread + 4242) % 16384);
  const float z = floatOf(in, (thread + 9001) % 16384);
  to[0] = swage::sqrt(x);
  to[16384] = swage::abs(x);
  to[32768] = swage::floor(x);
  to[49152] = swage::ceil(x);
  to[65536] = swage::trunc(x);
  to[81920] = swage::round(x);
  to[98304] = swage::roundEven(x);
  to[114688] = swage::fma(x, y, z);
  to[131072] = swage::copySign(x, y);
  to[147456] = swage::remainder(x, y);
  to[163840] = swage::roundToByte(x);
}

// launch: math_1 grid=64 block=256 in=65536 out=327680 ulp=2
extern "C" __global__ void math_1(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<float *>(out) + thread;
  const float x = floatOf(in, thread);
  to[0] = swage::log(x);
  to[16384] = swage::log2(x);
  to[32768] = swage::log1p(x);
  to[49152] = swage::expm1(x);
  to[65536] = swage::cbrt(x);
}

// launch: math_2 grid=64 block=256 in=65536 out=393216 ulp=3
extern "C" __global__ void math_2(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<float *>(out) + thread;
  const float x = floatOf(in, thread);
  to[0] = swage::exp2(x);
  to[16384] = swage::log10(x);
  to[32768] = swage::tanh(x);
  to[49152] = swage::erf(x);
  to[65536] = swage::atan(x);
  to[81920] = swage::asin(small(x));
}

// launch: math_4 grid=64 block=256 in=65536 out=589824 ulp=5
extern "C" __global__ void math_4(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<float *>(out) + thread;
  const float x = floatOf(in, thread);
  const float y = floatOf(in, (thread + 4242) % 16384);
  to[0] = swage::erfc(x);
  to[16384] = swage::sinh(x);
  to[32768] = swage::cosh(x);
  to[49152] = swage::acos(small(x));
  to[65536] = swage::asinh(x);
  to[81920] = swage::acosh(x);
  to[98304] = swage::atanh(small(x));
  to[114688] = swage::pow(x, y);
  to[131072] = swage::atan2(x, y);
}

// launch: math_exact_64 grid=64 block=256 in=65536 out=1310720 ulp64=0
extern "C" __global__ void math_exact_64(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<double *>(out) + thread;
  const double x = doubleOf(in, thread);
  const double y = doubleOf(in, (thread + 4242) % 16384);
  const double z = doubleOf(in, (thread + 9001) % 16384);
  to[0] = swage::sqrt(x);
  to[16384] = swage::abs(x);
  to[32768] = swage::floor(x);
  to[49152] = swage::ceil(x);
  to[65536] = swage::trunc(x);
  to[81920] = swage::round(x);
  to[98304] = swage::roundEven(x);
  to[114688] = swage::fma(x, y, z);
  to[131072] = swage::copySign(x, y);
  to[147456] = swage::remainder(x, y);
}

// launch: math_64 grid=64 block=256 in=65536 out=1441792 ulp64=3
extern "C" __global__ void math_64(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<double *>(out) + thread;
  const double x = doubleOf(in, thread);
  to[0] = swage::log(x);
  to[16384] = swage::log2(x);
  to[32768] = swage::log1p(x);
  to[49152] = swage::expm1(x);
  to[65536] = swage::cbrt(x);
  to[81920] = swage::exp2(x);
  to[98304] = swage::log10(x);
  to[114688] = swage::tanh(x);
  to[131072] = swage::erf(x);
  to[147456] = swage::atan(x);
  to[163840] = swage::asin(small(x));
}

// launch: math_more_64 grid=64 block=256 in=65536 out=1572864 ulp64=6
extern "C" __global__ void math_more_64(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  auto *to = reinterpret_cast<double *>(out) + thread;
  const double x = doubleOf(in, thread);
  const double y = doubleOf(in, (thread + 4242) % 16384);
  to[0] = swage::erfc(x);
  to[16384] = swage::sinh(x);
  to[32768] = swage::cosh(x);
  to[49152] = swage::acos(small(x));
  to[65536] = swage::asinh(x);
  to[81920] = swage::acosh(x);
  to[98304] = swage::atanh(small(x));
  to[114688] = swage::pow(x, y);
  to[131072] = swage::atan2(x, y);
  to[147456] = swage::sin(x);
  to[163840] = swage::cos(x);
  to[180224] = swage::tan(x);
}

// launch: math_integer grid=64 block=256 in=131072 out=196608 exact
extern "C" __global__ void math_integer(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  // Not the smallest integer, whose negative is none.
  out[thread] = static_cast<unsigned>(swage::abs(static_cast<int>(in[thread] | 1u)));
  const auto wide = static_cast<long long>(
      static_cast<unsigned long long>(in[16384 + thread]) << 32 | in[thread] | 1u);
  const auto magnitude = static_cast<unsigned long long>(swage::abs(wide));
  out[16384 + thread] = static_cast<unsigned>(magnitude);
  out[32768 + thread] = static_cast<unsigned>(magnitude >> 32);
}
