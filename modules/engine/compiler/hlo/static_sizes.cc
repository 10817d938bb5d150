// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/static_sizes.h"

#include <algorithm>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "compiler/hlo/simplify.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
#include "xla/service/dynamic_dimension_simplifier.h"
#include "xla/service/dynamic_padder.h"

namespace tfaot::toolkit::engine {
namespace {

bool is_dynamic(const xla::ShapeProto& shape) {
  return std::ranges::find(shape.is_dynamic_dimension(), true) !=
             shape.is_dynamic_dimension().end() ||
         std::ranges::any_of(shape.tuple_shapes(), is_dynamic);
}

bool has_dynamic_sizes(const xla::HloModuleProto& module) {
  return std::ranges::any_of(module.computations(), [](const auto& computation) {
    return std::ranges::any_of(computation.instructions(),
                               [](const auto& one) { return is_dynamic(one.shape()); });
  });
}

}  // namespace

Status make_sizes_static(xla::XlaComputation& computation) {
  if (!has_dynamic_sizes(computation.proto())) return {};
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  TFAOT_TRY(inline_calls(*module));
  xla::HloPassPipeline pipeline("tfaot-static-sizes");
  pipeline.AddPass<xla::DynamicDimensionSimplifier>();
  pipeline.AddPass<xla::DynamicPadder>();
  const auto done = pipeline.Run(module.get(), {});
  if (!done.ok()) {
    return fail(error_of(done.status(), "XLA cannot compute with a size that depends on the data"));
  }
  computation = xla::XlaComputation(module->ToProto());
  return {};
}

}  // namespace tfaot::toolkit::engine
