//===- LineTable.cpp - Lines of a module's machine code, by LLVM ----------===//

#include "LineTable.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace swage::simt;

namespace {
class DwarfLineTable : public LineTable {
public:
  explicit DwarfLineTable(std::unique_ptr<llvm::object::ObjectFile> object)
      : object(std::move(object)),
        context(llvm::DWARFContext::create(
            *this->object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "",
            [](llvm::Error error) { llvm::consumeError(std::move(error)); },
            [](llvm::Error error) { llvm::consumeError(std::move(error)); })) {}

  std::vector<Frame> framesAt(uint64_t address) const override {
    llvm::DILineInfoSpecifier specifier(
        llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
        llvm::DILineInfoSpecifier::FunctionNameKind::LinkageName);
    llvm::DIInliningInfo chain = context->getInliningInfoForAddress(
        {address, llvm::object::SectionedAddress::UndefSection}, specifier);
    std::vector<Frame> frames;
    for (uint32_t i = 0; i < chain.getNumberOfFrames(); ++i) {
      const llvm::DILineInfo &frame = chain.getFrame(i);
      frames.push_back({frame.FileName, frame.Line, llvm::demangle(frame.FunctionName)});
    }
    return frames;
  }

private:
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};
} // namespace

std::unique_ptr<LineTable> LineTable::read(std::string_view image) {
  auto object = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(image.data(), image.size()), "swage-kernel"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return nullptr;
  }
  return std::make_unique<DwarfLineTable>(std::move(*object));
}
