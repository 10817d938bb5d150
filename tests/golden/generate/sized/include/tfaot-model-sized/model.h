// Use tfaot::native::Model<tfaot_model::sized>, as shown below. tfaot::Model<tfaot_model::sized> is for code with CMSSW's calls.
// Made by tfaot from model sized, version 1.0.0. Do not edit.
//
// tfaot_model::sized, version 1.0.0
// Author: A. Physicist
//   Tags jets.
//   Trained on simulation.
//
// Inputs (element type and shape of one row; a batch holds any number of rows):
//   x: float32 [n tracks, 3]
//   w: float32 [k]
// Outputs:
//   total: float32 [2]
//   pairs: float32 [(n tracks^2 - n tracks)/2; 2*k/2 if k = 2, 4..6]
// Sizes that each call chooses:
//   n tracks: 1 to 40
//   k: 0 to 6
// Compiled for batch sizes 1, 2, 4 and CPU levels x86-64, x86-64-v3.
//
// Usage:
//   #include "tfaot-model-sized/model.h"
//   tfaot::native::Model<tfaot_model::sized> model;  // one for each thread
//   std::vector<float> x(rows * 40 * 3);
//   std::vector<float> w(rows * 6);
//   std::vector<float> total(rows * 2);
//   std::vector<float> pairs(rows * 786);
//   model.run(rows, {.n_tracks = 40, .k = 6}, {.x = x, .w = w}, {.total = total, .pairs = pairs});
//   // Rows of different sizes: rows + 1 offsets of each dimension, the first 0.
//   model.run_ragged(rows, {.n_tracks = n_tracks_offsets, .k = k_offsets}, {.x = x, .w = w}, {.total = total, .pairs = pairs});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-sized with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-sized was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "sized_bs1.h"
#include "sized_bs2.h"
#include "sized_bs4.h"

extern "C" TFAOT_MODEL_SYMBOL const unsigned char __tfaot_tfaot_model_test_weights[];

namespace tfaot_model {
inline namespace build_3c2de11c3899ef0d {

/// The model sized, version 1.0.0. tfaot::native::Model runs it. An object of this class has the calls of CMSSW's
/// tfaot::Wrapper; one is for one thread at a time.
class sized : public ::tfaot::Wrapper {
 public:
  /// The inputs by name, in the model's order. Each holds all rows of a batch; the comments show an element's type and the shape
  /// of one row.
  struct Inputs {
    ::tfaot::Span<const float> x;  ///< `x`: float32 [n tracks, 3]
    ::tfaot::Span<const float> w;  ///< `w`: float32 [k]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<float, 40, 3>,
        ::tfaot::Tensor<float, 6>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"x", "w", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(x, w); }
  };
  /// The sizes of the free dimensions; what is not set has the largest size.
  struct Sizes {
    ::std::size_t n_tracks = 40;  ///< `n tracks`: 1 to 40
    ::std::size_t k = 6;  ///< `k`: 0 to 6
    /// For the runtime: the members above, in order.
    constexpr ::std::array<::std::int64_t, 2> in_order() const noexcept { return {static_cast<::std::int64_t>(n_tracks), static_cast<::std::int64_t>(k)}; }
  };
  /// For each free dimension, where the elements of each row begin in a sample: rows + 1 offsets.
  struct Offsets {
    ::tfaot::Span<const ::std::size_t> n_tracks;  ///< of `n tracks`
    ::tfaot::Span<const ::std::size_t> k;  ///< of `k`
    /// For the runtime: the members above, in order.
    constexpr ::std::array<::tfaot::Span<const ::std::size_t>, 2> in_order() const noexcept { return {n_tracks, k}; }
  };
  /// The outputs by name, as the inputs.
  struct Outputs {
    ::tfaot::Span<float> total;  ///< `total`: float32 [2]
    ::tfaot::Span<float> pairs;  ///< `pairs`: float32 [(n tracks^2 - n tracks)/2; 2*k/2 if k = 2, 4..6]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<float, 2>,
        ::tfaot::Tensor<float, 786>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"total", "pairs", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(total, pairs); }
  };

  /// Errors use the name, which is as in CMSSW. Throws tfaot::Error (UnsupportedCpu).
  explicit sized(const ::std::string& name = "tfaot_model_sized") : ::tfaot::Wrapper(description(), name) {}

  /// For the runtime: the tables of the model.
  TFAOT_HIDDEN static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput0Shape[] = {40, 3};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput1Shape[] = {6};
  TFAOT_HIDDEN static constexpr ::std::int64_t kOutput0Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kOutput1Shape[] = {786};
  TFAOT_HIDDEN static constexpr ::std::uint8_t kInput0Sizes_0_0Powers[] = {1, 0};
  TFAOT_HIDDEN static constexpr ::tfaot::SizeTerm kInput0Sizes_0Terms[] = {
      { 1, kInput0Sizes_0_0Powers},
  };
  TFAOT_HIDDEN static constexpr ::std::uint8_t kInput0Sizes_1_0Powers[] = {0, 0};
  TFAOT_HIDDEN static constexpr ::tfaot::SizeTerm kInput0Sizes_1Terms[] = {
      { 3, kInput0Sizes_1_0Powers},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::SizeFormula kInput0Sizes[] = {
      { kInput0Sizes_0Terms, 1, 1},
      { kInput0Sizes_1Terms, 1, 1},
  };
  TFAOT_HIDDEN static constexpr ::std::uint8_t kInput1Sizes_0_0Powers[] = {0, 1};
  TFAOT_HIDDEN static constexpr ::tfaot::SizeTerm kInput1Sizes_0Terms[] = {
      { 1, kInput1Sizes_0_0Powers},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::SizeFormula kInput1Sizes[] = {
      { kInput1Sizes_0Terms, 1, 1},
  };
  TFAOT_HIDDEN static constexpr ::std::uint8_t kOutput1Sizes_0_0Powers[] = {2, 0};
  TFAOT_HIDDEN static constexpr ::std::uint8_t kOutput1Sizes_0_1Powers[] = {1, 0};
  TFAOT_HIDDEN static constexpr ::std::uint8_t kOutput1Sizes_0_2Powers[] = {0, 1};
  TFAOT_HIDDEN static constexpr ::tfaot::SizeSteps kOutput1Sizes_0_2Steps[] = { {0, 2147483647, 1}, {2, 6, 2} };
  TFAOT_HIDDEN static constexpr ::tfaot::SizeTerm kOutput1Sizes_0Terms[] = {
      { 1, kOutput1Sizes_0_0Powers},
      { -1, kOutput1Sizes_0_1Powers},
      { 2, kOutput1Sizes_0_2Powers, kOutput1Sizes_0_2Steps},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::SizeFormula kOutput1Sizes[] = {
      { kOutput1Sizes_0Terms, 3, 2},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::FreeDimension kDimensions[] = {
      {"n tracks", 1, 40},
      {"k", 0, 6},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"x", ::tfaot::DType::kFloat32, kInput0Shape, 2, 120, kInput0Sizes},
      {"w", ::tfaot::DType::kFloat32, kInput1Shape, 1, 6, kInput1Sizes},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"total", ::tfaot::DType::kFloat32, kOutput0Shape, 1, 2},
      {"pairs", ::tfaot::DType::kFloat32, kOutput1Shape, 1, 786, kOutput1Sizes},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kPrograms[] = {
      sized_bs1::kProgram,
      sized_bs2::kProgram,
      sized_bs4::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "sized", "1.0.0",
      kInputs, 2,
      kOutputs, 2,
      kPrograms, 3,
      ::__tfaot_tfaot_model_test_weights, 72, false,
      0, "", kDimensions, 2};
};

}  // namespace build_3c2de11c3899ef0d
}  // namespace tfaot_model
