//===- CaseFile.h - Families and sweeps from a small text -----------------===//
//
//   # Comments and empty lines are skipped.
//   peers ln softmax                     what bench/peers.py measures
//   layernorm 8192x768 32768x1024 f16 bf16
//   softmax bytes=256M cols=1..300000/60 bf16 torch=20
//   rmsnorm rows=8 cols=1024,128256 f32 offset=0,1
//   causal_softmax 8x16x1024 f16         batch, heads, length
//   permute 64x3x512x512 0,2,3,1 f16
//   copy 64 256                          megabytes
//   graph model.mlir 16384=37            beside the file; other extents in its tensor types
//
// A line's shapes, types and offsets are all combined.  `cols=A..B/N` is N lengths from A to B,
// even in their logarithms; beyond the shortest, every third is prime and every third a multiple
// of 8. `bytes` is what each case moves in all; `torch=N` marks N of the line's lengths for
// torch_peers.py (in bf16 where the line has it, at no offset).
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_CASEFILE_H
#define SWAGE_TOOLS_HARNESS_CASEFILE_H

#include "CaseGraphs.h"

#include "swage/Support/Error.h"

namespace swage {

/// The cases of one line; none for a comment.  `directory`: that names of files start from.
Expected<std::vector<BenchCase>> parseCaseLine(std::string_view line,
                                               const std::string &directory = "");
/// Those of a text; an error names the file and the line.
Expected<std::vector<BenchCase>> parseCases(std::string_view text, const std::string &filename);

/// `count` increasing lengths from `first` to `last`; nothing where there are not so many.
std::vector<int64_t> sweepLengths(int64_t first, int64_t last, int64_t count);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_CASEFILE_H
