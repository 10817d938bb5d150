// SPDX-License-Identifier: Apache-2.0
// An ELF file that libelf works with: its handle and its memory, and its tables of sections,
// symbols and relocations, to be read and changed one by one. One thread.
#pragma once

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

class ElfImage {
 public:
  ElfImage() = default;
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;
  ~ElfImage();

  // Open it with one of these three. For an object, program, library or archive:
  Status read(std::string bytes);
  // For changing and writing.
  Status change(std::string_view bytes);
  // A file of this size, all zeros, until fill() supplies the parts that libelf is to read. For
  // large files. Call open() once the headers are there, and again after adding more of them.
  Status reserve(std::uint64_t size);
  Status fill(std::uint64_t offset, std::string_view bytes) const;
  Status open();

  Elf* get() const { return elf_.get(); }
  // REQUIRES: change().
  Result<std::string> written() const;

 private:
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  Status make_file();
  Result<std::string> file_contents() const;

  std::string bytes_;    // of read(); libelf may write into it
  int descriptor_ = -1;  // of the others: a file in memory, as libelf writes to descriptors only
  std::unique_ptr<Elf, EndElf> elf_;
};

// Opens a file of any size for read_sections(): nothing but the headers of its sections is read.
// Sections that are needed beside them are filled in by fill_from().
Result<std::unique_ptr<OpenedFile>> open_sections(const FileSystem& fs, const Path& path,
                                                  ElfImage& image);
Status fill_from(const OpenedFile& file, const ByteRange& part, const ElfImage& image);

// A linker makes it, for tables of addresses: objects name it, and nobody defines it.
inline constexpr std::string_view kOffsetTable = "_GLOBAL_OFFSET_TABLE_";

inline Error elf_error(const char* what) {
  return Error::internal(fmt::format("libelf cannot {}: {}", what, elf_errmsg(-1)));
}

struct ElfSection {
  Elf_Scn* handle = nullptr;
  GElf_Shdr header{};
  std::string name;
};

// One entry of a relocation table.
struct ElfRelocation {
  std::size_t table = 0;   // the section that holds it
  std::size_t target = 0;  // the section that it changes
  int position = 0;        // in the table
  GElf_Rela entry{};
  std::size_t symbol() const { return GELF_R_SYM(entry.r_info); }
  std::uint32_t type() const { return static_cast<std::uint32_t>(GELF_R_TYPE(entry.r_info)); }
};

struct ElfTables {
  std::uint16_t machine = 0;
  bool is_object = false;            // relocatable, of 64 bits, for x86-64 or aarch64
  std::vector<ElfSection> sections;  // by index; [0] is empty
  std::size_t symbol_table = 0;      // its section; 0: there is none
  std::vector<GElf_Sym> symbols;
  std::vector<std::string> symbol_names;
  std::vector<ElfRelocation> relocations;
  bool has_plain_relocations = false;  // without addends (SHT_REL)
  bool has_many_sections = false;      // more than a symbol's own field can hold

  bool is_undefined(std::size_t symbol) const { return symbols[symbol].st_shndx == SHN_UNDEF; }
  bool is_global(std::size_t symbol) const {
    return GELF_ST_BIND(symbols[symbol].st_info) != STB_LOCAL;
  }
};

// For any ELF file: the machine and the sections. The functions below add to the result.
Result<ElfTables> read_sections(const ElfImage& image);
Status read_symbols(const ElfImage& image, ElfTables& tables);
// For one section. Its relocations may name symbols beyond the symbol table.
Status read_relocations(std::size_t table, ElfTables& tables);

// Everything in a relocatable 64-bit object; fails for other files.
Result<ElfTables> read_object(const ElfImage& image);

// These change one entry; the section is then marked to be written.
Status change_symbol(const ElfTables& tables, std::size_t position, const GElf_Sym& symbol);
Status change_relocation(const ElfTables& tables, const ElfRelocation& relocation,
                         const GElf_Rela& entry);
// Appends bytes to the section. They must live until the image is written.
Status append(const ElfSection& section, void* bytes, std::size_t size, Elf_Type type);

// The relocations from code to constants, for each machine.
enum class RelocationUse {
  kAddress,  // the symbol's address plus the addend, in any encoding
  kSlot,     // a table entry with the symbol's address, without the addend
};

// None for types with another meaning, or that compilers do not use for constants.
std::optional<RelocationUse> relocation_use(std::uint16_t machine, std::uint32_t type);

// True if it prevents linking into a shared library: an absolute address in 32 bits.
bool is_position_dependent(std::uint16_t machine, std::uint32_t type);

}  // namespace tfaot::toolkit
