// SPDX-License-Identifier: Apache-2.0
// The arithmetic of floating-point numbers in this thread while a model runs: rounding to nearest,
// no traps, and denormal numbers (below the smallest normal one) as zero or kept. Nothing of it
// depends on what the caller has set, so a row has the same bits for every caller. Denormal numbers
// count as zero because an instruction with one takes a hundred times as long on most CPUs.
#pragma once

#include <cstdint>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

// The treatment of denormal numbers.
enum class Denormals : bool { kKept, kZero };

// Sets this thread while the object lives. Its end restores the caller's settings and flags of
// exceptions: MXCSR on x86-64, FPCR and FPSR on aarch64. Always both ways: comparing first takes
// longer.
class FloatScope {
 public:
  explicit FloatScope(Denormals denormals) noexcept : control_(control()), flags_(flags()) {
    set_control(denormals == Denormals::kZero ? kPlain | kZeroBits : kPlain);
  }
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;
  ~FloatScope() {
    set_control(control_);
    set_flags(flags_);
  }

  // The setting of this thread, for other threads that share its work.
  static Denormals of_this_thread() noexcept {
    return (control() & kZeroBits) == kZeroBits ? Denormals::kZero : Denormals::kKept;
  }

 private:
#if defined(__x86_64__)
  using Word = std::uint32_t;
  static constexpr Word kPlain = 0x1f80;     // all exceptions are masked
  static constexpr Word kZeroBits = 0x8040;  // of results, and of operands
  static Word control() noexcept {
    Word value;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
  }
  static void set_control(Word value) noexcept {
    asm volatile("ldmxcsr %0" : : "m"(value) : "memory");
  }
  static Word flags() noexcept { return 0; }  // MXCSR has them too
  static void set_flags(Word) noexcept {}
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word kPlain = 0;
  static constexpr Word kZeroBits = 1U << 24;
  static Word control() noexcept {
    Word value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(Word value) noexcept {
    asm volatile("msr fpcr, %0" : : "r"(value) : "memory");
  }
  static Word flags() noexcept {
    Word value;
    asm volatile("mrs %0, fpsr" : "=r"(value));
    return value;
  }
  static void set_flags(Word value) noexcept {
    asm volatile("msr fpsr, %0" : : "r"(value) : "memory");
  }
#else
  using Word = std::uint32_t;
  static constexpr Word kPlain = 0;
  static constexpr Word kZeroBits = 1;
  static Word control() noexcept { return kZeroBits; }
  static void set_control(Word) noexcept {}
  static Word flags() noexcept { return 0; }
  static void set_flags(Word) noexcept {}
#endif

  Word control_;
  Word flags_;
};

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
