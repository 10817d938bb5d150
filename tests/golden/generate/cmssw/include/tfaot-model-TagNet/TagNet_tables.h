// Made by tfaot from model TagNet, version 2024a. Do not edit.
// The tables of cms::models::TagNet: signature, code and weights, for the classes of model.h and for 'tfaot tune'.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

#include "TagNet_bs1_tables.h"
#include "TagNet_bs8_tables.h"
extern "C" TFAOT_MODEL_SYMBOL const unsigned char __tfaot_tfaot_model_TagNet_weights[];

namespace cms::models {
inline namespace build_6fbae5eab943d672 {

class TagNet_tables {
 public:
  TFAOT_HIDDEN static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput0Shape[] = {28, 28, 3};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput1Shape[] = {5};
  TFAOT_HIDDEN static constexpr ::std::int64_t kOutput1Shape[] = {2, 3};
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"image", ::tfaot::DType::kFloat32, kInput0Shape, 3, 2352},
      {"mask", ::tfaot::DType::kBool, kInput1Shape, 1, 5},
      {"weight", ::tfaot::DType::kFloat64, nullptr, 0, 1},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"class", ::tfaot::DType::kInt64, nullptr, 0, 1},
      {"counts", ::tfaot::DType::kInt32, kOutput1Shape, 2, 6},
      {"valid", ::tfaot::DType::kBool, nullptr, 0, 1},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kPrograms[] = {
      TagNet_bs1_tables::kProgram,
      TagNet_bs8_tables::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "TagNet", "2024a",
      kInputs, 3,
      kOutputs, 3,
      kPrograms, 2,
      ::__tfaot_tfaot_model_TagNet_weights, 72, false,
      0, ""};
};

}  // namespace build_6fbae5eab943d672
}  // namespace cms::models
