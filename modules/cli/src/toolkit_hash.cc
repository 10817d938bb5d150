// SPDX-License-Identifier: Apache-2.0
#include "toolkit_hash.h"

#include "tfaot/base/hash.h"
#include "tool_layout.h"

namespace tfaot::toolkit {

Result<std::string> toolkit_sha256(const Context& context, const std::string& machine) {
  std::vector<StagedFile> files;
  for (const HeadersMode headers : {HeadersMode::kSelfContained, HeadersMode::kCmssw}) {
    TFAOT_ASSIGN(const std::vector<StagedFile> runtime, runtime_files(context, machine, headers));
    files.insert(files.end(), runtime.begin(), runtime.end());
  }
  files.push_back({"tfaot", "", context.environment.program});
  TFAOT_ASSIGN(EngineProgram engine, find_engine(context, ""));
  files.push_back({"tfaot-engine", "", std::move(engine.file)});
  std::string lines;
  for (const StagedFile& file : files) {
    TFAOT_ASSIGN(const std::string sha256, sha256_of_file(context.files, file.source));
    lines += sha256 + "  " + file.path + "\n";
  }
  return sha256_of(lines);
}

}  // namespace tfaot::toolkit
