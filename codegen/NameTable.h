//===- NameTable.h - Identifiers and comments from untrusted text *- C++ -*-===//
//
// Names and locations of a module come from outside. What is printed of them is an identifier of a
// fixed alphabet that collides with nothing, or a comment that cannot end early.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_NAMETABLE_H
#define SWAGE_CODEGEN_NAMETABLE_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace swage::codegen {

/// The names of one C++ scope.
class NameTable {
public:
  /// `wanted` made an identifier, with a number behind it if it is taken.
  std::string unique(llvm::StringRef wanted);
  void reserve(llvm::StringRef name) { taken.insert(name); }

private:
  llvm::StringSet<> taken;
};

/// Letters, digits and underscores of `text`, at most 64; never a word of the language, never
/// reserved, never empty.
std::string toIdentifier(llvm::StringRef text);
/// The same for a symbol that must be printed as it is.
bool isIdentifier(llvm::StringRef text);

/// "residual" -> "Residual" and back.
std::string typeCase(llvm::StringRef identifier);
std::string valueCase(llvm::StringRef identifier);

/// The name that a location carries, or an empty string.
std::string nameOf(mlir::Location loc);

/// Printable ASCII without backslashes and ends of comments.
std::string commentText(llvm::StringRef text);

/// "gpt2_block.mlir:12", fit for a comment; empty where the location is in no file.
std::string fileAndLine(mlir::Location loc);

} // namespace swage::codegen

#endif // SWAGE_CODEGEN_NAMETABLE_H
