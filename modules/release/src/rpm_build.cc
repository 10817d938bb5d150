// SPDX-License-Identifier: Apache-2.0
#include "rpm_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/release/spec.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kToolError = "tfaot: error: ";
constexpr std::size_t kMostLines = 6;

// Checks a folder: rpm's own scripts split paths at spaces.
Status check_path(const Path& path, std::string_view bad) {
  const auto is_bad = [&](char c) {
    return static_cast<unsigned char>(c) < ' ' || bad.find(c) != std::string::npos;
  };
  if (std::ranges::none_of(path.string(), is_bad)) return {};
  return fail(Error::at({path.string()}, "rpmbuild cannot work with this path")
                  .note(fmt::format("it cannot handle: {}", bad))
                  .note("choose another folder"));
}

// Commands of the shell, and lines that rpmbuild prints after any failure.
bool is_routine(const std::string& line) {
  const std::string text = trim(line);
  return text.empty() || text.starts_with('+') || text.starts_with("Executing(") ||
         text.starts_with("RPM build errors:") ||
         text.find("Bad exit status from") != std::string::npos;
}

std::string last_of(const std::vector<std::string>& lines) {
  return lines.empty() ? "it printed nothing" : lines.back();
}

Result<Path> only_rpm(const FileSystem& fs, const Path& folder) {
  TFAOT_ASSIGN(const auto names, list_files_recursively(fs, folder));
  if (names.size() == 1) return folder / names.front();
  return fail(Error::internal(fmt::format("rpmbuild made {} RPMs instead of 1", names.size())));
}

}  // namespace

Status check_release_paths(const ReleaseOptions& options) {
  TFAOT_TRY(check_path(options.directory, " '\"\\$`%*?[;&()<>|"));
  return check_path(options.tool, "\"\\$`%");
}

Error build_error(const std::string& tool_name, const std::string& output) {
  std::vector<std::string> lines = split_lines(output);
  const auto said = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with(kToolError); });
  if (said != lines.end()) {
    Error error(fmt::format("{}: {}", tool_name, said->substr(kToolError.size())));
    for (auto note = said + 1; note != lines.end() && note->starts_with("  "); ++note) {
      error.note(trim(*note));
    }
    return error;
  }
  std::erase_if(lines, is_routine);
  Error error(fmt::format("{}: rpmbuild failed: {}", tool_name, trim(last_of(lines))));
  const std::size_t first = lines.size() - std::min(lines.size(), kMostLines);
  for (std::size_t i = first; i + 1 < lines.size(); ++i) error.note(trim(lines[i]));
  return error;
}

Result<RpmBuilt> build_rpm(FileSystem& fs, const RpmBuild& build, const ReleaseOptions& options) {
  TFAOT_TRY(fs.create_directories(build.work / "tmp"));
  ProcessSpec process;
  process.program = options.rpmbuild;
  process.arguments = {"-bb", "--target", build.processor + "-linux"};
  const auto define = [&process](const std::string& name, const std::string& value) {
    process.arguments.insert(process.arguments.end(), {"--define", name + " " + value});
  };
  define("_topdir", build.work.string());
  define("_sourcedir", (options.directory / "SOURCES").string());
  define("_specdir", (options.directory / "SPECS").string());
  define("_tmppath", (build.work / "tmp").string());
  define("_dbpath", (build.work / "db").string());
  define("tfaot", options.tool.string());
  define("tfaot_jobs", std::to_string(options.compile_jobs));
  if (!options.limits.empty()) define("tfaot_limits", options.limits);
  define("tfaot_release", std::to_string(build.release));
  process.arguments.push_back((options.directory / "SPECS" / (build.tool_name + ".spec")).string());
  process.environment = {{"LC_ALL", "C.UTF-8"}};
  const TimeLimitPause waiting;  // the compilation has limits of its own
  TFAOT_ASSIGN(const auto run,
               run_tool(process, {"rpmbuild, which builds the RPMs, cannot be started",
                                  "install it (Debian: rpm)"}));
  if (!run.ok()) {
    // The model's path, as in its source archive.
    const Path unpacked = build.work / "BUILD" /
                          fmt::format("{}-{}", build.tool_name, rpm_version(build.version)) / "";
    const std::string output =
        replace_all(run.standard_output + run.standard_error, unpacked.string(), "");
    return RpmBuilt{{}, build_error(build.tool_name, output)};
  }
  TFAOT_ASSIGN(Path rpm, only_rpm(fs, build.work / "RPMS"));
  return RpmBuilt{std::move(rpm), {}};
}

}  // namespace tfaot::toolkit
