//===- CaseGraphs.h - The graphs that are measured ------------------------===//
//
// Families of operations at given shapes, as modules.  Family and case names are those that records
// are joined by: bench/peers.py and tools/swage-bench/torch_peers.py write the same.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_CASEGRAPHS_H
#define SWAGE_TOOLS_HARNESS_CASEGRAPHS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace swage {

struct BenchCase {
  std::string family, name;
  std::string text;                   ///< a module with @main; empty: that of `file`
  std::string file;                   ///< of a whole graph
  std::map<int64_t, int64_t> extents; ///< of its tensors, and what takes their place
  /// That rates are given in: what every implementation moves.  0: all inputs and results.
  uint64_t countedBytes = 0;
  double countedFlops = 0;    ///< floating-point operations, where rates are given in those
  uint64_t needlessBytes = 0; ///< of the inputs: elements that no result depends on
  std::vector<int64_t> shape; ///< of the first input
  std::vector<int64_t> permutation;
  std::string element;
  int64_t offset = 0; ///< elements that every tensor starts after an aligned address
  bool torch = false; ///< the sweep asks for torch.compile on this one
};

/// Families over rows x length: layernorm, rmsnorm, softmax, ...
const std::vector<std::string_view> &rowFamilies();
/// Bytes that a row of a family moves, for each byte of one row.
int64_t streamsOf(std::string_view family);
BenchCase rowCase(const std::string &family, int64_t rows, int64_t length,
                  const std::string &element);
/// "mask_softmax" or "causal_softmax" over scores of [batch, heads, length, length].
BenchCase maskedSoftmaxCase(const std::string &family, int64_t batch, int64_t heads, int64_t length,
                            const std::string &element);
BenchCase permuteCase(const std::vector<int64_t> &shape, const std::vector<int64_t> &permutation,
                      const std::string &element);
/// Attention of `queries` by `keys`, `heads` of one and `keyHeads` of the other, all of `dim`;
/// causal: a query sees keys up to its own position. The operations of these count, of as many
/// queries as keys half of all, as peers.py has it. Of 8 bits: the result is bf16.
struct AttentionShape {
  int64_t batch, heads, keyHeads, queries, keys, dim;
};
BenchCase attentionCase(const AttentionShape &shape, bool causal, const std::string &element);
/// Attention of few queries of bf16, named by the length of its context; rates are those of keys and
/// values, of type `cache`: bf16, or of 8 bits, times factors.
BenchCase decodeCase(const AttentionShape &shape, const std::string &cache);
BenchCase copyCase(int64_t megabytes);

/// What peers.py measures, by its names of groups: copy, pointwise, reduce, ln, softmax, permute,
/// attn, decode.
const std::vector<std::string_view> &peerGroups();
std::vector<BenchCase> peerCases(std::string_view group);

/// A graph's text with other extents in its tensor types.
std::string withExtents(std::string_view text, const std::map<int64_t, int64_t> &extents);

/// A LayerNorm with gamma and beta.
std::string layerNormText(int64_t rows, int64_t length, const std::string &element);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_CASEGRAPHS_H
