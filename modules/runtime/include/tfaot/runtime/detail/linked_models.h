// SPDX-License-Identifier: Apache-2.0
// The table of the models in a library of 'tfaot link', which templates/linked_models.s.mustache
// writes: its layout, and that of description.h, is checked in linked_models.cc. Constants; safe
// from many threads.
#pragma once

#include <cstddef>

#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

struct LinkedModels {
  std::size_t count;
  const Description* models;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot

extern "C" TFAOT_HIDDEN const ::tfaot::LinkedModels tfaot_linked_models;
