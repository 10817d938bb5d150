// SPDX-License-Identifier: Apache-2.0
// Records of the install room. records/area_layout.h has the table of a release area:
//   AREA/TOOL/VERSION/...                         the package tree, manifest.json at its root
//   AREA/TOOL/VERSION/etc/scram.d/TOOL.xml        tool file with the final base
//   AREA/TOOL/current -> VERSION                  what users get
//   AREA/lib/cmake/TOOL -> ../../TOOL/current/lib/cmake/TOOL
//   AREA/config/toolbox/[SCRAM_ARCH/]tools/selected/TOOL.xml
//                                                 a copy of the current version's
//   AREA/.tfaot/                                  lock, history, staging folders
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/area_history.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

struct InstallOptions {
  std::filesystem::path area;  // absolute; created if missing
  // Folder below config/toolbox; empty: plan_install() finds it in a scram area, else there is
  // none.
  std::string scram_arch{};
  std::string scram_arch_variable{};  // $SCRAM_ARCH, which may choose among those of a scram area
  bool make_current = true;  // switch `current`, the CMake link and the tool file to this version
  bool replace = false;      // replace the same version with other contents
  std::string toolkit{};     // version of the installing tfaot; empty: any
};

struct InstallPlan {
  InstallOptions options;
  Manifest manifest;
  std::filesystem::path staging;      // unpack here; same file system as `destination`
  std::filesystem::path destination;  // AREA/TOOL/VERSION
  std::filesystem::path tool_file;    // the tool file's place below config/toolbox
  bool already_installed = false;     // same contents exist: only links and tool file are renewed
};

// The package's tool files with their final base, plan.destination.
struct ToolFileTexts {
  std::string model;
  std::string runtime{};  // empty: the package has none, because an older tfaot made it
};

// A plan whose tree lies in plan.staging, or at its place if it is installed already.
struct PreparedInstall {
  InstallPlan plan;
  ToolFileTexts tool_files;
  // Of `tfaot install --link`: a file in plan.staging for a version that is installed already. For
  // a new one the library is in the tree.
  std::filesystem::path library{};
  std::string archive{};  // for the history
  std::string archive_sha256{};
  std::string signed_by{};  // the number of the key; empty: nothing was asked
};

// Who changes an area, when and by which verb: the part of AreaEvent that all lines of one change
// share.
struct AreaActor {
  std::string time{};
  std::string user{};
  std::string host{};
  AreaAction action = AreaAction::kInstall;
};

struct InstallReceipt {
  std::filesystem::path destination;
  std::filesystem::path tool_file;  // below config/toolbox; for a version not made current, its own
  std::string tool_name;
  std::string version;
  // If this version became current: the version that was current before, empty if none was.
  std::optional<std::string> replaced_version{};
  bool unchanged = false;  // the files existed already, with the same contents
};

// What a removal takes out of an area.
struct RemovalPlan {
  std::filesystem::path area;
  std::string tool_name;
  std::vector<std::string> versions{};
  std::string current{};  // the version that users get now; empty: none
  // Links and tool files that go with the last version; empty if versions stay.
  std::vector<std::filesystem::path> links_and_tool_files{};
  // The runtime's tool files that led into a removed version: with the text of another package's,
  // or without a text if no model stays.
  std::vector<std::filesystem::path> runtime_tool_files{};
  std::optional<std::string> runtime_text{};
};

struct InstalledModel {
  std::string tool_name;
  std::string version;
  bool current = false;
  Manifest manifest;
};

struct InstalledList {
  std::vector<InstalledModel> models;
  std::vector<Error> broken;  // each names the folder or link, and says what to do
};

}  // namespace tfaot::toolkit
