// SPDX-License-Identifier: Apache-2.0
#include "tfaot/release/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "spec_templates.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"
#include "tfaot/records/area_layout.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

// A text without meaning to rpm: it starts no macro, does not continue on the next line, and
// contains only spaces and printable UTF-8 characters.
std::string plain_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  line = printable_line(trim(line));
  if (line.ends_with('\\')) line += '.';
  return replace_all(std::move(line), "%", "%%");
}

// A line of %description. A "%" at its start, even after spaces, would name a section or a
// condition, and "#" would hide the line.
TemplateData description_lines(const SpecRecord& record) {
  TemplateData lines{TemplateData::type::list};
  const auto add = [&lines](const std::string& text) {
    std::string line = plain_line(text);
    if (line.starts_with('%')) line.insert(0, "> ");
    if (line.starts_with('#')) line.insert(0, " ");
    lines << TemplateObject{{"line", line}};
  };
  for (const std::string& line : split_lines(record.description)) add(line);
  if (record.description.empty()) add("A model compiled ahead of time by tfaot.");
  if (!record.author.empty()) add("Author: " + record.author);
  return lines;
}

std::string summary(const SpecRecord& record) {
  constexpr std::size_t kLongest = 70;
  const auto lines = split_lines(record.description);
  std::string line = lines.empty() ? "" : trim(lines.front());
  while (line.ends_with('.')) line.pop_back();
  if (line.empty() || line.size() > kLongest) {
    line = fmt::format("{} {}, compiled ahead of time", record.tool_name, record.version);
  }
  return plain_line(line);
}

// The path is between double quotes of a shell, and rpm replaces its macros first. '$' is allowed:
// cmsdist finds its packages by variables.
Status check_config_path(const std::string& path, SpecFlavour flavour) {
  const auto is_bad = [&](char c) {
    return static_cast<unsigned char>(c) < ' ' ||
           std::string_view("\"\\`%").find(c) != std::string::npos ||
           (c == '$' && flavour == SpecFlavour::kRpm);
  };
  if (!path.empty() && std::ranges::none_of(path, is_bad)) return {};
  return fail(Error(fmt::format("the config's path '{}' cannot be used in a spec file", path))
                  .note("it must not contain quotes, '\\', '`', '%', '$' or line ends"));
}

Status check_word(const std::string& what, const std::string& word) {
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '%' || c == '"' ||
           c == '\'' || c == '\\';
  };
  if (std::ranges::none_of(word, is_bad)) return {};
  return fail(Error(fmt::format("{} '{}' cannot be used in a spec file", what, word))
                  .note("it must not contain spaces, quotes, '\\' or '%'"));
}

// It becomes a folder's name, in rpm's macros and in Lua.
Status check_scram_arch(const std::string& arch) {
  if (arch.empty()) return {};
  if (is_letter_or_digit(arch.front()) && std::ranges::all_of(arch, is_name_character)) return {};
  return fail(Error(fmt::format("the SCRAM_ARCH '{}' cannot name a folder", shown(arch)))
                  .note("use letters, digits, '.', '_', '+' and '-', and begin with a letter or "
                        "digit"));
}

constexpr std::string_view kRequires = "Requires: ";

bool is_model(const std::string& line) { return line.starts_with(kRequires); }

using Lines = std::vector<std::string>;

// Sorts each group of models.
std::string text_of(Lines lines) {
  for (auto start = lines.begin(); start != lines.end();) {
    start = std::find_if(start, lines.end(), is_model);
    const auto end = std::find_if_not(start, lines.end(), is_model);
    std::sort(start, end);
    start = end;
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::string rpm_version(const std::string& version) { return replace_all(version, "-", "~"); }

std::string compile_file_text(SpecFlavour flavour) {
  const bool rpm = flavour == SpecFlavour::kRpm;
  // The macros that the file defines, or cmsdist's.
  const AreaWords words{
      .tool = rpm ? "%{tool}" : "%{n}",
      .version = "%{model_version}",
      .toolbox = std::string(kToolboxes) + "%{?scram_arch:/%{scram_arch}}",
      // scram looks for names in lower case.
      .file = "%(echo %{tool} | tr A-Z a-z).xml",
  };
  TemplateData links{TemplateData::type::list};
  TemplateObject values{{"toolboxes", std::string(kToolboxes)},
                        {"tool_file", in_area(kInstalledToolFile, words)}};
  for (const AreaRow& row : kAreaLayout) {
    const std::string path = in_area(row.path, words);
    values[row.name] = path;
    if (row.kind != AreaKind::kLink) continue;
    links << TemplateObject{{"path", path}, {"target", in_area(row.target, words)}};
  }
  values["links"] = std::move(links);
  // The tag has a line of its own.
  values["own_runtime"] = trim(render(templates::kOwnRuntime,
                                      TemplateObject{{"name", words.tool},
                                                     {"include", std::string(kRuntimeInclude)},
                                                     {"library", std::string(kRuntimeLibrary)}},
                                      Escaping::kNone));
  return render(rpm ? templates::kRpmCompile : templates::kCmsdistCompile, values, Escaping::kNone);
}

Result<std::string> spec_text(const SpecRecord& record, SpecFlavour flavour) {
  TFAOT_TRY(check_word("the tool's name", record.tool_name));
  TFAOT_TRY(check_word("the version", record.version));
  TFAOT_TRY(check_word("the source", record.source));
  TFAOT_TRY(check_word("the source's folder", record.source_folder));
  TFAOT_TRY(check_word("the data package", record.data_package));
  TFAOT_TRY(check_config_path(record.config, flavour));
  TFAOT_TRY(check_scram_arch(record.scram_arch));
  const std::string license = plain_line(record.license);
  if (license.empty()) return fail(Error("the licence is empty, which rpm refuses"));
  const auto optional = [](const char* key, const std::string& value) {
    return value.empty() ? TemplateData(false) : TemplateData(TemplateObject{{key, value}});
  };
  const TemplateObject common{{"made_by", "Made by tfaot."},
                              {"tool", record.tool_name},
                              {"version", record.version},
                              {"rpm_version", rpm_version(record.version)},
                              {"summary", summary(record)},
                              {"license", license},
                              {"processor", record.processor},
                              {"config", record.config},
                              {"description", description_lines(record)}};
  TemplateObject values = common;
  if (flavour == SpecFlavour::kRpm) {
    values["source"] = record.source;
    values["scram_arch"] = optional("scram_arch", record.scram_arch);
    return render(templates::kRpmSpec, values, Escaping::kNone);
  }
  values["source"] = optional("source", record.source);
  values["source_folder"] = optional("source_folder", record.source_folder);
  values["data_package"] = optional("data_package", record.data_package);
  return render(templates::kCmsdistSpec, values, Escaping::kNone);
}

std::string with_model(const std::string& list, const std::string& tool_name) {
  Lines lines = split_lines(list);
  if (lines.empty())
    lines.emplace_back("# Models compiled ahead of time; 'tfaot spec' keeps this list.");
  const std::string line = std::string(kRequires) + tool_name;
  if (!contains(lines, line)) {
    const auto last = std::find_if(lines.rbegin(), lines.rend(), is_model);
    lines.insert(last == lines.rend() ? lines.end() : last.base(), line);
  }
  return text_of(std::move(lines));
}

std::string without_model(const std::string& list, const std::string& tool_name) {
  Lines lines = split_lines(list);
  std::erase(lines, std::string(kRequires) + tool_name);
  return text_of(std::move(lines));
}

}  // namespace tfaot::toolkit
