// SPDX-License-Identifier: Apache-2.0
// Texts of a page: names of anchors and files, JSON inside HTML, hashes for the browser's policy.
// Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tfaot::toolkit::report {

// "serving-default": letters, digits and single hyphens, in lower case; empty if none are left.
std::string slug_of(std::string_view text);

// JSON that a <script> element can hold: nothing in it ends the element.
std::string json_in_html(std::string json);

// "sha256-<base64>", as a Content-Security-Policy names a script.
std::string policy_hash(std::string_view script);

// From "<svg" to "</svg>"; empty if there is no such element.
std::string svg_element(std::string_view text);

}  // namespace tfaot::toolkit::report
