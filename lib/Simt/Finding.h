//===- Finding.h - What the simulator found, and where --------------------===//
//
// A launch ends at its first finding.  The machine fills in addresses of code; Module::describe
// turns them into lines once the launch has stopped, so that nothing is paid for before.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_FINDING_H
#define SWAGE_LIB_SIMT_FINDING_H

#include <string>
#include <vector>

namespace swage::simt {

enum class FindingKind {
  SharedRace,    ///< accesses of shared memory that nothing orders
  MissingFence,  ///< an engine reads what threads wrote without fence.proxy.async between
  Uninitialized, ///< a read of shared memory that nothing has written
  OutOfBounds,
  Misaligned,
  ReadOnlyWrite, ///< a write through a pointer the kernel declares as const
  Undefined,     ///< integer overflow and what else UndefinedBehaviorSanitizer knows
  Divergence,    ///< threads that should meet in one place are in different ones
  Deadlock,
  BarrierMisuse,  ///< ids, counts and arrivals of barriers and mbarriers
  BadInstruction, ///< operands that the hardware forbids: descriptors, tensor maps, addresses
  EarlyAccess,    ///< of memory that grids before an overlapping launch may still use
  Crash,          ///< a signal: access to unmapped memory, stack overflow, division by zero
  NoProgress,     ///< threads that wait in a loop for what never comes
};

/// "shared-race", ...: stable names for tests and tools.
const char *name(FindingKind kind);

struct CodeLine {
  std::string file; ///< base name
  unsigned line = 0;
  std::string function;
};

/// A place in the kernel, with the calls that were inlined there.
struct CodePlace {
  const void *code = nullptr;  ///< return address; null: unknown
  std::vector<CodeLine> lines; ///< innermost first

  CodePlace() = default;
  CodePlace(const void *code) : code(code) {}
  /// "row.cuh:114, in row_softmax.cu:53"; "" when unknown.
  std::string str() const;
};

/// The other side of a finding: "the write by thread 17 (warp 0)".
struct RelatedPlace {
  std::string what;
  CodePlace place;
};

struct Finding {
  FindingKind kind = FindingKind::Crash;
  std::string message; ///< one sentence without a place
  std::string kernel;
  CodePlace place;
  std::string thread; ///< "block 3, thread 17 (warp 0, lane 17)"; empty: several
  std::vector<RelatedPlace> related;
  std::vector<std::string> details; ///< one line each: who waits for what
  /// Filled by Module::describe: the line of the .cu file, and the ops of the graph that its
  /// comments name.
  std::string kernelLine, kernelText, op;

  /// The report: several lines, the first complete by itself.
  std::string str() const;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_FINDING_H
