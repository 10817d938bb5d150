// SPDX-License-Identifier: Apache-2.0
#include "build_program.h"

#include <fmt/format.h>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot {
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
    if (Path(file.path).extension() == ".o") {
      compiler.arguments.push_back((options.tree / file.path).string());
    }
  }
  compiler.arguments.push_back((options.tree / "runtime/lib/libtfaot_runtime.a").string());
  const auto built = run_process(compiler);
  if (!built) {
    if (interrupting_signal() != 0) return fail(built.error());
    return fail(Error(fmt::format("the C++ compiler '{}', which links the code to measure, cannot "
                                  "be started",
                                  options.compiler))
                    .note(built.error().text())
                    .note("install one, such as g++, or name it by --compiler"));
  }
  if (built->ok()) return program;
  Error error = Error::at({options.tree.string()}, "the program that measures cannot be built");
  for (const std::string& line : last_lines(built->standard_error, 5)) error.note(line);
  return fail(std::move(error));
}

}  // namespace tfaot
