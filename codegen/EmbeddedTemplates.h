//===- EmbeddedTemplates.h - What EmbedTemplates.cmake generates -*- C++ -*-===//

#ifndef SWAGE_CODEGEN_EMBEDDEDTEMPLATES_H
#define SWAGE_CODEGEN_EMBEDDEDTEMPLATES_H

namespace swage::codegen {

struct EmbeddedFile {
  const char *name;          ///< null behind the last one
  const char *const *pieces; ///< the text, cut to lengths that every compiler takes; ends with null
};

extern const EmbeddedFile kEmbeddedTemplates[];

} // namespace swage::codegen

#endif // SWAGE_CODEGEN_EMBEDDEDTEMPLATES_H
