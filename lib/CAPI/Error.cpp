//===- Error.cpp - Version, errors and element types of the C API ---------===//

#include "Wrap.h"

using namespace swage;
using namespace swage::capi;

SwageStringRef swageGetVersion(void) { return {SWAGE_VERSION, sizeof SWAGE_VERSION - 1}; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
struct ErrorObject {
  Error error;
  std::string text;
};
} // namespace

static const ErrorObject *unwrap(SwageError error) {
  return static_cast<const ErrorObject *>(error.ptr);
}

SwageError capi::fail(Error error) {
  std::string text = error.str();
  return {new ErrorObject{std::move(error), std::move(text)}};
}

static_assert(int(SwageStageInput) == int(Stage::Input) && int(SwageStageRun) == int(Stage::Run),
              "the stages have the same values");

SwageStage swageErrorGetStage(SwageError error) {
  return error.ptr ? SwageStage(unwrap(error)->error.stage) : SwageStageInput;
}

SwageStringRef swageErrorGetMessage(SwageError error) {
  return error.ptr ? wrap(unwrap(error)->error.message) : swageStringRef("");
}

SwageStringRef swageErrorGetLog(SwageError error) {
  return error.ptr ? wrap(unwrap(error)->error.log) : swageStringRef("");
}

SwageStringRef swageErrorGetSourcePath(SwageError error) {
  return error.ptr ? wrap(unwrap(error)->error.sourcePath) : swageStringRef("");
}

SwageStringRef swageErrorGetReproduce(SwageError error) {
  return error.ptr ? wrap(unwrap(error)->error.reproduce) : swageStringRef("");
}

SwageStringRef swageErrorGetText(SwageError error) {
  return error.ptr ? wrap(unwrap(error)->text) : swageStringRef("");
}

void swageErrorDestroy(SwageError error) { delete unwrap(error); }

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static_assert(SwageElementI1 == int(ElementType::I1) && SwageElementI8 == int(ElementType::I8) &&
                  SwageElementI32 == int(ElementType::I32) &&
                  SwageElementI64 == int(ElementType::I64) &&
                  SwageElementF16 == int(ElementType::F16) &&
                  SwageElementBF16 == int(ElementType::BF16) &&
                  SwageElementF32 == int(ElementType::F32) &&
                  SwageElementF64 == int(ElementType::F64) &&
                  SwageElementF8E4M3FN == int(ElementType::F8E4M3FN) &&
                  SwageElementF8E5M2 == int(ElementType::F8E5M2),
              "the element types have the same values");

size_t swageElementGetBytes(SwageElementType type) {
  return type <= SwageElementF8E5M2 ? size_t(elementBytes(ElementType(type))) : 0;
}

SwageStringRef swageElementGetName(SwageElementType type) {
  return swageStringRef(type <= SwageElementF8E5M2 ? elementName(ElementType(type)) : "");
}
