//===- BuildId.cpp - Which build of a library this is ---------------------===//

#include "swage/Support/BuildId.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <string_view>
#include <unistd.h>

using namespace swage;

/// In the notes of one segment; those of NVRTC 12 claim an alignment of 8 and have 4, as all do.
static std::string findBuildId(std::string_view notes) {
  auto padded = [](size_t bytes) { return (bytes + 3) & ~size_t(3); };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    size_t name = padded(note.n_namesz), content = note.n_descsz;
    if (name > notes.size() || content > notes.size() - name)
      break;
    if (note.n_type == NT_GNU_BUILD_ID && content > 0 &&
        notes.substr(0, note.n_namesz) == std::string_view("GNU\0", 4)) {
      std::string hex;
      for (char byte : notes.substr(name, content))
        hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return hex;
    }
    notes.remove_prefix(std::min(notes.size(), name + padded(content)));
  }
  return {};
}

std::string swage::buildIdAt(const void *address) {
  struct Search {
    ElfW(Addr) address;
    std::string found;
  } search = {reinterpret_cast<ElfW(Addr)>(address), {}};
  auto visit = [](dl_phdr_info *image, size_t, void *data) {
    Search &search = *static_cast<Search *>(data);
    bool holds = false;
    std::string id;
    for (int i = 0; i < image->dlpi_phnum; ++i) {
      const ElfW(Phdr) &segment = image->dlpi_phdr[i];
      ElfW(Addr) begin = image->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD)
        holds |= search.address >= begin && search.address - begin < segment.p_memsz;
      else if (segment.p_type == PT_NOTE && id.empty())
        id = findBuildId({reinterpret_cast<const char *>(begin), segment.p_memsz});
    }
    if (holds)
      search.found = std::move(id);
    return int(holds);
  };
  dl_iterate_phdr(visit, &search);
  return std::move(search.found);
}

static bool readAt(int file, off_t offset, void *data, size_t size) {
  return pread(file, data, size, offset) == ssize_t(size);
}

/// The header says whether the loader would take it: what it looks at, as this process has it.
static bool isForThisMachine(const ElfW(Ehdr) & header) {
#if defined(__x86_64__)
  constexpr int machine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr int machine = EM_AARCH64;
#else
  constexpr int machine = -1; // nothing is known of it: the file is opened instead
#endif
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == machine &&
         header.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
         header.e_type == ET_DYN && header.e_phentsize == sizeof(ElfW(Phdr));
}

std::string swage::buildIdOfFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return {};
  std::string found;
  ElfW(Ehdr) header;
  if (readAt(file, 0, &header, sizeof header) && isForThisMachine(header))
    for (unsigned i = 0; i < header.e_phnum && found.empty(); ++i) {
      ElfW(Phdr) segment;
      constexpr size_t kMostNotes = 1 << 16;
      if (!readAt(file, off_t(header.e_phoff + i * sizeof segment), &segment, sizeof segment))
        break;
      if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNotes)
        continue;
      std::string notes(segment.p_filesz, '\0');
      if (readAt(file, off_t(segment.p_offset), notes.data(), notes.size()))
        found = findBuildId(notes);
    }
  close(file);
  return found;
}
