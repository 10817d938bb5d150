// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/one_user.h"

#include <string>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

void run_while_running(const char* model) {
  throw Error(Category::kConcurrentUse,
              std::string("model '") + model +
                  "' is already running, perhaps in another thread; make one model per thread: "
                  "models share code and weights");
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
