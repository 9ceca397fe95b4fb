// Elements of the matrix instructions that types.cuh has not.
#pragma once

#include "swage/device/cuda/types.cuh"

namespace swage {

/// 8-bit floats: 4 exponent bits, NaN but no infinity, up to 448; and 5, up to 57344.
struct e4m3 {
  unsigned char bits;
};
struct e5m2 {
  unsigned char bits;
};

/// A float of which the instruction takes no notice of the last 13 bits, which should be zero.
struct tf32 {
  unsigned bits;
};

/// Integers of 8 bits.
struct s8 {
  signed char bits;
};
struct u8 {
  unsigned char bits;
};

} // namespace swage
