// SPDX-License-Identifier: Apache-2.0
// The members of the records of compiled_model.h, which record_json.h reads and writes by.
#pragma once

#include <tuple>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(TensorSpec, name, dtype, row_shape);
TFAOT_MEMBERS(Signature, key, inputs, outputs);
TFAOT_MEMBERS(Weight, name, dtype, shape, offset, size);
TFAOT_MEMBERS(Variable, name, dtype, shape);
TFAOT_MEMBERS(BufferSlot, kind, index, size);
template <>
inline constexpr auto kMembers<CompiledCode> =
    std::tuple{Member{"batch_size", &CompiledCode::batch_size},
               Member{"cpu_level", &CompiledCode::cpu_level},
               Member{"cpu_features", &CompiledCode::cpu_features},
               Member{"object", &CompiledCode::object},
               Member{"entry_symbol", &CompiledCode::entry_symbol},
               Member{"buffers", &CompiledCode::buffers},
               Member{"result_slot", &CompiledCode::result_slot},
               Member{"weights", &CompiledCode::weights},
               Member{"kernels", &CompiledCode::kernels},
               Member{"hlo_sha256", &CompiledCode::hlo_sha256},
               Member{"estimated_cost", &CompiledCode::estimated_cost},
               Member{"live_permille", &CompiledCode::live_permille},
               Member{"shared_permille", &CompiledCode::shared_permille, Presence::kNew},
               Member{"lane_bytes", &CompiledCode::lane_bytes, Presence::kNew},
               Member{"from_cache", &CompiledCode::from_cache}};
TFAOT_MEMBERS(CompiledModel, engine, target_triple, signature, batch_sizes, cpu_levels, variables,
              weights, weights_size, weights_object, weights_object_sha256, weights_symbol, codes,
              source_sha256, hlo_text);

}  // namespace tfaot::toolkit
