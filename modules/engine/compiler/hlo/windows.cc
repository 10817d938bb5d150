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

HloInstruction* only_user_after_reshapes(HloInstruction* one, HloOpcode opcode) {
  HloInstruction* const user = only_user(*after_reshapes(one));
  return user != nullptr && user->opcode() == opcode ? user : nullptr;
}

// A convolution between a SpaceToBatchND and a BatchToSpaceND, as TensorFlow lowers these:
//
//   pad, and reshape to [batch, size, block, ..., channels]
//   transpose to [block, ..., batch, size, ..., channels]; the convolution's images
//   its results the other way round, and then a slice
//
// The convolution may have more spatial dimensions, before these and of size 1.
class SplitConvolution {
 public:
  explicit SplitConvolution(HloInstruction& convolution) : convolution_(convolution) {}

  bool is_split() {
    HloInstruction* const before = before_reshapes(convolution_.mutable_operand(0));
    after_ = only_user_after_reshapes(&convolution_, kTranspose);
    if (before->opcode() != kTranspose || before->operand(0)->opcode() != kReshape ||
        after_ == nullptr) {
      return false;
    }
    count_ = before->shape().rank() / 2 - 1;
    first_ = convolution_.shape().rank() - 2 - count_;
    x_ = before->mutable_operand(0)->mutable_operand(0);
    in_ = dimensions_of(*before);
    out_ = dimensions_of(*after_->operand(0));
    return count_ > 0 && first_ >= 0 && is_channels_last() &&
           order_of(*before) == order_to_blocks() &&
           xla::InversePermutation(after_->dimensions()) == order_to_blocks() &&
           std::equal(in_.begin(), in_.begin() + count_ + 1, out_.begin()) &&
           images(in_) == dimensions_of(*convolution_.operand(0)) &&
           images(out_) == dimensions_of(convolution_);
  }

  // REQUIRES: is_split()
  Status restore() {
    xla::Window window = convolution_.window();
    for (std::int64_t i = 0; i < count_; ++i) {
      auto& one = dimension(window, i);
      one.set_window_dilation(one.window_dilation() * entry(in_, i));
      one.set_padding_low(one.padding_low() * entry(in_, i));
      one.set_padding_high(one.padding_high() * entry(in_, i));
    }
    Dimensions in = whole(in_), out = whole(out_);
    take_padding(in, window);
    HloInstruction* const last = take_cut(out, window);
    auto made = HloInstruction::CreateConvolve(
        shape_of(type_of(convolution_), with_more(out)), reshape(x_, with_more(in)),
        convolution_.mutable_operand(1), convolution_.feature_group_count(), 1, window,
        convolution_.convolution_dimension_numbers(), convolution_.precision_config());
    made->set_metadata(convolution_.metadata());
    return replace(*last, add_next_to(&convolution_, std::move(made)));
  }

 private:
  bool is_channels_last() const {
    const auto& numbers = convolution_.convolution_dimension_numbers();
    const std::int64_t last = first_ + count_ + 1;
    for (int d = 0; d + 1 < last; ++d) {
      const auto& one = convolution_.window().dimensions(d);
      if (numbers.input_spatial_dimensions(d) != d + 1 ||
          numbers.output_spatial_dimensions(d) != d + 1 || one.stride() != 1 ||
          one.base_dilation() != 1) {
        return false;
      }
    }
    return numbers.input_batch_dimension() == 0 && numbers.output_batch_dimension() == 0 &&
           numbers.input_feature_dimension() == last &&
           numbers.output_feature_dimension() == last && convolution_.batch_group_count() == 1;
  }

  Dimensions order_to_blocks() const {
    Dimensions sizes, order;
    for (std::int64_t i = 0; i < count_; ++i) {
      order.push_back(2 * i + 2);
      sizes.push_back(2 * i + 1);
    }
    return joined({order, {0}, sizes, {2 * count_ + 1}});
  }

  // [block, ..., batch, size, ..., channels] as the convolution has it.
  Dimensions images(const Dimensions& split) const {
    const auto all = absl::MakeConstSpan(split);
    const auto at = static_cast<std::size_t>(count_) + 1;
    return with_more(joined({{product(all.first(at))}, all.subspan(at)}));
  }
  // And as one image: [batch, size * block, ..., channels].
  Dimensions whole(const Dimensions& split) const {
    Dimensions sizes(split.begin() + count_, split.end());
    for (std::int64_t i = 0; i < count_; ++i) entry(sizes, i + 1) *= entry(split, i);
    return sizes;
  }
  Dimensions with_more(const Dimensions& sizes) const {
    Dimensions all = sizes;
    all.insert(all.begin() + 1, static_cast<std::size_t>(first_), 1);
    return all;
  }
  xla::WindowDimension& dimension(xla::Window& window, std::int64_t i) const {
    return *window.mutable_dimensions(static_cast<int>(first_ + i));
  }

  // Padding with zeros before the convolution becomes the window's.
  void take_padding(Dimensions& in, xla::Window& window) {
    if (x_->opcode() != kPad || number_of(*x_->operand(1)) != 0 || dimensions_of(*x_) != in) return;
    const auto& amounts = x_->padding_config().dimensions();
    for (int d = 0; d < amounts.size(); ++d) {
      const bool is_padded =
          amounts[d].edge_padding_low() != 0 || amounts[d].edge_padding_high() != 0;
      const bool is_spatial = d > 0 && d <= count_;
      if (amounts[d].interior_padding() != 0 || (is_padded && !is_spatial)) return;
    }
    x_ = x_->mutable_operand(0);
    in = dimensions_of(*x_);
    for (int d = 1; d <= count_; ++d) {
      auto& one = dimension(window, d - 1);
      one.set_padding_low(one.padding_low() + amounts[d].edge_padding_low());
      one.set_padding_high(one.padding_high() + amounts[d].edge_padding_high());
    }
  }

  // Results that are cut off after the convolution are not computed. Returns the last instruction
  // whose place the convolution takes.
  HloInstruction* take_cut(Dimensions& out, xla::Window& window) {
    HloInstruction* const slice = only_user_after_reshapes(after_, kSlice);
    if (slice == nullptr || dimensions_of(*slice->operand(0)) != out ||
        std::ranges::count(slice->slice_strides(), 1) != slice->shape().rank() ||
        size_of(*slice, 0) != out.front() || size_of(*slice, count_ + 1) != out.back()) {
      return after_;
    }
    for (std::int64_t d = 1; d <= count_; ++d) {
      auto& one = dimension(window, d - 1);
      one.set_padding_low(one.padding_low() - slice->slice_starts(d));
      one.set_padding_high(one.padding_high() - (entry(out, d) - slice->slice_limits(d)));
    }
    out = dimensions_of(*slice);
    return slice;
  }

  HloInstruction& convolution_;
  std::int64_t count_ = 0;           // of blocks, and of the dimensions that are split
  std::int64_t first_ = 0;           // of them among the spatial dimensions
  Dimensions in_, out_;              // [block, ..., batch, size, ..., channels]
  HloInstruction* x_ = nullptr;      // before it is split
  HloInstruction* after_ = nullptr;  // the transpose that joins the results
};

// ---- Windows of scatters.

// How a value changes along one of its dimensions.
enum class Change { kNone, kCounts, kOther };  // kCounts: it is the index

Change change_along(const HloInstruction& value, std::int64_t d) {
  if (size_of(value, d) == 1) return Change::kNone;
  switch (value.opcode()) {
    case kIota: {
      const auto counted = xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension();
      return counted == d ? Change::kCounts : Change::kNone;
    }
    case kBroadcast:
    case kReshape: {
      const Stride own = entry(view_of_operand(value)->strides, d);
      if (own.step == 0) return Change::kNone;
      const Strides before = view_of(value.operands()[0]).strides;
      const auto same = std::ranges::find(before, own);
      return same == before.end() ? Change::kOther
                                  : change_along(*value.operand(0), same - before.begin());
    }
    case kConvert:
      return change_along(*value.operand(0), d);
    case kSlice: {
      const Change change = change_along(*value.operand(0), d);
      const bool is_start =
          entry(value.slice_starts(), d) == 0 && entry(value.slice_strides(), d) == 1;
      return change == Change::kCounts && !is_start ? Change::kOther : change;
    }
    default:
      const bool stays =
          value.IsElementwise() && value.operand_count() > 0 && !value.HasSideEffect() &&
          std::ranges::all_of(value.operands(), [d](const HloInstruction* operand) {
            return operand->shape().rank() == 0 || change_along(*operand, d) == Change::kNone;
          });
      return stays ? Change::kNone : Change::kOther;
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
    if (size_of(*own, d) > largest || change_along(*own, d) != Change::kCounts) continue;
    const bool others_vary = std::ranges::any_of(coordinates, [&](const HloInstruction* other) {
      return other != own && change_along(*other, d) != Change::kNone;
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
