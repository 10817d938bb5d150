// SPDX-License-Identifier: Apache-2.0
// tfaot_gather of abi.h: part by part, some rows at a time.
#include "places/gathered.h"

namespace {

constexpr Int kGatheredRows = 64;      // at a time, at most
constexpr Int kGatheredBytes = 16384;  // of the result: they stay in the first-level cache

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

// Lengths that the compiler knows are copied faster.
void copy_rows_of_any_length(const Block& block, Int elements) {
  if (elements == 4) return copy_rows(block, Number<4>());
  if (elements == 8) return copy_rows(block, Number<8>());
  if (elements == 16) return copy_rows(block, Number<16>());
  if (elements == 32) return copy_rows(block, Number<32>());
  copy_rows(block, elements);
}

}  // namespace

extern "C" void TFAOT_KERNEL(gather)(void* out, const void** in) {
  const auto& call = call_of<GatherCall>(in);
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
      const auto* const x = operand(in, part.x);
      copy_rows_of_any_length({x, starts, rows, to, call.row}, part.elements);
      to += part.elements;
    }
  }
}
