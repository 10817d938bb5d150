// Use tfaot::native::Model<tfaot_model::hostile>, as shown below. tfaot::Model<tfaot_model::hostile> is for code with CMSSW's calls.
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
//   tfaot::native::Model<tfaot_model::hostile> model;  // one for each thread
//   std::vector<float> a_b_c_d(rows * 4);  // a"b\c*/??/. d é
//   std::vector<std::int64_t> input_1(rows * 1);
//   std::vector<double> y_x(rows * 2);  // <y>&'{{x}}
//   model.run(rows, {.a_b_c_d = a_b_c_d, .input_1 = input_1}, {.y_x = y_x});
//   model.run(rows, tfaot::inputs(a_b_c_d, input_1), tfaot::outputs(y_x));  // C++17
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-hostile with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-hostile was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "hostile_bs1.h"

namespace tfaot_model {
inline namespace build_9c5523b25f9dcc4e {

/// The model hostile, version 2.1-rc+1. tfaot::native::Model runs it. An object of this class has the calls of CMSSW's
/// tfaot::Wrapper; one is for one thread at a time.
class hostile : public ::tfaot::Wrapper {
 public:
  /// The inputs by name, in the model's order. Each holds all rows of a batch; the comments show an element's type and the shape
  /// of one row.
  struct Inputs {
    ::tfaot::Span<const float> a_b_c_d;  ///< `a"b\c*/??/. d é`: float32 [4]
    ::tfaot::Span<const ::std::int64_t> input_1;  ///< (no name): int64 [1]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<float, 4>,
        ::tfaot::Tensor<::std::int64_t, 1>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"a\"b\\c*/\?\?/\012d \303\251", "", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(a_b_c_d, input_1); }
  };
  /// The outputs by name, as the inputs.
  struct Outputs {
    ::tfaot::Span<double> y_x;  ///< `<y>&'{{x}}`: float64 [2]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<double, 2>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"<y>&'{{x}}", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(y_x); }
  };

  /// Errors use the name, which is as in CMSSW. Throws tfaot::Error (UnsupportedCpu).
  explicit hostile(const ::std::string& name = "tfaot_model_hostile") : ::tfaot::Wrapper(description(), name) {}

  /// For the runtime: the tables of the model.
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
      nullptr, 0, false,
      0, ""};
};

}  // namespace build_9c5523b25f9dcc4e
}  // namespace tfaot_model
