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
//   std::vector<float> x(rows * 4);
//   std::vector<float> y(rows * 2);
//   model.run(rows, tfaot::inputs(x), tfaot::outputs(y));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-test with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(3),
              "tfaot-model-test was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "test_bs1.h"
#include "test_bs2.h"
#include "test_bs4.h"

extern "C" TFAOT_MODEL_SYMBOL const unsigned char __tfaot_tfaot_model_test_weights[];

namespace tfaot_model {
inline namespace build_f59d6760ad595c42 {

class test : public ::tfaot::Wrapper {
 public:
  using Inputs = ::tfaot::TensorList<
      ::tfaot::Tensor<float, 4>>;
  using Outputs = ::tfaot::TensorList<
      ::tfaot::Tensor<float, 2>>;

  // Named as in CMSSW; the name is for messages.
  explicit test(const ::std::string& name = "tfaot_model_test") : ::tfaot::Wrapper(description(), name) {}

  TFAOT_HIDDEN static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput0Shape[] = {4};
  TFAOT_HIDDEN static constexpr ::std::int64_t kOutput0Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"x", ::tfaot::DType::kFloat32, kInput0Shape, 1, 4},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"y", ::tfaot::DType::kFloat32, kOutput0Shape, 1, 2},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kPrograms[] = {
      test_bs1::kProgram,
      test_bs2::kProgram,
      test_bs4::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "test", "1.0.0",
      kInputs, 1,
      kOutputs, 1,
      kPrograms, 3,
      ::__tfaot_tfaot_model_test_weights, 72};
};

}  // namespace build_f59d6760ad595c42
}  // namespace tfaot_model
