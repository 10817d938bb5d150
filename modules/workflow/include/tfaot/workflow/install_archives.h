// SPDX-License-Identifier: Apache-2.0
// Archives -> release area: what `tfaot install` does. Each archive is checked file by file,
// unpacked to a staging folder; all of them are renamed into place together. A failure undoes all
// of it; a kill leaves an area that works. Two installs into one area wait for each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/sign_files.h"

namespace tfaot::toolkit {

/// What to install. Paths are absolute.
struct InstallRequest {
  std::vector<Path> archives;     ///< all of them are installed, or none
  Path release_area;              ///< made if missing
  std::string scram_arch;         ///< folder below config/toolbox; empty: that of a scram area
  bool make_current = true;       ///< switch users to these versions
  bool replace = false;           ///< replace the same version with other contents
  bool allow_large = false;       ///< unpack archives with far larger files
  bool link = false;              ///< make the library of each model (link_packages.h)
  bool dry_run = false;           ///< check the archives and the area, and change nothing
  SignatureRequest signatures{};  ///< the area's policy holds too
};

/// How the scram of the area gets to know the new tool file. kSetUp: scram does not know the tool
/// yet. kBuild: 'scram b' notices. Until it ran, developer areas that are made get the old version.
enum class ScramStep { kNone, kSetUp, kBuild };

/// An archive that was installed.
struct InstalledArchive {
  InstallReceipt receipt;
  ScramStep scram_step = ScramStep::kNone;
};

/// `on_installed` is called for each archive after all are installed, in the calling thread. Error:
/// an archive is damaged, or something is in the way; then nothing was changed.
Status install_archives(Context& context, const InstallRequest& request,
                        const std::function<void(const InstalledArchive&)>& on_installed);

}  // namespace tfaot::toolkit
