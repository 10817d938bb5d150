// SPDX-License-Identifier: Apache-2.0
// tfaot_add_rows of abi.h: some rows at a time.
#include "places/gathered.h"
#include "simd/vec.h"

namespace {

constexpr Int kAddedRows = 64;  // at a time

struct Addends {
  const Element* x[kMostAddedRows];
  Int starts[kMostAddedRows][kAddedRows];
};

template <int kParts, bool kRelu>
void add_rows(const Addends& from, Int rows, Int row, Element* to) {
  for (Int i = 0; i < rows; ++i, to += row) {
    const Element* at[kParts];
    TFAOT_EACH (p, kParts) at[p] = from.x[p] + from.starts[p][i];
    along_row<Element>(row, [&](Int j, Int count) {
      Vec<Element> sum = load_some(at[0] + j, count);
      TFAOT_FOR (int p = 1; p < kParts; ++p) sum += load_some(at[p] + j, count);
      store_some(to + j, kRelu ? relu<Element>(sum) : sum, count);
    });
  }
}

template <bool kRelu>
void add_rows(Int parts, const Addends& from, Int rows, Int row, Element* to) {
  if (parts == 2) return add_rows<2, kRelu>(from, rows, row, to);
  if (parts == 3) return add_rows<3, kRelu>(from, rows, row, to);
  add_rows<4, kRelu>(from, rows, row, to);
}

}  // namespace

extern "C" void TFAOT_KERNEL(add_rows)(void* out, const void** in) {
  const auto& call = call_of<AddRowsCall>(in);
  const auto* const parts = reinterpret_cast<const GatherPart*>(&call + 1);
  Addends from;
  for (Int p = 0; p < call.parts; ++p) from.x[p] = operand(in, parts[p].x);
  for (Int first = 0; first < call.rows; first += kAddedRows) {
    const Int rows = smaller(kAddedRows, call.rows - first);
    for (Int p = 0; p < call.parts; ++p) {
      find_starts(parts[p], in, first, rows, from.starts[p]);
    }
    auto* const to = static_cast<Element*>(out) + first * call.row;
    if (call.relu != 0) {
      add_rows<true>(call.parts, from, rows, call.row, to);
    } else {
      add_rows<false>(call.parts, from, rows, call.row, to);
    }
  }
}
