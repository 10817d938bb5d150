// SPDX-License-Identifier: Apache-2.0
// A page of tfaot without what all pages share, for golden files.
#pragma once

#include <string>

namespace tfaot::toolkit::testing {

// The text between the first `begin` and the next `end` becomes "...".
inline std::string without_text(std::string html, const std::string& begin,
                                const std::string& end) {
  const std::size_t from = html.find(begin) + begin.size();
  return html.replace(from, html.find(end, from) - from, "...");
}

// Without style and script.
inline std::string page_body(std::string html) {
  html = without_text(std::move(html), "<style>", "</style>");
  html = without_text(std::move(html), "<script>", "</script>");
  return without_text(std::move(html), "script-src 'sha256-", "'");
}

}  // namespace tfaot::toolkit::testing
