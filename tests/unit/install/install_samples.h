// SPDX-License-Identifier: Apache-2.0
// Small packages to install; functions that install them as the tool does; and the view that users
// of an area get.
#pragma once

#include <map>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/install/install.h"

namespace tfaot::toolkit::testing {

// A package of tool tfaot-model-test: tool file, header, CMake package, and an object with this
// contents.
struct SamplePackage {
  std::string version = "1.0.0";
  std::string object = "code";
  std::string tool_name = "tfaot-model-test";
  std::string toolkit = "0.1.0";
  bool has_runtime_tool = true;  // not in packages of older toolkits

  std::map<std::string, std::string> files() const;  // path -> contents, without the manifest
  Manifest manifest() const;
};

// An area, and where it keeps the tool file of a sample.
inline const InstallOptions kOptions{.area = "/area"};
inline constexpr const char* kToolFile = "/area/config/toolbox/tools/selected/tfaot-model-test.xml";

// Who installs samples.
inline const AreaActor kActor{.time = "2026-01-02T03:04:05Z", .user = "jane", .host = "node1"};

// Plans and unpacks.
Result<PreparedInstall> prepare_sample(FileSystem& fs, const SamplePackage& package,
                                       const InstallOptions& options);
// Plans, unpacks into plan.staging and commits; removes what is left if that fails.
Result<InstallReceipt> install_sample(FileSystem& fs, const SamplePackage& package,
                                      const InstallOptions& options);

// The package's tool files, with their final base.
std::string rebased_tool_file(const SamplePackage& package, const Path& area);
std::string runtime_tool_file(const SamplePackage& package, const Path& area);

// Every entry below a folder and what it is: a file's contents, a link's target, or "folder".
std::map<std::string, std::string> everything_in(const FileSystem& fs, const Path& folder);

// What users of tfaot-model-test see: through `current`, the CMake link and the tool file. Each is
// "" if missing.
struct AreaView {
  std::string version;    // that `current` leads to
  std::string object;     // current/lib/test.o
  std::string cmake;      // lib/cmake/TOOL/TOOL-config.cmake
  std::string tool_file;  // the file below config/toolbox

  bool operator==(const AreaView&) const = default;
};
std::ostream& operator<<(std::ostream& out, const AreaView& view);
AreaView view_of(const FileSystem& fs, const Path& area);
// The view if this package is current.
AreaView expected_view(const SamplePackage& package, const Path& area);

}  // namespace tfaot::toolkit::testing
