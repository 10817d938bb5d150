// SPDX-License-Identifier: Apache-2.0
// What is done to ELF objects, by libelf: an object that holds the weights, the symbols an object
// misses, and new names for symbols. Pure functions on bytes; safe from many threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct DataSymbol {
  std::string name;
  std::uint64_t offset = 0;  // in the blob
  std::uint64_t size = 0;
  bool is_hidden = false;  // known to the program or library that the object is linked into, alone
  bool is_weak = false;    // the same object may be linked twice
};

// A relocatable object with `blob` in .rodata, aligned to 64 bytes, from 4096 bytes on to
// 4096, under these global symbols.
// target_triple decides the machine: x86_64-* or aarch64-*.
Result<std::string> make_data_object(std::string_view blob, const std::vector<DataSymbol>& symbols,
                                     const std::string& target_triple);

// What stands before and behind the blob in that object, for who writes the blob himself.
struct DataObjectFrame {
  std::string head;
  std::string tail;
};
DataObjectFrame data_object_frame(std::uint64_t blob_size, const std::vector<DataSymbol>& symbols,
                                  const std::string& target_triple);

// Undefined symbols of an object that start with one of `prefixes`, sorted.
Result<std::vector<std::string>> undefined_symbols(const std::string& object,
                                                   const std::vector<std::string_view>& prefixes);

// Where the loader looks for the libraries of a program: its RUNPATH or RPATH; empty: it has none.
Result<std::string> run_path(const std::string& program);

// The object with another name for a symbol that it defines, which becomes weak: the same object
// may be linked twice. Equal input, equal bytes.
struct SymbolRenaming {
  std::string from;
  std::string to;
};
Result<std::string> rename_symbol(const std::string& object, const SymbolRenaming& names);

// The object with all global symbols that it defines made weak.
Result<std::string> weakened(const std::string& object);

}  // namespace tfaot::toolkit
