//===- Module.cpp - A compiled kernel in this process ---------------------===//

#include "Module.h"

#include "LineTable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace swage;
using namespace swage::simt;

/// The bytes and their line table, read on the first question about a line.
struct Module::Symbols {
  std::string image;
  uint64_t loadBase = 0;
  bool tried = false;
  std::unique_ptr<LineTable> lines;
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

namespace {
struct Extent {
  const ModuleInfo *inside;
  uint64_t base = 0;
  const char *begin = nullptr, *end = nullptr;
};
} // namespace

/// The mapped segments of the object that holds extent.inside.
static int findExtent(dl_phdr_info *object, size_t, void *data) {
  auto &extent = *static_cast<Extent *>(data);
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto &segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD)
      continue;
    uintptr_t at = object->dlpi_addr + segment.p_vaddr;
    low = std::min(low, at);
    high = std::max<uintptr_t>(high, at + segment.p_memsz);
  }
  auto address = reinterpret_cast<uintptr_t>(extent.inside);
  if (address < low || address >= high)
    return 0;
  extent.base = object->dlpi_addr;
  extent.begin = reinterpret_cast<const char *>(low);
  extent.end = reinterpret_cast<const char *>(high);
  return 1;
}

/// A file in memory with these bytes; -1 on failure.
static int makeMemoryFile(std::string_view bytes) {
  int file = memfd_create("swage-kernel", MFD_CLOEXEC);
  while (file >= 0 && !bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0) {
      close(file);
      return -1;
    }
    bytes.remove_prefix(size_t(written));
  }
  return file;
}

/// A name of the file that no other module has had: the loader takes two files of one name for the
/// same, and numbers of files are used again. The dots and slashes are the digits of a count.
static std::string uniquePath(int file) {
  static std::atomic<unsigned> count{0};
  std::string path = "/proc/self/fd";
  for (unsigned rest = count++; rest; rest /= 2)
    path += rest % 2 ? "/." : "/";
  return fmt::format("{}/{}", path, file);
}

Expected<std::shared_ptr<Module>> Module::load(std::string_view image) {
  if (image.substr(0, 4) != "\177ELF")
    return makeError(Stage::Load, "not a module for the simulator");
  int file = makeMemoryFile(image);
  if (file < 0)
    return makeError(Stage::Load, fmt::format("cannot hold a module of {} bytes in memory: {}",
                                              image.size(), std::strerror(errno)));
  std::string path = uniquePath(file);
  std::shared_ptr<Module> module(new Module);
  module->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string problem = module->handle ? "" : dlerror();
  close(file);
  if (!module->handle)
    return makeError(Stage::Load, fmt::format("cannot load a simulated kernel: {}", problem));
  module->moduleInfo = static_cast<const ModuleInfo *>(dlsym(module->handle, "swageSimtModule"));
  if (!module->moduleInfo)
    return makeError(Stage::Load, "not a module for the simulator: it exports no swageSimtModule");
  if (module->moduleInfo->version != kVersion)
    return makeError(Stage::Load,
                     fmt::format("a module for version {} of the simulator; this is version {}",
                                 module->moduleInfo->version, kVersion));
  Extent extent{module->moduleInfo};
  dl_iterate_phdr(findExtent, &extent);
  module->begin = extent.begin;
  module->end = extent.end;
  module->symbols = std::make_unique<Symbols>();
  module->symbols->image = image;
  module->symbols->loadBase = extent.base;
  return module;
}

Module::~Module() {
  if (handle)
    dlclose(handle);
}

const KernelInfo *Module::find(std::string_view kernel) const {
  for (unsigned i = 0; i < moduleInfo->kernels; ++i)
    if (kernel == moduleInfo->kernel[i].name)
      return &moduleInfo->kernel[i];
  return nullptr;
}

bool Module::contains(const void *address) const {
  return address >= static_cast<const void *>(begin) && address < static_cast<const void *>(end);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static std::string baseName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

static bool isKernelFile(const std::string &path) {
  return path.size() > 3 && path.compare(path.size() - 3, 3, ".cu") == 0;
}

static CodeLine describeFrame(const LineTable::Frame &frame) {
  CodeLine line;
  line.file = baseName(frame.path);
  line.line = frame.line;
  // Without namespaces, template arguments and parameters.
  std::string name = frame.function.substr(0, frame.function.find_first_of("<("));
  size_t colons = name.rfind("::");
  line.function = colons == std::string::npos ? name : name.substr(colons + 2);
  return line;
}

std::vector<CodeLine> Module::lines(const void *code) const {
  if (!contains(code))
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  auto found = known.find(code);
  if (found != known.end())
    return found->second;
  if (!symbols->tried) {
    symbols->tried = true;
    symbols->lines = LineTable::read(symbols->image);
  }
  std::vector<CodeLine> result;
  if (symbols->lines) {
    // The call itself lies before the address to which it returns.
    uint64_t address = reinterpret_cast<uintptr_t>(code) - symbols->loadBase - 1;
    for (const LineTable::Frame &frame : symbols->lines->framesAt(address)) {
      // The message names the wrapper that was called; how it does its work is of no interest.
      bool isWrapper = frame.path.find("/device/cpu/") != std::string::npos;
      if (frame.line != 0 && !isWrapper)
        result.push_back(describeFrame(frame));
      if (isKernelFile(frame.path))
        break; // around it is only the module's frame
    }
  }
  known[code] = result;
  return result;
}

bool Module::samePlace(const void *a, const void *b) const {
  if (a == b)
    return true;
  std::vector<CodeLine> left = lines(a), right = lines(b);
  if (left.empty() || left.size() != right.size())
    return left.empty() && right.empty();
  for (size_t i = 0; i < left.size(); ++i)
    if (left[i].line != right[i].line || left[i].file != right[i].file)
      return false;
  return true;
}

static std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos)
    return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

static std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// What follows "//".
static std::string commentOf(std::string_view line) {
  size_t comment = line.find("//");
  return comment == std::string_view::npos ? "" : trimmed(line.substr(comment + 2));
}

/// A place that belongs to no op in particular belongs to the kernel, whose header names its ops:
/// "@name: ops", continued on lines with a larger indent.
static std::string opsOfKernel(const std::vector<std::string_view> &text,
                               const std::string &kernel) {
  std::string header = fmt::format("// @{}: ", kernel);
  std::string ops;
  for (std::string_view line : text) {
    if (ops.empty() && line.substr(0, header.size()) == header)
      ops = trimmed(line.substr(header.size()));
    else if (!ops.empty() && line.substr(0, 5) == "//   ")
      ops += " " + trimmed(line.substr(5));
    else if (!ops.empty())
      break;
  }
  return ops;
}

void Module::describe(Finding &finding) const {
  finding.place.lines = lines(finding.place.code);
  for (RelatedPlace &related : finding.related)
    related.place.lines = lines(related.place.code);
  std::vector<std::string_view> text = splitLines(moduleInfo->source);
  for (const CodeLine &line : finding.place.lines) {
    if (!isKernelFile(line.file))
      continue;
    std::string_view there = line.line <= text.size() ? text[line.line - 1] : "";
    finding.kernelLine = fmt::format("{}:{}", line.file, line.line);
    finding.kernelText = trimmed(there.substr(0, there.find("//")));
    finding.op = commentOf(there);
  }
  if (finding.op.empty())
    finding.op = opsOfKernel(text, finding.kernel);
}
