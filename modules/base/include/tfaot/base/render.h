// SPDX-License-Identifier: Apache-2.0
// Fills in a template: the only user of mustache. Pure, safe from many threads.
#pragma once

#include <functional>
#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit {

using TemplateData = kainjow::mustache::data;
using TemplateObject = kainjow::mustache::object;
using TemplateList = kainjow::mustache::list;

// A list of the results of `function` for each element.
template <class Range, class Function>
TemplateData list_data(const Range& range, Function function) {
  TemplateData list{TemplateData::type::list};
  for (const auto& element : range) list << TemplateData(std::invoke(function, element));
  return list;
}
// A list of objects with one value each.
inline TemplateData objects_data(const char* key, const std::vector<std::string>& values) {
  return list_data(values, [key](const std::string& value) {
    return TemplateObject{{key, value}};
  });
}

enum class Escaping {
  kNone,  // the values are already escaped, or safe
  kXml,
};

// REQUIRES: the template is valid; the tests render each of them.
std::string render(std::string_view template_text, const TemplateData& data, Escaping escaping);

}  // namespace tfaot::toolkit
