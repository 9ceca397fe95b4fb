//===- Program.h - Programs from text, and their kernels ahead of shapes --===//
//
// Program::parse and GraphBuilder are libswage's ways to a Program (swage/Runtime/Program.h), which
// compiles what calls need.  A tool that looks at kernels before there is any shape, or that wants
// options of its own, compiles an Executable:
//
//   auto program = swage::Program::parse(text);
//   auto executable = program->compile();                    // needs NVRTC, no GPU
//   auto plan = executable->plan(device, {{8192, 768}, {768}, {768}});
//   plan->launch(stream, inputs, outputs, workspace);
//
// No MLIR type is visible here.  All of them are cheap to copy and safe to use from several
// threads.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_JIT_PROGRAM_H
#define SWAGE_JIT_PROGRAM_H

#include "swage/Runtime/KernelCache.h"
#include "swage/Runtime/Program.h"
#include "swage/Support/KernelCompiler.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swage {

struct CompileOptions {
  std::string arch = "sm_90a";
  bool fuse = true;  ///< otherwise one kernel for each op
  int indexBits = 0; ///< 32 or 64; 0: 32 wherever offsets fit
  /// Alignment in bytes of the caller's addresses: one for all, or one for each argument and then
  /// for each result; empty: 16.
  std::vector<int64_t> alignment;
  /// Of the inputs: the kernels are those that Program::plan takes for these shapes, and serve all
  /// shapes of the same classes.  Empty: they serve any.
  std::vector<Dims> shapes;
  /// Name of the GPU, if it is known: of tuned schedules, those for it come first.
  std::string device;
  /// "kernel=#swage.row_schedule<...>;...": instead of those that are selected or were tuned.  One
  /// that the kernel's verifier refuses is left out, with a remark.
  std::string schedules;
  /// Null: NVRTC, for a GPU.  The simulator's: simulatorCompiler in swage/Simt/Simulator.h.
  std::shared_ptr<const KernelCompiler> compiler;
  std::shared_ptr<KernelCache> cache; ///< null: the one of the program's context
  /// Of this, what is dumped and overridden, and the disassembler; a host may change its copy.
  Options environment = Options::get();
  std::string templateDir; ///< instead of the templates inside of the library
  unsigned threads = 0;    ///< that compile, of those of the context; 0: all of them
  /// Told about stages that take longer than a second, from another thread.
  std::function<void(const std::string &)> progress;
};

class SWAGE_API Executable {
public:
  // Large shapes have kernels of their own: for what a layout uses, give its indexBits.
  /// In the order of their first launch.
  const std::vector<KernelInfo> &kernels(int indexBits = 32) const;
  /// What the passes decided and why, with locations.
  const std::vector<std::string> &remarks(int indexBits = 32) const;
  /// "line:column" of the graph values that go through memory between two kernels.
  const std::vector<std::string> &storedLocations(int indexBits = 32) const;

  Expected<std::vector<Dims>> shapes(const std::vector<Dims> &inputs) const;

  /// Checks the shapes of the inputs and lays out launches and workspace.  Compiles nothing, with
  /// one exception: offsets that no longer fit 32 bits need kernels with 64-bit indices, which are
  /// compiled once and kept.
  Expected<Layout> layout(const std::vector<Dims> &inputs) const;

  /// The launches for these shapes, ready to go.
  Expected<Plan> plan(const Device &device, const std::vector<Dims> &inputs) const;
  /// One launch of a layout of this executable by itself: its tensors are the plan's inputs and
  /// outputs.
  Expected<Plan> planLaunch(const Device &device, const Layout &layout, size_t launch) const;
  /// What serves layouts of this width, as plain data.
  std::shared_ptr<const Variant> variant(int indexBits = 32) const;

  struct State;
  explicit Executable(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

} // namespace swage

#endif // SWAGE_JIT_PROGRAM_H
