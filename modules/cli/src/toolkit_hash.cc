// SPDX-License-Identifier: Apache-2.0
#include "toolkit_hash.h"

#include "tfaot/base/hash.h"
#include "tool_layout.h"

namespace tfaot {

Result<std::string> toolkit_sha256(const Context& context, const std::string& machine) {
  TFAOT_ASSIGN(std::vector<StagedFile> files, runtime_files(context, machine));
  files.push_back({"tfaot", "", context.environment.program});
  TFAOT_ASSIGN(Path engine, find_engine(context, ""));
  files.push_back({"tfaot-engine", "", std::move(engine)});
  std::string lines;
  for (const StagedFile& file : files) {
    TFAOT_ASSIGN(const std::string sha256, sha256_of_file(context.files, file.source));
    lines += sha256 + "  " + file.path + "\n";
  }
  return sha256_of(lines);
}

}  // namespace tfaot
