// SPDX-License-Identifier: Apache-2.0
#include "inline_headers.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "names.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The name in a line #include "name".
std::optional<std::string> quoted_include(const std::string& line) {
  const std::string head = "#include \"";
  if (!line.starts_with(head)) return std::nullopt;
  return line.substr(head.size(), line.find('"', head.size()) - head.size());
}

std::string guard_of(const std::string& name) {
  return "TFAOT_INLINED_" + upper_case(identifier_of(name));
}

class Inliner {
 public:
  Inliner(const HeaderTexts& headers, bool guards) : headers_(headers), guards_(guards) {}

  std::string text_of(const std::string& text) {
    std::string result;
    for (const std::string& line : split_lines(text)) {
      if (line == "#pragma once") continue;
      if (const auto name = quoted_include(line)) {
        result += header(*name);
      } else {
        result += line + "\n";
      }
    }
    return result;
  }

  std::string header(const std::string& name) {
    const auto found = headers_.find(name);
    if (found == headers_.end() || !done_.insert(name).second) return "";
    // The headers that it includes come first: guards do not nest.
    std::string before;
    for (const std::string& line : split_lines(found->second)) {
      if (const auto other = quoted_include(line)) before += header(*other);
    }
    const std::string own = text_of(found->second);
    if (!guards_) return before + own;
    const std::string guard = guard_of(name);
    return before + fmt::format("#ifndef {0}\n#define {0}\n{1}#endif\n", guard, own);
  }

 private:
  const HeaderTexts& headers_;
  bool guards_;
  std::set<std::string> done_;
};

}  // namespace

std::string inlined_headers(const std::string& entry, const HeaderTexts& headers) {
  return Inliner(headers, true).header(entry);
}

std::string with_inlined_headers(const std::string& text, const HeaderTexts& headers) {
  return Inliner(headers, false).text_of(text);
}

}  // namespace tfaot::toolkit
