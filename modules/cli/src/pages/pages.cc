// SPDX-License-Identifier: Apache-2.0
#include "pages/pages.h"

#include <fmt/format.h>

#include <map>

#include "options/shared_options.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/allowed_calls.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kPageStart = "<!DOCTYPE html>";

std::string command_of(const std::vector<std::string>& arguments) {
  std::string command = "tfaot";
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  return command;
}

}  // namespace

std::string imports_text(const std::vector<std::string>& symbols) {
  std::size_t of_runtime = 0;
  std::map<CallKind, std::vector<std::string>> named;
  for (const std::string& symbol : symbols) {
    const CallKind kind = kind_of_call(symbol);
    if (kind == CallKind::kRuntime) {
      ++of_runtime;
    } else {
      named[kind == CallKind::kCompiler ? CallKind::kMemory : kind].push_back(symbol);
    }
  }
  std::vector<std::string> parts;
  if (of_runtime > 0) parts.push_back(counted(of_runtime, "function") + " of the runtime");
  for (const auto& [kind, names] : named) {
    parts.push_back(join(names, ", "));
    if (kind == CallKind::kMathematics) parts.back() += " of libm";
    if (kind == CallKind::kAllocating) parts.back() += ", which asks for memory";
  }
  return parts.empty() ? "nothing" : join(parts, "; ");
}

std::string counted(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", report::grouped_digits(static_cast<std::int64_t>(count)), word,
                     count == 1 ? "" : "s");
}

report::Cell number_cell(std::int64_t number) {
  return {.text = report::grouped_digits(number), .number = static_cast<double>(number)};
}

std::string microseconds(double ns) { return fmt::format("{:.3f}", ns / 1000); }

report::Cell microseconds_cell(double ns) { return {.text = microseconds(ns), .number = ns}; }

std::string json_text(const nlohmann::ordered_json& json) { return json_to_text(json, 2) + "\n"; }

nlohmann::ordered_json made_json(const std::string& kind, const Path& path,
                                 const Manifest& manifest) {
  return {{"kind", kind},
          {"path", path.string()},
          {"name", manifest.name},
          {"version", manifest.version},
          {"tool_name", manifest.tool_name}};
}

std::string scram_advice(const InstalledArchive& installed, const Path& area) {
  const InstallReceipt& receipt = installed.receipt;
  switch (installed.scram_step) {
    case ScramStep::kNone:
      break;
    case ScramStep::kSetUp:
      return fmt::format("  next, in {}:\n    scram setup {}\n    scram setup {}\n", area.string(),
                         kRuntimeToolName, lower_case(receipt.tool_name));
    case ScramStep::kBuild:
      return fmt::format(
          "  next: 'scram b' in {}, which reads the new tool file\n"
          "  in developer areas made before: scram setup {}\n",
          area.string(), receipt.tool_file.string());
  }
  return "";
}

void show_done(Program& program, const nlohmann::ordered_json& json, const std::string& report) {
  if (program.json) {
    program.console.print(json_text(json));
  } else {
    program.console.report(report);
  }
}

void HtmlOption::add_to(CLI::App& app) {
  add_value(app, "--html FILE", file_, "also write the report as one HTML page");
}

Status HtmlOption::check(const Program& program) const {
  if (!given()) return {};
  const Path file = program.absolute(file_);
  TFAOT_TRY(check_output_file(program.files, "--html", file));
  if (!is_file(program.files, file)) return {};
  TFAOT_ASSIGN(const std::string start, program.files.read_range(file, {0, kPageStart.size()}));
  if (start.empty() || start == kPageStart) return {};
  return fail(Error::usage(fmt::format("--html: '{}' exists and is not an HTML page", file_))
                  .note("name another file, or remove it"));
}

Status HtmlOption::write(Program& program, report::Page page,
                         const nlohmann::ordered_json& json) const {
  if (page.data.empty()) page.data = json_text(json);
  page.data = printable_text(page.data);  // as the console prints it
  page.command = command_of(program.arguments);
  page.toolkit_version = TFAOT_VERSION;
  return write_named_file(program.files, program.absolute(file_), report::html_of(page));
}

Status HtmlOption::show(Program& program, report::Page page,
                        const nlohmann::ordered_json& json) const {
  const report::Verdict verdict = page.badge.verdict;
  if (program.json) {
    program.console.print(json_text(json));
  } else {
    program.console.print(report::text_of(page), verdict == report::Verdict::kGood  ? Tone::kGood
                                                 : verdict == report::Verdict::kBad ? Tone::kBad
                                                                                    : Tone::kNone);
  }
  return given() ? write(program, std::move(page), json) : Status();
}

Status HtmlOption::show_verdict(Program& program, report::Page page,
                                const nlohmann::ordered_json& json) const {
  if (program.json || !program.console.is_quiet()) return show(program, std::move(page), json);
  return given() ? write(program, std::move(page), json) : Status();
}

std::vector<Difference> differences(const NamedValues& first, const NamedValues& second) {
  const std::map<std::string, std::string> ours(first.begin(), first.end());
  const std::map<std::string, std::string> theirs(second.begin(), second.end());
  std::vector<Difference> found;
  for (const auto& [what, value] : first) {
    const auto other = theirs.find(what);
    const std::string there = other == theirs.end() ? "" : other->second;
    if (there != value) found.push_back({what, value, there});
  }
  for (const auto& [what, value] : second) {
    if (!ours.contains(what) && !value.empty()) found.push_back({what, "", value});
  }
  return found;
}

}  // namespace tfaot::toolkit
