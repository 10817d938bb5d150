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

template <int kParts>
void add_rows(const Addends& from, Int rows, Int row, Element least, Element* to) {
  for (Int i = 0; i < rows; ++i, to += row) {
    const Element* at[kParts];
    TFAOT_EACH (p, kParts) at[p] = from.x[p] + from.starts[p][i];
    along_row<Element>(row, [&](Int j, Int count) {
      Vec<Element> sum = load_some(at[0] + j, count);
      TFAOT_FOR (int p = 1; p < kParts; ++p) sum += load_some(at[p] + j, count);
      store_some(to + j, larger_of<Element>(Vec<Element>{} + least, sum), count);
    });
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(add_rows)(void* out, const void** in) {
  const auto& call = call_of<AddRowsCall>(in);
  const auto* const parts = reinterpret_cast<const GatherPart*>(&call + 1);
  const Element least = call.relu != 0 ? 0 : -static_cast<Element>(__builtin_inf());
  const auto add = call.parts == 2 ? &add_rows<2> : call.parts == 3 ? &add_rows<3> : &add_rows<4>;
  Addends from;
  for (Int p = 0; p < call.parts; ++p) from.x[p] = operand(in, parts[p].x);
  for (Int first = 0; first < call.rows; first += kAddedRows) {
    const Int rows = smaller(kAddedRows, call.rows - first);
    for (Int p = 0; p < call.parts; ++p) {
      find_starts(parts[p], in, first, rows, from.starts[p]);
    }
    add(from, rows, call.row, least, static_cast<Element*>(out) + first * call.row);
  }
}
