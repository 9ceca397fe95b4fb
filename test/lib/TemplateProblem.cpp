//===- TemplateProblem.cpp - The kernels of test/Templates ----------------===//
//
// One launch of each. Where sizes are fixed and large, only the first blocks run, on the buffers
// that they touch.
//
//===----------------------------------------------------------------------===//
#include "KernelProblem.h"

#include "Bits.h"

#include "swage/Runtime/Divider.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::test;

namespace {
enum class Type { F16, BF16, F32, F64, I32, I64, I1, E4M3 };

size_t bytesOf(Type type) {
  return type == Type::I1 || type == Type::E4M3   ? 1
         : type <= Type::BF16                     ? 2
         : type == Type::F32 || type == Type::I32 ? 4
                                                  : 8;
}
/// Relative error of one rounding.
double unitOf(Type type) {
  return type == Type::F16    ? 0x1p-11
         : type == Type::BF16 ? 0x1p-8
         : type == Type::E4M3 ? 0x1p-4
         : type == Type::F64  ? 0x1p-53
                              : 0x1p-24;
}

template <class T> T get(const std::string &bytes, size_t i) {
  T value;
  std::memcpy(&value, &bytes[sizeof(T) * i], sizeof(T));
  return value;
}
template <class T> void put(std::string &bytes, size_t i, T value) {
  std::memcpy(&bytes[sizeof(T) * i], &value, sizeof(T));
}

double valueAt(Type type, const std::string &bytes, size_t i) {
  switch (type) {
  case Type::F16:
    return fromF16(get<uint16_t>(bytes, i));
  case Type::BF16:
    return floatFromBf16(get<uint16_t>(bytes, i));
  case Type::F32:
    return get<float>(bytes, i);
  case Type::F64:
    return get<double>(bytes, i);
  case Type::I32:
    return get<int32_t>(bytes, i);
  case Type::I64:
    return double(get<int64_t>(bytes, i));
  case Type::I1:
    return get<uint8_t>(bytes, i);
  case Type::E4M3:
    return fromE4m3(get<uint8_t>(bytes, i));
  }
  return 0;
}

std::string randomBytes(Type type, size_t count, Random &random) {
  std::string bytes(count * bytesOf(type), 0);
  for (size_t i = 0; i < count; ++i)
    switch (type) {
    case Type::F16:
      put(bytes, i, toF16(random.normal()));
      break;
    case Type::BF16:
      put(bytes, i, toBf16(random.normal()));
      break;
    case Type::F32:
      put(bytes, i, float(random.normal()));
      break;
    case Type::F64:
      put(bytes, i, random.normal());
      break;
    case Type::I32:
      put(bytes, i, int32_t(random.next()));
      break;
    case Type::I64:
      put(bytes, i, int64_t(random.next()));
      break;
    case Type::I1:
      put(bytes, i, uint8_t(random.below(4) == 0));
      break;
    case Type::E4M3:
      put(bytes, i, toE4m3(random.normal()));
      break;
    }
  return bytes;
}

/// Inputs and outputs by index, as the reference sees them.
class Tensors {
public:
  Tensors(const std::vector<std::string> &buffers, const std::vector<Type> &types)
      : buffers(buffers), types(types) {}
  double operator()(unsigned tensor, size_t i) const {
    return valueAt(types[tensor], buffers[tensor], i);
  }

private:
  const std::vector<std::string> &buffers;
  const std::vector<Type> &types;
};

/// An expected number, and how far off it may be besides the rounding to its type.
struct Wanted {
  double value, slack;
};

class Builder {
public:
  explicit Builder(uint64_t seed) : random(seed) {}

  unsigned input(Type type, size_t count) { return add(type, randomBytes(type, count, random)); }
  unsigned output(Type type, size_t count) {
    return add(type, std::string(count * bytesOf(type), '\xff'));
  }
  void pass(std::initializer_list<unsigned> tensors) {
    for (unsigned tensor : tensors)
      run.arguments.push_back(KernelArgument::ofBuffer(tensor));
  }
  template <class T> void sizes(const T &value) {
    run.arguments.push_back(KernelArgument::of(value));
  }
  void launch(int64_t blocks, unsigned threads, unsigned cluster = 1) {
    run.blocks = unsigned(blocks);
    run.threads = threads;
    run.clusterSize = cluster;
  }
  /// Element i of an output must be reference(inputs, i).
  void expect(unsigned tensor, std::function<Wanted(const Tensors &, size_t)> reference) {
    outputs.emplace_back(tensor, std::move(reference));
  }
  KernelProblem finish() {
    KernelProblem problem;
    problem.run = run;
    problem.judge = [types = types, inputs = run.buffers,
                     outputs = outputs](const std::vector<std::string> &buffers) {
      Judgement judgement;
      Tensors before(inputs, types), after(buffers, types);
      for (const auto &[tensor, reference] : outputs)
        for (size_t i = 0; i < buffers[tensor].size() / bytesOf(types[tensor]); ++i) {
          Wanted wanted = reference(before, i);
          double actual = after(tensor, i);
          double bound = wanted.slack + 1.01 * unitOf(types[tensor]) * std::abs(wanted.value);
          double share = actual == wanted.value ? 0 : std::abs(actual - wanted.value) / bound;
          if (!(share <= judgement.worst))
            judgement.worst = share;
          if (!(share <= 1) && judgement.failure.empty())
            judgement.failure =
                fmt::format("output {}, element {} is {}, expected {} within {:.3g}", tensor, i,
                            actual, wanted.value, bound);
        }
      return judgement;
    };
    return problem;
  }

private:
  unsigned add(Type type, std::string bytes) {
    run.buffers.push_back(std::move(bytes));
    types.push_back(type);
    return unsigned(types.size() - 1);
  }

  Random random;
  KernelRun run;
  std::vector<Type> types;
  std::vector<std::pair<unsigned, std::function<Wanted(const Tensors &, size_t)>>> outputs;
};

/// Of the `count` numbers at(0), at(1), ...
template <class At> std::pair<double, double> meanAndVariance(size_t count, At at) {
  double mean = 0, variance = 0;
  for (size_t i = 0; i < count; ++i)
    mean += at(i);
  mean /= double(count);
  for (size_t i = 0; i < count; ++i)
    variance += (at(i) - mean) * (at(i) - mean);
  return {mean, variance / double(count)};
}

constexpr double kSlack = 0x1p-18; // of sums in f32

/// gamma and beta: tensors, or -1; `at` gives the i-th of a row, and each element's row and place
/// in it are its quotient and remainder by the length.
Wanted normalized(double x, double mean, double scale, double gamma, double beta, double slack) {
  double y = (x - mean) * scale;
  return {y * gamma + beta, slack * ((std::abs(y) + 1) * std::abs(gamma) + std::abs(beta))};
}

/// norm(x) * gamma over rows of `length`, in 8-bit floats of one scale for each `group` elements.
/// `centred`: LayerNorm, not RMSNorm.
void quantised(Builder &b, Type type, Type gammaType, size_t length, size_t group, bool centred,
               double epsilon) {
  constexpr size_t rows = 5;
  unsigned x = b.input(type, rows * length), gamma = b.input(gammaType, length);
  unsigned y = b.output(Type::E4M3, rows * length),
           scale = b.output(Type::F32, rows * length / group);
  b.pass({x, gamma, y, scale});
  b.sizes(int32_t(rows));
  b.launch(rows, 128);
  auto row = [=](const Tensors &t, size_t at) {
    std::vector<double> values(length);
    auto [mean, variance] =
        meanAndVariance(length, [&](size_t j) { return t(x, at * length + j); });
    double square = centred ? variance : variance + mean * mean;
    for (size_t j = 0; j < length; ++j)
      values[j] = (t(x, at * length + j) - (centred ? mean : 0)) / std::sqrt(square + epsilon) *
                  t(gamma, j);
    return values;
  };
  auto scaleOf = [=](const std::vector<double> &values, size_t at) {
    double largest = 0;
    for (size_t j = at * group; j < (at + 1) * group; ++j)
      largest = std::max(largest, std::abs(values[j]));
    return largest / 448;
  };
  b.expect(y, [=, cached = SIZE_MAX, values = std::vector<double>()](const Tensors &t,
                                                                    size_t i) mutable {
    if (cached != i / length)
      values = row(t, cached = i / length);
    double value = values[i % length] / scaleOf(values, i % length / group);
    // Below 2^-6 the format is as coarse as there.
    return Wanted{value, 0x1p-10 + kSlack * (std::abs(value) + 1)};
  });
  b.expect(scale, [=](const Tensors &t, size_t i) {
    size_t each = length / group;
    double value = scaleOf(row(t, i / each), i % each);
    return Wanted{value, kSlack * value};
  });
}

/// Statistics of the last row asked for: elements come in order.
struct RowCache {
  size_t row = SIZE_MAX;
  double mean = 0, scale = 0;
};
} // namespace

using Make = void (*)(Builder &);

static const std::map<std::string, Make> &makers() {
  static const std::map<std::string, Make> all = {
      {"permute_add_f32",
       [](Builder &b) {
         constexpr size_t s0 = 132, s1 = 200;
         unsigned x = b.input(Type::F32, s0 * s1), z = b.input(Type::F32, s0 * s1);
         unsigned y = b.output(Type::F32, s0 * s1);
         b.pass({x, z, y});
         struct {
           int32_t s0, s1;
           Divider32 tiles;
         } sizes = {s0, s1, Divider32((s0 + 63) / 64)};
         b.sizes(sizes);
         b.launch((s0 + 63) / 64 * ((s1 + 63) / 64), 256);
         b.expect(y, [=](const Tensors &t, size_t i) {
           double product = 2 * t(x, i % s0 * s1 + i / s0);
           return Wanted{product + t(z, i), 0};
         });
       }},
      {"permute_matrix_f16",
       [](Builder &b) {
         constexpr size_t side = 512;
         unsigned x = b.input(Type::F16, 2 * side * side), y = b.output(Type::F16, 2 * side * side);
         b.pass({x, y});
         b.launch(2 * 16, 512);
         b.expect(y, [=](const Tensors &t, size_t i) {
           size_t matrix = i / (side * side) * (side * side), row = i / side % side;
           return Wanted{t(x, matrix + i % side * side + row), 0};
         });
       }},
      {"pointwise_bias_add",
       [](Builder &b) {
         constexpr size_t columns = 8192, rows = 8;
         unsigned x = b.input(Type::BF16, rows * columns), bias = b.input(Type::BF16, columns);
         unsigned y = b.output(Type::BF16, rows * columns);
         b.pass({x, bias, y});
         b.launch(rows * columns / (256 * 8), 256);
         b.expect(y, [=](const Tensors &t, size_t i) {
           return Wanted{t(x, i) + t(bias, i % columns), 1e-7};
         });
       }},
      {"pointwise_counted_rows",
       [](Builder &b) {
         constexpr size_t rows = 41, columns = 257, vectors = rows * columns / 8;
         unsigned x = b.input(Type::F16, rows * columns), row = b.input(Type::F32, columns),
                  column = b.input(Type::F32, rows);
         unsigned y = b.output(Type::F32, rows * columns);
         b.pass({x, row, column, y});
         b.sizes(int32_t(rows));
         b.launch((vectors + 255) / 256, 128);
         b.expect(y, [=](const Tensors &t, size_t i) {
           double product = t(x, i) * t(row, i % columns), added = t(column, i / columns);
           return Wanted{product + added, 0x1p-23 * (std::abs(product) + std::abs(added))};
         });
       }},
      {"pointwise_gelu_tail",
       [](Builder &b) {
         constexpr size_t count = 20003;
         unsigned x = b.input(Type::F16, count), y = b.output(Type::F16, count);
         b.pass({x, y});
         b.sizes(int32_t(count));
         b.launch((count / 8 + 255) / 256, 256);
         b.expect(y, [=](const Tensors &t, size_t i) {
           double value = t(x, i);
           // The float constant of the kernel; and small results are denormal.
           return Wanted{0.5 * value * (1 + std::erf(value * double(0.707106769f))), 1e-7};
         });
       }},
      {"pointwise_rotary",
       [](Builder &b) {
         constexpr size_t times = 4, heads = 32;
         unsigned x = b.input(Type::BF16, times * heads * 128);
         unsigned cos = b.input(Type::F32, times * 64), sin = b.input(Type::F32, times * 64);
         unsigned y = b.output(Type::BF16, times * heads * 128);
         b.pass({x, x, cos, sin, y, y});
         b.launch(times * heads * 64 / 8 / 128, 128);
         b.expect(y, [=](const Tensors &t, size_t i) {
           size_t angle = i / (heads * 128) * 64 + i % 64, low = i / 128 * 128 + i % 64;
           double lo = t(x, low), hi = t(x, low + 64), c = t(cos, angle), s = t(sin, angle);
           double size = std::abs(lo) + std::abs(hi);
           return Wanted{i % 128 < 64 ? lo * c - hi * s : hi * c + lo * s, 0x1p-20 * size * 4};
         });
       }},
      {"reduce_sum_i32",
       [](Builder &b) {
         unsigned x = b.input(Type::I32, 1200), y = b.output(Type::I64, 12);
         b.pass({x, y});
         b.launch(1, 64);
         b.expect(y, [=](const Tensors &t, size_t i) {
           double sum = 0;
           for (size_t row = 0; row < 100; ++row)
             sum += t(x, row * 12 + i);
           return Wanted{sum, 0};
         });
       }},
      {"reduce_sum_middle",
       [](Builder &b) {
         constexpr size_t s0 = 5, s1 = 7, columns = 8 * s1;
         unsigned x = b.input(Type::BF16, s0 * 1024 * columns);
         unsigned y = b.output(Type::F32, s0 * columns);
         b.pass({x, y});
         struct {
           int64_t s0, s1;
           Divider64 by1;
         } sizes = {s0, s1, Divider64(s1)};
         b.sizes(sizes);
         b.launch((s0 * s1 + 15) / 16, 256);
         b.expect(y, [=](const Tensors &t, size_t i) {
           double sum = 0, magnitude = 0;
           for (size_t row = 0; row < 1024; ++row) {
             double value = t(x, (i / columns * 1024 + row) * columns + i % columns);
             sum += value;
             magnitude += std::abs(value);
           }
           return Wanted{sum, 0x1p-17 * magnitude};
         });
       }},
      {"row_layer_norm_block",
       [](Builder &b) {
         constexpr size_t rows = 3, length = 5000;
         unsigned x = b.input(Type::F16, rows * length);
         unsigned gamma = b.input(Type::F16, length), beta = b.input(Type::F16, length);
         unsigned y = b.output(Type::F16, rows * length);
         b.pass({x, gamma, beta, y});
         b.sizes(int32_t(rows));
         b.launch(rows, 224);
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           if (cache.row != i / length) {
             cache.row = i / length;
             auto [mean, variance] =
                 meanAndVariance(length, [&](size_t j) { return t(x, cache.row * length + j); });
             cache.mean = mean;
             cache.scale = 1 / std::sqrt(variance + 1e-5);
           }
           return normalized(t(x, i), cache.mean, cache.scale, t(gamma, i % length),
                             t(beta, i % length), kSlack);
         });
       }},
      {"row_layer_norm_column",
       [](Builder &b) {
         constexpr size_t images = 2, channels = 192, pixels = 3136;
         unsigned x = b.input(Type::F32, images * channels * pixels);
         unsigned gamma = b.input(Type::F32, channels), beta = b.input(Type::F32, channels);
         unsigned y = b.output(Type::F32, images * channels * pixels);
         b.pass({x, gamma, beta, y});
         b.launch(images * pixels / 4 / 32, 256);
         auto statistics = std::make_shared<std::vector<RowCache>>();
         b.expect(y, [=](const Tensors &t, size_t i) {
           if (statistics->empty())
             for (size_t pixel = 0; pixel < images * pixels; ++pixel) {
               size_t first = pixel / pixels * channels * pixels + pixel % pixels;
               auto [mean, variance] =
                   meanAndVariance(channels, [&](size_t c) { return t(x, first + c * pixels); });
               statistics->push_back({0, mean, 1 / std::sqrt(variance + 1e-6)});
             }
           size_t channel = i / pixels % channels;
           const RowCache &row = (*statistics)[i / (channels * pixels) * pixels + i % pixels];
           return normalized(t(x, i), row.mean, row.scale, t(gamma, channel), t(beta, channel),
                             kSlack);
         });
       }},
      {"row_layer_norm_f64",
       [](Builder &b) {
         unsigned x = b.input(Type::F64, 1800), gamma = b.input(Type::F32, 3);
         unsigned y = b.output(Type::F64, 1800);
         b.pass({x, gamma, y});
         b.launch(2, 96);
         b.expect(y, [=](const Tensors &t, size_t i) {
           auto [mean, variance] =
               meanAndVariance(900, [&](size_t j) { return t(x, i / 900 * 900 + j); });
           return normalized(t(x, i), mean, 1 / std::sqrt(variance + 1e-5), t(gamma, i / 300 % 3),
                             0, 0x1p-45);
         });
       }},
      {"row_layer_norm",
       [](Builder &b) {
         constexpr size_t rows = 32, length = 768;
         unsigned x = b.input(Type::F16, rows * length),
                  residual = b.input(Type::F16, rows * length);
         unsigned gamma = b.input(Type::F32, length), beta = b.input(Type::F32, length);
         unsigned sum = b.output(Type::F16, rows * length), y = b.output(Type::F16, rows * length);
         unsigned mean = b.output(Type::F32, rows), rstd = b.output(Type::F32, rows);
         b.pass({x, residual, gamma, beta, sum, y, mean, rstd});
         b.launch(rows / 8, 256);
         // The sum is rounded before it is normalised.
         auto rounded = [=](const Tensors &t, size_t i) {
           return fromF16(toF16(float(t(x, i) + t(residual, i))));
         };
         auto row = [=](const Tensors &t, size_t index) {
           return meanAndVariance(length, [&](size_t j) { return rounded(t, index * length + j); });
         };
         b.expect(sum, [=](const Tensors &t, size_t i) { return Wanted{rounded(t, i), 0}; });
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           if (cache.row != i / length) {
             auto [average, variance] = row(t, i / length);
             cache = {i / length, average, 1 / std::sqrt(variance + 1e-5)};
           }
           return normalized(rounded(t, i), cache.mean, cache.scale, t(gamma, i % length),
                             t(beta, i % length), kSlack);
         });
         b.expect(mean, [=](const Tensors &t, size_t i) {
           return Wanted{row(t, i).first, kSlack};
         });
         b.expect(rstd, [=](const Tensors &t, size_t i) {
           return Wanted{1 / std::sqrt(row(t, i).second + 1e-5), kSlack};
         });
       }},
      {"row_layer_norm_staged",
       [](Builder &b) {
         constexpr size_t rows = 75, length = 45; // the last block is not full
         unsigned x = b.input(Type::BF16, rows * length);
         unsigned gamma = b.input(Type::BF16, length), beta = b.input(Type::BF16, length);
         unsigned y = b.output(Type::BF16, rows * length);
         b.pass({x, gamma, beta, y});
         b.sizes(int32_t(rows));
         b.launch(3, 128);
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           if (cache.row != i / length) {
             auto [average, variance] = meanAndVariance(
                 length, [&](size_t j) { return t(x, i / length * length + j); });
             cache = {i / length, average, 1 / std::sqrt(variance + 1e-5)};
           }
           return normalized(t(x, i), cache.mean, cache.scale, t(gamma, i % length),
                             t(beta, i % length), kSlack);
         });
       }},
      {"row_quantise_groups",
       [](Builder &b) { quantised(b, Type::F16, Type::F32, 1920, 128, false, 1e-6); }},
      {"row_quantise_rows",
       [](Builder &b) { quantised(b, Type::BF16, Type::BF16, 2000, 2000, true, 1e-5); }},
      {"row_rms_norm_looped",
       [](Builder &b) {
         constexpr size_t rows = 3, length = 8 * 1500;
         unsigned x = b.input(Type::BF16, rows * length), gamma = b.input(Type::BF16, length);
         unsigned y = b.output(Type::BF16, rows * length);
         b.pass({x, gamma, y});
         struct {
           int64_t s0, s1;
         } sizes = {rows, length / 8};
         b.sizes(sizes);
         b.launch(rows, 512);
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           if (cache.row != i / length) {
             double squares = 0;
             for (size_t j = i / length * length; j < (i / length + 1) * length; ++j)
               squares += t(x, j) * t(x, j);
             cache = {i / length, 0, 1 / std::sqrt(squares / double(length) + 1e-6)};
           }
           return normalized(t(x, i), 0, cache.scale, t(gamma, i % length), 0, kSlack);
         });
       }},
      {"row_softmax",
       [](Builder &b) {
         constexpr size_t rows = 64, length = 1024;
         unsigned x = b.input(Type::F16, rows * length), mask = b.input(Type::I1, rows * length);
         unsigned y = b.output(Type::F16, rows * length);
         b.pass({x, mask, y});
         b.launch(rows / 4, 128);
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           auto score = [&](size_t j) { return t(mask, j) != 0 ? -INFINITY : t(x, j) * 0.125; };
           if (cache.row != i / length) {
             double sum = 0;
             for (size_t j = i / length * length; j < (i / length + 1) * length; ++j)
               sum += std::exp(score(j));
             cache = {i / length, 0, 1 / sum};
           }
           // Results are around 2^-10, where f16 is coarse only below 2^-14.
           return Wanted{std::exp(score(i)) * cache.scale, 0x1p-24};
         });
       }},
      {"row_softmax_bounds",
       [](Builder &b) {
         constexpr size_t rows = 64, length = 1024;
         // Of the last row no more than what it keeps, in whole vectors: the rest is not read.
         unsigned x = b.input(Type::F16, (rows - 1) * length + 104),
                  y = b.output(Type::F16, rows * length);
         b.pass({x, y});
         b.launch(rows / 4, 128);
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           size_t row = i / length, kept = 730 - 10 * row;
           if (i % length >= kept)
             return Wanted{0, 0};
           if (cache.row != row) {
             double sum = 0;
             for (size_t j = 0; j < kept; ++j)
               sum += std::exp(t(x, row * length + j));
             cache = {row, 0, 1 / sum};
           }
           return Wanted{std::exp(t(x, i)) * cache.scale, 0x1p-24};
         });
       }},
      {"row_softmax_cluster",
       [](Builder &b) {
         constexpr size_t rows = 3, length = 9999;
         unsigned x = b.input(Type::F32, rows * length), y = b.output(Type::F32, rows * length);
         unsigned max = b.output(Type::F32, rows), sum = b.output(Type::F32, rows);
         b.pass({x, y, max, sum});
         b.sizes(int32_t(rows));
         b.launch(4 * rows, 224, 4);
         auto largest = [=](const Tensors &t, size_t row) {
           double value = t(x, row * length);
           for (size_t j = 1; j < length; ++j)
             value = std::max(value, t(x, row * length + j));
           return value;
         };
         auto total = [=](const Tensors &t, size_t row, double from) {
           double value = 0;
           for (size_t j = 0; j < length; ++j)
             value += std::exp(t(x, row * length + j) - from);
           return value;
         };
         b.expect(y, [=, cache = RowCache()](const Tensors &t, size_t i) mutable {
           if (cache.row != i / length) {
             double from = largest(t, i / length);
             cache = {i / length, from, 1 / total(t, i / length, from)};
           }
           double value = std::exp(t(x, i) - cache.mean) * cache.scale;
           return Wanted{value, value * 0x1p-19};
         });
         b.expect(max, [=](const Tensors &t, size_t i) { return Wanted{largest(t, i), 0}; });
         b.expect(sum, [=](const Tensors &t, size_t i) {
           double value = total(t, i, largest(t, i));
           return Wanted{value, value * 0x1p-19};
         });
       }},
  };
  return all;
}

std::optional<KernelProblem> swage::test::templateProblem(const std::string &kernel,
                                                          uint64_t seed) {
  auto found = makers().find(kernel);
  if (found == makers().end())
    return std::nullopt;
  Builder builder(seed);
  found->second(builder);
  return builder.finish();
}
