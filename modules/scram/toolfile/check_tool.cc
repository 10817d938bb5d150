// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/check_tool.h"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/elements.h"
#include "grammar/references.h"
#include "grammar/xml_source.h"
#include "tfaot/base/expression.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/elf/linkage.h"

namespace tfaot::toolkit {
namespace {

// Collects what a check finds. One file; one thread.

// What scram does, and what the author of the file should do.
struct Consequence {
  std::string scram;
  std::string advice;
};

class Findings {
 public:
  void error(int line, std::string what, Consequence consequence) {
    add(Severity::kError, line, std::move(what), std::move(consequence));
  }
  void warning(int line, std::string what, Consequence consequence) {
    add(Severity::kWarning, line, std::move(what), std::move(consequence));
  }
  void missing_attribute(int line, const std::string& element, const std::string& attribute) {
    error(line, fmt::format("<{}> without '{}'", element, attribute),
          {fmt::format("stops with a Python traceback: KeyError: '{}'", attribute),
           fmt::format("write <{} {}=\"...\">", element, attribute)});
  }
  std::vector<ToolFinding> take() { return std::move(list_); }

 private:
  void add(Severity severity, int line, std::string what, Consequence consequence) {
    list_.push_back({severity, line, std::move(what), std::move(consequence.scram),
                     std::move(consequence.advice)});
  }

  std::vector<ToolFinding> list_;
};

// The values of the $NAMES in a tool file: from its <environment> elements, else from scram's
// environment. Plain value; one thread.

// A value with its $NAME and ${NAME} replaced.
struct ResolvedValue {
  std::string text{};       // empty if a name is undefined, because scram drops the whole value
  std::string undefined{};  // NAME, the first undefined one
  std::string blank{};      // NAME, a variable whose value contains a space
  bool is_endless = false;  // a variable refers to itself: scram never ends
};

class ToolValues {
 public:
  explicit ToolValues(std::map<std::string, std::string> environment)
      : environment_(std::move(environment)) {}

  // The last definition of a name counts.
  void define(const std::string& name, const std::string& value) { own_[name] = value; }
  bool defines(const std::string& name) const { return own_.contains(name); }

  ResolvedValue resolve(const std::string& value) const {
    // References in a BuildFile are different: there scram leaves $NAME to the shell, and names
    // without a value to make.
    const ReferenceRules rules{.forms = {ReferenceForm::kBraces, ReferenceForm::kPlain},
                               .stops_at_unknown = true};
    std::string blank;
    const auto value_of = [&](const std::string& name) -> const std::string* {
      const auto own = own_.find(name);
      const auto outer = environment_.find(name);
      if (own == own_.end() && outer == environment_.end()) return nullptr;
      const std::string& found = own != own_.end() ? own->second : outer->second;
      if (found.find(' ') != std::string::npos) blank = name;
      return &found;
    };
    Expansion expansion = expand_references(value, rules, value_of);
    if (expansion.is_too_much) return {.is_endless = true};
    if (!expansion.unknown.empty()) return {.undefined = std::move(expansion.unknown)};
    return {.text = std::move(expansion.text), .blank = std::move(blank)};
  }

 private:
  std::map<std::string, std::string> own_;
  std::map<std::string, std::string> environment_;
};

// The elements of a tool file whose values matter: <environment>, <flags>, <runtime>, <use>. One
// file; one thread.

// Variables that scram expects in <runtime>; there it treats them as paths in any case.
constexpr std::string_view kPathVariables =
    "PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH PYTHONPATH PYTHON27PATH "
    "PYTHON3PATH";
// Names that scram uses in its own record of a tool; adding a value to them fails.
constexpr std::string_view kReservedVariables = "FLAGS RUNTIME TOOLNAME TOOLVERSION VARIABLES";
constexpr std::string_view kPlaceholder = "@TOOL_BASE@";

std::string value_of(const pugi::xml_node& node) {
  const pugi::xml_attribute first = node.attribute("default");
  return first ? first.value() : node.attribute("value").value();
}

class ValueChecks {
 public:
  ValueChecks(const FileSystem& fs, const CheckToolOptions& options, const XmlSource& xml,
              Findings& findings)
      : fs_(fs), options_(options), xml_(xml), findings_(findings), values_(options.environment) {}

  // Define all variables before the first check: a value may use one that is defined below it.
  ToolValues& variables() { return values_; }
  // In lower case.
  void set_tool_name(const std::string& name) { tool_name_ = name; }

  // In the order of the file.
  void check_environment(const pugi::xml_node& node) {
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
    const std::vector<std::string> folders = split_words(value.text, " ");
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

  void check_flags(const pugi::xml_node& node) {
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
      findings_.error(
          line, fmt::format("<flags> with a second attribute, '{}'", other.name()),
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

  void check_runtime(const pugi::xml_node& node) {
    const int line = xml_.line_of(node);
    if (!node.attribute("default") && !node.attribute("value")) {
      findings_.missing_attribute(line, "runtime", "value");
      return;
    }
    const ResolvedValue value = values_.resolve(value_of(node));
    if (!check_value(line, "runtime", value)) return;
    const std::string type = upper_case(node.attribute("type").value());
    const bool is_path =
        type == "PATH" ||
        (type.empty() && is_one_of(kPathVariables, node.attribute("name").value()));
    if (!is_path || value.text.empty()) return;
    const std::vector<std::string> paths = node.attribute("join")
                                               ? split_words(value.text, ":")
                                               : std::vector<std::string>{value.text};
    const auto missing =
        std::ranges::find_if(paths, [this](const std::string& path) { return !exists(path); });
    if (missing == paths.end()) return;
    if (upper_case(node.attribute("handler").value()) == "WARN") {
      findings_.warning(
          line, fmt::format("no such path: {}", *missing),
          {"prints \"OK (but currently missing)\"", "create it, or correct the path"});
      return;
    }
    findings_.error(line, fmt::format("no such path: {}", *missing),
                    {"prints \"Checks [FAIL]\" and does not set up the tool",
                     "create it, or write handler=\"warn\""});
  }

  void check_use(const pugi::xml_node& node) {
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
    findings_.warning(xml_.line_of(node), fmt::format("the tool '{}' is not set up", used),
                      {"warns during a build, and continues without it",
                       fmt::format("scram setup {}.xml", used)});
  }

 private:
  void check_words(int line, const std::string& flag, const std::string& value) {
    if (flag != "LDFLAGS") return;
    for (const std::string& word : split_words(value, " ")) {
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

  void check_file(int line, const std::string& path) {
    if (!exists(path)) {
      findings_.warning(line, fmt::format("no such file: {}", path),
                        {"does not check; each user of the tool fails to link",
                         "create it, or correct the path"});
      return;
    }
    if (linkage_of(fs_, path) != Linkage::kPositionDependent) return;
    findings_.error(line, fmt::format("not position independent: {}", path),
                    {"links it into shared libraries and plugins, which the linker refuses",
                     "compile it again with -fPIC"});
  }

  // Reports what is wrong with the value itself; then returns false.
  bool check_value(int line, const std::string& element, const ResolvedValue& value) {
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
        {element == "environment" ? "prints \"ERROR: Unable to replace ...\", drops the variable "
                                    "and stops with a KeyError"
                                  : "drops the whole value with one line \"ERROR: Unable to "
                                    "replace ...\", and continues",
         fmt::format("define it in <client>, or give its value: --env {}=VALUE", value.undefined)});
    return false;
  }

  bool exists(const Path& path) const {
    return fs_.kind(path, Links::kFollow) != FileKind::kMissing;
  }

  const FileSystem& fs_;
  const CheckToolOptions& options_;
  const XmlSource& xml_;
  Findings& findings_;
  ToolValues values_;
  std::string tool_name_;
  std::string archive_;  // the last static library in LDFLAGS
};

// Checks a parsed tool file, element by element, in scram's order. One file; one thread.

class ToolChecker {
 public:
  ToolChecker(const FileSystem& fs, const CheckToolOptions& options, const XmlSource& xml,
              Findings& findings)
      : options_(options), xml_(xml), findings_(findings), values_(fs, options, xml, findings) {}

  void check() {
    collect_variables(xml_.document());
    check_children(xml_.document(), false);
    if (tools_ == 0) {
      findings_.error(0, "no <tool name=... version=...>",
                      {"sets up a tool without a name, which nothing can use",
                       "put all of it into one <tool>"});
      return;
    }
    check_base();
  }

 private:
  void collect_variables(const pugi::xml_node& parent) {
    for (const pugi::xml_node& node : parent.children()) {
      const std::string name = node.attribute("name").value();
      if (node.name() == std::string_view("environment") && !name.empty()) {
        const pugi::xml_attribute first =
            node.attribute("value");  // here it takes precedence over `default`
        values_.variables().define(name, first ? first.value() : node.attribute("default").value());
      }
      collect_variables(node);
    }
  }

  void check_children(const pugi::xml_node& parent, bool conditional) {
    for (const pugi::xml_node& node : parent.children()) {
      if (node.type() == pugi::node_element) check_element(node, conditional);
    }
  }

  void check_element(const pugi::xml_node& node, bool conditional) {
    const std::string element = node.name();
    if (condition_rule(ScramFile::kToolFile, element)) {
      check_condition(node);
      check_children(node, true);
      return;
    }
    if (begins_case(node)) {
      check_case(node);
      return;
    }
    const auto rule = element_rule(ScramFile::kToolFile, element);
    if (!rule) {
      check_unknown(node);
      check_children(node, conditional);
      return;
    }
    if (check_attributes(node, *rule)) {
      if (element == "tool") check_tool(node);
      if (!conditional) {  // a condition that is false here may be true elsewhere
        if (element == "environment") values_.check_environment(node);
        if (element == "flags") values_.check_flags(node);
        if (element == "runtime") values_.check_runtime(node);
        if (element == "use") values_.check_use(node);
      }
    } else if (element == "tool") {
      ++tools_;
    }
    check_children(node, conditional);
  }

  void check_unknown(const pugi::xml_node& node) {
    const std::string element = node.name();
    std::string advice = "leave it out";
    if (const auto guess = closest_match(element, known_elements(ScramFile::kToolFile))) {
      advice = fmt::format("did you mean <{}>?", *guess);
    }
    findings_.error(xml_.line_of(node), fmt::format("<{}> is unknown in a tool file", element),
                    {element_rule(ScramFile::kToolFile, lower_case(element))
                         ? fmt::format("prints \"Invalid tag '{}'\"", element)
                         : fmt::format("prints \"ERROR: Unknown tag {}\" and reads its contents as "
                                       "if they were outside",
                                       element),
                     advice});
  }

  bool check_attributes(const pugi::xml_node& node, const ElementRule& rule) {
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      const std::string name = attribute.name();
      const auto& allowed = rule.attributes;
      if (contains(allowed, "*") || contains(allowed, name) || name == kCommentAttribute) continue;
      const std::string complaint =
          fmt::format("prints \"ERROR: Invalid attribute '['{}']'\" and drops it", name);
      if (const auto newer = rule.newer.find(name); newer != rule.newer.end()) {
        findings_.warning(xml_.line_of(node),
                          fmt::format("not every scram knows '{}' in <{}>", name, node.name()),
                          {fmt::format("{} {}; newer versions take it", newer->second, complaint),
                           "leave it out where the file is for older releases too"});
        continue;
      }
      findings_.error(
          xml_.line_of(node), fmt::format("<{}> has no attribute '{}'", node.name(), name),
          {complaint, rule.attributes.empty() ? "leave it out"
                                              : fmt::format("leave it out; allowed are {}",
                                                            join(rule.attributes, ", "))});
    }
    bool complete = true;
    for (const std::string& name : rule.required) {
      if (node.attribute(name.c_str())) continue;
      findings_.missing_attribute(xml_.line_of(node), node.name(), name);
      complete = false;
    }
    return complete;
  }

  void check_tool(const pugi::xml_node& node) {
    if (++tools_ == 2) {
      findings_.error(xml_.line_of(node), "a second <tool>",
                      {"makes one tool of both, under the name of the last one",
                       "write one file for each tool"});
    }
    check_name(node);
    if (node.attribute("version").value() == std::string_view()) {
      findings_.error(xml_.line_of(node), "<tool> with an empty version",
                      {"stops with a Python traceback: KeyError: 'TOOLVERSION'",
                       "write <tool version=\"...\">"});
    }
    const std::string type = upper_case(node.attribute("type").value());
    is_project_ = type == "SCRAM";
    if (!type.empty() && type != "SCRAM" && type != "COMPILER") {
      findings_.error(xml_.line_of(node), fmt::format("no such type of tool: '{}'", type),
                      {"prints \"ERROR: Unknow tool type\" and continues without it",
                       "leave it out; 'scram' is for projects, 'compiler' for compilers"});
    }
  }

  void check_name(const pugi::xml_node& node) {
    const std::string name = node.attribute("name").value();
    const int line = xml_.line_of(node);
    name_ = lower_case(name);
    values_.set_tool_name(name_);
    if (name.empty() || !std::ranges::all_of(name, is_name_character)) {
      findings_.error(line, fmt::format("'{}' cannot be a tool's name", name),
                      {"writes the name into makefiles, which split it",
                       "use letters, digits, '.', '_', '+' and '-'"});
      return;
    }
    if (name_ == "self") {
      findings_.error(line, "a tool cannot be called 'self'",
                      {"overwrites its own tool of that name, the area's folders and flags",
                       "choose another name"});
      return;
    }
    if (name != name_) {
      findings_.warning(line, fmt::format("the tool's name '{}' has capitals", name),
                        {fmt::format("calls it '{}'", name_), "write it in lower case"});
    }
    const std::string stem = options_.file.stem().string();
    if (lower_case(stem) == name_) return;
    findings_.warning(
        line, fmt::format("the file is not called {}.xml", name_),
        {fmt::format("copies it to tools/selected/{}.xml; 'scram setup {}' does not know it", name_,
                     stem),
         "name the file after the tool"});
  }

  void check_condition(const pugi::xml_node& node) {
    const std::string element = node.name();
    const auto rule = condition_rule(ScramFile::kToolFile, element);
    if (rule->is_listed) {
      check_attributes(node, rule->element);
    } else {
      findings_.error(xml_.line_of(node),
                      fmt::format("<{}> is not in scram's list of tags", element),
                      {fmt::format("prints \"Invalid tag '{}'\" but applies it", element),
                       "use <architecture>, <ifrelease>, <ifcompiler> or <ifos>"});
    }
    const auto is_element = [](const pugi::xml_node& child) {
      return child.type() == pugi::node_element;
    };
    if (node.find_child(is_element)) check_comparison(node);  // else scram compares nothing
  }

  // For a condition or an <elif>: what scram compares with.
  void check_comparison(const pugi::xml_node& node) {
    const auto comparison = comparison_of(node);
    if (!comparison) {
      findings_.missing_attribute(xml_.line_of(node), node.name(), "name");
      return;
    }
    if (comparison->is_exact || !expression_fault(comparison->wanted)) return;
    findings_.error(xml_.line_of(node),
                    fmt::format("'{}' is not a regular expression", comparison->wanted),
                    {"stops with a Python traceback when it compares",
                     "write '.*' for any text, as in '.*_amd64', and a backslash before other "
                     "special characters"});
  }

  void check_case(const pugi::xml_node& node) {
    const std::string element = node.name();
    if (!condition_rule(ScramFile::kToolFile, node.parent().name())) {
      findings_.error(xml_.line_of(node), fmt::format("<{}/> outside a condition", element),
                      {"stops with a Python traceback",
                       "put it into <architecture>, <ifrelease> or another condition"});
      return;
    }
    if (is_case_after_else(node)) {
      findings_.error(xml_.line_of(node), fmt::format("<{}/> after an <else/>", element),
                      {"ignores what comes after it", "write one <else/>, as the last case"});
      return;
    }
    if (element == "elif") check_comparison(node);
    if (!node.first_child()) return;
    findings_.error(xml_.line_of(node), fmt::format("<{}> with contents", element),
                    {"ignores its contents",
                     fmt::format("write <{}/>, and after it what is for that case", element)});
  }

  // scram wants the folder of a project. A tool of flags, libraries or other tools alone has none.
  void check_base() {
    const std::string base = base_variable(name_);
    const auto& variables = values_.variables();
    const bool has_folders =
        is_project_ || variables.defines("LIBDIR") || variables.defines("INCLUDE");
    if (name_.empty() || name_ == "self" || !has_folders || variables.defines(base)) return;
    findings_.warning(
        0, fmt::format("the tool's folder is in no variable {}", base),
        {"looks for a tool's folder under that name: upper case, other than letters and digits as "
         "'_'",
         fmt::format("write <environment name=\"{}\" default=\"...\"/> into <client>", base)});
  }

  const CheckToolOptions& options_;
  const XmlSource& xml_;
  Findings& findings_;
  ValueChecks values_;
  std::string name_;  // lower case, of the tool
  int tools_ = 0;
  bool is_project_ = false;
};

}  // namespace

Result<ToolReport> check_tool(const FileSystem& fs, const CheckToolOptions& options) {
  TFAOT_ASSIGN(const std::string text, fs.read(options.file));
  Findings findings;
  XmlSource xml;
  if (const auto fault = xml.parse(text)) {
    findings.error(fault->line, fault->what, {fault->scram, fault->advice});
  } else {
    ToolChecker(fs, options, xml, findings).check();
  }
  ToolReport report{findings.take()};
  std::ranges::stable_sort(report.findings, {}, &ToolFinding::line);
  return report;
}

std::string finding_text(const ToolFinding& finding, const std::string& file) {
  const std::string place = finding.line > 0 ? fmt::format("{}:{}", file, finding.line) : file;
  return fmt::format("{}: {}: {}\n  scram {}\n  {}\n", place,
                     finding.severity == Severity::kError ? "error" : "warning", finding.what,
                     finding.scram, finding.advice);
}

}  // namespace tfaot::toolkit
