// SPDX-License-Identifier: Apache-2.0
// Products of matrices, Einsum and determinants.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/str_split.h"
#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

void lower_matmul(Node& node) {
  node.set(multiply_matrices(node, node.operand(0), node.operand(1)));
}

// alpha * A * B + beta * C
void lower_gemm(Node& node) {
  if (node.rank(0) != 2 || node.rank(1) != 2) node.refuse("needs matrices");
  for (const std::int64_t rows : node.sizes(0)) {
    for (const std::int64_t columns : node.sizes(1)) node.check_sizes({rows, columns});
  }
  const auto scaled = [](XlaOp x, float by) { return by == 1 ? x : x * by; };
  XlaOp sum = dot(node.operand(0), node.operand(1),
                  {{node.flag("transA") ? 0 : 1}, {node.flag("transB") ? 1 : 0}});
  sum = scaled(sum, node.real("alpha", 1));
  if (node.has(2)) {
    const XlaOp added = scaled(node.operand(2), node.real("beta", 1));
    sum = sum + broadcast_to(node, added, node.sizes_of(sum));
  }
  node.set(sum);
}

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
    const std::string equation = node.text("equation", "");
    const auto arrow = equation.find("->");
    read_terms(equation.substr(0, arrow));
    result_ = arrow == std::string::npos ? implied_result()
                                         : parse_labels(node, equation.substr(arrow + 2), rest_);
    for (const EinsumTerm& term : terms_) read_sizes(term);
    for (EinsumTerm& term : terms_) term = without_ones(without_repeats(term));
  }

  XlaOp run() {
    EinsumTerm made = terms_.front();
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      made = multiply(made, terms_[i], needed_after(i));
    }
    made = keep_only(made, needed_after(terms_.size()));
    Dimensions order, sizes, places;
    for (std::int64_t i = 0; i < std::ssize(result_); ++i) {
      sizes.push_back(size_of(entry(result_, i)));
      const auto found = std::ranges::find(made.labels, entry(result_, i));
      if (found == made.labels.end()) continue;  // a size of 1 in all terms
      order.push_back(found - made.labels.begin());
      places.push_back(i);
    }
    return xla::BroadcastInDim(xla::Transpose(made.op, order), sizes, places);
  }

 private:
  void read_terms(const std::string& text) {
    const std::vector<std::string> parts = absl::StrSplit(text, ',');
    if (std::ssize(parts) != node_.operand_count()) {
      node_.refuse(fmt::format("has an equation for {} operands", parts.size()));
    }
    for (int i = 0; i < node_.operand_count(); ++i) {
      const std::string& part = entry(parts, i);
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

  // The dimensions of "...", then letters that occur once.
  EinsumLabels implied_result() const {
    EinsumLabels labels = parse_labels(node_, "...", rest_);
    std::multiset<int> letters;
    for (const EinsumTerm& term : terms_) letters.insert(term.labels.begin(), term.labels.end());
    for (const int letter : letters) {
      if (letter < kEinsumRest && letters.count(letter) == 1) labels.push_back(letter);
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

  // "ii" is the diagonal.
  EinsumTerm without_repeats(EinsumTerm term) const {
    for (std::int64_t j = 1; j < std::ssize(term.labels);) {
      const auto end = term.labels.begin() + j;
      const auto first = std::find(term.labels.begin(), end, *end);
      if (first == end) {
        ++j;
        continue;
      }
      const Dimensions sizes = node_.sizes_of(term.op);
      const auto index = [&](std::int64_t d) { return index_along(node_, xla::S32, sizes, d); };
      const XlaOp is_equal = index(first - term.labels.begin()) == index(j);
      term.op = sum_of(xla::Select(is_equal, term.op, xla::ZerosLike(term.op)), {j});
      term.labels.erase(end);
    }
    return term;
  }

  // A size of 1 counts as any size: it is left out if another operand has another.
  EinsumTerm without_ones(const EinsumTerm& term) const {
    const Dimensions sizes = node_.sizes_of(term.op);
    EinsumTerm made;
    Dimensions kept;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 1) continue;
      made.labels.push_back(term.labels[d]);
      kept.push_back(sizes[d]);
    }
    made.op = xla::Reshape(term.op, kept);
    return made;
  }

  // Labels that operands after number `i`, or the result, have.
  EinsumLabels needed_after(std::size_t i) const {
    EinsumLabels needed = result_;
    while (++i < terms_.size()) {
      needed.insert(needed.end(), terms_[i].labels.begin(), terms_[i].labels.end());
    }
    return needed;
  }

  static EinsumTerm keep_only(const EinsumTerm& term, const EinsumLabels& needed) {
    EinsumTerm made{term.op, {}};
    Dimensions reduced;
    for (std::int64_t d = 0; d < std::ssize(term.labels); ++d) {
      if (has_label(needed, entry(term.labels, d))) {
        made.labels.push_back(entry(term.labels, d));
      } else {
        reduced.push_back(d);
      }
    }
    if (!reduced.empty()) made.op = sum_of(term.op, reduced);
    return made;
  }

  // Sums over labels that both have and nothing needs.
  static EinsumTerm multiply(EinsumTerm a, EinsumTerm b, const EinsumLabels& needed) {
    const auto with = [&](const EinsumTerm& other) {
      EinsumLabels all = needed;
      all.insert(all.end(), other.labels.begin(), other.labels.end());
      return all;
    };
    a = keep_only(a, with(b));
    b = keep_only(b, with(a));
    DotDimensions numbers;
    EinsumTerm made;
    EinsumLabels free;
    for (std::int64_t d = 0; d < std::ssize(a.labels); ++d) {
      const int label = entry(a.labels, d);
      const auto found = std::ranges::find(b.labels, label);
      if (found == b.labels.end()) {
        free.push_back(label);
        continue;
      }
      const bool is_batch = has_label(needed, label);
      (is_batch ? numbers.left_batch : numbers.left).push_back(d);
      (is_batch ? numbers.right_batch : numbers.right).push_back(found - b.labels.begin());
      if (is_batch) made.labels.push_back(label);
    }
    std::ranges::copy_if(b.labels, std::back_inserter(free),
                         [&](int label) { return !has_label(a.labels, label); });
    made.labels.insert(made.labels.end(), free.begin(), free.end());
    made.op = dot(a.op, b.op, numbers);
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
  const XlaOp which = xla::ArgMax(xla::Abs(part_at(node, matrices, 0, 2)), xla::S32, 1);
  const XlaOp is_pivot = index_along(node, xla::S32, sizes, 1) == along(which, sizes, 0);
  const XlaOp pivot_row = sum_of(xla::Select(is_pivot, matrices, xla::ZerosLike(matrices)), {1});
  const XlaOp first_row = spread(part_at(node, matrices, 0, 1), sizes, {1});
  return {xla::Select(is_pivot, first_row, matrices), pivot_row, which != 0};
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
  const XlaOp ones = xla::Broadcast(scalar(node, node.type(0), 1), {count});
  XlaOp determinant = ones;
  for (std::int64_t size = rows; size > 0; --size) {
    const PivotedMatrices now = pivoted(node, left);
    const XlaOp pivot = part_at(node, now.pivot_row, 0, 1);
    determinant = determinant * xla::Select(now.is_moved, -pivot, pivot);
    if (size == 1) break;
    const XlaOp divisor = xla::Select(pivot == xla::ZerosLike(pivot), ones, pivot);
    const Dimensions smaller = {count, size - 1, size - 1};
    const XlaOp column = xla::Reshape(xla::Slice(now.rows, {0, 1, 0}, {count, size, 1}, {1, 1, 1}),
                                      {count, size - 1});
    const XlaOp factors = column / along(divisor, {count, size - 1}, 0);
    const XlaOp rest = xla::Slice(now.rows, {0, 1, 1}, {count, size, size}, {1, 1, 1});
    const XlaOp row = xla::SliceInDim(now.pivot_row, 1, size, 1, 1);
    left = rest - spread(factors, smaller, {2}) * spread(row, smaller, {1});
  }
  node.set(xla::Reshape(determinant, batch));
}

}  // namespace

std::vector<OnnxOperator> product_operators() {
  return {
      {"Det", 11, lower_det},
      {"Einsum", 12, lower_einsum},
      {"Gemm", 6, lower_gemm},
      {"MatMul", 1, lower_matmul},
  };
}

}  // namespace tfaot::toolkit::engine
