// SPDX-License-Identifier: Apache-2.0
#include "tool_file.h"

#include "templates.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/render.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit {

Result<std::string> make_tool_file(const ModelSpec& spec, const PackageNames& names,
                                   const std::string& tool_base) {
  TFAOT_TRY(check_tool_base(tool_base));
  TemplateData objects{TemplateData::type::list};
  for (const std::string& file : names.objects) objects << TemplateObject{{"file", file}};
  return formatted_tool_file(
      render(templates::kToolFile,
             TemplateObject{{"made_by", names.made_by},
                            {"tool", lower_case(names.tool)},  // as scram calls it
                            {"version", spec.model.version},
                            {"base", names.base},
                            {"tool_base", tool_base},
                            {"runtime", std::string(kRuntimeToolName)},
                            {"objects", objects}},
             Escaping::kXml));
}

Result<std::string> make_runtime_tool_file(const PackageNames& names,
                                           const std::string& tool_base) {
  TFAOT_TRY(check_tool_base(tool_base));
  const std::string name(kRuntimeToolName);
  return formatted_tool_file(render(templates::kRuntimeToolFile,
                                    TemplateObject{{"tool", name},
                                                   {"version", names.toolkit_version},
                                                   {"base", base_variable(name)},
                                                   {"libdir", "runtime/lib"},
                                                   {"includedir", "runtime/include"},
                                                   {"tool_base", tool_base}},
                                    Escaping::kXml));
}

}  // namespace tfaot::toolkit
