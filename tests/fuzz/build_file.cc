// SPDX-License-Identifier: Apache-2.0
// scram's BuildFiles.
#include "tests/fuzz/fuzz.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit {

void fuzz(const std::string& bytes) {
  BuildConditions conditions;
  conditions.architecture = "el9_amd64_gcc13";
  conditions.compiler = "gcc";
  conditions.release = "CMSSW_15_0_0";
  conditions.tools = {{"boost", "1.80"}};
  const auto file =
      parse_build_file({"BuildFile.xml", bytes, {{"CMSSW_BASE", "/area"}}}, conditions);
  if (!file) return;
  for (const char* const folder : {"", "plugins", "test"}) {
    const auto plan = plan_build(*file, {"Sub/Pkg", folder});
    if (plan) static_cast<void>(cmake_script(*plan));
  }
}

}  // namespace tfaot::toolkit
