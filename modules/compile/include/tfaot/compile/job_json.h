// SPDX-License-Identifier: Apache-2.0
// EngineJob and EngineResult <-> JSON. Both ends are of one build, so a text that does not fit is a
// defect of ours.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/compile/compile_json.h"
#include "tfaot/compile/job_types.h"

namespace tfaot::toolkit {

// More of an error's line (job_types.h), when it is not the model that is at fault:
inline constexpr const char* kJobConfigKey = "key";  // of the config, "model.outputs[0]", or empty
inline constexpr const char* kJobLineKey = "line";   // of the text that --config names, or 0

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JobInput, tensor, dtype, has_shape, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JobLevel, name, cpu, features, kernels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EngineJob, model_name, format, source, serving_key, inputs,
                                   outputs, fixed_shapes, symbol_prefix, target_triple, batch_sizes,
                                   levels, embed_weights, check_rows, allow_coupled_rows,
                                   lower_only, compiler_flags, cache_directory, output_directory,
                                   weights_directory, result_file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EngineResult, model, weight_files, coupled_rows)

inline std::string engine_job_to_json(const EngineJob& job) {
  return nlohmann::json(job).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

inline std::string engine_result_to_json(const EngineResult& result) {
  return nlohmann::json(result).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

// `where` names the file in errors.
inline Result<EngineResult> engine_result_from_json(const std::string& text,
                                                    const std::string& where) {
  try {
    return nlohmann::json::parse(text).get<EngineResult>();
  } catch (const std::exception& e) {
    return fail(Error::at({where}, "not an engine's result").note(e.what()));
  }
}

inline Result<EngineJob> engine_job_from_json(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<EngineJob>();
  } catch (const std::exception& e) {
    return fail(Error::internal("not an engine job").note(e.what()));
  }
}

}  // namespace tfaot::toolkit
