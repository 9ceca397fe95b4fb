//===- TypeNames.cpp - CUDA spellings of types and enumerators ------------===//

#include "TypeNames.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace swage;

namespace {
struct TypeSpelling {
  StringRef element, value, unsignedValue;
};
} // namespace

static TypeSpelling spellingOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return {"swage::f8e4m3", "float", ""};
  if (isa<Float8E5M2Type>(type))
    return {"swage::f8e5m2", "float", ""};
  if (type.isF16())
    return {"swage::f16", "float", ""};
  if (type.isBF16())
    return {"swage::bf16", "float", ""};
  if (type.isF32())
    return {"float", "float", ""};
  if (type.isF64())
    return {"double", "double", ""};
  if (type.isSignlessInteger(1))
    return {"bool", "bool", ""};
  if (type.isSignlessInteger(8))
    return {"signed char", "signed char", "unsigned char"};
  // 16 bits are only ever moved.
  if (type.isSignlessInteger(16))
    return {"swage::bits16", "unsigned short", ""};
  if (type.isSignlessInteger(32))
    return {"int", "int", "unsigned"};
  if (type.isSignlessInteger(64))
    return {"long long", "long long", "unsigned long long"};
  return {};
}

StringRef codegen::elementName(Type type) { return spellingOf(type).element; }
StringRef codegen::valueName(Type type) { return spellingOf(type).value; }
StringRef codegen::unsignedName(Type type) { return spellingOf(type).unsignedValue; }

std::string codegen::qualifiedName(Access access) {
  static constexpr const char *names[] = {"Vector", "Splat",        "Gather",  "Transposed",
                                          "Staged", "Aligned",      "Shifted", "Anywhere",
                                          "Boxed",  "StagedInStep", "Tiled"};
  return std::string("swage::Access::") + names[static_cast<unsigned>(access)];
}

std::string codegen::qualifiedName(Collective collective) {
  static constexpr const char *names[] = {"Sum",     "Max",     "Min",        "Mean",  "LayerNorm",
                                          "RmsNorm", "Softmax", "LogSoftmax", "AbsMax"};
  return std::string("swage::Collective::") + names[static_cast<unsigned>(collective)];
}

std::string codegen::qualifiedName(RowClass rowClass) {
  static constexpr const char *names[] = {"Group", "Block", "Looped", "Column"};
  return std::string("swage::RowClass::") + names[static_cast<unsigned>(rowClass)];
}

ArrayRef<StringRef> codegen::statisticNames(Collective collective) {
  static const StringRef layerNorm[] = {"mean", "rstd"}, rmsNorm[] = {"rstd"},
                         softmax[] = {"maximum", "sum"}, reduction[] = {"result"},
                         absMax[] = {"largest"};
  if (collective == Collective::LayerNorm)
    return layerNorm;
  if (collective == Collective::RmsNorm)
    return rmsNorm;
  if (collective == Collective::AbsMax)
    return absMax;
  if (collective == Collective::Softmax || collective == Collective::LogSoftmax)
    return softmax;
  return reduction;
}
