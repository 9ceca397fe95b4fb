//===- Benchmark.cpp - Times of plans -------------------------------------===//

#include "Benchmark.h"
#include "Capture.h"
#include "GuardedRun.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;

static constexpr uint64_t kPlace = 256; ///< that each tensor of a measurement is aligned to

Expected<Benchmark> Benchmark::create(const Device &device) {
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();
  return Benchmark(device, std::move(*stream));
}

/// Elements that are made up, and repeated where a tensor has more.
static Expected<reference::Tensor> makeChunk(InputSpec content, int64_t elements) {
  content.type.shape = {std::min<int64_t>(elements, 1 << 22)};
  return content.make(reference::InputFamily::Dense, 1, 0);
}

static Status copyRepeated(Buffer &buffer, const reference::Tensor &chunk, uint64_t offset,
                           uint64_t bytes) {
  uint64_t atOnce = uint64_t(chunk.bytes());
  for (uint64_t done = 0; done < bytes; done += atOnce)
    if (Status copied = buffer.copyFrom(chunk.data(), size_t(std::min(atOnce, bytes - done)),
                                        size_t(offset + done));
        !copied)
      return copied;
  return {};
}

static std::string arenaOf(const InputSpec &input) {
  return input.type.element + (input.given ? " given" : input.range ? " in a range" : "");
}

/// Memory for what is used of the arena, with random elements like `content`.
Status Benchmark::provide(Arena &arena, const InputSpec *content) {
  if (arena.buffer && arena.buffer->size() >= arena.used)
    return {};
  arena.buffer.reset();
  auto available = device.freeMemory();
  if (!available)
    return available.takeError();
  if (arena.used > *available)
    return makeError(Stage::Run,
                     fmt::format("the buffers need {} bytes; {} are free", arena.used, *available));
  auto buffer = device.allocate(size_t(arena.used));
  if (!buffer)
    return buffer.takeError();
  arena.buffer = std::move(*buffer);
  if (!content)
    return {};
  auto chunk = makeChunk(*content, INT64_MAX);
  if (!chunk)
    return chunk.takeError();
  return copyRepeated(*arena.buffer, *chunk, 0, arena.used);
}

Expected<std::vector<Benchmark::Set>> Benchmark::makeSets(const Candidate &candidate,
                                                          const Conditions &conditions) {
  const Plan &plan = candidate.plan;
  uint64_t inputBytes = 0;
  for (const BufferSpec &buffer : plan.inputs())
    inputBytes += buffer.bytes;
  uint64_t cache = std::max<uint64_t>(60 << 20, uint64_t(device.properties().l2Bytes));
  uint64_t wanted = (3 * cache + inputBytes) / std::max<uint64_t>(inputBytes, 1);
  uint64_t count = std::max<uint64_t>(2, std::min<uint64_t>(64, wanted));

  // Places first, then memory, then addresses: an arena moves when it grows.
  for (auto &[element, arena] : arenas)
    arena.used = 0;
  auto place = [&](const std::string &element, uint64_t bytes) {
    uint64_t &used = arenas[element].used;
    uint64_t offset = used;
    used += llvm::alignTo(bytes + uint64_t(candidate.misalign), kPlace) + kPlace;
    return offset;
  };
  std::vector<uint64_t> inputPlaces, outputPlaces, workspaces;
  for (uint64_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < plan.inputs().size(); ++j)
      inputPlaces.push_back(place(arenaOf(candidate.inputs[j]), plan.inputs()[j].bytes));
    if (i != 0 && conditions.reuseOutputs)
      continue;
    for (const BufferSpec &output : plan.outputs())
      outputPlaces.push_back(place("", output.bytes));
    workspaces.push_back(place("", plan.workspaceBytes()));
  }
  for (const InputSpec &input : candidate.inputs)
    if (Status provided = provide(arenas[arenaOf(input)], input.range ? nullptr : &input);
        !provided)
      return provided.takeError();
  if (Status provided = provide(arenas[""], nullptr); !provided)
    return provided.takeError();

  auto address = [&](const std::string &element, uint64_t offset) {
    return static_cast<char *>(arenas[element].buffer->data()) + offset;
  };
  std::vector<Set> sets(count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t written = conditions.reuseOutputs ? 0 : i;
    for (size_t j = 0; j < plan.inputs().size(); ++j)
      sets[i].inputs.push_back(
          address(arenaOf(candidate.inputs[j]), inputPlaces[i * plan.inputs().size() + j]) +
          candidate.misalign);
    for (size_t j = 0; j < plan.outputs().size(); ++j)
      sets[i].outputs.push_back(address("", outputPlaces[written * plan.outputs().size() + j]) +
                                candidate.misalign);
    for (auto [result, input] : candidate.inPlace)
      sets[i].outputs[result] = const_cast<void *>(sets[i].inputs[input]);
    sets[i].workspace = address("", workspaces[written]);
  }
  // What is given, or in a range, is so from each tensor's first element on.
  for (size_t j = 0; j < plan.inputs().size(); ++j) {
    const InputSpec &input = candidate.inputs[j];
    uint64_t bytes = plan.inputs()[j].bytes;
    if ((!input.range && !input.given) || bytes == 0)
      continue;
    std::optional<reference::Tensor> made;
    if (!input.given) {
      auto chunk = makeChunk(input, int64_t(bytes / uint64_t(input.type.elementBytes)));
      if (!chunk)
        return chunk.takeError();
      made = std::move(*chunk);
    }
    const reference::Tensor &chunk = made ? *made : *input.given;
    for (uint64_t i = 0; i < count; ++i)
      if (Status copied = copyRepeated(
              *arenas[arenaOf(input)].buffer, chunk,
              inputPlaces[i * plan.inputs().size() + j] + uint64_t(candidate.misalign), bytes);
          !copied)
        return copied.takeError();
  }
  return sets;
}

Expected<double> Benchmark::replay(const GraphExec &graph) {
  auto start = device.createEvent(), stop = device.createEvent();
  if (!start || !stop)
    return (start ? stop : start).takeError();
  if (Status recorded = start->record(stream.handle()); !recorded)
    return recorded.takeError();
  if (Status launched = graph.launch(stream.handle()); !launched)
    return launched.takeError();
  if (Status recorded = stop->record(stream.handle()); !recorded)
    return recorded.takeError();
  if (Status done = stream.synchronize(); !done)
    return done.takeError();
  auto elapsed = stop->elapsedSince(*start);
  if (!elapsed)
    return elapsed.takeError();
  return double(*elapsed) * 1e-3;
}

Expected<Benchmark::Replay> Benchmark::capture(const Candidate &candidate,
                                               const std::vector<Set> &sets,
                                               const Conditions &conditions) {
  auto launchAll = [&]() -> Status {
    for (const Set &set : sets)
      if (Status launched = candidate.plan.launch(stream.handle(), set.inputs.data(),
                                                  set.outputs.data(), set.workspace);
          !launched)
        return launched;
    return {};
  };
  if (Status launched = launchAll(); !launched)
    return launched.takeError();
  if (Status done = stream.synchronize(); !done)
    return done.takeError();
  auto exec = swage::capture(stream, launchAll);
  if (!exec)
    return exec.takeError();
  Replay result{std::move(*exec), sets.size(), 0};
  double last = 0;
  for (int warm = 0; warm < 3; ++warm) {
    auto time = replay(result.graph);
    if (!time)
      return time.takeError();
    last = *time;
    if (conditions.limit > 0 && last > conditions.limit * double(sets.size())) {
      result.repetitions = 1;
      return result;
    }
  }
  double wanted = conditions.seconds / std::max(1, conditions.rounds) / std::max(last, 1e-6);
  result.repetitions = int(std::clamp(wanted, 5.0, 200.0));
  return result;
}

static double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Expected<double> Benchmark::median(const Replay &measured) {
  std::vector<double> times;
  for (int i = 0; i < measured.repetitions; ++i) {
    auto time = replay(measured.graph);
    if (!time)
      return time;
    times.push_back(*time / double(measured.launches));
  }
  return medianOf(std::move(times));
}

/// Of each candidate, over rounds in which they take turns.
Expected<std::vector<double>> Benchmark::medians(const std::vector<Candidate> &candidates,
                                                 const Conditions &conditions) {
  // An arena that grows for one of them moves the others': the first time makes room.
  for (const Candidate &candidate : candidates)
    if (auto sets = makeSets(candidate, conditions); !sets)
      return sets.takeError();
  std::vector<Replay> replays;
  for (const Candidate &candidate : candidates) {
    auto sets = makeSets(candidate, conditions);
    if (!sets)
      return sets.takeError();
    auto captured = capture(candidate, *sets, conditions);
    if (!captured)
      return captured.takeError();
    replays.push_back(std::move(*captured));
  }
  std::vector<std::vector<double>> times(candidates.size());
  for (int round = 0; round < std::max(1, conditions.rounds); ++round)
    for (size_t i = 0; i < replays.size(); ++i) {
      auto time = median(replays[i]);
      if (!time)
        return time.takeError();
      times[i].push_back(*time);
    }
  std::vector<double> results;
  for (std::vector<double> &ofOne : times)
    results.push_back(medianOf(std::move(ofOne)));
  return results;
}

/// Which shape of stream is the fastest depends on the size: one measurement for each power of two.
Expected<Benchmark::Candidate> Benchmark::fastestStream(const Traffic &traffic,
                                                        const Conditions &conditions) {
  auto make = [&](StreamShape shape) -> Expected<Candidate> {
    auto plan = streams.plan(shape, traffic.bytes());
    if (!plan)
      return plan.takeError();
    TensorType words{"f32", 4, {int64_t(plan->inputs()[0].bytes / 4)}};
    return Candidate{*plan, {{words, std::nullopt}}, 0, {}};
  };
  std::vector<StreamShape> shapes = Streams::shapesFor(traffic);
  std::tuple key(shapes.front(), llvm::Log2_64(std::max<uint64_t>(1, traffic.bytes())),
                 conditions.reuseOutputs);
  if (auto found = fastest.find(key); found != fastest.end())
    return make(found->second);
  std::vector<Candidate> candidates;
  for (StreamShape shape : shapes) {
    auto candidate = make(shape);
    if (!candidate)
      return candidate.takeError();
    candidates.push_back(std::move(*candidate));
  }
  Conditions few = conditions;
  few.rounds = 3;
  auto times = medians(candidates, few);
  if (!times)
    return times.takeError();
  size_t best = size_t(std::min_element(times->begin(), times->end()) - times->begin());
  fastest[key] = shapes[best];
  return std::move(candidates[best]);
}

Expected<Measurement> Benchmark::measure(const Plan &plan, const std::vector<InputSpec> &inputs,
                                         const std::vector<Traffic> &traffic,
                                         const Conditions &conditions) {
  std::vector<Candidate> candidates;
  for (const Traffic &one : traffic) {
    auto candidate = fastestStream(one, conditions);
    if (!candidate)
      return candidate.takeError();
    candidates.push_back(std::move(*candidate));
  }
  candidates.push_back({plan, inputs, conditions.misalign, conditions.inPlace});
  auto times = medians(candidates, conditions);
  if (!times)
    return times.takeError();
  Measurement measurement;
  measurement.seconds = times->back();
  times->pop_back();
  for (double time : *times)
    measurement.streamSeconds += time;
  return measurement;
}

Expected<std::vector<double>> Benchmark::compare(const std::vector<Plan> &plans,
                                                 const std::vector<InputSpec> &inputs,
                                                 const Conditions &conditions) {
  std::vector<Candidate> candidates;
  for (const Plan &plan : plans)
    candidates.push_back({plan, inputs, conditions.misalign, {}});
  return medians(candidates, conditions);
}
