// Use tfaot::native::Model<tfaot_model::typed>, as shown below. tfaot::Model<tfaot_model::typed> is for code with CMSSW's calls.
// Made by tfaot from model typed, version 1.0.0. Do not edit.
//
// tfaot_model::typed, version 1.0.0
// Author: A. Physicist
//   Tags jets.
//   Trained on simulation.
//
// Inputs (element type and shape of one row; a batch holds any number of rows):
//   bool_in: bool [2]
//   int8_in: int8 [2]
//   int16_in: int16 [2]
//   int32_in: int32 [2]
//   int64_in: int64 [2]
//   uint8_in: uint8 [2]
//   uint16_in: uint16 [2]
//   uint32_in: uint32 [2]
//   uint64_in: uint64 [2]
//   float16_in: float16 [2]
//   bfloat16_in: bfloat16 [2]
//   float32_in: float32 [2]
//   float64_in: float64 [2]
// Outputs:
//   half: float16 []
//   brain: bfloat16 [3]
//   byte: uint8 []
// Compiled for batch sizes 1 and CPU levels x86-64.
//
// Usage:
//   #include "tfaot-model-typed/model.h"
//   tfaot::native::Model<tfaot_model::typed> model;  // one for each thread
//   tfaot::Span<bool> bool_in(your_bools, rows * 2);
//   std::vector<std::int8_t> int8_in(rows * 2);
//   std::vector<std::int16_t> int16_in(rows * 2);
//   std::vector<std::int32_t> int32_in(rows * 2);
//   std::vector<std::int64_t> int64_in(rows * 2);
//   std::vector<std::uint8_t> uint8_in(rows * 2);
//   std::vector<std::uint16_t> uint16_in(rows * 2);
//   std::vector<std::uint32_t> uint32_in(rows * 2);
//   std::vector<std::uint64_t> uint64_in(rows * 2);
//   std::vector<tfaot::float16> float16_in(rows * 2);
//   std::vector<tfaot::bfloat16> bfloat16_in(rows * 2);
//   std::vector<float> float32_in(rows * 2);
//   std::vector<double> float64_in(rows * 2);
//   std::vector<tfaot::float16> half(rows);
//   std::vector<tfaot::bfloat16> brain(rows * 3);
//   std::vector<std::uint8_t> byte(rows);
//   model.run(rows, {.bool_in = bool_in, .int8_in = int8_in, .int16_in = int16_in, .int32_in = int32_in, .int64_in = int64_in, .uint8_in = uint8_in, .uint16_in = uint16_in, .uint32_in = uint32_in, .uint64_in = uint64_in, .float16_in = float16_in, .bfloat16_in = bfloat16_in, .float32_in = float32_in, .float64_in = float64_in}, {.half = half, .brain = brain, .byte = byte});
//   model.run(rows, tfaot::inputs(bool_in, int8_in, int16_in, int32_in, int64_in, uint8_in, uint16_in, uint32_in, uint64_in, float16_in, bfloat16_in, float32_in, float64_in), tfaot::outputs(half, brain, byte));  // C++17
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#if defined(PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H) || defined(PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H) || \
    defined(PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H)
#error "CMSSW's PhysicsTools/TensorFlowAOT was included before this header, and both define tfaot::Model. Compile tfaot-model-typed with \
'tfaot compile --headers cmssw', or do not include CMSSW's headers here (docs/cmssw.md)"
#include "a package compiled with --headers cmssw"  // not there: the compiler stops here
#endif

#include "tfaot/runtime/model.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-typed was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "typed_bs1.h"

extern "C" TFAOT_MODEL_SYMBOL const unsigned char __tfaot_tfaot_model_typed_weights[];

namespace tfaot_model {
inline namespace build_c25fa9d53886d50d {

/// The model typed, version 1.0.0. tfaot::native::Model runs it. An object of this class has the calls of CMSSW's
/// tfaot::Wrapper; one is for one thread at a time.
class typed : public ::tfaot::Wrapper {
 public:
  /// The inputs by name, in the model's order. Each holds all rows of a batch; the comments show an element's type and the shape
  /// of one row.
  struct Inputs {
    ::tfaot::Span<const bool> bool_in;  ///< `bool_in`: bool [2]
    ::tfaot::Span<const ::std::int8_t> int8_in;  ///< `int8_in`: int8 [2]
    ::tfaot::Span<const ::std::int16_t> int16_in;  ///< `int16_in`: int16 [2]
    ::tfaot::Span<const ::std::int32_t> int32_in;  ///< `int32_in`: int32 [2]
    ::tfaot::Span<const ::std::int64_t> int64_in;  ///< `int64_in`: int64 [2]
    ::tfaot::Span<const ::std::uint8_t> uint8_in;  ///< `uint8_in`: uint8 [2]
    ::tfaot::Span<const ::std::uint16_t> uint16_in;  ///< `uint16_in`: uint16 [2]
    ::tfaot::Span<const ::std::uint32_t> uint32_in;  ///< `uint32_in`: uint32 [2]
    ::tfaot::Span<const ::std::uint64_t> uint64_in;  ///< `uint64_in`: uint64 [2]
    ::tfaot::Span<const ::tfaot::float16> float16_in;  ///< `float16_in`: float16 [2]
    ::tfaot::Span<const ::tfaot::bfloat16> bfloat16_in;  ///< `bfloat16_in`: bfloat16 [2]
    ::tfaot::Span<const float> float32_in;  ///< `float32_in`: float32 [2]
    ::tfaot::Span<const double> float64_in;  ///< `float64_in`: float64 [2]

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<bool, 2>,
        ::tfaot::Tensor<::std::int8_t, 2>,
        ::tfaot::Tensor<::std::int16_t, 2>,
        ::tfaot::Tensor<::std::int32_t, 2>,
        ::tfaot::Tensor<::std::int64_t, 2>,
        ::tfaot::Tensor<::std::uint8_t, 2>,
        ::tfaot::Tensor<::std::uint16_t, 2>,
        ::tfaot::Tensor<::std::uint32_t, 2>,
        ::tfaot::Tensor<::std::uint64_t, 2>,
        ::tfaot::Tensor<::tfaot::float16, 2>,
        ::tfaot::Tensor<::tfaot::bfloat16, 2>,
        ::tfaot::Tensor<float, 2>,
        ::tfaot::Tensor<double, 2>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"bool_in", "int8_in", "int16_in", "int32_in", "int64_in", "uint8_in", "uint16_in", "uint32_in", "uint64_in", "float16_in", "bfloat16_in", "float32_in", "float64_in", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(bool_in, int8_in, int16_in, int32_in, int64_in, uint8_in, uint16_in, uint32_in, uint64_in, float16_in, bfloat16_in, float32_in, float64_in); }
  };
  /// The outputs by name, as the inputs.
  struct Outputs {
    ::tfaot::Span<::tfaot::float16> half;  ///< `half`: float16 []
    ::tfaot::Span<::tfaot::bfloat16> brain;  ///< `brain`: bfloat16 [3]
    ::tfaot::Span<::std::uint8_t> byte;  ///< `byte`: uint8 []

    /// For the runtime: element types and shapes, in order.
    using Types = ::tfaot::TensorList<
        ::tfaot::Tensor<::tfaot::float16>,
        ::tfaot::Tensor<::tfaot::bfloat16, 3>,
        ::tfaot::Tensor<::std::uint8_t>>;
    /// For the runtime: the names in the model, in order.
    TFAOT_HIDDEN static constexpr const char* kNames[] = {"half", "brain", "byte", nullptr};
    /// For the runtime: the members above, in order.
    constexpr auto in_order() const noexcept { return ::std::tie(half, brain, byte); }
  };

  /// Errors use the name, which is as in CMSSW. Throws tfaot::Error (UnsupportedCpu).
  explicit typed(const ::std::string& name = "tfaot_model_typed") : ::tfaot::Wrapper(description(), name) {}

  /// For the runtime: the tables of the model.
  TFAOT_HIDDEN static const ::tfaot::Description& description() noexcept { return kDescription; }

 private:
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput0Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput1Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput2Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput3Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput4Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput5Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput6Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput7Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput8Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput9Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput10Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput11Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kInput12Shape[] = {2};
  TFAOT_HIDDEN static constexpr ::std::int64_t kOutput1Shape[] = {3};
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kInputs[] = {
      {"bool_in", ::tfaot::DType::kBool, kInput0Shape, 1, 2},
      {"int8_in", ::tfaot::DType::kInt8, kInput1Shape, 1, 2},
      {"int16_in", ::tfaot::DType::kInt16, kInput2Shape, 1, 2},
      {"int32_in", ::tfaot::DType::kInt32, kInput3Shape, 1, 2},
      {"int64_in", ::tfaot::DType::kInt64, kInput4Shape, 1, 2},
      {"uint8_in", ::tfaot::DType::kUint8, kInput5Shape, 1, 2},
      {"uint16_in", ::tfaot::DType::kUint16, kInput6Shape, 1, 2},
      {"uint32_in", ::tfaot::DType::kUint32, kInput7Shape, 1, 2},
      {"uint64_in", ::tfaot::DType::kUint64, kInput8Shape, 1, 2},
      {"float16_in", ::tfaot::DType::kFloat16, kInput9Shape, 1, 2},
      {"bfloat16_in", ::tfaot::DType::kBfloat16, kInput10Shape, 1, 2},
      {"float32_in", ::tfaot::DType::kFloat32, kInput11Shape, 1, 2},
      {"float64_in", ::tfaot::DType::kFloat64, kInput12Shape, 1, 2},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::TensorInfo kOutputs[] = {
      {"half", ::tfaot::DType::kFloat16, nullptr, 0, 1},
      {"brain", ::tfaot::DType::kBfloat16, kOutput1Shape, 1, 3},
      {"byte", ::tfaot::DType::kUint8, nullptr, 0, 1},
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Program kPrograms[] = {
      typed_bs1::kProgram,
  };
  TFAOT_HIDDEN static constexpr ::tfaot::Description kDescription = {
      "typed", "1.0.0",
      kInputs, 13,
      kOutputs, 3,
      kPrograms, 1,
      ::__tfaot_tfaot_model_typed_weights, 72, false,
      0, ""};
};

}  // namespace build_c25fa9d53886d50d
}  // namespace tfaot_model
