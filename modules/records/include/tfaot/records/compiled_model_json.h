// SPDX-License-Identifier: Apache-2.0
// The members of the records of compiled_model.h, which record_json.h reads and writes by.
#pragma once

#include <string>
#include <tuple>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<TensorSpec> =
    std::tuple{Member{"name", &TensorSpec::name}, Member{"dtype", &TensorSpec::dtype},
               Member{"row_shape", &TensorSpec::row_shape}};
template <>
inline constexpr auto kMembers<Signature> =
    std::tuple{Member{"key", &Signature::key}, Member{"inputs", &Signature::inputs},
               Member{"outputs", &Signature::outputs}};
template <>
inline constexpr auto kMembers<Weight> = std::tuple{
    Member{"name", &Weight::name}, Member{"dtype", &Weight::dtype}, Member{"shape", &Weight::shape},
    Member{"offset", &Weight::offset}, Member{"size", &Weight::size}};
template <>
inline constexpr auto kMembers<Variable> =
    std::tuple{Member{"name", &Variable::name}, Member{"dtype", &Variable::dtype},
               Member{"shape", &Variable::shape}};
template <>
inline constexpr auto kMembers<BufferSlot> =
    std::tuple{Member{"kind", &BufferSlot::kind}, Member{"index", &BufferSlot::index},
               Member{"size", &BufferSlot::size}};
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
template <>
inline constexpr auto kMembers<CompiledModel> =
    std::tuple{Member{"engine", &CompiledModel::engine},
               Member{"target_triple", &CompiledModel::target_triple},
               Member{"signature", &CompiledModel::signature},
               Member{"batch_sizes", &CompiledModel::batch_sizes},
               Member{"cpu_levels", &CompiledModel::cpu_levels},
               Member{"variables", &CompiledModel::variables},
               Member{"weights", &CompiledModel::weights},
               Member{"weights_size", &CompiledModel::weights_size},
               Member{"weights_object", &CompiledModel::weights_object},
               Member{"weights_object_sha256", &CompiledModel::weights_object_sha256},
               Member{"weights_symbol", &CompiledModel::weights_symbol},
               Member{"codes", &CompiledModel::codes},
               Member{"source_sha256", &CompiledModel::source_sha256},
               Member{"hlo_text", &CompiledModel::hlo_text}};

}  // namespace tfaot::toolkit
