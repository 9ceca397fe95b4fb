//===- Disassembler.h - Machine code as text ------------------------------===//
#ifndef SWAGE_JIT_DISASSEMBLER_H
#define SWAGE_JIT_DISASSEMBLER_H

#include "swage/Support/Api.h"
#include "swage/Support/Error.h"
#include "swage/Support/KernelBinary.h"

#include <string>

namespace swage {

/// The nvdisasm or cuobjdump to use.  `program`: a file or a name on PATH, as SWAGE_NVDISASM gives
/// it; empty: the first of both that is on PATH or in a toolkit.  Where there is none the error
/// says how to get one.
SWAGE_API Expected<std::string> findDisassembler(const std::string &program);

/// The SASS of a kernel for a GPU, with its source lines; `program` as above.
SWAGE_API Expected<std::string> disassemble(const KernelBinary &binary, const std::string &program);

} // namespace swage

#endif // SWAGE_JIT_DISASSEMBLER_H
