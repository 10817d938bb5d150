// SPDX-License-Identifier: Apache-2.0
// The whole text of the tfaot::Error that a statement throws.
#pragma once

#include <string>

#include "tfaot/runtime/error.h"

namespace tfaot_test {

template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const tfaot::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tfaot_test
