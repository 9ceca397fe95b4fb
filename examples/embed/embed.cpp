// Swage inside of a C++ program: a residual sum and its LayerNorm as one kernel, for any number of
// rows.
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
  auto device = swage::Device::open();
  swage::CompileOptions options; // for an H200 where there is no GPU
  if (device)
    options.arch = device->properties().arch;
  auto program = swage::Program::parse(kGraph);
  if (!program)
    return fail(program.error());
  auto executable = program->compile(options);
  if (!executable)
    return fail(executable.error());
  for (const swage::KernelInfo &kernel : executable->kernels())
    std::printf("compiled %s (%s)\n", kernel.name.c_str(), kernel.schedule.c_str());
  if (!device)
    return std::printf("not run: %s\n", device.error().message.c_str()), 0;
  for (int64_t rows : {4, 4096}) { // the second shape compiles nothing
    auto plan = executable->plan(*device, {{rows, 768}, {rows, 768}, {768}, {768}});
    auto stream = device->createStream();
    if (!plan || !stream)
      return fail(plan ? stream.error() : plan.error());
    std::vector<swage::Buffer> memory; // four inputs, then two outputs
    std::vector<float> ones(size_t(rows) * 768, 1.0f);
    for (const auto *specs : {&plan->inputs(), &plan->outputs()})
      for (const swage::BufferSpec &spec : *specs) {
        auto buffer = device->allocate(spec.bytes);
        if (!buffer)
          return fail(buffer.error());
        if (auto copied = buffer->copyFrom(ones.data(), spec.bytes); !copied)
          return fail(copied.error());
        memory.push_back(std::move(*buffer));
      }
    const void *inputs[] = {memory[0].data(), memory[1].data(), memory[2].data(), memory[3].data()};
    void *outputs[] = {memory[4].data(), memory[5].data()};
    if (auto launched = plan->launch(stream->handle(), inputs, outputs); !launched)
      return fail(launched.error());
    if (auto done = stream->synchronize(); !done)
      return fail(done.error());
    if (auto read = memory[4].copyTo(ones.data(), sizeof(float)); !read)
      return fail(read.error());
    std::printf("%ld rows: 1 + 1 = %g\n", long(rows), double(ones[0]));
  }
  return 0;
}
