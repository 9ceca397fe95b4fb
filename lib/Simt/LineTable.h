//===- LineTable.h - Lines of a module's machine code ---------------------===//
//
// The only part of the simulator that needs LLVM.  A library that does without, libswage_runtime,
// links NoLineTable.cpp in place of LineTable.cpp: findings then name no lines.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_LINETABLE_H
#define SWAGE_LIB_SIMT_LINETABLE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swage::simt {

class LineTable {
public:
  /// Of an ELF file, which must outlive the table; null when it has none.
  static std::unique_ptr<LineTable> read(std::string_view image);
  virtual ~LineTable() = default;

  struct Frame {
    std::string path; ///< absolute
    unsigned line = 0;
    std::string function; ///< as C++ prints it
  };
  /// The inlined calls at an address of the file, innermost first.
  virtual std::vector<Frame> framesAt(uint64_t address) const = 0;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_LINETABLE_H
