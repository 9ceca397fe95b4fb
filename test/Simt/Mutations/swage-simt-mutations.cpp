//===- swage-simt-mutations.cpp - Planted bugs are found and named --------===//
//
// Plants each bug of mutations.txt in a copy of a kernel or of a template, runs the kernel on the
// simulator, and looks at the report: it must be of the expected kind and name every expected line.
// Before that, each kernel as it is runs with many seeds and must give no report, and always the
// same bits.
//
//   swage-simt-mutations <project> [--seeds=20] [--allow=1] [--plain] [name ...]
//
//===----------------------------------------------------------------------===//
#include "MutationFile.h"

#include "GlobalMemory.h"
#include "HostCompiler.h"
#include "Launch.h"
#include "TensorMap.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>

using namespace swage;
using namespace swage::test;

namespace {
using Headers = std::vector<std::pair<std::string, std::string>>;

std::string read(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The headers that a kernel of the simulator may include.
Headers readHeaders(const std::filesystem::path &templates) {
  Headers headers;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(templates)) {
    std::string name = std::filesystem::relative(entry.path(), templates).generic_string();
    if (entry.is_regular_file() && entry.path().extension() == ".cuh" &&
        name.find("device/cuda/") == std::string::npos)
      headers.emplace_back(name, read(entry.path()));
  }
  return headers;
}

/// Of this thread: other work on the machine does not count.
double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

uint32_t next(uint64_t &state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return uint32_t(state >> 33);
}

/// Numbers between -1 and 1; small ones if they are integers.
void fillRandom(char *to, const std::string &element, uint64_t count, uint64_t seed) {
  uint64_t state = seed * 77 + 1;
  for (uint64_t i = 0; i < count; ++i) {
    float x = float(int32_t(next(state))) / float(1 << 30) - 1;
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    if (element == "f32") {
      std::memcpy(to + 4 * i, &x, 4);
    } else if (element == "bf16") {
      uint16_t half = uint16_t(bits >> 16);
      std::memcpy(to + 2 * i, &half, 2);
    } else if (element == "f16") {
      int exponent = int(bits >> 23 & 255) - 112;
      uint16_t half = uint16_t(bits >> 16 & 0x8000);
      if (exponent > 0)
        half = uint16_t(half | exponent << 10 | (bits >> 13 & 0x3ff));
      std::memcpy(to + 2 * i, &half, 2);
    } else if (element == "bool") {
      to[i] = char(bits & 1);
    } else {
      uint64_t number = next(state) % 16;
      unsigned bytes = bytesOfElement(element);
      std::memcpy(to + i * bytes, &number, bytes);
    }
  }
}

unsigned tensorTypeOf(const std::string &element) {
  return element == "bf16" ? 9 : element == "f16" ? 6 : element == "f32" ? 7 : 2;
}

struct Outcome {
  std::optional<simt::Finding> finding;
  std::string outputs; ///< bytes
  double seconds = 0;
};

Outcome runOnce(const simt::Module &module, const MutationKernel &kernel,
                const MutationLaunch &shape, const simt::SimulatorOptions &options) {
  struct alignas(64) Slot {
    char bytes[128];
  };
  simt::GlobalMemory global;
  std::vector<char *> buffers;
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<void *> arguments;
  std::vector<const char *> pointers;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const MutationArgument &argument = kernel.arguments[i];
    slots.push_back(std::make_unique<Slot>());
    char *slot = slots.back()->bytes;
    arguments.push_back(slot);
    pointers.push_back(nullptr);
    buffers.push_back(nullptr);
    if (argument.kind == MutationArgument::Kind::Value) {
      std::memcpy(slot, argument.value.data(), std::min<size_t>(argument.value.size(), 128));
      continue;
    }
    uint64_t bytes = argument.count * bytesOfElement(argument.element);
    char *buffer = global.allocate(bytes);
    buffers.back() = buffer;
    pointers.back() = buffer;
    if (!argument.isOutput)
      fillRandom(buffer, argument.element, argument.count, i + 1);
    else if (argument.kind != MutationArgument::Kind::Zero)
      std::memset(buffer, 0xff, bytes);
    if (argument.kind != MutationArgument::Kind::Map) {
      std::memcpy(slot, &buffer, sizeof buffer);
      continue;
    }
    std::vector<uint64_t> strides;
    uint64_t stride = bytesOfElement(argument.element);
    for (uint64_t dim : argument.dims)
      strides.push_back(stride *= dim);
    std::vector<uint32_t> ones(argument.dims.size(), 1);
    Status encoded =
        simt::encodeTensorMap(slot, tensorTypeOf(argument.element), unsigned(argument.dims.size()),
                              buffer, argument.dims.data(), strides.data(), argument.box.data(),
                              ones.data(), 0, argument.swizzle, 0, 0);
    if (!encoded) {
      fmt::print(stderr, "{}: {}\n", kernel.path, encoded.error().message);
      std::exit(2);
    }
  }
  std::vector<simt::MemoryRange> memory = global.ranges(pointers);
  simt::Launch launch;
  launch.module = &module;
  launch.kernel = module.find(kernel.name());
  launch.blocks = shape.blocks;
  launch.threads = shape.threads;
  launch.clusterSize = shape.cluster;
  launch.dynamicSharedBytes = shape.shared;
  launch.arguments = arguments.data();
  launch.memory = &memory;
  Outcome outcome;
  double start = processorSeconds();
  outcome.finding = simt::run(launch, options);
  outcome.seconds = processorSeconds() - start;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const MutationArgument &argument = kernel.arguments[i];
    if (buffers[i] && argument.isOutput)
      outcome.outputs.append(buffers[i], argument.count * bytesOfElement(argument.element));
    if (buffers[i])
      global.free(buffers[i]);
  }
  return outcome;
}

std::shared_ptr<simt::Module> compile(const MutationKernel &kernel, const std::string &text,
                                      const Headers &headers, bool checked) {
  auto compiler = simt::HostCompiler::get(checked);
  if (!compiler) {
    fmt::print(stderr, "{}\n", compiler.error().message);
    std::exit(2);
  }
  CompileRequest request;
  request.source = text;
  request.name = kernel.name() + ".cu";
  request.entry = kernel.name();
  request.headers = headers;
  request.arch = "sm_90a";
  auto binary = (*compiler)->compile(request);
  if (!binary) {
    fmt::print(stderr, "{}: {}\n{}\n", kernel.path, binary.error().message, binary.error().log);
    return nullptr;
  }
  auto module = simt::Module::load(binary->image);
  if (!module) {
    fmt::print(stderr, "{}: {}\n", kernel.path, module.error().message);
    return nullptr;
  }
  return *module;
}

simt::SimulatorOptions parse(const std::string &text) {
  auto options = simt::SimulatorOptions::parse(text);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().message);
    std::exit(2);
  }
  return *options;
}

//===----------------------------------------------------------------------===//
// Judging
//===----------------------------------------------------------------------===//

/// Lines first to last of a file.
struct LineRange {
  std::string file, text;
  unsigned first = 0, last = 0;
};

/// Where the text is, once, and the end of the statement that begins there.  Of several lines the
/// last counts.
std::optional<LineRange> locate(const std::string &file, const std::string &content,
                                const std::string &text) {
  size_t at = content.find(text);
  if (at == std::string::npos || content.find(text, at + 1) != std::string::npos)
    return std::nullopt;
  size_t last = text.rfind('\n', text.size() - 2);
  size_t begin = content.find_first_not_of(' ', last == std::string::npos ? at : at + last + 1);
  size_t end = content.find_first_of(";{", at + text.size() - 1);
  auto lineOf = [&](size_t position) {
    return unsigned(1 + std::count(content.begin(), content.begin() + ptrdiff_t(position), '\n'));
  };
  std::string name = std::filesystem::path(file).filename().string();
  if (name.size() > 3 && name.substr(name.size() - 3) == ".cu")
    std::replace(name.begin(), name.end(), '-', '_'); // as the kernel
  return LineRange{name, text, lineOf(begin), lineOf(end == std::string::npos ? begin : end)};
}

bool names(const simt::CodePlace &place, const LineRange &range) {
  return std::any_of(place.lines.begin(), place.lines.end(), [&](const simt::CodeLine &line) {
    return line.file == range.file && line.line >= range.first && line.line <= range.last;
  });
}

bool names(const simt::Finding &finding, const LineRange &range) {
  if (names(finding.place, range))
    return true;
  for (const simt::RelatedPlace &other : finding.related)
    if (names(other.place, range))
      return true;
  // A deadlock has no one place: "... at kernel.cu:12".
  for (const std::string &detail : finding.details)
    for (unsigned line = range.first; line <= range.last; ++line) {
      std::string place = fmt::format("{}:{}", range.file, line);
      size_t at = detail.find(place);
      if (at != std::string::npos && !std::isdigit(detail[at + place.size()]))
        return true;
    }
  return false;
}

struct Verdict {
  std::string kind = "nothing", mode, plain, report;
  bool kindRight = false, lineRight = false;
};

constexpr const char *kModes[] = {"order=forward,async=eager,check,workers=1",
                                  "order=random,async=late,check,workers=1,seed=1",
                                  "order=random,async=random,check,workers=1,seed=2",
                                  "order=reverse,async=random,check,workers=1,seed=3"};

Verdict tryMutation(const MutationFile &file, const Mutation &mutation, const std::string &project,
                    Headers headers, bool plain) {
  const MutationKernel &kernel = file.kernels[mutation.kernel];
  std::string text = read(project + "/test/" + kernel.path);
  std::string *changed = &text;
  const std::string templates = "templates/";
  if (mutation.file.compare(0, templates.size(), templates) == 0)
    for (auto &[name, header] : headers)
      if (name == mutation.file.substr(templates.size()))
        changed = &header;
  Verdict verdict;
  for (const Mutation::Change &change : mutation.changes) {
    size_t at = changed->find(change.from);
    if (at == std::string::npos || changed->find(change.from, at + 1) != std::string::npos) {
      verdict.kind = "the text to change is not there once";
      return verdict;
    }
    changed->replace(at, change.from.size(), change.to);
  }
  std::vector<LineRange> lines;
  for (const std::string &line : mutation.lines) {
    auto range = locate(mutation.file, *changed, line);
    if (!range)
      range = locate(kernel.path, text, line);
    if (!range) {
      verdict.kind = fmt::format("'{}' is not there once", line);
      return verdict;
    }
    lines.push_back(*range);
  }
  auto module = compile(kernel, text, headers, true);
  if (!module) {
    verdict.kind = "does not compile";
    return verdict;
  }
  std::vector<std::string> modes(std::begin(kModes), std::end(kModes));
  if (!mutation.only.empty())
    modes = {mutation.only};
  for (const std::string &mode : modes) {
    Outcome outcome = runOnce(*module, kernel, mutation.launch, parse(mode));
    if (!outcome.finding)
      continue;
    const simt::Finding &finding = *outcome.finding;
    bool kindRight = std::count(mutation.kinds.begin(), mutation.kinds.end(), name(finding.kind));
    bool lineRight = std::all_of(lines.begin(), lines.end(),
                                 [&](const LineRange &range) { return names(finding, range); });
    if (verdict.report.empty() || (kindRight && lineRight)) {
      verdict.kind = name(finding.kind);
      verdict.report = finding.str();
      verdict.mode = mode.substr(0, mode.find(",check"));
      verdict.kindRight = kindRight;
      verdict.lineRight = lineRight;
    }
    if (kindRight && lineRight)
      break;
  }
  if (plain) {
    verdict.plain = "-";
    if (auto unchecked = compile(kernel, text, headers, false)) {
      auto original = compile(kernel, read(project + "/test/" + kernel.path),
                              readHeaders(project + "/templates"), false);
      auto options = parse("workers=1");
      Outcome outcome = runOnce(*unchecked, kernel, mutation.launch, options);
      Outcome right = runOnce(*original, kernel, mutation.launch, options);
      verdict.plain = outcome.finding                    ? name(outcome.finding->kind)
                      : outcome.outputs == right.outputs ? "passes"
                                                         : "wrong numbers";
    }
  }
  return verdict;
}

void inParallel(size_t count, const std::function<void(size_t)> &function) {
  std::atomic<size_t> nextIndex{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (size_t index; (index = nextIndex++) < count;)
        function(index);
    });
  for (std::thread &thread : threads)
    thread.join();
}
} // namespace

int main(int argc, char **argv) {
  std::string project = argc > 1 ? argv[1] : ".";
  unsigned seeds = 20, allowed = 1;
  bool plain = false, verbose = false;
  std::string list = project + "/test/Simt/Mutations/mutations.txt";
  std::vector<std::string> only;
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    if (word.compare(0, 8, "--seeds=") == 0)
      seeds = unsigned(std::stoul(word.substr(8)));
    else if (word.compare(0, 8, "--allow=") == 0)
      allowed = unsigned(std::stoul(word.substr(8)));
    else if (word.compare(0, 7, "--file=") == 0)
      list = word.substr(7);
    else if (word == "--plain")
      plain = true;
    else if (word == "--reports")
      verbose = true;
    else
      only.push_back(word);
  }
  auto file = parseMutations(read(list));
  if (!file) {
    fmt::print(stderr, "{}: {}\n", list, file.error().message);
    return 2;
  }
  auto wanted = [&](const std::string &name) {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string &word) {
             return name.find(word) != std::string::npos;
           });
  };
  Headers headers = readHeaders(project + "/templates");
  auto start = std::chrono::steady_clock::now();
  std::atomic<unsigned> failures{0};
  std::mutex mutex;

  inParallel(file->kernels.size(), [&](size_t index) {
    const MutationKernel &kernel = file->kernels[index];
    bool isWanted = wanted(kernel.path);
    for (const Mutation &mutation : file->mutations)
      isWanted |= !only.empty() && mutation.kernel == index && wanted(mutation.name);
    if (!isWanted)
      return;
    std::string text = read(project + "/test/" + kernel.path);
    auto checked = compile(kernel, text, headers, true),
         bare = compile(kernel, text, headers, false);
    if (!checked || !bare) {
      ++failures;
      return;
    }
    std::string problem;
    Outcome first = runOnce(*bare, kernel, kernel.launch, parse("workers=1"));
    if (first.finding)
      problem = "unchecked: " + first.finding->str();
    double times[2] = {1e9, 1e9}; // the best of a few: of the first, the memory is new
    for (unsigned i = 0; i < 7; ++i) {
      times[0] =
          std::min(times[0], runOnce(*bare, kernel, kernel.launch, parse("workers=1")).seconds);
      times[1] = std::min(
          times[1], runOnce(*checked, kernel, kernel.launch, parse("check,workers=1")).seconds);
    }
    for (unsigned seed = 0; problem.empty() && seed <= seeds; ++seed) {
      const char *async[] = {"eager", "late", "random"};
      std::string mode = fmt::format("order={},async={},check,seed={},workers=1{}",
                                     seed == 0   ? "forward"
                                     : seed == 1 ? "reverse"
                                                 : "random",
                                     async[seed % 3], seed, seed % 4 == 3 ? ",strict" : "");
      Outcome outcome = runOnce(*checked, kernel, kernel.launch, parse(mode));
      if (outcome.finding)
        problem = mode + ": " + outcome.finding->str();
      else if (outcome.outputs != first.outputs)
        problem = mode + ": other bits";
    }
    std::lock_guard<std::mutex> lock(mutex);
    failures += !problem.empty();
    fmt::print("{:<34} {} seeds {}; {:.2f} ms, checked {:.1f} times as long\n", kernel.path, seeds,
               problem.empty() ? "silent" : "FAIL " + problem, times[0] * 1e3, times[1] / times[0]);
  });

  std::vector<Verdict> verdicts(file->mutations.size());
  inParallel(file->mutations.size(), [&](size_t index) {
    const Mutation &mutation = file->mutations[index];
    if (wanted(mutation.name) || (!only.empty() && wanted(file->kernels[mutation.kernel].path)))
      verdicts[index] = tryMutation(*file, mutation, project, headers, plain);
    else
      verdicts[index].kind = "";
  });
  unsigned tried = 0, named = 0;
  fmt::print("\n{:<24} {:<34} {:<18} {:<6} {}\n", "kernel", "bug", "reported as", "lines",
             plain ? "plain run" : "first seen with");
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const Verdict &verdict = verdicts[i];
    if (verdict.kind.empty())
      continue;
    bool good = verdict.kindRight && verdict.lineRight;
    ++tried;
    named += good;
    const Mutation &mutation = file->mutations[i];
    fmt::print("{:<24} {:<34} {:<18} {:<6} {}\n", file->kernels[mutation.kernel].name(),
               mutation.name, verdict.kind + (verdict.kindRight ? "" : " (!)"),
               verdict.lineRight ? "right" : "WRONG", plain ? verdict.plain : verdict.mode);
    if (verbose || !good)
      fmt::print("{}\n", verdict.report);
  }
  fmt::print("\n{} of {} bugs named with the right lines; {:.1f} s\n", named, tried,
             secondsSince(start));
  return failures != 0 || tried - named > allowed;
}
