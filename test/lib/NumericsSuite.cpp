//===- NumericsSuite.cpp - Awkward rows through every class of rows -------===//
//
// One tensor holds all kinds of rows, each with its special element in four places.  Every result
// is compared with the f64 reference within the bounds of docs/numerics.md, and the NaN, infinities
// and exact values that the page promises are asked for by themselves: no reference decides those.
//
//===----------------------------------------------------------------------===//
#include "NumericsSuite.h"

#include "CompilePool.h"
#include "GuardedRun.h"

#include "swage/JIT/ProgramIR.h"
#include "swage/JIT/Tuning.h"
#include "swage/Reference/Acceptance.h"
#include "swage/Reference/Interpreter.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace swage;
using namespace swage::test;
using reference::Tensor;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
enum Kind {
  Dense,
  LargeMean,   ///< mean 4096, deviation 1
  Constant,    ///< one value that no power of two divides
  FarConstant, ///< the same far from 0
  Zeros,
  Largest, ///< +-6e4 in turns
  Tiny,    ///< a deviation far below the root of epsilon
  Spread,  ///< exponentials that vanish beside one, by way of the denormal numbers
  OneInfinity,
  OneNegativeInfinity,
  BothInfinities,
  OneNaN,
  NegativeInfinities, ///< throughout
  kKinds
};
constexpr const char *kKindNames[kKinds] = {
    "dense",         "mean 4096", "constant", "far constant",  "zeros",   "+-6e4",   "tiny",
    "spread scores", "one +inf",  "one -inf", "+inf and -inf", "one NaN", "all -inf"};

/// Where a row's special element is; with a mask, also what that leaves of the row.
enum Place { Middle, First, Last, Third, kPlaces };
constexpr int64_t kRows = kKinds * kPlaces;

struct Shape {
  const char *name;
  int64_t length;
  const char *wanted; ///< of the schedule
  bool column = false;
};
// Lengths with and without a tail, on all sides of the classes' limits.
constexpr Shape kShapes[] = {{"group", 96, "kind = group"},
                             {"staged", 101, "kind = group, .* staged = true"},
                             {"block", 1000, "kind = block"},
                             {"block by elements", 1001, "kind = block, .* vector = 1,"},
                             {"looped", 2968, "kind = looped, threads_per_row = 128"},
                             {"cluster", 10000, "kind = block, .* blocks_per_row = 4"},
                             {"looped cluster", 10000,
                              "kind = looped, threads_per_row = 128, "
                              ".* blocks_per_row = 4"},
                             {"aligned cluster", 20001,
                              "kind = block, .* blocks_per_row = 4, .* aligned = true"},
                             {"long", 200001, "kind = looped"},
                             {"column", 333, "kind = column", true}};

constexpr const char *kOps[] = {"layer_norm",
                                "rms_norm",
                                "softmax",
                                "log_softmax",
                                "masked_softmax",
                                "prefix_softmax",
                                "prefix_log_softmax nan_rows"};

int64_t placeIn(int64_t row, int64_t length) {
  switch (row / kKinds) {
  case Middle:
    return length / 2;
  case First:
    return 0;
  case Last:
    return length - 1;
  default:
    return length / 3;
  }
}

double element(int64_t row, int64_t i, int64_t length) {
  uint64_t bits = reference::randomBits(7, uint64_t(row), uint64_t(i));
  // Uniform, of deviation 1.
  double random = (double(bits >> 11) * 0x1p-53 - 0.5) * 3.4641016151377544;
  bool special = i == placeIn(row, length);
  switch (row % kKinds) {
  case LargeMean:
    return 4096 + random;
  case Constant:
    return -1.3;
  case FarConstant:
    return 50001.7;
  case Zeros:
    return 0;
  case Largest:
    return bits >> 63 ? 6e4 : -6e4;
  case Tiny:
    return random * 1e-7;
  case Spread:
    return special ? 80 : 8 * random - 12;
  case OneInfinity:
    return special ? HUGE_VAL : random;
  case OneNegativeInfinity:
    return special ? -HUGE_VAL : random;
  case BothInfinities:
    return special                                             ? HUGE_VAL
           : i == (placeIn(row, length) + length / 3) % length ? -HUGE_VAL
                                                               : random;
  case OneNaN:
    return special ? NAN : random;
  case NegativeInfinities:
    return -HUGE_VAL;
  default:
    return random;
  }
}

/// Whether masked_softmax keeps it: all but the special element, nothing, every second, all.
bool isKept(int64_t row, int64_t i, int64_t length) {
  switch (row / kKinds) {
  case Middle:
    return i != placeIn(row, length);
  case First:
    return false;
  case Last:
    return i % 2 == 0;
  default:
    return true;
  }
}

/// How much of a row prefix_softmax keeps: up to the special element, nothing, all, that with it.
int64_t keptPrefix(int64_t row, int64_t length) {
  switch (row / kKinds) {
  case Middle:
    return placeIn(row, length);
  case First:
    return 0;
  case Last:
    return length;
  default:
    return placeIn(row, length) + 1;
  }
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

struct Case {
  std::string op, element, name, failure;
  const Shape *shape = nullptr;
  std::string text;
  std::optional<Program> program;
  std::optional<Executable> executable;

  int64_t rows() const { return shape->length > 20000 ? kKinds + 3 : kRows; }
  int64_t at(int64_t row, int64_t i) const {
    return shape->column ? i * rows() + row : row * shape->length + i;
  }
  bool has(const char *word) const { return op.find(word) != std::string::npos; }
  bool isNorm() const { return has("norm"); }
  bool isPrefix() const { return has("prefix"); }
};

constexpr double kEpsilon = 1e-12;
} // namespace

/// The graph: along the last dimension, or of columns along the first.
static std::string textOf(const Case &test) {
  int64_t rows = test.rows(), length = test.shape->length;
  bool column = test.shape->column;
  auto tensor = [&](const std::string &element) {
    return column ? fmt::format("tensor<{}x{}x{}>", length, rows, element)
                  : fmt::format("tensor<{}x{}x{}>", rows, length, element);
  };
  std::string x = tensor(test.element), stat = fmt::format("tensor<{}xf32>", rows);
  std::string arguments = "%x: " + x, results = x + ", " + stat, values = "%y, %s", body;
  auto line = [&](const std::string &text) { body += "  " + text + "\n"; };
  if (test.op == "layer_norm") {
    results += ", " + stat;
    values = "%y, %m, %s";
  }
  if (test.isNorm()) {
    line(fmt::format("{} = swage.{} %x axis 1 eps {:e} : ({}) -> ({})", values, test.op, kEpsilon,
                     x, results));
  } else {
    std::string mask, type;
    if (test.op == "masked_softmax") {
      arguments += ", %k: " + tensor("i1");
      mask = " mask %k";
    }
    if (test.isPrefix()) {
      std::string lengths = fmt::format("tensor<{}xi32>", rows), position = tensor("i32");
      arguments += ", %n: " + lengths;
      line(fmt::format("%i = swage.iota dim {} : {}", column ? 0 : 1, position));
      line(fmt::format("%l = swage.broadcast %n dims [{}] : {} -> {}", column ? 1 : 0, lengths,
                       position));
      line(fmt::format("%k = arith.cmpi slt, %i, %l : {}", position));
      mask = " mask %k";
    }
    if (!mask.empty())
      type = ", " + tensor("i1");
    line(fmt::format("%y, %s = swage.softmax %x{} axis {}{}{} : {}{} -> {}", mask, column ? 0 : 1,
                     test.has("log") ? " log" : "", test.has("nan_rows") ? " nan_rows" : "", x,
                     type, results));
  }
  return fmt::format("func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n", arguments, results,
                     body, values, results);
}

/// Whether the parts of `wanted` between ".*" stand in `schedule` in this order.
static bool fits(const std::string &schedule, const std::string &wanted) {
  size_t at = 0;
  for (size_t begin = 0; begin <= wanted.size();) {
    size_t end = wanted.find(" .* ", begin);
    std::string part = wanted.substr(begin, end - begin);
    at = schedule.find(part, at);
    if (at == std::string::npos)
      return false;
    begin = end == std::string::npos ? wanted.size() + 1 : end + 4;
  }
  return true;
}

static Status compile(Case &test, const std::string &arch, const NumericsOptions &how,
                      const std::shared_ptr<KernelCache> &cache) {
  ParseOptions parsing;
  parsing.filename = test.name;
  auto program = Program::parse(test.text, parsing);
  if (!program)
    return program.takeError();
  test.program = *program;
  CompileOptions options;
  options.arch = arch;
  options.compiler = how.compiler;
  options.threads = 1;
  options.cache = cache;
  auto schedules = findSchedules(*program, options);
  if (!schedules)
    return schedules.takeError();
  if (schedules->size() != 1)
    return makeError(Stage::Input,
                     fmt::format("there are {} kernels; needed: one", schedules->size()));
  const KernelSchedules &choice = schedules->front();
  std::string wanted = choice.selected;
  for (const std::string &candidate : choice.candidates)
    if (!fits(wanted, test.shape->wanted))
      wanted = candidate;
  if (!fits(wanted, test.shape->wanted))
    return makeError(Stage::Input, fmt::format("no schedule fits '{}'; selected: {}",
                                               test.shape->wanted, choice.selected));
  options.schedules = choice.kernel + "=" + wanted;
  auto executable = program->compile(options);
  if (!executable)
    return executable.takeError();
  if (executable->kernels().front().schedule != wanted)
    return makeError(Stage::Compile, "the schedule is " + executable->kernels().front().schedule +
                                         "; needed: " + wanted);
  test.executable = *executable;
  return {};
}

//===----------------------------------------------------------------------===//
// What is promised
//===----------------------------------------------------------------------===//

namespace {
constexpr double kUnit = 0x1p-24; ///< of f32: half an ulp of 1

class Checker {
public:
  Checker(const Case &test, const std::vector<Tensor> &inputs, const std::vector<Tensor> &actual,
          const std::vector<reference::Value> &expected)
      : test(test), inputs(inputs), actual(actual), expected(expected) {}
  /// Empty, or what is wrong.
  std::string run();
  double worst = 0; ///< as a share of its bound

private:
  void row(int64_t row);
  void norm(int64_t row);
  void softmax(int64_t row);
  bool keeps(int64_t row, int64_t i) const;
  void same(int64_t row, const char *what, double found, double needed);
  void within(int64_t row, const char *what, const Tensor &tensor, double found, double needed,
              double bound);
  double ulpOf(double x) const { return reference::ulp(formatOf(actual[0].type()), x); }
  double x(int64_t row, int64_t i) const { return inputs[0].real(test.at(row, i)); }
  double y(int64_t row, int64_t i) const { return actual[0].real(test.at(row, i)); }
  double r(int64_t row, int64_t i) const { return expected[0].reference(test.at(row, i)); }

  const Case &test;
  const std::vector<Tensor> &inputs, &actual;
  const std::vector<reference::Value> &expected;
  std::string failure;
};
} // namespace

/// NaN is the same as NaN, and 0 as -0.
void Checker::same(int64_t row, const char *what, double found, double needed) {
  if (failure.empty() && !(found == needed || (std::isnan(found) && std::isnan(needed))))
    failure = fmt::format("row {} ({}, place {}): {} is {}; needed: {}", row,
                          kKindNames[row % kKinds], row / kKinds, what, found, needed);
}

void Checker::within(int64_t row, const char *what, const Tensor &tensor, double found,
                     double needed, double bound) {
  if (double stored = reference::roundTo(tensor.type(), needed);
      !std::isfinite(stored) || !std::isfinite(found))
    return same(row, what, found, stored);
  double share = std::fabs(found - needed) / bound;
  worst = std::max(worst, share);
  if (failure.empty() && !(share <= 1))
    failure = fmt::format("row {} ({}, place {}): {} is {}; needed: {} +- {}", row,
                          kKindNames[row % kKinds], row / kKinds, what, found, needed, bound);
}

bool Checker::keeps(int64_t row, int64_t i) const {
  if (test.op == "masked_softmax")
    return isKept(row, i, test.shape->length);
  return !test.isPrefix() || i < keptPrefix(row, test.shape->length);
}

void Checker::norm(int64_t row) {
  int64_t length = test.shape->length;
  bool centred = test.op == "layer_norm";
  double largest = 0;
  bool special = false, constant = true;
  for (int64_t i = 0; i < length; ++i) {
    special |= !std::isfinite(x(row, i));
    constant &= x(row, i) == x(row, 0);
    largest = std::max(largest, std::fabs(x(row, i)));
  }
  double rstd = actual.back().real(row);
  if (special) {
    bool isNaN = centred || row % kKinds == OneNaN;
    same(row, "rstd", rstd, isNaN ? NAN : 0);
    if (centred)
      same(row, "mean", actual[1].real(row), NAN);
    for (int64_t i = 0; i < length; ++i)
      same(row, "the result", y(row, i), isNaN || !std::isfinite(x(row, i)) ? NAN : 0);
    return;
  }
  double needed = expected.back().reference(row);
  if (centred && constant) {
    same(row, "mean", actual[1].real(row), x(row, 0));
    within(row, "rstd", actual.back(), rstd, 1 / std::sqrt(kEpsilon),
           4 * kUnit / std::sqrt(kEpsilon));
    for (int64_t i = 0; i < length; ++i)
      same(row, "the result", y(row, i), 0);
    return;
  }
  // What the difference to the mean, the only number that may be large, brings in.
  double distant = centred ? largest * needed : 0;
  within(row, "rstd", actual.back(), rstd, needed, 8 * kUnit * needed * (1 + distant));
  if (centred)
    within(row, "mean", actual[1], actual[1].real(row), expected[1].reference(row),
           4 * kUnit * largest);
  for (int64_t i = 0; i < length; ++i)
    within(row, "the result", actual[0], y(row, i), r(row, i),
           ulpOf(r(row, i)) + 8 * kUnit * (std::fabs(r(row, i)) + distant));
}

void Checker::softmax(int64_t row) {
  int64_t length = test.shape->length;
  bool log = test.has("log"), isMasked = test.isPrefix() || test.has("masked");
  double most = -HUGE_VAL;
  bool special = false;
  for (int64_t i = 0; i < length; ++i)
    if (keeps(row, i)) {
      special |= std::isnan(x(row, i)) || x(row, i) == HUGE_VAL;
      most = std::max(most, x(row, i));
    }
  double logSum = actual[1].real(row), nothing = log ? -HUGE_VAL : 0;
  if (special || most == -HUGE_VAL) {
    same(row, "log-sum-exp", logSum, special ? NAN : -HUGE_VAL);
    for (int64_t i = 0; i < length; ++i)
      same(row, "the result", y(row, i),
           special || !isMasked || test.has("nan_rows") ? NAN : nothing);
    return;
  }
  within(row, "log-sum-exp", actual[1], logSum, expected[1].reference(row),
         8 * kUnit * (1 + std::fabs(most) + std::fabs(expected[1].reference(row))));
  for (int64_t i = 0; i < length; ++i) {
    double needed = r(row, i);
    if (!keeps(row, i) || x(row, i) == -HUGE_VAL)
      same(row, "the result", y(row, i), nothing);
    else if (log)
      within(row, "the result", actual[0], y(row, i), needed,
             ulpOf(needed) + 8 * kUnit * (1 + std::fabs(needed)));
    else
      within(row, "the result", actual[0], y(row, i), needed,
             ulpOf(needed) + 0x1p-126 + 8 * kUnit * needed * (1 + (most - x(row, i))));
  }
}

std::string Checker::run() {
  for (int64_t row = 0; row < test.rows() && failure.empty(); ++row)
    test.isNorm() ? norm(row) : softmax(row);
  // The rule that every result has to pass.
  for (size_t i = 0; i < actual.size() && failure.empty(); ++i) {
    reference::AcceptanceOptions judging;
    judging.plantErrors = false;
    auto verdict = reference::judge(actual[i], expected[i], judging);
    if (verdict.kind == reference::Verdict::Kind::Rejected)
      failure = fmt::format("result {}: {}", i, verdict.line());
  }
  return failure;
}

//===----------------------------------------------------------------------===//
// The suite
//===----------------------------------------------------------------------===//

static Expected<std::vector<Tensor>> inputsOf(const Case &test) {
  int64_t length = test.shape->length;
  std::vector<Tensor> inputs;
  for (const TensorType &type : test.program->inputs()) {
    auto tensor = makeTensor(type);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  for (int64_t row = 0; row < test.rows(); ++row)
    for (int64_t i = 0; i < length; ++i) {
      inputs[0].setReal(test.at(row, i), element(row, i, length));
      if (test.op == "masked_softmax")
        inputs[1].setInteger(test.at(row, i), isKept(row, i, length));
      if (test.isPrefix())
        inputs[1].setInteger(row, keptPrefix(row, length));
    }
  return inputs;
}

static Status run(const Device &device, const Case &test, double &worst) {
  auto inputs = inputsOf(test);
  if (!inputs)
    return inputs.takeError();
  std::vector<Dims> dims;
  for (const TensorType &type : test.program->inputs())
    dims.push_back(type.shape);
  auto layout = test.executable->layout(dims);
  if (!layout)
    return layout.takeError();
  auto plan = test.executable->plan(device, dims);
  if (!plan)
    return plan.takeError();
  auto actual = runGuarded(device, *plan, *layout, *inputs);
  if (!actual)
    return actual.takeError();
  std::vector<const Tensor *> pointers;
  for (const Tensor &input : *inputs)
    pointers.push_back(&input);
  DiagnosticCollector diagnostics(test.program->ir()->context);
  auto expected = reference::evaluate(test.program->ir()->entry, pointers);
  if (mlir::failed(expected))
    return makeError(Stage::Run, "reference: " + diagnostics.errors);
  Checker checker(test, *inputs, *actual, *expected);
  std::string failure = checker.run();
  worst = std::max(worst, checker.worst);
  return failure.empty() ? Status() : makeError(Stage::Run, failure);
}

int swage::test::runNumerics(const Device &device, const NumericsOptions &options) {
  std::vector<Case> cases;
  for (const Shape &shape : kShapes)
    for (const char *op : kOps)
      for (const char *element : {"f16", "bf16", "f32"}) {
        Case test;
        test.op = op;
        test.element = element;
        test.shape = &shape;
        test.name = fmt::format("{} {} {}", op, element, shape.name);
        // Norms are of trailing dimensions.
        if ((shape.column && test.isNorm()) || test.name.find(options.only) == std::string::npos)
          continue;
        test.text = textOf(test);
        cases.push_back(std::move(test));
      }
  if (cases.empty()) {
    std::printf("numerics: no case has '%s' in its name\n", options.only.c_str());
    return 1;
  }
  compileInPool(cases, options.threads, [&](Case &test, auto &cache) {
    if (Status done = compile(test, device.properties().arch, options, cache); !done)
      test.failure = done.error().str();
  });
  int failed = 0;
  std::map<std::string, double> worst;
  for (Case &test : cases) {
    if (test.failure.empty())
      if (Status done = run(device, test, worst[test.op + " " + test.element]); !done)
        test.failure = done.error().str();
    test.executable.reset();
    if (test.failure.empty())
      continue;
    ++failed;
    std::printf("%s: %s\n", test.name.c_str(), test.failure.c_str());
    std::fflush(stdout);
  }
  for (const auto &[what, share] : worst)
    std::printf("%-32s largest error: %.3f of its bound\n", what.c_str(), share);
  std::printf("numerics on %s: %zu passed, %d failed\n", device.properties().name.c_str(),
              cases.size() - size_t(failed), failed);
  return failed;
}
