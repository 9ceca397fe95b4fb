//===- Random.h - Philox -----------------------------------------*- C++ -*-===//
//
// The counter-based generator of Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as
// 1, 2, 3 (SC 2011): ten rounds of two multiplications each scramble a 128-bit counter. Any word of
// the stream is computed by itself, in any order.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_RANDOM_H
#define SWAGE_REFERENCE_RANDOM_H

#include <array>
#include <cstdint>

namespace swage::reference {

/// philox4x32_10; least significant words first.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The element at `position`, row-major, of swage.random's result: word `position` % 4 of the block
/// that the counter offset + `position` / 4 gives. The sum wraps at 2^64; the counter's upper half
/// is 0.
uint32_t philoxWord(uint64_t seed, uint64_t offset, uint64_t position);

} // namespace swage::reference

#endif // SWAGE_REFERENCE_RANDOM_H
