// SPDX-License-Identifier: Apache-2.0
// Places in MLIR as text: ends of texts and brackets, parts of lists, types. Pure functions, for
// any text; where something is not closed, it ends with the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit::engine {

inline constexpr std::size_t kNowhere = std::string_view::npos;

// Of names and numbers.
bool is_word(char c);

// After the name or number at `at`.
std::size_t after_word(std::string_view text, std::size_t at);
// After the text in quotes that starts at `at`.
std::size_t after_quotes(std::string_view text, std::size_t at);
// After the bracket that closes the one at `at`.
std::size_t after_brackets(std::string_view text, std::size_t at);
// What is between the brackets at `at`.
std::string_view inside(std::string_view text, std::size_t at);

std::string_view trimmed(std::string_view text);
// The parts between the commas that are in no brackets.
std::vector<std::string_view> split_list(std::string_view text);

// The sizes of "tensor<?x16xELEMENT>", with -1 for "?". Nothing if the type is no tensor, or none
// with plain sizes.
std::optional<std::vector<std::int64_t>> sizes_in(std::string_view type);

// "tensor<?x16xf32>".
struct TensorText {
  std::vector<std::int64_t> sizes;  // -1: not known
  std::string element;              // "f32"
};
// Nothing if the type is no tensor, or none with plain sizes and elements.
std::optional<TensorText> tensor_in(std::string_view type);

}  // namespace tfaot::toolkit::engine
