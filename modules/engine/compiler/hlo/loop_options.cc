// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/loop_options.h"

namespace tfaot::toolkit::engine {

void set_loop_options(xla::DebugOptions& debug) {
  // XLA has code of its own for exponentials and the like of one, four, eight and sixteen floats.
  // These two ways to make vectors of others would call functions with other last bits, so that a
  // number's bits would depend on its place in a row: straight code, and rests of loops.
  auto& vectors = *debug.mutable_xla_backend_extra_options();
  vectors["xla_cpu_disable_slp_vectorizer"] = "true";
  vectors["-enable-epilogue-vectorization"] = "false";
}

}  // namespace tfaot::toolkit::engine
