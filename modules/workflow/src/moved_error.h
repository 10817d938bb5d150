// SPDX-License-Identifier: Apache-2.0
// An error at another place: that which the user knows. Pure function.
#pragma once

#include <utility>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

inline Error moved_to(Location where, const Error& error) {
  Error moved = Error::at(std::move(where), error.message());
  for (const std::string& note : error.notes()) moved.note(note);
  return moved;
}

}  // namespace tfaot::toolkit
