// SPDX-License-Identifier: Apache-2.0
#include "headers.h"

#include "header_data.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

// Names the build of the complete headers: from their text, which contains hashes of code and
// weights in symbol names, and from the model's files, because converted code keeps its names.
std::string name_build(const CompiledModel& compiled, std::vector<GeneratedFile>& headers) {
  constexpr std::size_t kHashDigits = 16;
  Sha256 sha;
  sha.update(compiled.source_sha256 + "\n");
  for (const GeneratedFile& header : headers) sha.update(header.path + "\n" + header.text);
  std::string name = "build_" + sha.hex_digest().substr(0, kHashDigits);
  for (GeneratedFile& header : headers) {
    header.text = replace_all(header.text, kUnnamedBuild, name);
  }
  return name;
}

}  // namespace

HeaderFiles model_headers(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names) {
  HeaderFiles headers;
  const auto add = [&](std::string path, std::string text) {
    headers.files.push_back({std::move(path), std::move(text)});
  };
  const std::string include = "include/" + names.tool + "/";
  const bool cmssw = spec.compilation.headers == HeadersMode::kCmssw;
  for (const std::int64_t batch_size : compiled.batch_sizes) {
    add(include + tables_name(spec, batch_size) + std::string(kHeaderSuffix),
        program_header(spec, compiled, names, batch_size));
    if (!cmssw) continue;
    add(include + program_name(spec.model.name, batch_size) + std::string(kHeaderSuffix),
        xla_program_header(spec, compiled, names, batch_size));
  }
  if (cmssw) {
    add(include + spec.model.name + "_tables.h", tables_header(spec, compiled, names));
  }
  add(include + "model.h",
      cmssw ? xla_model_header(spec, compiled, names) : model_header(spec, compiled, names));
  headers.build = name_build(compiled, headers.files);
  return headers;
}

}  // namespace tfaot::toolkit
