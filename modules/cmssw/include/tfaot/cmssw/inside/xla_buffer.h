// SPDX-License-Identifier: Apache-2.0
// The class of TensorFlow that describes a buffer to XlaCompiledCpuFunction. It has one name and
// one set of functions up to TensorFlow 2.20, and others from 2.21 on.
#pragma once

#include <cstdint>

#include "tensorflow/compiler/tf2xla/xla_compiled_cpu_function.h"

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// Finds the class by the function that takes it, and makes objects of it. The overload with `int`
// is for TensorFlow 2.21, the other one for older versions; the last argument is 0.
class XlaBufferInfo : private ::tensorflow::XlaCompiledCpuFunction {
  template <class Info>
  static Info taken_by(void (*)(StaticData*, const Info*));

 public:
  using Type = decltype(taken_by(&XlaCompiledCpuFunction::set_static_data_buffer_infos));

  template <class Info>
  static auto temporary(std::uint64_t size, int) -> decltype(Info::Temp(size)) {
    return Info::Temp(size);
  }
  template <class Info>
  static Info temporary(std::uint64_t size, long) {
    return Info::MakeTempBuffer(size);
  }

  template <class Info>
  static auto parameter(std::uint64_t size, std::uint32_t number, int)
      -> decltype(Info::EntryParameter(size, static_cast<std::int32_t>(number))) {
    return Info::EntryParameter(size, static_cast<std::int32_t>(number));
  }
  template <class Info>
  static Info parameter(std::uint64_t size, std::uint32_t number, long) {
    return Info::MakeEntryParameter(size, number);
  }

  template <class Info>
  static auto constant(std::uint64_t size, int) -> decltype(Info::Constant(size)) {
    return Info::Constant(size);
  }
  template <class Info>
  static Info constant(std::uint64_t size, long) {
    return Info::MakeConstant(size);
  }
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
