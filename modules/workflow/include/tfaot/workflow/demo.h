// SPDX-License-Identifier: Apache-2.0
// The quick start with a model that comes with the toolkit: what `tfaot demo` does. The commands
// are in examples/demo.sh.
#pragma once

#include <functional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What the script prints, line by line: commands and their results; and what these say beside
/// their results, such as progress.
struct DemoListener {
  std::function<void(const std::string&)> on_line;
  std::function<void(const std::string&)> on_detail;
};

/// `folder`: absolute. Error: it exists and is not empty, and nothing is changed; or a command
/// failed, and the folder stays for the user to look at.
Status run_demo(const Context& context, const Path& folder, const DemoListener& listener);

}  // namespace tfaot::toolkit
