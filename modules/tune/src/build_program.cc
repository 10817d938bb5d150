// SPDX-License-Identifier: Apache-2.0
#include "build_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::chrono::minutes kCompilerTimeout{10};

Status check_machine(const Manifest& manifest, const TuneOptions& options) {
  const std::string processor = manifest.architecture.substr(0, manifest.architecture.find('-'));
  if (processor == options.machine) return {};
  return fail(Error::at({options.tree.string()},
                        fmt::format("the package is for '{}', this machine is '{}'", processor,
                                    options.machine))
                  .note("tune it on a machine that can run it"));
}

// The first lines show the cause; a compiler's last lines only say that it failed.
constexpr std::size_t kShownLines = 5;
std::vector<std::string> first_errors(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  const auto is_error = [](const std::string& line) {
    return line.find("error:") != std::string::npos ||
           line.find("undefined reference") != std::string::npos;
  };
  const auto error = std::find_if(lines.begin(), lines.end(), is_error);
  const auto first = error == lines.end() ? lines.begin() : error;
  const auto last = lines.end() - first > static_cast<std::ptrdiff_t>(kShownLines)
                        ? first + kShownLines
                        : lines.end();
  return {first, last};
}

}  // namespace

Result<Path> build_program(FileSystem& fs, const Manifest& manifest, const TuneOptions& options) {
  TFAOT_TRY(check_machine(manifest, options));
  const Path source = options.work_directory / "measure.cc";
  Path program = options.work_directory / "measure";
  TFAOT_TRY(fs.replace_atomically(source, options.program));

  ProcessSpec compiler;
  compiler.program = options.compiler;
  compiler.timeout = kCompilerTimeout;
  compiler.arguments = {"-std=c++17",   "-O2",
                        "-I",           (options.tree / "include").string(),
                        "-I",           (options.tree / "runtime/include").string(),
                        "-o",           program.string(),
                        source.string()};
  for (const ManifestFile& file : manifest.files) {
    if (is_object_file(file.path)) {
      compiler.arguments.push_back((options.tree / file.path).string());
    }
  }
  compiler.arguments.push_back((options.tree / "runtime/lib/libtfaot_runtime.a").string());
  TFAOT_ASSIGN(const auto built,
               run_tool(compiler, {fmt::format("the C++ compiler '{}', which links the code to "
                                               "measure, cannot be started",
                                               options.compiler),
                                   "install one, such as g++, or name it with --compiler"}));
  if (built.ok()) return program;
  Error error = Error::at({options.tree.string()}, "the program that measures cannot be built");
  for (const std::string& line : first_errors(built.standard_error)) error.note(line);
  return fail(std::move(error));
}

}  // namespace tfaot::toolkit
