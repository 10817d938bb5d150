// SPDX-License-Identifier: Apache-2.0
#include "elf_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace tfaot::toolkit {
namespace {

Error not_an_object() { return Error("not a relocatable object of 64 bits for x86-64 or aarch64"); }

std::size_t entries_of(const ElfSection& section) {
  return section.header.sh_entsize == 0 ? 0 : section.header.sh_size / section.header.sh_entsize;
}

std::optional<RelocationUse> use_on_x86_64(std::uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC32:
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC64:
    case R_X86_64_GOTOFF64:
      return RelocationUse::kAddress;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
    case R_X86_64_GOT64:
    case R_X86_64_GOTPCREL64:
      return RelocationUse::kSlot;
    default:
      return std::nullopt;
  }
}

std::optional<RelocationUse> use_on_aarch64(std::uint32_t type) {
  switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return RelocationUse::kAddress;
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return RelocationUse::kSlot;
    default:
      return std::nullopt;
  }
}

}  // namespace

ElfImage::~ElfImage() {
  elf_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status ElfImage::make_file() {
  elf_version(EV_CURRENT);
  descriptor_ = ::memfd_create("tfaot", MFD_CLOEXEC);
  if (descriptor_ < 0) return fail(Error::internal("cannot make a file in memory"));
  return {};
}

Status ElfImage::read(std::string bytes) {
  elf_version(EV_CURRENT);
  bytes_ = std::move(bytes);
  elf_.reset(elf_memory(bytes_.data(), bytes_.size()));
  if (elf_ == nullptr) return fail(elf_error("read a file"));
  return {};
}

Status ElfImage::change(std::string_view bytes) {
  TFAOT_TRY(make_file());
  TFAOT_TRY(fill(0, bytes));
  elf_.reset(elf_begin(descriptor_, ELF_C_RDWR, nullptr));
  if (elf_ == nullptr) return fail(elf_error("read an object"));
  return {};
}

Status ElfImage::reserve(std::uint64_t size) {
  TFAOT_TRY(make_file());
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    return fail(Error::internal("cannot make a file in memory"));
  }
  return {};
}

Status ElfImage::open() {
  elf_.reset();
  elf_.reset(elf_begin(descriptor_, ELF_C_READ, nullptr));
  if (elf_ == nullptr) return fail(elf_error("read a file"));
  return {};
}

Status ElfImage::fill(std::uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put <= 0) return fail(Error::internal("cannot copy an ELF object"));
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<std::string> ElfImage::file_contents() const {
  const off_t size = ::lseek(descriptor_, 0, SEEK_END);
  std::string bytes(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got <= 0) return fail(Error::internal("cannot read back an ELF object"));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<std::string> ElfImage::written() const {
  if (elf_update(elf_.get(), ELF_C_WRITE) < 0) return fail(elf_error("write an object"));
  return file_contents();
}

Status fill_from(const OpenedFile& file, const ByteRange& part, const ElfImage& image) {
  TFAOT_ASSIGN(const std::string bytes, file.read_range(part));
  if (bytes.size() != part.size) return fail(Error("the file ends before its parts do"));
  return image.fill(part.offset, bytes);
}

Result<std::unique_ptr<OpenedFile>> open_sections(const FileSystem& fs, const Path& path,
                                                  ElfImage& image) {
  TFAOT_ASSIGN(auto file, fs.open(path));
  TFAOT_ASSIGN(const std::uint64_t size, file->size());
  TFAOT_TRY(image.reserve(size));
  TFAOT_TRY(fill_from(*file, {0, sizeof(Elf64_Ehdr)}, image));
  TFAOT_TRY(image.open());
  GElf_Ehdr header{};
  if (elf_kind(image.get()) == ELF_K_AR) return fail(Error("an archive (.a), not an object"));
  if (gelf_getehdr(image.get(), &header) == nullptr) return fail(not_an_object());
  const std::uint64_t headers = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  TFAOT_TRY(fill_from(*file, {header.e_shoff, headers}, image));
  TFAOT_TRY(image.open());
  return file;
}

Result<ElfTables> read_sections(const ElfImage& image) {
  Elf* elf = image.get();
  GElf_Ehdr header{};
  std::size_t names = 0;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr ||
      elf_getshdrstrndx(elf, &names) != 0) {
    return fail(not_an_object());
  }
  ElfTables tables;
  tables.machine = header.e_machine;
  tables.is_object = gelf_getclass(elf) == ELFCLASS64 && header.e_type == ET_REL &&
                     (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64);
  tables.sections.emplace_back();
  Elf_Scn* handle = nullptr;
  while ((handle = elf_nextscn(elf, handle)) != nullptr) {
    ElfSection section{handle, {}, ""};
    if (gelf_getshdr(handle, &section.header) == nullptr) return fail(not_an_object());
    const char* name = elf_strptr(elf, names, section.header.sh_name);
    section.name = name != nullptr ? name : "";
    const auto type = section.header.sh_type;
    if (type == SHT_SYMTAB) tables.symbol_table = tables.sections.size();
    tables.has_plain_relocations = tables.has_plain_relocations || type == SHT_REL;
    tables.has_many_sections = tables.has_many_sections || type == SHT_SYMTAB_SHNDX;
    tables.sections.push_back(std::move(section));
  }
  return tables;
}

Status read_symbols(const ElfImage& image, ElfTables& tables) {
  if (tables.symbol_table == 0) return {};
  const ElfSection& section = tables.sections[tables.symbol_table];
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  for (std::size_t i = 0; i < entries_of(section); ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return fail(not_an_object());
    const char* name = elf_strptr(image.get(), section.header.sh_link, symbol.st_name);
    tables.symbols.push_back(symbol);
    tables.symbol_names.emplace_back(name != nullptr ? name : "");
  }
  return {};
}

Status read_relocations(std::size_t table, ElfTables& tables) {
  const ElfSection& section = tables.sections[table];
  if (section.header.sh_type != SHT_RELA) return {};
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  for (std::size_t i = 0; i < entries_of(section); ++i) {
    ElfRelocation relocation{table, section.header.sh_info, static_cast<int>(i), {}};
    if (gelf_getrela(data, relocation.position, &relocation.entry) == nullptr) {
      return fail(not_an_object());
    }
    tables.relocations.push_back(relocation);
  }
  return {};
}

Result<ElfTables> read_object(const ElfImage& image) {
  TFAOT_ASSIGN(ElfTables tables, read_sections(image));
  if (!tables.is_object) return fail(not_an_object());
  TFAOT_TRY(read_symbols(image, tables));
  for (std::size_t i = 0; i < tables.sections.size(); ++i) TFAOT_TRY(read_relocations(i, tables));
  for (const ElfRelocation& relocation : tables.relocations) {
    if (relocation.symbol() >= tables.symbols.size()) return fail(not_an_object());
  }
  return tables;
}

Status change_symbol(const ElfTables& tables, std::size_t position, const GElf_Sym& symbol) {
  Elf_Data* data = elf_getdata(tables.sections[tables.symbol_table].handle, nullptr);
  GElf_Sym changed = symbol;
  if (gelf_update_sym(data, static_cast<int>(position), &changed) == 0) {
    return fail(elf_error("change a symbol"));
  }
  elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
  return {};
}

Status change_relocation(const ElfTables& tables, const ElfRelocation& relocation,
                         const GElf_Rela& entry) {
  Elf_Data* data = elf_getdata(tables.sections[relocation.table].handle, nullptr);
  GElf_Rela changed = entry;
  if (gelf_update_rela(data, relocation.position, &changed) == 0) {
    return fail(elf_error("change a relocation"));
  }
  elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
  return {};
}

Status append(const ElfSection& section, void* bytes, std::size_t size, Elf_Type type) {
  Elf_Data* data = elf_newdata(section.handle);
  if (data == nullptr) return fail(elf_error("add to a section"));
  data->d_buf = bytes;
  data->d_size = size;
  data->d_align = type == ELF_T_SYM ? alignof(Elf64_Sym) : 1;
  data->d_type = type;
  data->d_version = EV_CURRENT;
  return {};
}

std::optional<RelocationUse> relocation_use(std::uint16_t machine, std::uint32_t type) {
  return machine == EM_AARCH64 ? use_on_aarch64(type) : use_on_x86_64(type);
}

bool is_position_dependent(std::uint16_t machine, std::uint32_t type) {
  return machine == EM_X86_64 && (type == R_X86_64_32 || type == R_X86_64_32S);
}

}  // namespace tfaot::toolkit
