// Made by tfaot from model hostile, version 2.1-rc+1. Do not edit.
//
// tfaot_model::hostile, version 2.1-rc+1
// Author: Q "quote" <q&a@example.org> \.
//   ends with a backslash \.
//   */ #error "closed" /* ??/.
//   résumé 粒子 evil
//   #error new line
//   return
//   {{name}} ${prefix} @TOOL_BASE@ ]=] --> not utf-8: �   end
//
// Inputs (element type and shape of one row; a batch holds any number of rows):
//   a"b\c*/??/. d é: float32 [4]
//   : int64 [1]
// Outputs:
//   <y>&'{{x}}: float64 [2]
// Compiled for batch sizes 1 and CPU levels x86-64.
//
// Usage:
//   #include "tfaot-model-hostile/model.h"
//   tfaot::native::Model<tfaot_model::hostile> model;  // one per thread
//   std::vector<float> a_b_c_d(rows * 4);  // a"b\c*/??/. d é
//   std::vector<std::int64_t> x1(rows * 1);
//   std::vector<double> y_x(rows * 2);  // <y>&'{{x}}
//   model.run(rows, tfaot::inputs(a_b_c_d, x1), tfaot::outputs(y_x));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-hostile with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(3),
              "tfaot-model-hostile was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "hostile_bs1.h"

namespace tfaot_model {
inline namespace build_a3aa6e90e0d8d4fd {

class hostile : public ::tfaot::Wrapper {
 public:
  using Inputs = ::tfaot::TensorList<
      ::tfaot::Tensor<float, 4>,
      ::tfaot::Tensor<std::int64_t, 1>>;
  using Outputs = ::tfaot::TensorList<
      ::tfaot::Tensor<double, 2>>;

  // Named as in CMSSW; the name is for messages.
  explicit hostile(const ::std::string& name = "tfaot_model_hostile") : ::tfaot::Wrapper(description(), name) {}

  TFAOT_HIDDEN static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput0Shape[] = {4};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput1Shape[] = {1};
  TFAOT_HIDDEN static constexpr ::std::int64_t kOutput0Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"a\"b\\c*/\?\?/\012d \303\251", ::tfaot::DType::kFloat32, kInput0Shape, 1, 4},
      {"", ::tfaot::DType::kInt64, kInput1Shape, 1, 1},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"<y>&'{{x}}", ::tfaot::DType::kFloat64, kOutput0Shape, 1, 2},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kPrograms[] = {
      hostile_bs1::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "hostile", "2.1-rc+1",
      kInputs, 2,
      kOutputs, 1,
      kPrograms, 1,
      nullptr, 0};
};

}  // namespace build_a3aa6e90e0d8d4fd
}  // namespace tfaot_model
