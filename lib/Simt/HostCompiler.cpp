//===- HostCompiler.cpp - A kernel's text to a module of the simulator ----===//
//
// The compiler sees the kernel's file as it was generated, included by a frame that exports it. Its
// messages therefore show the kernel's own lines, and so does the line table.
//
//===----------------------------------------------------------------------===//
#include "HostCompiler.h"
#include "swage/Support/Options.h"
#include "swage/Support/Subprocess.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace swage;
using namespace swage::simt;

//===----------------------------------------------------------------------===//
// Finding a compiler
//===----------------------------------------------------------------------===//

static const char kNeeded[] = "the simulator compiles kernels with g++ or clang++; install one (on "
                              "Debian: apt-get install g++) or name it with SWAGE_HOST_COMPILER";
static const char *const kUsualNames[] = {"g++", "clang++", "c++"};

static Error notFound(const std::string &what) {
  return makeError(Stage::Load, fmt::format("host compiler: {}; {}", what, kNeeded));
}

/// The first line of what `name --version` prints; asked once per process.
static Expected<std::string> versionOf(const std::string &name) {
  static std::mutex mutex;
  static auto *known = new std::map<std::string, std::string>();
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = known->find(name); found != known->end())
    return found->second;
  auto outcome = runProgram({name, "--version"}, "", std::chrono::seconds(20));
  if (!outcome.succeeded())
    return notFound(fmt::format("'{}' {}", printable(name), outcome.str()));
  std::string version = printable(outcome.output.substr(0, outcome.output.find('\n')));
  if (version.empty())
    return notFound(fmt::format("'{}' does not tell its version", printable(name)));
  return known->emplace(name, version).first->second;
}

Expected<std::shared_ptr<const HostCompiler>> HostCompiler::find(const std::string &name,
                                                                 bool checked, Seconds limit) {
  auto make = [&](std::string program, std::string version) {
    return std::shared_ptr<const HostCompiler>(
        new HostCompiler(std::move(program), std::move(version), checked, limit));
  };
  if (!name.empty()) {
    auto version = versionOf(name);
    if (!version)
      return version.takeError();
    return make(name, std::move(*version));
  }
  for (const char *usual : kUsualNames)
    if (auto version = versionOf(usual))
      return make(usual, std::move(*version));
  return notFound("there is none on PATH");
}

Expected<std::shared_ptr<const HostCompiler>> HostCompiler::get(bool checked) {
  using Outcome = Expected<std::shared_ptr<const HostCompiler>>;
  // Leaked on purpose: compiles may run in threads that outlive our statics.
  if (checked) {
    static const auto *outcome = new Outcome(find(Options::get().hostCompiler, true));
    return *outcome;
  }
  static const auto *outcome = new Outcome(find(Options::get().hostCompiler, false));
  return *outcome;
}

std::string HostCompiler::identity() const {
  // A cache may be shared by machines of different kinds.
#if defined(__x86_64__)
  return version + " for x86-64";
#elif defined(__aarch64__)
  return version + " for AArch64";
#else
  return version;
#endif
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// What the processor of this machine has beyond the least of its kind.
static const char *architectureOption() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
    return "-march=x86-64-v3";
#endif
  return nullptr;
}

Expected<std::vector<std::string>> HostCompiler::options(const CompileRequest &) const {
  std::vector<std::string> options = {"-std=c++20", "-O1", "-g1"};
  if (const char *architecture = architectureOption())
    options.push_back(architecture);
  for (const char *option :
       {"-fPIC", "-shared", "-pipe", "-nostdinc", "-nostdlib", "-fno-exceptions", "-fno-rtti",
        "-fvisibility=hidden", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno",
        "-fno-optimize-sibling-calls", "-w"})
    options.push_back(option);
  if (checked)
    for (const char *option :
         {"-fsanitize=thread", "-fsanitize=alignment,bounds,shift,signed-integer-overflow,"
                               "integer-divide-by-zero,float-cast-overflow"})
      options.push_back(option);
  // Calls that clang makes one of several have no line.
  if (version.find("clang") != std::string::npos)
    for (const char *option : {"-mllvm", "-enable-tail-merge=false"})
      options.push_back(option);
  options.push_back("-I.");
  return options;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

static bool isIdentifier(std::string_view text) {
  for (char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_')
      return false;
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]));
}

/// The text without comments and literals, which may name what they do not define.
static std::string codeOf(std::string_view source) {
  std::string code;
  for (size_t i = 0; i < source.size();) {
    std::string_view rest = source.substr(i);
    size_t end = 1;
    if (rest.substr(0, 2) == "//") {
      end = rest.find('\n');
    } else if (rest.substr(0, 2) == "/*") {
      end = rest.find("*/", 2);
      end = end == std::string_view::npos ? end : end + 2;
    } else if (rest[0] == '"') {
      while (end < rest.size() && rest[end] != '"')
        end += rest[end] == '\\' ? 2 : 1;
      ++end;
    } else {
      code += rest[0];
      ++i;
      continue;
    }
    code += ' ';
    i += std::min(end, rest.size());
  }
  return code;
}

std::vector<std::string> swage::simt::kernelNames(std::string_view text) {
  const std::string code = codeOf(text);
  const std::string_view source = code;
  std::vector<std::string> names;
  const std::string_view marker = "__global__";
  for (size_t at = source.find(marker); at != std::string_view::npos;
       at = source.find(marker, at + 1)) {
    // The identifier in front of the parameters, past attributes that have parentheses themselves.
    std::string word;
    for (size_t i = at + marker.size(); i < source.size(); ++i) {
      char c = source[i];
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        bool continues = i > 0 && (std::isalnum(static_cast<unsigned char>(source[i - 1])) ||
                                   source[i - 1] == '_');
        word = continues ? word + c : std::string(1, c);
        continue;
      }
      if (c == '(' && word.substr(0, 2) == "__") {
        for (int depth = 0; i < source.size(); ++i) {
          depth += (source[i] == '(') - (source[i] == ')');
          if (depth == 0)
            break;
        }
        continue;
      }
      // Declared and defined, it is still one.
      if (c == '(' && isIdentifier(word) && word != "void" &&
          std::find(names.begin(), names.end(), word) == names.end())
        names.push_back(word);
      if (!std::isspace(static_cast<unsigned char>(c)))
        break;
    }
  }
  return names;
}

static std::string stringLiteral(std::string_view text) {
  std::string literal = "\"";
  for (unsigned char c : text) {
    if (c == '\n')
      literal += "\\n";
    else if (c == '"' || c == '\\')
      (literal += '\\') += char(c);
    else if (c < 0x20 || c == '?') // '?' could begin a trigraph
      literal += fmt::format("\\{:03o}", c);
    else
      literal += char(c);
  }
  return literal + "\"";
}

/// A file name of our own making: what a request is called must not lead elsewhere.
static std::string kernelFileName(const std::string &name) {
  std::string file;
  for (char c : std::filesystem::path(name).filename().string())
    file += std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-+", c) ? c : '_';
  bool usable = file.size() > 3 && file.size() < 200 && file[0] != '.' && file[0] != '-' &&
                file.substr(file.size() - 3) == ".cu";
  return usable ? file : "kernel.cu";
}

static std::string frame(const CompileRequest &request, const std::string &file,
                         const std::vector<std::string> &kernels) {
  std::string exports;
  for (const std::string &kernel : kernels)
    exports += fmt::format(",\n                  SWAGE_SIMT_KERNEL({})", kernel);
  return fmt::format("#include \"swage/device/cpu/module.cuh\"\n"
                     "#include \"{}\"\n"
                     "SWAGE_SIMT_MODULE({}{})\n",
                     file, stringLiteral(request.source), exports);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The headers that `text` includes, and those that they include, by name.
static void addIncluded(std::string_view text, const std::map<std::string_view, size_t> &known,
                        const CompileRequest &request, std::map<std::string_view, size_t> &found) {
  const std::string_view directive = "#include \"";
  for (size_t at = text.find(directive); at != std::string_view::npos;
       at = text.find(directive, at + 1)) {
    size_t begin = at + directive.size();
    auto header = known.find(text.substr(begin, text.find('"', begin) - begin));
    if (header != known.end() && found.insert(*header).second)
      addIncluded(request.headers[header->second].second, known, request, found);
  }
}

/// A file in a directory of ours, which nobody watches: no need for writeFile's care.
static Status writeNew(const std::string &path, const std::string &text) {
  std::FILE *file = std::fopen(path.c_str(), "wbx");
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file && std::fclose(file) != 0)
    written = false;
  if (written)
    return {};
  return makeError(Stage::Compile,
                   fmt::format("cannot write '{}': {}", printable(path), std::strerror(errno)));
}

static Status writeSources(const std::string &directory, const CompileRequest &request,
                           const std::string &file, const std::string &frameText) {
  std::map<std::string_view, size_t> known, used;
  for (size_t i = 0; i < request.headers.size(); ++i)
    known.emplace(request.headers[i].first, i);
  addIncluded(frameText, known, request, used);
  addIncluded(request.source, known, request, used);
  std::string made;
  for (const auto &[name, index] : used) {
    std::filesystem::path path(name);
    bool leadsOut = path.is_absolute();
    for (const std::filesystem::path &part : path)
      leadsOut |= part == "..";
    if (leadsOut)
      return makeError(Stage::Compile, fmt::format("a header is called '{}'; needed: a path below "
                                                   "the templates",
                                                   printable(name)));
    if (std::string parent = path.parent_path().string(); parent != made) {
      std::error_code error;
      std::filesystem::create_directories(directory + "/" + parent, error);
      made = parent;
    }
    if (Status written =
            writeNew(directory + "/" + std::string(name), request.headers[index].second);
        !written)
      return written;
  }
  if (Status written = writeNew(directory + "/" + file, request.source); !written)
    return written;
  return writeNew(directory + "/frame.cpp", frameText);
}

/// What to do about a kernel in plain CUDA; "" about others.
static std::string hintFor(std::string_view source) {
  const std::string code = codeOf(source);
  for (const char *name : {"threadIdx", "blockIdx", "__shared__", "__syncthreads", "__shfl", "asm"})
    if (code.find(name) != std::string::npos)
      return fmt::format("; it uses '{}', and the simulator knows the functions of "
                         "swage/device/*.cuh instead: threadIndex(), barrier(), arena<>(), ...",
                         name);
  return "";
}

Expected<KernelBinary> HostCompiler::compile(const CompileRequest &request) const {
  std::vector<std::string> kernels = {request.entry};
  if (request.entry.empty())
    kernels = kernelNames(request.source);
  if (kernels.empty())
    return makeError(Stage::Compile,
                     fmt::format("'{}' holds no __global__ function", printable(request.name)));
  for (const std::string &kernel : kernels)
    if (!isIdentifier(kernel))
      return makeError(Stage::Compile,
                       fmt::format("'{}' is no name of a kernel", printable(kernel)));

  TemporaryDirectory directory;
  if (directory.path().empty())
    return makeError(Stage::Compile, fmt::format("cannot make a temporary directory to compile "
                                                 "'{}' in: {}",
                                                 printable(request.name), std::strerror(errno)));
  std::string file = kernelFileName(request.name);
  if (Status written = writeSources(directory.path(), request, file, frame(request, file, kernels));
      !written)
    return written.takeError();

  auto options = this->options(request);
  if (!options)
    return options.takeError();
  std::vector<std::string> command = {name};
  command.insert(command.end(), options->begin(), options->end());
  // Where it was compiled is not in the result: equal compiles leave equal bytes in the cache.
  command.push_back("-ffile-prefix-map=" + directory.path() + "=.");
  command.insert(command.end(), {"frame.cpp", "-o", "module.so", "-Wl,--as-needed", "-lm"});
  bool isClang = version.find("clang") != std::string::npos;
  if (!isClang)
    command.push_back("-lgcc"); // what 128-bit integers need
  SubprocessOutcome outcome = runProgram(command, directory.path(), limit);
  KernelBinary binary;
  binary.name = request.entry;
  binary.arch = std::string(kSimulatedArch) + request.arch;
  binary.log = outcome.output;
  auto image = outcome.succeeded() ? readFile(directory.path() + "/module.so") : std::string();
  if (!image || image->empty())
    return makeError(Stage::Compile,
                     fmt::format("{} cannot compile '{}' for the simulator: it {}{}{}", version,
                                 printable(request.name), outcome.str(),
                                 outcome.succeeded() ? " and left no module" : "",
                                 hintFor(request.source)),
                     binary.log);
  binary.image = std::move(*image);
  return binary;
}
