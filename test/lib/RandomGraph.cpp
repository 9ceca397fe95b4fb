//===- RandomGraph.cpp - Random valid op graphs ---------------------------===//
//
// A graph grows step by step from one input. Each value carries what later steps must know to stay
// valid and tame: its type, a bound of its magnitude, and whether it is an unrounded input element.
// Standard library only, and no std distribution, since those differ between implementations.
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

using namespace swage::test;

namespace {

enum class Type { F32, F16, BF16, F64, I32, I8, I1 };

const char *name(Type type) {
  static const char *names[] = {"f32", "f16", "bf16", "f64", "i32", "i8", "i1"};
  return names[static_cast<int>(type)];
}

bool isFloat(Type type) { return type <= Type::F64; }
int width(Type type) {
  static const int widths[] = {32, 16, 16, 64, 32, 8, 1};
  return widths[static_cast<int>(type)];
}

/// Up to here every integer is a value of the type.
double exactLimit(Type type) {
  static const double limits[] = {16777216, 2048, 256, 16777216, 1 << 30, 127, 1};
  return limits[static_cast<int>(type)];
}

using Shape = std::vector<int64_t>;

int64_t count(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

struct Value {
  std::string name;
  Shape shape;
  Type type = Type::F32;
  /// No element is larger in magnitude.
  double bound = 0;
  /// Elements are input elements, so that a comparison gives what it gives in exact arithmetic.
  bool raw = false;
  /// Dimensions along which elements differ.
  std::vector<bool> varies;
  int uses = 0;
};

class Builder {
public:
  // Mixed, since a state that grows with the seed would give overlapping sequences.
  explicit Builder(uint64_t seed) : state(mix(seed + 0x243f6a8885a308d3)) {}

  RandomGraph build(uint64_t seed) {
    graph.exact = chance(35);
    Type main = pickType();
    last = input(pickShape(), main);
    int steps = 1 + below(12);
    for (int done = 0, tries = 0; done < steps && tries < 200; ++tries)
      done += step();
    return finish(seed);
  }

private:
  uint64_t state;
  RandomGraph graph;
  std::vector<Value> values;
  std::vector<int> inputs;
  std::string body;
  int last = 0;

  //===--------------------------------------------------------------------===//
  // Choices
  //===--------------------------------------------------------------------===//

  /// The finaliser of splitmix64: every output bit depends on every input bit.
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t bits() { return mix(state += 0x9e3779b97f4a7c15); }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

  Type pickType() {
    if (chance(graph.exact ? 25 : 6))
      return pick({Type::I32, Type::I8, Type::I1});
    return pick({Type::F32, Type::F32, Type::F16, Type::F16, Type::BF16, Type::BF16, Type::F64});
  }

  Shape pickShape() {
    if (chance(3)) // a row longer than a block keeps in registers
      return chance(50) ? Shape{70001} : Shape{3, 65537};
    int64_t budget = chance(85) ? 100000 : 1000000;
    for (;;) {
      Shape shape(1 + below(6));
      for (int64_t &extent : shape)
        extent = pick<int64_t>({1,  2,   3,   5,   7,   8,   16,  31,  32,   33,   64,
                                96, 100, 127, 128, 129, 255, 256, 768, 1000, 1023, 4097});
      if (count(shape) <= budget && (count(shape) >= 16 || chance(10)))
        return shape;
    }
  }

  /// The newest value half of the time: graphs get deep as well as wide.
  int pickValue() { return chance(55) ? last : static_cast<int>(below(values.size())); }

  std::string constant(Type type) {
    if (!isFloat(type))
      return pick({"1", "2", "-1"});
    if (graph.exact)
      return pick({"1.0", "2.0", "-1.0"});
    return pick({"0.5", "2.0", "-1.0", "1.5", "0.1", "0.7071"});
  }

  //===--------------------------------------------------------------------===//
  // Text
  //===--------------------------------------------------------------------===//

  static std::string typeText(const Shape &shape, Type type) {
    std::string text = "tensor<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + name(type) + ">";
  }
  std::string typeText(int v) const { return typeText(values[v].shape, values[v].type); }

  template <class List> static std::string listText(const List &list) {
    std::string text = "[";
    for (size_t i = 0; i < list.size(); ++i)
      text += (i ? ", " : "") + std::to_string(list[i]);
    return text + "]";
  }

  const std::string &use(int v) {
    ++values[v].uses;
    return values[v].name;
  }

  int add(Shape shape, Type type, double bound) {
    Value value;
    value.name = "%v" + std::to_string(values.size());
    value.varies.assign(shape.size(), true);
    graph.elements = std::max(graph.elements, count(shape));
    value.shape = std::move(shape);
    value.type = type;
    value.bound = bound;
    values.push_back(std::move(value));
    return static_cast<int>(values.size()) - 1;
  }

  /// Adds a value and the line that computes it.
  int emit(Shape shape, Type type, double bound, const std::string &text) {
    int v = add(std::move(shape), type, bound);
    body += "  " + values[v].name + " = " + text + "\n";
    return v;
  }

  int input(Shape shape, Type type) {
    // The families' ranges: exact -2..2, dense below 3.47, integers -2..2.
    double bound = type == Type::I1 ? 1 : graph.exact || !isFloat(type) ? 2 : 3.47;
    int v = add(std::move(shape), type, bound);
    values[v].name = "%in" + std::to_string(inputs.size());
    values[v].raw = true;
    for (size_t i = 0; i < values[v].shape.size(); ++i)
      values[v].varies[i] = values[v].shape[i] > 1;
    inputs.push_back(v);
    return v;
  }

  //===--------------------------------------------------------------------===//
  // Building blocks
  //===--------------------------------------------------------------------===//

  /// Elementwise `op` on values of one type; result of the operands' type.
  int elementwise(const std::string &op, std::vector<int> operands, double bound) {
    std::string text = op;
    for (size_t i = 0; i < operands.size(); ++i)
      text += (i ? ", " : " ") + use(operands[i]);
    Shape shape = values[operands[0]].shape;
    Type type = values[operands[0]].type;
    int v = emit(shape, type, bound, text + " : " + typeText(shape, type));
    for (size_t d = 0; d < shape.size(); ++d) {
      bool varies = false;
      for (int operand : operands)
        varies = varies || values[operand].varies[d];
      values[v].varies[d] = varies;
    }
    return v;
  }

  int splat(const Shape &shape, Type type, const std::string &number, double bound) {
    int v =
        emit(shape, type, bound, "arith.constant dense<" + number + "> : " + typeText(shape, type));
    values[v].varies.assign(shape.size(), false);
    values[v].raw = true;
    values[v].uses = 1; // never a result by itself
    return v;
  }

  /// A cast that keeps what is tracked.
  int convert(int from, Type to, const char *op) {
    Value source = values[from];
    int v = emit(source.shape, to, source.bound,
                 std::string(op) + " " + use(from) + " : " + typeText(from) + " to " +
                     typeText(source.shape, to));
    values[v].varies = source.varies;
    values[v].raw = source.raw && width(to) >= width(source.type);
    return v;
  }

  int cast(int from, Type to) {
    Type type = values[from].type;
    if (type == to)
      return from;
    if (!isFloat(type)) {
      // i1 is 0 or 1; the other integers are signed.
      return convert(from, to, type == Type::I1 ? "arith.uitofp" : "arith.sitofp");
    }
    if (width(type) == width(to))
      return cast(cast(from, Type::F32), to);
    return convert(from, to, width(type) < width(to) ? "arith.extf" : "arith.truncf");
  }

  /// Whether a value of this bound may be stored as `type`.
  bool fits(double bound, Type type) const {
    return bound <= (graph.exact ? exactLimit(type) : type == Type::F16 ? 1e4 : 1e6);
  }

  int broadcast(int from, std::vector<int64_t> dims, const Shape &shape) {
    Value source = values[from];
    int v = emit(shape, source.type, source.bound,
                 "swage.broadcast " + use(from) + " dims " + listText(dims) + " : " +
                     typeText(from) + " -> " + typeText(shape, source.type));
    values[v].varies.assign(shape.size(), false);
    for (size_t k = 0; k < dims.size(); ++k)
      values[v].varies[dims[k]] = source.varies[k] && source.shape[k] > 1;
    values[v].raw = source.raw;
    return v;
  }

  /// Another operand of this shape and type: something there, a constant, a new input, or a new
  /// smaller input that is broadcast.
  int partner(const Shape &shape, Type type) {
    int kind = static_cast<int>(below(10));
    if (kind < 3) {
      std::vector<int> equal;
      for (size_t v = 0; v < values.size(); ++v)
        if (values[v].shape == shape && isFloat(values[v].type) == isFloat(type) &&
            (isFloat(type) || values[v].type == type) && fits(values[v].bound, type))
          equal.push_back(static_cast<int>(v));
      if (!equal.empty())
        return cast(equal[below(equal.size())], type);
    }
    if (kind < 4 && type != Type::I1)
      return splat(shape, type, constant(type), 2);
    // Inputs of another float type give mixed kernels.
    Type stored = isFloat(type) && type != Type::F64 && chance(15)
                      ? pick({Type::F32, Type::F16, Type::BF16})
                      : type;
    if (kind < 6 || shape.empty())
      return cast(input(shape, stored), type);
    std::vector<int64_t> dims;
    Shape small;
    for (size_t d = 0; d < shape.size(); ++d)
      if (chance(50)) {
        dims.push_back(static_cast<int64_t>(d));
        small.push_back(chance(15) ? 1 : shape[d]);
      }
    if (dims.empty()) {
      dims.push_back(static_cast<int64_t>(shape.size()) - 1);
      small.push_back(shape.back());
    }
    return cast(broadcast(input(small, stored), dims, shape), type);
  }

  //===--------------------------------------------------------------------===//
  // Steps. Each says whether it added something.
  //===--------------------------------------------------------------------===//

  bool step() {
    int x = pickValue();
    int v = -1;
    int64_t kind = below(100);
    if (!isFloat(values[x].type))
      v = kind < 45 ? indexStep(x) : integerStep(x);
    else if (kind < 22)
      v = unaryStep(x);
    else if (kind < 46)
      v = binaryStep(x);
    else if (kind < 54)
      v = selectStep(x);
    else if (kind < 60)
      v = castStep(x);
    else if (kind < 78)
      v = indexStep(x);
    else if (kind < 88 || graph.exact)
      v = reduceStep(x);
    else
      v = rowStep(x);
    if (v < 0)
      return false;
    last = v;
    return true;
  }

  int unaryStep(int x) {
    const Value value = values[x];
    if (graph.exact) {
      switch (below(4)) {
      case 0:
        return elementwise("arith.negf", {x}, value.bound);
      case 1:
        return elementwise("math.absf", {x}, value.bound);
      case 2: // a ramp: max(x, 0)
        return elementwise("arith.maximumf", {x, splat(value.shape, value.type, "0.0", 0)},
                           value.bound);
      default:
        return fits(value.bound * value.bound, value.type)
                   ? elementwise("arith.mulf", {x, x}, value.bound * value.bound)
                   : -1;
      }
    }
    auto positive = [&](const char *offset) { // |x| + offset, away from 0
      int absolute = elementwise("math.absf", {x}, value.bound);
      return elementwise("arith.addf", {absolute, splat(value.shape, value.type, offset, 2)},
                         value.bound + 2);
    };
    // What grows fast is applied to what is bounded.
    auto bounded = [&](double limit) {
      return value.bound <= limit ? x : elementwise("math.tanh", {x}, 1);
    };
    switch (below(14)) {
    case 0:
      return elementwise("math.tanh", {x}, 1);
    case 1:
      return elementwise("math.erf", {x}, 1);
    case 2: {
      int inner = bounded(6);
      return elementwise("math.exp", {inner}, values[inner].bound > 1 ? 404 : 2.72);
    }
    case 3: {
      int inner = bounded(8);
      return elementwise("math.exp2", {inner}, values[inner].bound > 1 ? 256 : 2);
    }
    case 4:
      return elementwise("math.log", {positive("1.0")}, 20);
    case 5:
      return elementwise("math.log2", {positive("0.5")}, 24);
    case 6:
      return elementwise("math.sqrt", {positive("0.5")}, value.bound + 2);
    case 7:
      return elementwise("math.rsqrt", {positive("0.5")}, 2);
    case 8:
      return value.bound <= 100 ? elementwise("math.sin", {x}, 1) : -1;
    case 9:
      return value.bound <= 100 ? elementwise("math.cos", {x}, 1) : -1;
    case 10:
      return elementwise("arith.negf", {x}, value.bound);
    case 11:
      return elementwise("math.absf", {x}, value.bound);
    case 12: // sigmoid
      return sigmoid(bounded(10));
    default:
      return fits(value.bound * value.bound, value.type) && value.bound < 100
                 ? elementwise("arith.mulf", {x, x}, value.bound * value.bound)
                 : -1;
    }
  }

  int sigmoid(int x) {
    Shape shape = values[x].shape;
    Type type = values[x].type;
    // In f16 the exponential of 10 is near the largest number: it still fits.
    int exponential = elementwise("math.exp", {elementwise("arith.negf", {x}, 10)}, 22027);
    int one = splat(shape, type, "1.0", 1);
    return elementwise("arith.divf", {one, elementwise("arith.addf", {exponential, one}, 22028)},
                       1);
  }

  int binaryStep(int x) {
    Shape shape = values[x].shape;
    Type type = values[x].type;
    int y = partner(shape, type);
    double a = values[x].bound, b = values[y].bound;
    int64_t kind = below(graph.exact ? 5 : 6);
    if (kind == 5) { // x / (|y| + 0.5)
      int absolute = elementwise("math.absf", {y}, b);
      int divisor = elementwise("arith.addf", {absolute, splat(shape, type, "0.5", 1)}, b + 1);
      return elementwise("arith.divf", {x, divisor}, a * 2);
    }
    double bound = kind == 2 ? a * b : kind < 2 ? a + b : std::max(a, b);
    static const char *ops[] = {"arith.addf", "arith.subf", "arith.mulf", "arith.maximumf",
                                "arith.minimumf"};
    if (!fits(bound, type))
      kind = 3 + kind % 2, bound = std::max(a, b);
    return chance(50) ? elementwise(ops[kind], {x, y}, bound)
                      : elementwise(ops[kind], {y, x}, bound);
  }

  /// An i1 tensor that does not depend on how something was rounded.
  int condition(const Shape &shape) {
    std::vector<int> exactly;
    for (size_t v = 0; v < values.size(); ++v)
      if (values[v].shape == shape && isFloat(values[v].type) && (graph.exact || values[v].raw))
        exactly.push_back(static_cast<int>(v));
    if (exactly.empty() || chance(40))
      return partner(shape, Type::I1);
    int x = exactly[below(exactly.size())];
    Type type = values[x].type;
    int zero = splat(shape, type, pick({"0.0", "1.0"}), 1);
    const char *predicate = pick({"olt", "ogt", "oge", "oeq", "une"});
    int v = emit(shape, Type::I1, 1,
                 std::string("arith.cmpf ") + predicate + ", " + use(x) + ", " + use(zero) + " : " +
                     typeText(shape, type));
    values[v].varies = values[x].varies;
    values[v].raw = true;
    return v;
  }

  int selectStep(int x) {
    Shape shape = values[x].shape;
    Type type = values[x].type;
    int chosen = condition(shape);
    int y = partner(shape, type);
    int v = emit(shape, type, std::max(values[x].bound, values[y].bound),
                 "arith.select " + use(chosen) + ", " + use(x) + ", " + use(y) + " : " +
                     typeText(shape, Type::I1) + ", " + typeText(shape, type));
    for (size_t d = 0; d < shape.size(); ++d)
      values[v].varies[d] = values[x].varies[d] || values[y].varies[d] || values[chosen].varies[d];
    values[v].raw = values[x].raw && values[y].raw;
    return v;
  }

  int castStep(int x) {
    // f64 stays rare: it makes a whole kernel f64.
    Type to = chance(6) ? Type::F64 : pick({Type::F32, Type::F16, Type::BF16});
    if (to == values[x].type || !fits(values[x].bound, to))
      return -1;
    return cast(x, to);
  }

  int integerStep(int x) {
    const Value value = values[x];
    if (value.type == Type::I1) {
      if (chance(50)) {
        int y = partner(value.shape, Type::I1);
        return elementwise(pick({"arith.andi", "arith.ori", "arith.xori"}), {x, y}, 1);
      }
    } else if (value.type == Type::I8) {
      if (chance(40))
        return convert(x, Type::I32, "arith.extsi");
    } else if (chance(25)) {
      int y = partner(value.shape, Type::I32);
      double sum = value.bound + values[y].bound, product = value.bound * values[y].bound;
      return chance(50) && fits(product, Type::I32) ? elementwise("arith.muli", {x, y}, product)
             : fits(sum, Type::I32)                 ? elementwise("arith.addi", {x, y}, sum)
                                                    : -1;
    } else if (chance(40)) {
      return reduceStep(x);
    }
    Type to = pick({Type::F32, Type::F16, Type::BF16});
    return fits(value.bound, to) ? cast(x, to) : -1;
  }

  //===--------------------------------------------------------------------===//
  // Index ops
  //===--------------------------------------------------------------------===//

  int indexStep(int x) {
    const Value value = values[x];
    if (value.shape.empty())
      return broadcast(x, {}, {1 + below(100)});
    switch (below(5)) {
    case 0:
    case 1:
      return permute(x);
    case 2:
      return reshape(x);
    case 3:
      return slice(x);
    default:
      return chance(50) ? concat(x) : stretch(x);
    }
  }

  int permute(int x) {
    const Value value = values[x];
    if (value.shape.size() < 2)
      return -1;
    std::vector<int64_t> order(value.shape.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[below(i + 1)]);
    Shape shape;
    for (int64_t d : order)
      shape.push_back(value.shape[d]);
    int v = emit(shape, value.type, value.bound,
                 "swage.permute " + use(x) + " " + listText(order) + " : " + typeText(x) + " -> " +
                     typeText(shape, value.type));
    for (size_t d = 0; d < order.size(); ++d)
      values[v].varies[d] = value.varies[order[d]];
    values[v].raw = value.raw;
    return v;
  }

  int reshape(int x) {
    const Value value = values[x];
    Shape shape = value.shape;
    size_t d = below(shape.size());
    if (shape.size() > 1 && d + 1 < shape.size() && chance(55)) { // merge two neighbours
      shape[d] *= shape[d + 1];
      shape.erase(shape.begin() + d + 1);
    } else if (shape.size() < 6) { // split one by its smallest factor, or by 1
      int64_t factor = 2;
      while (factor <= shape[d] && shape[d] % factor)
        ++factor;
      if (factor >= shape[d])
        factor = 1;
      shape[d] /= factor;
      shape.insert(shape.begin() + d, factor);
    } else {
      return -1;
    }
    int v = emit(shape, value.type, value.bound,
                 "swage.reshape " + use(x) + " : " + typeText(x) + " -> " +
                     typeText(shape, value.type));
    // Which dimensions vary is only certain where all did.
    bool all = std::all_of(value.varies.begin(), value.varies.end(), [](bool b) { return b; });
    values[v].varies.assign(shape.size(), all);
    values[v].raw = value.raw;
    return v;
  }

  int slice(int x) {
    const Value value = values[x];
    int64_t axis = below(value.shape.size()), extent = value.shape[axis];
    if (extent < 2)
      return -1;
    int64_t step = chance(75) ? 1 : 2 + below(2), from = below(extent);
    int64_t size = 1 + below((extent - 1 - from) / step + 1);
    if (chance(30)) // halves, as rotary embeddings take them
      step = 1, size = extent / 2, from = chance(50) ? 0 : extent - size;
    Shape shape = value.shape;
    shape[axis] = size;
    int v = emit(shape, value.type, value.bound,
                 "swage.slice " + use(x) + " axis " + std::to_string(axis) + " from " +
                     std::to_string(from) + " size " + std::to_string(size) +
                     (step == 1 ? "" : " step " + std::to_string(step)) + " : " + typeText(x) +
                     " -> " + typeText(shape, value.type));
    values[v].varies = value.varies;
    values[v].varies[axis] = value.varies[axis] && size > 1;
    values[v].raw = value.raw;
    return v;
  }

  int concat(int x) {
    std::vector<int> parts = {x};
    Shape shape = values[x].shape;
    Type type = values[x].type;
    int64_t axis = below(shape.size());
    if (count(shape) > 300000)
      return -1;
    int more = 1 + static_cast<int>(below(2));
    for (int i = 0; i < more; ++i)
      parts.push_back(partner(shape, type));
    std::string names, types;
    double bound = 0;
    bool raw = true;
    for (size_t i = 0; i < parts.size(); ++i) {
      names += (i ? ", " : "") + use(parts[i]);
      types += (i ? ", " : "") + typeText(shape, type);
      bound = std::max(bound, values[parts[i]].bound);
      raw = raw && values[parts[i]].raw;
    }
    Shape joined = shape;
    joined[axis] *= static_cast<int64_t>(parts.size());
    int v = emit(joined, type, bound,
                 "swage.concat " + names + " axis " + std::to_string(axis) + " : (" + types +
                     ") -> " + typeText(joined, type));
    values[v].raw = raw;
    for (size_t d = 0; d < shape.size(); ++d)
      values[v].varies[d] = values[x].varies[d];
    return v;
  }

  /// Repeats a value along a new dimension.
  int stretch(int x) {
    Shape shape = values[x].shape;
    int64_t extent = pick<int64_t>({2, 3, 5, 8});
    if (shape.size() >= 6 || count(shape) * extent > 200000)
      return -1;
    int64_t at = below(shape.size() + 1);
    std::vector<int64_t> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      dims.push_back(static_cast<int64_t>(d) + (static_cast<int64_t>(d) >= at));
    shape.insert(shape.begin() + at, extent);
    return broadcast(x, dims, shape);
  }

  //===--------------------------------------------------------------------===//
  // Reductions and rows
  //===--------------------------------------------------------------------===//

  int reduceStep(int x) {
    const Value value = values[x];
    if (value.shape.empty() || (!isFloat(value.type) && value.type != Type::I32))
      return -1;
    std::vector<int64_t> dims;
    int64_t reduced = 1;
    Shape kept, keptAsOne = value.shape;
    bool all = chance(4);
    // Mostly one group of neighbours; now and then any dimensions.
    size_t first = below(value.shape.size());
    size_t length = 1 + below(value.shape.size() - first);
    bool any = chance(15);
    for (size_t d = 0; d < value.shape.size(); ++d)
      if (all || (any ? chance(50) : d >= first && d < first + length)) {
        dims.push_back(static_cast<int64_t>(d));
        reduced *= value.shape[d];
        keptAsOne[d] = 1;
      } else {
        kept.push_back(value.shape[d]);
      }
    if (dims.empty() || (kept.empty() && !all && value.shape.size() > 1))
      return -1;
    bool integer = !isFloat(value.type);
    const char *kind =
        graph.exact || integer ? pick({"sum", "max", "min"}) : pick({"sum", "max", "min", "mean"});
    bool sum = kind[0] == 's';
    double bound = sum ? value.bound * static_cast<double>(reduced) : value.bound;
    // Partial sums are f32, so that an exact graph stays exact only below 2^24.
    if (!fits(bound, integer ? Type::I32 : Type::F32))
      return -1;
    Type type = integer                                 ? Type::I32
                : !fits(bound, value.type)              ? Type::F32
                : value.type != Type::F64 && chance(15) ? Type::F32
                                                        : value.type;
    int v = emit(kept, type, bound,
                 std::string("swage.reduce ") + kind + " " + use(x) + " dims " + listText(dims) +
                     " : " + typeText(x) + " -> " + typeText(kept, type));
    values[v].varies.clear();
    for (size_t d = 0; d < value.shape.size(); ++d)
      if (keptAsOne[d] != 1 || std::find(dims.begin(), dims.end(), d) == dims.end())
        values[v].varies.push_back(value.varies[d]);
    if (!integer && chance(30))
      return backOntoSource(x, v, dims, keptAsOne);
    return v;
  }

  /// x - reduce(x), with the result put back over x in one of the two usual ways.
  int backOntoSource(int x, int v, const std::vector<int64_t> &dims, const Shape &keptAsOne) {
    const Value value = values[x];
    if (!fits(values[v].bound + value.bound, value.type))
      return v;
    int narrow = cast(v, value.type);
    std::vector<int64_t> targets;
    int repeated;
    if (chance(50)) {
      for (size_t d = 0; d < value.shape.size(); ++d)
        if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
          targets.push_back(static_cast<int64_t>(d));
      repeated = broadcast(narrow, targets, value.shape);
    } else {
      int ones = emit(keptAsOne, value.type, values[narrow].bound,
                      "swage.reshape " + use(narrow) + " : " + typeText(narrow) + " -> " +
                          typeText(keptAsOne, value.type));
      targets.resize(value.shape.size());
      std::iota(targets.begin(), targets.end(), 0);
      repeated = broadcast(ones, targets, value.shape);
    }
    return elementwise("arith.subf", {x, repeated}, value.bound + values[repeated].bound);
  }

  /// The coordinates along `dim`.
  int iota(const Shape &shape, int64_t dim) {
    int v = emit(shape, Type::I32, static_cast<double>(shape[dim]),
                 "swage.iota dim " + std::to_string(dim) + " : " + typeText(shape, Type::I32));
    values[v].varies.assign(shape.size(), false);
    values[v].varies[dim] = true;
    values[v].raw = true;
    return v;
  }

  int rowStep(int x) {
    const Value value = values[x];
    if (value.shape.empty())
      return -1;
    int64_t rank = static_cast<int64_t>(value.shape.size());
    if (chance(40)) {
      int64_t axis = chance(65) ? rank - 1 : below(rank);
      std::string scale = chance(40) ? pick({" scale 0.125", " scale 0.5", " scale 2.0"}) : "";
      // A large spread makes the softmax a step function of rounding errors.
      if (value.bound > 60)
        return -1;
      std::string operand = use(x), types = typeText(x), log = chance(20) ? " log" : "";
      bool isMasked = rank > 1 && chance(30);
      if (isMasked) {
        // Row by row another part of the row; sometimes nothing.
        int64_t other = below(rank - 1);
        int row = iota(value.shape, other < axis ? other : other + 1),
            column = iota(value.shape, axis);
        std::string predicate = pick({"sle", "slt", "sge", "sgt", "uge", "eq", "ne"});
        int mask = emit(value.shape, Type::I1, 1,
                        "arith.cmpi " + predicate + ", " + use(column) + ", " + use(row) + " : " +
                            typeText(row));
        operand += " mask " + use(mask);
        types += ", " + typeText(mask);
        // What is left out would be -inf.
        log.clear();
      }
      int v = emit(value.shape, value.type, log.empty() ? 1 : 4 * value.bound + 20,
                   "swage.softmax " + operand + " axis " + std::to_string(axis) + scale + log +
                       " : " + types + " -> " + typeText(x));
      if (isMasked)
        values[v].varies.assign(values[v].varies.size(), true);
      return v;
    }
    int64_t axis = chance(65) ? rank - 1 : below(rank);
    Shape row(value.shape.begin() + axis, value.shape.end());
    Shape rows(value.shape.begin(), value.shape.begin() + axis);
    bool varies = false;
    for (int64_t d = axis; d < rank; ++d)
      varies = varies || (value.varies[d] && value.shape[d] > 1);
    // A row of equal elements is nothing but its rounding errors after normalisation.
    if (!varies)
      return -1;
    int64_t n = count(row);
    bool layer = chance(60);
    std::string eps = n < 16 ? "1.0e-2" : pick({"1.0e-5", "1.0e-3", "1.0e-6"});
    std::string operands = use(x), types = typeText(x);
    double bound = std::min(value.bound, 1.0) * 1000;
    bound = std::min(bound, static_cast<double>(n));
    for (const char *parameter : {" gamma ", " beta "}) {
      if (!chance(60) || (!layer && parameter[1] == 'b'))
        continue;
      Type stored = value.type == Type::F64 ? Type::F64 : chance(70) ? value.type : Type::F32;
      int p = input(row, stored);
      operands += parameter + use(p);
      types += ", " + typeText(p);
      bound = parameter[1] == 'g' ? bound * values[p].bound : bound + values[p].bound;
    }
    if (!fits(bound, value.type))
      bound = 1e4; // the bound is far from what rows reach
    int stats = chance(35) ? (layer ? 2 : 1) : 0;
    Type wide = value.type == Type::F64 ? Type::F64 : Type::F32;
    std::vector<int> results = {add(value.shape, value.type, bound)};
    std::string names = values[results[0]].name, resultTypes = typeText(x);
    for (int i = 0; i < stats; ++i) {
      // The mean is bounded by the values, rstd by 1 / sqrt(eps).
      int s = add(rows, wide, layer && i == 0 ? value.bound : 1000);
      names += ", " + values[s].name;
      resultTypes += ", " + typeText(s);
    }
    body += "  " + names + " = swage." + (layer ? "layer_norm " : "rms_norm ") + operands +
            " axis " + std::to_string(axis) + " eps " + eps + " : (" + types + ") -> " +
            (stats ? "(" + resultTypes + ")" : resultTypes) + "\n";
    return results[0];
  }

  //===--------------------------------------------------------------------===//
  // The function around it
  //===--------------------------------------------------------------------===//

  RandomGraph finish(uint64_t seed) {
    std::vector<int> results;
    for (size_t v = 0; v < values.size(); ++v) {
      bool isInput = std::find(inputs.begin(), inputs.end(), static_cast<int>(v)) != inputs.end();
      bool isConstant =
          values[v].uses > 0 && !isInput && values[v].raw &&
          std::none_of(values[v].varies.begin(), values[v].varies.end(), [](bool b) { return b; });
      if (isInput || isConstant)
        continue;
      // What nothing uses must be a result; some of the rest are too.
      if (values[v].uses == 0 || chance(12))
        results.push_back(static_cast<int>(v));
    }
    std::string text = "// Random graph, seed " + std::to_string(seed) + ", inputs " +
                       (graph.exact ? "exact" : "dense") + ".\nfunc.func @main(";
    for (size_t i = 0; i < inputs.size(); ++i)
      text += (i ? ", " : "") + values[inputs[i]].name + ": " + typeText(inputs[i]);
    text += ") -> (";
    std::string names, types;
    for (size_t i = 0; i < results.size(); ++i) {
      names += (i ? ", " : "") + values[results[i]].name;
      types += (i ? ", " : "") + typeText(results[i]);
    }
    graph.text = text + types + ") {\n" + body + "  return " + names + " : " + types + "\n}\n";
    return graph;
  }
};

} // namespace

RandomGraph swage::test::makeRandomGraph(uint64_t seed) { return Builder(seed).build(seed); }

std::string swage::test::randomGraph(uint64_t seed) { return makeRandomGraph(seed).text; }
