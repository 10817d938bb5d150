// SPDX-License-Identifier: Apache-2.0
// RpmRecord <-> JSON text, the format of TOOL.json beside an RPM (docs/release.md). Pure functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/records/rpm_record.h"

namespace tfaot::toolkit {

// Two-space indent, keys in a fixed order, trailing newline.
std::string rpm_record_to_json(const RpmRecord& record);
// Nothing if the text is not such a record: the RPM is then built as if there were none.
std::optional<RpmRecord> rpm_record_from_json(const std::string& text);

}  // namespace tfaot::toolkit
