//===- MutationFile.cpp - Kernels, and bugs to plant in them --------------===//
#include "MutationFile.h"

#include <cstring>
#include <fmt/format.h>
#include <sstream>

using namespace swage;
using namespace swage::test;

std::string MutationKernel::name() const {
  size_t slash = path.rfind('/') + 1; // npos + 1 is 0
  std::string stem = path.substr(slash, path.rfind('.') - slash);
  for (char &c : stem)
    c = c == '-' ? '_' : c;
  return stem;
}

unsigned swage::test::bytesOfElement(std::string_view element) {
  if (element == "u8" || element == "bool")
    return 1;
  if (element == "f16" || element == "bf16")
    return 2;
  if (element == "f64" || element == "i64" || element == "u64")
    return 8;
  return 4;
}

/// Appends a number as a member of a struct.
static void append(std::string &value, const std::string &type, const std::string &text) {
  unsigned bytes = bytesOfElement(type);
  value.resize((value.size() + bytes - 1) / bytes * bytes);
  char number[8] = {};
  if (type == "f32") {
    float x = std::strtof(text.c_str(), nullptr);
    std::memcpy(number, &x, sizeof x);
  } else if (type == "f64") {
    double x = std::strtod(text.c_str(), nullptr);
    std::memcpy(number, &x, sizeof x);
  } else {
    long long x = std::strtoll(text.c_str(), nullptr, 0);
    std::memcpy(number, &x, sizeof x); // little endian
  }
  value.append(number, bytes);
}

/// "key=1,2,3" words behind the first of a line.
static std::map<std::string, std::vector<uint64_t>> numbersIn(std::istringstream &words) {
  std::map<std::string, std::vector<uint64_t>> result;
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    if (equals == std::string::npos)
      continue;
    std::istringstream list(word.substr(equals + 1));
    for (std::string number; std::getline(list, number, ',');)
      result[word.substr(0, equals)].push_back(std::strtoull(number.c_str(), nullptr, 0));
  }
  return result;
}

static void setLaunch(MutationLaunch &launch, std::istringstream &words) {
  for (const auto &[key, numbers] : numbersIn(words)) {
    auto value = unsigned(numbers.empty() ? 0 : numbers[0]);
    (key == "blocks"    ? launch.blocks
     : key == "threads" ? launch.threads
     : key == "cluster" ? launch.cluster
                        : launch.shared) = value;
  }
}

static MutationArgument argumentOf(const std::string &word, std::istringstream &words) {
  MutationArgument argument;
  if (word == "value") {
    for (std::string type, number; words >> type >> number;)
      append(argument.value, type, number);
    return argument;
  }
  words >> argument.element;
  if (word != "map") {
    argument.kind = word == "in"    ? MutationArgument::Kind::In
                    : word == "out" ? MutationArgument::Kind::Out
                                    : MutationArgument::Kind::Zero;
    argument.isOutput = word != "in";
    words >> argument.count;
    return argument;
  }
  argument.kind = MutationArgument::Kind::Map;
  std::string direction;
  words >> direction;
  argument.isOutput = direction == "out";
  auto numbers = numbersIn(words);
  argument.dims = numbers["dims"];
  argument.box.assign(numbers["box"].begin(), numbers["box"].end());
  unsigned bytes = numbers["swizzle"].empty() ? 0 : unsigned(numbers["swizzle"][0]);
  argument.swizzle = bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0;
  argument.count = 1;
  for (uint64_t dim : argument.dims)
    argument.count *= dim;
  return argument;
}

Expected<MutationFile> swage::test::parseMutations(const std::string &text) {
  MutationFile result;
  MutationKernel *kernel = nullptr;
  Mutation *mutation = nullptr;
  std::istringstream lines(text);
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line[begin] == '#')
      continue;
    auto bad = [&](const std::string &what) {
      return makeError(Stage::Input, fmt::format("line {}: {}", number, what));
    };
    std::istringstream words(line);
    std::string word, rest;
    words >> word;
    if (size_t after = line.find(word) + word.size() + 1; after <= line.size())
      rest = line.substr(after);
    if (word == "kernel") {
      kernel = &result.kernels.emplace_back();
      mutation = nullptr;
      kernel->path = rest;
    } else if (!kernel) {
      return bad("no kernel yet");
    } else if (word == "bug") {
      mutation = &result.mutations.emplace_back();
      mutation->kernel = result.kernels.size() - 1;
      mutation->name = rest;
      mutation->file = kernel->path;
      mutation->launch = kernel->launch;
    } else if (word == "launch") {
      setLaunch(mutation ? mutation->launch : kernel->launch, words);
    } else if (word == "in" || word == "out" || word == "zero" || word == "map" ||
               word == "value") {
      if (mutation)
        return bad("arguments belong to the kernel");
      kernel->arguments.push_back(argumentOf(word, words));
    } else if (!mutation) {
      return bad("no bug yet");
    } else if (word == "file") {
      mutation->file = rest;
    } else if (word == "=" || word == "-" || word == "+") {
      if (mutation->changes.empty())
        mutation->changes.emplace_back();
      if (word != "+")
        mutation->changes.back().from += rest + "\n";
      if (word != "-")
        mutation->changes.back().to += rest + "\n";
    } else if (word == "@") {
      mutation->changes.emplace_back();
    } else if (word == "expect") {
      for (std::string kind; words >> kind;)
        mutation->kinds.push_back(kind);
    } else if (word == "line") {
      for (size_t at; (at = rest.find("\\n")) != std::string::npos;)
        rest.replace(at, 2, "\n");
      mutation->lines.push_back(rest);
    } else if (word == "only") {
      mutation->only = rest;
    } else {
      return bad("what is '" + word + "'?");
    }
  }
  for (Mutation &each : result.mutations)
    if (each.changes.empty() || each.kinds.empty() || each.lines.empty())
      return makeError(Stage::Input, each.name + ": incomplete");
  return result;
}
