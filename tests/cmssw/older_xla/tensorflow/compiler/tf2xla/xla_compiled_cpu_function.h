// SPDX-License-Identifier: Apache-2.0
// Stands in for XlaCompiledCpuFunction as TensorFlow 2.12 has it: no shapes, no names by index, and
// results are found in the table of results alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "xla/cpu_function_runtime.h"

namespace tensorflow {

class XlaCompiledCpuFunction {
 public:
  using RawFunction = void (*)(void* result, const void* run_options, const void** args,
                               void** buffers, void* status, std::int64_t* profile_counters);
  using BufferInfo = ::xla::cpu_function_runtime::BufferInfo;
  enum class AllocMode {
    ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS,
    RESULTS_PROFILES_AND_TEMPS_ONLY,
  };

  class StaticData {
   private:
    friend class XlaCompiledCpuFunction;
    RawFunction raw_function = nullptr;
    const BufferInfo* buffer_infos = nullptr;
    std::size_t num_buffers = 0;
    const std::int32_t* arg_index_table = nullptr;
    std::int64_t num_args = 0;
    std::int64_t num_variables = 0;
    std::size_t result_index = 0;
    const char** arg_names = nullptr;
    const char** variable_names = nullptr;
    const char** result_names = nullptr;
  };

  explicit XlaCompiledCpuFunction(
      const StaticData& data, AllocMode mode = AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS)
      : data_(data), table_(data.num_buffers, nullptr) {
    const bool with_arguments = mode == AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS;
    for (std::size_t i = 0; i < data.num_buffers; ++i) {
      const BufferInfo& info = data.buffer_infos[i];
      if (!info.is_temp_buffer() && !(info.is_entry_parameter() && with_arguments)) continue;
      memory_.emplace_back(::operator new(info.size(), kAlign));
      table_[i] = memory_.back().get();
    }
  }
  XlaCompiledCpuFunction(const XlaCompiledCpuFunction&) = delete;
  XlaCompiledCpuFunction& operator=(const XlaCompiledCpuFunction&) = delete;
  virtual ~XlaCompiledCpuFunction() = default;

  bool Run() {
    data_.raw_function(table_[data_.result_index], nullptr, nullptr, table_.data(), nullptr,
                       nullptr);
    return true;
  }

  int num_args() const { return static_cast<int>(data_.num_args); }
  int num_variables() const { return static_cast<int>(data_.num_variables); }
  int arg_size(std::size_t index) const {
    return static_cast<int>(data_.buffer_infos[slot(index)].size());
  }
  void* arg_data(std::size_t index) { return table_[slot(index)]; }
  const void* arg_data(std::size_t index) const { return table_[slot(index)]; }
  void set_arg_data(std::size_t index, const void* data) {
    table_[slot(index)] = const_cast<void*>(data);
  }
  void** results() { return static_cast<void**>(table_[data_.result_index]); }
  const void* const* results() const {
    return static_cast<const void* const*>(table_[data_.result_index]);
  }
  void* result_data(std::size_t index) { return results()[index]; }
  const void* result_data(std::size_t index) const { return results()[index]; }

  bool HasNameIndices() const {
    return data_.arg_names != nullptr && data_.variable_names != nullptr &&
           data_.result_names != nullptr;
  }
  int LookupArgIndex(const std::string& name) const { return index_of(data_.arg_names, name); }
  int LookupResultIndex(const std::string& name) const {
    return index_of(data_.result_names, name);
  }

 protected:
  static void set_static_data_raw_function(StaticData* data, RawFunction function) {
    data->raw_function = function;
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
  static void set_static_data_num_args(StaticData* data, std::int64_t count) {
    data->num_args = count;
  }
  static void set_static_data_num_variables(StaticData* data, std::int64_t count) {
    data->num_variables = count;
  }
  static void set_static_data_result_index(StaticData* data, std::size_t index) {
    data->result_index = index;
  }
  static void set_static_data_arg_names(StaticData* data, const char** names) {
    data->arg_names = names;
  }
  static void set_static_data_variable_names(StaticData* data, const char** names) {
    data->variable_names = names;
  }
  static void set_static_data_result_names(StaticData* data, const char** names) {
    data->result_names = names;
  }

 private:
  static constexpr std::align_val_t kAlign{64};
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, kAlign); }
  };

  std::size_t slot(std::size_t index) const {
    return static_cast<std::size_t>(data_.arg_index_table[index]);
  }
  static int index_of(const char** names, const std::string& name) {
    for (int i = 0; names[i] != nullptr; ++i) {
      if (name == names[i]) return i;
    }
    return -1;
  }

  StaticData data_;
  std::vector<void*> table_;
  std::vector<std::unique_ptr<void, Free>> memory_;
};

}  // namespace tensorflow
