//===- SimulateScripts.h - Kernels of a dump on the simulator -------------===//
#ifndef SWAGE_TOOLS_SWAGE_RUN_SIMULATESCRIPTS_H
#define SWAGE_TOOLS_SWAGE_RUN_SIMULATESCRIPTS_H

#include "swage/JIT/Program.h"

namespace swage {

/// Next to each kernel of the dump, a script that runs it by itself on the simulator.
Status writeSimulateScripts(const std::string &directory, const std::string &arch,
                            const Layout &layout, const std::vector<KernelInfo> &kernels);

} // namespace swage

#endif // SWAGE_TOOLS_SWAGE_RUN_SIMULATESCRIPTS_H
