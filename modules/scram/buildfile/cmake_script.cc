// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tfaot/base/text.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$' || c == ';') result += '\\';
    result += c;
  }
  return result + "\"";
}

// One keyword a line; nothing for an empty list. Ends with what tfaot_add_buildfile() adds to every
// call.
class Call {
 public:
  explicit Call(const std::string& head) : text_(head) {}

  Call& flag(const char* keyword, bool set) {
    if (set) text_ += fmt::format("\n  {}", keyword);
    return *this;
  }
  Call& value(const char* keyword, const std::string& value) {
    if (!value.empty()) text_ += fmt::format("\n  {} {}", keyword, quoted(value));
    return *this;
  }
  Call& list(const std::string& keyword, const std::vector<std::string>& values) {
    if (values.empty()) return *this;
    text_ += "\n  " + keyword;
    for (const std::string& value : values) text_ += " " + quoted(value);
    return *this;
  }
  std::string end() const { return text_ + "\n  ${buildfile})\n"; }

 private:
  std::string text_;
};

const char* kind_name(TargetKind kind) {
  switch (kind) {
    case TargetKind::kPackage:
      return "PACKAGE";
    case TargetKind::kLibrary:
      return "LIBRARY";
    case TargetKind::kPlugin:
      return "PLUGIN";
    case TargetKind::kProgram:
      return "PROGRAM";
    case TargetKind::kTest:
      break;
  }
  return "TEST";
}

std::string place(const std::string& file, int line) {
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

// "place|name", and "place|name|source_only".
std::vector<std::string> uses_list(const std::string& file, const std::vector<BuildUse>& uses) {
  return mapped(uses, [&](const BuildUse& use) {
    return place(file, use.line) + "|" + use.name + (use.source_only ? "|source_only" : "");
  });
}

std::string model_call(const std::string& file, const AotModel& model) {
  return Call(fmt::format("_tfaot_buildfile_model({}", quoted(model.class_name)))
      .value("PLACE", place(file, model.line))
      .value("MODEL", model.model)
      .value("VERSION", model.version)
      .value("HEADERS", model.headers)
      .list("BATCH_SIZES", model.batch_sizes)
      .list("CPU_LEVELS", model.cpu_levels)
      .list("DIMENSIONS", model.dimensions)
      .end();
}

std::string target_call(const std::string& file, const BuildTarget& target) {
  Call call(fmt::format("_tfaot_buildfile_target({}", quoted(target.name)));
  call.value("KIND", kind_name(target.kind))
      .value("PLACE", place(file, target.line))
      .flag("NO_LIBRARY", !target.builds_library)
      .flag("ALL_SOURCES", target.all_sources)
      .flag("SUBFOLDERS", target.sources_of_subfolders)
      .flag("NO_RUN", !target.runs)
      .list("FILES", target.files)
      .list("SKIPPED", target.skipped)
      .list("PUBLIC_USES", uses_list(file, target.uses))
      .list("PRIVATE_USES", uses_list(file, target.private_uses))
      .list("LIBRARIES", target.libraries)
      .list("INCLUDE_PATHS", target.include_paths)
      .list("MODELS", target.models)
      .value("DNN_NAME", target.dnn_name);
  for (const auto& [name, words] : target.flags) call.list(name, words);
  return call.value("RUN_COMMAND", target.command)
      .list("ARGUMENTS", target.arguments)
      .list("ENVIRONMENT", target.environment)
      .list("RUN_BEFORE", target.run_before)
      .end();
}

}  // namespace

std::string cmake_script(const BuildPlan& plan) {
  std::string text = fmt::format("# Made by tfaot-buildfile from {}.\n", plan.file);
  for (const std::string& warning : plan.warnings) {
    text += fmt::format("_tfaot_buildfile_warning({})\n", quoted(warning));
  }
  for (const AotModel& model : plan.models) text += model_call(plan.file, model);
  for (const BuildTarget& target : plan.targets) text += target_call(plan.file, target);
  return text;
}

}  // namespace tfaot::toolkit
