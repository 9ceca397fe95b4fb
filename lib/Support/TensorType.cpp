//===- TensorType.cpp - Element types and shapes --------------------------===//

#include "swage/Support/TensorType.h"

#include <iterator>

using namespace swage;

namespace {
struct Known {
  const char *name;
  int64_t bytes;
};
} // namespace

/// In the order of ElementType.
static constexpr Known kElements[] = {{"i1", 1},       {"i8", 1},    {"i32", 4}, {"i64", 8},
                                      {"f16", 2},      {"bf16", 2},  {"f32", 4}, {"f64", 8},
                                      {"f8E4M3FN", 1}, {"f8E5M2", 1}};

const char *swage::elementName(ElementType type) {
  return size_t(type) < std::size(kElements) ? kElements[size_t(type)].name : "unknown";
}

int64_t swage::elementBytes(ElementType type) {
  return size_t(type) < std::size(kElements) ? kElements[size_t(type)].bytes : 0;
}

std::optional<ElementType> swage::elementNamed(std::string_view name) {
  for (size_t i = 0; i < std::size(kElements); ++i)
    if (name == kElements[i].name)
      return ElementType(i);
  return std::nullopt;
}

bool TensorType::isStatic() const {
  for (int64_t extent : shape)
    if (extent == kDynamic)
      return false;
  return true;
}

uint64_t TensorType::bytes() const {
  uint64_t bytes = uint64_t(elementBytes);
  for (int64_t extent : shape)
    bytes *= uint64_t(extent);
  return bytes;
}

std::string TensorType::str() const {
  std::string text;
  for (int64_t extent : shape)
    text += extent == kDynamic ? "?x" : std::to_string(extent) + "x";
  return text + element;
}
