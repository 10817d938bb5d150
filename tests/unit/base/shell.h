// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tfaot/base/process.h"

namespace tfaot::toolkit {

inline ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.program = "sh";
  spec.arguments = {"-c", script};
  return spec;
}

}  // namespace tfaot::toolkit
