// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/render.h"

namespace tfaot::toolkit {

std::string render(std::string_view template_text, const TemplateData& data, Escaping escaping) {
  kainjow::mustache::mustache tmpl{std::string(template_text)};
  // The library's own escaping is for XML.
  if (escaping == Escaping::kNone) {
    tmpl.set_custom_escape([](const std::string& text) { return text; });
  }
  return tmpl.render(data);
}

}  // namespace tfaot::toolkit
