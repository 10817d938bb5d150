// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/product_sides.h"

#include <algorithm>
#include "compiler/hlo/build.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;
using xla::HloOpcode;

Side side_of(HloInstruction* tensor, absl::Span<const std::int64_t> batch,
             absl::Span<const std::int64_t> depth) {
  Side side{tensor, {batch.begin(), batch.end()}, {}, {depth.begin(), depth.end()}, {}, {}, {}};
  const auto has = [](absl::Span<const std::int64_t> list, std::int64_t dimension) {
    return std::find(list.begin(), list.end(), dimension) != list.end();
  };
  for (std::int64_t d = 0; d < tensor->shape().rank(); ++d) {
    if (!has(batch, d) && !has(depth, d)) side.free.push_back(d);
  }
  const auto sizes = [&](const Dimensions& list) {
    Dimensions result;
    for (const auto d : list) result.push_back(tensor->shape().dimensions(static_cast<int>(d)));
    return result;
  };
  side.batch_sizes = sizes(side.batch);
  side.free_sizes = sizes(side.free);
  side.depth_sizes = sizes(side.depth);
  return side;
}

std::optional<Dimensions> before_reshape(const HloInstruction& value) {
  if (value.opcode() != HloOpcode::kReshape) return {};
  const Dimensions from = dimensions_of(*value.operand(0));
  Dimensions map;
  std::size_t next = 0;
  const auto skip_ones = [&] {
    while (next < from.size() && from[next] == 1) ++next;
  };
  for (const std::int64_t size : value.shape().dimensions()) {
    if (size == 1) {
      map.push_back(kBroadcast);
      continue;
    }
    skip_ones();
    if (next == from.size() || from[next] != size) return {};
    map.push_back(static_cast<std::int64_t>(next++));
  }
  return map;
}

Side look_through(Side side) {
  while (side.tensor->opcode() == HloOpcode::kTranspose ||
         side.tensor->opcode() == HloOpcode::kBroadcast) {
    const auto& map = side.tensor->dimensions();
    const bool is_broadcast = side.tensor->opcode() == HloOpcode::kBroadcast;
    for (Dimensions* list : {&side.batch, &side.free, &side.depth}) {
      for (auto& d : *list) {
        if (d == kBroadcast) continue;
        if (is_broadcast) {
          const auto found = std::find(map.begin(), map.end(), d);
          d = found == map.end() ? kBroadcast : found - map.begin();
        } else {
          d = map[static_cast<std::size_t>(d)];
        }
      }
    }
    side.tensor = side.tensor->mutable_operand(0);
  }
  return side;
}

Side look_through_reshapes(Side side) {
  while (true) {
    const auto map = before_reshape(*side.tensor);
    if (!map || side.tensor->operand(0)->opcode() != HloOpcode::kTranspose) return side;
    for (Dimensions* list : {&side.batch, &side.free, &side.depth}) {
      for (auto& d : *list) {
        if (d != kBroadcast) d = (*map)[static_cast<std::size_t>(d)];
      }
    }
    side.tensor = side.tensor->mutable_operand(0);
    side = look_through(side);
  }
}

std::optional<std::int64_t> stride_of(const Side& side, absl::Span<const std::int64_t> list,
                                      absl::Span<const std::int64_t> sizes) {
  const auto& shape = side.tensor->shape();
  std::optional<std::int64_t> stride;
  std::int64_t length = 1;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    const std::int64_t step =
        list[i] == kBroadcast
            ? 0
            : product(shape.dimensions().subspan(static_cast<std::size_t>(list[i]) + 1));
    if (stride && step != *stride * length) return {};
    if (!stride) stride = step;
    length *= sizes[i];
  }
  return stride.value_or(0);
}

std::optional<Strides> strides_of(const Side& side, std::size_t outer) {
  const absl::Span<const std::int64_t> batch = side.batch;
  const absl::Span<const std::int64_t> sizes = side.batch_sizes;
  const auto inner = stride_of(side, batch.subspan(outer), sizes.subspan(outer));
  const auto first = stride_of(side, batch.first(outer), sizes.first(outer));
  const auto free = stride_of(side, side.free, side.free_sizes);
  const auto depth = stride_of(side, side.depth, side.depth_sizes);
  if (!inner || !first || !free || !depth) return {};
  return outer == 0 ? Strides{*inner, 0, *free, *depth} : Strides{*first, *inner, *free, *depth};
}

void order_depth(Side& by, Side& other) {
  std::vector<std::size_t> order(by.depth.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return by.depth[a] < by.depth[b]; });
  for (Side* side : {&by, &other}) {
    Dimensions depth;
    Dimensions sizes;
    for (const auto i : order) {
      depth.push_back(side->depth[i]);
      sizes.push_back(side->depth_sizes[i]);
    }
    side->depth = depth;
    side->depth_sizes = sizes;
  }
}

Side written_out(const Side& side, bool depth_first) {
  Side result = side;
  Dimensions kept;       // dimensions of the tensor
  Dimensions sizes;      // of the result
  Dimensions positions;  // of the kept ones in the result
  const auto batch = stride_of(side, side.batch, side.batch_sizes);
  const bool one_matrix = batch && *batch == 0;
  const auto add = [&](const Dimensions& list, const Dimensions& list_sizes, Dimensions& out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] == kBroadcast && &list == &side.batch && one_matrix) continue;
      out[i] = static_cast<std::int64_t>(sizes.size());
      if (list[i] != kBroadcast) {
        kept.push_back(list[i]);
        positions.push_back(out[i]);
      }
      sizes.push_back(list_sizes[i]);
    }
  };
  add(side.batch, side.batch_sizes, result.batch);
  if (depth_first) add(side.depth, side.depth_sizes, result.depth);
  add(side.free, side.free_sizes, result.free);
  if (!depth_first) add(side.depth, side.depth_sizes, result.depth);
  result.tensor = transpose(side.tensor, kept);
  if (kept.size() != sizes.size()) result.tensor = broadcast(result.tensor, sizes, positions);
  return result;
}

bool split_batch(Side& side, Side& other) {
  if (!side.batch.empty() || !other.batch.empty()) return false;
  for (std::size_t count = 1; count < side.free.size(); ++count) {
    Side split = side;
    const auto middle = static_cast<std::ptrdiff_t>(count);
    split.batch.assign(side.free.begin(), side.free.begin() + middle);
    split.batch_sizes.assign(side.free_sizes.begin(), side.free_sizes.begin() + middle);
    split.free.erase(split.free.begin(), split.free.begin() + middle);
    split.free_sizes.erase(split.free_sizes.begin(), split.free_sizes.begin() + middle);
    if (!strides_of(split)) continue;
    side = split;
    other.batch.assign(count, kBroadcast);
    other.batch_sizes = side.batch_sizes;
    return true;
  }
  return false;
}

}  // namespace tfaot::toolkit::engine
