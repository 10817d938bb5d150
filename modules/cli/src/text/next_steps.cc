// SPDX-License-Identifier: Apache-2.0
#include "text/next_steps.h"

#include <fmt/format.h>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kHint = R"(
  Does your code include PhysicsTools/TensorFlowAOT/interface/*.h of CMSSW? Then compile
  the model with --headers cmssw.
)";

}  // namespace

std::string next_steps_text(const NextSteps& steps) {
  return fmt::format(R"(
{:-<80}

successfully AOT compiled model '{}' for batch sizes: {}

  1. register it and its runtime to scram:
     > scram setup {}
     > scram setup {}

  2. 'use' the tool at the top of your BuildFile.xml:
{}     <use name="{}"/>

  3. include the following header in your code:
     #include "{}/model.h"

  4. create an AOT model instance via:
     auto model = tfaot::Model<{}>();
{}
)",
                     "", steps.model_name, fmt::join(steps.batch_sizes, ","),
                     shell_quoted(steps.runtime_tool_file), shell_quoted(steps.tool_file),
                     steps.uses_cmssw ? "     <use name=\"PhysicsTools/TensorFlowAOT\"/>\n" : "",
                     steps.tool_name, steps.tool_name, steps.cpp_class,
                     steps.is_in_cmssw && !steps.uses_cmssw ? kHint : "");
}

}  // namespace tfaot::toolkit
