// SPDX-License-Identifier: Apache-2.0
// Stands in for XlaCompiledCpuFunction as TensorFlow 2.21 has it: it is given what it runs, its
// buffers are another class, and each result has a buffer of its own. What users of our classes do
// not call is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "xla/backends/cpu/buffer_allocation_info.h"

namespace xla {
class ExecutableRunOptions;
namespace cpu {
struct RngState {};
}  // namespace cpu
}  // namespace xla

namespace tensorflow {

class XlaCompiledCpuFunction {
 public:
  using BufferInfo = ::xla::cpu::BufferAllocationInfo;
  using RandomNumbers = std::vector<std::unique_ptr<::xla::cpu::RngState>>;
  using RunImpl = std::function<bool(void**, ::xla::ExecutableRunOptions*, RandomNumbers&)>;
  struct ShapeInfo {
    const std::int32_t* dimensions = nullptr;
    std::int32_t num_dimensions = 0;
  };
  enum class AllocMode {
    ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS,
    RESULTS_PROFILES_AND_TEMPS_ONLY,
  };

  class StaticData {
   private:
    friend class XlaCompiledCpuFunction;
    RunImpl run_impl = nullptr;
    const BufferInfo* buffer_infos = nullptr;
    std::size_t num_buffers = 0;
    const std::int32_t* arg_index_table = nullptr;
    const std::int32_t* result_index_table = nullptr;
  };

  explicit XlaCompiledCpuFunction(
      const StaticData& data, AllocMode mode = AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS)
      : data_(data), table_(data.num_buffers, nullptr) {
    const bool with_arguments = mode == AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS;
    for (std::size_t i = 0; i < data.num_buffers; ++i) {
      const BufferInfo& info = data.buffer_infos[i];
      if (!info.is_temp() && !(info.is_entry_parameter() && with_arguments)) continue;
      memory_.emplace_back(::operator new(info.size(), kAlign));
      table_[i] = memory_.back().get();
    }
  }
  XlaCompiledCpuFunction(const XlaCompiledCpuFunction&) = delete;
  XlaCompiledCpuFunction& operator=(const XlaCompiledCpuFunction&) = delete;
  virtual ~XlaCompiledCpuFunction() = default;

  virtual bool Run() { return data_.run_impl(table_.data(), nullptr, random_numbers_); }

  void* arg_data(std::size_t index) { return table_[slot(index)]; }
  const void* arg_data(std::size_t index) const { return table_[slot(index)]; }
  void set_arg_data(std::size_t index, const void* data) {
    table_[slot(index)] = const_cast<void*>(data);
  }
  void* result_data(std::size_t index) { return table_[result_slot(index)]; }
  const void* result_data(std::size_t index) const { return table_[result_slot(index)]; }

 protected:
  static void set_static_data_thunk_run_impl(StaticData* data, RunImpl run) {
    data->run_impl = std::move(run);
  }
  static void set_static_data_buffer_infos(StaticData* data, const BufferInfo* infos) {
    data->buffer_infos = infos;
  }
  static void set_static_data_num_buffers(StaticData* data, std::size_t count) {
    data->num_buffers = count;
  }
  static void set_static_data_arg_index_table(StaticData* data, const std::int32_t* table) {
    data->arg_index_table = table;
  }
  static void set_static_data_num_args(StaticData*, std::int64_t) {}
  static void set_static_data_num_variables(StaticData*, std::int64_t) {}
  static void set_static_data_result_index(StaticData*, std::size_t) {}
  static void set_static_data_result_index_table(StaticData* data, const std::int32_t* table) {
    data->result_index_table = table;
  }
  static void set_static_data_num_results(StaticData*, std::int64_t) {}
  static void set_static_data_arg_shape_infos(StaticData*, const ShapeInfo*) {}
  static void set_static_data_result_shape_infos(StaticData*, const ShapeInfo*) {}
  static void set_static_data_arg_names(StaticData*, const char**) {}
  static void set_static_data_variable_names(StaticData*, const char**) {}
  static void set_static_data_result_names(StaticData*, const char**) {}

 private:
  static constexpr std::align_val_t kAlign{64};
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, kAlign); }
  };

  std::size_t slot(std::size_t index) const {
    return static_cast<std::size_t>(data_.arg_index_table[index]);
  }
  std::size_t result_slot(std::size_t index) const {
    return static_cast<std::size_t>(data_.result_index_table[index]);
  }

  StaticData data_;
  RandomNumbers random_numbers_;
  std::vector<void*> table_;
  std::vector<std::unique_ptr<void, Free>> memory_;
};

}  // namespace tensorflow
