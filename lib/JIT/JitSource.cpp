//===- JitSource.cpp - Variants from the compiler -------------------------===//

#include "JitSource.h"

#include "ExecutableState.h"

#include <chrono>

using namespace swage;

namespace {
class JitSource : public VariantSource {
public:
  JitSource(std::shared_ptr<ProgramIR> program, const Context &context)
      : program(std::move(program)), context(context) {}

  Expected<std::vector<ExtentNeeds>> needs() override {
    return analyzeNeeds(*program, context.cache());
  }

  Expected<std::shared_ptr<const Variant>> make(const Guards &guards,
                                                const std::string &reason) override {
    auto request = requestFor(guards);
    if (!request)
      return request.takeError();
    request->reason = reason;
    return compileVariant(*program, context, *request);
  }

  Expected<Artifact> artifact(const Guards &guards) override {
    auto request = requestFor(guards);
    if (!request)
      return request.takeError();
    request->reason = "its artifact was asked for";
    Artifact artifact;
    artifact.guards = guards;
    auto variant = compileVariant(*program, context, *request, &artifact);
    if (!variant)
      return variant.takeError();
    return artifact;
  }

  ProgramIR *ir() override { return program.get(); }

private:
  Expected<VariantRequest> requestFor(const Guards &guards) const;

  const std::shared_ptr<ProgramIR> program;
  const Context context;
};
} // namespace

Expected<VariantRequest> JitSource::requestFor(const Guards &guards) const {
  VariantRequest request;
  CompileOptions &options = request.options;
  options.arch = guards.arch;
  options.environment = context.options().environment;
  options.compiler = context.options().compiler;
  if (guards.arch.compare(0, kSimulatedArch.size(), kSimulatedArch) == 0) {
    options.arch = guards.arch.substr(kSimulatedArch.size());
    options.compiler = context.options().simulatorCompiler;
    if (!options.compiler)
      return makeError(Stage::Input, "the device is simulated, and this context has no compiler "
                                     "for the simulator; needed: ContextOptions::"
                                     "simulatorCompiler");
  }
  options.alignment.assign(guards.alignment.begin(), guards.alignment.end());
  options.progress = [context = context, name = program->entryName](const std::string &stage) {
    TraceEvent event;
    event.kind = TraceEvent::Kind::Progress;
    event.name = name;
    event.detail = stage;
    event.begin = event.end = std::chrono::steady_clock::now();
    context.report(event);
  };
  request.indexBits = guards.indexBits == 64 ? 64 : 0;
  request.extents = guards.extents;
  return request;
}

std::shared_ptr<VariantSource> swage::compilerSource(std::shared_ptr<ProgramIR> program,
                                                     const Context &context) {
  return std::make_shared<JitSource>(std::move(program), context);
}
