// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_sizes.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "xla/literal.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

class Comparison {
 public:
  // `skips_shaping`: reshapes and broadcasts are taken for their operands.
  Comparison(std::pair<std::int64_t, std::int64_t> sizes, RowSizes& result, bool skips_shaping)
      : sizes_(sizes), result_(result), skips_shaping_(skips_shaping) {}

  void compare(const xla::HloComputation& small, const xla::HloComputation& large) {
    const auto& ours = small.parameter_instructions();
    const auto& theirs = large.parameter_instructions();
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      result_.twins[ours[i]] = theirs[i];
    }
    compare(*small.root_instruction(), *large.root_instruction());
  }

 private:
  void compare(const HloInstruction& root, const HloInstruction& twin) {
    std::vector<std::pair<const HloInstruction*, const HloInstruction*>> rest{{&root, &twin}};
    while (!rest.empty()) {
      const HloInstruction* const a = shaped(rest.back().first);
      const HloInstruction* const b = shaped(rest.back().second);
      rest.pop_back();
      const auto [known, is_new] = result_.twins.emplace(a, b);
      if (!is_new) {
        if (known->second != b) result_.others.insert(a);
        continue;
      }
      if (!is_alike(*a, *b)) {
        result_.others.insert(a);
        continue;
      }
      if (a->opcode() == HloOpcode::kConstant && !is_alike(a->literal(), b->literal())) {
        result_.numbers.insert(a);
      }
      for (std::int64_t i = 0; i < a->operand_count(); ++i) {
        rest.emplace_back(a->operand(i), b->operand(i));
      }
      for (std::size_t i = 0; i < a->called_computations().size(); ++i) {
        compare(*a->called_computations()[i], *b->called_computations()[i]);
      }
    }
  }

  const HloInstruction* shaped(const HloInstruction* one) const {
    while (skips_shaping_ &&
           (one->opcode() == HloOpcode::kReshape || one->opcode() == HloOpcode::kBroadcast)) {
      one = one->operand(0);
    }
    return one;
  }

  bool is_alike(std::int64_t a, std::int64_t b) const {
    return a == b || a * sizes_.second == b * sizes_.first;
  }

  bool is_alike(const xla::Shape& a, const xla::Shape& b) const {
    if (a.IsTuple() || b.IsTuple()) {
      return a.IsTuple() && b.IsTuple() &&
             std::equal(a.tuple_shapes().begin(), a.tuple_shapes().end(), b.tuple_shapes().begin(),
                        b.tuple_shapes().end(),
                        [&](const auto& x, const auto& y) { return is_alike(x, y); });
    }
    return a.element_type() == b.element_type() &&
           std::equal(a.dimensions().begin(), a.dimensions().end(), b.dimensions().begin(),
                      b.dimensions().end(), [&](auto x, auto y) { return is_alike(x, y); });
  }

  bool is_alike(const HloInstruction& a, const HloInstruction& b) const {
    return a.opcode() == b.opcode() && a.operand_count() == b.operand_count() &&
           a.called_computations().size() == b.called_computations().size() &&
           is_alike(a.shape(), b.shape()) &&
           (a.opcode() != HloOpcode::kParameter || a.parameter_number() == b.parameter_number()) &&
           is_alike(attributes(a), attributes(b));
  }

  static std::string attributes(const HloInstruction& one) {
    std::string text;
    for (const auto& part : one.ExtraAttributesToString(
             xla::HloPrintOptions::ShortParsable()
                 .set_print_backend_config(false)
                 .set_print_subcomputation_mode(
                     xla::HloPrintOptions::PrintSubcomputationMode::kOff))) {
      text += part + " ";
    }
    return text;
  }

  // True if texts have the same words, and numbers that are equal or the same multiple of the
  // batch.
  bool is_alike(const std::string& a, const std::string& b) const {
    std::size_t i = 0;
    std::size_t j = 0;
    const auto number = [](const std::string& text, std::size_t& at) {
      std::int64_t value = 0;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
        value = value * 10 + (text[at++] - '0');
      }
      return value;
    };
    while (i < a.size() && j < b.size()) {
      const bool digits = std::isdigit(static_cast<unsigned char>(a[i])) != 0;
      if (digits != (std::isdigit(static_cast<unsigned char>(b[j])) != 0)) return false;
      if (digits ? !is_alike(number(a, i), number(b, j)) : a[i++] != b[j++]) return false;
    }
    return i == a.size() && j == b.size();
  }

  // True if they are equal as far as both go.
  static bool is_alike(const xla::Literal& a, const xla::Literal& b) {
    if (!a.shape().IsArray()) return a == b;
    Dimensions sizes;
    for (int d = 0; d < a.shape().rank(); ++d) {
      sizes.push_back(std::min(a.shape().dimensions(d), b.shape().dimensions(d)));
    }
    if (xla::ShapeUtil::SameDimensions(a.shape(), b.shape())) return a == b;
    const Dimensions starts(sizes.size(), 0);
    return a.Slice(starts, sizes) == b.Slice(starts, sizes);
  }

  std::pair<std::int64_t, std::int64_t> sizes_;
  RowSizes& result_;
  bool skips_shaping_;
};

}  // namespace

bool RowSizes::follows_batch(const HloInstruction& one, std::int64_t dimension) const {
  const auto twin = twins.find(&one);
  if (twin == twins.end() || !one.shape().IsArray() || !twin->second->shape().IsArray() ||
      one.shape().rank() != twin->second->shape().rank()) {
    return false;
  }
  const auto d = static_cast<int>(dimension);
  return one.shape().dimensions(d) != twin->second->shape().dimensions(d);
}

RowSizes compare_sizes(const xla::HloModule& small, const xla::HloModule& large,
                       std::pair<std::int64_t, std::int64_t> sizes) {
  RowSizes result;
  Comparison(sizes, result, false).compare(*small.entry_computation(), *large.entry_computation());
  return result;
}

const HloInstruction* difference_at(const OtherSize& other, const xla::HloModule& small,
                                    const xla::HloModule& large,
                                    std::pair<std::int64_t, std::int64_t> sizes) {
  const auto& entry = *small.entry_computation();
  RowSizes result;
  Comparison({sizes.first, other.rows}, result, true)
      .compare(entry, *other.module.entry_computation());
  RowSizes following;
  if (other.rows != 1)
    Comparison(sizes, following, true).compare(entry, *large.entry_computation());
  for (const auto* const computation : small.MakeComputationPostOrder()) {
    for (const auto* const at : computation->MakeInstructionPostOrder()) {
      if (result.others.contains(at)) return at;
      if (result.numbers.contains(at) && !following.numbers.contains(at)) return at;
    }
  }
  return nullptr;
}

}  // namespace tfaot::toolkit::engine
