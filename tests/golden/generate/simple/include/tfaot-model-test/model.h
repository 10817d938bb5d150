// Use tfaot::native::Model<tfaot_model::test>, as shown below. tfaot::Model<tfaot_model::test> is for code with CMSSW's calls.
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
//   tfaot::native::Model<tfaot_model::test> model;  // one for each thread
//   std::vector<float> x(rows * 4);
//   std::vector<float> y(rows * 2);
//   model.run(rows, {.x = x}, {.y = y});
//   model.run(rows, tfaot::inputs(x), tfaot::outputs(y));  // C++17
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-test with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-test was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "test_bs1.h"
#include "test_bs2.h"
#include "test_bs4.h"

extern "C" TFAOT_MODEL_SYMBOL const unsigned char __tfaot_tfaot_model_test_weights[];

namespace tfaot_model {
inline namespace build_d965f61aba1893bd {

/// The model test, version 1.0.0. tfaot::native::Model runs it. An object of this class has the calls of CMSSW's
/// tfaot::Wrapper; one is for one thread at a time.
class test : public ::tfaot::Wrapper {
 public:
  /// The inputs by name, in the model's order. Each holds all rows of a batch; the comments show an element's type and the shape
  /// of one row.
  struct Inputs {
    ::tfaot::Span<const float> x;  ///< `x`: float32 [4]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<float, 4>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"x", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(x); }
  };
  /// The outputs by name, as the inputs.
  struct Outputs {
    ::tfaot::Span<float> y;  ///< `y`: float32 [2]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<float, 2>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"y", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(y); }
  };

  /// Errors use the name, which is as in CMSSW. Throws tfaot::Error (UnsupportedCpu).
  explicit test(const ::std::string& name = "tfaot_model_test") : ::tfaot::Wrapper(description(), name) {}

  /// For the runtime: the tables of the model.
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
      ::__tfaot_tfaot_model_test_weights, 72, false,
      0, ""};
};

}  // namespace build_d965f61aba1893bd
}  // namespace tfaot_model
