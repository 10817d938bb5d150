// SPDX-License-Identifier: Apache-2.0
#include "options/html_option.h"

#include <fmt/format.h>

#include "options/shared_options.h"
#include "text/describe.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kPageStart = "<!DOCTYPE html>";

std::string command_of(const std::vector<std::string>& arguments) {
  std::string command = "tfaot";
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  return command;
}

}  // namespace

void HtmlOption::add_to(CLI::App& app) {
  app.add_option("--html", file_, "also write the report as one HTML page")->option_text("FILE");
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
                         const nlohmann::ordered_json& data) const {
  page.data = printable_text(json_text(data));  // as the console prints it
  page.command = command_of(program.arguments);
  page.toolkit_version = TFAOT_VERSION;
  TFAOT_ASSIGN(const Path place, place_for_named_file(program.files, program.absolute(file_)));
  return program.files.replace_atomically(place, report::html_of(page));
}

}  // namespace tfaot::toolkit
