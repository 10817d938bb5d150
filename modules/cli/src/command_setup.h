// SPDX-License-Identifier: Apache-2.0
// `tfaot setup`: the TensorFlow that the engine needs, into the user's cache.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_setup(CLI::App& app);

}  // namespace tfaot::toolkit
