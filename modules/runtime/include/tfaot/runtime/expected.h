// SPDX-License-Identifier: Apache-2.0
// Errors as values: what the functions of models.h return.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Why something failed.
struct Failure {
  int status;        ///< a tfaot_status of tfaot.h, never TFAOT_OK
  std::string text;  ///< says what is wrong, and where
};

/// A T, or a Failure: `if (!result) return result.error().text;`, then `*result` and `result->`.
/// Taking the value of a Failure is a mistake of the program, and throws std::logic_error.
template <class T>
class [[nodiscard]] Expected {
 public:
  /// A value.
  Expected(T value) : value_(std::in_place_index<0>, std::move(value)) {}
  /// No value.
  Expected(Failure failure) : value_(std::in_place_index<1>, std::move(failure)) {}

  /// True if there is a value.
  explicit operator bool() const noexcept { return value_.index() == 0; }

  /// The value.
  T& operator*() & { return value(); }
  /// The value.
  const T& operator*() const& { return const_cast<Expected&>(*this).value(); }
  /// The value.
  T&& operator*() && { return std::move(value()); }
  /// The value's members.
  T* operator->() { return &value(); }
  /// The value's members.
  const T* operator->() const { return &const_cast<Expected&>(*this).value(); }

  /// Why there is no value. REQUIRES: there is none.
  const Failure& error() const noexcept { return *std::get_if<1>(&value_); }

 private:
  T& value() {
    if (T* const value = std::get_if<0>(&value_)) return *value;
    throw std::logic_error("a result of tfaot was used without a check: " + error().text);
  }

  std::variant<T, Failure> value_;
};

/// Success, or a Failure.
template <>
class [[nodiscard]] Expected<void> {
 public:
  /// Success.
  Expected() noexcept : failure_{0, {}} {}
  /// Failed.
  Expected(Failure failure) : failure_(std::move(failure)) {}

  /// True for success.
  explicit operator bool() const noexcept { return failure_.status == 0; }
  /// Why it failed. REQUIRES: it did.
  const Failure& error() const noexcept { return failure_; }

 private:
  Failure failure_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
