// SPDX-License-Identifier: Apache-2.0
#include "tfaot/load/link_model.h"

#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "shared_library.h"
#include "tfaot/base/process.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::chrono::minutes kLinkerTimeout{10};
constexpr const char* kRuntimeLibrary = "runtime/lib/libtfaot_runtime.a";

Status check_package(const FileSystem& fs, const Manifest& manifest, const LinkRequest& request) {
  const std::string processor = manifest.architecture.substr(0, manifest.architecture.find('-'));
  if (processor != request.machine) {
    return fail(
        Error::at({request.tree.string()}, fmt::format("the package is for '{}', this machine is "
                                                       "'{}'",
                                                       processor, request.machine))
            .note("run it on a machine that can run it"));
  }
  if (is_file(fs, request.tree / kRuntimeLibrary)) return {};
  return fail(
      Error::at({request.tree.string()}, fmt::format("the package has no {}", kRuntimeLibrary))
          .note("it was made by an older tfaot; compile the model again"));
}

std::vector<std::string> linker_arguments(const Manifest& manifest, const LinkRequest& request) {
  // No symbol may stay open, and those of the runtime are not seen by other libraries.
  std::vector<std::string> arguments = {"-shared",
                                        "-o",
                                        request.output.string(),
                                        "-Bsymbolic",
                                        "--gc-sections",
                                        "--exclude-libs",
                                        "ALL",
                                        "--build-id=none",
                                        "-z",
                                        "defs",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack"};
  for (const ManifestFile& file : manifest.files) {
    if (is_object_file(file.path)) arguments.push_back((request.tree / file.path).string());
  }
  arguments.push_back((request.tree / kRuntimeLibrary).string());
  // The very files that this process has loaded: no search path, and no development package.
  arguments.emplace_back("--as-needed");
  for (const Path& library : loaded_standard_libraries()) arguments.push_back(library.string());
  return arguments;
}

}  // namespace

Status link_model(FileSystem& fs, const Manifest& manifest, const LinkRequest& request) {
  TFAOT_TRY(check_package(fs, manifest, request));
  ProcessSpec linker;
  linker.program = request.linker;
  linker.timeout = kLinkerTimeout;
  linker.arguments = linker_arguments(manifest, request);
  auto linked = run_tool(linker, {fmt::format("the linker '{}', which makes a package's code "
                                              "loadable, cannot be started",
                                              request.linker),
                                  "install it (Debian: binutils)"});
  if (linked && linked->ok()) return {};
  static_cast<void>(fs.remove_all(request.output));
  if (!linked) return fail(std::move(linked).error());
  return fail(with_last_words(
      Error::at({request.tree.string()}, "the package's objects cannot be linked"), *linked));
}

}  // namespace tfaot::toolkit
