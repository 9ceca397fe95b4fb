//===- NameTable.cpp - Identifiers and comments from untrusted text -------===//

#include "NameTable.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace swage;

static constexpr size_t kLongestName = 64;
static constexpr size_t kLongestFile = 80;

/// Words that a scalar function, an operand or a kernel cannot be called, in upper and lower case
/// of their first letter.
static const llvm::StringSet<> &reservedWords() {
  static const llvm::StringSet<> words{
      // C++
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
      "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
      "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
      "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
      "explicit", "export", "extern", "false", "final", "float", "for", "friend", "goto", "if",
      "import", "inline", "int", "long", "main", "module", "mutable", "namespace", "new",
      "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "override", "private",
      "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template",
      "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
      "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
      // CUDA and the preprocessor
      "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "linux", "unix", "assert",
      // the generated file
      "swage", "Spec", "Input", "Output", "Element", "Value", "Pointer", "access", "traffic",
      "source", "Index", "Compute", "Coord", "Sizes", "Box", "Reach", "Steps", "ReadOrder",
      "Principal", "Loads", "Stores", "PrologueLoads", "PrologueStores", "EpilogueLoads",
      "EpilogueStores", "FinishLoads", "FinishStores", "Second", "Third", "Fourth", "Later",
      "GroupFinishLoads", "GroupFinishStores", "BoundsLoads", "InsideLoads", "InsideStores",
      "AgreeLoads", "AgreeStores", "AlikeLoads", "AlikeStores", "SinkLoads", "SinkStores", "Result",
      "OffsetLoads", "OffsetStores", "ExponentLoads", "ExponentStores", "exponent", "reach", "base",
      "NearExponentLoads", "NearExponentStores", "nearExponent", "nearReach", "inside", "agree",
      "alike", "sink", "scale", "score", "Pointers", "body", "between", "groupFinish", "bounds",
      "prologue", "epilogue", "finish", "extents", "vectors", "tiles", "kept", "reduced", "sizes",
      "offset", "d", "kThreads", "kVector", "kUnroll", "kTail", "kTransposedDim", "kTileIn",
      "kTileOut", "kVectorIn", "kVectorOut", "collective", "rowClass", "epsilon", "kReadRun",
      "kWriteRun", "kLanes", "kReadAligned", "kWriteAligned", "kSkewed", "boxes", "kThreadsPerRow",
      "kVectorsPerThread", "kRowGroups"};
  return words;
}

bool codegen::isIdentifier(StringRef text) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !text.empty() && text.size() <= kLongestName && llvm::isAlpha(text.front()) &&
         llvm::all_of(text, isWord) && !text.contains("__") && !reservedWords().contains(text);
}

std::string codegen::toIdentifier(StringRef text) {
  std::string name;
  for (char c : text) {
    char kept = llvm::isAlnum(c) ? c : '_';
    // Names with two underscores, or one in front, belong to the compiler.
    if (kept == '_' && (name.empty() || name.back() == '_'))
      continue;
    if (name.empty() && llvm::isDigit(kept))
      name = "n";
    name += kept;
    if (name.size() == kLongestName)
      break;
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  if (name.empty())
    name = "value";
  return name;
}

std::string codegen::NameTable::unique(StringRef wanted) {
  std::string base = toIdentifier(wanted), name = base;
  if (reservedWords().contains(name))
    name = base + "Value";
  for (unsigned i = 1; !taken.insert(name).second; ++i) {
    std::string number = std::to_string(i);
    // "x1" and a second one are "x1_1": digits alone would read as another number.
    name = base.substr(0, kLongestName - number.size() - 1) +
           (llvm::isDigit(base.back()) ? "_" : "") + number;
  }
  return name;
}

std::string codegen::typeCase(StringRef identifier) {
  std::string name = identifier.str();
  name.front() = llvm::toUpper(name.front());
  return name;
}

std::string codegen::valueCase(StringRef identifier) {
  std::string name = identifier.str();
  name.front() = llvm::toLower(name.front());
  return name;
}

std::string codegen::nameOf(Location loc) {
  if (auto named = loc->findInstanceOf<NameLoc>())
    return named.getName().str();
  return {};
}

std::string codegen::commentText(StringRef text) {
  std::string safe;
  for (char c : text) {
    bool ends = c == '/' && (StringRef(safe).ends_with("*") || StringRef(safe).ends_with("??"));
    if (c < ' ' || c > '~' || c == '\\' || ends) {
      safe += '%';
      safe += llvm::hexdigit(static_cast<unsigned char>(c) >> 4);
      safe += llvm::hexdigit(static_cast<unsigned char>(c) & 15);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string codegen::fileAndLine(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return {};
  StringRef file = llvm::sys::path::filename(place.getFilename().getValue());
  if (file.size() > kLongestFile)
    file = file.take_back(kLongestFile);
  return commentText(file) + ":" + std::to_string(place.getLine());
}
