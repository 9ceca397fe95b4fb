//===- Npy.cpp - NumPy files ----------------------------------------------===//
//
// The header is a Python dictionary literal with three keys; the parser below reads exactly that
// and refuses the rest, since a file comes from outside.
//
//===----------------------------------------------------------------------===//

#include "swage/Reference/Npy.h"
#include "swage/Support/Text.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace swage;
using namespace swage::reference;
using llvm::StringRef;

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr size_t kMaxRank = 32;
/// Format 1.0 has no longer ones.
static constexpr uint64_t kMaxHeaderBytes = 10 + 65535;

static llvm::Error error(StringRef name, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), name + ": " + message);
}

static StringRef descriptorOf(ElementType type) {
  static const char *const descriptors[] = {"<V1", "<f1", "<f2", "<V2", "<f4",
                                            "<f8", "|b1", "|i1", "<i4", "<i8"};
  return descriptors[static_cast<int>(type)];
}

static std::optional<ElementType> typeOf(StringRef descriptor) {
  return llvm::StringSwitch<std::optional<ElementType>>(descriptor)
      .Cases({"<V1", "|V1"}, ElementType::F8E4M3FN)
      .Cases({"<f1", "|f1"}, ElementType::F8E5M2)
      .Case("<f2", ElementType::F16)
      .Cases({"<V2", "|V2", "<u2"}, ElementType::BF16)
      .Case("<f4", ElementType::F32)
      .Case("<f8", ElementType::F64)
      .Case("|b1", ElementType::I1)
      .Case("|i1", ElementType::I8)
      .Case("<i4", ElementType::I32)
      .Case("<i8", ElementType::I64)
      .Default(std::nullopt);
}

namespace {

struct Header {
  std::string descriptor;
  bool fortranOrder = false;
  Shape shape;
};

/// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  bool parse(Header &header) {
    bool seen[3] = {};
    if (!take("{"))
      return false;
    while (!take("}")) {
      StringRef key;
      if (!string(key) || !take(":"))
        return false;
      StringRef value;
      if (key == "descr" && !seen[0] && string(value)) {
        header.descriptor = value.str();
        seen[0] = true;
      } else if (key == "fortran_order" && !seen[1] && boolean(header.fortranOrder)) {
        seen[1] = true;
      } else if (key == "shape" && !seen[2] && tuple(header.shape)) {
        seen[2] = true;
      } else {
        return false;
      }
      if (!take(",") && !rest.ltrim().starts_with("}"))
        return false;
    }
    return seen[0] && seen[1] && seen[2] && rest.trim().empty();
  }

private:
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool string(StringRef &value) {
    rest = rest.ltrim();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return false;
    value = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return true;
  }

  bool boolean(bool &value) {
    value = take("True");
    return value || take("False");
  }

  bool tuple(Shape &shape) {
    if (!take("("))
      return false;
    while (!take(")")) {
      int64_t extent;
      rest = rest.ltrim();
      if (rest.consumeInteger(10, extent) || extent < 0 || shape.size() == kMaxRank)
        return false;
      shape.push_back(extent);
      if (!take(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef rest;
};

} // namespace

namespace {
/// What stands in front of the data.
struct Preamble {
  ElementType type = ElementType::F32;
  Shape shape;
  uint64_t dataOffset = 0;
};
} // namespace

/// The preamble of a file of `fileBytes`, from its first bytes. The size is compared here, before
/// any memory is taken: a header of a few bytes must not cost terabytes.
static llvm::Expected<Preamble> parsePreamble(StringRef bytes, uint64_t fileBytes, StringRef name) {
  if (!bytes.starts_with(StringRef(kMagic, 6)))
    return error(name, "not a .npy file: it does not begin with \\x93NUMPY");
  if (bytes.size() < 10)
    return error(name, "truncated: the header is incomplete");
  unsigned major = static_cast<uint8_t>(bytes[6]), minor = static_cast<uint8_t>(bytes[7]);
  if ((major != 1 && major != 2) || minor != 0)
    return error(name, "has format " + llvm::Twine(major) + "." + llvm::Twine(minor) +
                           ", but only 1.0 and 2.0 are known");
  size_t lengthBytes = major == 1 ? 2 : 4, length = 0;
  if (bytes.size() < 8 + lengthBytes)
    return error(name, "truncated: the header is incomplete");
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= static_cast<size_t>(static_cast<uint8_t>(bytes[8 + i])) << (8 * i);
  Preamble preamble;
  preamble.dataOffset = 8 + lengthBytes + length;
  if (fileBytes < preamble.dataOffset)
    return error(name, "truncated: the header has " + llvm::Twine(length) + " bytes, but only " +
                           llvm::Twine(fileBytes - 8 - lengthBytes) + " follow");
  Header header;
  if (bytes.size() < preamble.dataOffset ||
      !HeaderParser(bytes.substr(8 + lengthBytes, length)).parse(header))
    return error(name,
                 "has a header that is not {'descr': ..., 'fortran_order': ..., 'shape': ...}");

  std::optional<ElementType> type = typeOf(header.descriptor);
  if (!type)
    return error(name, "has dtype '" + header.descriptor +
                           "', but must have <f2, <f4, <f8, |i1, <i4, <i8, |b1, <V2 (bf16), <V1 "
                           "(f8E4M3FN) or <f1 (f8E5M2)");
  if (header.fortranOrder && header.shape.size() > 1)
    return error(name, "is in Fortran order, but must be in C order");
  int64_t count = elementCount(header.shape);
  if (count < 0)
    return error(name, "has a shape of more than 2^48 elements");
  uint64_t found = fileBytes - preamble.dataOffset;
  uint64_t needed = static_cast<uint64_t>(count) * byteWidth(*type);
  if (found != needed)
    return error(name, llvm::Twine(found < needed ? "truncated: " : "too long: ") +
                           describe(header.shape, *type) + " takes " + llvm::Twine(needed) +
                           " bytes, but the file has " + llvm::Twine(found));
  preamble.type = *type;
  preamble.shape = std::move(header.shape);
  return preamble;
}

llvm::Expected<Tensor> swage::reference::parseNpy(StringRef bytes, StringRef name) {
  llvm::Expected<Preamble> preamble = parsePreamble(bytes, bytes.size(), name);
  if (!preamble)
    return preamble.takeError();
  llvm::Expected<Tensor> tensor = Tensor::create(preamble->type, preamble->shape);
  if (tensor && tensor->bytes() > 0)
    std::memcpy(tensor->data(), bytes.data() + preamble->dataOffset, tensor->bytes());
  return tensor;
}

/// Fills `into` from the file; an error where the file ends before.
static std::error_code readAll(llvm::sys::fs::file_t file, llvm::MutableArrayRef<char> into,
                               uint64_t offset) {
  while (!into.empty()) {
    llvm::Expected<size_t> count = llvm::sys::fs::readNativeFileSlice(file, into, offset);
    if (!count)
      return llvm::errorToErrorCode(count.takeError());
    if (*count == 0)
      return std::make_error_code(std::errc::io_error);
    into = into.drop_front(*count);
    offset += *count;
  }
  return {};
}

llvm::Expected<Tensor> swage::reference::readNpy(StringRef path) {
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  // Before it is opened: a pipe without a writer would wait for ever.
  if (std::error_code code = fs::status(path, status))
    return error(path, code.message());
  if (!fs::is_regular_file(status))
    return error(path, "not a regular file");
  llvm::Expected<fs::file_t> opened = fs::openNativeFileForRead(path);
  if (!opened)
    return error(path, llvm::toString(opened.takeError()));
  fs::file_t file = *opened;
  llvm::scope_exit close([&] { fs::closeFile(file); });
  std::string head(std::min<uint64_t>(status.getSize(), kMaxHeaderBytes), '\0');
  if (std::error_code code = readAll(file, {head.data(), head.size()}, 0))
    return error(path, code.message());
  llvm::Expected<Preamble> preamble = parsePreamble(head, status.getSize(), path);
  if (!preamble)
    return preamble.takeError();
  llvm::Expected<Tensor> tensor = Tensor::create(preamble->type, preamble->shape);
  if (!tensor)
    return tensor;
  if (std::error_code code =
          readAll(file, {tensor->data(), size_t(tensor->bytes())}, preamble->dataOffset))
    return error(path, code.message());
  return tensor;
}

llvm::Expected<Tensor> swage::reference::readNpy(StringRef path, ElementType type,
                                                 llvm::ArrayRef<int64_t> shape) {
  llvm::Expected<Tensor> tensor = readNpy(path);
  if (tensor && (tensor->type() != type || tensor->shape() != shape))
    return error(path, "holds " + describe(tensor->shape(), tensor->type()) + ", but must hold " +
                           describe(shape, type));
  return tensor;
}

std::string swage::reference::npyHeader(ElementType type, llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{'descr': '" << descriptorOf(type) << "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    os << (i ? " " : "") << shape[i] << (i + 1 < shape.size() || i == 0 ? "," : "");
  os << "), }";
  // The data begins at a multiple of 64, after a newline.
  size_t length = (10 + text.size() + 1 + 63) / 64 * 64 - 10;
  text.append(length - 1 - text.size(), ' ');
  text += '\n';
  std::string header(kMagic, 6);
  header += {'\x01', '\x00', static_cast<char>(length & 255), static_cast<char>(length >> 8)};
  return header + text;
}

llvm::Error swage::reference::writeNpy(StringRef path, const Tensor &tensor) {
  Status written = writeFile(path.str(), npyHeader(tensor.type(), tensor.shape()),
                             {tensor.data(), size_t(tensor.bytes())});
  if (!written)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), written.error().message);
  return llvm::Error::success();
}
