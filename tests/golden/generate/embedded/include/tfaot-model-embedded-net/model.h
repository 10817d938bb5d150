// Use tfaot::native::Model<tfaot_model::embedded_net>, as shown below. tfaot::Model<tfaot_model::embedded_net> is for code with CMSSW's calls.
// Made by tfaot from model embedded_net, version 1.0.0. Do not edit.
//
// tfaot_model::embedded_net, version 1.0.0
// Author: A. Physicist
//   Tags jets.
//   Trained on simulation.
//
// Inputs (element type and shape of one row; rows depend on each other, so a batch has a compiled size):
//   x: float32 [4]
// Outputs:
//   y: float32 [2]
// Compiled for batch sizes 1 and CPU levels x86-64.
//
// Usage:
//   #include "tfaot-model-embedded-net/model.h"
//   tfaot::native::Model<tfaot_model::embedded_net> model;  // one for each thread
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
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-embedded-net with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-embedded-net was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "embedded_net_bs1.h"

namespace tfaot_model {
inline namespace build_5e42bd84198b8543 {

/// The model embedded_net, version 1.0.0. tfaot::native::Model runs it. An object of this class has the calls of CMSSW's
/// tfaot::Wrapper; one is for one thread at a time.
class embedded_net : public ::tfaot::Wrapper {
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
  explicit embedded_net(const ::std::string& name = "tfaot_model_embedded_net") : ::tfaot::Wrapper(description(), name) {}

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
      embedded_net_bs1::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "embedded_net", "1.0.0",
      kInputs, 1,
      kOutputs, 1,
      kPrograms, 1,
      nullptr, 0, true,
      0, ""};
};

}  // namespace build_5e42bd84198b8543
}  // namespace tfaot_model
