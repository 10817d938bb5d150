// SPDX-License-Identifier: Apache-2.0
// Which room may include what. The table is in include_rules.cc.
#pragma once

#include "tests/architecture/source_tree.h"

namespace tfaot::toolkit::architecture {

// Checks every #include of modules/ (other rooms' headers, libraries, system headers, private
// headers), and that the rooms of the tree are those of the table.
Violations check_includes(const SourceTree& tree);

}  // namespace tfaot::toolkit::architecture
