//===- TemplateLibrary.cpp - The CUDA headers that kernels include --------===//

#include "swage/Codegen/TemplateLibrary.h"
#include "EmbeddedTemplates.h"
#include "swage/Support/Text.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace swage;

const std::vector<TemplateFile> &swage::embeddedTemplates() {
  static const std::vector<TemplateFile> files = [] {
    std::vector<TemplateFile> made;
    for (const codegen::EmbeddedFile *file = codegen::kEmbeddedTemplates; file->name; ++file) {
      made.push_back({file->name, {}});
      for (const char *const *piece = file->pieces; *piece; ++piece)
        made.back().text += *piece;
    }
    return made;
  }();
  return files;
}

Expected<std::vector<TemplateFile>> swage::loadTemplates(const std::string &directory) {
  namespace fs = llvm::sys::fs;
  std::vector<TemplateFile> files;
  std::error_code code;
  for (fs::recursive_directory_iterator it(directory, code), end; it != end && !code;
       it.increment(code)) {
    llvm::StringRef path = it->path();
    if (!path.ends_with(".cuh"))
      continue;
    Expected<std::string> text = readFile(path.str());
    if (!text)
      return text.takeError();
    llvm::StringRef name = path.drop_front(directory.size()).ltrim('/');
    files.push_back({name.str(), std::move(*text)});
  }
  if (code)
    return makeError(Stage::Load, "templates: cannot read directory '" + printable(directory) +
                                      "': " + code.message());
  if (files.empty())
    return makeError(Stage::Load,
                     "templates: no .cuh files in directory '" + printable(directory) + "'");
  std::sort(files.begin(), files.end(),
            [](const TemplateFile &a, const TemplateFile &b) { return a.name < b.name; });
  return files;
}

std::vector<std::pair<std::string, std::string>>
swage::headersFor(KernelTarget target, const std::vector<TemplateFile> &files) {
  llvm::StringRef other =
      target == KernelTarget::Simulator ? "swage/device/cuda/" : "swage/device/cpu/";
  std::vector<std::pair<std::string, std::string>> headers;
  for (const TemplateFile &file : files)
    if (!llvm::StringRef(file.name).starts_with(other))
      headers.push_back({file.name, file.text});
  return headers;
}
