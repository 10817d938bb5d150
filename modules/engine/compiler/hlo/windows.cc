// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {
namespace {

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

  bool is_split() {
    if (!is_channels_last()) return false;
    HloInstruction* const before = before_reshapes(convolution_.mutable_operand(0));
    after_ = only_user_after_reshapes(&convolution_, kTranspose);
    if (before->opcode() != kTranspose || after_ == nullptr) return false;
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
    if (x_->opcode() != kPad || number_of(*x_->operand(1)) != 0) return;
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
    HloInstruction* const slice = only_user_after_reshapes(after_, kSlice);
    if (slice == nullptr) return after_;
    const auto places = same_dimensions(slice->operand(0)->shape().dimensions(), out);
    if (!places || std::ranges::any_of(slice->slice_strides(), [](auto s) { return s != 1; })) {
      return after_;
    }
    const auto is_cut = [&](std::int64_t d) {
      const std::int64_t place = entry(*places, d);
      return place >= 0 && size_of(*slice, place) != entry(out, d);
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

// ---- Windows of scatters.

// The dimension of a reshape's operand that is this one of its result; -1: it joins several.
std::int64_t dimension_before(const HloInstruction& reshape, std::int64_t d) {
  for (const auto& [from, to] : xla::ShapeUtil::DimensionsUnmodifiedByReshape(
           reshape.operand(0)->shape(), reshape.shape())) {
    if (to == d) return from;
  }
  return -1;
}

bool counts_along(const HloInstruction& value, std::int64_t d) {
  std::int64_t before = -1;
  switch (value.opcode()) {
    case kIota:
      return xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension() == d;
    case kBroadcast:
      before = place_among(value.dimensions(), d);
      break;
    case kReshape:
      before = dimension_before(value, d);
      break;
    case kConvert:
      before = d;
      break;
    case kSlice:
      if (entry(value.slice_starts(), d) == 0 && entry(value.slice_strides(), d) == 1) before = d;
      break;
    default:
      return false;
  }
  return before >= 0 && counts_along(*value.operand(0), before);
}

bool varies_along(const HloInstruction& value, std::int64_t d) {
  if (size_of(value, d) == 1) return false;
  switch (value.opcode()) {
    case kIota:
      return xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension() == d;
    case kBroadcast: {
      const std::int64_t before = place_among(value.dimensions(), d);
      return before >= 0 && varies_along(*value.operand(0), before);
    }
    case kReshape: {
      const std::int64_t before = dimension_before(value, d);
      return before < 0 || varies_along(*value.operand(0), before);
    }
    case kSlice:
      return varies_along(*value.operand(0), d);
    default:
      if (!value.IsElementwise() || value.operand_count() == 0 || value.HasSideEffect()) {
        return true;
      }
      return std::ranges::any_of(value.operands(), [d](const HloInstruction* operand) {
        return operand->shape().rank() > 0 && varies_along(*operand, d);
      });
  }
}

HloInstruction* first_along(HloInstruction* value, std::int64_t d) {
  return reshape(slice_along(value, d, 0, 1), without(value->shape().dimensions(), d));
}

// The coordinates of a scatter's indices, whose last dimension has one element each; empty:
// coordinates are not the last dimension, or not made one by one.
Instructions coordinates_of(HloInstruction& indices, std::int64_t index_vector_dim) {
  const auto is_single = [](const auto* part) { return part->shape().dimensions().back() == 1; };
  if (index_vector_dim != indices.shape().rank() - 1 || indices.opcode() != kConcatenate ||
      indices.concatenate_dimension() != index_vector_dim ||
      !std::ranges::all_of(indices.operands(), is_single)) {
    return {};
  }
  return {indices.operands().begin(), indices.operands().end()};
}

// A dimension of at most `largest` places whose number is the coordinate `own`, and along which no
// other coordinate varies.
std::optional<std::int64_t> counted_dimension(const Instructions& coordinates,
                                              const HloInstruction* own, std::int64_t largest) {
  for (std::int64_t d = 0; d + 1 < own->shape().rank(); ++d) {
    if (size_of(*own, d) > largest || !counts_along(*own, d)) continue;
    const bool others_vary = std::ranges::any_of(coordinates, [&](const HloInstruction* other) {
      return other != own && varies_along(*other, d);
    });
    if (!others_vary) return d;
  }
  return std::nullopt;
}

// The indices without a coordinate, and without the dimension along which it counts.
HloInstruction* indices_without(Instructions coordinates, std::int64_t coordinate,
                                std::int64_t dimension) {
  coordinates.erase(coordinates.begin() + coordinate);
  for (HloInstruction*& one : coordinates) one = first_along(one, dimension);
  return concatenate(coordinates, coordinates.front()->shape().rank() - 1);
}

// A coordinate that is the index along the operand's last dimension that has no window.
struct Counted {
  std::int64_t coordinate;
  std::int64_t place;    // the indices' dimension that it counts
  std::int64_t operand;  // the operand's dimension
};

std::optional<Counted> find_counted(const Instructions& coordinates,
                                    const HloInstruction& scatter) {
  const auto& numbers = scatter.scatter_dimension_numbers();
  const auto& map = numbers.scatter_dims_to_operand_dims();
  if (numbers.inserted_window_dims().empty() || map.size() < 2) return std::nullopt;
  const std::int64_t d = *numbers.inserted_window_dims().rbegin();
  const std::int64_t coordinate = place_among(map, d);
  if (coordinate < 0) return std::nullopt;
  const auto place =
      counted_dimension(coordinates, entry(coordinates, coordinate), size_of(scatter, d));
  if (!place) return std::nullopt;
  return Counted{coordinate, *place, d};
}

// The order of the update: its places but the counted one, then all windows, of which the counted
// one is where the operand has it.
Dimensions update_order(const HloInstruction& scatter, const Counted& counted) {
  const auto& numbers = scatter.scatter_dimension_numbers();
  const auto& windows = numbers.update_window_dims();
  const Dimensions places = other_dimensions(scatter.operand(2)->shape().rank(), windows);
  Dimensions order = joined({without(places, counted.place), windows});
  const std::int64_t windows_before =
      counted.operand - (numbers.inserted_window_dims_size() - 1);  // it is the last without one
  order.insert(order.begin() + std::ssize(places) - 1 + windows_before,
               entry(places, counted.place));
  return order;
}

// The same with a window of one more dimension; null: there is none.
HloInstruction* widened(HloInstruction& scatter) {
  if (scatter.opcode() != kScatter) return nullptr;
  xla::ScatterDimensionNumbers numbers = scatter.scatter_dimension_numbers();
  if (scatter.operand_count() != 3) return nullptr;
  const Instructions coordinates =
      coordinates_of(*scatter.mutable_operand(1), numbers.index_vector_dim());
  const auto counted = coordinates.empty() ? std::nullopt : find_counted(coordinates, scatter);
  if (!counted) return nullptr;
  const Dimensions order = update_order(scatter, *counted);
  HloInstruction* const updates = transpose(scatter.mutable_operand(2), order);
  HloInstruction* const indices = indices_without(coordinates, counted->coordinate, counted->place);
  auto& map = *numbers.mutable_scatter_dims_to_operand_dims();
  map.erase(map.begin() + counted->coordinate);
  numbers.mutable_inserted_window_dims()->RemoveLast();
  const std::int64_t windows = numbers.update_window_dims_size() + 1;
  numbers.clear_update_window_dims();
  for (std::int64_t d = std::ssize(order) - windows; d < std::ssize(order); ++d) {
    numbers.add_update_window_dims(d);
  }
  numbers.set_index_vector_dim(indices->shape().rank() - 1);
  auto made = HloInstruction::CreateScatter(scatter.shape(), scatter.mutable_operand(0), indices,
                                            updates, scatter.to_apply(), numbers, false, false);
  made->set_metadata(scatter.metadata());
  return add_next_to(&scatter, std::move(made));
}

}  // namespace

Status restore_dilated_window(HloInstruction& convolution, PassContext& /*context*/) {
  if (convolution.opcode() != kConvolution) return {};
  SplitConvolution split(convolution);
  return split.is_split() ? split.restore() : Status();
}

Status widen_scatter_window(HloInstruction& scatter, PassContext& /*context*/) {
  HloInstruction* made = &scatter;
  while (HloInstruction* const wider = widened(*made)) made = wider;
  return made == &scatter ? Status() : replace(scatter, made);
}

}  // namespace tfaot::toolkit::engine
