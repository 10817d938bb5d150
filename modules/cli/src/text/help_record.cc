// SPDX-License-Identifier: Apache-2.0
#include "text/help_record.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Derived from the value's name in --help.
Completion completion_of(const std::string& value, bool is_positional) {
  constexpr std::array<std::string_view, 7> kFiles = {"FILE",    "PATH",    "ARCHIVE", "CONFIG",
                                                      "PACKAGE", "PROGRAM", "MODEL"};
  constexpr std::array<std::string_view, 6> kPackages = {"PACKAGE", "PATH", "OUT",
                                                         "OTHER",   "A",    "B"};
  constexpr std::array<std::string_view, 4> kFolders = {"DIR", "AREA", "BASE", "OUT"};
  if (is_positional && is_one_of(kPackages, value)) return Completion::kPackage;
  if (is_one_of(kFiles, value)) return Completion::kFile;
  return is_one_of(kFolders, value) ? Completion::kFolder : Completion::kText;
}

// The words of CLI::IsMember, which describes itself as "{shared,embedded}".
std::vector<std::string> allowed_words(CLI::Option& option) {
  try {
    const std::string set = option.get_validator(0)->get_description();
    if (!set.starts_with('{') || !set.ends_with('}')) return {};
    return split_lines(replace_all(set.substr(1, set.size() - 2), ",", "\n"));
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

OptionRecord describe_option(CLI::Option& option) {
  OptionRecord record;
  for (const std::string& name : option.get_snames()) record.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) record.names.push_back("--" + name);
  const std::string text = option.get_option_text();
  if (record.names.empty()) {
    record.value = option.get_name();
  } else if (option.get_items_expected_max() > 0) {
    record.value = text.substr(0, text.find(' '));
  }
  record.help = replace_all(option.get_description(), "\n", " ");
  if (text.ends_with("(required)")) record.help += " (required)";
  record.group = record.names.empty() ? "Positionals" : option.get_group();
  if (record.value.empty()) return record;
  record.words = allowed_words(option);
  record.completion =
      record.words.empty() ? completion_of(record.value, record.names.empty()) : Completion::kWord;
  return record;
}

std::string usage_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const std::string name =
      parent == nullptr ? app.get_name() : parent->get_name() + " " + app.get_name();
  std::string usage = replace_all(CLI::Formatter().make_usage(&app, name), "\n", "");
  constexpr std::string_view kTitle = "Usage: ";
  if (usage.starts_with(kTitle)) usage.erase(0, kTitle.size());
  return usage;
}

}  // namespace

CommandRecord describe_command(CLI::App& app) {
  CommandRecord record;
  record.name = app.get_name();
  record.summary = app.get_description();
  record.usage = usage_of(app);
  record.group = app.get_group();
  record.notes = app.get_footer();
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) record.options.push_back(describe_option(*option));
  }
  for (CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) record.verbs.push_back(describe_command(*verb));
  }
  return record;
}

}  // namespace tfaot::toolkit
