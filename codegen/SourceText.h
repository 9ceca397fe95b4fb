//===- SourceText.h - Lines of generated CUDA -------------------*- C++ -*-===//
//
// Layout only: indentation, and lists broken where clang-format would break them.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_SOURCETEXT_H
#define SWAGE_CODEGEN_SOURCETEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>
#include <vector>

namespace swage::codegen {

class SourceText {
public:
  static constexpr size_t kColumns = 100;

  void line(const llvm::Twine &text);
  void blank() { text += "\n"; }
  /// `text // comment`, the comment on the line above where it does not fit; none if it is empty.
  void line(const llvm::Twine &text, llvm::StringRef comment);
  /// Words of `comment` on as many comment lines as needed.
  void comment(llvm::StringRef comment);
  /// `head` item, item, ... `tail`, continued under the first item.
  void list(llvm::StringRef head, llvm::ArrayRef<std::string> items, llvm::StringRef tail);
  /// `head { return expr; }`, on three lines where one is too long.
  void function(llvm::StringRef head, llvm::StringRef expr);
  void indent() { depth += 2; }
  void dedent() { depth -= 2; }
  /// Where the next line will be, and a line put there later.
  size_t mark() const { return text.size(); }
  void insertLine(size_t mark, llvm::StringRef line) { text.insert(mark, (line + "\n").str()); }
  std::string take() { return std::move(text); }

private:
  std::string text;
  size_t depth = 0;
};

} // namespace swage::codegen

#endif // SWAGE_CODEGEN_SOURCETEXT_H
