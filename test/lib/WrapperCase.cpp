//===- WrapperCase.cpp - The kernels of test/Wrappers ---------------------===//
#include "WrapperCase.h"

#include "Bits.h"
#include "KernelProblem.h"

#include "swage/Support/Hash.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

using namespace swage;
using namespace swage::test;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

template <class T> static std::vector<T> numbers(const std::string &text) {
  std::vector<T> values;
  for (const std::string &part : split(text, 'x'))
    values.push_back(T(std::strtoull(part.c_str(), nullptr, 10)));
  return values;
}

/// "in:f16:64x32:box=32x8:swizzle=64"
static bool readMap(const std::string &text, KernelArgument &argument) {
  static const char *names[] = {"u8",  "u16", "u32", "s32", "u64",
                                "s64", "f16", "f32", "f64", "bf16"};
  std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 4 || (parts[0] != "in" && parts[0] != "out"))
    return false;
  MapSpec map;
  auto element = std::find(std::begin(names), std::end(names), parts[1]);
  if (element == std::end(names))
    return false;
  map.element = MapElement(element - std::begin(names));
  map.dims = numbers<uint64_t>(parts[2]);
  for (size_t i = 3; i < parts.size(); ++i) {
    size_t equals = parts[i].find('=');
    std::string key = parts[i].substr(0, equals), value = parts[i].substr(equals + 1);
    if (key == "box")
      map.box = numbers<uint32_t>(value);
    else if (key == "strides")
      map.strides = numbers<uint64_t>(value);
    else if (key == "steps")
      map.elementStrides = numbers<uint32_t>(value);
    else if (key == "swizzle")
      map.swizzle = value == "32"    ? MapSwizzle::B32
                    : value == "64"  ? MapSwizzle::B64
                    : value == "128" ? MapSwizzle::B128
                                     : MapSwizzle::None;
    else
      return false;
  }
  argument = KernelArgument::ofMap(parts[0] == "out", map);
  return map.box.size() == map.dims.size();
}

/// "NAME grid=2 block=128 ... exact"
static bool readLaunch(const std::string &line, WrapperCase &test) {
  std::istringstream words(line);
  words >> test.name;
  test.run.kernel = test.name;
  test.run.buffers = {"", ""};
  test.run.arguments = {KernelArgument::ofBuffer(0), KernelArgument::ofBuffer(1)};
  bool compared = false;
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    unsigned number = unsigned(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "grid")
      test.run.blocks = number;
    else if (key == "block")
      test.run.threads = number;
    else if (key == "cluster")
      test.run.clusterSize = number;
    else if (key == "shared")
      test.run.dynamicSharedBytes = number;
    else if (key == "in")
      test.run.buffers[0].assign(number, 0);
    else if (key == "out")
      test.run.buffers[1].assign(number, '\xff');
    else if (key == "map") {
      KernelArgument argument;
      if (!readMap(value, argument))
        return false;
      test.run.arguments.push_back(argument);
    } else {
      using Comparison = WrapperCase::Comparison;
      compared = true;
      test.limit = std::strtod(value.c_str(), nullptr);
      if (key == "exact")
        test.comparison = Comparison::Exact;
      else if (key == "ulp")
        test.comparison = Comparison::Ulp;
      else if (key == "ulp64")
        test.comparison = Comparison::Ulp64;
      else if (key == "tolerance")
        test.comparison = Comparison::Tolerance;
      else
        return false;
    }
  }
  return compared && !test.run.buffers[0].empty() && !test.run.buffers[1].empty();
}

Expected<std::vector<WrapperCase>> swage::test::wrappersOf(const std::string &path) {
  auto text = readText(path);
  if (!text)
    return text.takeError();
  std::vector<WrapperCase> cases;
  std::string arch = "sm_80";
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.compare(0, 9, "// arch: ") == 0)
      arch = line.substr(9);
    if (line.compare(0, 11, "// launch: ") != 0)
      continue;
    WrapperCase test;
    if (!readLaunch(line.substr(11), test))
      return makeError(Stage::Input, fmt::format("{}:{}: not a launch: {}", path, number, line));
    test.arch = arch;
    test.run.file = std::filesystem::path(path).filename().string();
    test.run.text = *text;
    cases.push_back(std::move(test));
  }
  return cases;
}

Expected<std::vector<WrapperCase>> swage::test::wrappersIn(const std::string &directory) {
  std::vector<WrapperCase> all;
  for (const std::string &file : kernelFiles(directory)) {
    auto cases = wrappersOf(file);
    if (!cases)
      return cases.takeError();
    std::move(cases->begin(), cases->end(), std::back_inserter(all));
  }
  if (all.empty())
    return makeError(Stage::Input, "there are no kernels in '" + directory + "'");
  return all;
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

KernelRun WrapperCase::seeded(uint64_t seed) const {
  // As f32; as f16 and 8-bit floats they are special too.
  static const uint32_t special[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                     0x7f800001, 0xffffffff, 0x7fffffff, 0x00000001, 0x807fffff,
                                     0x00800000, 0x7f7fffff, 0x3f800000, 0xbf800000, 0x7c007c00,
                                     0xfc01fe00, 0x00010001, 0x03ff8001, 0x7e7e7f7f, 0x7f80ff80,
                                     0x0000ffff, 0xffff0000, 0x7ff00000, 0xfff80000};
  KernelRun seeded = run;
  uint64_t mixed = seed;
  for (char c : name)
    mixed = mixed * 131 + uint64_t(c);
  Random random(mixed);
  std::string &in = seeded.buffers[0];
  for (size_t i = 0; i + 4 <= in.size(); i += 4) {
    uint64_t bits = random.next();
    uint32_t word = uint32_t(bits);
    if (bits >> 60 == 0)
      word = special[(bits >> 40) % std::size(special)];
    std::memcpy(&in[i], &word, 4);
  }
  return seeded;
}

/// Numbers as integers of the same order.
template <class Bits, class Signed> static Signed ordered(Bits bits) {
  constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
  return bits & sign ? Signed(sign - bits) : Signed(bits);
}

template <class Number, class Bits, class Signed>
static double ulpsBetween(const char *a, const char *b) {
  Number x, y;
  Bits p, q;
  std::memcpy(&x, a, sizeof(x));
  std::memcpy(&y, b, sizeof(y));
  std::memcpy(&p, a, sizeof(p));
  std::memcpy(&q, b, sizeof(q));
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? 0 : INFINITY;
  // The difference before the double: numbers of 64 bits do not fit one.
  __int128 distance = __int128(ordered<Bits, Signed>(p)) - ordered<Bits, Signed>(q);
  return double(distance < 0 ? -distance : distance);
}

std::string WrapperCase::compare(std::string_view actual, std::string_view expected) const {
  if (actual.size() != expected.size())
    return fmt::format("{} bytes instead of {}", actual.size(), expected.size());
  size_t step = comparison == Comparison::Ulp64 ? 8 : comparison == Comparison::Exact ? 1 : 4;
  size_t wrong = 0, first = 0;
  double worst = 0;
  for (size_t i = 0; i + step <= actual.size(); i += step) {
    const char *a = actual.data() + i, *b = expected.data() + i;
    if (std::memcmp(a, b, step) == 0)
      continue;
    double error = INFINITY;
    if (comparison == Comparison::Ulp)
      error = ulpsBetween<float, uint32_t, int32_t>(a, b);
    else if (comparison == Comparison::Ulp64)
      error = ulpsBetween<double, uint64_t, int64_t>(a, b);
    else if (comparison == Comparison::Tolerance) {
      float x, y;
      std::memcpy(&x, a, 4);
      std::memcpy(&y, b, 4);
      error = (std::isnan(x) && std::isnan(y)) || x == y ? 0 : std::abs(double(x) - double(y));
    }
    if (error <= limit && comparison != Comparison::Exact)
      continue;
    if (wrong++ == 0)
      first = i;
    if (error > worst || std::isnan(error))
      worst = error;
  }
  if (wrong == 0)
    return "";
  size_t at = first / (step == 8 ? 8 : 4) * (step == 8 ? 8 : 4), width = step == 8 ? 8 : 4;
  uint64_t a = 0, b = 0;
  std::memcpy(&a, actual.data() + at, std::min(width, actual.size() - at));
  std::memcpy(&b, expected.data() + at, std::min(width, actual.size() - at));
  std::string text =
      fmt::format("{} of {} {} differ; the first is word {}: 0x{:0{}x}, expected 0x{:0{}x}", wrong,
                  actual.size() / step, step == 1 ? "bytes" : "numbers", at / width, a, 2 * width,
                  b, 2 * width);
  if (comparison != Comparison::Exact)
    text += fmt::format("; by up to {:g}, allowed {:g}", worst, limit);
  return text;
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

static constexpr const char *kHeader = "swage wrapper outputs 1\n";

/// The same for equal inputs and texts only; headers do not count.
static std::string keyOf(const WrapperCase &test, uint64_t seed) {
  KernelRun run = test.seeded(seed);
  uint64_t hash = 1469598103934665603u;
  for (const std::string *part : {&run.text, &run.buffers[0]})
    for (unsigned char c : *part)
      hash = (hash ^ c) * 1099511628211u;
  return fmt::format("{} {} {:016x}", test.name, seed, hash);
}

void Recording::add(const WrapperCase &test, uint64_t seed, std::string output) {
  outputs.emplace_back(keyOf(test, seed), std::move(output));
}

const std::string *Recording::find(const WrapperCase &test, uint64_t seed) const {
  std::string key = keyOf(test, seed);
  for (const auto &[name, output] : outputs)
    if (name == key)
      return &output;
  return nullptr;
}

Status Recording::write(const std::string &path) const {
  std::string bytes = kHeader;
  for (const auto &[key, output] : outputs)
    bytes += fmt::format("{} {}\n", key, output.size()) + output;
  return writeFile(path, bytes);
}

Expected<Recording> Recording::read(const std::string &path) {
  auto bytes = readText(path);
  if (!bytes)
    return bytes.takeError();
  Recording recording;
  size_t at = std::strlen(kHeader);
  if (bytes->compare(0, at, kHeader) != 0)
    return makeError(Stage::Input, "'" + path + "' is no recording");
  while (at < bytes->size()) {
    size_t end = bytes->find('\n', at), space = bytes->rfind(' ', end);
    size_t size = end == std::string::npos
                      ? std::string::npos
                      : size_t(std::strtoull(bytes->c_str() + space, nullptr, 10));
    if (end == std::string::npos || size > bytes->size() - end - 1)
      return makeError(Stage::Input, "'" + path + "' is cut short");
    recording.outputs.emplace_back(bytes->substr(at, space - at), bytes->substr(end + 1, size));
    at = end + 1 + size;
  }
  return recording;
}
