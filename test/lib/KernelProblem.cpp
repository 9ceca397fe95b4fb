//===- KernelProblem.cpp - Hand-written kernels and what they must compute ===//
#include "KernelProblem.h"

#include "Bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

using namespace swage;
using namespace swage::test;

int64_t swage::test::number(const Words &words, const std::string &key, int64_t otherwise) {
  auto found = words.find(key);
  return found == words.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 0);
}

std::vector<std::string> swage::test::kernelFiles(const std::string &directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().extension() == ".cu")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

namespace {
constexpr double kHalf = 1.0 / (1 << 24); // relative error of one rounding to f32

/// Values as the kernel sees them, and as the reference does.
struct Values {
  std::vector<double> at;
  std::string bytes;
};

Values bf16Values(size_t count, Random &random, double scale = 1.0) {
  Values values;
  values.bytes.resize(2 * count);
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = bf16FromFloat(float(scale * random.normal()));
    std::memcpy(&values.bytes[2 * i], &bits, 2);
    values.at.push_back(floatFromBf16(bits));
  }
  return values;
}

Values f32Values(size_t count, Random &random) {
  Values values;
  values.bytes.resize(4 * count);
  for (size_t i = 0; i < count; ++i) {
    float value = float(random.normal());
    std::memcpy(&values.bytes[4 * i], &value, 4);
    values.at.push_back(value);
  }
  return values;
}

std::string poison(size_t bytes) { return std::string(bytes, '\xff'); }

float f32At(const std::string &bytes, size_t i) {
  float value;
  std::memcpy(&value, &bytes[4 * i], 4);
  return value;
}
float bf16At(const std::string &bytes, size_t i) {
  uint16_t bits;
  std::memcpy(&bits, &bytes[2 * i], 2);
  return floatFromBf16(bits);
}

/// Collects errors against their bounds.
class Judge {
public:
  void check(const char *what, size_t index, double actual, double expected, double bound) {
    double error = actual == expected ? 0 : std::abs(actual - expected);
    double share = error / bound;
    if (!(share <= judgement.worst)) // NaN too
      judgement.worst = share;
    if (!(share <= 1) && judgement.failure.empty())
      judgement.failure = fmt::format("{}[{}] is {}, expected {} within {:.3g}", what, index,
                                      actual, expected, bound);
  }
  Judgement judgement;
};

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct Attention {
  int64_t heads, queries, keys, dim;
  bool causal;
  double scale; ///< of the scores
};

/// One row in double precision: `score(key)` for the keys it sees, then outputs, the sum over the
/// weights' absolute values, and the logarithm of the sum.
struct AttentionRow {
  std::vector<double> output, magnitude;
  double logSum = -INFINITY;
  double scoreMagnitude = 0; ///< largest sum of the products' absolute values
};

AttentionRow attentionRow(const Attention &shape, const Values &q, const Values &k, const Values &v,
                          int64_t head, int64_t query) {
  AttentionRow row;
  row.output.assign(shape.dim, 0);
  row.magnitude.assign(shape.dim, 0);
  int64_t seen =
      shape.causal ? std::min(shape.keys, query + 1 + shape.keys - shape.queries) : shape.keys;
  std::vector<double> scores;
  double most = -INFINITY, sum = 0;
  for (int64_t key = 0; key < seen; ++key) {
    double score = 0, magnitude = 0;
    for (int64_t d = 0; d < shape.dim; ++d) {
      double product = q.at[(head * shape.queries + query) * shape.dim + d] *
                       k.at[(head * shape.keys + key) * shape.dim + d];
      score += product;
      magnitude += std::abs(product);
    }
    scores.push_back(score * shape.scale);
    row.scoreMagnitude = std::max(row.scoreMagnitude, magnitude * shape.scale);
    most = std::max(most, scores.back());
  }
  for (int64_t key = 0; key < seen; ++key) {
    double weight = std::exp(scores[key] - most);
    sum += weight;
    for (int64_t d = 0; d < shape.dim; ++d) {
      double value = v.at[(head * shape.keys + key) * shape.dim + d];
      row.output[d] += weight * value;
      row.magnitude[d] += weight * std::abs(value);
    }
  }
  if (seen > 0) {
    for (int64_t d = 0; d < shape.dim; ++d) {
      row.output[d] /= sum;
      row.magnitude[d] /= sum;
    }
    row.logSum = most + std::log(sum);
  }
  return row;
}

/// Rows that are not looked at by the reference of a large problem still have to be finite.
constexpr int64_t kMostRows = 2048;

KernelProblem attention(const Words &words, const Words &constants, bool wgmma, uint64_t seed) {
  Attention shape;
  shape.heads = number(words, "heads", 1);
  shape.queries = number(words, "queries", 64);
  shape.keys = number(words, "keys", 64);
  shape.causal = number(words, "causal", 0);
  shape.dim = number(constants, "kHeadDim", 64);
  shape.scale = 1 / std::sqrt(double(shape.dim));
  Random random(seed);
  Values q = bf16Values(shape.heads * shape.queries * shape.dim, random);
  Values k = bf16Values(shape.heads * shape.keys * shape.dim, random);
  Values v = bf16Values(shape.heads * shape.keys * shape.dim, random);

  KernelProblem problem;
  problem.flops = 4.0 * shape.heads * shape.queries * shape.keys * shape.dim;
  KernelRun &run = problem.run;
  run.buffers = {q.bytes, k.bytes, v.bytes, poison(q.bytes.size()),
                 poison(4 * shape.heads * shape.queries)};
  struct {
    int32_t queries, keys, heads, causal;
    float scale;
  } sizes = {int32_t(shape.queries), int32_t(shape.keys), int32_t(shape.heads), shape.causal,
             float(shape.scale * 1.4426950408889634)};
  if (wgmma) {
    constexpr int64_t kQueryTile = 128, kKeyTile = 128, kStages = 2;
    run.threads = 384;
    run.blocks = unsigned(number(words, "grid", shape.heads * ceilDiv(shape.queries, kQueryTile)));
    run.dynamicSharedBytes =
        unsigned(2 * shape.dim * (kQueryTile + 2 * kStages * kKeyTile) + 8 * (2 + 4 * kStages));
    auto map = [&](unsigned buffer, int64_t rows, int64_t boxRows) {
      MapSpec spec;
      spec.element = MapElement::BF16;
      spec.dims = {uint64_t(shape.dim), uint64_t(rows), uint64_t(shape.heads)};
      spec.box = {64, uint32_t(boxRows), 1};
      spec.swizzle = MapSwizzle::B128;
      return KernelArgument::ofMap(buffer, spec);
    };
    run.arguments = {map(0, shape.queries, kQueryTile), map(1, shape.keys, kKeyTile),
                     map(2, shape.keys, kKeyTile), map(3, shape.queries, 16)};
  } else {
    run.threads = 128;
    run.blocks = unsigned(shape.heads * ceilDiv(shape.queries, 64));
    for (unsigned i = 0; i < 4; ++i)
      run.arguments.push_back(KernelArgument::ofBuffer(i));
  }
  run.arguments.push_back(KernelArgument::ofBuffer(4));
  run.arguments.push_back(KernelArgument::of(sizes));

  problem.judge = [=](const std::vector<std::string> &buffers) {
    Judge judge;
    int64_t rows = shape.heads * shape.queries, step = std::max<int64_t>(1, rows / kMostRows);
    for (int64_t at = 0; at < rows; at += step) {
      AttentionRow row = attentionRow(shape, q, k, v, at / shape.queries, at % shape.queries);
      double scores = 4 * double(shape.dim) * kHalf * row.scoreMagnitude + 16 * kHalf;
      // Weights are rounded to bf16 (2^-9), and so are outputs; both counted twice.
      for (int64_t d = 0; d < shape.dim; ++d)
        judge.check("O", at * shape.dim + d, bf16At(buffers[3], at * shape.dim + d), row.output[d],
                    std::abs(row.output[d]) / 256 + (1.0 / 256 + scores) * row.magnitude[d] +
                        1e-30);
      judge.check("L", at, f32At(buffers[4], at), row.logSum,
                  scores + 8 * kHalf * std::max(1.0, std::abs(row.logSum)));
    }
    return judge.judgement;
  };
  return problem;
}

KernelProblem decode(const Words &words, uint64_t seed) {
  Attention shape{number(words, "heads", 1), 1, number(words, "keys", 64), 64, false, 0.125};
  Random random(seed);
  Values q = bf16Values(shape.heads * shape.dim, random);
  Values k = bf16Values(shape.heads * shape.keys * shape.dim, random);
  Values v = bf16Values(shape.heads * shape.keys * shape.dim, random);
  KernelProblem problem;
  KernelRun &run = problem.run;
  run.clusterSize = 4;
  run.blocks = unsigned(4 * shape.heads);
  run.threads = 128;
  run.buffers = {q.bytes, k.bytes, v.bytes, poison(4 * shape.heads * shape.dim)};
  for (unsigned i = 0; i < 4; ++i)
    run.arguments.push_back(KernelArgument::ofBuffer(i));
  struct {
    int32_t heads, keys;
    float scale;
  } sizes = {int32_t(shape.heads), int32_t(shape.keys), float(shape.scale * 1.4426950408889634)};
  run.arguments.push_back(KernelArgument::of(sizes));
  problem.judge = [=](const std::vector<std::string> &buffers) {
    Judge judge;
    for (int64_t head = 0; head < shape.heads; ++head) {
      AttentionRow row = attentionRow(shape, q, k, v, head, 0);
      double relative = (64 + double(shape.keys) / 4) * kHalf + 16 * kHalf * row.scoreMagnitude;
      for (int64_t d = 0; d < shape.dim; ++d)
        judge.check("O", head * shape.dim + d, f32At(buffers[3], head * shape.dim + d),
                    row.output[d], relative * row.magnitude[d] + 1e-30);
    }
    return judge.judgement;
  };
  return problem;
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

KernelProblem matmul(const Words &words, uint64_t seed) {
  int64_t m = number(words, "m", 64), n = number(words, "n", 64), k = number(words, "k", 64);
  Random random(seed);
  Values a = bf16Values(m * k, random), b = bf16Values(n * k, random);
  KernelProblem problem;
  problem.flops = 2.0 * m * n * k;
  KernelRun &run = problem.run;
  run.clusterSize = 2;
  run.blocks = unsigned(2 * ceilDiv(m, 128) * ceilDiv(n, 64));
  run.threads = 160;
  run.dynamicSharedBytes = 2 * 3 * 64 * 128 + 16 * 3;
  run.buffers = {a.bytes, b.bytes, poison(4 * m * n)};
  auto map = [&](unsigned buffer, int64_t rows, unsigned boxRows) {
    MapSpec spec;
    spec.element = MapElement::BF16;
    spec.dims = {uint64_t(k), uint64_t(rows)};
    spec.box = {64, boxRows};
    spec.swizzle = MapSwizzle::B128;
    return KernelArgument::ofMap(buffer, spec);
  };
  struct {
    int32_t m, n, k;
  } sizes = {int32_t(m), int32_t(n), int32_t(k)};
  run.arguments = {map(0, m, 64), map(1, n, 32), KernelArgument::ofBuffer(2),
                   KernelArgument::of(sizes)};
  problem.judge = [=](const std::vector<std::string> &buffers) {
    Judge judge;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t x = 0; x < k; ++x) {
          double product = a.at[i * k + x] * b.at[j * k + x];
          sum += product;
          magnitude += std::abs(product);
        }
        judge.check("C", i * n + j, f32At(buffers[2], i * n + j), sum, 2 * k * kHalf * magnitude);
      }
    return judge.judgement;
  };
  return problem;
}

KernelProblem rows(const Words &words, uint64_t seed) {
  int64_t count = number(words, "rows", 1), length = number(words, "length", 64);
  unsigned cluster = unsigned(number(words, "cluster", 1));
  const float epsilon = 1e-5f;
  Random random(seed);
  Values x = f32Values(count * length, random);
  KernelProblem problem;
  KernelRun &run = problem.run;
  run.clusterSize = cluster;
  run.blocks = unsigned(cluster * count);
  run.threads = 128;
  run.buffers = {x.bytes, poison(x.bytes.size())};
  struct {
    int32_t rows, length;
    float epsilon;
  } sizes = {int32_t(count), int32_t(length), epsilon};
  run.arguments = {KernelArgument::ofBuffer(0), KernelArgument::ofBuffer(1),
                   KernelArgument::of(sizes)};
  problem.judge = [=](const std::vector<std::string> &buffers) {
    Judge judge;
    for (int64_t row = 0; row < count; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += x.at[row * length + i] * x.at[row * length + i];
      double scale = 1 / std::sqrt(sum / double(length) + epsilon);
      for (int64_t at = row * length; at < (row + 1) * length; ++at)
        judge.check("y", at, f32At(buffers[1], at), x.at[at] * scale,
                    64 * kHalf * std::abs(x.at[at] * scale));
    }
    return judge.judgement;
  };
  return problem;
}

KernelProblem sum(const Words &words, uint64_t seed) {
  int64_t n = number(words, "n", 1);
  unsigned blocks = unsigned(number(words, "blocks", 1));
  Random random(seed);
  Values x = f32Values(n, random);
  KernelProblem problem;
  KernelRun &run = problem.run;
  run.blocks = blocks;
  run.threads = 256;
  run.buffers = {x.bytes, poison(4), poison(4 * blocks), std::string(4, 0)};
  for (unsigned i = 0; i < 4; ++i)
    run.arguments.push_back(KernelArgument::ofBuffer(i));
  run.arguments.push_back(KernelArgument::of(int32_t(n)));
  problem.judge = [=](const std::vector<std::string> &buffers) {
    Judge judge;
    double total = 0, magnitude = 0;
    for (double value : x.at) {
      total += value;
      magnitude += std::abs(value);
    }
    judge.check("y", 0, f32At(buffers[1], 0), total,
                (double(n) / (256 * blocks) + 64) * kHalf * magnitude + 1e-30);
    if (buffers[3] != std::string(4, 0))
      judge.judgement.failure = "the counter is not back at zero";
    return judge.judgement;
  };
  return problem;
}

KernelProblem handshake(const Words &words, uint64_t seed) {
  int64_t n = number(words, "n", 64), rounds = number(words, "rounds", 2);
  Random random(seed);
  Values x = f32Values(2 * n, random);
  KernelProblem problem;
  KernelRun &run = problem.run;
  run.blocks = 2;
  run.threads = 64;
  run.buffers = {x.bytes, poison(4 * n), std::string(4, 0)};
  for (unsigned i = 0; i < 3; ++i)
    run.arguments.push_back(KernelArgument::ofBuffer(i));
  run.arguments.push_back(KernelArgument::of(int32_t(n)));
  run.arguments.push_back(KernelArgument::of(int32_t(rounds)));
  problem.judge = [=](const std::vector<std::string> &buffers) {
    Judge judge;
    for (int64_t i = 0; i < n; ++i) {
      float y = 0;
      for (int64_t round = 0; round < rounds; ++round)
        y = (round == 0 ? 0.0f : y * 0.5f) + float(x.at[round % 2 * n + i]);
      judge.check("y", i, f32At(buffers[1], i), y, 1e-30);
    }
    return judge.judgement;
  };
  return problem;
}
} // namespace

/// Integer constants at the beginning of a kernel: "constexpr int kHeadDim = 64;".
static Words constantsOf(const std::string &text) {
  Words constants;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    char name[64];
    int value;
    if (std::sscanf(line.c_str(), "constexpr int %63[A-Za-z] = %d", name, &value) == 2)
      constants.emplace(name, std::to_string(value));
  }
  return constants;
}

Expected<KernelProblem> swage::test::makeProblem(const std::string &path, const std::string &text,
                                                 const std::string &line, uint64_t seed) {
  std::istringstream stream(line);
  std::string kind;
  stream >> kind;
  Words words;
  for (std::string word; stream >> word;) {
    size_t equals = word.find('=');
    words[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  std::string stem = std::filesystem::path(path).stem().string();
  Expected<KernelProblem> problem = [&]() -> Expected<KernelProblem> {
    if (kind == "attention")
      return attention(words, constantsOf(text), stem.find("wgmma") != std::string::npos, seed);
    if (kind == "decode")
      return decode(words, seed);
    if (kind == "matmul")
      return matmul(words, seed);
    if (kind == "rows")
      return rows(words, seed);
    if (kind == "sum")
      return sum(words, seed);
    if (kind == "handshake")
      return handshake(words, seed);
    return makeError(Stage::Input, fmt::format("{}: no problem is called '{}'", path, kind));
  }();
  if (!problem)
    return problem;
  problem->title = stem + ": " + line;
  problem->run.file = stem + ".cu";
  problem->run.kernel = stem;
  problem->run.text = text;
  return problem;
}

/// What follows "// `word`: " in each line that begins so.
static std::vector<std::string> linesOf(const std::string &text, const std::string &word) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::string prefix = "// " + word + ": ";
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, prefix.size(), prefix) == 0)
      found.push_back(line.substr(prefix.size()));
  return found;
}

Expected<std::vector<KernelProblem>> swage::test::problemsOf(const std::string &path) {
  auto text = readText(path);
  if (!text)
    return text.takeError();
  std::vector<std::string> variants = linesOf(*text, "variant");
  variants.insert(variants.begin(), "");
  std::vector<KernelProblem> problems;
  std::string stem = std::filesystem::path(path).stem().string(), kernel = stem;
  std::replace(kernel.begin(), kernel.end(), '-', '_');
  if (auto problem = templateProblem(kernel)) {
    problem->title = stem;
    problem->run.file = stem + ".cu";
    problem->run.kernel = kernel;
    problem->run.text = *text;
    problems.push_back(std::move(*problem));
  }
  for (const std::string &variant : variants) {
    std::string changed = *text;
    if (size_t equals = variant.find('='); equals != std::string::npos) {
      std::string name = variant.substr(0, equals), constant = "constexpr int " + name + " = ";
      size_t at = changed.find(constant);
      if (at == std::string::npos)
        return makeError(Stage::Input, fmt::format("{}: there is no constant {}", path, name));
      at += constant.size();
      changed.replace(at, changed.find(';', at) - at, variant.substr(equals + 1));
    }
    for (const std::string &line : linesOf(*text, "run")) {
      auto problem = makeProblem(path, changed, line, problems.size() + 1);
      if (!problem)
        return problem.takeError();
      if (!variant.empty())
        problem->title += " " + variant;
      problems.push_back(std::move(*problem));
    }
  }
  return problems;
}
