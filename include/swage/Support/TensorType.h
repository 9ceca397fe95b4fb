//===- TensorType.h - Element types and shapes ----------------------------===//
//
// What the host API, the runtime and bundles say about a tensor, without MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_TENSORTYPE_H
#define SWAGE_SUPPORT_TENSORTYPE_H

#include "swage/Support/Api.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swage {

using Dims = std::vector<int64_t>;

/// The values are part of the bundle format and of the C API.
enum class ElementType : uint8_t { I1 = 0, I8, I32, I64, F16, BF16, F32, F64, F8E4M3FN, F8E5M2 };

/// "f16": as MLIR spells it.
SWAGE_API const char *elementName(ElementType type);
SWAGE_API std::optional<ElementType> elementNamed(std::string_view name);
/// Storage of one element; an i1 takes a byte.
SWAGE_API int64_t elementBytes(ElementType type);

/// An argument or a result of the entry function.
struct SWAGE_API TensorType {
  std::string element; ///< as MLIR spells it: "f16"
  int64_t elementBytes = 0;
  Dims shape; ///< kDynamic where an extent comes with the input

  static constexpr int64_t kDynamic = -1;
  bool isStatic() const;
  uint64_t bytes() const;  ///< of a static type
  std::string str() const; ///< "?x768xf16"
};

} // namespace swage

#endif // SWAGE_SUPPORT_TENSORTYPE_H
