//===- GuardBands.h - Buffers that notice stray writes ----------*- C++ -*-===//
//
// An output is surrounded by guard bands and everything is filled with a poison. After the kernel
// ran, the bands must be untouched; and two runs with different poisons must agree bit for bit, or
// the kernel left elements unwritten or read what it was to write. Pure host functions: a device
// buffer is copied up and down as one image.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_GUARDBANDS_H
#define SWAGE_REFERENCE_GUARDBANDS_H

#include <cstdint>
#include <optional>
#include <string>

namespace swage::reference {

/// Where a payload lies inside its image. The band in front is a multiple of 256 bytes, so the
/// payload is as aligned as the image; `misalign` bytes can be added to test other alignments.
struct GuardedLayout {
  int64_t payloadBytes = 0;
  int64_t guardBytes = 4096;
  int64_t misalign = 0;

  int64_t payloadOffset() const { return guardBytes + misalign; }
  int64_t imageBytes() const { return payloadOffset() + payloadBytes + guardBytes; }
};

/// NaN in every float type, -1 in integers.
constexpr uint8_t kPoisonNaN = 0xff;
/// Ordinary small negative numbers: a kernel that adds to its output gives itself away.
constexpr uint8_t kPoisonNumber = 0xa5;

/// Fills bands and payload.
void poison(const GuardedLayout &layout, uint8_t pattern, void *image);

/// Fills the bands only: for inputs, whose payload the caller has written.
void poisonGuards(const GuardedLayout &layout, uint8_t pattern, void *image);

/// The first byte of a band that no longer holds the pattern, relative to the payload's begin:
/// negative in front of it.
struct GuardViolation {
  int64_t offset;
  uint8_t found;
  int64_t bytes; ///< how many band bytes changed
  std::string message() const;
};

std::optional<GuardViolation> checkGuards(const GuardedLayout &layout, uint8_t pattern,
                                          const void *image);

/// The first byte in which two payloads differ, -1 where they agree.
int64_t firstDifference(const void *a, const void *b, int64_t bytes);

} // namespace swage::reference

#endif // SWAGE_REFERENCE_GUARDBANDS_H
