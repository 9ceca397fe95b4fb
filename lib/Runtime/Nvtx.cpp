//===- Nvtx.cpp - Ranges for NVIDIA's profilers ---------------------------===//
//
// NVTX is headers only: on its first call it loads the library of the tool that runs the program,
// if one does.
//
//===----------------------------------------------------------------------===//
#include "Nvtx.h"
#include "swage/Runtime/Trace.h"

using namespace swage;

#ifdef SWAGE_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

/// Null where no tool is attached.
static nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("swage");
  return domain;
}

void swage::beginNvtxRange(const char *stage, const std::string &name) {
  if (!domain())
    return;
  std::string text = std::string(stage) + " " + name;
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
}

void swage::endNvtxRange() {
  if (domain())
    nvtxDomainRangePop(domain());
}

bool swage::hasNvtx() { return true; }

#else

void swage::beginNvtxRange(const char *, const std::string &) {}
void swage::endNvtxRange() {}
bool swage::hasNvtx() { return false; }

#endif
