// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tfaot::toolkit {

Result<ScratchFolder> ScratchFolder::create(const Context& context) {
  const std::string wanted = context.environment.variable("TMPDIR");
  const Path parent = wanted.empty() ? Path("/tmp") : context.absolute(wanted);
  ScratchFolder folder(context.files);
  TFAOT_TRY(check_interrupts());
  std::string name = (parent / "tfaot-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return fail(
        Error::at({parent.string()}, fmt::format("no folder for temporary files can be made "
                                                 "here: {}",
                                                 std::strerror(errno)))
            .note("TMPDIR in the environment names another place"));
  }
  folder.path_ = name;
  return folder;
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : files_(other.files_), path_(std::exchange(other.path_, {})) {}

ScratchFolder::~ScratchFolder() {
  if (!path_.empty()) static_cast<void>(files_->remove_all(path_));
}

}  // namespace tfaot::toolkit
