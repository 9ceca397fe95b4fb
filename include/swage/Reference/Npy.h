//===- Npy.h - NumPy files --------------------------------------*- C++ -*-===//
//
// Tensors in and out of tools, readable with numpy.load. Formats 1.0 and 2.0, little endian,
// C order, of f2, f4, f8, i1, i4, i8 and b1. NumPy has no bf16, f8E4M3FN and f8E5M2: they are
// written as '<V2', '<V1' and '<f1', which is what the ml_dtypes package writes; bf16 is also read
// from '<u2'.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_NPY_H
#define SWAGE_REFERENCE_NPY_H

#include "swage/Reference/Tensor.h"
#include "llvm/ADT/StringRef.h"

namespace swage::reference {

/// The tensor in the bytes of a .npy file; `name` stands in front of error messages.
llvm::Expected<Tensor> parseNpy(llvm::StringRef bytes, llvm::StringRef name);

llvm::Expected<Tensor> readNpy(llvm::StringRef path);

/// As readNpy, and an error unless the file has this element type and shape.
llvm::Expected<Tensor> readNpy(llvm::StringRef path, ElementType type,
                               llvm::ArrayRef<int64_t> shape);

llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);

/// What stands before the data in a file of format 1.0.
std::string npyHeader(ElementType type, llvm::ArrayRef<int64_t> shape);

} // namespace swage::reference

#endif // SWAGE_REFERENCE_NPY_H
