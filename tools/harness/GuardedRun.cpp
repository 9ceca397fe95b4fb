//===- GuardedRun.cpp - One run of a plan, watched ------------------------===//

#include "GuardedRun.h"
#include "Capture.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::reference;

namespace {
/// A device buffer with its bands.
struct Guarded {
  std::string name;
  GuardedLayout layout;
  std::optional<swage::Buffer> buffer;

  char *payload() const { return static_cast<char *>(buffer->data()) + layout.payloadOffset(); }
};

/// All buffers of a run.
class GuardedBuffers {
public:
  GuardedBuffers(const Device &device, const GuardedOptions &options)
      : device(device), options(options) {}

  /// Adds a buffer; with `content`, its payload is that, otherwise poison.
  Expected<void *> add(std::string name, uint64_t bytes, const char *content, int64_t misalign) {
    Guarded guarded;
    guarded.name = std::move(name);
    guarded.layout.payloadBytes = int64_t(bytes);
    guarded.layout.misalign = misalign;
    if (!options.bands)
      guarded.layout.guardBytes = 0;
    auto buffer = device.allocate(size_t(guarded.layout.imageBytes()));
    if (!buffer)
      return buffer.takeError();
    guarded.buffer = std::move(*buffer);
    if (Status filled = guarded.buffer->fill(options.poison); !filled)
      return filled.takeError();
    if (Status done = device.synchronize(); !done)
      return done.takeError();
    if (content && bytes)
      if (Status copied =
              guarded.buffer->copyFrom(content, bytes, size_t(guarded.layout.payloadOffset()));
          !copied)
        return copied.takeError();
    all.push_back(std::move(guarded));
    return static_cast<void *>(all.back().payload());
  }

  Status write(size_t index, const char *content) {
    Guarded &guarded = all[index];
    if (guarded.layout.payloadBytes == 0)
      return {};
    return guarded.buffer->copyFrom(content, size_t(guarded.layout.payloadBytes),
                                    size_t(guarded.layout.payloadOffset()));
  }

  Status read(size_t index, char *host) const {
    const Guarded &guarded = all[index];
    if (guarded.layout.payloadBytes == 0)
      return {};
    return guarded.buffer->copyTo(host, size_t(guarded.layout.payloadBytes),
                                  size_t(guarded.layout.payloadOffset()));
  }

  Status checkBands() const {
    for (const Guarded &guarded : all) {
      // Only the bands come down: as an image without payload.
      GuardedLayout bands = guarded.layout;
      bands.payloadBytes = 0;
      std::vector<char> image(size_t(bands.imageBytes()));
      size_t front = size_t(bands.payloadOffset()), back = size_t(bands.guardBytes);
      if (Status copied = guarded.buffer->copyTo(image.data(), front); !copied)
        return copied;
      if (Status copied = guarded.buffer->copyTo(image.data() + front, back,
                                                 front + size_t(guarded.layout.payloadBytes));
          !copied)
        return copied;
      if (auto violation = checkGuards(bands, options.poison, image.data()))
        return makeError(Stage::Run, fmt::format("{}: {}", guarded.name, violation->message()));
    }
    return {};
  }

private:
  const Device &device;
  const GuardedOptions &options;
  std::vector<Guarded> all;
};
} // namespace

/// The argument that a result may lie in, if there is one.
static std::optional<unsigned> aliasOf(const Layout &layout, size_t result) {
  for (auto [output, input] : layout.aliases)
    if (output == result && layout.results[output].bytes() == layout.inputs[input].bytes())
      return input;
  return std::nullopt;
}

namespace {
/// A plan's arguments, results and workspace on the device.
class PlacedRun {
public:
  PlacedRun(const Device &device, const Plan &plan, const Layout &layout,
            const GuardedOptions &options)
      : device(device), plan(plan), layout(layout), options(options), buffers(device, options) {}

  Status place(const std::vector<Tensor> &inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto pointer = buffers.add(fmt::format("argument {}", i), uint64_t(inputs[i].bytes()),
                                 inputs[i].data(), options.misalign);
      if (!pointer)
        return pointer.takeError();
      in.push_back(*pointer);
    }
    size_t count = inputs.size();
    for (size_t i = 0; i < layout.results.size(); ++i) {
      if (std::optional<unsigned> argument = options.inPlace ? aliasOf(layout, i) : std::nullopt) {
        out.push_back(const_cast<void *>(in[*argument]));
        places.push_back(*argument);
        continue;
      }
      auto pointer = buffers.add(fmt::format("result {}", i), layout.results[i].bytes(), nullptr,
                                 options.misalign);
      if (!pointer)
        return pointer.takeError();
      out.push_back(*pointer);
      places.push_back(count++);
    }
    auto added = buffers.add("workspace", plan.workspaceBytes(), nullptr, 0);
    if (!added)
      return added.takeError();
    workspace = *added;
    return device.synchronize();
  }

  Status launch(const Stream &stream) const {
    return plan.launch(stream.handle(), in.data(), out.data(), workspace);
  }

  Status replace(size_t argument, const Tensor &input) {
    return buffers.write(argument, input.data());
  }

  Expected<std::vector<Tensor>> read() const {
    if (Status intact = buffers.checkBands(); !intact)
      return intact.takeError();
    std::vector<Tensor> results;
    for (size_t i = 0; i < layout.results.size(); ++i) {
      auto tensor = makeTensor(layout.results[i]);
      if (!tensor)
        return tensor.takeError();
      if (Status read = buffers.read(places[i], tensor->data()); !read)
        return read.takeError();
      results.push_back(std::move(*tensor));
    }
    return results;
  }

private:
  const Device &device;
  const Plan &plan;
  const Layout &layout;
  const GuardedOptions &options;
  GuardedBuffers buffers;
  std::vector<const void *> in;
  std::vector<void *> out;
  std::vector<size_t> places; ///< of the results, among the buffers
  void *workspace = nullptr;
};
} // namespace

Expected<std::vector<Tensor>> swage::runGuarded(const Device &device, const Plan &plan,
                                                const Layout &layout,
                                                const std::vector<Tensor> &inputs,
                                                const GuardedOptions &options) {
  PlacedRun run(device, plan, layout, options);
  if (Status placed = run.place(inputs); !placed)
    return placed.takeError();
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();
  if (Status launched = run.launch(*stream); !launched)
    return launched.takeError();
  if (Status done = stream->synchronize(); !done)
    return done.takeError();
  return run.read();
}

Expected<std::vector<Tensor>> swage::replaySteps(const Device &device, const Plan &plan,
                                                 const Layout &layout,
                                                 const std::vector<std::vector<Tensor>> &inputs,
                                                 const GuardedOptions &options) {
  PlacedRun run(device, plan, layout, options);
  if (Status placed = run.place(inputs.front()); !placed)
    return placed.takeError();
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();
  auto exec = capture(*stream, [&] { return run.launch(*stream); });
  if (!exec)
    return exec.takeError();
  for (size_t step = 0; step < inputs.size(); ++step) {
    for (size_t i = 0; i < inputs[step].size() && step > 0; ++i) {
      auto isCarried = [&](const std::pair<unsigned, unsigned> &alias) {
        return alias.second == i && aliasOf(layout, alias.first);
      };
      if (std::any_of(layout.aliases.begin(), layout.aliases.end(), isCarried))
        continue;
      if (Status replaced = run.replace(i, inputs[step][i]); !replaced)
        return replaced.takeError();
    }
    if (Status replayed = exec->launch(stream->handle()); !replayed)
      return replayed.takeError();
    if (Status done = stream->synchronize(); !done)
      return done.takeError();
  }
  return run.read();
}

Expected<std::vector<Tensor>> swage::runTwice(const Device &device, const Plan &plan,
                                              const Layout &layout,
                                              const std::vector<Tensor> &inputs, int64_t misalign,
                                              bool bands) {
  auto first = runGuarded(device, plan, layout, inputs, {kPoisonNaN, misalign, bands});
  if (!first)
    return first;
  auto second =
      runGuarded(device, plan, layout, inputs, {kPoisonNumber, misalign, bands, /*inPlace=*/true});
  if (!second)
    return second;
  for (size_t i = 0; i < first->size(); ++i) {
    int64_t at = firstDifference((*first)[i].data(), (*second)[i].data(), (*first)[i].bytes());
    if (at >= 0)
      return makeError(Stage::Run,
                       fmt::format("result {} depends on what its memory held before{}: byte {} of "
                                   "{} differs between two runs",
                                   i, layout.aliases.empty() ? "" : ", or on lying in an argument",
                                   at, (*first)[i].bytes()));
  }
  return first;
}
