// SPDX-License-Identifier: Apache-2.0
// tfaot_forest against a walk of one row through one tree after the other.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::ForestBlock;
using kernels::ForestCall;

class ForestKernel : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, ForestKernel, ::testing::ValuesIn(all_levels()), name_of_level);

template <typename T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

// A branch is x <= threshold, and NaN goes to the first end or not.
struct TestNode {
  bool is_leaf = true;
  Int feature = 0, first = 0;  // ends: first, first + 1
  double threshold = 0;
  bool missing_is_first = false;
  double weight = 0;  // of a leaf with one target
  Int vector = 0;     // of another
};

template <typename T>
class TestForest {
 public:
  TestForest(Random& random, Int trees, bool has_vectors) : random_(random) {
    call_.features = random.between(1, random.one_in(3) ? kernels::kForestTopFeatures + 6 : 9);
    call_.slots = 1 + 2 * call_.features;
    call_.targets = random.between(1, 4);
    call_.vectors = has_vectors ? 1 : 0;
    nodes_.resize(static_cast<std::size_t>(trees));
    for (Int first = 0; first < trees;) {
      const Int count = std::min<Int>(trees - first, random.between(1, kernels::kForestBlockTrees));
      const Int depth = random.between(0, 7);
      const Int target = has_vectors ? 0 : random.between(0, call_.targets - 1);
      blocks_.push_back({first, count, depth, target});
      for (Int i = 0; i < count; ++i) grow(static_cast<std::size_t>(first + i), depth);
      first += count;
    }
    call_.blocks = static_cast<Int>(blocks_.size());
    has_tops_ =
        sizeof(T) == 4 && call_.features <= kernels::kForestTopFeatures && !random.one_in(4);
    while (has_tops_ && nodes_.size() % 8 != 0) nodes_.emplace_back();
    call_.tops = has_tops_ ? static_cast<Int>(nodes_.size()) : 0;
  }

  // Rows after the first `live` ones may hold anything.
  void check(Kernel kernel, Int rows, Int live) {
    call_.rows = rows;
    call_.live_rows = live < rows ? 1 : 0;
    std::vector<Int> words((sizeof call_ + blocks_.size() * sizeof(ForestBlock)) / sizeof(Int));
    std::memcpy(words.data(), &call_, sizeof call_);
    std::memcpy(words.data() + sizeof call_ / sizeof(Int), blocks_.data(),
                blocks_.size() * sizeof(ForestBlock));
    Tensor<T> x(rows * call_.features);
    random_.fill(x);
    for (Int i = 0; i < x.size(); ++i) {
      if (random_.one_in(6)) x[i] = std::numeric_limits<T>::quiet_NaN();
      if (random_.one_in(6)) x[i] = random_.one_in(2) ? T{0} : -T{0};
      if (random_.one_in(9))
        x[i] = std::numeric_limits<T>::infinity() * (random_.one_in(2) ? 1 : -1);
    }
    Tensor<T> leaves(std::max<Int>(1, vectors_ * call_.targets));
    random_.fill(leaves);
    const auto words_of_nodes = nodes();
    Tensor<T> result(rows * call_.targets);
    std::vector<std::byte> scratch(
        static_cast<std::size_t>(kernels::forest_scratch_bytes(call_, sizeof(T))));
    void* out[] = {result.data(), scratch.data()};
    std::vector<const void*> in = {words.data(), x.data(), words_of_nodes.data()};
    if (call_.vectors != 0) in.push_back(leaves.data());
    if (call_.live_rows != 0) in.push_back(&live);
    kernel(out, in.data());
    note_bits(result);
    if (!kComparesValues) return;
    for (Int row = 0; row < live; ++row) {
      std::vector<Sum<T>> sums(static_cast<std::size_t>(call_.targets));
      for (const ForestBlock& block : blocks_) {
        for (Int tree = block.first; tree < block.first + block.trees; ++tree) {
          const TestNode& leaf = walk(tree, x.data() + row * call_.features);
          if (call_.vectors == 0) sums[static_cast<std::size_t>(block.target)].add(leaf.weight);
          for (Int t = 0; call_.vectors != 0 && t < call_.targets; ++t) {
            sums[static_cast<std::size_t>(t)].add(double{leaves[leaf.vector * call_.targets + t]});
          }
        }
      }
      for (Int t = 0; t < call_.targets; ++t) {
        const Sum<T>& sum = sums[static_cast<std::size_t>(t)];
        ASSERT_NEAR(double{result[row * call_.targets + t]}, sum.value(), sum.tolerance())
            << "row " << row << " of " << rows << ", target " << t;
      }
    }
  }

 private:
  void grow(std::size_t at, Int depth) {
    nodes_[at].weight = double{static_cast<T>(random_.between(-99, 99)) / T{64}};
    nodes_[at].vector = vectors_;
    if (depth == 0 || random_.one_in(5)) {
      ++vectors_;
      return;
    }
    nodes_[at].is_leaf = false;
    nodes_[at].feature = random_.between(0, call_.features - 1);
    nodes_[at].threshold = static_cast<double>(random_.between(-2, 2)) / 4;
    nodes_[at].missing_is_first = random_.one_in(2);
    const std::size_t first = nodes_.size();
    nodes_[at].first = static_cast<Int>(first);
    nodes_.resize(first + 2);
    grow(first, depth - 1);
    grow(first + 1, depth - 1);
  }

  const TestNode& walk(Int root, const T* x) const {
    const TestNode* node = &nodes_[static_cast<std::size_t>(root)];
    while (!node->is_leaf) {
      const T value = x[node->feature];
      const bool is_first =
          value != value ? node->missing_is_first : value <= static_cast<T>(node->threshold);
      node = &nodes_[static_cast<std::size_t>(node->first + (is_first ? 0 : 1))];
    }
    return *node;
  }

  // The bits of a positive number; of a negative one, all but the sign turned around.
  static KeyOf<T> key(double number) {
    const T value = static_cast<T>(number == 0 ? 0 : number);
    KeyOf<T> bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? static_cast<KeyOf<T>>(~bits | std::numeric_limits<KeyOf<T>>::min()) : bits;
  }

  std::vector<KeyOf<T>> nodes() const {
    std::vector<KeyOf<T>> words;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const TestNode& node = nodes_[i];
      KeyOf<T> holds = key(node.threshold);
      const T weight = static_cast<T>(node.weight);
      if (node.is_leaf) std::memcpy(&holds, &weight, sizeof holds);
      if (node.is_leaf && call_.vectors != 0) holds = static_cast<KeyOf<T>>(node.vector);
      words.push_back(holds);
      const Int slot =
          node.is_leaf ? 0 : 1 + node.feature + (node.missing_is_first ? call_.features : 0);
      const Int next = node.is_leaf ? static_cast<Int>(i) : node.first;
      words.push_back(static_cast<KeyOf<T>>(next << kernels::forest_slot_bits(sizeof(T)) | slot));
    }
    if (has_tops_) add_tops(words);
    return words;
  }

  void add_tops(std::vector<KeyOf<T>>& words) const {
    std::vector<kernels::ForestTop> tops(blocks_.size());
    std::vector<kernels::ForestBottom> bottoms;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const ForestBlock& block = blocks_[b];
      for (Int i = 0; i < block.trees; ++i) {
        fill_top(tops[b], static_cast<std::size_t>(i), block.first + i, 0);
      }
      if (!kernels::has_bottoms(block)) continue;
      tops[b].bottoms = call_.tops + static_cast<Int>(tops.size() * sizeof tops[0] / 8 +
                                                      bottoms.size() * sizeof bottoms[0] / 8);
      for (Int i = 0; i < block.trees; ++i) {
        for (const auto& ends : tops[b].ends) bottoms.push_back(bottom_from(words, ends[i]));
      }
    }
    const auto add = [&](const auto& all) {
      if (all.empty()) return;
      const std::size_t size = words.size();
      words.resize(size + all.size() * sizeof all[0] / sizeof words[0]);
      std::memcpy(words.data() + size, all.data(), all.size() * sizeof all[0]);
    };
    add(tops);
    add(bottoms);
  }

  // The node that `place` leads to, on its left or right.
  static std::size_t end_of(const std::vector<KeyOf<T>>& words, std::size_t place, bool right) {
    const auto word = static_cast<std::uint32_t>(words[2 * place + 1]);
    return (word >> 12) + (right && (word & 0xFFF) != 0 ? 1 : 0);
  }

  static kernels::ForestBottom bottom_from(const std::vector<KeyOf<T>>& words, std::size_t place) {
    kernels::ForestBottom bottom{};
    const std::size_t ends[] = {place, end_of(words, place, false), end_of(words, place, true)};
    for (std::size_t i = 0; i < 3; ++i) {
      bottom.keys[i] = static_cast<std::int32_t>(words[2 * ends[i]]);
      bottom.slots[i] = static_cast<std::uint8_t>(words[2 * ends[i] + 1] & 0xFFF);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t leaf = end_of(words, ends[1 + i / 2], i % 2 == 1);
      bottom.leaves[i] = static_cast<std::int32_t>(words[2 * leaf]);
    }
    return bottom;
  }

  // Node `at` of a tree's part of the top is node `place` of the forest, and so on below.
  void fill_top(kernels::ForestTop& top, std::size_t lane, Int place, std::size_t at) const {
    using Top = kernels::ForestTop;
    if (at >= Top::kNodes) {
      top.ends[at - Top::kNodes][lane] = static_cast<std::uint32_t>(place);
      return;
    }
    const TestNode& node = nodes_[static_cast<std::size_t>(place)];
    top.keys[at][lane] = std::numeric_limits<std::int32_t>::max();
    if (!node.is_leaf) {
      top.keys[at][lane] = static_cast<std::int32_t>(key(node.threshold));
      const Int slot = node.feature + (node.missing_is_first ? Int{Top::kSmallest} : Int{0});
      top.slots[at][lane] = static_cast<std::uint8_t>(slot);
    }
    fill_top(top, lane, node.is_leaf ? place : node.first, 2 * at + 1);
    fill_top(top, lane, node.is_leaf ? place : node.first + 1, 2 * at + 2);
  }

  Random& random_;
  ForestCall call_{};
  std::vector<ForestBlock> blocks_;
  std::vector<TestNode> nodes_;
  Int vectors_ = 0;
  bool has_tops_ = false;
};

template <typename T>
void check_forests(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
    const Int trees = random.between(1, 40);
    TestForest<T> forest(random, trees, random.one_in(3));
    for (const Int rows : {Int{1}, Int{2}, random.between(3, 40), Int{700}}) {
      forest.check(kernel, rows, random.one_in(2) ? rows : random.between(0, rows));
    }
  }
}

TEST_P(ForestKernel, AddsUpWhatTheTreesSay) {
  check_forests<float>(kernels<float>().forest, 1);
  check_forests<double>(kernels<double>().forest, 2);
}

}  // namespace
}  // namespace tfaot::kernels_test
