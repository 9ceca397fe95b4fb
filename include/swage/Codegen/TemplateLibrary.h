//===- TemplateLibrary.h - The CUDA headers that kernels include *- C++ -*-===//
//
// Generated kernels include files below templates/. They are compiled in as data, so that a
// program needs no files of ours at run time; a directory can take their place while templates are
// being worked on.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_TEMPLATELIBRARY_H
#define SWAGE_CODEGEN_TEMPLATELIBRARY_H

#include "swage/Support/Error.h"
#include "swage/Support/KernelBinary.h"
#include <string>
#include <utility>
#include <vector>

namespace swage {

struct TemplateFile {
  std::string name; ///< as in #include: "swage/row.cuh"
  std::string text;
};

/// Every .cuh file below templates/, sorted by name.
const std::vector<TemplateFile> &embeddedTemplates();

/// The same from a directory that has the layout of templates/.
Expected<std::vector<TemplateFile>> loadTemplates(const std::string &directory);

/// Name and text of those that kernels for `target` include: of the twins of the device layer, one.
std::vector<std::pair<std::string, std::string>> headersFor(KernelTarget target,
                                                            const std::vector<TemplateFile> &files);

} // namespace swage

#endif // SWAGE_CODEGEN_TEMPLATELIBRARY_H
