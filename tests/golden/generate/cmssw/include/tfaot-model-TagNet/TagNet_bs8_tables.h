// Made by tfaot from model TagNet, version 2024a. Do not edit.
// The code of cms::models::TagNet for batch size 8. Include model.h instead: it offers the model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

#include "TagNet_costs.h"

extern "C" TFAOT_MODEL_SYMBOL void __tfaot_cms_models_TagNet_bs8_x86_64(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);
extern "C" TFAOT_MODEL_SYMBOL void __tfaot_cms_models_TagNet_bs8_x86_64_v3(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);

namespace cms::models {
inline namespace build_6fbae5eab943d672 {

struct TagNet_bs8_tables {
  TFAOT_HIDDEN static constexpr ::std::size_t kBatchSize = 8;
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 75264},
      {::tfaot::BufferKind::kInput, 1, 0, 40},
      {::tfaot::BufferKind::kInput, 2, 0, 64},
      {::tfaot::BufferKind::kWeight, 0, 0, 32},
      {::tfaot::BufferKind::kWeight, 1, 64, 8},
      {::tfaot::BufferKind::kOutput, 0, 0, 64},
      {::tfaot::BufferKind::kOutput, 1, 0, 192},
      {::tfaot::BufferKind::kOutput, 2, 0, 8},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kLiveRows, 0, 0, 8},
      {::tfaot::BufferKind::kTasks, 0, 0, 8},
      {::tfaot::BufferKind::kTemporary, 0, 128, 24},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64_v3[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 75264},
      {::tfaot::BufferKind::kInput, 1, 0, 40},
      {::tfaot::BufferKind::kInput, 2, 0, 64},
      {::tfaot::BufferKind::kWeight, 0, 0, 32},
      {::tfaot::BufferKind::kWeight, 1, 64, 8},
      {::tfaot::BufferKind::kOutput, 0, 0, 64},
      {::tfaot::BufferKind::kOutput, 1, 0, 192},
      {::tfaot::BufferKind::kOutput, 2, 0, 8},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kLiveRows, 0, 0, 8},
      {::tfaot::BufferKind::kTasks, 0, 0, 8},
      {::tfaot::BufferKind::kTemporary, 0, 128, 24},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Code kCodes[] = {
      {"x86-64",
       "",
       &::__tfaot_cms_models_TagNet_bs8_x86_64, kSlots_x86_64,
       13, 12, 192, TagNet_costs::kBs8_x86_64, 258000, 900, 700, 4096},
      {"x86-64-v3",
       "avx2 fma",
       &::__tfaot_cms_models_TagNet_bs8_x86_64_v3, kSlots_x86_64_v3,
       13, 12, 192, TagNet_costs::kBs8_x86_64_v3, 258000, 900, 700, 4096},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kProgram = {kBatchSize, kCodes, 2};
};

}  // namespace build_6fbae5eab943d672
}  // namespace cms::models
