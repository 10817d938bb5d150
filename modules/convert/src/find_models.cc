// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tfaot/base/text.h"
#include "tfaot/convert/convert.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

struct ProgramName {
  std::string model;
  std::int64_t batch_size = 0;
};

// Splits a stem such as "test_bs4".
std::optional<ProgramName> split_program_name(const std::string& stem) {
  const auto mark = stem.rfind("_bs");
  if (mark == std::string::npos || mark == 0) return std::nullopt;
  const auto batch_size = parse_number<std::int64_t>(std::string_view(stem).substr(mark + 3));
  if (!batch_size || *batch_size < 1) return std::nullopt;
  return ProgramName{stem.substr(0, mark), *batch_size};
}

Status add(Path& place, const Path& file) {
  if (!place.empty()) {
    return fail(Error::at({file.string()}, "the area contains this file twice")
                    .note("also: " + place.string())
                    .note("name the folder of one model"));
  }
  place = file;
  return {};
}

}  // namespace

Result<std::vector<UpstreamModel>> find_upstream_models(const FileSystem& files, const Path& area) {
  TFAOT_ASSIGN(const std::vector<std::string> names, list_files_recursively(files, area));
  std::map<std::string, std::map<std::int64_t, UpstreamProgram>> models;
  for (const std::string& relative : names) {
    const Path file = area / relative;
    const auto name = split_program_name(file.stem().string());
    if (!name || (file.extension() != kHeaderSuffix && file.extension() != kObjectSuffix)) continue;
    UpstreamProgram& program = models[name->model][name->batch_size];
    program.batch_size = name->batch_size;
    TFAOT_TRY(add(file.extension() == kHeaderSuffix ? program.header : program.object, file));
  }
  std::vector<UpstreamModel> found;
  for (const auto& [name, programs] : models) {
    UpstreamModel& model = found.emplace_back();
    model.name = name;
    for (const auto& [batch_size, program] : programs) {
      if (program.header.empty() || program.object.empty()) {
        return fail(Error::at({area.string()},
                              fmt::format("there is no {}{}", program_name(name, batch_size),
                                          program.header.empty() ? kHeaderSuffix : kObjectSuffix))
                        .note("an area has a header and an object for each batch size"));
      }
      model.programs.push_back(program);
    }
  }
  return found;
}

}  // namespace tfaot::toolkit
