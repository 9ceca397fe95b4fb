//===- TypeNames.h - CUDA spellings of types and enumerators ----*- C++ -*-===//
//
// The only place that knows how a type or an enumerator of the IR is written in CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_TYPENAMES_H
#define SWAGE_CODEGEN_TYPENAMES_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage::codegen {

/// An element in memory: "swage::f16". Empty for a type that no tensor holds.
llvm::StringRef elementName(mlir::Type type);

/// The value that scalar code computes with: "float" for an f16. Empty as above.
llvm::StringRef valueName(mlir::Type type);

/// The unsigned integer of the same width: "unsigned char" for i8. Empty for other types.
llvm::StringRef unsignedName(mlir::Type type);

/// "swage::Access::Vector".
std::string qualifiedName(Access access);
std::string qualifiedName(Collective collective);
std::string qualifiedName(RowClass rowClass);

/// Parameters of a row's finish function: the collective's row results, by their names.
llvm::ArrayRef<llvm::StringRef> statisticNames(Collective collective);

} // namespace swage::codegen

#endif // SWAGE_CODEGEN_TYPENAMES_H
