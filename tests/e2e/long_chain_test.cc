// SPDX-License-Identifier: Apache-2.0
// A chain of very many operations compiles: XLA follows it by recursion.
#include <fmt/format.h>

#include "shell_with_tool.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

class LongChainTest : public ToolTest {};

TEST_F(LongChainTest, CompilesWithALittleStack) {
  constexpr int kLength = 1000;
  std::string graph =
      "node { name: 'n0' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }"
      " attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 4 } } } } }\n";
  for (int i = 1; i <= kLength; ++i) {
    graph += fmt::format(
        "node {{ name: 'n{}' op: '{}' input: 'n{}' attr {{ key: 'T' value {{ type: DT_FLOAT }} }} "
        "}}\n",
        i, i % 2 == 0 ? "Neg" : "Sqrt", i - 1);
  }
  ASSERT_TRUE(
      files_.replace_atomically(root_ / "graph.pbtxt", graph + "versions { producer: 1882 }"));
  ASSERT_TRUE(files_.replace_atomically(
      root_ / "config.yaml",
      fmt::format("model: {{name: chain, version: '1', format: frozen_graph, frozen_graph: "
                  "graph.pbtxt, inputs: [n0], outputs: [n{}]}}\n"
                  "compilation: {{batch_sizes: [2], cpu_levels: [x86-64]}}\n",
                  kLength)));
  // In kB; the usual 8,192 end at a chain of 20,000, which takes minutes.
  const auto result = run_process(shell_with_tool(
      root_, "ulimit -S -s 1024; exec tfaot compile -c config.yaml -o out --no-cache -q"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->ok()) << result->standard_error;
}

}  // namespace
}  // namespace tfaot::toolkit::testing
