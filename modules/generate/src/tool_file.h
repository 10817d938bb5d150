// SPDX-License-Identifier: Apache-2.0
// The scram tool files of a model and of the runtime. They have no <?xml?> line, because real scram
// crashes on it. Pure functions; see also tool_file_xml.h.
#pragma once

#include <string>

#include "names.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

Result<std::string> make_tool_file(const ModelSpec& spec, const PackageNames& names,
                                   const std::string& tool_base);
Result<std::string> make_runtime_tool_file(const PackageNames& names, const std::string& tool_base);

}  // namespace tfaot::toolkit
