//===- SourceText.cpp - Lines of generated CUDA ---------------------------===//

#include "SourceText.h"
#include "llvm/ADT/StringExtras.h"

using namespace swage;
using namespace swage::codegen;

void SourceText::line(const llvm::Twine &content) {
  text += std::string(depth, ' ') + content.str() + "\n";
}

void SourceText::line(const llvm::Twine &content, llvm::StringRef comment) {
  std::string code = content.str();
  if (comment.empty()) {
    line(code);
  } else if (depth + code.size() + comment.size() + 4 <= kColumns) {
    line(code + " // " + comment);
  } else {
    line("// " + comment);
    line(code);
  }
}

void SourceText::comment(llvm::StringRef comment) {
  std::string current = "//";
  llvm::SmallVector<llvm::StringRef> words;
  comment.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    if (current.size() > 2 && depth + current.size() + 1 + word.size() > kColumns) {
      line(current);
      current = "//  ";
    }
    current += (" " + word).str();
  }
  line(current);
}

void SourceText::list(llvm::StringRef head, llvm::ArrayRef<std::string> items,
                      llvm::StringRef tail) {
  std::string current = head.str();
  for (auto [i, item] : llvm::enumerate(items)) {
    std::string next = item + (i + 1 < items.size() ? "," : tail.str());
    size_t space = i && llvm::StringRef(current).trim() != "" && current.size() > head.size();
    if (space && depth + current.size() + 1 + next.size() > kColumns) {
      line(current);
      current = std::string(head.size(), ' ');
      space = 0;
    }
    current += (space ? " " : "") + next;
  }
  line(items.empty() ? (head + tail).str() : current);
}

void SourceText::function(llvm::StringRef head, llvm::StringRef expr) {
  std::string whole = (head + " { return " + expr + "; }").str();
  if (depth + whole.size() <= kColumns)
    return line(whole);
  line(head + " {");
  indent();
  line("return " + expr + ";");
  dedent();
  line("}");
}
