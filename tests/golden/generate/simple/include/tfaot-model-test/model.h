// Made by tfaot from model test, version 1.0.0. Do not edit.
//
// tfaot_model::test, version 1.0.0
// Author: A. Physicist
//   Tags jets.
//   Trained on simulation.
//
// Inputs (element type and shape of one row; a batch holds any number of rows):
//   x: float32 [4]
// Outputs:
//   y: float32 [2]
// Compiled for batch sizes 1, 2, 4 and CPU levels x86-64, x86-64-v3.
//
// Usage:
//   #include "tfaot-model-test/model.h"
//   tfaot::native::Model<tfaot_model::test> model;  // one per thread
//   std::vector<float> x0(rows * 4);  // x
//   std::vector<float> y0(rows * 2);  // y
//   model.run(rows, tfaot::inputs(x0), tfaot::outputs(y0));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(1),
              "tfaot-model-test was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "test_bs1.h"
#include "test_bs2.h"
#include "test_bs4.h"

extern "C" const unsigned char __tfaot_tfaot_model_test_weights[];

namespace tfaot_model {

class test : public ::tfaot::Wrapper {
 public:
  using Inputs = ::tfaot::TensorList<
      ::tfaot::Tensor<float, 4>>;
  using Outputs = ::tfaot::TensorList<
      ::tfaot::Tensor<float, 2>>;

  // Named as in CMSSW; the name is for messages.
  explicit test(const ::std::string& name = "tfaot_model_test") : ::tfaot::Wrapper(description(), name) {}

  static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  static constexpr ::std::int64_t kInput0Shape[] = {4};
  static constexpr ::std::int64_t kOutput0Shape[] = {2};
  static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"x", ::tfaot::DType::kFloat32, kInput0Shape, 1, 4},
  };
  static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"y", ::tfaot::DType::kFloat32, kOutput0Shape, 1, 2},
  };
  static constexpr ::tfaot::Program kPrograms[] = {
      test_bs1::kProgram,
      test_bs2::kProgram,
      test_bs4::kProgram,
  };
  static constexpr ::tfaot::Description kDescription = {
      "test", "1.0.0",
      kInputs, 1,
      kOutputs, 1,
      kPrograms, 3,
      ::__tfaot_tfaot_model_test_weights, 72};
};

}  // namespace tfaot_model
