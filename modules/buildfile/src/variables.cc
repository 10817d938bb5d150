// SPDX-License-Identifier: Apache-2.0
#include "variables.h"

#include <fmt/format.h>

namespace tfaot::toolkit {
namespace {

constexpr int kDeepest = 20;
constexpr int kMostReplaced = 1000;
constexpr std::size_t kLongest = 100'000;
constexpr std::size_t kLongestQuote = 200;

}  // namespace

const std::string* Variables::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto entry = scope->find(name);
    if (entry != scope->end()) return &entry->second;
  }
  return nullptr;
}

Result<std::string> Variables::expand(const std::string& text, Expansion& expansion) const {
  const std::string quote = text.substr(0, kLongestQuote);
  if (expansion.depth > kDeepest) {
    return fail(Error("a variable stands for itself: '" + quote + "'"));
  }
  std::string expanded;
  for (std::size_t at = 0; at < text.size();) {
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    if (text[at] != '$' || (after != '{' && after != '(')) {
      expanded += text[at++];
      continue;
    }
    const std::size_t end = text.find(after == '{' ? '}' : ')', at);
    const std::string whole = text.substr(at, end == std::string::npos ? end : end + 1 - at);
    const std::string name = whole.size() < 3 ? "" : whole.substr(2, whole.size() - 3);
    const std::string* value = end == std::string::npos ? nullptr : find(name);
    if (value != nullptr) {
      ++expansion.depth;
      ++expansion.replaced;
      TFAOT_ASSIGN(const std::string inner, expand(*value, expansion));
      --expansion.depth;
      expanded += inner;
      if (expansion.replaced > kMostReplaced || expanded.size() > kLongest) {
        return fail(Error(fmt::format("the variables in '{}' stand for too much", quote))
                        .note(fmt::format("the limits are {} values and {} characters",
                                          kMostReplaced, kLongest)));
      }
    } else if (expansion.keep_unknown) {
      expanded += whole;
    } else {
      return fail(Error(fmt::format("the variable in '{}' is not known", quote))
                      .note(fmt::format("give it a value: VARIABLES {}=<value>", name)));
    }
    at += whole.size();
  }
  return expanded;
}

}  // namespace tfaot::toolkit
