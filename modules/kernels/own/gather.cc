// SPDX-License-Identifier: Apache-2.0
// tfaot_gather of selection.h: part by part, some rows at a time.
#include "gemm.h"

namespace {

using tfaot::kernels::GatherCall;
using tfaot::kernels::GatherPart;

constexpr Int kGatheredRows = 64;      // at a time, at most
constexpr Int kGatheredBytes = 16384;  // of the result: they stay in the first-level cache

template <Int kValue>
struct Constant {
  constexpr operator Int() const { return kValue; }
};

// The nearest of 0 to `last`.
template <typename Place>
TFAOT_INLINE Int between(Place place, Int last) {
  if constexpr (static_cast<Place>(0.5) == 0) {
    return smaller(larger(Int{place}, 0), last);
  } else {
    const auto limit = static_cast<Place>(last);
    const Place positive = place > 0 ? place : 0;  // 0 for a NaN
    return smaller(static_cast<Int>(positive < limit ? positive : limit), last);
  }
}

template <typename Place>
void find_starts(const GatherPart& part, const void* places, Int first, Int count, Int* starts) {
  const Place* place = static_cast<const Place*>(places) + part.place_at + first * part.place_step;
  for (Int i = 0; i < count; ++i, place += part.place_step) {
    starts[i] = part.x_at + between(*place, part.x_rows - 1) * part.x_step;
  }
}

// Where rows `first` to first + count begin in the operand.
void find_starts(const GatherPart& part, const void** in, Int first, Int count, Int* starts) {
  const void* const places = in[part.places];
  switch (part.place_type) {
    case tfaot::kernels::kPlacesInt32:
      return find_starts<std::int32_t>(part, places, first, count, starts);
    case tfaot::kernels::kPlacesInt64:
      return find_starts<Int>(part, places, first, count, starts);
    case tfaot::kernels::kPlacesFloat32:
      return find_starts<float>(part, places, first, count, starts);
    case tfaot::kernels::kPlacesFloat64:
      return find_starts<double>(part, places, first, count, starts);
    default:
      for (Int i = 0; i < count; ++i) starts[i] = part.x_at + (first + i) * part.x_step;
  }
}

struct Block {
  const Element* x;
  const Int* starts;
  Int rows;
  Element* to;
  Int row;  // from one row of the result to the next
};

template <typename Length>
void copy_rows(const Block& block, Length elements) {
  Element* to = block.to;
  for (Int i = 0; i < block.rows; ++i, to += block.row) {
    copy_elements(to, block.x + block.starts[i], Int{elements});
  }
}

void copy_rows_of_any_length(const Block& block, Int elements) {
  switch (elements) {
    case 4:
      return copy_rows(block, Constant<4>());
    case 8:
      return copy_rows(block, Constant<8>());
    case 16:
      return copy_rows(block, Constant<16>());
    case 32:
      return copy_rows(block, Constant<32>());
    default:
      return copy_rows(block, elements);
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(gather)(void* out, const void** in) {
  const auto& call = *static_cast<const GatherCall*>(in[0]);
  const auto* const parts = reinterpret_cast<const GatherPart*>(&call + 1);
  const Int fitting = kGatheredBytes / (call.row * static_cast<Int>(sizeof(Element)));
  const Int step = smaller(larger(fitting, 4), kGatheredRows);
  Int starts[kGatheredRows];
  for (Int first = 0; first < call.rows; first += step) {
    const Int rows = smaller(step, call.rows - first);
    Element* to = static_cast<Element*>(out) + first * call.row;
    for (Int i = 0; i < call.parts; ++i) {
      const GatherPart& part = parts[i];
      find_starts(part, in, first, rows, starts);
      const auto* const x = static_cast<const Element*>(in[part.x]);
      copy_rows_of_any_length({x, starts, rows, to, call.row}, part.elements);
      to += part.elements;
    }
  }
}
