//===- RandomGraph.h - Random valid op graphs -------------------*- C++ -*-===//
//
// Graphs for property tests, as .mlir text: the same seed gives the same text on every machine, so
// that a failure is reproduced from its seed alone.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_TEST_LIB_RANDOMGRAPH_H
#define SWAGE_TEST_LIB_RANDOMGRAPH_H

#include <cstdint>
#include <string>

namespace swage::test {

struct RandomGraph {
  /// A module with one function, @main. Its first line is a comment that says `exact` or `dense`.
  std::string text;
  /// On inputs of the family `exact` every value is a small integer that its type holds exactly, in
  /// whatever order sums are formed: results must be bit-equal. Otherwise the graph is meant for
  /// the family `dense`, on which no value overflows and no branch depends on a rounded value.
  bool exact = false;
  /// Elements of the largest tensor.
  int64_t elements = 0;
};

/// Elementwise ops, casts, norms, softmax, reductions and index ops; rank 1 to 6 (0 after a full
/// reduction), odd sizes, f32, f16, bf16, f64 and now and then i32, i8 and i1; 1 to 12 steps with
/// values of several uses and several results.
RandomGraph makeRandomGraph(uint64_t seed);

/// The text alone.
std::string randomGraph(uint64_t seed);

} // namespace swage::test

#endif // SWAGE_TEST_LIB_RANDOMGRAPH_H
