// SPDX-License-Identifier: Apache-2.0
// A study of many models, described by a profile.yaml: what `tfaot profile --study` does. Each
// model's results are written as soon as it is measured, under a name that holds a hash of all that
// was asked and of what was measured. So a study that was stopped goes on where it was, and only
// what changed is measured again. Machines that share the output folder add to one study.
#pragma once

#include <cstddef>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/profile.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/profile_models.h"

namespace tfaot::toolkit {

struct StudyRequest {
  Path file;              ///< absolute
  ProfileRequest common;  ///< machine, core, engine, cache, version; the study sets the rest
};

struct StudyResult {
  Path output;                    ///< OUTPUT/MACHINE/NAME_VERSION-HASH.json
  std::size_t measured = 0;       ///< models, by this call
  std::size_t kept = 0;           ///< models that had been measured on this machine
  std::vector<Profile> machines;  ///< that have results of this study, by name; this one among them
};

/// Error: the file is wrong, or a model cannot be measured; results until then are kept.
Result<StudyResult> profile_study(Context& context, const StudyRequest& request);

}  // namespace tfaot::toolkit
