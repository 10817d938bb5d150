// SPDX-License-Identifier: Apache-2.0
// EngineJob, EngineResult and the engine's answers in lines <-> JSON. Both ends come from one
// build, so a text that does not fit is a defect of tfaot. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/model_description.h"

namespace tfaot::toolkit {

std::string engine_job_to_json(const EngineJob& job);
Result<EngineJob> engine_job_from_json(const std::string& text);

std::string engine_result_to_json(const EngineResult& result);
// `where` names the file in errors.
Result<EngineResult> engine_result_from_json(const std::string& text, const std::string& where);

// A line: {"model": {...}}, {"config": {...}}. Nothing if it is another.
std::string model_description_to_json(const ModelDescription& model);
std::optional<ModelDescription> model_description_from_json(const std::string& line);
std::string tf2xla_config_to_json(const Tf2xlaConfig& config);
std::optional<Tf2xlaConfig> tf2xla_config_from_json(const std::string& line);

// What the code cache keeps of an object beside its bytes, in a line.
struct CachedTables {
  std::vector<BufferSlot> buffers;
  std::uint32_t result_slot = 0;
};
std::string cached_tables_to_json(const CachedTables& tables);
// Nothing if the line is another.
std::optional<CachedTables> cached_tables_from_json(const std::string& line);

}  // namespace tfaot::toolkit
