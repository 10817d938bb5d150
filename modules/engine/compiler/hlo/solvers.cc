// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/passes.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
#include "xla/service/cholesky_expander.h"
#include "xla/service/triangular_solve_expander.h"

namespace tfaot::toolkit::engine {

Status expand_solvers(xla::HloModule& module, PassContext& /*context*/) {
  xla::HloPassPipeline pipeline("tfaot-solvers");
  pipeline.AddPass<xla::CholeskyExpander>();
  pipeline.AddPass<xla::TriangularSolveExpander>();
  return checked(pipeline.Run(&module, {}).status());
}

}  // namespace tfaot::toolkit::engine
