// Made by tfaot from model TagNet, version 2024a. Do not edit.
// cms::models::TagNet for batch size 8 as TensorFlow's XlaCompiledCpuFunction. Include model.h instead: it offers the model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/cmssw/inside/xla_function.h"

#include "TagNet_tables.h"

namespace cms::models {
inline namespace build_6fbae5eab943d672 {

class TagNet_bs8 final : public ::tfaot::XlaFunction {
 public:
  TFAOT_HIDDEN static constexpr ::std::size_t kNumArgs = 3;
  TFAOT_HIDDEN static constexpr ::std::size_t kNumResults = 3;
  TFAOT_HIDDEN static constexpr ::std::size_t kNumVariables = 0;

  // Bytes of an input.
  static ::std::int64_t ArgSize(::std::size_t index) { return tables().argument_bytes(index); }

  // Throws tfaot::Error (UnsupportedCpu).
  explicit TagNet_bs8(AllocMode alloc_mode = AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS)
      : ::tfaot::XlaFunction(tables(), alloc_mode) {}
  TagNet_bs8(const TagNet_bs8&) = delete;
  TagNet_bs8& operator=(const TagNet_bs8&) = delete;

  // Inputs and outputs by position, row-major. Indices are not checked.
  void set_arg0_data(const void* data) { set_arg_data(0, data); }
  float* arg0_data() { return static_cast<float*>(arg_data(0)); }
  const float* arg0_data() const { return static_cast<const float*>(arg_data(0)); }
  float& arg0(::std::size_t dim0, ::std::size_t dim1, ::std::size_t dim2, ::std::size_t dim3) { return arg0_data()[((dim0 * 28 + dim1) * 28 + dim2) * 3 + dim3]; }
  const float& arg0(::std::size_t dim0, ::std::size_t dim1, ::std::size_t dim2, ::std::size_t dim3) const { return arg0_data()[((dim0 * 28 + dim1) * 28 + dim2) * 3 + dim3]; }
  int arg0_size() const { return 18816 * sizeof(float); }
  int arg0_count() const { return 18816; }

  void set_arg1_data(const void* data) { set_arg_data(1, data); }
  bool* arg1_data() { return static_cast<bool*>(arg_data(1)); }
  const bool* arg1_data() const { return static_cast<const bool*>(arg_data(1)); }
  bool& arg1(::std::size_t dim0, ::std::size_t dim1) { return arg1_data()[dim0 * 5 + dim1]; }
  const bool& arg1(::std::size_t dim0, ::std::size_t dim1) const { return arg1_data()[dim0 * 5 + dim1]; }
  int arg1_size() const { return 40 * sizeof(bool); }
  int arg1_count() const { return 40; }

  void set_arg2_data(const void* data) { set_arg_data(2, data); }
  double* arg2_data() { return static_cast<double*>(arg_data(2)); }
  const double* arg2_data() const { return static_cast<const double*>(arg_data(2)); }
  double& arg2(::std::size_t dim0) { return arg2_data()[dim0]; }
  const double& arg2(::std::size_t dim0) const { return arg2_data()[dim0]; }
  int arg2_size() const { return 8 * sizeof(double); }
  int arg2_count() const { return 8; }

  std::int64_t* result0_data() { return static_cast<std::int64_t*>(result_data(0)); }
  const std::int64_t* result0_data() const { return static_cast<const std::int64_t*>(result_data(0)); }
  std::int64_t& result0(::std::size_t dim0) { return result0_data()[dim0]; }
  const std::int64_t& result0(::std::size_t dim0) const { return result0_data()[dim0]; }
  int result0_size() const { return 8 * sizeof(std::int64_t); }
  int result0_count() const { return 8; }

  std::int32_t* result1_data() { return static_cast<std::int32_t*>(result_data(1)); }
  const std::int32_t* result1_data() const { return static_cast<const std::int32_t*>(result_data(1)); }
  std::int32_t& result1(::std::size_t dim0, ::std::size_t dim1, ::std::size_t dim2) { return result1_data()[(dim0 * 2 + dim1) * 3 + dim2]; }
  const std::int32_t& result1(::std::size_t dim0, ::std::size_t dim1, ::std::size_t dim2) const { return result1_data()[(dim0 * 2 + dim1) * 3 + dim2]; }
  int result1_size() const { return 48 * sizeof(std::int32_t); }
  int result1_count() const { return 48; }

  bool* result2_data() { return static_cast<bool*>(result_data(2)); }
  const bool* result2_data() const { return static_cast<const bool*>(result_data(2)); }
  bool& result2(::std::size_t dim0) { return result2_data()[dim0]; }
  const bool& result2(::std::size_t dim0) const { return result2_data()[dim0]; }
  int result2_size() const { return 8 * sizeof(bool); }
  int result2_count() const { return 8; }

 private:
  TFAOT_HIDDEN static const ::tfaot::XlaTables& tables() {
    static const ::tfaot::XlaTables kTables(TagNet_tables::description(), TagNet_bs8_tables::kProgram);
    return kTables;
  }
};

}  // namespace build_6fbae5eab943d672
}  // namespace cms::models
