//===- Arguments.h - A kernel's arguments on a command line ---------------===//
//
// clang-format off
//   in:f16:64x768=random(3)   a buffer; also iota, zeros, ones, or a .npy file; default: random(1)
//   inout:i32:1=zeros         one that is printed afterwards
//   out:f32:1024              one that starts as NaNs (bytes 0xff) and is printed afterwards
//   out:f32:1024=y.npy        or saved
//   same:0                    the buffer of argument 0 again
//   i32:5  f32:0.5            a number
//   bytes:0500000000          the bytes of a struct
//   struct:i32:5,div32:768    a struct of numbers and dividers (swage::Divider), as C lays it out
//   map:f16:64x64:box=32x8:swizzle=128:of=0
//                             a tensor map over the buffer that is argument 0: extents from the
//                             innermost on; also strides=BYTESxBYTES (without the innermost
//                             dimension's) and steps=1x2
// clang-format on
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_SWAGE_SIM_ARGUMENTS_H
#define SWAGE_TOOLS_SWAGE_SIM_ARGUMENTS_H

#include "swage/Reference/Tensor.h"
#include "swage/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace swage {

struct TensorMapSpec {
  unsigned type = 0; ///< CUtensorMapDataType
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, steps;
  unsigned swizzle = 0; ///< CUtensorMapSwizzle
  unsigned of = 0;      ///< position of the argument with the buffer
  uint64_t at = 0;      ///< byte of it where the tensor begins
};

struct Argument {
  enum class Kind { In, Out, InOut, Same, Value, Map };
  Kind kind = Kind::Value;
  std::string text;                        ///< as given
  std::optional<reference::Tensor> tensor; ///< its content before the launch
  std::string file;                        ///< that an output is saved to
  std::string bytes;                       ///< of a value
  TensorMapSpec map;
  unsigned same = 0;       ///< position of the argument whose buffer it is
  bool isParameter = true; ///< no: a buffer that the kernel only has maps of

  bool isBuffer() const { return tensor.has_value(); }
  bool isOutput() const { return kind == Kind::Out || kind == Kind::InOut; }
};

/// `stream` makes the random contents of several arguments differ.
Expected<Argument> parseArgument(const std::string &text, unsigned stream);

/// "f32 4x8: 0.5 1 2 ... 7": the first elements and the last.
std::string summary(const reference::Tensor &tensor);

} // namespace swage

#endif // SWAGE_TOOLS_SWAGE_SIM_ARGUMENTS_H
