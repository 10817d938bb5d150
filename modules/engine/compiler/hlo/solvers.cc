// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/passes.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
#include "xla/service/cholesky_expander.h"
#include "xla/service/qr_expander.h"
#include "xla/service/triangular_solve_expander.h"

namespace tfaot::toolkit::engine {
namespace {

// Solves in one way, and not in another one from nine systems of a batch on.
class OneWaySolver final : public xla::TriangularSolveExpander {
  bool UseDirectSolves() const override { return false; }
};

}  // namespace

Status expand_solvers(xla::HloModule& module, PassContext& /*context*/) {
  xla::HloPassPipeline pipeline("tfaot-solvers");
  pipeline.AddPass<xla::CholeskyExpander>();
  pipeline.AddPass<xla::QrExpander>();
  pipeline.AddPass<OneWaySolver>();
  return checked(pipeline.Run(&module, {}).status());
}

}  // namespace tfaot::toolkit::engine
