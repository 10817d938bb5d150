// SPDX-License-Identifier: Apache-2.0
// What to compile and how: a validated aot_config.yaml with all defaults and absolute paths.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/dtype.h"
#include "tfaot/records/free_sizes.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class ModelFormat { kSavedModel, kFrozenGraph, kOnnx, kStableHlo };
template <>
inline constexpr auto kWords<ModelFormat> =
    std::to_array<Word<ModelFormat>>({{ModelFormat::kSavedModel, "saved_model"},
                                      {ModelFormat::kFrozenGraph, "frozen_graph"},
                                      {ModelFormat::kOnnx, "onnx"},
                                      {ModelFormat::kStableHlo, "stablehlo"}});

// What people call such a model: "SavedModel".
std::string name_of(ModelFormat format);
// The same in a sentence: "a SavedModel".
std::string one_of(ModelFormat format);

enum class WeightsMode {
  kShared,    // weights are arguments of the code, stored once for all batch sizes and CPU levels
  kEmbedded,  // weights are constants inside every object
};
template <>
inline constexpr auto kWords<WeightsMode> = std::to_array<Word<WeightsMode>>(
    {{WeightsMode::kShared, "shared"}, {WeightsMode::kEmbedded, "embedded"}});

// How the weights of products are stored; the kernels widen them to float32.
enum class WeightsType {
  kFloat32,   // as they are, whatever their type
  kBfloat16,  // float32's exponent, 8 bits of precision
  kFloat16,   // 11 bits of precision; at most 65504
  kInt8,      // -127 to 127 times a float32 for each output of the product
};
template <>
inline constexpr auto kWords<WeightsType> =
    std::to_array<Word<WeightsType>>({{WeightsType::kFloat32, "float32"},
                                      {WeightsType::kBfloat16, "bfloat16"},
                                      {WeightsType::kFloat16, "float16"},
                                      {WeightsType::kInt8, "int8"}});

// How products and convolutions with weights multiply; all else is computed in float32.
enum class ComputeType {
  kFloat32,
  kBfloat16,  // numbers and weights are rounded to bfloat16, and summed in float32
};
template <>
inline constexpr auto kWords<ComputeType> = std::to_array<Word<ComputeType>>(
    {{ComputeType::kFloat32, "float32"}, {ComputeType::kBfloat16, "bfloat16"}});

// What code and weights are made for.
enum class Optimization {
  kSpeed,
  kSize,  // one layout for each weight, none with more numbers; XLA's smaller code
};
template <>
inline constexpr auto kWords<Optimization> = std::to_array<Word<Optimization>>(
    {{Optimization::kSpeed, "speed"}, {Optimization::kSize, "size"}});

// Versions of ONNX's operators that are accepted.
enum class OpsetMode {
  kKnown,  // those that this tfaot knows
  kAny,    // newer ones too, read as the newest that it knows
};
template <>
inline constexpr auto kWords<OpsetMode> =
    std::to_array<Word<OpsetMode>>({{OpsetMode::kKnown, "known"}, {OpsetMode::kAny, "any"}});

// What the generated headers need to compile.
enum class HeadersMode {
  kSelfContained,  // the package alone
  kCmssw,          // CMSSW's PhysicsTools/TensorFlowAOT and TensorFlow's XlaCompiledCpuFunction
};
template <>
inline constexpr auto kWords<HeadersMode> = std::to_array<Word<HeadersMode>>(
    {{HeadersMode::kSelfContained, "self_contained"}, {HeadersMode::kCmssw, "cmssw"}});

// How the rows of a batch depend on each other.
enum class RowsMode {
  kAlone,    // not at all: any number of rows is composed of compiled sizes
  kCoupled,  // results depend on the other rows: only batches of compiled sizes run
};
template <>
inline constexpr auto kWords<RowsMode> =
    std::to_array<Word<RowsMode>>({{RowsMode::kAlone, "alone"}, {RowsMode::kCoupled, "coupled"}});

// Whether the inputs and outputs have a batch.
enum class BatchMode {
  kFirst,  // it is their first dimension
  kNone,   // no: one run computes whole tensors, and what is called a row is all of a tensor
};
template <>
inline constexpr auto kWords<BatchMode> =
    std::to_array<Word<BatchMode>>({{BatchMode::kFirst, "first"}, {BatchMode::kNone, "none"}});

// An input of a frozen graph; what is left out comes from the graph's placeholder.
struct FrozenInput {
  std::string name;                                    // tensor name "x" or "x:0"
  std::optional<DType> dtype;                          // empty: the placeholder's
  std::optional<std::vector<std::int64_t>> row_shape;  // without the batch dimension, if any
};

// The value of a placeholder that is no input; of an ONNX model: of one of its inputs.
struct ModelConstant {
  std::string name;
  std::vector<std::int64_t> shape = {};  // empty: one value
  std::vector<std::string> values = {};  // row-major: "true", "-3", "0.5", "inf", "nan"
};
// "false", "[[1, 2], [3, 4]]".
std::string value_text(const ModelConstant& constant);

struct ModelSection {
  std::string name;                 // C++ identifier; the class is namespace::name
  std::string version;              // non-empty, [A-Za-z0-9][A-Za-z0-9._+-]*
  std::int64_t record_version = 0;  // as a number (model_record.h); 0: what `version` gives
  ModelFormat format = ModelFormat::kSavedModel;
  std::filesystem::path source;          // the SavedModel's folder, or the model's file; absolute
  std::filesystem::path written_source;  // the same, as written in the config
  std::string serving_key = "serving_default";  // SavedModel only, else empty
  std::vector<FrozenInput> inputs;              // frozen graph only
  std::vector<std::string> outputs;             // frozen graph only: tensor names "y" or "y:0"
  std::vector<DimensionSize> dimensions;        // that the model leaves open
  std::vector<ModelConstant> constants;
  OpsetMode opset = OpsetMode::kKnown;  // ONNX only
  std::string author;
  std::string description;
};

struct CompilationSection {
  BatchMode batch = BatchMode::kFirst;
  std::vector<std::int64_t> batch_sizes;       // positive, distinct, ascending; {1} without a batch
  std::string namespace_name = "tfaot_model";  // "a" or "a::b"
  std::string target_triple = "x86_64-unknown-linux-gnu";
  std::vector<std::string> cpu_levels;  // psABI names, ascending; see cpu_levels.h
  WeightsMode weights = WeightsMode::kShared;
  WeightsType weights_type = WeightsType::kFloat32;
  ComputeType compute = ComputeType::kFloat32;
  Optimization optimize = Optimization::kSpeed;
  HeadersMode headers = HeadersMode::kSelfContained;
  RowsMode rows = RowsMode::kAlone;
  std::vector<FreeDimension> dimensions;  // sorted by name
  std::vector<std::string> tf_xla_flags;
  std::vector<std::string> xla_flags;
};

struct ModelSpec {
  std::filesystem::path config_file;  // absolute; empty: there is none
  ModelSection model;
  CompilationSection compilation;
};

// How a build identifies a model before it is compiled.
struct ModelIdentity {
  std::string name;            // "tagger"
  std::string namespace_name;  // "tfaot_model"
  std::string version;         // "1.0.0"
};

// "tfaot_model::test", the model's C++ class.
inline std::string cpp_class_of(const ModelSpec& spec) {
  return spec.compilation.namespace_name + "::" + spec.model.name;
}

}  // namespace tfaot::toolkit
