// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/elf_objects.h"

#include "tfaot/compile/elf_handles.h"

namespace tfaot {
namespace {

constexpr std::size_t kWeightAlignment = 64;
// From this size on, weights have pages of their own: none is touched for something else.
constexpr std::size_t kPage = 4096;

// Names of sections and symbols in one table, as ld accepts it.
class StringTable {
 public:
  std::uint32_t add(std::string_view text) {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    bytes_.append(text).push_back('\0');
    return offset;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

struct SectionSpec {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t alignment;
  void* bytes;  // libelf's interface takes no const; it only reads
  std::size_t size;
  Elf_Type content = ELF_T_BYTE;
};

Result<Elf_Scn*> add_section(Elf* elf, const SectionSpec& spec) {
  Elf_Scn* section = elf_newscn(elf);
  Elf_Data* data = section != nullptr ? elf_newdata(section) : nullptr;
  if (data == nullptr) return fail(elf_error("add a section"));
  data->d_buf = spec.bytes;
  data->d_size = spec.size;
  data->d_align = spec.alignment;
  data->d_type = spec.content;
  data->d_version = EV_CURRENT;
  GElf_Shdr header{};
  if (gelf_getshdr(section, &header) == nullptr) return fail(elf_error("read a section header"));
  header.sh_name = spec.name;
  header.sh_type = spec.type;
  header.sh_flags = spec.flags;
  header.sh_addralign = spec.alignment;
  if (gelf_update_shdr(section, &header) == 0) return fail(elf_error("write a section header"));
  return section;
}

Status link_symbols(Elf_Scn* symbols, Elf_Scn* strings) {
  GElf_Shdr header{};
  if (gelf_getshdr(symbols, &header) == nullptr) return fail(elf_error("read the symbol table"));
  header.sh_link = static_cast<GElf_Word>(elf_ndxscn(strings));
  header.sh_info = 1;  // the first global symbol
  header.sh_entsize = sizeof(Elf64_Sym);
  if (gelf_update_shdr(symbols, &header) == 0) return fail(elf_error("write the symbol table"));
  return {};
}

}  // namespace

Result<std::string> make_data_object(std::string_view blob, const std::vector<DataSymbol>& symbols,
                                     const std::string& target_triple) {
  const MemoryFile file;
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_begin(file.descriptor(), ELF_C_WRITE, nullptr));
  if (elf == nullptr) return fail(elf_error("start an object"));
  if (gelf_newehdr(elf.get(), ELFCLASS64) == nullptr) return fail(elf_error("write the header"));
  GElf_Ehdr header{};
  if (gelf_getehdr(elf.get(), &header) == nullptr) return fail(elf_error("read the header"));
  header.e_type = ET_REL;
  header.e_machine = target_triple.starts_with("aarch64") ? EM_AARCH64 : EM_X86_64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_version = EV_CURRENT;

  StringTable names;
  const auto data_name = names.add(".rodata");
  const auto note_name = names.add(".note.GNU-stack");
  const auto symbols_name = names.add(".symtab");
  const auto strings_name = names.add(".strtab");
  TFAOT_ASSIGN(Elf_Scn * data,
               add_section(elf.get(), {data_name, SHT_PROGBITS, SHF_ALLOC,
                                       blob.size() < kPage ? kWeightAlignment : kPage,
                                       const_cast<char*>(blob.data()), blob.size()}));
  // Without this mark the linker makes the stack executable.
  TFAOT_TRY(add_section(elf.get(), {note_name, SHT_PROGBITS, 0, 1, nullptr, 0}));
  std::vector<Elf64_Sym> entries(1);  // the first one is null
  for (const DataSymbol& symbol : symbols) {
    Elf64_Sym& entry = entries.emplace_back();
    entry.st_name = names.add(symbol.name);
    entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    entry.st_other = symbol.is_hidden ? STV_HIDDEN : STV_DEFAULT;
    entry.st_shndx = static_cast<Elf64_Section>(elf_ndxscn(data));
    entry.st_value = symbol.offset;
    entry.st_size = symbol.size;
  }
  TFAOT_ASSIGN(Elf_Scn * table,
               add_section(elf.get(), {symbols_name, SHT_SYMTAB, 0, 8, entries.data(),
                                       entries.size() * sizeof(Elf64_Sym), ELF_T_SYM}));
  TFAOT_ASSIGN(Elf_Scn * strings,
               add_section(elf.get(), {strings_name, SHT_STRTAB, 0, 1, names.bytes().data(),
                                       names.bytes().size()}));
  TFAOT_TRY(link_symbols(table, strings));
  header.e_shstrndx = static_cast<GElf_Half>(elf_ndxscn(strings));
  if (gelf_update_ehdr(elf.get(), &header) == 0) return fail(elf_error("write the header"));
  if (elf_update(elf.get(), ELF_C_WRITE) < 0) return fail(elf_error("write an object"));
  return file.contents();
}

}  // namespace tfaot
