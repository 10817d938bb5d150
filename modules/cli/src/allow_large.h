// SPDX-License-Identifier: Apache-2.0
// --allow-large, of the verbs that unpack an archive.
#pragma once

#include <CLI/CLI.hpp>

namespace tfaot::toolkit {

void add_allow_large(CLI::App& app, bool& allow_large);

}  // namespace tfaot::toolkit
