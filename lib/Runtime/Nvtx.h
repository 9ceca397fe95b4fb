//===- Nvtx.h - Ranges for NVIDIA's profilers -----------------------------===//
#ifndef SWAGE_LIB_RUNTIME_NVTX_H
#define SWAGE_LIB_RUNTIME_NVTX_H

#include <string>

namespace swage {

// A range of this thread in the domain "swage"; ranges nest.  Where no tool is attached both return
// at once.
void beginNvtxRange(const char *stage, const std::string &name);
void endNvtxRange();

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_NVTX_H
