// Use tfaot::native::Model<tfaot_model::whole>, as shown below. tfaot::Model<tfaot_model::whole> is for code with CMSSW's calls.
// Made by tfaot from model whole, version 2024a. Do not edit.
//
// tfaot_model::whole, version 2024a
//
// Inputs (element type and shape; there is no batch, one run computes whole tensors):
//   image: float32 [28, 28, 3]
//   mask: bool [5]
//   weight: float64 []
// Outputs:
//   class: int64 []
//   counts: int32 [2, 3]
//   valid: bool []
// Compiled for CPU levels x86-64.
//
// Usage:
//   #include "tfaot-model-whole/model.h"
//   tfaot::native::Model<tfaot_model::whole> model;  // one for each thread
//   std::vector<float> image(28 * 28 * 3);
//   tfaot::Span<bool> mask(your_bools, 5);
//   std::vector<double> weight(1);
//   std::vector<std::int64_t> class_(1);  // class
//   std::vector<std::int32_t> counts(2 * 3);
//   tfaot::Span<bool> valid(your_bools, 1);
//   model.run({.image = image, .mask = mask, .weight = weight}, {.class_ = class_, .counts = counts, .valid = valid});
//   model.run(tfaot::inputs(image, mask, weight), tfaot::outputs(class_, counts, valid));  // C++17
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-whole with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-whole was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "whole_bs1.h"

extern "C" TFAOT_MODEL_SYMBOL const unsigned char __tfaot_tfaot_model_MixedNet_weights[];

namespace tfaot_model {
inline namespace build_707daaa9f96fb03b {

/// The model whole, version 2024a. tfaot::native::Model runs it. An object of this class has the calls of CMSSW's
/// tfaot::Wrapper; one is for one thread at a time.
class whole : public ::tfaot::Wrapper {
 public:
  /// For the runtime: run() takes no number of rows.
  static constexpr bool kHasBatch = false;

  /// The inputs by name, in the model's order. The comments show an element's type and the shape.
  struct Inputs {
    ::tfaot::Span<const float> image;  ///< `image`: float32 [28, 28, 3]
    ::tfaot::Span<const bool> mask;  ///< `mask`: bool [5]
    ::tfaot::Span<const double> weight;  ///< `weight`: float64 []

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<float, 28, 28, 3>,
        ::tfaot::Tensor<bool, 5>,
        ::tfaot::Tensor<double>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"image", "mask", "weight", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(image, mask, weight); }
  };
  /// The outputs by name, as the inputs.
  struct Outputs {
    ::tfaot::Span<::std::int64_t> class_;  ///< `class`: int64 []
    ::tfaot::Span<::std::int32_t> counts;  ///< `counts`: int32 [2, 3]
    ::tfaot::Span<bool> valid;  ///< `valid`: bool []

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<::std::int64_t>,
        ::tfaot::Tensor<::std::int32_t, 2, 3>,
        ::tfaot::Tensor<bool>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"class", "counts", "valid", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(class_, counts, valid); }
  };

  /// Errors use the name, which is as in CMSSW. Throws tfaot::Error (UnsupportedCpu).
  explicit whole(const ::std::string& name = "tfaot_model_whole") : ::tfaot::Wrapper(description(), name) {}

  /// For the runtime: the tables of the model.
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
      whole_bs1::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "whole", "2024a",
      kInputs, 3,
      kOutputs, 3,
      kPrograms, 1,
      ::__tfaot_tfaot_model_MixedNet_weights, 72, false,
      0, ""};
};

}  // namespace build_707daaa9f96fb03b
}  // namespace tfaot_model
