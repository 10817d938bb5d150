// SPDX-License-Identifier: Apache-2.0
// Lets the CPU treat denormal numbers (below the smallest normal one) as zero. Otherwise an
// instruction with one takes a hundred times as long on most CPUs. The setting is the calling
// thread's: bits of MXCSR on x86-64, of FPCR on aarch64.
#pragma once

#include <cstdint>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

// The treatment of denormal numbers.
enum class Denormals : bool { kKept, kZero };

// Sets this thread to kZero while the object lives, unless told to keep the setting. Its end
// restores everything, including the flags of exceptions.
class DenormalScope {
 public:
  explicit DenormalScope(Denormals denormals) noexcept {
    if (denormals == Denormals::kKept) return;
    before_ = word();
    is_set_ = (before_ & kZeroBits) != kZeroBits;
    if (is_set_) set_word(before_ | kZeroBits);
  }
  DenormalScope(const DenormalScope&) = delete;
  DenormalScope& operator=(const DenormalScope&) = delete;
  ~DenormalScope() {
    if (is_set_) set_word(before_);
  }

  // The setting of this thread, for other threads that share its work.
  static Denormals of_this_thread() noexcept {
    return (word() & kZeroBits) == kZeroBits ? Denormals::kZero : Denormals::kKept;
  }

 private:
#if defined(__x86_64__)
  using Word = std::uint32_t;
  static constexpr Word kZeroBits = 0x8040;  // of results, and of operands
  static Word word() noexcept {
    Word value;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
  }
  static void set_word(Word value) noexcept {
    asm volatile("ldmxcsr %0" : : "m"(value) : "memory");
  }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word kZeroBits = 1U << 24;
  static Word word() noexcept {
    Word value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_word(Word value) noexcept {
    asm volatile("msr fpcr, %0" : : "r"(value) : "memory");
  }
#else
  using Word = std::uint32_t;
  static constexpr Word kZeroBits = 1;
  static Word word() noexcept { return kZeroBits; }
  static void set_word(Word) noexcept {}
#endif

  Word before_ = 0;
  bool is_set_ = false;
};

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
