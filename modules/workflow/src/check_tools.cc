// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/check_tools.h"

#include "tfaot/scram/check_tool.h"

namespace tfaot::toolkit {
namespace {

// What scram defines itself, and where its set-up tools are.
Status add_area(CheckToolOptions& check, const FileSystem& files, const Path& area) {
  check.environment["LOCALTOP"] = area.string();
  check.environment["CMSSW_BASE"] = area.string();
  check.all_tools_known = true;
  const Path toolbox = area / "config" / "toolbox";
  if (files.kind(toolbox) == FileKind::kMissing) return {};
  check.tool_folders.push_back(toolbox / "tools" / "selected");
  TFAOT_ASSIGN(const std::vector<std::string> architectures, files.list(toolbox));
  for (const std::string& architecture : architectures) {
    check.tool_folders.push_back(toolbox / architecture / "tools" / "selected");
  }
  return {};
}

Result<CheckToolOptions> check_options(const Context& context, const ToolCheckRequest& request) {
  CheckToolOptions check;
  check.environment = context.environment.variables;
  if (!request.area.empty() && !is_folder(context.files, request.area)) {
    return fail(Error::at({request.area.string()}, "no such folder").note("named by --area"));
  }
  const std::string& usual = context.environment.cmssw_base;
  if (!request.area.empty() || !usual.empty()) {
    const Path area = request.area.empty() ? context.absolute(usual) : request.area;
    TFAOT_TRY(add_area(check, context.files, area));
  }
  for (const auto& [name, value] : request.variables) check.environment[name] = value;
  for (const Path& file : request.files) check.tool_folders.push_back(file.parent_path());
  return check;
}

}  // namespace

Status check_tools(const Context& context, const ToolCheckRequest& request,
                   const std::function<void(std::size_t file, const ToolReport&)>& on_report) {
  TFAOT_ASSIGN(CheckToolOptions check, check_options(context, request));
  for (std::size_t i = 0; i < request.files.size(); ++i) {
    check.file = request.files[i];
    TFAOT_ASSIGN(const ToolReport report, check_tool(context.files, check));
    on_report(i, report);
  }
  return {};
}

}  // namespace tfaot::toolkit
