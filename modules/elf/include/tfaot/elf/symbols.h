// SPDX-License-Identifier: Apache-2.0
// The symbols of objects and archives: lists them and renames them. Pure functions on bytes; safe
// from many threads.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Undefined symbols of an object that start with one of `prefixes`, sorted, without the one that
// linkers make.
Result<std::vector<std::string>> undefined_symbols(const std::string& object,
                                                   const std::vector<std::string_view>& prefixes);

// The symbols that an archive offers and that start with one of `prefixes`, sorted. Members that
// define a symbol that starts with `left_out` do not count.
Result<std::vector<std::string>> archive_symbols(const FileSystem& fs, const Path& archive,
                                                 const std::vector<std::string_view>& prefixes,
                                                 std::string_view left_out);

// The object with a symbol that it defines renamed and made weak, so that the same object may be
// linked twice. Equal input gives equal bytes.
struct SymbolRenaming {
  std::string from;
  std::string to;
};
Result<std::string> rename_symbol(const std::string& object, const SymbolRenaming& names);

// The object with the undefined symbols that are keys of `names` renamed.
using SymbolNames = std::map<std::string, std::string, std::less<>>;
Result<std::string> rename_undefined(const std::string& object, const SymbolNames& names);

// The object with all global symbols that it defines made weak.
Result<std::string> weakened(const std::string& object);

}  // namespace tfaot::toolkit
