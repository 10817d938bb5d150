// SPDX-License-Identifier: Apache-2.0
// Values of images at places that are computed, between their elements.
#pragma once

#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

// Where samples are taken: a number for each [group, point].
struct SamplePlaces {
  xla::XlaOp image;                 // int32: which image of the batch
  std::vector<xla::XlaOp> spatial;  // real: by spatial dimension, in elements from the first on
};

enum class SampleKernel { kNearest, kLinear, kCubic };
enum class SamplePadding { kZeros, kBorder, kReflection };

struct SampleRules {
  SampleKernel kernel = SampleKernel::kLinear;
  SamplePadding padding = SamplePadding::kZeros;
  bool reflects_at_centers = true;  // of the outer elements; false: at their outer edges
};

// Of [batch, spatial..., channels]; the result is [group, point, channels].
xla::XlaOp sample(const Node& node, xla::XlaOp images, const SamplePlaces& places,
                  const SampleRules& rules);

// The elements at whole places (int32), [group, point, channels].
xla::XlaOp elements_at(const Node& node, xla::XlaOp images, const SamplePlaces& places);

}  // namespace tfaot::toolkit::engine
