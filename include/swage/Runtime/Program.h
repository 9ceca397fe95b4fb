//===- Program.h - A graph that runs with any shapes ----------------------===//
//
// A Program holds variants: kernels compiled for an architecture and for guards on shapes and
// alignment.  A call finds the variant whose guards hold, and the plan for its exact shapes; both
// are made on first need, and only a shape outside of all guards compiles.
//
//   auto program = swage::Program::parse(text);             // or load, without the compiler
//   program->warmup(device, {{{1, 768}}, {{4096, 768}}});   // compile now, in parallel
//   program->run(device, stream, inputs, 1, outputs, 1, workspace, workspaceBytes);
//
// A host that knows its shapes takes the plan and launches it itself:
//
//   auto plan = program->plan(device, {{4096, 768}, {768}});
//   plan->launch(stream, inputs, outputs, workspace);
//
// Programs are shared, copies are cheap, and all members are safe to use from several threads.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_PROGRAM_H
#define SWAGE_RUNTIME_PROGRAM_H

#include "swage/Runtime/Bundle.h"
#include "swage/Runtime/Context.h"
#include "swage/Support/Api.h"

namespace swage {

struct CompileOptions; // swage/JIT/Program.h
class Executable;
struct ProgramIR; // swage/JIT/ProgramIR.h

struct ParseOptions {
  std::string filename = "<input>"; ///< for messages
  std::string entry = "main";
};

/// A tensor of the caller, on the device.
struct TensorView {
  void *data = nullptr;
  ElementType type = ElementType::F32;
  unsigned rank = 0;
  const int64_t *shape = nullptr;   ///< `rank` extents
  const int64_t *strides = nullptr; ///< in elements; null: row-major without gaps
};

enum class PlanMode {
  Blocking, ///< what is missing is compiled, now
  /// Nothing is compiled.  Any variant whose guards hold serves, also a weaker one than Blocking
  /// makes, and then its plan is the one of these shapes; what is missing is an error that names
  /// it.
  CachedOnly,
};

/// Which kernels serve some shapes, and what it would take.
struct SWAGE_API Explanation {
  bool hasPlan = false;    ///< the next call costs a lookup
  bool hasVariant = false; ///< no kernel would be compiled
  Guards guards;           ///< of the variant that serves, or would be made
  /// Empty if there is a variant; else why none serves: for the nearest one, the first guard that
  /// does not hold, with both values.
  std::string reason;
  std::vector<std::string> kernels; ///< "row_3f2a91c0: #swage.row_schedule<...>", where known
  /// Of the variant that serves: what a caller must bring, and the most bytes of it in use at once.
  uint64_t workspaceBytes = 0, workspaceLowerBound = 0;
  std::vector<TensorType> inputs; ///< of the program, as declared
  std::string str() const;        ///< for people, several lines
};

/// How the kernels for some shapes came to be.
struct Artifact {
  Guards guards;
  std::vector<std::pair<std::string, std::string>> passes; ///< name and the IR after it
  struct OfKernel {
    KernelInfo info;  ///< with CUDA source, and the binary's resources, log and PTX
    std::string key;  ///< of the cache entry
    std::string sass; ///< empty without a disassembler; `sassProblem` says why
    std::string sassProblem;
  };
  std::vector<OfKernel> kernels;
  double lowerMilliseconds = 0, compileMilliseconds = 0;
};

/// Where variants come from: the compiler, or a bundle.  Safe to use from several threads.
class SWAGE_API VariantSource {
public:
  virtual ~VariantSource() = default;
  /// Which guards are worth having; one for each dynamic extent of the inputs.
  virtual Expected<std::vector<ExtentNeeds>> needs() = 0;
  /// The variant with these guards: it is found again by them.  Called outside of locks and once
  /// for equal guards at a time; `reason` is for events.
  virtual Expected<std::shared_ptr<const Variant>> make(const Guards &guards,
                                                        const std::string &reason) = 0;
  virtual Expected<Artifact> artifact(const Guards &guards) = 0;
  /// Whether `make` takes long.  Else any variant that serves is used, not only the one made for a
  /// call's own classes.
  virtual bool compiles() const { return true; }
  /// The graph, where there is one.
  virtual ProgramIR *ir() { return nullptr; }
};

class SWAGE_API Program {
public:
  /// Parses and verifies a module.  Text from anywhere: whatever is wrong with it is an error.
  /// Defined in libswage; libswage_runtime only loads bundles.
  static Expected<Program> parse(std::string_view text, const ParseOptions &options = {},
                                 const Context &context = Context::process());
  /// A program saved by `save`.  Shapes outside of what it was saved for are errors.
  static Expected<Program> load(const std::string &path,
                                const Context &context = Context::process());
  /// From any source of variants.
  static Program create(std::string name, std::vector<TensorType> inputs,
                        std::vector<TensorType> results, std::shared_ptr<VariantSource> source,
                        const Context &context);

  const std::string &name() const;
  const std::vector<TensorType> &inputs() const;
  const std::vector<TensorType> &results() const;
  const Context &context() const;

  /// The plan for these shapes and addresses aligned to 16 bytes, or to `alignment`: one for all
  /// tensors or one for each input and then each result, powers of two.
  Expected<Plan> plan(const Device &device, const std::vector<Dims> &inputs,
                      PlanMode mode = PlanMode::Blocking,
                      const std::vector<uint8_t> &alignment = {}) const;

  /// Checks the tensors, finds the plan and launches it.  The workspace holds `workspaceBytes`
  /// bytes, at least those of the plan; it may be null when the plan needs none.  Where something
  /// is missing it is compiled first; under stream capture that is an error that names what
  /// `warmup` to call.  On a default stream (null, or CUDA's names 1 and 2) the device's context is
  /// made current for the call.
  Status run(const Device &device, cuda::StreamHandle stream, const TensorView *inputs,
             size_t inputCount, const TensorView *outputs, size_t outputCount, void *workspace,
             uint64_t workspaceBytes) const;

  /// Shapes of the results.  Needs a variant for any architecture; makes one for `device` if there
  /// is none.
  Expected<std::vector<Dims>> resultShapes(const Device &device,
                                           const std::vector<Dims> &inputs) const;

  /// Whether a plan for these shapes would compile nothing.
  bool isReady(const Device &device, const std::vector<Dims> &inputs) const;
  Expected<Explanation> explain(const Device &device, const std::vector<Dims> &inputs) const;

  /// Compiles, loads and plans what these shapes need at addresses aligned to 16 bytes, several
  /// kernels at once.
  Status warmup(const Device &device, const std::vector<std::vector<Dims>> &shapes) const;

  /// How the kernels for these shapes came to be; compiles again what the cache does not have.
  Expected<Artifact> artifact(const Device &device, const std::vector<Dims> &inputs) const;

  /// Writes a bundle with the variants that these shapes need on these architectures ("sm_90a",
  /// "sm_80", "sim:sm_90a"), and with those for any number of rows and queries where these are for
  /// few.
  Status save(const std::string &path, const std::vector<std::string> &archs,
              const std::vector<std::vector<Dims>> &shapes) const;

  /// Ahead of any shape and for explicit options; see swage/JIT/Program.h.  An error for a bundle.
  Expected<Executable> compile(const CompileOptions &options) const;
  Expected<Executable> compile() const;
  /// The graph, for tools: see swage/JIT/ProgramIR.h.  Null for a bundle.
  ProgramIR *ir() const;

  struct State;

private:
  explicit Program(std::shared_ptr<State> state) : state(std::move(state)) {}
  std::shared_ptr<State> state;
};

} // namespace swage

#endif // SWAGE_RUNTIME_PROGRAM_H
