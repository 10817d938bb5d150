// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/text_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "stablehlo/mlir_scan.h"
#include "stablehlo/mlir_text.h"

namespace tfaot::toolkit::engine {
namespace {

// More than `most` is all the same.
std::int64_t elements_of_type(std::string_view type, std::int64_t most) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes_in(type).value_or(std::vector<std::int64_t>())) {
    if (size == 0) return 0;
    if (size > 0) elements = size > most / elements ? most + 1 : elements * size;
    if (elements > most) break;
  }
  return elements;
}

// What starts with a type of a tensor; empty: nothing does.
std::string_view tensor_at(std::string_view text, std::size_t at) {
  const std::string_view type = text.substr(std::min(at, text.size()));
  return type.starts_with("tensor<") || type.starts_with("!vhlo.tensor_v1<") ? type : "";
}

// Elements that a constant has and its text does not.
std::int64_t made_elements(std::string_view text, std::size_t dense) {
  const std::size_t end = after_brackets(text, text.find('<', dense));
  constexpr std::string_view kColon = " : ";
  if (!text.substr(end).starts_with(kColon)) return 0;
  const std::int64_t all = elements_of_type(text.substr(end + kColon.size()), kMostTensorElements);
  return std::max<std::int64_t>(0, all - static_cast<std::int64_t>(end - dense));
}

struct TextFunction {
  std::int64_t lines = 0;
  std::vector<std::string_view> called;
};

// The functions of a text, and the names of functions in them.
std::map<std::string_view, TextFunction> functions_in(std::string_view text) {
  std::map<std::string_view, TextFunction> functions;
  TextFunction* inside = nullptr;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' && inside != nullptr) ++inside->lines;
    const bool is_quoted = text[at] == '"';
    if (!is_quoted && text[at] != '@') continue;
    const std::size_t end = is_quoted ? after_quotes(text, at) : after_word(text, at + 1);
    const std::string_view name = text.substr(at + 1, end - at - (is_quoted ? 2 : 1));
    if (!is_quoted && defines_function(text, at)) {
      inside = &functions[name];
    } else if (inside != nullptr && (!is_quoted || text.substr(0, at).ends_with("string_v1<"))) {
      inside->called.push_back(name);
    }
    at = end - 1;
  }
  return functions;
}

// Follows the calls of one function after the other.
class Calls {
 public:
  Calls(const std::string& file, std::string_view text)
      : file_(file), functions_(functions_in(text)) {}

  Status check() {
    for (const auto& [name, function] : functions_) TFAOT_TRY(follow(name, 0));
    return {};
  }

 private:
  Result<std::int64_t> follow(std::string_view name, int depth) {
    const auto known = written_out_.find(name);
    if (known != written_out_.end()) {
      if (known->second >= 0) return known->second;
      return fail(Error::at({file_}, fmt::format("the function '{}' calls itself", name))
                      .note("a loop is an operation 'stablehlo.while'"));
    }
    if (depth > kMostNestedCalls) {
      return fail(Error::at(
          {file_}, fmt::format("more than {} functions call each other", kMostNestedCalls)));
    }
    written_out_[name] = -1;
    const TextFunction& function = functions_.at(name);
    std::int64_t lines = function.lines;
    for (const std::string_view called : function.called) {
      if (!functions_.contains(called)) continue;
      TFAOT_ASSIGN(const std::int64_t more, follow(called, depth + 1));
      lines += more;
      if (lines > kMostWrittenOperations) {
        return fail(Error::at(
            {file_},
            fmt::format("with its calls written out, the function '{}' has more than {} operations",
                        name, kMostWrittenOperations)));
      }
    }
    return written_out_[name] = lines;
  }

  const std::string& file_;
  std::map<std::string_view, TextFunction> functions_;
  std::map<std::string_view, std::int64_t> written_out_;  // -1: not yet
};

// Where a text has too much, and of what.
struct Excess {
  std::size_t at = 0;
  std::string what;
};

std::optional<Excess> excess_in(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '"') {
      at = after_quotes(text, at) - 1;
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > kMostBrackets) {
        return Excess{at, fmt::format("has more than {} brackets in each other", kMostBrackets)};
      }
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && !is_arrow)) {
      --depth;
    }
    if (elements_of_type(tensor_at(text, at), kMostTensorElements) > kMostTensorElements) {
      return Excess{at, fmt::format("has a tensor of more than {} elements", kMostTensorElements)};
    }
  }
  return std::nullopt;
}

}  // namespace

Status check_sizes(const std::string& file, std::string_view text) {
  const auto excess = excess_in(text);
  if (!excess) return {};
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(excess->at), '\n');
  return fail(Error::at({file, static_cast<int>(line) + 1, 0}, excess->what));
}

Status check_contents(const std::string& file, std::string_view text) {
  if (const auto excess = excess_in(text)) return fail(Error::at({file}, excess->what));
  constexpr std::string_view kDense = "dense<";
  std::int64_t made = 0;
  for (std::size_t at = text.find(kDense); at != kNowhere; at = text.find(kDense, at + 1)) {
    made += made_elements(text, at);
    if (made <= kMostRepeatedElements) continue;
    return fail(Error::at({file}, fmt::format("constants that repeat one number have more than {} "
                                              "elements",
                                              kMostRepeatedElements))
                    .note("a 'stablehlo.broadcast_in_dim' of the number takes no memory"));
  }
  return Calls(file, text).check();
}

}  // namespace tfaot::toolkit::engine
