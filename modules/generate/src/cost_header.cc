// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "escape.h"
#include "names.h"
#include "templates.h"
#include "tfaot/base/render.h"
#include "tfaot/generate/generate.h"
#include "tfaot/records/dtype.h"

namespace tfaot::toolkit {

GeneratedFile cost_header(const Manifest& manifest) {
  TemplateData calls{TemplateData::type::list};
  for (const std::int64_t batch_size : manifest.batch_sizes) {
    for (const std::string& level : manifest.cpu_levels) {
      calls << TemplateObject{{"constant", cost_constant(batch_size, level)},
                              {"cost", std::to_string(measured_cost(manifest, batch_size, level))}};
    }
  }
  const std::string cpu = manifest.tuning ? comment_line(manifest.tuning->cpu) : "";
  const std::string name_end = "::" + manifest.name;
  return {fmt::format("include/{}/{}_costs.h", manifest.tool_name, manifest.name),
          render(templates::kCostHeader,
                 TemplateObject{{"made_by", made_by_line(manifest.name, manifest.version)},
                                {"class", manifest.cpp_class},
                                {"namespace", manifest.cpp_class.substr(
                                                  0, manifest.cpp_class.size() - name_end.size())},
                                {"name", manifest.name},
                                {"cpu", cpu},
                                {"has_cpu", !cpu.empty()},
                                {"calls", calls}},
                 Escaping::kNone)};
}

std::string measuring_program(const Manifest& manifest) {
  // model.h of the flavour cmssw includes headers that are not in the package.
  const bool cmssw = manifest.headers == HeadersMode::kCmssw;
  TemplateData inputs{TemplateData::type::list};
  for (std::size_t i = 0; i < manifest.signature.inputs.size(); ++i) {
    inputs << TemplateObject{{"index", std::to_string(i)},
                             {"type", cpp_type_name(manifest.signature.inputs[i].dtype)}};
  }
  return render(templates::kMeasure,
                TemplateObject{{"made_by", made_by_line(manifest.name, manifest.version)},
                               {"tool", manifest.tool_name},
                               {"header", cmssw ? manifest.name + "_tables.h" : "model.h"},
                               {"description", manifest.cpp_class + (cmssw ? "_tables" : "")},
                               {"class", manifest.cpp_class},
                               {"inputs", inputs}},
                Escaping::kNone);
}

}  // namespace tfaot::toolkit
