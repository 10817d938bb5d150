// SPDX-License-Identifier: Apache-2.0
// Archives -> release area: what `tfaot install` does. Each archive is checked file by file, staged
// aside and renamed into place; a failure takes everything of it back, a kill leaves the old state
// or the new one. Two installs into one area wait for each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to install. Paths are absolute.
struct InstallRequest {
  std::vector<Path> archives;  ///< one after the other; the first error stops
  Path release_area;           ///< made when missing
  std::string scram_arch;      ///< folder below config/toolbox; empty: none
  bool make_current = true;    ///< users get these versions from now on
  bool replace = false;        ///< the same version with other contents may be replaced
  bool allow_large = false;    ///< unpack archives whose files are very much larger than they
};

/// An archive that was installed.
struct InstalledArchive {
  InstallReceipt receipt;
  /// scram has to read the area's new tool file: it hands the tools that it last read to all
  /// developer areas that are made later.
  bool scram_reads_again = false;
};

/// `on_installed` is called after each archive, in the calling thread. Error: an archive is damaged
/// or something is in the way; archives before it stay installed.
Status install_archives(Context& context, const InstallRequest& request,
                        const std::function<void(const InstalledArchive&)>& on_installed);

}  // namespace tfaot::toolkit
