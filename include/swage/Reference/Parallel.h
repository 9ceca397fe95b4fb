//===- Parallel.h - Loops over elements on all cores ------------*- C++ -*-===//
//
// The oracle handles hundreds of millions of elements. Results never depend on the number of
// threads: work is cut into chunks of a fixed size, and each chunk writes only its own results.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_PARALLEL_H
#define SWAGE_REFERENCE_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace swage::reference {

/// How many threads the loops below use; 0, the default, means one for each core.
void setThreadCount(unsigned threads);

/// Calls body(begin, end) for consecutive ranges of at most `chunk` that cover 0..count-1, in any
/// order and on several threads.
void parallelFor(int64_t count, int64_t chunk,
                 llvm::function_ref<void(int64_t begin, int64_t end)> body);

/// The chunk size for cheap per-element work.
constexpr int64_t kElementChunk = 1 << 15;

/// The number of rows to take at a time when one row has `length` elements.
constexpr int64_t rowChunk(int64_t length) {
  return length >= kElementChunk ? 1 : kElementChunk / (length > 0 ? length : 1);
}

} // namespace swage::reference

#endif // SWAGE_REFERENCE_PARALLEL_H
