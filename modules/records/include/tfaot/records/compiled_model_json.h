// SPDX-License-Identifier: Apache-2.0
// The members of records of compiled_model.h and model_spec.h, which record_json.h reads and writes
// by.
#pragma once

#include <array>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(DimensionSize, name, size);
TFAOT_MEMBERS(FreeDimension, name, smallest, largest, same_as);
TFAOT_MEMBERS(ModelConstant, name, shape, values);
TFAOT_MEMBERS(SizeSteps, smallest, largest, step);
template <>
inline constexpr auto kMembers<SizeTerm> =
    std::array{TFAOT_PLAIN_MEMBERS(SizeTerm, factor, powers),
               member_unless_default<&SizeTerm::within>("within")};
TFAOT_MEMBERS(SizeFormula, terms, divisor);
template <>
inline constexpr auto kMembers<TensorSpec> =
    std::array{TFAOT_PLAIN_MEMBERS(TensorSpec, name, dtype, row_shape),
               member_unless_default<&TensorSpec::free_shape>("free_shape")};
TFAOT_MEMBERS(Signature, key, inputs, outputs);
TFAOT_MEMBERS(Weight, name, dtype, shape, offset, size);
TFAOT_MEMBERS(Variable, name, dtype, shape);
TFAOT_MEMBERS(BufferSlot, kind, index, size);
template <>
inline constexpr auto kMembers<CompiledCode> =
    std::array{TFAOT_PLAIN_MEMBERS(CompiledCode, batch_size, cpu_level, cpu_features, object,
                                   entry_symbol, buffers, result_slot, weights, kernels, hlo_sha256,
                                   estimated_cost, live_permille, from_cache),
               new_member<&CompiledCode::shared_permille>("shared_permille"),
               new_member<&CompiledCode::lane_bytes>("lane_bytes")};
template <>
inline constexpr auto kMembers<CompiledModel> = std::array{
    TFAOT_PLAIN_MEMBERS(CompiledModel, engine, target_triple, signature, batch_sizes, cpu_levels,
                        variables, weights, weights_size, weights_object, weights_object_sha256,
                        weights_symbol, codes, source_sha256, hlo_text),
    member_unless_default<&CompiledModel::dimensions>("dimensions")};

}  // namespace tfaot::toolkit
