// SPDX-License-Identifier: Apache-2.0
// A second user of the header in one program.
#include "mynet/header.h"

void other(const float* x, float* y) {
  tfaot::native::Model<tfaot_model::mynet> model;
  model.run(3, tfaot::inputs(tfaot::Span<const float>(x, 9)),
            tfaot::outputs(tfaot::Span<float>(y, 6)));
}
