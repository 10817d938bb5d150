// SPDX-License-Identifier: Apache-2.0
// A linker for packages of the fake engine: it links code of ours (loaded_code.cc) under the names
// in the package's record.
#pragma once

#include <cstdlib>
#include <regex>
#include <string>
#include <utility>

#include "tests/support/executable_file.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {

// The first words in the record that match.
inline std::string word_in(const std::string& record, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(record, match, std::regex(pattern)) ? match[1].str() : "no match";
}

// Writes FOLDER/ld. `record`: the text of the package's record; `linked`: a file that gets a line
// for each run; `code_of_4`: what four rows run. FOLDER must come first in PATH.
inline void write_fake_linker(const Path& folder, const std::string& record, const Path& linked,
                              const std::string& code_of_4 = "tfaot_loaded_bs4") {
  const std::string entry = R"re("entry_symbol":"([^"]*_bs)re";
  std::string names;
  for (const auto& [size, code] : {std::pair<std::string, std::string>("1", "tfaot_loaded_bs1"),
                                   std::pair<std::string, std::string>("4", code_of_4)}) {
    names += " --defsym=" + word_in(record, entry + size + "_[^\"]*)\"") + "=" + code;
  }
  names +=
      " --defsym=" + word_in(record, R"re("weights_symbol":"([^"]+)")re") + "=tfaot_loaded_weights";
  const std::string script = "#!/bin/sh\necho linked >> " + linked.string() +
                             "\nwhile [ \"$1\" != -o ]; do shift; done\nPATH=${PATH#*:} exec ld "
                             "-shared -o \"$2\" '" +
                             TFAOT_LOADED_OBJECT + "'" + names + "\n";
  RealFileSystem files;
  static_cast<void>(files.replace_atomically(folder / "ld", script));
  make_executable(folder / "ld");
}

}  // namespace tfaot::toolkit::testing
