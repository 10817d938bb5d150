// SPDX-License-Identifier: Apache-2.0
#include "tfaot/generate/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "headers.h"
#include "names.h"
#include "templates.h"
#include "tfaot/base/pattern.h"
#include "tfaot/base/render.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit {
namespace {

// The files for other build systems: the CMake package and the pkg-config file. Both find the
// package from their own place, so the tree may be moved.

// If so, the package contains the headers of tfaot/cmssw/drop_in.
bool is_self_contained(const ModelSpec& spec) {
  return spec.compilation.headers == HeadersMode::kSelfContained;
}

std::string cmake_config(const ModelSpec& spec, const PackageNames& names) {
  return render(templates::kCmakeConfig,
                TemplateObject{{"made_by", names.made_by},
                               {"tool", names.tool},
                               {"package", lower_case(names.tool)},
                               {"class", names.cpp_class},
                               {"version", spec.model.version},
                               {"toolkit_version", names.toolkit_version},
                               {"drop_in", is_self_contained(spec)},
                               {"objects", objects_data("file", names.objects)}},
                Escaping::kNone);
}

std::string cmake_version(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names) {
  const std::string& version = spec.model.version;
  return render(templates::kCmakeVersion,
                TemplateObject{{"made_by", names.made_by},
                               {"tool", names.tool},
                               {"package", lower_case(names.tool)},
                               {"version", version},
                               {"dotted", is_dotted_version(version)},
                               {"major", version.substr(0, version.find('.'))},
                               {"processor", processor_of(compiled.target_triple)}},
                Escaping::kNone);
}

std::string pkg_config(const ModelSpec& spec, const CompiledModel& compiled,
                       const PackageNames& names) {
  return render(templates::kPkgConfig,
                TemplateObject{{"made_by", names.made_by},
                               {"tool", names.tool},
                               {"class", names.cpp_class},
                               {"version", spec.model.version},
                               {"drop_in", is_self_contained(spec)},
                               {"batch_sizes", list_of(compiled.batch_sizes)},
                               {"cpu_levels", join(compiled.cpu_levels, ", ")},
                               {"objects", objects_data("file", names.objects)}},
                Escaping::kNone);
}

// The scram tool files of a model and of the runtime. They have no <?xml?> line, because real scram
// crashes on it. Pure functions; see also tool_file_xml.h.

Result<std::string> make_tool_file(const ModelSpec& spec, const PackageNames& names,
                                   const std::string& tool_base) {
  TFAOT_TRY(check_tool_base(tool_base));
  return formatted_tool_file(
      render(templates::kToolFile,
             TemplateObject{{"made_by", names.made_by},
                            {"tool", lower_case(names.tool)},  // as scram calls it
                            {"version", spec.model.version},
                            {"base", names.base},
                            {"tool_base", tool_base},
                            {"runtime", std::string(kRuntimeToolName)},
                            {"objects", objects_data("file", names.objects)}},
             Escaping::kXml));
}

Result<std::string> make_runtime_tool_file(const PackageNames& names,
                                           const std::string& tool_base) {
  TFAOT_TRY(check_tool_base(tool_base));
  const std::string name(kRuntimeToolName);
  return formatted_tool_file(render(
      templates::kRuntimeToolFile,
      TemplateObject{{"tool", name},
                     {"version", names.toolkit_version},
                     {"base", base_variable(name)},
                     {"libdir", std::filesystem::path(kRuntimeLibrary).parent_path().string()},
                     {"includedir", std::string(kRuntimeInclude)},
                     {"tool_base", tool_base}},
      Escaping::kXml));
}

// Members of a generated class: its own and those of tfaot::Wrapper. A class with such a name hides
// the member.
constexpr std::string_view kMemberNames =
    "Inputs Outputs Wrapper allocMode argCount argCountNoBatch argCounts argData argCountsNoBatch "
    "as_cms_exception batchPlan batchSizes batch_plan cheapestRule check_argument check_result "
    "check_type description function_of hasBatchSize nArgs nBatchSizes nResults name resultCount "
    "resultData resultCounts resultCountsNoBatch resultCountNoBatch run runSilent unknownArgument "
    "unknownBatchSize unknownResult";

// A table in a generated class: in C++ no member may have the class's own name.
bool is_table_name(const std::string& name) {
  static const Pattern tables("k(Inputs|Outputs|Programs|Description|(Input|Output)[0-9]+Shape)");
  return tables.matches(name);
}

// The same in the class of a model with free dimensions.
bool is_name_of_sizes(const std::string& name) {
  static const Pattern names("Sizes|Offsets|kDimensions|k(Input|Output)[0-9]+Sizes\\w*");
  return names.matches(name);
}

}  // namespace

Status check_names(const ModelSpec& spec, const GenerateOptions& options) {
  if (!options.tool_name.empty() && !is_safe_name(options.tool_name)) {
    return fail(Error::usage(fmt::format("bad tool name '{}'", options.tool_name))
                    .note("allowed: letters, digits and _ . + -, starting with a letter or digit"));
  }
  if (is_reserved_tool_name(options.tool_name)) {
    return fail(Error::usage(fmt::format("the tool cannot be named '{}'", options.tool_name))
                    .note("it is the name of the runtime's tool, which every model's tool uses, or "
                          "scram's own"));
  }
  const bool is_sized = !spec.compilation.dimensions.empty();
  if (is_one_of(kMemberNames, spec.model.name) || is_table_name(spec.model.name) ||
      (is_sized && is_name_of_sizes(spec.model.name))) {
    return fail(
        Error::at({spec.config_file.string(), 0, 0},
                  fmt::format("the model cannot be named '{}': its class has a member of this name",
                              spec.model.name))
            .note("Choose another model.name."));
  }
  return {};
}

Result<GeneratedFiles> generate_files(const ModelSpec& spec, const CompiledModel& compiled,
                                      const Manifest& manifest, const std::string& tool_base) {
  const PackageNames names = package_names(compiled, manifest);
  TFAOT_TRY(check_names(spec, {.tool_name = names.tool}));
  TFAOT_TRY(check_compiled_model(compiled));

  HeaderFiles headers = model_headers(spec, compiled, names);
  GeneratedFiles generated{std::move(headers.files)};
  const auto add = [&](std::string path, std::string text) {
    generated.files.push_back({std::move(path), std::move(text)});
  };
  generated.files.push_back(cost_header(manifest));
  TFAOT_ASSIGN(std::string tool_file, make_tool_file(spec, names, tool_base));
  add(names.tool + ".xml", std::move(tool_file));
  TFAOT_ASSIGN(std::string runtime_tool_file, make_runtime_tool_file(names, tool_base));
  add(fmt::format("{}.xml", kRuntimeToolName), std::move(runtime_tool_file));
  // find_package() looks for the name in lower case.
  const std::string cmake = fmt::format("lib/cmake/{}/{}", names.tool, lower_case(names.tool));
  add(cmake + "-config.cmake", cmake_config(spec, names));
  add(cmake + "-config-version.cmake", cmake_version(spec, compiled, names));
  add(fmt::format("lib/pkgconfig/{}.pc", names.tool), pkg_config(spec, compiled, names));

  std::ranges::sort(generated.files, {}, &GeneratedFile::path);
  return generated;
}

}  // namespace tfaot::toolkit
