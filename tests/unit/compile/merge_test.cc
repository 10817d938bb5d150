// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/memory_file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/compile/symbol_hash.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

Weight weight(const std::string& name, std::uint64_t size = 4) {
  return {name, DType::kFloat32, {1}, 0, size};
}

CompiledCode code(std::int64_t batch_size, const std::vector<std::uint32_t>& weights) {
  CompiledCode made;
  made.batch_size = batch_size;
  made.cpu_level = "x86-64";
  made.weights = weights;
  return made;
}

// The report of one engine process; files of the same name are the same file.
EngineResult share(std::vector<Weight> weights, std::vector<CompiledCode> codes,
                   std::vector<std::string> files) {
  EngineResult made;
  made.model.target_triple = "x86_64-linux";
  made.model.signature.outputs = {{"y", DType::kFloat32, {2}}};
  made.model.weights = std::move(weights);
  made.model.codes = std::move(codes);
  made.weight_files = std::move(files);
  return made;
}

// The merged model, with the blob read back from the object that is written from it.
struct Merged {
  CompiledModel model;
  std::string blob;
};

using Files = std::map<std::string, std::string>;

Result<Merged> merge(const std::vector<EngineResult>& shares, const Files& files) {
  testing::MemoryFileSystem fs;
  for (const auto& [name, bytes] : files) TFAOT_TRY(fs.replace_atomically("/w/" + name, bytes));
  TFAOT_ASSIGN(MergedModel merged, merge_parts(fs, "/w", shares));
  TFAOT_TRY(write_weights_object(fs, merged, "weights", "/weights.o"));
  TFAOT_ASSIGN(const std::string object, fs.read("/weights.o"));
  const std::uint64_t size = merged.model.weights_size;
  const std::vector<DataSymbol> symbols = {{merged.model.weights_symbol, 0, size, false, true}};
  const auto head = data_object_frame(size, symbols, "x86_64-linux").head;
  const std::string blob = object.substr(head.size(), size);
  EXPECT_EQ(object, *make_data_object(blob, symbols, "x86_64-linux"));
  EXPECT_EQ(merged.model.weights_symbol, symbol_name("weights", blob));
  EXPECT_EQ(merged.model.weights_object_sha256, sha256_of(object));
  return Merged{merged.model, blob};
}

std::string padded(const std::string& text) { return text + std::string(64 - text.size(), '\0'); }

std::vector<std::string> names(const CompiledModel& model) {
  std::vector<std::string> result;
  for (const auto& one : model.weights) result.push_back(one.name);
  return result;
}

TEST(MergeParts, OrdersWeightsByTheirFirstUse) {
  const auto merged = merge({share({weight("a"), weight("b")}, {code(4, {0, 1})}, {"1", "2"}),
                             share({weight("b"), weight("c")}, {code(2, {1, 0})}, {"2", "3"})},
                            {{"1", "aaaa"}, {"2", "bbbb"}, {"3", "cccc"}});
  ASSERT_TRUE(merged) << merged.error().text();
  EXPECT_THAT(names(merged->model), ElementsAre("c", "b", "a"));
  EXPECT_EQ(merged->blob, padded("cccc") + padded("bbbb") + "aaaa");
  ASSERT_EQ(merged->model.codes.size(), 2U);
  EXPECT_EQ(merged->model.codes[0].batch_size, 2);
  EXPECT_THAT(merged->model.codes[0].weights, ElementsAre(0, 1));
  EXPECT_THAT(merged->model.codes[1].weights, ElementsAre(2, 1));
}

TEST(MergeParts, DoesNotDependOnWhoMadeWhat) {
  const Files files = {{"1", "aaaa"}, {"2", "bbbb"}};
  const std::vector<Weight> weights = {weight("a"), weight("b")};
  const auto one = merge({share(weights, {code(1, {1}), code(2, {0, 1})}, {"1", "2"})}, files);
  const auto two = merge(
      {share(weights, {code(2, {0, 1})}, {"1", "2"}), share({weight("b")}, {code(1, {0})}, {"2"})},
      files);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->blob, two->blob);
  EXPECT_EQ(names(one->model), names(two->model));
  EXPECT_EQ(one->model.codes[1].weights, two->model.codes[1].weights);
}

TEST(MergeParts, KeepsEqualWeightsOnce) {
  for (const std::size_t size : {4U, 1000U}) {
    const std::string bytes(size, 'x');
    const auto merged =
        merge({share({weight("a", size), weight("b", size)}, {code(1, {0, 1})}, {"1", "2"})},
              {{"1", bytes}, {"2", bytes}});
    ASSERT_TRUE(merged);
    EXPECT_THAT(names(merged->model), ElementsAre("a"));
    EXPECT_EQ(merged->blob, bytes);
    EXPECT_THAT(merged->model.codes[0].weights, ElementsAre(0, 0));
  }
}

TEST(MergeParts, KeepsWeightsThatDifferLate) {
  const std::string one = std::string(3'000'000, 'x') + "a";
  const std::string two = std::string(3'000'000, 'x') + "b";
  const auto merged = merge(
      {share({weight("a", one.size()), weight("b", two.size())}, {code(1, {0, 1})}, {"1", "2"})},
      {{"1", one}, {"2", two}});
  ASSERT_TRUE(merged);
  EXPECT_THAT(names(merged->model), ElementsAre("a", "b"));
  const auto offset = (one.size() + 63) / 64 * 64;
  EXPECT_EQ(merged->blob, one + std::string(offset - one.size(), '\0') + two);
}

TEST(MergeParts, RefusesWeightsOfAnotherSize) {
  for (const std::uint64_t size : {2U, 4U, 3'000'000U}) {
    const auto merged = merge({share({weight("a", size)}, {code(1, {0})}, {"1"})}, {{"1", "cut"}});
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().message(), "a file of weights has another size");
  }
}

TEST(MergeParts, TellsDerivedWeightsOfOneNameApart) {
  const auto merged =
      merge({share({weight("k, packed"), weight("k, packed")}, {code(1, {0, 1})}, {"1", "2"})},
            {{"1", "aaaa"}, {"2", "bbbb"}});
  ASSERT_TRUE(merged);
  EXPECT_THAT(names(merged->model), ElementsAre("k, packed", "k, packed (2)"));
}

TEST(MergeParts, RefusesRowsThatDiffer) {
  auto other = share({}, {}, {});
  other.model.signature.outputs[0].row_shape = {3};
  const auto merged = merge({share({}, {}, {}), std::move(other)}, {});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().message(), "the shape of an output row depends on the batch size");
}

}  // namespace
}  // namespace tfaot::toolkit
