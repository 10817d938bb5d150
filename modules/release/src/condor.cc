// SPDX-License-Identifier: Apache-2.0
#include "tfaot/release/condor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "spec_templates.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

bool has_control(const std::string& text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

bool is_plain(const std::string& text) {
  return std::ranges::all_of(text, [](char c) {
    return is_name_character(c) || std::string_view("/:,=@").find(c) != std::string_view::npos;
  });
}

// These are not between quotes, so they must be plain.
Status check_plain(const Path& path) {
  if (is_plain(path.string())) return {};
  return fail(Error::at({path.string()}, "HTCondor cannot work with this path")
                  .note("it must not contain blanks, quotes and similar characters"));
}

Status check_line(const std::string& what, const std::string& text) {
  if (!has_control(text)) return {};
  return fail(
      Error(fmt::format("{} has a line break or another control character, which HTCondor "
                        "cannot take",
                        what)));
}

// One word between the double quotes of `arguments` or `environment`: if need be in single quotes;
// '$' would begin a macro.
std::string condor_word(const std::string& text) {
  if (is_plain(text)) return text;
  std::string word = replace_all(text, "$", "$(DOLLAR)");
  word = replace_all(std::move(word), "'", "''");
  word = replace_all(std::move(word), "\"", "\"\"");
  return "'" + word + "'";
}

std::string command_of(const std::vector<std::string>& words) {
  return join(mapped(words, [&](const std::string& word) { return condor_word(word); }), " ");
}

// A value of VARS.
std::string dag_value(std::string text) {
  text = replace_all(std::move(text), "\\", "\\\\");
  return replace_all(std::move(text), "\"", "\\\"");
}

}  // namespace

Result<CondorTexts> condor_texts(const CondorPlan& plan) {
  TFAOT_TRY(check_plain(plan.folder));
  TFAOT_TRY(check_plain(plan.tool));
  for (const std::string& line : plan.lines) TFAOT_TRY(check_line("'" + line + "'", line));
  std::vector<std::string> variables;
  for (const auto& [name, value] : plan.environment) {
    TFAOT_TRY(check_line("the environment variable " + name, value));
    variables.push_back(name + "=" + condor_word(value));
  }
  TemplateData models{TemplateData::type::list};
  for (const CondorModel& model : plan.models) {
    TFAOT_TRY(check_line("the path of the config of " + model.tool_name, model.config.string()));
    const std::string tree = (plan.folder / "trees" / model.tool_name).string();
    const std::string compile =
        command_of({"compile", "--aot-config", model.config.string(), "--output-directory", tree,
                    "--jobs", std::to_string(plan.cpus)});
    const std::string package =
        command_of({"package", tree, "--output-directory", (plan.folder / "dist").string()});
    models << TemplateObject{{"tool", model.tool_name},
                             {"folder", plan.folder.string()},
                             {"cpus", std::to_string(plan.cpus)},
                             {"compile", dag_value(compile)},
                             {"package", dag_value(package)}};
  }
  const TemplateObject values{{"tool", plan.tool.string()},
                              {"folder", plan.folder.string()},
                              {"environment", join(variables, " ")},
                              {"lines", objects_data("line", plan.lines)},
                              {"models", models}};
  return CondorTexts{render(templates::kCondorJob, values, Escaping::kNone),
                     render(templates::kCondorDag, values, Escaping::kNone)};
}

}  // namespace tfaot::toolkit
