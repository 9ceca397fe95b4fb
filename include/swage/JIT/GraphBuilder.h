//===- GraphBuilder.h - Graphs from C++ -----------------------------------===//
//
// For hosts that make graphs themselves: the same ops as in text, with values as small handles.
//
//   swage::GraphBuilder graph;
//   auto x = graph.input(swage::ElementType::F16, {swage::TensorType::kDynamic, 768});
//   auto gamma = graph.input(swage::ElementType::F16, {768});
//   graph.output(graph.rmsNorm(x, gamma, 1, 1e-5));
//   auto program = graph.finish();
//
// What is wrong with an op is told by finish, with the number and the name of the op; until then
// its value is one of no shape, and what is made of it too.  A builder belongs to one thread at a
// time.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_JIT_GRAPHBUILDER_H
#define SWAGE_JIT_GRAPHBUILDER_H

#include "swage/Runtime/Program.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace swage {

/// A tensor of the builder that gave it.
struct GraphValue {
  unsigned number = 0; ///< 0: none
  explicit operator bool() const { return number != 0; }
};

enum class UnaryOp {
  Negate,
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Log1p,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tanh,
  Erf,
  Floor,
  Ceil,
};
enum class BinaryOp { Add, Subtract, Multiply, Divide, Maximum, Minimum, Power, And, Or, Xor };
/// Of floats ordered: false where one is NaN, but for NotEqual, which is true.
enum class Comparison { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
enum class ReduceOp { Sum, Max, Min, Mean };

class SWAGE_API GraphBuilder {
public:
  /// An extent of a result: a number, kDynamic where the op finds it in its operands, or what some
  /// tensor has.
  struct Extent {
    Extent(int64_t size) : size(size) {}
    Extent(GraphValue of, unsigned dim) : size(TensorType::kDynamic), of(of), dim(dim) {}
    int64_t size;
    GraphValue of;
    unsigned dim = 0;
  };
  using Extents = std::vector<Extent>;

  /// `entry`: the name of the function, as the program's.
  explicit GraphBuilder(std::string entry = "main");

  /// The program's inputs in the order of the calls.
  GraphValue input(ElementType type, Dims shape);
  /// `value` in each element, rounded to the type.
  GraphValue constant(ElementType type, const Extents &shape, double value);
  /// Of the type and shape of `x`.
  GraphValue constantLike(GraphValue x, double value);

  // Element by element; the operands have one shape.
  GraphValue unary(UnaryOp op, GraphValue x); ///< floats
  GraphValue binary(BinaryOp op, GraphValue a, GraphValue b);
  GraphValue compare(Comparison op, GraphValue a, GraphValue b); ///< to i1
  GraphValue select(GraphValue condition, GraphValue ifTrue, GraphValue ifFalse);
  /// Floats round to nearest even, integers keep their low bits, an i1 is 0 or 1.
  GraphValue cast(GraphValue x, ElementType type);

  /// Over the dimensions from `axis` on.  `gamma` and `beta` may be none, of those dimensions.
  /// `mean` and `rstd` receive the statistics, which are computed only then.
  GraphValue layerNorm(GraphValue x, GraphValue gamma, GraphValue beta, int64_t axis,
                       double epsilon, GraphValue *mean = nullptr, GraphValue *rstd = nullptr);
  GraphValue rmsNorm(GraphValue x, GraphValue gamma, int64_t axis, double epsilon,
                     GraphValue *rstd = nullptr);
  GraphValue softmax(GraphValue x, int64_t axis, double scale = 1);
  GraphValue reduce(ReduceOp op, GraphValue x, Dims dims);

  /// Dimension k of the result is dimension `permutation[k]` of `x`.
  GraphValue permute(GraphValue x, Dims permutation);
  GraphValue reshape(GraphValue x, const Extents &shape);
  /// Dimension k of `x` becomes dimension `dims[k]`; along the others, and where x has extent 1, it
  /// is repeated.
  GraphValue broadcast(GraphValue x, Dims dims, const Extents &shape);
  /// Each `step`-th of the elements along `axis`, `size` of them.
  GraphValue slice(GraphValue x, int64_t axis, int64_t from, int64_t size, int64_t step = 1);
  /// The parts have one type.
  GraphValue concat(const std::vector<GraphValue> &parts, int64_t axis);

  /// The program's results in the order of the calls.
  void output(GraphValue value);

  /// With kDynamic where an extent comes with the inputs; of a value that is none, no type.
  TensorType typeOf(GraphValue value) const;

  /// The graph as text, which Program::parse takes too; the first error, if there was one.
  Expected<std::string> text() const;
  Expected<Program> finish(const Context &context = Context::process()) const;

private:
  GraphValue define(TensorType type, const std::string &op);
  /// The first result; `others` receive the last ones, where they are not null.
  GraphValue defineSeveral(const std::vector<TensorType> &results, const std::string &op,
                           std::initializer_list<GraphValue *> others);
  GraphValue fail(const std::string &message);
  bool begin(const char *op, std::initializer_list<GraphValue> operands);
  bool checkFloat(GraphValue x);
  bool checkSameType(GraphValue a, GraphValue b);
  bool checkAxis(GraphValue x, int64_t axis);
  bool checkDistinct(const Dims &dims, size_t below);
  std::string sizesOf(const Extents &shape, bool &ok);
  std::string signature(const std::vector<GraphValue> &operands,
                        const std::vector<TensorType> &results) const;
  const TensorType &type(GraphValue value) const { return types[value.number - 1]; }

  std::string entry;
  std::vector<TensorType> types; ///< of values, numbered from 1
  std::vector<GraphValue> inputs, outputs;
  std::string body;
  unsigned opNumber = 0;
  std::string opName; ///< of the op in progress
  Status failure;
};

} // namespace swage

#endif // SWAGE_JIT_GRAPHBUILDER_H
