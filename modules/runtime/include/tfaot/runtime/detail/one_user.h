// SPDX-License-Identifier: Apache-2.0
// Detects that a model is run while it is already running: by two threads at once, or by a function
// that it calls. Costs less than a nanosecond, because no thread waits for another. Two calls that
// begin at exactly the same moment are detected when the first one ends.
#pragma once

#include <atomic>

#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// A member of the model. Moving a model does not move its user.
class OneUser {
 public:
  OneUser() = default;
  OneUser(OneUser&&) noexcept {}
  OneUser& operator=(OneUser&&) noexcept { return *this; }

  // One call: constructed at its start, checked before and after it runs.
  class Call {
   public:
    explicit Call(OneUser& owner) noexcept : user_(owner.user_) {
      if (user_.load(std::memory_order_relaxed) == nullptr) {
        user_.store(this, std::memory_order_relaxed);
      }
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() {
      if (alone()) user_.store(nullptr, std::memory_order_relaxed);
    }
    bool alone() const noexcept { return user_.load(std::memory_order_relaxed) == this; }

   private:
    std::atomic<const Call*>& user_;
  };

 private:
  std::atomic<const Call*> user_{nullptr};
};

namespace detail {

// Throws Error (ConcurrentUse).
[[noreturn]] void run_while_running(const char* model);
inline void check_alone(const OneUser::Call& call, const char* model) {
  if (!call.alone()) run_while_running(model);
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
