// Made by tfaot from model hostile, version 2.1-rc+1. Do not edit.
// The code of tfaot_model::hostile for batch size 1. Include model.h instead: it offers the model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

#include "hostile_costs.h"

extern "C" TFAOT_MODEL_SYMBOL void __tfaot_tfaot_model_hostile_bs1_x86_64(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);

namespace tfaot_model {
inline namespace build_9c5523b25f9dcc4e {

struct hostile_bs1 {
  TFAOT_HIDDEN static constexpr ::std::size_t kBatchSize = 1;
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 16},
      {::tfaot::BufferKind::kInput, 1, 0, 8},
      {::tfaot::BufferKind::kOutput, 0, 0, 16},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kTemporary, 0, 128, 8},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Code kCodes[] = {
      {"x86-64",
       "",
       &::__tfaot_tfaot_model_hostile_bs1_x86_64, kSlots_x86_64,
       6, 5, 192, hostile_costs::kBs1_x86_64, 251000, 0, 0, 0},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kProgram = {kBatchSize, kCodes, 1};
};

}  // namespace build_9c5523b25f9dcc4e
}  // namespace tfaot_model
