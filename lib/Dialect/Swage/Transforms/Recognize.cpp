#include "swage/Dialect/Swage/Transforms/Passes.h"

namespace swage {
#define GEN_PASS_DEF_RECOGNIZEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

namespace {
struct RecognizePass : swage::impl::RecognizePassBase<RecognizePass> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
