//===- embed.cpp - Swage inside of a C++ program --------------------------===//
//
// A residual sum and its LayerNorm as one kernel, for any number of rows.
//
//===----------------------------------------------------------------------===//
#include "swage/JIT/Program.h"

#include <cstdio>
#include <vector>

static const char *const kGraph =
    R"(func.func @main(%x: tensor<?x768xf32>, %r: tensor<?x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>)
    -> (tensor<?x768xf32>, tensor<?x768xf32>) {
  %s = arith.addf %x, %r : tensor<?x768xf32>
  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x768xf32>
  return %s, %y : tensor<?x768xf32>, tensor<?x768xf32>
})";

int main() {
  auto fail = [](const swage::Error &error) { return std::puts(error.str().c_str()), 1; };
  auto program = swage::Program::parse(kGraph);
  if (!program)
    return fail(program.error());
  auto executable = program->compile(); // for an H200; CompileOptions::arch names another GPU
  if (!executable)
    return fail(executable.error());
  for (const swage::KernelInfo &kernel : executable->kernels())
    std::printf("compiled %s (%s)\n", kernel.name.c_str(), kernel.schedule.c_str());
  auto device = swage::Device::open();
  if (!device)
    return std::printf("not run: %s\n", device.error().message.c_str()), 0;

  for (int64_t rows : {4, 4096}) { // the second shape compiles nothing
    auto plan = executable->plan(*device, {{rows, 768}, {rows, 768}, {768}, {768}});
    if (!plan)
      return fail(plan.error());
    std::vector<swage::Buffer> memory;
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    std::vector<float> ones(size_t(rows) * 768, 1.0f);
    for (const swage::BufferSpec &spec : plan->inputs()) {
      memory.push_back(std::move(*device->allocate(spec.bytes)));
      (void)memory.back().copyFrom(ones.data(), spec.bytes);
      inputs.push_back(memory.back().data());
    }
    for (const swage::BufferSpec &spec : plan->outputs()) {
      memory.push_back(std::move(*device->allocate(spec.bytes)));
      outputs.push_back(memory.back().data());
    }
    auto stream = device->createStream();
    if (auto launched = plan->launch(stream->handle(), inputs.data(), outputs.data()); !launched)
      return fail(launched.error());
    (void)stream->synchronize();
    (void)memory[4].copyTo(ones.data(), 4);
    std::printf("%ld rows: 1 + 1 = %g\n", long(rows), double(ones[0]));
  }
  return 0;
}
