//===- Arguments.cpp - A kernel's arguments on a command line -------------===//

#include "Arguments.h"
#include "swage/Reference/InputFamilies.h"
#include "swage/Reference/Npy.h"
#include "swage/Runtime/Divider.h"
#include "swage/Support/Text.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using reference::ElementType;
using reference::Tensor;

static Error badArgument(const std::string &text, const std::string &why) {
  return makeError(Stage::Input, fmt::format("--arg '{}': {}", printable(text), why));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static std::optional<ElementType> elementType(llvm::StringRef name) {
  // What Swage computes with has signed integers only; a kernel by hand may read the bits
  // otherwise.
  if (name.starts_with("u"))
    return elementType(("i" + name.drop_front()).str());
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::F16,
                           ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::I1,
                           ElementType::I8, ElementType::I32, ElementType::I64})
    if (name == reference::name(type))
      return type;
  return std::nullopt;
}

/// "64x768".
template <class Number>
static bool parseExtents(llvm::StringRef text, std::vector<Number> &extents) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, 'x');
  extents.clear();
  for (llvm::StringRef part : parts) {
    Number extent;
    if (part.getAsInteger(10, extent))
      return false;
    extents.push_back(extent);
  }
  return true;
}

template <class T> static std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// The bytes of "i32:5"; nothing if it is no number of that type.
static std::optional<std::string> parseNumber(llvm::StringRef type, llvm::StringRef value) {
  auto integer = [&](auto number) -> std::optional<std::string> {
    if (value.getAsInteger(0, number))
      return std::nullopt;
    return bytesOf(number);
  };
  if (type == "i32")
    return integer(int32_t());
  if (type == "u32")
    return integer(uint32_t());
  if (type == "i64")
    return integer(int64_t());
  if (type == "u64")
    return integer(uint64_t());
  double real;
  if ((type == "f32" || type == "f64") && !value.getAsDouble(real))
    return type == "f32" ? bytesOf(float(real)) : bytesOf(real);
  uint64_t divisor;
  if (type == "div32" && !value.getAsInteger(0, divisor) && divisor >= 1 && divisor <= 1u << 31)
    return bytesOf(Divider32(uint32_t(divisor)));
  if (type == "div64" && !value.getAsInteger(0, divisor) && divisor >= 1 &&
      divisor <= uint64_t(1) << 62)
    return bytesOf(Divider64(divisor));
  return std::nullopt;
}

static size_t alignmentOf(llvm::StringRef type) { return type.ends_with("64") ? 8 : 4; }

static std::optional<std::string> parseStruct(llvm::StringRef text) {
  std::string bytes;
  size_t most = 1;
  auto pad = [&](size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  };
  llvm::SmallVector<llvm::StringRef> fields;
  text.split(fields, ',');
  for (llvm::StringRef field : fields) {
    auto [type, value] = field.split(':');
    auto number = parseNumber(type, value);
    if (!number)
      return std::nullopt;
    most = std::max(most, alignmentOf(type));
    pad(alignmentOf(type));
    bytes += *number;
  }
  pad(most);
  return bytes;
}

static std::optional<std::string> parseHex(llvm::StringRef text) {
  std::string bytes;
  if (text.size() % 2 != 0 || text.empty())
    return std::nullopt;
  for (size_t i = 0; i < text.size(); i += 2) {
    unsigned byte;
    if (text.substr(i, 2).getAsInteger(16, byte))
      return std::nullopt;
    bytes += char(byte);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Buffers and tensor maps
//===----------------------------------------------------------------------===//

static Status fill(Tensor &tensor, const std::string &text, llvm::StringRef content,
                   unsigned stream) {
  auto setAll = [&](auto value) {
    for (int64_t i = 0; i < tensor.size(); ++i)
      isFloat(tensor.type()) ? tensor.setReal(i, double(value(i))) : tensor.setInteger(i, value(i));
  };
  uint64_t seed = 1;
  if (content == "zeros") {
    setAll([](int64_t) { return 0; });
  } else if (content == "ones") {
    setAll([](int64_t) { return 1; });
  } else if (content == "iota") {
    setAll([](int64_t i) { return i; });
  } else if (content == "random" ||
             (content.consume_front("random(") && content.consume_back(")") &&
              !content.getAsInteger(10, seed))) {
    reference::fillInput(tensor, reference::InputFamily::Dense, seed, stream);
  } else if (content.ends_with(".npy")) {
    auto file = reference::readNpy(content, tensor.type(), tensor.shape());
    if (!file)
      return badArgument(text, llvm::toString(file.takeError()));
    tensor = std::move(*file);
  } else {
    return badArgument(text, fmt::format("'{}' is no content; allowed: random, random(SEED), iota, "
                                         "zeros, ones, FILE.npy",
                                         printable(content.str())));
  }
  return {};
}

static Expected<Argument> parseBuffer(const std::string &text, Argument::Kind kind,
                                      llvm::StringRef rest, unsigned stream) {
  Argument argument;
  argument.kind = kind;
  argument.text = text;
  auto [declared, content] = rest.split('=');
  auto [typeName, shapeText] = declared.split(':');
  auto type = elementType(typeName);
  std::vector<int64_t> shape;
  if (!type || !parseExtents(shapeText, shape))
    return badArgument(text, "needed: TYPE:EXTENTS, as in f32:64x768; types: f16, bf16, f32, f64, "
                             "f8E4M3FN, f8E5M2, i1, i8, i32, i64");
  for (int64_t extent : shape)
    if (extent < 0)
      return badArgument(text, fmt::format("{} is no extent", extent));
  auto tensor = Tensor::create(*type, shape);
  if (!tensor)
    return badArgument(text, llvm::toString(tensor.takeError()));
  argument.tensor = std::move(*tensor);
  if (kind == Argument::Kind::Out) {
    std::memset(argument.tensor->data(), 0xff, size_t(argument.tensor->bytes()));
    argument.file = content.str();
    if (!content.empty() && !content.ends_with(".npy"))
      return badArgument(text, "an output is saved to FILE.npy; inout has a content");
    return argument;
  }
  if (Status filled = fill(*argument.tensor, text, content.empty() ? "random" : content, stream);
      !filled)
    return filled.takeError();
  return argument;
}

static Expected<Argument> parseMap(const std::string &text, llvm::StringRef rest) {
  static const char *const types[] = {"u8",  "u16", "u32", "i32", "u64",
                                      "i64", "f16", "f32", "f64", "bf16"};
  Argument argument;
  argument.kind = Argument::Kind::Map;
  argument.text = text;
  TensorMapSpec &map = argument.map;
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, ':');
  unsigned type = 0;
  while (type < std::size(types) && parts[0] != types[type])
    ++type;
  bool good = type < std::size(types) && parts.size() >= 2 && parseExtents(parts[1], map.dims);
  map.type = type;
  bool hasBuffer = false;
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front(std::min<size_t>(2, parts.size()))) {
    auto [key, value] = part.split('=');
    unsigned swizzle = 0;
    if (key == "box") {
      good &= parseExtents(value, map.box);
    } else if (key == "strides") {
      good &= parseExtents(value, map.strides);
    } else if (key == "steps") {
      good &= parseExtents(value, map.steps);
    } else if (key == "swizzle") {
      good &= !value.getAsInteger(10, swizzle) &&
              (swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128);
      map.swizzle = swizzle == 0 ? 0 : swizzle == 32 ? 1 : swizzle == 64 ? 2 : 3;
    } else if (key == "of") {
      hasBuffer = !value.getAsInteger(10, map.of);
    } else if (key == "at") {
      good &= !value.getAsInteger(10, map.at);
    } else {
      good = false;
    }
  }
  if (!good || !hasBuffer || map.box.size() != map.dims.size() ||
      (!map.steps.empty() && map.steps.size() != map.dims.size()) ||
      (!map.strides.empty() && map.strides.size() + 1 != map.dims.size()))
    return badArgument(text,
                       "needed: map:TYPE:EXTENTS:box=EXTENTS:of=ARGUMENT, with "
                       "swizzle=32|64|128, at=BYTE, strides=BYTES for all dimensions but the "
                       "innermost and steps=EXTENTS where they are not the usual ones");
  return argument;
}

Expected<Argument> swage::parseArgument(const std::string &text, unsigned stream) {
  auto [kind, rest] = llvm::StringRef(text).split(':');
  if (kind == "in")
    return parseBuffer(text, Argument::Kind::In, rest, stream);
  if (kind == "out")
    return parseBuffer(text, Argument::Kind::Out, rest, stream);
  if (kind == "inout")
    return parseBuffer(text, Argument::Kind::InOut, rest, stream);
  if (kind == "map")
    return parseMap(text, rest);
  if (kind == "buffer") {
    auto argument = parseArgument(rest.str(), stream);
    if (argument && !argument->isBuffer())
      return badArgument(text, "needed: buffer:in:, buffer:out: or buffer:inout:TYPE:EXTENTS");
    if (argument)
      argument->isParameter = false;
    return argument;
  }
  Argument argument;
  argument.text = text;
  if (kind == "same" && !rest.getAsInteger(10, argument.same)) {
    argument.kind = Argument::Kind::Same;
    return argument;
  }
  auto bytes = kind == "bytes"    ? parseHex(rest)
               : kind == "struct" ? parseStruct(rest)
                                  : parseNumber(kind, rest);
  if (!bytes)
    return badArgument(
        text,
        "needed: in:, out: or inout:TYPE:EXTENTS, buffer:, map:, same:ARGUMENT, a number as i32:5 "
        "(i32, u32, i64, u64, f32, f64), struct:i32:5,div32:7 or bytes:0500");
  argument.bytes = std::move(*bytes);
  return argument;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string swage::summary(const Tensor &tensor) {
  std::string text = reference::describe(tensor.shape(), tensor.type()) + ":";
  constexpr int64_t kFirst = 8, kLast = 4;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.size() > kFirst + kLast && i == kFirst) {
      text += " ...";
      i = tensor.size() - kLast;
    }
    if (!isFloat(tensor.type()))
      text += fmt::format(" {}", tensor.integer(i));
    else if (double value = tensor.real(i); std::isnan(value))
      text += " nan";
    else
      text += fmt::format(" {:g}", value);
  }
  return text;
}
