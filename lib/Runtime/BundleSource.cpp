//===- BundleSource.cpp - Programs from bundles ---------------------------===//

#include "ProgramState.h"

#include "swage/Support/Text.h"

#include <fmt/format.h>

using namespace swage;

namespace {
/// Has what was saved, and makes nothing.
class BundleSource : public VariantSource {
public:
  BundleSource(std::string path, Bundle bundle)
      : path(std::move(path)), bundle(std::move(bundle)) {}

  bool compiles() const override { return false; }
  Expected<std::vector<ExtentNeeds>> needs() override { return bundle.needs; }

  Expected<std::shared_ptr<const Variant>> make(const Guards &guards,
                                                const std::string &) override {
    std::vector<std::string> there;
    for (const auto &variant : bundle.variants)
      there.push_back(variant->guards.str(bundle.inputs));
    return makeError(Stage::Input, fmt::format("bundle '{}' has no kernels for {}; it has: {}",
                                               printable(path), guards.str(bundle.inputs),
                                               there.empty() ? "none" : join(there, "; ")));
  }

  Expected<Artifact> artifact(const Guards &guards) override {
    for (const auto &variant : bundle.variants) {
      if (variant->guards != guards)
        continue;
      Artifact artifact;
      artifact.guards = guards;
      for (const KernelInfo &kernel : variant->kernels) {
        artifact.kernels.emplace_back();
        artifact.kernels.back().info = kernel;
        artifact.kernels.back().sassProblem = "a bundle is not disassembled";
      }
      return artifact;
    }
    return make(guards, "").takeError();
  }

private:
  const std::string path;
  const Bundle bundle;
};
} // namespace

Expected<Program> Program::load(const std::string &path, const Context &context) {
  if (Status own = context.checkProcess(); !own)
    return own.takeError();
  TraceEvent event;
  event.kind = TraceEvent::Kind::Parse;
  event.thread = threadNumber();
  event.begin = std::chrono::steady_clock::now();
  auto bundle = Bundle::read(path);
  if (!bundle)
    return bundle.takeError();
  auto variants = bundle->variants;
  std::string name = bundle->entryName;
  auto inputs = bundle->inputs, results = bundle->results;
  Program program = create(name, std::move(inputs), std::move(results),
                           std::make_shared<BundleSource>(path, std::move(*bundle)), context);
  for (auto &variant : variants)
    program.state->variants.add(std::move(variant));
  event.end = std::chrono::steady_clock::now();
  event.name = std::move(name);
  event.detail = "bundle " + path;
  context.report(event);
  return program;
}
