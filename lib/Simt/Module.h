//===- Module.h - A compiled kernel in this process -----------------------===//
//
// The shared object that HostCompiler makes of a .cu file, loaded from memory, with its line table.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_MODULE_H
#define SWAGE_LIB_SIMT_MODULE_H

#include "Finding.h"
#include "swage/Support/Error.h"
#include "swage/device/cpu/abi.cuh"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace swage::simt {

class Module {
public:
  /// Loads the bytes of a module; an error if they are not one, or one of another kVersion.
  static Expected<std::shared_ptr<Module>> load(std::string_view image);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const ModuleInfo &info() const { return *moduleInfo; }
  /// Null when there is none of this name.
  const KernelInfo *find(std::string_view kernel) const;
  /// Whether the address is in the module: its code, constants or static variables.
  bool contains(const void *address) const;
  uint64_t bytes() const { return uint64_t(end - begin); }
  const char *data() const { return begin; }

  /// The inlined calls at a return address, innermost first; empty when unknown.  Needs a large
  /// stack: not to be called on a fiber (see Worker::onMainStack).
  std::vector<CodeLine> lines(const void *code) const;
  /// Whether two addresses are copies of the same place in the source.
  bool samePlace(const void *a, const void *b) const;
  /// Fills the lines and the op of every place in the finding.
  void describe(Finding &finding) const;

private:
  Module() = default;

  struct Symbols;
  void *handle = nullptr;
  const ModuleInfo *moduleInfo = nullptr;
  const char *begin = nullptr, *end = nullptr;
  std::unique_ptr<Symbols> symbols;
  mutable std::mutex mutex;
  mutable std::map<const void *, std::vector<CodeLine>> known;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_MODULE_H
