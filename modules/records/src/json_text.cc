// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/json_text.h"

#include <nlohmann/json.hpp>

namespace tfaot::toolkit {

std::string json_to_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json json_from_text(const std::string& text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

std::string json_string(const std::string& text) { return json_to_text(text); }

std::string valid_utf8(const std::string& text) {
  return json_from_text(json_string(text)).get<std::string>();
}

}  // namespace tfaot::toolkit
