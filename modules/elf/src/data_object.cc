// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/data_object.h"

#include <elf.h>

#include <array>
#include <cstdint>

namespace tfaot::toolkit {
namespace {

// Weights of at least this size get pages of their own, so that no page is read for anything else.
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kTableAlignment = 8;
// On x86-64, code reaches its constants within 2 GiB. So a linker puts data of this size behind all
// of the code's, if a flag says that it is large (elf.h does not have the flag).
constexpr std::uint64_t kLargeData = std::uint64_t{1} << 28;
constexpr std::uint64_t kX86LargeFlag = 0x10000000;

enum Section : std::uint16_t { kNone, kData, kStackNote, kSymbolTable, kStrings, kSectionCount };

// Names of sections and symbols in one table, as ld accepts it.
class StringTable {
 public:
  std::uint32_t add(std::string_view text) {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    bytes_.append(text).push_back('\0');
    return offset;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

template <typename T>
std::string_view bytes_of(const T& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(T)};
}

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Collects what follows the blob; offsets count from the start of the file.
class Tail {
 public:
  explicit Tail(std::uint64_t start) : start_(start) {}

  std::uint64_t add(std::string_view bytes, std::uint64_t alignment) {
    const std::uint64_t offset = aligned(start_ + bytes_.size(), alignment);
    bytes_.resize(offset - start_);
    bytes_.append(bytes);
    return offset;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::uint64_t start_;
  std::string bytes_;
};

Elf64_Ehdr file_header(const std::string& target_triple, std::uint64_t section_headers) {
  Elf64_Ehdr header{};
  std::string_view(ELFMAG, SELFMAG).copy(reinterpret_cast<char*>(header.e_ident), SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = target_triple.starts_with("aarch64") ? EM_AARCH64 : EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = section_headers;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSectionCount;
  header.e_shstrndx = kStrings;
  return header;
}

}  // namespace

DataObjectFrame data_object_frame(std::uint64_t blob_size, const std::vector<DataSymbol>& symbols,
                                  const std::string& target_triple) {
  std::array<Elf64_Shdr, kSectionCount> sections{};
  StringTable names;
  Elf64_Shdr& data = sections[kData];
  const bool is_large = blob_size >= kLargeData && !target_triple.starts_with("aarch64");
  data.sh_name = names.add(is_large ? ".lrodata" : ".rodata");
  data.sh_type = SHT_PROGBITS;
  data.sh_flags = SHF_ALLOC | (is_large ? kX86LargeFlag : 0);
  data.sh_addralign = blob_size < kPage ? kWeightAlignment : kPage;
  data.sh_offset = aligned(sizeof(Elf64_Ehdr), data.sh_addralign);
  data.sh_size = blob_size;

  // Without this section the linker makes the stack executable.
  Elf64_Shdr& note = sections[kStackNote];
  note.sh_name = names.add(".note.GNU-stack");
  note.sh_type = SHT_PROGBITS;
  note.sh_offset = data.sh_offset + blob_size;
  note.sh_addralign = 1;

  Tail tail(data.sh_offset + blob_size);
  std::vector<Elf64_Sym> entries(1);  // the first one is null
  for (const DataSymbol& symbol : symbols) {
    Elf64_Sym& entry = entries.emplace_back();
    entry.st_name = names.add(symbol.name);
    entry.st_info = static_cast<unsigned char>(
        ELF64_ST_INFO(symbol.is_weak ? STB_WEAK : STB_GLOBAL, STT_OBJECT));
    entry.st_other = symbol.is_hidden ? STV_HIDDEN : STV_DEFAULT;
    entry.st_shndx = kData;
    entry.st_value = symbol.offset;
    entry.st_size = symbol.size;
  }
  const std::string_view table_bytes(reinterpret_cast<const char*>(entries.data()),
                                     entries.size() * sizeof(Elf64_Sym));
  Elf64_Shdr& table = sections[kSymbolTable];
  table.sh_name = names.add(".symtab");
  table.sh_type = SHT_SYMTAB;
  table.sh_offset = tail.add(table_bytes, kTableAlignment);
  table.sh_size = table_bytes.size();
  table.sh_link = kStrings;
  table.sh_info = 1;  // the first global symbol
  table.sh_addralign = kTableAlignment;
  table.sh_entsize = sizeof(Elf64_Sym);

  Elf64_Shdr& strings = sections[kStrings];
  strings.sh_name = names.add(".strtab");
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = tail.add(names.bytes(), 1);
  strings.sh_size = names.bytes().size();
  strings.sh_addralign = 1;

  const auto section_headers = tail.add(bytes_of(sections), kTableAlignment);
  DataObjectFrame frame{std::string(bytes_of(file_header(target_triple, section_headers))),
                        tail.take()};
  frame.head.resize(data.sh_offset);
  return frame;
}

Result<std::string> make_data_object(std::string_view blob, const std::vector<DataSymbol>& symbols,
                                     const std::string& target_triple) {
  const DataObjectFrame frame = data_object_frame(blob.size(), symbols, target_triple);
  std::string object = frame.head;
  object += blob;
  return object + frame.tail;
}

}  // namespace tfaot::toolkit
