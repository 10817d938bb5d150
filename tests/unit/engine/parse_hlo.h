// SPDX-License-Identifier: Apache-2.0
// Modules for tests, from text in XLA's printed form.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/hlo_parser.h"

namespace tfaot::toolkit::testing {

// `text`: the computations. If they are wrong, returns a module without any, which fails the test.
inline std::unique_ptr<xla::HloModule> parse_hlo(const std::string& text) {
  auto module = xla::ParseAndReturnUnverifiedModule("HloModule m\n" + text, true);
  if (module.ok()) return std::move(*module);
  ADD_FAILURE() << module.status().message() << "\n" << text;
  return std::make_unique<xla::HloModule>("wrong", xla::HloModuleConfig());
}

}  // namespace tfaot::toolkit::testing
