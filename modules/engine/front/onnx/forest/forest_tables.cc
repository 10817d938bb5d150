// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/forest/forest_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::ForestBottom;
using kernels::ForestTop;

constexpr std::int64_t kNodeBytes = 2 * sizeof(std::int32_t);

// A node as a walk reads it. A leaf leads to itself, by slot 0.
struct Step {
  std::int32_t key;
  std::int64_t slot;
  std::uint32_t left, right;
};

Step step_at(absl::Span<const std::int32_t> nodes, std::uint32_t place) {
  constexpr auto kBits = kernels::forest_slot_bits(sizeof(float));
  const auto word = static_cast<std::uint32_t>(nodes[2 * std::size_t{place} + 1]);
  const std::int64_t slot = word & ((1U << kBits) - 1);
  const std::uint32_t next = word >> kBits;
  return {nodes[2 * std::size_t{place}], slot, next, slot == 0 ? next : next + 1};
}

// A tree's part of its block's top. `nodes`: as in ForestTables.
void fill_lane(ForestTop& top, std::size_t lane, std::uint32_t root, std::int64_t features,
               absl::Span<const std::int32_t> nodes) {
  std::array<std::uint32_t, ForestTop::kNodes + ForestTop::kEnds> places{root};
  for (std::size_t i = 0; i < ForestTop::kNodes; ++i) {
    const Step step = step_at(nodes, places.at(i));
    places.at(2 * i + 1) = step.left;
    places.at(2 * i + 2) = step.right;
    top.keys[i][lane] = step.slot == 0 ? std::numeric_limits<std::int32_t>::max() : step.key;
    if (step.slot == 0) continue;
    const bool smallest = step.slot > features;
    const auto feature = static_cast<std::uint8_t>(step.slot - 1 - (smallest ? features : 0));
    top.slots[i][lane] =
        smallest ? static_cast<std::uint8_t>(feature | ForestTop::kSmallest) : feature;
  }
  for (std::size_t i = 0; i < ForestTop::kEnds; ++i) {
    top.ends[i][lane] = places.at(ForestTop::kNodes + i);
  }
}

ForestBottom bottom_of(std::uint32_t place, absl::Span<const std::int32_t> nodes) {
  ForestBottom bottom{};
  const Step first = step_at(nodes, place);
  const std::array<Step, ForestBottom::kNodes> steps = {first, step_at(nodes, first.left),
                                                        step_at(nodes, first.right)};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    bottom.keys[i] = steps.at(i).key;
    bottom.slots[i] = static_cast<std::uint8_t>(steps.at(i).slot);
    if (i == 0) continue;
    bottom.leaves[2 * (i - 1)] = nodes[2 * std::size_t{steps.at(i).left}];
    bottom.leaves[2 * (i - 1) + 1] = nodes[2 * std::size_t{steps.at(i).right}];
  }
  return bottom;
}

// Words of the tops and bottoms, in the order of the table.
std::vector<std::int32_t> tops_and_bottoms(const ForestTables& tables) {
  const auto nodes = tables.nodes.data<std::int32_t>();
  std::vector<ForestTop> tops(tables.blocks.size());
  std::vector<ForestBottom> bottoms;
  constexpr auto kTopNodes = static_cast<std::int64_t>(sizeof(ForestTop)) / kNodeBytes;
  constexpr auto kBottomNodes = static_cast<std::int64_t>(sizeof(ForestBottom)) / kNodeBytes;
  const std::int64_t first_bottom = tables.tops + std::ssize(tops) * kTopNodes;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    const kernels::ForestBlock& block = tables.blocks[i];
    if (has_bottoms(block)) tops[i].bottoms = first_bottom + std::ssize(bottoms) * kBottomNodes;
    for (std::int64_t tree = 0; tree < block.trees; ++tree) {
      const auto lane = static_cast<std::size_t>(tree);
      fill_lane(tops[i], lane, static_cast<std::uint32_t>(block.first + tree), tables.features,
                nodes);
      for (std::size_t end = 0; end < ForestTop::kEnds && has_bottoms(block); ++end) {
        bottoms.push_back(bottom_of(tops[i].ends[end][lane], nodes));
      }
    }
  }
  std::vector<std::int32_t> words(
      (tops.size() * sizeof(ForestTop) + bottoms.size() * sizeof(ForestBottom)) /
      sizeof(std::int32_t));
  std::memcpy(words.data(), tops.data(), tops.size() * sizeof(ForestTop));
  if (bottoms.empty()) return words;
  std::memcpy(words.data() + tops.size() * sizeof(ForestTop) / sizeof(std::int32_t), bottoms.data(),
              bottoms.size() * sizeof(ForestBottom));
  return words;
}

// Puts the ForestTops of the blocks after the nodes, if a kernel can use them. The walk in HLO
// does not notice.
void add_forest_tops(ForestTables& tables) {
  static_assert(sizeof(ForestTop) % kNodeBytes == 0 && sizeof(ForestBottom) % kNodeBytes == 0);
  if (tables.type != xla::F32 || tables.features > kernels::kForestTopFeatures) return;
  constexpr std::int64_t kLineNodes = 64 / kNodeBytes;
  const std::int64_t count = tables.nodes.shape().dimensions(0);
  tables.tops = (count + kLineNodes - 1) / kLineNodes * kLineNodes;
  const std::vector<std::int32_t> more = tops_and_bottoms(tables);
  xla::Literal all(shape_of(xla::S32, {tables.tops + std::ssize(more) / 2, 2}));
  const auto words = all.data<std::int32_t>();
  const auto end = std::ranges::copy(tables.nodes.data<std::int32_t>(), words.begin()).out;
  std::fill(end, words.begin() + 2 * tables.tops, 0);  // the same bytes each time
  std::ranges::copy(more, words.begin() + 2 * tables.tops);
  tables.nodes = std::move(all);
}

using kernels::ForestBlock;

// The same order as the numbers, but -0 comes right before 0. Not for NaN.
template <typename Key, typename Element>
Key key_of(Element value) {
  Key bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? static_cast<Key>(bits ^ std::numeric_limits<Key>::max()) : bits;
}

// The forest with one kind of branch. Parts are made before those that lead to them.
struct ForestPart {
  enum Kind { kLeaf, kBranch, kForward } kind = kLeaf;
  std::int64_t key = 0;     // a branch's threshold, or what a leaf holds
  std::int64_t slot = 0;    // whose key a branch compares
  std::int64_t first = -1;  // where it leads if that key is not larger; the only way of a kForward
  std::int64_t second = -1;
  std::int64_t height = 0;  // steps to a leaf, at most
};

// The ends of a branch, and the one that a missing value takes.
struct BranchEnds {
  std::int64_t if_true = -1;
  std::int64_t if_false = -1;
  bool missing_is_true = false;
  BranchEnds swapped() const { return {if_false, if_true, !missing_is_true}; }
};

template <typename Key, typename Element>
class PartsOfForest {
 public:
  // `has_missing`: the keys of features for which NaN is the smallest come after those for which it
  // is the largest.
  PartsOfForest(const Forest& forest, std::int64_t features, bool has_missing)
      : forest_(forest), features_(features), has_missing_(has_missing) {}

  const std::vector<ForestPart>& parts() const { return parts_; }

  std::int64_t leaf(std::int64_t holds) { return add({.kind = ForestPart::kLeaf, .key = holds}); }

  // `leaves`: the part of each leaf.
  std::int64_t tree(std::int64_t root, const std::map<std::int64_t, std::int64_t>& leaves) {
    const TreeOrder order = tree_order(forest_, root);
    std::map<std::int64_t, std::int64_t> uses;
    for (const std::int64_t at : order.nodes) {
      const ForestNode& one = forest_.nodes[static_cast<std::size_t>(at)];
      if (one.is_leaf) continue;
      ++uses[one.if_true];
      ++uses[one.if_false];
    }
    std::map<std::int64_t, std::int64_t> made;
    const auto end_at = [&](std::int64_t at) {
      return uses.at(at) > 1 ? forward(made.at(at)) : made.at(at);
    };
    for (const std::int64_t at : order.nodes) {
      const ForestNode& one = forest_.nodes[static_cast<std::size_t>(at)];
      made[at] =
          one.is_leaf
              ? leaves.at(at)
              : branch(one, {end_at(one.if_true), end_at(one.if_false), one.missing_is_true});
    }
    return made.at(root);
  }

 private:
  std::int64_t add(ForestPart part) {
    parts_.push_back(part);
    return std::ssize(parts_) - 1;
  }
  std::int64_t height(std::int64_t part) const {
    return parts_[static_cast<std::size_t>(part)].height;
  }
  // For a part that several branches lead to: it has only one place.
  std::int64_t forward(std::int64_t part) {
    if (parts_[static_cast<std::size_t>(part)].kind == ForestPart::kLeaf) return part;
    return add({.kind = ForestPart::kForward, .first = part, .height = height(part) + 1});
  }

  // x <= limit as keys.
  std::int64_t compare(std::int64_t feature, Key limit, const BranchEnds& ends) {
    const bool smallest = ends.missing_is_true && has_missing_;
    return add({.kind = ForestPart::kBranch,
                .key = limit,
                .slot = 1 + feature + (smallest ? features_ : 0),
                .first = ends.if_true,
                .second = ends.if_false,
                .height = std::max(height(ends.if_true), height(ends.if_false)) + 1});
  }
  std::int64_t less_or_equal(std::int64_t feature, Element limit, const BranchEnds& ends) {
    return compare(feature, key_of<Key>(limit == 0 ? Element{0} : limit), ends);
  }
  std::int64_t less(std::int64_t feature, Element limit, const BranchEnds& ends) {
    const Key key = key_of<Key>(limit == 0 ? -Element{0} : limit);
    return compare(feature, static_cast<Key>(key - 1), ends);
  }
  std::int64_t equal(std::int64_t feature, Element value, const BranchEnds& ends) {
    const std::int64_t lower =
        less(feature, value, {forward(ends.if_false), forward(ends.if_true), false});
    return less_or_equal(feature, value, {lower, forward(ends.if_false), ends.missing_is_true});
  }
  // Only NaN goes the way of true.
  std::int64_t never(std::int64_t feature, const BranchEnds& ends) {
    return compare(feature, std::numeric_limits<Key>::min(), ends);
  }

  // Looks for the middle of the sorted members first.
  std::int64_t member(std::int64_t feature, const std::vector<Element>& members,
                      const BranchEnds& ends) {
    if (members.empty()) return never(feature, ends);
    if (members.size() == 1) return equal(feature, members.front(), ends);
    const auto middle = members.begin() + std::ssize(members) / 2;
    const std::int64_t low = member(feature, {members.begin(), middle}, ends);
    const std::int64_t high = member(feature, {middle, members.end()}, ends);
    return less_or_equal(feature, *(middle - 1), {low, high, false});
  }

  std::int64_t branch(const ForestNode& one, const BranchEnds& ends) {
    const auto threshold = static_cast<Element>(one.threshold);
    if (one.mode == BranchMode::kMember) {
      std::vector<Element> members(one.members.begin(), one.members.end());
      std::ranges::sort(members);
      members.erase(std::unique(members.begin(), members.end()), members.end());
      return member(one.feature, members, ends);
    }
    if (std::isnan(threshold)) {
      // No number compares with it, so all are different.
      return one.mode == BranchMode::kNotEqual ? never(one.feature, ends.swapped())
                                               : never(one.feature, ends);
    }
    switch (one.mode) {
      case BranchMode::kLess:
        return less(one.feature, threshold, ends);
      case BranchMode::kGreater:
        return less_or_equal(one.feature, threshold, ends.swapped());
      case BranchMode::kGreaterOrEqual:
        return less(one.feature, threshold, ends.swapped());
      case BranchMode::kEqual:
        return equal(one.feature, threshold, ends);
      case BranchMode::kNotEqual:
        return equal(one.feature, threshold, ends.swapped());
      default:
        return less_or_equal(one.feature, threshold, ends);
    }
  }

  const Forest& forest_;
  std::int64_t features_;
  bool has_missing_;
  std::vector<ForestPart> parts_;
};

// The nodes of a tree follow each other, and both ends of a branch are neighbours.
class PlacedParts {
 public:
  PlacedParts(const std::vector<ForestPart>& parts, const std::vector<std::int64_t>& roots)
      : parts_(parts), place_of_(parts.size(), -1) {
    for (const std::int64_t root : roots) place(root);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      std::vector<std::size_t> open = {i};
      for (std::size_t next = 0; next < open.size(); ++next) follow(open[next], open);
    }
  }

  std::int64_t count() const { return std::ssize(placed_); }
  const ForestPart& part(std::int64_t place) const {
    return parts_[static_cast<std::size_t>(placed_[static_cast<std::size_t>(place)])];
  }
  // A leaf leads to itself.
  std::int64_t next(std::int64_t place) const { return next_[static_cast<std::size_t>(place)]; }

 private:
  std::int64_t place(std::int64_t part) {
    const std::int64_t place = std::ssize(placed_);
    placed_.push_back(part);
    next_.push_back(place);
    place_of_[static_cast<std::size_t>(part)] = place;
    return place;
  }
  void follow(std::size_t from, std::vector<std::size_t>& open) {
    const ForestPart& one = part(static_cast<std::int64_t>(from));
    if (one.kind == ForestPart::kLeaf) return;
    std::int64_t& target = place_of_[static_cast<std::size_t>(one.first)];
    if (one.kind == ForestPart::kForward && target >= 0) {
      next_[from] = target;
      return;
    }
    const std::int64_t first = place(one.first);
    open.push_back(static_cast<std::size_t>(first));
    if (one.kind == ForestPart::kBranch) {
      open.push_back(static_cast<std::size_t>(place(one.second)));
    }
    next_[from] = first;
  }

  const std::vector<ForestPart>& parts_;
  std::vector<std::int64_t> place_of_;
  std::vector<std::int64_t> placed_;  // parts by place
  std::vector<std::int64_t> next_;
};

// The start of an aggregate.
double neutral_weight(Aggregate aggregate, xla::PrimitiveType type) {
  const double largest =
      type == xla::F64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (aggregate == Aggregate::kMin) return largest;
  return aggregate == Aggregate::kMax ? -largest : 0;
}

double add_vote(Aggregate aggregate, double before, double weight) {
  if (aggregate == Aggregate::kMin) return std::min(before, weight);
  return aggregate == Aggregate::kMax ? std::max(before, weight) : before + weight;
}

// The leaves of each tree.
std::vector<std::vector<std::int64_t>> leaves_of(const Forest& forest) {
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t root : forest.roots) {
    std::vector<std::int64_t> leaves = tree_order(forest, root).nodes;
    std::erase_if(leaves, [&](std::int64_t at) {
      return !forest.nodes[static_cast<std::size_t>(at)].is_leaf;
    });
    all.push_back(std::move(leaves));
  }
  return all;
}

// The target of each tree; nothing if a tree votes for several.
std::optional<std::vector<std::int64_t>> target_of_trees(
    const Forest& forest, const std::vector<std::vector<std::int64_t>>& leaves) {
  std::vector<std::int64_t> targets;
  for (const auto& of_tree : leaves) {
    std::int64_t target = -1;
    for (const std::int64_t leaf : of_tree) {
      for (const LeafVote& vote : forest.nodes[static_cast<std::size_t>(leaf)].votes) {
        if (target >= 0 && vote.target != target) return std::nullopt;
        target = vote.target;
      }
    }
    targets.push_back(std::max<std::int64_t>(target, 0));
  }
  return targets;
}

std::vector<ForestBlock> blocks_of(const std::vector<std::int64_t>& targets,
                                   const std::vector<std::int64_t>& depths) {
  std::vector<ForestBlock> blocks;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const bool goes_on = !blocks.empty() && blocks.back().target == targets[i] &&
                         blocks.back().trees < kernels::kForestBlockTrees;
    if (!goes_on) blocks.push_back({static_cast<std::int64_t>(i), 0, 0, targets[i]});
    ++blocks.back().trees;
    blocks.back().depth = std::max(blocks.back().depth, depths[i]);
  }
  return blocks;
}

template <typename Key, typename Element>
ForestTables tables_of(const Forest& forest, xla::PrimitiveType type, std::int64_t features) {
  ForestTables tables;
  tables.type = type;
  tables.features = features;
  tables.targets = forest.targets;
  const bool has_missing = std::ranges::any_of(
      forest.nodes, [](const ForestNode& one) { return !one.is_leaf && one.missing_is_true; });
  // Turning a comparison around turns the way of missing values too.
  const bool may_turn = std::ranges::any_of(forest.nodes, [](const ForestNode& one) {
    return !one.is_leaf && one.mode != BranchMode::kLessOrEqual && one.mode != BranchMode::kLess;
  });
  const bool has_smallest = has_missing || may_turn;
  tables.slots = 1 + features * (has_smallest ? 2 : 1);
  PartsOfForest<Key, Element> parts(forest, features, has_smallest);

  const auto leaves = leaves_of(forest);
  const auto targets = target_of_trees(forest, leaves);
  const double neutral = neutral_weight(forest.aggregate, type);
  std::vector<Element> vectors;
  std::vector<std::int64_t> roots;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    std::map<std::int64_t, std::int64_t> part_of;
    for (const std::int64_t leaf : leaves[i]) {
      // Of one target, or of all.
      const std::int64_t first = targets ? (*targets)[i] : 0;
      std::vector<double> sums(targets ? 1 : static_cast<std::size_t>(forest.targets), neutral);
      for (const LeafVote& vote : forest.nodes[static_cast<std::size_t>(leaf)].votes) {
        double& sum = sums[static_cast<std::size_t>(vote.target - first)];
        sum = add_vote(forest.aggregate, sum, vote.weight);
      }
      if (targets) {
        Key bits = 0;
        const auto weight = static_cast<Element>(sums.front());
        std::memcpy(&bits, &weight, sizeof bits);
        part_of[leaf] = parts.leaf(bits);
      } else {
        part_of[leaf] = parts.leaf(std::ssize(vectors) / forest.targets);
        for (const double sum : sums) vectors.push_back(static_cast<Element>(sum));
      }
    }
    roots.push_back(parts.tree(forest.roots[i], part_of));
  }

  // Trees of one target and of like depth come together.
  const auto height = [&](std::size_t tree) {
    return parts.parts()[static_cast<std::size_t>(roots[tree])].height;
  };
  std::vector<std::size_t> order(roots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t tree) {
    return std::pair(targets ? (*targets)[tree] : 0, height(tree));
  });
  std::vector<std::int64_t> sorted_roots;
  std::vector<std::int64_t> sorted_targets;
  std::vector<std::int64_t> depths;
  for (const std::size_t tree : order) {
    sorted_roots.push_back(roots[tree]);
    sorted_targets.push_back(targets ? (*targets)[tree] : 0);
    depths.push_back(height(tree));
    tables.depth = std::max(tables.depth, depths.back());
  }
  tables.blocks = blocks_of(sorted_targets, depths);

  const PlacedParts placed(parts.parts(), sorted_roots);
  constexpr auto kBits = kernels::forest_slot_bits(sizeof(Element));
  tables.nodes =
      xla::Literal(shape_of(type == xla::F64 ? xla::S64 : xla::S32, {placed.count(), 2}));
  const auto words = tables.nodes.data<Key>();
  for (std::int64_t i = 0; i < placed.count(); ++i) {
    const ForestPart& part = placed.part(i);
    const auto next = static_cast<std::uint64_t>(placed.next(i)) << kBits;
    words[static_cast<std::size_t>(2 * i)] = static_cast<Key>(part.key);
    words[static_cast<std::size_t>(2 * i + 1)] =
        static_cast<Key>(next | static_cast<std::uint64_t>(part.slot));
  }
  if (!targets) {
    tables.leaves =
        xla::Literal(shape_of(type, {std::ssize(vectors) / forest.targets, forest.targets}));
    std::ranges::copy(vectors, tables.leaves.data<Element>().begin());
  }
  return tables;
}

// True if the words of nodes hold all slots and places.
bool fits_float_tables(const ForestTables& tables) {
  const std::int64_t bits = kernels::forest_slot_bits(sizeof(float));
  return tables.slots <= std::int64_t{1} << bits &&
         tables.nodes.shape().dimensions(0) <= std::int64_t{1} << (32 - bits);
}

}  // namespace

std::int64_t leaf_elements(const Forest& forest) {
  const auto leaves = leaves_of(forest);
  if (target_of_trees(forest, leaves)) return 0;
  std::int64_t count = 0;
  for (const auto& of_tree : leaves) count += std::ssize(of_tree);
  return count * forest.targets;
}

ForestTables forest_tables(const Forest& forest, xla::PrimitiveType type, std::int64_t features) {
  if (type != xla::F64 && !forest.has_doubles) {
    ForestTables tables = tables_of<std::int32_t, float>(forest, xla::F32, features);
    if (fits_float_tables(tables)) {
      add_forest_tops(tables);
      return tables;
    }
  }
  return tables_of<std::int64_t, double>(forest, xla::F64, features);
}

}  // namespace tfaot::toolkit::engine
