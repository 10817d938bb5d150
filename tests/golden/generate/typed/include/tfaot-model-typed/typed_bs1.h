// Made by tfaot from model typed, version 1.0.0. Do not edit.
// The code of tfaot_model::typed for batch size 1. Include model.h instead: it offers the model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

#include "typed_costs.h"

extern "C" TFAOT_MODEL_SYMBOL void __tfaot_tfaot_model_typed_bs1_x86_64(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);

namespace tfaot_model {
inline namespace build_c25fa9d53886d50d {

struct typed_bs1 {
  TFAOT_HIDDEN static constexpr ::std::size_t kBatchSize = 1;
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 2},
      {::tfaot::BufferKind::kInput, 1, 0, 2},
      {::tfaot::BufferKind::kInput, 2, 0, 4},
      {::tfaot::BufferKind::kInput, 3, 0, 8},
      {::tfaot::BufferKind::kInput, 4, 0, 16},
      {::tfaot::BufferKind::kInput, 5, 0, 2},
      {::tfaot::BufferKind::kInput, 6, 0, 4},
      {::tfaot::BufferKind::kInput, 7, 0, 8},
      {::tfaot::BufferKind::kInput, 8, 0, 16},
      {::tfaot::BufferKind::kInput, 9, 0, 4},
      {::tfaot::BufferKind::kInput, 10, 0, 4},
      {::tfaot::BufferKind::kInput, 11, 0, 8},
      {::tfaot::BufferKind::kInput, 12, 0, 16},
      {::tfaot::BufferKind::kWeight, 0, 0, 32},
      {::tfaot::BufferKind::kWeight, 1, 64, 8},
      {::tfaot::BufferKind::kOutput, 0, 0, 2},
      {::tfaot::BufferKind::kOutput, 1, 0, 6},
      {::tfaot::BufferKind::kOutput, 2, 0, 1},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kTemporary, 0, 128, 24},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Code kCodes[] = {
      {"x86-64",
       "",
       &::__tfaot_tfaot_model_typed_bs1_x86_64, kSlots_x86_64,
       21, 20, 192, typed_costs::kBs1_x86_64, 251000, 0, 0, 0},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kProgram = {kBatchSize, kCodes, 1};
};

}  // namespace build_c25fa9d53886d50d
}  // namespace tfaot_model
