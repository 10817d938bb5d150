// SPDX-License-Identifier: Apache-2.0
// The records of compile_types.h <-> JSON, the file that the engine hands to the tool. Keys are the
// members' names, enums are words. Every member must be there; unknown keys are ignored.
// Header-only, so that the engine needs no further library. Only compiled_model_*() are for other
// rooms: the to_json()/from_json() overloads throw. Pure functions.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "tfaot/base/result.h"
#include "tfaot/compile/compile_types.h"
#include "tfaot/compile/dtype.h"

namespace tfaot::toolkit {

// In the order of the enumerators.
inline constexpr std::array<const char*, 6> kBufferKindNames = {"unused", "input",     "output",
                                                                "weight", "temporary", "live_rows"};

inline const char* buffer_kind_name(BufferKind kind) {
  return kBufferKindNames[static_cast<std::size_t>(kind)];
}

inline void to_json(nlohmann::json& json, DType dtype) { json = dtype_name(dtype); }
inline void from_json(const nlohmann::json& json, DType& dtype) {
  const std::string word = json.get<std::string>();
  const auto found = dtype_from_name(word);
  if (!found) throw std::invalid_argument("unknown dtype '" + word + "'");
  dtype = *found;
}

inline void to_json(nlohmann::json& json, BufferKind kind) { json = buffer_kind_name(kind); }
inline void from_json(const nlohmann::json& json, BufferKind& kind) {
  const std::string word = json.get<std::string>();
  for (std::size_t i = 0; i < kBufferKindNames.size(); ++i) {
    if (word == kBufferKindNames[i]) {
      kind = static_cast<BufferKind>(i);
      return;
    }
  }
  throw std::invalid_argument("unknown buffer kind '" + word + "'");
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorSpec, name, dtype, row_shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Signature, key, inputs, outputs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Weight, name, dtype, shape, offset, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Variable, name, dtype, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BufferSlot, kind, index, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompiledCode, batch_size, cpu_level, cpu_features, object,
                                   entry_symbol, buffers, result_slot, weights, kernels, hlo_sha256,
                                   estimated_cost, live_permille, from_cache)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompiledModel, engine, target_triple, signature, batch_sizes,
                                   cpu_levels, variables, weights, weights_size, weights_object,
                                   weights_object_sha256, weights_symbol, codes, source_sha256,
                                   hlo_text)

// Two-space indent, keys sorted, trailing newline. Bytes that are not UTF-8 become U+FFFD.
inline std::string compiled_model_to_json(const CompiledModel& model) {
  using nlohmann::json;
  return json(model).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

// `where` names the file in errors.
inline Result<CompiledModel> compiled_model_from_json(const std::string& text,
                                                      const std::string& where) {
  try {
    return nlohmann::json::parse(text).get<CompiledModel>();
  } catch (const std::exception& e) {
    return fail(Error::at({where}, "not a compilation record of this tfaot").note(e.what()));
  }
}

}  // namespace tfaot::toolkit
