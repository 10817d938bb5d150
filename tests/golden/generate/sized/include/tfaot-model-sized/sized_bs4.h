// Made by tfaot from model sized, version 1.0.0. Do not edit.
// The code of tfaot_model::sized for batch size 4. Include model.h instead: it offers the model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

#include "sized_costs.h"

extern "C" TFAOT_MODEL_SYMBOL void __tfaot_tfaot_model_sized_bs4_x86_64(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);
extern "C" TFAOT_MODEL_SYMBOL void __tfaot_tfaot_model_sized_bs4_x86_64_v3(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);

namespace tfaot_model {
inline namespace build_3c2de11c3899ef0d {

struct sized_bs4 {
  TFAOT_HIDDEN static constexpr ::std::size_t kBatchSize = 4;
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 1920},
      {::tfaot::BufferKind::kInput, 1, 0, 96},
      {::tfaot::BufferKind::kWeight, 0, 0, 32},
      {::tfaot::BufferKind::kWeight, 1, 64, 8},
      {::tfaot::BufferKind::kOutput, 0, 0, 32},
      {::tfaot::BufferKind::kOutput, 1, 0, 12576},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kLiveRows, 0, 0, 8},
      {::tfaot::BufferKind::kTasks, 0, 0, 8},
      {::tfaot::BufferKind::kTemporary, 0, 128, 16},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64_v3[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 1920},
      {::tfaot::BufferKind::kInput, 1, 0, 96},
      {::tfaot::BufferKind::kWeight, 0, 0, 32},
      {::tfaot::BufferKind::kWeight, 1, 64, 8},
      {::tfaot::BufferKind::kOutput, 0, 0, 32},
      {::tfaot::BufferKind::kOutput, 1, 0, 12576},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kLiveRows, 0, 0, 8},
      {::tfaot::BufferKind::kTasks, 0, 0, 8},
      {::tfaot::BufferKind::kTemporary, 0, 128, 16},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Code kCodes[] = {
      {"x86-64",
       "",
       &::__tfaot_tfaot_model_sized_bs4_x86_64, kSlots_x86_64,
       11, 10, 192, sized_costs::kBs4_x86_64, 254000, 900, 700, 4096},
      {"x86-64-v3",
       "avx2 fma",
       &::__tfaot_tfaot_model_sized_bs4_x86_64_v3, kSlots_x86_64_v3,
       11, 10, 192, sized_costs::kBs4_x86_64_v3, 254000, 900, 700, 4096},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kProgram = {kBatchSize, kCodes, 2};
};

}  // namespace build_3c2de11c3899ef0d
}  // namespace tfaot_model
