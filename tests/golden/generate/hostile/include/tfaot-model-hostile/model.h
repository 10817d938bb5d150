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
//   std::vector<float> x0(rows * 4);  // a"b\c*/??/. d é
//   std::vector<std::int64_t> x1(rows * 1);
//   std::vector<double> y0(rows * 2);  // <y>&'{{x}}
//   model.run(rows, tfaot::inputs(x0, x1), tfaot::outputs(y0));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(1),
              "tfaot-model-hostile was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "hostile_bs1.h"

namespace tfaot_model {

class hostile : public ::tfaot::Wrapper {
 public:
  using Inputs = ::tfaot::TensorList<
      ::tfaot::Tensor<float, 4>,
      ::tfaot::Tensor<std::int64_t, 1>>;
  using Outputs = ::tfaot::TensorList<
      ::tfaot::Tensor<double, 2>>;

  // Named as in CMSSW; the name is for messages.
  explicit hostile(const ::std::string& name = "tfaot_model_hostile") : ::tfaot::Wrapper(description(), name) {}

  static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  static constexpr ::std::int64_t kInput0Shape[] = {4};
  static constexpr ::std::int64_t kInput1Shape[] = {1};
  static constexpr ::std::int64_t kOutput0Shape[] = {2};
  static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"a\"b\\c*/\?\?/\012d \303\251", ::tfaot::DType::kFloat32, kInput0Shape, 1, 4},
      {"", ::tfaot::DType::kInt64, kInput1Shape, 1, 1},
  };
  static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"<y>&'{{x}}", ::tfaot::DType::kFloat64, kOutput0Shape, 1, 2},
  };
  static constexpr ::tfaot::Program kPrograms[] = {
      hostile_bs1::kProgram,
  };
  static constexpr ::tfaot::Description kDescription = {
      "hostile", "2.1-rc+1",
      kInputs, 2,
      kOutputs, 1,
      kPrograms, 1,
      nullptr, 0};
};

}  // namespace tfaot_model
