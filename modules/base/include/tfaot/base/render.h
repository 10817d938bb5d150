// SPDX-License-Identifier: Apache-2.0
// Fills in a template: the only user of mustache. Pure, safe from many threads.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

using TemplateData = kainjow::mustache::data;
using TemplateObject = kainjow::mustache::object;
using TemplateList = kainjow::mustache::list;

enum class Escaping {
  kNone,  // the values are already escaped, or safe
  kXml,
};

// REQUIRES: the template is valid; the tests render each of them.
std::string render(std::string_view template_text, const TemplateData& data, Escaping escaping);

}  // namespace tfaot::toolkit
