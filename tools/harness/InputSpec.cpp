//===- InputSpec.cpp - What arguments hold --------------------------------===//

#include "InputSpec.h"

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/JIT/ProgramIR.h"

using namespace swage;
using namespace swage::reference;

reference::ElementType swage::elementTypeNamed(const std::string &name) {
  using reference::ElementType;
  for (ElementType type :
       {ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::F16, ElementType::BF16,
        ElementType::F32, ElementType::F64, ElementType::I1, ElementType::I8, ElementType::I32})
    if (name == reference::name(type))
      return type;
  return ElementType::I64;
}

Error swage::convert(llvm::Error error, Stage stage) {
  return makeError(stage, llvm::toString(std::move(error)));
}

Expected<Tensor> swage::makeTensor(const TensorType &type) {
  auto tensor = Tensor::create(elementTypeNamed(type.element), type.shape);
  if (!tensor)
    return convert(tensor.takeError());
  return std::move(*tensor);
}

Expected<Tensor> InputSpec::make(InputFamily family, uint64_t seed, uint64_t stream) const {
  auto tensor = makeTensor(type);
  if (tensor && range)
    fillRange(*tensor, *range, seed, stream);
  else if (tensor)
    fillInput(*tensor, family, seed, stream);
  return tensor;
}

static std::optional<IntegerRange> rangeOf(const Program &program, unsigned argument) {
  ProgramIR &ir = *program.ir();
  std::lock_guard<std::mutex> lock(ir.mutex);
  auto numbers = ir.entry.getArgAttrOfType<mlir::DenseI64ArrayAttr>(argument, SwageDialect::kRange);
  if (!numbers)
    return std::nullopt;
  return IntegerRange{numbers[0], numbers[1]};
}

std::vector<InputSpec> swage::inputSpecs(const Program &program,
                                         const std::vector<TensorType> &types) {
  std::vector<InputSpec> specs;
  for (const TensorType &type : types)
    specs.push_back({type, rangeOf(program, unsigned(specs.size()))});
  return specs;
}

std::vector<InputSpec> swage::inputSpecs(const Program &program, const LaunchInfo &launch) {
  std::vector<InputSpec> specs;
  for (const LaunchTensor &tensor : launch.inputs) {
    InputSpec spec{tensor.type, std::nullopt};
    // What is only moved may be bits of another type.
    if (tensor.kind == BufferKind::Input &&
        tensor.type.element == program.inputs()[tensor.index].element)
      spec.range = rangeOf(program, tensor.index);
    specs.push_back(std::move(spec));
  }
  return specs;
}
