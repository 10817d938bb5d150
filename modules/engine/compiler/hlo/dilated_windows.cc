// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A transpose between reshapes moves elements as another one does, if both are the same without
// dimensions of size 1, and with those merged that stay contiguous.
struct MovedElements {
  Dimensions sizes;
  Dimensions order;

  bool operator==(const MovedElements&) const = default;
};

MovedElements shortest(const Dimensions& sizes, const Dimensions& order) {
  Dimensions kept;  // dimensions in the order of the result
  std::ranges::copy_if(order, std::back_inserter(kept),
                       [&](std::int64_t d) { return entry(sizes, d) != 1; });
  const auto is_next = [&](std::int64_t d, std::int64_t next) {
    for (++d; d < next; ++d) {
      if (entry(sizes, d) != 1) return false;
    }
    return d == next;
  };
  MovedElements moved;
  Dimensions firsts;  // of each group
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i > 0 && is_next(kept[i - 1], kept[i])) {
      moved.sizes.back() *= entry(sizes, kept[i]);
    } else {
      firsts.push_back(kept[i]);
      moved.sizes.push_back(entry(sizes, kept[i]));
    }
  }
  moved.order = xla::InversePermutation(sorting_order(firsts));
  return moved;
}

HloInstruction* only_user_after_reshapes(HloInstruction* one, HloOpcode opcode) {
  HloInstruction* const user = only_user(*after_reshapes(one));
  return user != nullptr && user->opcode() == opcode ? user : nullptr;
}

// The dimension of `sizes` that each of `wanted` is; -1: one of size 1 that `sizes` lacks.
std::optional<Dimensions> same_dimensions(absl::Span<const std::int64_t> sizes,
                                          const Dimensions& wanted) {
  Dimensions places;
  std::int64_t next = 0;
  for (const std::int64_t size : wanted) {
    const bool is_there = next < std::ssize(sizes) && entry(sizes, next) == size;
    if (!is_there && size != 1) return std::nullopt;
    places.push_back(is_there ? next++ : -1);
  }
  if (next != std::ssize(sizes)) return std::nullopt;
  return places;
}

class SplitConvolution {
 public:
  explicit SplitConvolution(HloInstruction& convolution)
      : convolution_(convolution),
        in_(dimensions_of(*convolution.operand(0))),
        out_(dimensions_of(convolution)),
        spatial_(std::ssize(in_) - 2) {}

  // Finds the operations around it.
  bool is_split() {
    if (!is_channels_last()) return false;
    HloInstruction* const before = before_reshapes(convolution_.mutable_operand(0));
    after_ = only_user_after_reshapes(&convolution_, HloOpcode::kTranspose);
    if (before->opcode() != HloOpcode::kTranspose || after_ == nullptr) return false;
    x_ = before_reshapes(before->mutable_operand(0));
    const auto to_blocks = shortest(dimensions_of(*before->operand(0)), order_of(*before));
    const auto from_blocks = shortest(dimensions_of(*after_->operand(0)), order_of(*after_));
    return find_blocks(0, in_.front(), to_blocks, from_blocks);
  }

  // REQUIRES: is_split()
  Status restore() {
    xla::Window window = convolution_.window();
    for (int d = 0; d < window.dimensions_size(); ++d) {
      auto& one = *window.mutable_dimensions(d);
      const std::int64_t block = entry(blocks_, d);
      one.set_window_dilation(one.window_dilation() * block);
      one.set_padding_low(one.padding_low() * block);
      one.set_padding_high(one.padding_high() * block);
    }
    Dimensions in = unsplit(in_);
    take_padding(in, window);
    Dimensions out = unsplit(out_);
    HloInstruction* const last = take_cut(out, window);
    auto made = HloInstruction::CreateConvolve(
        shape_of(type_of(convolution_), out), reshape(x_, in), convolution_.mutable_operand(1),
        convolution_.feature_group_count(), 1, window, convolution_.convolution_dimension_numbers(),
        convolution_.precision_config());
    made->set_metadata(convolution_.metadata());
    return replace(*last, add_next_to(&convolution_, std::move(made)));
  }

 private:
  bool is_channels_last() const {
    const auto& numbers = convolution_.convolution_dimension_numbers();
    const auto last = spatial_ + 1;
    for (std::int64_t d = 0; d < spatial_; ++d) {
      const auto& one = convolution_.window().dimensions(static_cast<int>(d));
      if (numbers.input_spatial_dimensions(static_cast<int>(d)) != d + 1 ||
          numbers.output_spatial_dimensions(static_cast<int>(d)) != d + 1 || one.stride() != 1 ||
          one.base_dilation() != 1) {
        return false;
      }
    }
    return numbers.input_batch_dimension() == 0 && numbers.output_batch_dimension() == 0 &&
           numbers.input_feature_dimension() == last &&
           numbers.output_feature_dimension() == last && convolution_.batch_group_count() == 1;
  }

  // Finds the number of parts of each spatial dimension from `d` on; `batch` is left for them.
  bool find_blocks(std::int64_t d, std::int64_t batch, const MovedElements& to_blocks,
                   const MovedElements& from_blocks) {
    if (d == spatial_) {
      return std::ranges::any_of(blocks_, [](std::int64_t block) { return block > 1; }) &&
             to_blocks == moved_to_blocks() && from_blocks == moved_from_blocks();
    }
    for (std::int64_t block = 1; block <= batch; ++block) {
      if (batch % block != 0) continue;
      blocks_.push_back(block);
      if (find_blocks(d + 1, batch / block, to_blocks, from_blocks)) return true;
      blocks_.pop_back();
    }
    return false;
  }
  std::int64_t batch() const { return in_.front() / product(blocks_); }

  // [batch, size / block, block, ..., channels] to [block, ..., batch, size / block, ...,
  // channels].
  MovedElements moved_to_blocks() const {
    Dimensions sizes = {batch()};
    Dimensions order;
    for (std::int64_t d = 0; d < spatial_; ++d) {
      sizes.insert(sizes.end(), {entry(in_, d + 1), entry(blocks_, d)});
      order.push_back(2 * d + 2);
    }
    sizes.push_back(in_.back());
    order.push_back(0);
    for (std::int64_t d = 0; d < spatial_; ++d) order.push_back(2 * d + 1);
    order.push_back(2 * spatial_ + 1);
    return shortest(sizes, order);
  }
  // The other way round.
  MovedElements moved_from_blocks() const {
    Dimensions sizes = blocks_;
    sizes.push_back(batch());
    sizes.insert(sizes.end(), out_.begin() + 1, out_.end());
    Dimensions order = {spatial_};
    for (std::int64_t d = 0; d < spatial_; ++d) {
      order.insert(order.end(), {spatial_ + 1 + d, d});
    }
    order.push_back(2 * spatial_ + 1);
    return shortest(sizes, order);
  }

  Dimensions unsplit(Dimensions sizes) const {
    sizes.front() = batch();
    for (std::int64_t d = 0; d < spatial_; ++d) entry(sizes, d + 1) *= entry(blocks_, d);
    return sizes;
  }

  // Padding with zeros before the convolution becomes the window's.
  void take_padding(Dimensions& in, xla::Window& window) {
    if (x_->opcode() != HloOpcode::kPad || number_of(*x_->operand(1)) != 0) return;
    const auto places = same_dimensions(x_->shape().dimensions(), in);
    const auto& padding = x_->padding_config();
    if (!places || std::ranges::any_of(padding.dimensions(), [](const auto& one) {
          return one.interior_padding() != 0;
        })) {
      return;
    }
    const auto amounts = [&](std::int64_t d) {
      const std::int64_t place = entry(*places, d);
      return place < 0 ? xla::PaddingConfig::PaddingConfigDimension()
                       : padding.dimensions(static_cast<int>(place));
    };
    for (const std::int64_t d : {std::int64_t{0}, spatial_ + 1}) {
      if (amounts(d).edge_padding_low() != 0 || amounts(d).edge_padding_high() != 0) return;
    }
    for (std::int64_t d = 0; d < spatial_; ++d) {
      const auto amount = amounts(d + 1);
      auto& one = *window.mutable_dimensions(static_cast<int>(d));
      one.set_padding_low(one.padding_low() + amount.edge_padding_low());
      one.set_padding_high(one.padding_high() + amount.edge_padding_high());
      entry(in, d + 1) -= amount.edge_padding_low() + amount.edge_padding_high();
    }
    x_ = x_->mutable_operand(0);
  }

  // Results that are cut off after the convolution are not computed. Returns the last instruction
  // whose place the convolution takes.
  HloInstruction* take_cut(Dimensions& out, xla::Window& window) {
    HloInstruction* const slice = only_user_after_reshapes(after_, HloOpcode::kSlice);
    if (slice == nullptr) return after_;
    const auto places = same_dimensions(slice->operand(0)->shape().dimensions(), out);
    if (!places || std::ranges::any_of(slice->slice_strides(), [](auto s) { return s != 1; })) {
      return after_;
    }
    const auto is_cut = [&](std::int64_t d) {
      const std::int64_t place = entry(*places, d);
      return place >= 0 && entry(slice->shape().dimensions(), place) != entry(out, d);
    };
    if (is_cut(0) || is_cut(spatial_ + 1)) return after_;
    for (std::int64_t d = 0; d < spatial_; ++d) {
      const std::int64_t place = entry(*places, d + 1);
      if (place < 0) continue;
      auto& one = *window.mutable_dimensions(static_cast<int>(d));
      const std::int64_t first = slice->slice_starts(place);
      const std::int64_t end = slice->slice_limits(place);
      one.set_padding_low(one.padding_low() - first);
      one.set_padding_high(one.padding_high() - (entry(out, d + 1) - end));
      entry(out, d + 1) = end - first;
    }
    return slice;
  }

  HloInstruction& convolution_;
  Dimensions in_, out_;
  std::int64_t spatial_;
  HloInstruction* x_ = nullptr;      // before it is split
  HloInstruction* after_ = nullptr;  // the transpose that joins the results
  Dimensions blocks_;
};

}  // namespace

Status restore_dilated_window(HloInstruction& convolution, PassContext& /*context*/) {
  if (convolution.opcode() != HloOpcode::kConvolution) return {};
  SplitConvolution split(convolution);
  return split.is_split() ? split.restore() : Status();
}

}  // namespace tfaot::toolkit::engine
