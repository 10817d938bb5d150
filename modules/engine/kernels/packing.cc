// SPDX-License-Identifier: Apache-2.0
#include "kernels/packing.h"

#include "hlo/fold.h"
#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

xla::HloInstruction* pack(xla::HloInstruction* matrices) {
  const Dimensions sizes = dimensions_of(*matrices);
  const std::int64_t bytes = element_bytes(*matrices);
  const std::int64_t width = kernels::panel_columns(bytes);
  const std::int64_t panels = kernels::panel_count(sizes[2], bytes);
  xla::HloInstruction* padded = pad_end(matrices, 2, panels * width);
  // A single panel is a reshape, which costs nothing and changes no byte.
  xla::HloInstruction* cut = reshape(padded, {sizes[0], sizes[1], panels, width});
  xla::HloInstruction* packed =
      panels == 1 ? reshape(cut, {sizes[0], 1, sizes[1], width}) : transpose(cut, {0, 2, 1, 3});
  xla::OpMetadata name;
  name.set_op_name(kPackedName);
  packed->set_metadata(name);
  return packed;
}

}  // namespace tfaot::toolkit::engine
