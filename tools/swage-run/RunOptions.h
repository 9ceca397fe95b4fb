//===- RunOptions.h - The command line of swage-run -------------*- C++ -*-===//
//
// What each option is for stands with its definition, as --help prints it.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_TOOLS_SWAGE_RUN_RUNOPTIONS_H
#define SWAGE_TOOLS_SWAGE_RUN_RUNOPTIONS_H

#include "llvm/Support/CommandLine.h"

#include <string>

namespace swage::options {

extern llvm::cl::OptionCategory category;
extern llvm::cl::opt<std::string> inputFile, entryName, deviceName, simText, inputKind, dimsText,
    dumpText, jsonFile, arch, outputDir;
extern llvm::cl::list<std::string> npyFiles;
extern llvm::cl::opt<uint64_t> seed;
extern llvm::cl::opt<bool> check, benchmark, autotune, fuse, remarks;
extern llvm::cl::opt<unsigned> steps;
extern llvm::cl::opt<double> budget;
extern llvm::cl::opt<int64_t> alignment, offset;

} // namespace swage::options

#endif // SWAGE_TOOLS_SWAGE_RUN_RUNOPTIONS_H
