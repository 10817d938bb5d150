// SPDX-License-Identifier: Apache-2.0
// Asks the engine about a file: it prints the answer as lines of JSON and compiles nothing. Safe
// from many threads.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"

namespace tfaot::toolkit {

struct EngineQuestion {
  std::string option;  // "--describe-model"
  Path file;           // what it is about, for errors too
  std::map<std::string, std::string> environment = {};
};

// Hands each line to `take`, which returns whether it is an answer. An answer counts even if the
// process crashes after it. Errors: what the engine reports; no answer.
Status ask_engine(const FileSystem& fs, const EngineProgram& engine, const EngineQuestion& question,
                  const std::function<bool(const std::string& line)>& take);

}  // namespace tfaot::toolkit
