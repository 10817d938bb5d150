// SPDX-License-Identifier: Apache-2.0
// Products in Einstein's notation, and determinants.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// Names of dimensions: a letter, or kEinsumRest plus the place from the end among those that "..."
// stands for.
using EinsumLabels = std::vector<int>;
constexpr int kEinsumRest = 256;

bool has_label(const EinsumLabels& labels, int label) {
  return std::ranges::count(labels, label) > 0;
}

// "...ij", where "..." stands for `rest` dimensions.
EinsumLabels parse_labels(const Node& node, std::string_view text, std::int64_t rest) {
  EinsumLabels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      for (std::int64_t k = rest; k > 0; --k) labels.push_back(kEinsumRest + static_cast<int>(k));
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      labels.push_back(text[i]);
    } else {
      node.refuse(fmt::format("has '{}' in its equation", text[i]));
    }
  }
  return labels;
}

struct EinsumTerm {
  XlaOp op;
  EinsumLabels labels;
};

class Einsum {
 public:
  explicit Einsum(const Node& node) : node_(node) {
    std::string equation = node.text("equation", "");
    std::string result;
    if (const auto arrow = equation.find("->"); arrow != std::string::npos) {
      result = equation.substr(arrow + 2);
      equation.resize(arrow);
      read_terms(equation);
      result_ = parse_labels(node, result, rest_);
    } else {
      read_terms(equation);
      result_ = implied_result();
    }
    for (const EinsumTerm& term : terms_) read_sizes(term);
    for (EinsumTerm& term : terms_) term = without_ones(without_repeats(term));
  }

  XlaOp run() {
    EinsumTerm made = terms_.front();
    for (std::size_t i = 1; i < terms_.size(); ++i)
      made = multiply(made, terms_[i], needed_after(i));
    made = keep_only(made, needed_after(terms_.size()));
    Dimensions order;
    Dimensions sizes;
    Dimensions places;
    for (std::size_t i = 0; i < result_.size(); ++i) {
      sizes.push_back(size_of(result_[i]));
      const auto found = std::ranges::find(made.labels, result_[i]);
      if (found == made.labels.end()) continue;  // a size of 1 in all terms
      order.push_back(found - made.labels.begin());
      places.push_back(static_cast<std::int64_t>(i));
    }
    return xla::BroadcastInDim(xla::Transpose(made.op, order), sizes, places);
  }

 private:
  void read_terms(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
      if (c == ',')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    if (std::ssize(parts) != node_.operand_count()) {
      node_.refuse(fmt::format("has an equation for {} operands", parts.size()));
    }
    for (int i = 0; i < node_.operand_count(); ++i) {
      const std::string& part = parts[static_cast<std::size_t>(i)];
      const auto letters = std::ssize(parse_labels(node_, part, 0));
      const bool has_rest = part.find("...") != std::string::npos;
      const std::int64_t rest = has_rest ? node_.rank(i) - letters : 0;
      if (rest < 0 || letters + rest != node_.rank(i)) {
        node_.refuse(fmt::format("has '{}' in its equation for an operand with {} dimensions", part,
                                 node_.rank(i)));
      }
      rest_ = std::max(rest_, rest);
      terms_.push_back({node_.operand(i), parse_labels(node_, part, rest)});
    }
  }

  // The dimensions of "...", then letters that are there once.
  EinsumLabels implied_result() const {
    EinsumLabels labels;
    for (std::int64_t k = rest_; k > 0; --k) labels.push_back(kEinsumRest + static_cast<int>(k));
    std::multiset<int> letters;
    for (const EinsumTerm& term : terms_) letters.insert(term.labels.begin(), term.labels.end());
    for (auto letter = letters.begin(); letter != letters.end();
         letter = letters.upper_bound(*letter)) {
      if (*letter < kEinsumRest && letters.count(*letter) == 1) labels.push_back(*letter);
    }
    return labels;
  }

  std::int64_t size_of(int label) const {
    const auto found = sizes_.find(label);
    if (found == sizes_.end()) node_.refuse("names a dimension in its result that no operand has");
    return found->second;
  }

  void read_sizes(const EinsumTerm& term) {
    const Dimensions sizes = node_.sizes_of(term.op);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      std::int64_t& size = sizes_.try_emplace(term.labels[d], sizes[d]).first->second;
      if (size == 1) size = sizes[d];
      if (sizes[d] != 1 && sizes[d] != size) {
        node_.refuse(
            fmt::format("has dimensions of sizes {} and {} with one name", size, sizes[d]));
      }
    }
  }

  XlaOp summed(XlaOp x, const Dimensions& dimensions) const {
    if (dimensions.empty()) return x;
    const auto type = node_.type_of(x);
    return xla::Reduce(x, xla::Zero(&node_.builder(), type),
                       xla::CreateScalarAddComputation(type, &node_.builder()), dimensions);
  }

  // "ii" is the diagonal.
  EinsumTerm without_repeats(EinsumTerm term) const {
    for (std::size_t j = 1; j < term.labels.size();) {
      const auto end = term.labels.begin() + static_cast<std::ptrdiff_t>(j);
      const auto first = std::find(term.labels.begin(), end, term.labels[j]);
      if (first == end) {
        ++j;
        continue;
      }
      const Dimensions sizes = node_.sizes_of(term.op);
      const auto index = [&](std::int64_t dimension) {
        return xla::Iota(&node_.builder(), shape_of(xla::S32, sizes), dimension);
      };
      const auto place = static_cast<std::int64_t>(j);
      const XlaOp is_equal = xla::Eq(index(first - term.labels.begin()), index(place));
      term.op = summed(xla::Select(is_equal, term.op, xla::ZerosLike(term.op)), {place});
      term.labels.erase(end);
    }
    return term;
  }

  // A size of 1 counts as any size: it is left out if another operand has another.
  EinsumTerm without_ones(EinsumTerm term) const {
    const Dimensions sizes = node_.sizes_of(term.op);
    EinsumTerm made{term.op, {}};
    Dimensions kept;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 1) continue;
      made.labels.push_back(term.labels[d]);
      kept.push_back(sizes[d]);
    }
    made.op = xla::Reshape(term.op, kept);
    return made;
  }

  // Labels that operands from `next` on, or the result, have.
  EinsumLabels needed_after(std::size_t next) const {
    EinsumLabels needed = result_;
    for (std::size_t i = next + 1; i < terms_.size(); ++i) {
      needed.insert(needed.end(), terms_[i].labels.begin(), terms_[i].labels.end());
    }
    return needed;
  }

  EinsumTerm keep_only(const EinsumTerm& term, const EinsumLabels& needed) const {
    EinsumTerm made{term.op, {}};
    Dimensions reduced;
    for (std::size_t d = 0; d < term.labels.size(); ++d) {
      if (has_label(needed, term.labels[d])) {
        made.labels.push_back(term.labels[d]);
      } else {
        reduced.push_back(static_cast<std::int64_t>(d));
      }
    }
    made.op = summed(term.op, reduced);
    return made;
  }

  // Sums over labels that both have and nothing needs.
  EinsumTerm multiply(EinsumTerm a, EinsumTerm b, const EinsumLabels& needed) const {
    const auto with = [&](const EinsumTerm& other) {
      EinsumLabels all = needed;
      all.insert(all.end(), other.labels.begin(), other.labels.end());
      return all;
    };
    a = keep_only(a, with(b));
    b = keep_only(b, with(a));
    xla::DotDimensionNumbers numbers;
    EinsumTerm made;
    EinsumLabels free;
    for (std::size_t d = 0; d < a.labels.size(); ++d) {
      const int label = a.labels[d];
      const auto place = static_cast<std::int64_t>(d);
      const auto found = std::ranges::find(b.labels, label);
      const std::int64_t other = found - b.labels.begin();
      if (found == b.labels.end()) {
        free.push_back(label);
      } else if (has_label(needed, label)) {
        numbers.add_lhs_batch_dimensions(place);
        numbers.add_rhs_batch_dimensions(other);
        made.labels.push_back(label);
      } else {
        numbers.add_lhs_contracting_dimensions(place);
        numbers.add_rhs_contracting_dimensions(other);
      }
    }
    for (const int label : b.labels) {
      if (!has_label(a.labels, label)) free.push_back(label);
    }
    made.labels.insert(made.labels.end(), free.begin(), free.end());
    made.op = xla::DotGeneral(a.op, b.op, numbers);
    return made;
  }

  const Node& node_;
  std::vector<EinsumTerm> terms_;
  EinsumLabels result_;
  std::int64_t rest_ = 0;
  std::map<int, std::int64_t> sizes_;
};

void lower_einsum(Node& node) { node.set(Einsum(node).run()); }

// The pivot of the first column: the row with its largest element comes first.
struct PivotedMatrices {
  XlaOp rows;  // with the first row in place of the pivot's
  XlaOp pivot_row;
  XlaOp is_moved;  // [batch]
};
PivotedMatrices pivoted(const Node& node, XlaOp matrices) {
  const Dimensions sizes = node.sizes_of(matrices);
  const Dimensions column = {sizes[0], sizes[1]};
  const XlaOp first = xla::Abs(xla::Reshape(xla::SliceInDim(matrices, 0, 1, 1, 2), column));
  const XlaOp which = xla::ArgMax(first, xla::S32, 1);
  const XlaOp index = xla::Iota(&node.builder(), shape_of(xla::S32, sizes), 1);
  const XlaOp is_pivot = xla::Eq(index, xla::BroadcastInDim(which, sizes, {0}));
  const auto type = node.type_of(matrices);
  const XlaOp pivot_row = xla::Reduce(xla::Select(is_pivot, matrices, xla::ZerosLike(matrices)),
                                      xla::Zero(&node.builder(), type),
                                      xla::CreateScalarAddComputation(type, &node.builder()), {1});
  const XlaOp first_row = xla::Reshape(xla::SliceInDim(matrices, 0, 1, 1, 1), {sizes[0], sizes[2]});
  const XlaOp rows = xla::Select(is_pivot, xla::BroadcastInDim(first_row, sizes, {0, 2}), matrices);
  return {rows, pivot_row, xla::Ne(which, xla::ConstantR0<std::int32_t>(&node.builder(), 0))};
}

// By elimination, one column after the other.
void lower_det(Node& node) {
  constexpr std::int64_t kMostRows = 64;
  const Dimensions sizes = node.sizes(0);
  if (sizes.size() < 2 || sizes.back() != sizes[sizes.size() - 2]) {
    node.refuse("needs square matrices");
  }
  const std::int64_t rows = sizes.back();
  if (rows > kMostRows) {
    node.refuse(fmt::format("has matrices of {} rows, but {} is the most", rows, kMostRows));
  }
  const Dimensions batch(sizes.begin(), sizes.end() - 2);
  const std::int64_t count = product(batch);
  XlaOp left = xla::Reshape(node.operand(0), {count, rows, rows});
  const XlaOp one = scalar(node, node.type(0), 1);
  XlaOp determinant = xla::Broadcast(one, {count});
  for (std::int64_t size = rows; size > 0; --size) {
    const PivotedMatrices now = pivoted(node, left);
    const XlaOp pivot = xla::Reshape(xla::SliceInDim(now.pivot_row, 0, 1, 1, 1), {count});
    determinant = xla::Mul(determinant, xla::Select(now.is_moved, xla::Neg(pivot), pivot));
    if (size == 1) break;
    const auto is_zero = xla::Eq(pivot, xla::ZerosLike(pivot));
    const XlaOp divisor = xla::Select(is_zero, xla::Broadcast(one, {count}), pivot);
    const Dimensions smaller = {count, size - 1, size - 1};
    const XlaOp column = xla::Reshape(xla::Slice(now.rows, {0, 1, 0}, {count, size, 1}, {1, 1, 1}),
                                      {count, size - 1});
    const XlaOp factors = xla::Div(column, xla::BroadcastInDim(divisor, {count, size - 1}, {0}));
    const XlaOp rest = xla::Slice(now.rows, {0, 1, 1}, {count, size, size}, {1, 1, 1});
    const XlaOp row = xla::SliceInDim(now.pivot_row, 1, size, 1, 1);
    left = xla::Sub(rest, xla::Mul(xla::BroadcastInDim(factors, smaller, {0, 1}),
                                   xla::BroadcastInDim(row, smaller, {0, 2})));
  }
  node.set(xla::Reshape(determinant, batch));
}

}  // namespace

std::vector<OnnxOperator> linear_algebra_operators() {
  return {
      {"Det", 11, lower_det},
      {"Einsum", 12, lower_einsum},
  };
}

}  // namespace tfaot::toolkit::engine
