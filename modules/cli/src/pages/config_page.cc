// SPDX-License-Identifier: Apache-2.0
#include "pages/config_page.h"

#include "pages/page_parts.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {

report::Page config_page(const ModelSpec& spec) {
  std::vector<std::string> batch_sizes;
  for (const std::int64_t size : spec.compilation.batch_sizes) {
    batch_sizes.push_back(std::to_string(size));
  }
  const std::vector<std::string>& levels = spec.compilation.cpu_levels;
  report::Page page;
  page.kind = "config";
  page.title = spec.model.name + " " + spec.model.version;
  page.summary = spec.model.description;
  page.highlights = {{"batch sizes", std::to_string(batch_sizes.size()), join(batch_sizes, ", ")},
                     {"CPU levels", std::to_string(levels.size()), join(levels, ", ")}};
  page.sections = {{"Overview", {}, {facts_block(facts_of(spec), {"model", "description"})}}};
  return page;
}

}  // namespace tfaot::toolkit
