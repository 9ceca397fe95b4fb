//===- Ops.h - Ops on whole tensors -----------------------------*- C++ -*-===//
//
// One plain function per op, or per family that differs in a scalar rule only. Shapes have been
// checked. A result that is not allocated did not fit in memory.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_REFERENCE_OPS_H
#define SWAGE_LIB_REFERENCE_OPS_H

#include "Arithmetic.h"
#include <functional>
#include <optional>

namespace swage::reference {

using Scalar = std::function<Number(const Number *operands)>;

/// result[i] = scalar(operands[0][i], ...).
Value elementwise(const Scalar &scalar, llvm::ArrayRef<Value> operands, ElementType type,
                  llvm::ArrayRef<int64_t> shape);

/// result[i_0, i_1, ...] = x[offset + sum i_k * strides[k]], in elements: permute, broadcast,
/// slice.
Value gather(const Value &x, llvm::ArrayRef<int64_t> shape, int64_t offset,
             llvm::ArrayRef<int64_t> strides);

/// Row-major strides of a shape.
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);

Value permute(const Value &x, llvm::ArrayRef<int64_t> permutation);
Value concat(llvm::ArrayRef<Value> parts, int64_t axis, llvm::ArrayRef<int64_t> shape);

/// result[b.., h.., j, d] = pool[table[b.., j / T], h.., j mod T, d], or 0 where the table has no
/// number of a page.
Value pages(const Value &pool, const Value &table, llvm::ArrayRef<int64_t> shape);

/// cache with the rows that begin at positions[b] along `axis` replaced; `circular`: modulo their
/// number there. One position is for all b.
Value append(const Value &cache, const Value &rows, const Value &positions, int64_t axis,
             bool circular);
/// The same with `paged`: `places` has one for each row.
Value appendPaged(const Value &pool, const Value &rows, const Value &places, int64_t axis);

/// The element types of an op's results are given; `mean` and `rstd` are made where they are asked
/// for. `gamma` and `beta` may be null.
struct NormResult {
  Value result, mean, rstd;
};
NormResult layerNorm(const Value &x, const Value *gamma, const Value *beta, int64_t axis,
                     double epsilon, ElementType type, std::optional<ElementType> statistics,
                     Precision precision);
NormResult rmsNorm(const Value &x, const Value *gamma, int64_t axis, double epsilon,
                   ElementType type, std::optional<ElementType> statistics, Precision precision);

/// How a softmax departs from exp(x) / sum(exp(x)).
struct SoftmaxOptions {
  std::optional<double> scale;
  bool log = false;
  bool nanRows = false; ///< a row that is masked throughout gives NaN
};
/// `mask` may be null; `logSumExp` is made where a type for it is given.
struct SoftmaxResult {
  Value result, logSumExp;
};
SoftmaxResult softmax(const Value &x, const Value *mask, int64_t axis,
                      const SoftmaxOptions &options, ElementType type,
                      std::optional<ElementType> statistics, Precision precision);

/// a [.., rows, depth] times b [.., depth, columns], or [.., columns, depth].
Value matmul(const Value &a, const Value &b, bool transposeB, ElementType type,
             Precision precision);

class ScalarProgram;

/// The programs, which may be null, take the leading dimensions, the head, the query and the key;
/// that of the score takes the score before these.
struct AttentionOptions {
  double scale = 1;
  bool nanRows = false; ///< a row that is masked or -inf throughout gives NaN
  bool ofCache = false; ///< values are made of 8 bits, and weights may be rounded to f16 for them
  bool tf32 = false;    ///< factors of f32 have 11 bits
  const ScalarProgram *score = nullptr, *mask = nullptr, *weight = nullptr;
  const Value *sinks = nullptr; ///< for each query head
};
/// What is made beside the result, of types that are given.
struct AttentionResult {
  Value result, logSumExp, probabilities;
};
AttentionResult attention(const Value &q, const Value &k, const Value &v,
                          const AttentionOptions &options, ElementType type,
                          std::optional<ElementType> statistics,
                          std::optional<ElementType> probabilities, Precision precision);

enum class Reduction { Sum, Max, Min, Mean };
Value reduce(Reduction kind, const Value &x, llvm::ArrayRef<int64_t> dims, ElementType type,
             Precision precision);

/// Each element is its coordinate along `dim`.
Value iota(int64_t dim, llvm::ArrayRef<int64_t> shape);
/// Philox words of the stream that `state`, (seed, offset), starts.
Value random(const Value &state, llvm::ArrayRef<int64_t> shape);

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_OPS_H
