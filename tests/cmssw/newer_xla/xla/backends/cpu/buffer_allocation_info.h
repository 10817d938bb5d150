// SPDX-License-Identifier: Apache-2.0
// Stands in for what TensorFlow 2.21 says of a buffer.
#pragma once

#include <cstdint>

namespace xla::cpu {

class BufferAllocationInfo {
 public:
  static BufferAllocationInfo Temp(std::uint64_t size) { return {Kind::kTemp, size}; }
  static BufferAllocationInfo Constant(std::uint64_t size) { return {Kind::kConstant, size}; }
  static BufferAllocationInfo EntryParameter(std::uint64_t size, std::int32_t /*number*/) {
    return {Kind::kParameter, size};
  }
  bool is_temp() const { return kind_ == Kind::kTemp; }
  bool is_entry_parameter() const { return kind_ == Kind::kParameter; }
  std::uint64_t size() const { return size_; }

 private:
  enum class Kind { kConstant, kTemp, kParameter };
  BufferAllocationInfo(Kind kind, std::uint64_t size) : kind_(kind), size_(size) {}
  Kind kind_;
  std::uint64_t size_;
};

}  // namespace xla::cpu
