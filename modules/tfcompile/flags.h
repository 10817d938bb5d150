// SPDX-License-Identifier: Apache-2.0
// The command line of tfaot-tfcompile: tfcompile's flags, as scram's rule writes them, and three of
// ours. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/workflow/tfcompile.h"

namespace tfaot::toolkit {

// Paths are as the user wrote them.
struct TfcompileFlags : TfcompileRequest {
  bool help = false;
  bool version = false;
};

Result<TfcompileFlags> parse_tfcompile_flags(const std::vector<std::string>& arguments);

std::string tfcompile_usage();

// Reads lines "# tfaot: batch_sizes=1,4 cpu_levels=x86-64-v3 fixed_shapes" of a config, for values
// that the command line does not give. `file` is for messages.
Status read_tfcompile_comments(const std::string& text, const std::string& file,
                               TfcompileFlags& flags);

// "x86_64-unknown-linux-gnu" for "x86_64-linux-gnu", which g++ -dumpmachine prints on Debian.
std::string full_triple(const std::string& triple);

}  // namespace tfaot::toolkit
