// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/plain_loops.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "xla/service/algebraic_simplifier.h"

namespace tfaot::toolkit::engine {
namespace {

using tfaot::toolkit::testing::parse_hlo;

// The module after XLA's simplifier, as in its CPU compiler, in a compilation of plain loops or
// not.
std::string simplified(const std::string& operations, bool is_plain) {
  const auto module = parse_hlo(
      "ENTRY e {\n  a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n" + operations + "}\n");
  std::optional<PlainLoops> plain;
  if (is_plain) plain.emplace("generic");
  xla::AlgebraicSimplifierOptions options;
  xla::AlgebraicSimplifier simplifier(options);
  EXPECT_TRUE(simplifier.Run(module.get(), {}).ok());
  return module->ToString(xla::HloPrintOptions::ShortParsable());
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

// Whether two operations are neighbours may depend on the batch.
TEST(PlainLoops, KeepTheArithmeticOfTheModel) {
  const std::string quotients = "  ab = f32[4] divide(a, b)\n  ROOT r = f32[4] divide(ab, a)\n";
  EXPECT_EQ(count(simplified(quotients, false), "divide("), 1U);
  EXPECT_EQ(count(simplified(quotients, true), "divide("), 2U);
  const std::string products =
      "  c = f32[] constant(3)\n  d = f32[4] broadcast(c), dimensions={}\n"
      "  ab = f32[4] multiply(a, d)\n  ROOT r = f32[4] multiply(ab, d)\n";
  EXPECT_EQ(count(simplified(products, true), "multiply("), 2U);
}

TEST(PlainLoops, LeaveOutWhatChangesNoNumber) {
  const std::string sum =
      "  c = f32[] constant(0)\n  d = f32[4] broadcast(c), dimensions={}\n"
      "  ab = f32[4] add(a, b)\n  ROOT r = f32[4] add(ab, d)\n";
  EXPECT_EQ(count(simplified(sum, true), "add("), 1U);
  // One operation, whatever is around it.
  const std::string third =
      "  c = f32[] constant(3)\n  d = f32[4] broadcast(c), dimensions={}\n"
      "  ROOT r = f32[4] divide(a, d)\n";
  EXPECT_EQ(count(simplified(third, true), "divide("), 0U);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
