// SPDX-License-Identifier: Apache-2.0
// tfaot_add_rows of selection.h: some rows at a time.
#include "places/gathered.h"
#include "simd/vec.h"

namespace {

using tfaot::kernels::AddRowsCall;

constexpr Int kAddedRows = 64;  // at a time

struct Addends {
  const Element* x[tfaot::kernels::kMostAddedRows];
  Int starts[tfaot::kernels::kMostAddedRows][kAddedRows];
};

template <int kParts, bool kRelu>
void add_rows(const Addends& from, Int rows, Int row, Element* to) {
  constexpr Int kWidth = kLanes<Element>;
  for (Int i = 0; i < rows; ++i, to += row) {
    const Element* at[kParts];
    TFAOT_UNROLL
    for (int p = 0; p < kParts; ++p) at[p] = from.x[p] + from.starts[p][i];
    const auto add = [&](const auto& load_one) {
      Vec<Element> sum = load_one(at[0]);
      TFAOT_UNROLL
      for (int p = 1; p < kParts; ++p) sum += load_one(at[p]);
      return kRelu ? relu<Element>(sum) : sum;
    };
    Int j = 0;
    for (; j + kWidth <= row; j += kWidth) {
      store(to + j, add([j](const Element* one) { return load(one + j); }));
    }
    if (j == row) continue;
    const Int rest = row - j;
    store_first(to + j, add([j, rest](const Element* one) { return load_first(one + j, rest); }),
                rest);
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
  const auto& call = *static_cast<const AddRowsCall*>(in[0]);
  const auto* const parts = reinterpret_cast<const GatherPart*>(&call + 1);
  Addends from;
  for (Int p = 0; p < call.parts; ++p) from.x[p] = static_cast<const Element*>(in[parts[p].x]);
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
