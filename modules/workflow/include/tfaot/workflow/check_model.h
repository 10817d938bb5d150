// SPDX-License-Identifier: Apache-2.0
// Will a model compile, and if not, why? What `tfaot check` does: it compiles the model as `tfaot
// compile` would, into a folder that it removes, and collects what the engine finds. Starts the
// engine.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/config/config.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

struct CheckRequest {
  Path path;                  ///< a config or a model; absolute
  std::string signature;      ///< of a model; empty: all
  ConfigOverrides overrides;  ///< replace values of the config, or of the default config
  EngineRun engine;
  CodeCacheOptions cache;  ///< what is compiled here need not be compiled again
  /// Absolute; empty: nothing is kept. Else the package stays there, if the model compiles. Of a
  /// model, only the signature of a new config is then checked.
  Path keep;
  std::string command = "tfaot check";  ///< for errors
};

/// One signature, or one config.
struct SignatureCheck {
  std::string signature;  ///< its key; empty for formats without signatures
  std::string target_triple;
  std::vector<std::string> cpu_levels;
  std::vector<std::int64_t> batch_sizes;
  RowsMode rows = RowsMode::kAlone;
  ComputeType compute = ComputeType::kFloat32;
  bool compiles = false;  ///< `tfaot compile` would make a package
  EngineCheck found;
  std::vector<std::string> warnings;  ///< that compiling printed
};

struct ModelCheck {
  bool is_config = false;  ///< or else a model
  ModelFormat format = ModelFormat::kSavedModel;
  std::vector<SignatureCheck> signatures;

  bool compiles() const;
};

/// Error: the path leads to something else, the config is wrong, or the engine cannot be started.
/// That the model cannot be compiled is no error.
Result<ModelCheck> check_model(const Context& context, const CheckRequest& request);

/// The operations of models of this format that have kernels, and which of them tfaot refuses.
Result<std::vector<CheckedOperation>> compiled_operations(const Context& context,
                                                          ModelFormat format,
                                                          const EngineRun& engine);

}  // namespace tfaot::toolkit
