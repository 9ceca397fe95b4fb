//===- Nvrtc.cpp - CUDA source to machine code ----------------------------===//
//
// Finds NVRTC, asks it what it is and what it knows, and compiles with the one option list of this
// file.  To open it takes as long as to start from a warm cache, so it is found, and its build-id
// read, without; whatever is opened afterwards is that file.
//
//===----------------------------------------------------------------------===//
#include "swage/JIT/Nvrtc.h"
#include "FindLibrary.h"
#include "swage/Support/BuildId.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>
#include <mutex>
#include <unistd.h>

using namespace swage;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

struct Program_st;
using ProgramHandle = Program_st *;

// SWAGE_NVRTC_FUNCTION(symbol, parameters), all of them in every NVRTC since 11.2; each returns
// nvrtcResult.
#define SWAGE_NVRTC_FUNCTIONS(SWAGE_NVRTC_FUNCTION)                                                \
  SWAGE_NVRTC_FUNCTION(nvrtcVersion, (int *, int *))                                               \
  SWAGE_NVRTC_FUNCTION(nvrtcGetNumSupportedArchs, (int *))                                         \
  SWAGE_NVRTC_FUNCTION(nvrtcGetSupportedArchs, (int *))                                            \
  SWAGE_NVRTC_FUNCTION(nvrtcCreateProgram, (ProgramHandle *, const char *, const char *, int,      \
                                            const char *const *, const char *const *))             \
  SWAGE_NVRTC_FUNCTION(nvrtcDestroyProgram, (ProgramHandle *))                                     \
  SWAGE_NVRTC_FUNCTION(nvrtcCompileProgram, (ProgramHandle, int, const char *const *))             \
  SWAGE_NVRTC_FUNCTION(nvrtcGetCUBINSize, (ProgramHandle, size_t *))                               \
  SWAGE_NVRTC_FUNCTION(nvrtcGetCUBIN, (ProgramHandle, char *))                                     \
  SWAGE_NVRTC_FUNCTION(nvrtcGetPTXSize, (ProgramHandle, size_t *))                                 \
  SWAGE_NVRTC_FUNCTION(nvrtcGetPTX, (ProgramHandle, char *))                                       \
  SWAGE_NVRTC_FUNCTION(nvrtcGetProgramLogSize, (ProgramHandle, size_t *))                          \
  SWAGE_NVRTC_FUNCTION(nvrtcGetProgramLog, (ProgramHandle, char *))

/// nvrtcResult.
enum Result : int { kSuccess = 0, kBuiltinOperationFailure = 7 };

struct Nvrtc::State {
  std::string path;
  std::string buildId; ///< empty: it has none, and its version says which it is
  NvrtcVersion version;
  mutable std::once_flag hasBuild; ///< of the version, which takes a compile
  std::vector<std::string> archs;
  const char *(*nvrtcGetErrorString)(Result) = nullptr;
#define SWAGE_NVRTC_FUNCTION(NAME, PARAMETERS) Result(*NAME) PARAMETERS = nullptr;
  SWAGE_NVRTC_FUNCTIONS(SWAGE_NVRTC_FUNCTION)
#undef SWAGE_NVRTC_FUNCTION

  std::vector<std::string> flags(const std::string &arch) const;
  int queryBuild() const;
  /// Runs the compiler; the program is live while `use` runs, which sees the result and the log.
  template <class Use>
  Status withProgram(const CompileRequest &request, const std::vector<std::string> &options,
                     Use use) const;
};

static const char kNeeded[] = "needed: NVRTC 12.4 or newer, from a CUDA toolkit or the Python "
                              "package nvidia-cuda-nvrtc, or SWAGE_NVRTC naming the library or its "
                              "directory";
static const char *const kSonames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

static std::vector<std::string> expand(const std::string &pattern) {
  std::vector<std::string> paths;
  glob_t found = {};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  // The newest first.
  std::reverse(paths.begin(), paths.end());
  return paths;
}

/// The files to try, in order.
static std::vector<std::string> candidates(const std::string &path) {
  std::vector<std::string> directories;
  std::vector<std::string> files;
  if (path.empty()) {
    for (const char *soname : kSonames)
      if (isLoaded(soname))
        files.push_back(soname);
      else if (std::string file = findLibrary(soname); !file.empty())
        files.push_back(file);
    for (const char *pattern :
         {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64",
          "/usr/local/lib/python3*/*-packages/nvidia/cu*/lib",
          "/usr/lib/python3*/*-packages/nvidia/cu*/lib"})
      for (const std::string &directory : expand(pattern))
        directories.push_back(directory);
  } else {
    bool isDirectory = access((path + "/.").c_str(), F_OK) == 0;
    if (!isDirectory)
      return {path};
    for (const char *layout : {"", "/lib64", "/lib", "/nvidia/cu13/lib", "/nvidia/cuda_nvrtc/lib"})
      directories.push_back(path + layout);
  }
  for (const std::string &directory : directories)
    for (const char *soname : kSonames)
      if (std::string file = directory + "/" + soname; access(file.c_str(), R_OK) == 0)
        files.push_back(file);
  // What the loader has ways to find that are not known here.
  if (path.empty())
    files.insert(files.end(), std::begin(kSonames), std::end(kSonames));
  return files;
}

/// A compile takes and frees some 10 MB, which glibc by default gives back to the system and asks
/// for again, a page fault every 4 KB: a fifth of a small kernel's time.  After a block of nearly
/// 32 MB has been freed it keeps up to 64 MB (mallopt(3), M_MMAP_THRESHOLD), unless the process has
/// chosen otherwise.  Nothing of the block is ever touched; other allocators make nothing of it.
static void keepFreedMemory() {
  void *volatile block = std::malloc((32 << 20) - (64 << 10));
  std::free(block);
}

Nvrtc::Nvrtc(std::unique_ptr<State> state) : state(std::move(state)) {}
Nvrtc::~Nvrtc() = default;

Expected<std::shared_ptr<const Nvrtc>> Nvrtc::load(const std::string &path) {
  auto state = std::make_unique<State>();
  void *library = nullptr;
  std::string reason;
  keepFreedMemory();
  for (const std::string &file : candidates(path)) {
    // Never closed: a second load in one process costs as much as the first and gains nothing.
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    if (reason.empty())
      reason = dlerror();
  }
  if (!library && reason.empty())
    reason = fmt::format("no {} or {} in '{}'", kSonames[0], kSonames[1], printable(path));
  if (!library)
    return makeError(Stage::Load, fmt::format("NVRTC: {}; {}", reason, kNeeded));

  const char *missing = nullptr;
  auto resolve = [&](auto &function, const char *name) {
    void *symbol = dlsym(library, name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
    if (!symbol && !missing)
      missing = name;
  };
  resolve(state->nvrtcGetErrorString, "nvrtcGetErrorString");
#define SWAGE_NVRTC_FUNCTION(NAME, PARAMETERS) resolve(state->NAME, #NAME);
  SWAGE_NVRTC_FUNCTIONS(SWAGE_NVRTC_FUNCTION)
#undef SWAGE_NVRTC_FUNCTION
  Dl_info info = {};
  if (!missing && dladdr(reinterpret_cast<void *>(state->nvrtcVersion), &info))
    state->path = info.dli_fname;
  if (missing)
    return makeError(Stage::Load, fmt::format("NVRTC: the library lacks {}; {}", missing, kNeeded));

  int archCount = 0;
  if (state->nvrtcVersion(&state->version.major, &state->version.minor) != kSuccess ||
      state->nvrtcGetNumSupportedArchs(&archCount) != kSuccess)
    return makeError(Stage::Load,
                     fmt::format("NVRTC: '{}' does not tell its version", printable(state->path)));
  // Earlier ones have no __builtin_bit_cast.
  if (state->version.major < 12 || (state->version.major == 12 && state->version.minor < 4))
    return makeError(Stage::Load,
                     fmt::format("NVRTC: '{}' is version {}.{}; {}", printable(state->path),
                                 state->version.major, state->version.minor, kNeeded));
  std::vector<int> numbers(archCount);
  if (state->nvrtcGetSupportedArchs(numbers.data()) == kSuccess)
    for (int number : numbers)
      state->archs.push_back(fmt::format("sm_{}", number));
  state->buildId = buildIdAt(reinterpret_cast<void *>(state->nvrtcVersion));
  return std::shared_ptr<const Nvrtc>(new Nvrtc(std::move(state)));
}

/// Whether Nvrtc::get has an outcome.
static std::atomic<bool> isOpen{false};

Expected<std::shared_ptr<const Nvrtc>> Nvrtc::get() {
  // Leaked on purpose: compiles may run in threads that outlive our statics.
  static const auto *outcome =
      new Expected<std::shared_ptr<const Nvrtc>>(load(Options::get().nvrtc));
  isOpen = true;
  return *outcome;
}

std::string NvrtcVersion::str() const { return fmt::format("{}.{}.{}", major, minor, build); }

const NvrtcVersion &Nvrtc::version() const {
  std::call_once(state->hasBuild, [&] { state->version.build = state->queryBuild(); });
  return state->version;
}

static std::string identityOf(const std::string &build) { return "NVRTC " + build; }

std::string Nvrtc::identity() const {
  return identityOf(state->buildId.empty() ? version().str() : state->buildId);
}

const std::string &Nvrtc::path() const { return state->path; }
const std::vector<std::string> &Nvrtc::supportedArchs() const { return state->archs; }

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

namespace {
/// An option of every compile, from the version on that knows it.
struct VersionedOption {
  const char *text;
  int major = 0, minor = 0;
};
} // namespace

static constexpr VersionedOption kOptions[] = {
    {"-std=c++20"},
    // There is no other side here; the templates' generic lambdas cannot say so themselves.
    {"--device-as-default-execution-space"},
    // The standard headers built into NVRTC are not ours and cost more than most kernels.
    {"--minimal", 13, 0},
    // NVRTC's own cache would lose the report of ptxas.
    {"--no-cache", 12, 9},
    // Profilers and the sanitizer then point at source lines; the code is the same.
    {"-lineinfo"},
    {"--ptxas-options=-v"},
};

static std::string archOption(const std::string &arch) { return "--gpu-architecture=" + arch; }

/// For every version: which one it is goes into a key as the identity.
static std::vector<std::string> optionsForKey(const CompileRequest &request) {
  std::vector<std::string> options = {archOption(request.arch)};
  for (const VersionedOption &option : kOptions)
    options.push_back(option.major == 0
                          ? option.text
                          : fmt::format("{} from {}.{}", option.text, option.major, option.minor));
  return options;
}

Expected<std::vector<std::string>> Nvrtc::options(const CompileRequest &request) const {
  return optionsForKey(request);
}

/// `arch` is empty where nothing but the front end runs.
std::vector<std::string> Nvrtc::State::flags(const std::string &arch) const {
  std::vector<std::string> flags;
  if (!arch.empty())
    flags.push_back(archOption(arch));
  for (const VersionedOption &option : kOptions)
    if (std::pair(version.major, version.minor) >= std::pair(option.major, option.minor))
      flags.push_back(option.text);
  return flags;
}

Status Nvrtc::checkArch(const std::string &arch) const {
  size_t digits = std::min<size_t>(3, arch.size()); // past "sm_"
  while (digits < arch.size() && std::isdigit(static_cast<unsigned char>(arch[digits])))
    ++digits;
  std::string plain = arch.substr(0, digits);
  std::string suffix = arch.substr(digits);
  bool isKnown = std::find(state->archs.begin(), state->archs.end(), plain) != state->archs.end();
  if (!isKnown || (!suffix.empty() && suffix != "a" && suffix != "f"))
    return makeError(Stage::Compile,
                     fmt::format("NVRTC {} does not know architecture '{}'; it knows {}",
                                 version().str(), printable(arch), join(state->archs, ", ")));
  return {};
}

/// Text that NVRTC hands out in two calls, its size with the final zero first.
template <class Size, class Get>
static std::string fetch(Size getSize, Get get, ProgramHandle program, bool isText) {
  size_t size = 0;
  if (getSize(program, &size) != kSuccess || size == 0)
    return {};
  std::string bytes(size, '\0');
  if (get(program, bytes.data()) != kSuccess)
    return {};
  if (isText)
    bytes.resize(std::strlen(bytes.c_str()));
  return bytes;
}

template <class Use>
Status Nvrtc::State::withProgram(const CompileRequest &request,
                                 const std::vector<std::string> &options, Use use) const {
  std::vector<const char *> names, texts, flags;
  for (const auto &[name, text] : request.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  for (const std::string &option : options)
    flags.push_back(option.c_str());
  ProgramHandle program = nullptr;
  Result result = nvrtcCreateProgram(&program, request.source.c_str(), request.name.c_str(),
                                     int(names.size()), texts.data(), names.data());
  if (result != kSuccess)
    return makeError(Stage::Compile,
                     fmt::format("nvrtcCreateProgram: {}", nvrtcGetErrorString(result)));
  result = nvrtcCompileProgram(program, int(flags.size()), flags.data());
  use(program, result, fetch(nvrtcGetProgramLogSize, nvrtcGetProgramLog, program, true));
  nvrtcDestroyProgram(&program);
  return {};
}

/// The log without the time that ptxas took: equal compiles leave equal bytes in the cache.
static std::string withoutTimes(const std::string &log) {
  std::string kept;
  for (size_t begin = 0; begin < log.size();) {
    size_t end = std::min(log.find('\n', begin), log.size() - 1) + 1;
    std::string_view line = std::string_view(log).substr(begin, end - begin);
    if (line.find("Compile time =") == std::string_view::npos)
      kept += line;
    begin = end;
  }
  return kept;
}

/// NVRTC tells its build number only to the source that it compiles; the front end stops at the
/// assertion.
int Nvrtc::State::queryBuild() const {
  CompileRequest request;
  request.name = "build.cu";
  request.source = "#define SWAGE_TEXT_(x) #x\n"
                   "#define SWAGE_TEXT(x) SWAGE_TEXT_(x)\n"
                   "static_assert(false, \"build=\" SWAGE_TEXT(__CUDACC_VER_BUILD__));\n";
  int build = 0;
  Status status =
      withProgram(request, flags(/*arch=*/""), [&](ProgramHandle, Result, const std::string &log) {
        size_t place = log.find("build=");
        if (place != std::string::npos)
          build = std::atoi(log.c_str() + place + 6);
      });
  return status ? build : 0;
}

/// The source with its kernels' launch bounds asking a multiprocessor to hold one block less, or one at
/// least if they do not say; empty if they ask for no more than one.
static std::string withFewerBlocks(const std::string &source) {
  static const std::string_view begin = "__launch_bounds__(";
  std::string text;
  size_t done = 0;
  for (size_t at = source.find(begin); at != std::string::npos; at = source.find(begin, at + 1)) {
    size_t end = source.find(')', at), comma = source.find(',', at);
    if (end == std::string::npos)
      return {};
    int blocks = 2;
    if (comma < end && (blocks = std::atoi(source.c_str() + comma + 1)) <= 1)
      return {};
    text += source.substr(done, std::min(comma, end) - done) + ", " + std::to_string(blocks - 1);
    done = end;
  }
  return text.empty() ? text : text + source.substr(done);
}

/// Left to itself, ptxas may rather spill than take the registers of another block. A kernel with
/// spills is slower than one with fewer blocks.
Expected<KernelBinary> Nvrtc::compile(const CompileRequest &request) const {
  auto spilled = [](const KernelBinary &binary) {
    return binary.resources.spillStores + binary.resources.spillLoads;
  };
  Expected<KernelBinary> binary = compileOnce(request);
  if (!binary || spilled(*binary) == 0)
    return binary;
  CompileRequest fewer = request;
  fewer.source = withFewerBlocks(request.source);
  if (fewer.source.empty())
    return binary;
  Expected<KernelBinary> second = compileOnce(fewer);
  return second && spilled(*second) < spilled(*binary) ? std::move(second) : std::move(binary);
}

Expected<KernelBinary> Nvrtc::compileOnce(const CompileRequest &request) const {
  if (Status known = checkArch(request.arch); !known)
    return known.takeError();
  KernelBinary binary;
  binary.name = request.entry;
  binary.arch = request.arch;
  Status compiled;
  Status ran = state->withProgram(
      request, state->flags(request.arch),
      [&](ProgramHandle program, Result result, const std::string &log) {
        binary.log = withoutTimes(log);
        if (result != kSuccess) {
          compiled = makeError(
              Stage::Compile,
              fmt::format("NVRTC {} cannot compile '{}' for {}: {}{}", version().str(),
                          printable(request.name), request.arch, state->nvrtcGetErrorString(result),
                          result == kBuiltinOperationFailure
                              ? "; is libnvrtc-builtins next to " + state->path + "?"
                              : ""),
              binary.log);
          return;
        }
        binary.image = fetch(state->nvrtcGetCUBINSize, state->nvrtcGetCUBIN, program, false);
        if (request.wantPtx)
          binary.ptx = fetch(state->nvrtcGetPTXSize, state->nvrtcGetPTX, program, true);
        if (binary.image.empty())
          compiled = makeError(Stage::Compile,
                               fmt::format("NVRTC {} gave no machine code for '{}'",
                                           version().str(), printable(request.name)),
                               binary.log);
      });
  if (!ran)
    return ran.takeError();
  if (!compiled)
    return compiled.takeError();
  binary.resources = parsePtxasReport(binary.log, request.entry);
  return binary;
}

//===----------------------------------------------------------------------===//
// Before it is opened
//===----------------------------------------------------------------------===//

namespace {
/// Knows which file would be opened, which is all that finding kernels takes.
class UnopenedNvrtc : public KernelCompiler {
public:
  explicit UnopenedNvrtc(const std::string &buildId) : identityText(identityOf(buildId)) {}

  KernelTarget target() const override { return KernelTarget::Gpu; }
  std::string identity() const override { return identityText; }
  Expected<std::vector<std::string>> options(const CompileRequest &request) const override {
    return optionsForKey(request);
  }
  Expected<KernelBinary> compile(const CompileRequest &request) const override {
    auto opened = Nvrtc::get();
    if (!opened)
      return opened.takeError();
    if ((*opened)->identity() != identityText)
      return makeError(Stage::Load, fmt::format("'{}' is {}; needed: {}, as the file was before",
                                                printable((*opened)->path()), (*opened)->identity(),
                                                identityText));
    return (*opened)->compile(request);
  }

private:
  const std::string identityText;
};
} // namespace

/// The build-id of what `load` opens first; empty where only opening it tells.
static std::string findBuild(const std::string &path) {
  std::vector<std::string> files = candidates(path);
  return files.empty() || files.front().find('/') == std::string::npos
             ? std::string()
             : buildIdOfFile(files.front());
}

Expected<std::shared_ptr<const KernelCompiler>> Nvrtc::compiler() {
  // Once: the answer is part of the keys of a process.
  static const auto *unopened = [] {
    std::string build = isOpen ? std::string() : findBuild(Options::get().nvrtc);
    return new std::shared_ptr<const KernelCompiler>(
        build.empty() ? nullptr : std::make_shared<UnopenedNvrtc>(build));
  }();
  if (*unopened && !isOpen)
    return *unopened;
  auto opened = get();
  if (!opened)
    return opened.takeError();
  return std::shared_ptr<const KernelCompiler>(*opened);
}

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

/// The number that stands before the first `unit` of `text`, or 0.
static int numberBefore(std::string_view text, std::string_view unit) {
  size_t end = text.find(unit);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])))
    --begin;
  return std::atoi(std::string(text.substr(begin, end - begin)).c_str());
}

KernelResources swage::parsePtxasReport(const std::string &log, const std::string &entry) {
  // ptxas info    : Compiling entry function 'row' for 'sm_90a'
  // ptxas info    : Function properties for row
  //     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
  // ptxas info    : Used 24 registers, used 1 barriers, 528 bytes smem, 380 bytes cmem[0]
  KernelResources resources;
  size_t begin = log.find("Compiling entry function '" + entry + "'");
  if (begin == std::string::npos)
    return resources;
  std::string_view report = std::string_view(log).substr(begin + 1);
  report = report.substr(0, report.find("Compiling entry function"));
  // Functions that were not inlined have properties of their own; the kernel's come with its name.
  size_t properties = report.find("Function properties for " + entry + "\n");
  if (properties != std::string_view::npos) {
    std::string_view own = report.substr(properties);
    resources.stackFrame = numberBefore(own, " bytes stack frame");
    resources.spillStores = numberBefore(own, " bytes spill stores");
    resources.spillLoads = numberBefore(own, " bytes spill loads");
  }
  size_t used = report.find("Used ");
  if (used != std::string_view::npos) {
    std::string_view line = report.substr(used, report.find('\n', used) - used);
    resources.registers = numberBefore(line, " registers");
    resources.barriers = numberBefore(line, " barriers");
    resources.sharedBytes = numberBefore(line, " bytes smem");
  }
  return resources;
}
