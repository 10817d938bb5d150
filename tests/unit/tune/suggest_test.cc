// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/suggest.h"

#include <gtest/gtest.h>

#include "size_costs.h"

namespace tfaot::toolkit {
namespace {

using Sizes = std::vector<std::size_t>;

// Sizes 1, 4, 16 at two levels; a call of n rows takes 10 + n.
Manifest tuned() {
  Manifest manifest;
  manifest.name = "net";
  manifest.batch_sizes = {1, 4, 16};
  manifest.cpu_levels = {"x86-64", "x86-64-v3"};
  manifest.tuning.emplace();
  for (const std::int64_t size : manifest.batch_sizes) {
    const auto ns = static_cast<double>(size + 10);
    manifest.tuning->calls.push_back({size, "x86-64", 100 * ns, ns, 1000 * ns, 9});
    manifest.tuning->calls.push_back({size, "x86-64-v3", ns, ns, ns, 9});
    manifest.files.push_back({"lib/net_bs" + std::to_string(size) + ".o", "", 1000});
    manifest.files.push_back({"lib/net_bs" + std::to_string(size) + "_x86-64-v3.o", "", 2000});
  }
  manifest.files.push_back({"lib/net_weights.o", "", 90000});
  return manifest;
}

std::map<std::size_t, double> up_to(std::size_t last) {
  std::map<std::size_t, double> rows;
  for (std::size_t i = 1; i <= last; ++i) rows[i] = 1;
  return rows;
}

Sizes sizes_of(const SizeSet& set) {
  Sizes sizes;
  for (const SizeCost& cost : set.sizes) sizes.push_back(cost.size);
  return sizes;
}

SizeSet suggested(const SuggestOptions& options) {
  const auto suggestion = suggest_sizes(tuned(), options, "here");
  EXPECT_TRUE(suggestion) << suggestion.error().text();
  return suggestion ? suggestion->suggested : SizeSet{};
}

std::string error_of(const Manifest& manifest, const SuggestOptions& options) {
  const auto suggestion = suggest_sizes(manifest, options, "here");
  return suggestion ? "no error" : suggestion.error().text();
}

TEST(SizeCosts, AreMeasuredOrEstimated) {
  const auto compiled = compiled_sizes(tuned(), level_costs(*tuned().tuning, "x86-64-v3"));
  ASSERT_EQ(compiled.size(), 3U);
  EXPECT_EQ(compiled[1].ns, 14);
  EXPECT_EQ(compiled[1].bytes, 3000U);
  EXPECT_TRUE(size_cost(compiled, 16).compiled);
  const SizeCost between = size_cost(compiled, 10);
  EXPECT_FALSE(between.compiled);
  EXPECT_DOUBLE_EQ(between.ns, 20);
  EXPECT_EQ(between.bytes, 3000U);
  EXPECT_DOUBLE_EQ(size_cost(compiled, 32).ns, 52);
  const std::vector<SizeCost> above(compiled.begin() + 1, compiled.end());
  EXPECT_DOUBLE_EQ(size_cost(above, 2).ns, 14.0 * 3 / 5);
}

TEST(Suggest, TakesTheFastestSet) {
  const SuggestOptions options{.rows = {{16, 3}, {1, 1}}, .candidates = {1, 2, 4, 16}};
  const SizeSet set = suggested(options);
  EXPECT_EQ(sizes_of(set), (Sizes{1, 16}));
  EXPECT_DOUBLE_EQ(set.ns, (3 * 26 + 11) / 4.0);
  EXPECT_DOUBLE_EQ(set.row_ns, (3 * 26 + 11) / 49.0);
  EXPECT_EQ(set.bytes, 6000U);
}

TEST(Suggest, ComparesWithWhatIsCompiled) {
  const auto suggestion = suggest_sizes(tuned(), {.rows = {{8, 1}}}, "here");
  ASSERT_TRUE(suggestion);
  EXPECT_EQ(suggestion->cpu_level, "x86-64-v3");
  EXPECT_EQ(sizes_of(suggestion->suggested), Sizes{8});
  EXPECT_FALSE(suggestion->suggested.sizes[0].compiled);
  EXPECT_DOUBLE_EQ(suggestion->suggested.ns, 18);
  EXPECT_EQ(sizes_of(suggestion->compiled), (Sizes{1, 4, 16}));
  EXPECT_DOUBLE_EQ(suggestion->compiled.ns, 26);  // one padded call
}

// 8 rows of a padded call of 16 cost 8 rows, so no other size is needed.
TEST(Suggest, CountsPaddingAsTheRuntimeDoes) {
  Manifest manifest = tuned();
  for (TunedCall& call : manifest.tuning->calls) call.live_permille = 1000;
  const auto suggestion = suggest_sizes(manifest, {.rows = {{8, 1}, {16, 1}}}, "here");
  ASSERT_TRUE(suggestion);
  EXPECT_DOUBLE_EQ(suggestion->compiled.ns, (18 + 26) / 2.0);
  EXPECT_LE(suggestion->suggested.ns, suggestion->compiled.ns * (1 + kSuggestSlack));
}

TEST(Suggest, KeepsTheLimits) {
  EXPECT_EQ(sizes_of(suggested({.rows = up_to(16), .max_bytes = 2999 + 3000})).size(), 1U);
  EXPECT_EQ(sizes_of(suggested({.rows = up_to(16), .max_sizes = 2})).size(), 2U);
  EXPECT_EQ(error_of(tuned(), {.rows = up_to(16), .max_bytes = 2999}),
            "no batch size fits into the limits\n  allow more by --max-bytes");
}

// No set within the limits is faster by more than the slack, and no set that is as fast is smaller.
TEST(Suggest, FindsTheBestOfAllSets) {
  const Sizes candidates = {1, 2, 4, 8, 16};
  const auto rows = up_to(40);
  for (const std::size_t limit : {1U, 2U, 3U, 5U}) {
    const SizeSet best = suggested({.rows = rows, .candidates = candidates, .max_sizes = limit});
    for (std::size_t mask = 1; mask < 32; ++mask) {
      Sizes sizes;
      for (std::size_t i = 0; i < 5; ++i) {
        if ((mask >> i & 1) != 0) sizes.push_back(candidates[i]);
      }
      if (sizes.size() > limit) continue;
      double ns = 0;
      for (const auto& [count, weight] : rows) {
        LevelCosts costs;
        costs.sizes = sizes;
        for (const std::size_t size : sizes) costs.ns.push_back(static_cast<double>(size + 10));
        ns += plan_rows(costs, count).ns / 40;
      }
      EXPECT_LE(best.ns, ns * (1 + kSuggestSlack) + 1e-9) << mask << ", at most " << limit;
    }
  }
}

TEST(Suggest, FollowsTheLevelAskedFor) {
  EXPECT_DOUBLE_EQ(suggested({.cpu_level = "x86-64", .rows = {{4, 1}}}).ns, 1400);
  EXPECT_EQ(error_of(tuned(), {.cpu_level = "z80", .rows = {{4, 1}}}),
            "here: CPU level 'z80' was not measured");
}

TEST(Suggest, NeedsMeasurementsAndAnAnswerableQuestion) {
  Manifest untuned = tuned();
  untuned.tuning.reset();
  EXPECT_EQ(error_of(untuned, {.rows = {{4, 1}}}),
            "here: nothing was measured yet, so nothing can be suggested\n"
            "  run 'tfaot tune' on the package first");
  EXPECT_EQ(error_of(tuned(), {.rows = {{kMostRows + 1, 1}}}),
            "numbers of rows must be from 1 to 4096");
  Sizes many;
  for (std::size_t i = 1; i <= 17; ++i) many.push_back(i);
  EXPECT_EQ(error_of(tuned(), {.rows = {{4, 1}}, .candidates = many}),
            "17 sizes are too many to choose from\n  name up to 16 with --candidates");
}

}  // namespace
}  // namespace tfaot::toolkit
