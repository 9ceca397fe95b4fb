//===- RecognizeTest.cpp - Recognition keeps what a graph means -----------===//
//
// Evaluates the graphs of test/Transforms/recognize-attention.mlir as they are written and as they
// are recognised. The two may differ by their error bounds, which know how kernels round.
//
//===----------------------------------------------------------------------===//

#include "ReferenceGraph.h"
#include "mlir/Pass/PassManager.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace swage;
using namespace swage::reference;
using namespace swage::reference::test;

namespace {

/// Inputs of a function; runtime extents, by their position in a shape, are small numbers.
std::vector<Tensor> makeInputs(mlir::func::FuncOp function) {
  std::vector<Tensor> inputs;
  for (mlir::Type type : function.getArgumentTypes()) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    Shape shape(tensor.getShape());
    for (size_t i = 0; i < shape.size(); ++i)
      if (mlir::ShapedType::isDynamic(shape[i]))
        shape[i] = i == 0 ? 2 : 5;
    inputs.push_back(makeInput(*elementTypeOf(tensor.getElementType()), shape, InputFamily::Dense,
                               inputs.size()));
  }
  return inputs;
}

void expectAlike(const Value &a, const Value &b, const std::string &name) {
  ASSERT_EQ(a.shape(), b.shape()) << name;
  int64_t judged = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    Number x = a.load(i), y = b.load(i);
    if (std::isnan(x.reference) && std::isnan(y.reference))
      continue;
    judged += std::isfinite(x.error) && std::isfinite(y.error);
    ASSERT_LE(std::fabs(x.reference - y.reference), x.error + y.error)
        << name << " element " << i << " " << x.reference << " " << y.reference;
  }
  EXPECT_GT(judged, a.size() / 2) << name;
}

} // namespace

TEST(Recognize, attentionMeansWhatWasWritten) {
  auto file = llvm::MemoryBuffer::getFile(SWAGE_RECOGNIZE_ATTENTION);
  ASSERT_TRUE(file) << SWAGE_RECOGNIZE_ATTENTION;
  llvm::SmallVector<llvm::StringRef> texts;
  (*file)->getBuffer().split(texts, "// -----");
  EXPECT_GT(texts.size(), 10u);
  for (llvm::StringRef text : texts) {
    Graph graph(text);
    mlir::func::FuncOp function = graph.function();
    ASSERT_TRUE(function) << graph.message;
    std::string name = function.getName().str();
    std::vector<Tensor> inputs = makeInputs(function);
    std::vector<const Tensor *> pointers;
    for (const Tensor &input : inputs)
      pointers.push_back(&input);
    std::vector<Value> written = graph.run(pointers);
    mlir::PassManager manager(function.getContext());
    manager.addNestedPass<mlir::func::FuncOp>(createRecognizePass());
    ASSERT_TRUE(mlir::succeeded(manager.run(function->getParentOp()))) << name;
    EXPECT_FALSE(function.getOps<AttentionOp>().empty()) << name << " " << graph.message;
    std::vector<Value> recognised = graph.run(pointers);
    ASSERT_EQ(written.size(), recognised.size()) << name << " " << graph.message;
    for (size_t i = 0; i < written.size(); ++i)
      expectAlike(written[i], recognised[i], name);
  }
}
