// SPDX-License-Identifier: Apache-2.0
// JSON <-> text. The library's reader and writer take seconds to compile, so the other rooms have
// them from here. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tfaot::toolkit {

// Indented by so many spaces, or in one line for -1; without a newline at the end. Bytes that are
// not UTF-8 become U+FFFD.
std::string json_to_text(const nlohmann::ordered_json& json, int indent = -1);
// Discarded if the text is not JSON.
nlohmann::ordered_json json_from_text(const std::string& text);
// A text as JSON, with quotes.
std::string json_string(const std::string& text);
// The text, with U+FFFD for bytes that are not UTF-8.
std::string valid_utf8(const std::string& text);

}  // namespace tfaot::toolkit
