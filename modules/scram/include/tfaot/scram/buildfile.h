// SPDX-License-Identifier: Apache-2.0
// scram's BuildFile.xml -> what is to be built -> CMake code. It reads files as scram does
// (docs/buildfile.md), but reports what scram silently ignores as an error or a warning with its
// line. Touches no files: CMake expands patterns. Pure functions, safe from many threads.
#pragma once

#include <map>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/scram/buildfile_types.h"

namespace tfaot::toolkit {

struct BuildFileSource {
  std::string file;  // for messages
  std::string text;
  std::map<std::string, std::string> variables;  // for ${NAME} and $(NAME) in values
};

Result<BuildFile> parse_build_file(const BuildFileSource& source,
                                   const BuildConditions& conditions);

// Resolves scram's defaults: the package's library, plugins, tests.
Result<BuildPlan> plan_build(const BuildFile& file, const BuildPlace& place);

// Calls of _tfaot_buildfile_*() (cmake/detail/tfaot_buildfile.cmake).
std::string cmake_script(const BuildPlan& plan);

}  // namespace tfaot::toolkit
