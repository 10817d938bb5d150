// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/input_uses.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tfaot/base/text.h"
#include "tfaot/inspect/graph_summary.h"

namespace tfaot::toolkit {
namespace {

// A mask is subtracted from scores after a product with such a number.
constexpr double kHides = 1e4;

constexpr std::string_view kMoving = "broadcast concatenate copy reshape reverse slice transpose";

std::optional<double> parsed_number(std::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  return parse_number<double>(text);
}

// "1,4" of "f32[1,4]" and "x={1,4}": what follows `start`, up to `end`.
std::vector<std::int64_t> numbers_after(std::string_view text, std::string_view start, char end) {
  std::vector<std::int64_t> numbers;
  const std::size_t at = text.find(start);
  if (at == std::string_view::npos) return numbers;
  text.remove_prefix(at + start.size());
  for (const std::string& part : split_words(text.substr(0, text.find(end)), ",")) {
    numbers.push_back(static_cast<std::int64_t>(parsed_number(trim(part)).value_or(0)));
  }
  return numbers;
}

std::vector<std::int64_t> dimensions_of(const HloNode& node) {
  return numbers_after(node.shape, "[", ']');
}

// Follows one input through the entry computation.
class InputReader {
 public:
  explicit InputReader(const HloComputation& computation) {
    for (const HloNode& node : computation.nodes) {
      nodes_[node.name] = &node;
      for (const std::string& operand : node.operands) users_[operand].push_back(&node);
    }
  }

  InputUse use_of(const HloNode& parameter, const std::string& name) {
    places_ = 0;
    hides_ = false;
    compared_.reset();
    seen_.clear();
    follow(parameter, Carries::kNumbers);
    while (!open_.empty()) {
      const auto [at, carries] = open_.back();
      open_.pop_back();
      for (const HloNode* user : users_[at->name]) see(*user, at->name, carries);
    }
    if (places_ > 0) return {InputRole::kIndex, static_cast<double>(places_ - 1)};
    if (hides_) return {InputRole::kMask, 0};
    if (!compared_) return {};
    if (lower_case(name).find("mask") != std::string::npos) return {InputRole::kMask, 0};
    return {InputRole::kPadded, *compared_};
  }

 private:
  // The elements of a node: the input's numbers, or a constant plus or minus them.
  enum class Carries { kNumbers, kShifted };

  void follow(const HloNode& node, Carries carries) {
    if (seen_.insert({&node, carries}).second) open_.emplace_back(&node, carries);
  }

  void see(const HloNode& user, const std::string& from, Carries carries) {
    const std::string& what = user.opcode;
    const bool makes_truth = user.shape.starts_with("pred");
    if (is_one_of(kMoving, what) || what == "clamp") {
      follow(user, carries);
    } else if (what == "convert") {
      makes_truth ? compare(0) : follow(user, carries);
    } else if (what == "not") {
      hides_ = hides_ || makes_truth;
    } else if (what == "select") {
      if (user.operands.front() == from)
        hides_ = true;
      else
        follow(user, carries);
    } else if (what == "add" || what == "subtract") {
      if (only_number(other(user, from))) follow(user, Carries::kShifted);
    } else if (what == "negate") {
      follow(user, Carries::kShifted);
    } else if (what == "multiply") {
      const auto number = only_number(other(user, from));
      hides_ = hides_ || (number && std::abs(*number) >= kHides);
    } else if (carries == Carries::kNumbers) {
      see_numbers(user, from);
    }
  }

  void see_numbers(const HloNode& user, const std::string& from) {
    const auto is_operand = [&](std::size_t i) {
      return i < user.operands.size() && user.operands[i] == from;
    };
    if (user.opcode == "compare") {
      const bool is_equality = user.detail.find("direction=EQ") != std::string::npos ||
                               user.detail.find("direction=NE") != std::string::npos;
      if (!is_equality) return;
      if (const auto number = only_number(other(user, from))) return compare(*number);
      index(counted_to(other(user, from)));
    } else if (user.opcode == "gather" && is_operand(1)) {
      index(places(user, "start_index_map={"));
    } else if (user.opcode == "scatter" && is_operand((user.operands.size() - 1) / 2)) {
      index(places(user, "scatter_dims_to_operand_dims={"));
    } else if (user.opcode == "dynamic-slice" || user.opcode == "dynamic-update-slice") {
      const std::size_t first = user.opcode == "dynamic-slice" ? 1 : 2;
      const auto table = dimensions_of(*nodes_[user.operands.front()]);
      const auto part = dimensions_of(first == 1 ? user : *nodes_[user.operands[1]]);
      for (std::size_t d = 0; d < std::min(table.size(), part.size()); ++d) {
        if (is_operand(first + d)) index(table[d] - part[d] + 1);
      }
    }
  }

  // The places that are common to the dimensions that a gather or scatter indexes.
  std::int64_t places(const HloNode& user, std::string_view attribute) {
    const auto table = dimensions_of(*nodes_[user.operands.front()]);
    std::int64_t least = 0;
    for (const std::int64_t d : numbers_after(user.detail, attribute, '}')) {
      if (d < 0 || d >= std::ssize(table)) return 0;
      const std::int64_t size = table[static_cast<std::size_t>(d)];
      least = least == 0 ? size : std::min(least, size);
    }
    return least;
  }

  const HloNode* unmoved(const HloNode* node) {
    while (node->opcode == "broadcast" || node->opcode == "reshape" || node->opcode == "convert") {
      node = nodes_[node->operands.front()];
    }
    return node;
  }
  // The number that all elements are.
  std::optional<double> only_number(const HloNode& node) {
    const HloNode& one = *unmoved(&node);
    constexpr std::string_view kStart = "constant(";
    if (one.opcode != "constant" || !one.detail.starts_with(kStart)) return std::nullopt;
    const std::size_t end = one.detail.find(')');
    return parsed_number(one.detail.substr(kStart.size(), end - kStart.size()));
  }
  // How many values an iota has.
  std::int64_t counted_to(const HloNode& node) {
    const HloNode& one = *unmoved(&node);
    if (one.opcode != "iota") return 0;
    const auto sizes = dimensions_of(one);
    const auto at = numbers_after(one.detail + ",", "iota_dimension=", ',');
    return at.empty() || at[0] < 0 || at[0] >= std::ssize(sizes)
               ? 0
               : sizes[static_cast<std::size_t>(at[0])];
  }
  const HloNode& other(const HloNode& user, const std::string& from) {
    return *nodes_[user.operands[user.operands.front() == from ? 1 : 0]];
  }

  void compare(double number) {
    if (!compared_ && std::isfinite(number)) compared_ = number;
  }
  void index(std::int64_t count) {
    if (count > 0) places_ = places_ == 0 ? count : std::min(places_, count);
  }

  std::map<std::string, const HloNode*> nodes_;
  std::map<std::string, std::vector<const HloNode*>> users_;
  std::vector<std::pair<const HloNode*, Carries>> open_;
  std::set<std::pair<const HloNode*, Carries>> seen_;
  std::int64_t places_ = 0;  // that it is an index of
  bool hides_ = false;
  std::optional<double> compared_;
};

}  // namespace

std::vector<InputUse> input_uses(const HloGraph& graph, const std::vector<std::string>& names) {
  std::vector<InputUse> uses(names.size());
  const HloComputation* const entry = entry_of(graph);
  if (entry == nullptr) return uses;
  InputReader reader(*entry);
  for (const HloNode& node : entry->nodes) {
    constexpr std::string_view kStart = "parameter ";
    if (node.opcode != "parameter" || !node.detail.starts_with(kStart)) continue;
    const auto number = parsed_number(std::string_view(node.detail).substr(kStart.size()));
    const auto i = static_cast<std::size_t>(number.value_or(static_cast<double>(names.size())));
    if (i < names.size()) uses[i] = reader.use_of(node, names[i]);
  }
  return uses;
}

}  // namespace tfaot::toolkit
