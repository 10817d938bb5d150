// SPDX-License-Identifier: Apache-2.0
// Files with StableHLO: MLIR as text, portable artifacts, files of jax.export. XLA's parsers are
// not what is tried here: our own readers also get the bytes as they are.
#include "front/stablehlo/stablehlo_source.h"
#include "tests/fuzz/engine.h"
#include "tests/fuzz/fuzz.h"

namespace tfaot::toolkit {

void fuzz(const std::string& bytes) {
  static_cast<void>(engine::read_jax_export(bytes));
  const std::string text = engine::without_locations(bytes);
  static_cast<void>(engine::find_function(text, "main"));
  static_cast<void>(engine::function_names(text));
  static_cast<void>(engine::count_operations(text));
  JobModel job;
  job.format = ModelFormat::kStableHlo;
  read_model(bytes, job, "model.mlir");
}

}  // namespace tfaot::toolkit
