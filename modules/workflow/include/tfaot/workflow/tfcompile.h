// SPDX-License-Identifier: Apache-2.0
// A frozen graph and tfcompile's config -> one header and two objects, for build rules that start
// TensorFlow's tfcompile: what tfaot-tfcompile does. The outputs are written once all are made.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to compile, in the terms of tfcompile's flags. Paths are absolute.
struct TfcompileRequest {
  Path graph;             ///< a GraphDef, binary or text
  Path config;            ///< text of a tensorflow.tf2xla.Config
  std::string cpp_class;  ///< may have a namespace
  std::string target_triple = "x86_64-unknown-linux-gnu";
  std::string target_cpu;       ///< code only for this CPU or level
  std::string target_features;  ///< "+avx2,+fma": no code for lower levels
  Path out_header;
  Path out_function_object;  ///< the code of all sizes and levels, and the weights
  Path out_metadata_object;  ///< the runtime
  std::vector<std::string>
      batch_sizes;  ///< in addition to the first dimension of the config's shapes
  std::vector<std::string>
      cpu_levels;             ///< empty: by target_cpu or target_features, else the default
  bool fixed_shapes = false;  ///< no dimension is a batch
};

/// Error: graph or config is wrong, or something that compiling needs is missing.
Status run_tfcompile(Context& context, const TfcompileRequest& request);

}  // namespace tfaot::toolkit
