// SPDX-License-Identifier: Apache-2.0
// tfaot_gather of selection.h.
#include "gemm.h"

namespace {

using tfaot::kernels::GatherCall;

template <typename Place>
void gather_rows(const GatherCall& call, Element* to, const Element* x, const Place* places) {
  const Int length = call.row_elements;
  for (Int i = 0; i < call.rows; ++i, to += length) {
    const Int place = smaller(larger(static_cast<Int>(places[i]), 0), call.x_rows - 1);
    copy_elements(to, x + place * length, length);
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(gather)(void* out, const void** in) {
  const auto& call = *static_cast<const GatherCall*>(in[0]);
  auto* to = static_cast<Element*>(out);
  const auto* x = static_cast<const Element*>(in[1]);
  if (call.place_bytes == sizeof(std::int32_t)) {
    gather_rows(call, to, x, static_cast<const std::int32_t*>(in[2]));
  } else {
    gather_rows(call, to, x, static_cast<const Int*>(in[2]));
  }
}
