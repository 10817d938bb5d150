// SPDX-License-Identifier: Apache-2.0
// Reports what scram will do with tool files in an area: what `tfaot check-tool` does. Only reads.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/scram/check_tool.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to check, and what scram will know.
struct ToolCheckRequest {
  std::vector<Path> files;                       ///< absolute; they may use each other
  std::map<std::string, std::string> variables;  ///< in addition to the environment's
  Path area;  ///< absolute; the scram area whose tools may be used; empty: $CMSSW_BASE
};

/// `on_report` is called for each file, in order, with its index. Error: a file or the area cannot
/// be read. A file that is not a tool file at all is a finding.
Status check_tools(const Context& context, const ToolCheckRequest& request,
                   const std::function<void(std::size_t file, const ToolReport&)>& on_report);

}  // namespace tfaot::toolkit
