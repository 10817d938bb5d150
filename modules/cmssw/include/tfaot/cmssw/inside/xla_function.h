// SPDX-License-Identifier: Apache-2.0
// A model's code as TensorFlow's XlaCompiledCpuFunction, which CMSSW's PhysicsTools/TensorFlowAOT
// runs: the base of the classes in NAME_bsN.h of packages with `headers: cmssw`. Needs TensorFlow's
// headers and runtime (CMSSW's tool tensorflow-xla-runtime). Takes kernels and the choice of the
// CPU level from libtfaot_runtime.a. Everything is inline and lazy. Must not be used with
// tfaot/runtime/model.h in one source file: both define tfaot::Model and tfaot::Wrapper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/compiler/tf2xla/xla_compiled_cpu_function.h"

#include "tfaot/cmssw/inside/xla_tables.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// The DType of T, whichever of C++'s names it has: int64_t as well as long long.
template <class T>
constexpr DType element_type() {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using Signed = std::conditional_t<
        sizeof(T) == 1, std::int8_t,
        std::conditional_t<sizeof(T) == 2, std::int16_t,
                           std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;
    return kDTypeOf<std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>>;
  } else {
    return kDTypeOf<T>;
  }
}

/// A model's code for one batch size as TensorFlow's XlaCompiledCpuFunction. One object is for one
/// thread at a time. It has memory of its own for inputs, outputs and temporaries; code, weights
/// and tables are shared.
class XlaFunction : public ::tensorflow::XlaCompiledCpuFunction {
 public:
  /// The CPU level in use, "x86-64-v3".
  const char* cpu_level() const { return cpu_level_; }

  /// Like TensorFlow's, which is virtual from 2.20 on. Treats denormal numbers as zero, as tfaot's
  /// own models do.
  bool Run() {
    const detail::FloatScope scope(denormals_);
    return XlaCompiledCpuFunction::Run();
  }

 protected:
  /// `tables` must outlive the function. Throws Error (UnsupportedCpu).
  XlaFunction(const XlaTables& tables, AllocMode mode)
      : XlaFunction(tables, copy_of(tables.argument_slots()), mode) {}

  /// The data for TensorFlow's base class.
  static StaticData static_data(const XlaTables& tables, const std::int32_t* argument_slots) {
    StaticData data;
    set_code<XlaFunction>(&data, tables, 0);
    set_static_data_buffer_infos(&data, tables.buffers().data());
    set_static_data_num_buffers(&data, tables.buffers().size());
    set_static_data_arg_index_table(&data, argument_slots);
    set_static_data_num_args(&data, static_cast<std::int64_t>(tables.argument_slots().size()));
    set_static_data_num_variables(&data, 0);
    set_static_data_result_index(&data, tables.code().result_slot);
    set_result_slots<XlaFunction>(&data, tables, 0);
    set_shapes<XlaFunction>(&data, tables, 0);
    set_static_data_arg_names(&data, tables.arguments().names());
    set_static_data_variable_names(&data, no_names());
    set_static_data_result_names(&data, tables.results().names());
    return data;
  }

 private:
  using Slots = std::unique_ptr<std::int32_t[]>;

  XlaFunction(const XlaTables& tables, Slots slots, AllocMode mode)
      : XlaCompiledCpuFunction(static_data(tables, slots.get()), mode),
        argument_slots_(std::move(slots)),
        cpu_level_(tables.code().cpu_level),
        denormals_(tables.denormals()) {
    // The base can only set arguments, so each weight is argument 0 for a moment. REQUIRES: the
    // model has an argument, as every model does.
    for (const XlaTables::Weight& weight : tables.weights()) {
      argument_slots_[0] = weight.slot;
      set_arg_data(0, weight.data);
    }
    argument_slots_[0] = tables.argument_slots()[0];
  }

  static Slots copy_of(const std::vector<std::int32_t>& slots) {
    Slots copy(new std::int32_t[slots.size()]);
    for (std::size_t i = 0; i < slots.size(); ++i) copy[i] = slots[i];
    return copy;
  }

  TFAOT_HIDDEN static const char** no_names() {
    static const char* names[] = {nullptr};
    return names;
  }

  // From TensorFlow 2.20 on, the base calls any function object. 2.20 still takes plain functions
  // too, but passes the memory of a result where our code writes the table of results.
  template <class Function>
  static auto set_code(StaticData* data, const XlaTables& tables, int)
      -> decltype(Function::set_static_data_thunk_run_impl(data, nullptr)) {
    const auto entry = tables.code().entry;
    const auto table = tables.code().result_slot;
    Function::set_static_data_thunk_run_impl(
        data, [entry, table](void** buffers, auto&&... /*options, random numbers*/) {
          entry(buffers[table], nullptr, nullptr, buffers, nullptr, nullptr);
          return true;
        });
  }
  // Up to 2.19. TensorFlow's type of the function differs only in name: it spells out the structs
  // that the pointers lead to.
  template <class Function>
  static void set_code(StaticData* data, const XlaTables& tables, long) {
    Function::set_static_data_raw_function(
        data, reinterpret_cast<typename Function::RawFunction>(tables.code().entry));
  }

  // The second overload is for older TensorFlow versions, such as 2.12, which do not have this.
  template <class Function>
  static auto set_result_slots(StaticData* data, const XlaTables& tables, int)
      -> decltype(Function::set_static_data_result_index_table(data,
                                                               tables.result_slots().data())) {
    Function::set_static_data_result_index_table(data, tables.result_slots().data());
    Function::set_static_data_num_results(data,
                                          static_cast<std::int64_t>(tables.result_slots().size()));
  }
  template <class Function>
  static void set_result_slots(StaticData*, const XlaTables&, long) {}

  template <class Function>
  static auto set_shapes(StaticData* data, const XlaTables& tables, int)
      -> decltype(Function::set_static_data_arg_shape_infos(data, tables.arguments().shapes())) {
    Function::set_static_data_arg_shape_infos(data, tables.arguments().shapes());
    Function::set_static_data_result_shape_infos(data, tables.results().shapes());
  }
  template <class Function>
  static void set_shapes(StaticData*, const XlaTables&, long) {}

  Slots argument_slots_;  // only for this object: changes during construction
  const char* cpu_level_;
  detail::Denormals denormals_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
