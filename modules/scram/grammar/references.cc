// SPDX-License-Identifier: Apache-2.0
#include "grammar/references.h"

#include <optional>
#include <utility>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

struct Reference {
  std::size_t start = 0;
  std::size_t size = 0;
  std::string name{};
};

bool is_word(char c) { return is_letter_or_digit(c) || c == '_'; }

std::optional<Reference> reference_at(const std::string& text, std::size_t start,
                                      ReferenceForm form) {
  const bool plain = form == ReferenceForm::kPlain;
  const bool braces = form == ReferenceForm::kBraces;
  const std::size_t first = start + (plain ? 1 : 2);
  if (!plain && (first > text.size() || text[start + 1] != (braces ? '{' : '('))) return {};
  std::size_t end = first;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end == first) return {};
  std::string name = text.substr(first, end - first);
  if (plain) return Reference{start, end - start, std::move(name)};
  if (end == text.size() || text[end] != (braces ? '}' : ')')) return {};
  return Reference{start, end + 1 - start, std::move(name)};
}

// The last reference that starts before `before`.
std::optional<Reference> last_reference(const std::string& text, ReferenceForm form,
                                        std::size_t before) {
  while (before > 0) {
    const std::size_t start = text.rfind('$', before - 1);
    if (start == std::string::npos) break;
    if (auto reference = reference_at(text, start, form)) return reference;
    before = start;
  }
  return {};
}

}  // namespace

Expansion expand_references(const std::string& text, const ReferenceRules& rules,
                            const ValueOfName& value_of) {
  Expansion expansion{.text = text};
  int replaced = 0;
  int replaced_before = -1;
  while (std::exchange(replaced_before, replaced) != replaced) {
    for (const ReferenceForm form : rules.forms) {
      std::size_t before = expansion.text.size();
      while (const auto reference = last_reference(expansion.text, form, before)) {
        const std::string* value = value_of(reference->name);
        before = reference->start;
        if (value == nullptr) {
          if (rules.stops_at_unknown) return {.unknown = reference->name};
          continue;
        }
        before += value->size();
        expansion.text.replace(reference->start, reference->size, *value);
        if (++replaced > kMostReplaced || expansion.text.size() > kLongestValue) {
          return {.is_too_much = true};
        }
      }
    }
  }
  return expansion;
}

}  // namespace tfaot::toolkit
