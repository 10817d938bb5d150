// SPDX-License-Identifier: Apache-2.0
#include "toolfile/value_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "grammar/elements.h"
#include "grammar/words.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/elf/linkage.h"

namespace tfaot::toolkit {
namespace {

// Variables that scram expects in <runtime>; there it treats them as paths in any case.
constexpr std::array<std::string_view, 7> kPathVariables = {
    "PATH",       "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "PYTHONPATH", "PYTHON27PATH",    "PYTHON3PATH"};
// Names that scram uses in its own record of a tool; adding a value to them fails.
constexpr std::array<std::string_view, 5> kReservedVariables = {"FLAGS", "RUNTIME", "TOOLNAME",
                                                                "TOOLVERSION", "VARIABLES"};
constexpr std::string_view kPlaceholder = "@TOOL_BASE@";

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

std::string value_of(const pugi::xml_node& node) {
  const pugi::xml_attribute first = node.attribute("default");
  return first ? first.value() : node.attribute("value").value();
}

}  // namespace

bool ValueChecks::exists(const Path& path) const {
  const FileKind kind = fs_.kind(path);
  if (kind != FileKind::kSymlink) return kind != FileKind::kMissing;
  const auto target = fs_.read_symlink(path);
  return target &&
         fs_.kind((path.parent_path() / *target).lexically_normal()) != FileKind::kMissing;
}

bool ValueChecks::check_value(int line, const std::string& element, const ResolvedValue& value) {
  if (value.is_endless) {
    findings_.error(line, "a variable that refers to itself",
                    {"never ends: it replaces the variable again and again",
                     "give it a value that does not lead back to it"});
    return false;
  }
  if (value.undefined.empty()) return true;
  findings_.error(
      line,
      fmt::format("${} is defined neither in the file nor in the environment", value.undefined),
      {element == "environment"
           ? "prints \"ERROR: Unable to replace ...\", drops the variable and stops with a KeyError"
           : "drops the whole value with one line \"ERROR: Unable to replace ...\", and continues",
       fmt::format("define it in <client>, or give its value: --env {}=VALUE", value.undefined)});
  return false;
}

void ValueChecks::check_environment(const pugi::xml_node& node) {
  const int line = xml_.line_of(node);
  if (!node.attribute("default") && !node.attribute("value")) {
    findings_.missing_attribute(line, "environment", "default");
    return;
  }
  const std::string name = node.attribute("name").value();
  if (is_one_of(kPathVariables, name)) {
    findings_.error(
        line, fmt::format("{} in <environment>", name),
        {"prints a warning, does not set it and stops with a KeyError", "use <runtime> for it"});
    return;
  }
  if (is_one_of(kReservedVariables, name)) {
    findings_.error(line, fmt::format("a variable cannot be called {}", name),
                    {"keeps its own data under that name", "choose another name"});
    return;
  }
  if (name != upper_case(name)) {
    findings_.error(line, fmt::format("the variable '{}' has lower-case letters", name),
                    {fmt::format("sets {} and stops with a KeyError when it looks for '{}'",
                                 upper_case(name), name),
                     "write it in capitals"});
    return;
  }
  const ResolvedValue value = values_.resolve(value_of(node));
  if (!check_value(line, "environment", value)) return;
  if (value.text.empty()) {
    findings_.error(line, fmt::format("the variable {} has no value", name),
                    {"drops it and stops with a KeyError when it looks for it",
                     "give it one, or leave it out"});
    return;
  }
  if (value.text.find(kPlaceholder) != std::string::npos) {
    if (name == base_variable(tool_name_)) {
      findings_.warning(
          line, fmt::format("the tool's folder is still {}", kPlaceholder),
          {"takes it as it is: no path of this tool will exist",
           "the folder is filled in by 'tfaot install', or by whoever installs the tool"});
    }
    return;
  }
  if (name != "LIBDIR" && name != "INCLUDE") return;
  const std::vector<std::string> folders = words_of(value.text, " ");
  if (folders.size() > 1) {
    const auto is_there = [this](const std::string& folder) { return exists(folder); };
    if (std::ranges::all_of(folders, is_there)) return;
    findings_.error(
        line, fmt::format("a space in {}: {}", name, value.text),
        {"reads it as several folders", "move the files to a folder without spaces in its path"});
    return;
  }
  if (!exists(value.text)) {
    findings_.warning(
        line, fmt::format("{} is missing: {}", name, value.text),
        {"does not check; the compiler will ignore it", "create it, or correct the path"});
  }
}

void ValueChecks::check_flags(const pugi::xml_node& node) {
  const int line = xml_.line_of(node);
  const auto without_comment = [](pugi::xml_attribute attribute) {  // scram removes it first
    while (attribute && attribute.name() == std::string_view(kCommentAttribute)) {
      attribute = attribute.next_attribute();
    }
    return attribute;
  };
  const pugi::xml_attribute first = without_comment(node.first_attribute());
  if (!first) {
    findings_.error(line, "<flags> without an attribute",
                    {"stops with a Python traceback: IndexError",
                     "write <flags NAME=\"...\"/>, or leave it out"});
    return;
  }
  for (pugi::xml_attribute other = without_comment(first.next_attribute()); other;
       other = without_comment(other.next_attribute())) {
    findings_.error(line, fmt::format("<flags> with a second attribute, '{}'", other.name()),
                    {fmt::format("uses only the first one, '{}'", first.name()),
                     fmt::format("write <flags {}=\"...\"/> as a separate element", other.name())});
  }
  const ResolvedValue value = values_.resolve(first.value());
  if (!check_value(line, "flags", value)) return;
  if (!value.blank.empty()) {
    findings_.error(line, fmt::format("the value of ${} contains a space", value.blank),
                    {"splits flags at spaces, wherever they come from",
                     "move the files to a folder without spaces in its path"});
    return;
  }
  check_words(line, upper_case(first.name()), value.text);
}

void ValueChecks::check_words(int line, const std::string& flag, const std::string& value) {
  if (flag != "LDFLAGS") return;
  for (const std::string& word : words_of(value, " ")) {
    const std::string extension = Path(word).extension().string();
    if (extension == ".o" && !archive_.empty()) {
      findings_.error(line, fmt::format("an object after the library {}", archive_),
                      {"keeps the order, and the linker searches a static library only for what "
                       "comes before it",
                       "put the objects first, or give the library as <lib name=.../>"});
      archive_.clear();
    }
    if (extension == ".a") archive_ = word;
    if (word.front() == '/') check_file(line, word);
  }
}

void ValueChecks::check_file(int line, const std::string& path) {
  if (!exists(path)) {
    findings_.warning(
        line, fmt::format("no such file: {}", path),
        {"does not check; each user of the tool fails to link", "create it, or correct the path"});
    return;
  }
  if (linkage_of(fs_, path) != Linkage::kPositionDependent) return;
  findings_.error(line, fmt::format("not position independent: {}", path),
                  {"links it into shared libraries and plugins, which the linker refuses",
                   "compile it again with -fPIC"});
}

void ValueChecks::check_runtime(const pugi::xml_node& node) {
  const int line = xml_.line_of(node);
  if (!node.attribute("default") && !node.attribute("value")) {
    findings_.missing_attribute(line, "runtime", "value");
    return;
  }
  const ResolvedValue value = values_.resolve(value_of(node));
  if (!check_value(line, "runtime", value)) return;
  const std::string type = upper_case(node.attribute("type").value());
  const bool is_path =
      type == "PATH" || (type.empty() && is_one_of(kPathVariables, node.attribute("name").value()));
  if (!is_path || value.text.empty()) return;
  const std::vector<std::string> paths =
      node.attribute("join") ? words_of(value.text, ":") : std::vector<std::string>{value.text};
  const auto missing =
      std::ranges::find_if(paths, [this](const std::string& path) { return !exists(path); });
  if (missing == paths.end()) return;
  if (upper_case(node.attribute("handler").value()) == "WARN") {
    findings_.warning(line, fmt::format("no such path: {}", *missing),
                      {"prints \"OK (but currently missing)\"", "create it, or correct the path"});
    return;
  }
  findings_.error(line, fmt::format("no such path: {}", *missing),
                  {"prints \"Checks [FAIL]\" and does not set up the tool",
                   "create it, or write handler=\"warn\""});
}

void ValueChecks::check_use(const pugi::xml_node& node) {
  const std::string used = lower_case(node.attribute("name").value());
  if (used == tool_name_) {
    findings_.error(
        xml_.line_of(node), "a tool that uses itself",
        {"sets it up, and scram b of its users stops with make's \"Recursive variable\"",
         "leave this <use> out"});
    return;
  }
  const auto is_there = [&](const Path& folder) { return exists(folder / (used + ".xml")); };
  if (is_there(options_.file.parent_path()) ||
      std::ranges::any_of(options_.tool_folders, is_there)) {
    return;
  }
  if (!options_.all_tools_known && !used.starts_with("tfaot-")) return;
  findings_.warning(
      xml_.line_of(node), fmt::format("the tool '{}' is not set up", used),
      {"warns during a build, and continues without it", fmt::format("scram setup {}.xml", used)});
}

}  // namespace tfaot::toolkit
