// SPDX-License-Identifier: Apache-2.0
#include "hlo/parts.h"

#include <optional>

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

std::int64_t part_size(const HloInstruction& value, std::size_t dimension) {
  return value.shape().dimensions(static_cast<int>(dimension));
}

// What a reshape has that only adds or leaves out dimensions of size 1; nothing: it does more.
std::optional<Part> part_before_reshape(const Part& part) {
  HloInstruction* const inner = part.base->mutable_operand(0);
  Part result{inner, Dimensions(static_cast<std::size_t>(inner->shape().rank()), -1)};
  std::size_t at = 0;
  const auto skip_ones = [&] {
    while (at < part.of.size() && part_size(*part.base, at) == 1) ++at;
  };
  for (std::size_t d = 0; d < result.of.size(); ++d) {
    if (part_size(*inner, d) == 1) continue;
    skip_ones();
    if (at == part.of.size() || part_size(*part.base, at) != part_size(*inner, d)) return {};
    result.of[d] = part.of[at++];
  }
  skip_ones();
  return at == part.of.size() ? std::optional(result) : std::nullopt;
}

}  // namespace

Part Part::whole(HloInstruction* value) {
  Part part{value, {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(value->shape().rank()); ++d) {
    part.of.push_back(part_size(*value, d) == 1 ? -1 : static_cast<std::int64_t>(d));
  }
  return part;
}

Part stripped(Part part) {
  for (;;) {
    if (part.base->opcode() == HloOpcode::kBroadcast) {
      HloInstruction* const inner = part.base->mutable_operand(0);
      Part next{inner, {}};
      for (std::size_t d = 0; d < part.base->dimensions().size(); ++d) {
        const auto outer = static_cast<std::size_t>(part.base->dimensions()[d]);
        next.of.push_back(part_size(*inner, d) == 1 ? -1 : part.of[outer]);
      }
      part = std::move(next);
    } else if (part.base->opcode() == HloOpcode::kReshape) {
      const auto next = part_before_reshape(part);
      if (!next) return part;
      part = *next;
    } else {
      return part;
    }
  }
}

HloInstruction* spread_part(const Part& part, const Dimensions& sizes) {
  Dimensions own, dimensions;
  for (std::size_t d = 0; d < part.of.size(); ++d) {
    if (part.of[d] < 0) continue;
    own.push_back(part_size(*part.base, d));
    dimensions.push_back(part.of[d]);
  }
  if (product(own) == product(sizes)) return reshape(part.base, sizes);
  return broadcast(reshape(part.base, own), sizes, dimensions);
}

}  // namespace tfaot::toolkit::engine
