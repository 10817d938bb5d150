// Made by tfaot from model embedded_net, version 1.0.0. Do not edit.
// The code of tfaot_model::embedded_net for batch size 1. Include model.h instead: it offers the model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

#include "embedded_net_costs.h"

extern "C" TFAOT_MODEL_SYMBOL void __tfaot_tfaot_model_embedded_net_bs1_x86_64(
    void*, const void*, const void**, void**, void*, ::std::int64_t*);

namespace tfaot_model {
inline namespace build_5e42bd84198b8543 {

struct embedded_net_bs1 {
  TFAOT_HIDDEN static constexpr ::std::size_t kBatchSize = 1;
  TFAOT_HIDDEN static constexpr ::tfaot::BufferSlot kSlots_x86_64[] = {
      {::tfaot::BufferKind::kInput, 0, 0, 16},
      {::tfaot::BufferKind::kOutput, 0, 0, 8},
      {::tfaot::BufferKind::kUnused, 0, 0, 4},
      {::tfaot::BufferKind::kTemporary, 0, 0, 100},
      {::tfaot::BufferKind::kTemporary, 0, 128, 8},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Code kCodes[] = {
      {"x86-64",
       "",
       &::__tfaot_tfaot_model_embedded_net_bs1_x86_64, kSlots_x86_64,
       5, 4, 192, embedded_net_costs::kBs1_x86_64, 251000, 0, 0, 0},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kProgram = {kBatchSize, kCodes, 1};
};

}  // namespace build_5e42bd84198b8543
}  // namespace tfaot_model
