//===- TextGuard.h - Hostile text, before MLIR's parser sees it -----------===//
//
// MLIR's parser calls itself for every bracket and dies on a few kilobytes of them, expands aliases
// without a limit, and allocates what a type or a bytecode header asks for.  Text from outside goes
// through here first: one pass without recursion or allocation beyond the aliases' names.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_TEXTGUARD_H
#define SWAGE_SUPPORT_TEXTGUARD_H

#include "swage/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace swage {

/// What a module written or generated in earnest stays far below.
struct TextLimits {
  size_t bytes = size_t(64) << 20;
  /// Words, numbers, strings and brackets: each becomes some hundred bytes of IR at worst.
  size_t tokens = size_t(1) << 20;
  size_t tokenBytes = 4096; ///< of a word or a number
  /// Brackets in brackets, through aliases too.
  size_t depth = 64;
  /// What all aliases amount to when each is written out where it is used, in uses and brackets.
  size_t aliasNodes = size_t(1) << 20;
  /// Operators in one affine map; the parser nests once for each.
  size_t affineOperators = 512;
  size_t rank = 32;
  /// Elements of a tensor, dynamic extents apart.
  int64_t elements = int64_t(1) << 56;
  unsigned integerBits = 128;
};

/// Success, or an error of stage Parse whose message reads `file:line:column: error: what`,
/// as MLIR's own.
Status guardText(std::string_view text, std::string_view file, const TextLimits &limits = {});

} // namespace swage

#endif // SWAGE_SUPPORT_TEXTGUARD_H
