// SPDX-License-Identifier: Apache-2.0
// tfaot-buildfile KEY=VALUE...: reads a BuildFile.xml and writes CMake code. tfaot_add_buildfile()
// starts it; nobody types its arguments, so they are simple:
//   file, output, package, folder, architecture, release, compiler, os, machine   once each
//   tool=NAME=VERSION, variable=NAME=VALUE                                          any number
#include <fmt/format.h>

#include <functional>
#include <iostream>

#include "tfaot/base/limits.h"
#include "tfaot/base/program_start.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit {
namespace {

struct Request {
  BuildFileSource source;
  BuildConditions conditions;
  BuildPlace place;
  Path output;
};

Status read_argument(const std::string& key, const std::string& value, Request& request) {
  const auto put = [&value](std::map<std::string, std::string>& into) {
    const std::size_t equals = value.find('=');
    into[value.substr(0, equals)] = equals == std::string::npos ? "" : value.substr(equals + 1);
  };
  BuildConditions& conditions = request.conditions;
  const std::map<std::string, std::function<void()>> keys = {
      {"file", [&] { request.source.file = value; }},
      {"output", [&] { request.output = value; }},
      {"package", [&] { request.place.package = value; }},
      {"folder", [&] { request.place.folder = value; }},
      {"architecture", [&] { conditions.architecture = value; }},
      {"release", [&] { conditions.release = value; }},
      {"compiler", [&] { conditions.compiler = value; }},
      {"os", [&] { conditions.os = value; }},
      {"machine", [&] { conditions.machine = value; }},
      {"tool", [&] { put(conditions.tools); }},
      {"variable", [&] { put(request.source.variables); }},
  };
  const auto entry = keys.find(key);
  if (entry == keys.end()) return fail(Error::usage(fmt::format("unknown key '{}'", key)));
  entry->second();
  return {};
}

Status run(const std::vector<std::string>& arguments) {
  Request request;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      return fail(Error::usage(fmt::format("'{}' is not KEY=VALUE", argument)));
    }
    TFAOT_TRY(read_argument(argument.substr(0, equals), argument.substr(equals + 1), request));
  }
  RealFileSystem files;
  TFAOT_ASSIGN(request.source.text, read_limited(files, request.source.file, kBuildFileLimit));
  TFAOT_ASSIGN(const BuildFile file, parse_build_file(request.source, request.conditions));
  TFAOT_ASSIGN(const BuildPlan plan, plan_build(file, request.place));
  return files.replace_atomically(request.output, cmake_script(plan));
}

}  // namespace
}  // namespace tfaot::toolkit

int main(int argc, char** argv) {
  tfaot::toolkit::start_program();
  const auto status = tfaot::toolkit::run(std::vector<std::string>(argv + 1, argv + argc));
  if (status) return 0;
  std::cerr << status.error().text() << '\n';
  return status.error().kind() == tfaot::toolkit::ErrorKind::kUsage ? 2 : 1;
}
