// Swage inside of a C++ program: a residual sum and its LayerNorm as one kernel, for any number of
// rows; on the simulator where there is no GPU.
#include <cstdio>
#include <cstdlib>
#include <swage/Runtime/Program.h>
#include <swage/Simt/Simulator.h>
#include <vector>

static const char *const kGraph =
    R"(func.func @main(%x: tensor<?x768xf32>, %r: tensor<?x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>)
    -> (tensor<?x768xf32>, tensor<?x768xf32>) {
  %s = arith.addf %x, %r : tensor<?x768xf32>
  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x768xf32>
  return %s, %y : tensor<?x768xf32>, tensor<?x768xf32>
})";

/// The value, or the end of the program.
template <class T> static T check(swage::Expected<T> value) {
  if (value)
    return std::move(*value);
  std::puts(value.error().str().c_str());
  std::exit(1);
}
static void check(const swage::Status &status) {
  if (!status)
    std::exit((std::puts(status.error().str().c_str()), 1));
}

int main() {
  swage::ContextOptions options;
  auto gpu = swage::Device::open();
  if (!gpu) {
    std::printf("on the simulator: %s\n", gpu.error().message.c_str());
    options.simulatorCompiler = check(swage::simt::simulatorCompiler({}));
  }
  swage::Device device = gpu ? *gpu : check(swage::simt::openSimulator({}));
  auto program = check(swage::Program::parse(kGraph, {}, swage::Context(options)));
  auto stream = check(device.createStream());

  for (int64_t rows : {4, 100}) { // the second number of rows compiles nothing
    const swage::Dims matrix = {rows, 768}, vector = {768};
    std::vector<float> ones(size_t(rows) * 768, 1.0f);
    std::vector<swage::Buffer> memory;
    std::vector<swage::TensorView> tensors; // four inputs, then two outputs
    for (const swage::Dims *shape : {&matrix, &matrix, &vector, &vector, &matrix, &matrix}) {
      size_t bytes = sizeof(float) * size_t(shape == &vector ? 768 : rows * 768);
      memory.push_back(check(device.allocate(bytes)));
      check(memory.back().copyFrom(ones.data(), bytes));
      tensors.push_back(
          {memory.back().data(), swage::ElementType::F32, unsigned(shape->size()), shape->data()});
    }
    check(
        program.run(device, stream.handle(), tensors.data(), 4, tensors.data() + 4, 2, nullptr, 0));
    check(stream.synchronize());
    check(memory[4].copyTo(ones.data(), sizeof(float)));
    std::printf("%ld rows: 1 + 1 = %g\n", long(rows), double(ones[0]));
  }
  std::printf("kernels compiled: %d\n", int(program.context().stats().kernelsCompiled));
}
