// SPDX-License-Identifier: Apache-2.0
#include "package_files.h"

#include <algorithm>

#include "templates.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

TemplateData objects_data(const PackageNames& names) {
  TemplateData list{TemplateData::type::list};
  for (const std::string& file : names.objects) list << TemplateObject{{"file", file}};
  return list;
}

// If so, the package contains the headers of tfaot/cmssw/drop_in.
bool is_self_contained(const ModelSpec& spec) {
  return spec.compilation.headers == HeadersMode::kSelfContained;
}

}  // namespace

std::string cmake_config(const ModelSpec& spec, const PackageNames& names) {
  return render(templates::kCmakeConfig,
                TemplateObject{{"made_by", names.made_by},
                               {"tool", names.tool},
                               {"package", lower_case(names.tool)},
                               {"class", names.cpp_class},
                               {"version", spec.model.version},
                               {"toolkit_version", names.toolkit_version},
                               {"drop_in", is_self_contained(spec)},
                               {"objects", objects_data(names)}},
                Escaping::kNone);
}

std::string cmake_version(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names) {
  const std::string& version = spec.model.version;
  return render(templates::kCmakeVersion,
                TemplateObject{{"made_by", names.made_by},
                               {"tool", names.tool},
                               {"package", lower_case(names.tool)},
                               {"version", version},
                               {"dotted", is_dotted_version(version)},
                               {"major", version.substr(0, version.find('.'))},
                               {"processor", processor_of(compiled.target_triple)}},
                Escaping::kNone);
}

std::string pkg_config(const ModelSpec& spec, const CompiledModel& compiled,
                       const PackageNames& names) {
  return render(templates::kPkgConfig,
                TemplateObject{{"made_by", names.made_by},
                               {"tool", names.tool},
                               {"class", names.cpp_class},
                               {"version", spec.model.version},
                               {"drop_in", is_self_contained(spec)},
                               {"batch_sizes", list_of(compiled.batch_sizes)},
                               {"cpu_levels", join(compiled.cpu_levels, ", ")},
                               {"objects", objects_data(names)}},
                Escaping::kNone);
}

}  // namespace tfaot::toolkit
