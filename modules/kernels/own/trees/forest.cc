// SPDX-License-Identifier: Apache-2.0
// tfaot_forest of abi.h. Eight walks go on at the same time, without a branch, so that none waits
// for the loads of another: two rows through four trees, or one row through eight. Vectors help
// with the first steps only (forest_top.h). Further down a tree has too many nodes, and a gather
// takes longer than the loads that it replaces: 16 trees in a vector took 1.7 to 2.6 times as long.
#include <type_traits>

#include "simd/kernel.h"
#if TFAOT_IS_F32
#include "trees/forest_top.h"
#else
#define TFAOT_HAS_FOREST_TOPS 0
#endif

namespace {

using tfaot::kernels::ForestBlock;
using tfaot::kernels::ForestBottom;
using tfaot::kernels::ForestCall;

#if TFAOT_IS_F32
using Key = std::int32_t;
using Word = std::uint32_t;
#else
using Key = std::int64_t;
using Word = std::uint64_t;
#endif

constexpr int kFew = 4;  // trees whose results are added up together
constexpr int kBlockTrees = static_cast<int>(tfaot::kernels::kForestBlockTrees);
constexpr int kSlotBits = tfaot::kernels::forest_slot_bits(sizeof(Element));
constexpr Word kSlotMask = (Word{1} << kSlotBits) - 1;
constexpr int kKeyBits = sizeof(Key) * 8;
constexpr Key kLargestKey = static_cast<Key>(~Word{0} >> 1);
constexpr Key kSmallestKey = -kLargestKey - 1;

struct ForestNode {
  Key key;  // of a leaf: what it holds
  Word word;
};

// use(i) for the numbers from 0 on. It is unrolled so early that an array at i needs no memory.
template <int kCount, typename Use>
TFAOT_INLINE void for_each(const Use& use) {
  if constexpr (kCount > 0) {
    for_each<kCount - 1>(use);
    use(std::integral_constant<int, kCount - 1>{});
  }
}

class Forest {
 public:
  Forest(const ForestCall& call, const void** in, void* const* out)
      : call_(call),
        blocks_(reinterpret_cast<const ForestBlock*>(&call + 1)),
        x_(static_cast<const Element*>(in[1])),
        nodes_(static_cast<const ForestNode*>(in[2])),
        leaves_(call.vectors != 0 ? static_cast<const Element*>(in[3]) : nullptr),
        result_(static_cast<Element*>(out[0])),
        keys_(static_cast<Key*>(out[1])) {}

  void run(Int rows) {
    const Int tile = tfaot::kernels::forest_tile_rows(call_, sizeof(Element));
    for (Int row = 0; row < rows; row += tile) run_tile(row, smaller(tile, rows - row));
  }

 private:
  struct Range {  // of trees
    Int first, end;
  };

  void run_tile(Int first, Int rows) {
    const Element* const x = x_ + first * call_.features;
    for (Int row = 0; row < rows; ++row) make_keys(x + row * call_.features, row);
    Element* const sums = result_ + first * call_.targets;
    for (Int i = 0; i < rows * call_.targets; ++i) sums[i] = 0;
#if TFAOT_HAS_FOREST_TOPS
    if (call_.tops != 0) return walk_from_tops(x, rows, sums);
#endif
    for (const ForestBlock* block = blocks_; block != blocks_ + call_.blocks; ++block) {
      const auto root = [&](Int /*row*/, Int tree) {
        // The last tree stands in for those that a short block lacks.
        return static_cast<Word>(block->first + smaller(tree, block->trees - 1));
      };
      // So many trees meet all rows that they stay in the first-level cache.
      const Int together = block->depth < 8 ? kBlockTrees : kFew;
      for (Int tree = 0; tree < block->trees; tree += together) {
        const Range some = {tree, smaller(tree + together, block->trees)};
        for (Int row = 0; row + 2 <= rows; row += 2) {
          walk<2, kFew>(*block, some, row, sums, block->depth, root);
        }
      }
      if (rows % 2 == 0) continue;
      walk<1, 2 * kFew>(*block, {0, block->trees}, rows - 1, sums, block->depth, root);
    }
  }

#if TFAOT_HAS_FOREST_TOPS
  // Some tops are looked through before the walks from there, so that these do not wait for them.
  void walk_from_tops(const Element* x, Int rows, Element* sums) const {
    constexpr Int kTogether = 8;
    const auto* const tops = reinterpret_cast<const ForestTop*>(nodes_ + call_.tops);
    const Int features = call_.features;
    const auto find = features <= 2 * kTopLanes ? &find_ends<2> : &find_ends<4>;
    TopEnds at[kTogether];
    const Int even = rows - rows % 2;
    for (Int b = 0; b < call_.blocks; ++b) {
      for (Int first = 0; first < even; first += kTogether) {
        const Int count = smaller(kTogether, even - first);
        for (Int i = 0; i < count; ++i) {
          find(tops + b, 1, x + (first + i) * features, features, at + i);
        }
        for (Int i = 0; i < count; ++i) walk_from(tops[b], at[i], b, first + i, sums);
      }
    }
    if (rows == even) return;
    for (Int first = 0; first < call_.blocks; first += kTogether) {
      const Int count = smaller(kTogether, call_.blocks - first);
      find(tops + first, count, x + even * features, features, at);
      for (Int i = 0; i < count; ++i) {
        walk_from(tops[first + i], at[i], first + i, even, sums);
      }
    }
  }

  TFAOT_INLINE void walk_from(const ForestTop& top, const TopEnds& at, Int block, Int row,
                              Element* sums) const {
    if (top.bottoms != 0) return walk_bottoms(top, at, block, row, sums);
    const std::uint32_t* const ends = top.ends[0];
    const auto start = [&](Int /*row*/, Int tree) { return ends[at[tree]]; };
    const Int steps = larger(0, blocks_[block].depth - ForestTop::kSteps);
    walk<1, 2 * kFew>(blocks_[block], {0, blocks_[block].trees}, row, sums, steps, start);
  }

  // What a tree says of a row, from the end of its top on. `at`: of the tree's lane.
  TFAOT_INLINE std::int32_t bottom_leaf(const char* bottoms, Int lane, std::uint32_t at,
                                        const Key* keys) const {
    constexpr Int kTreeBytes = ForestTop::kEnds * sizeof(ForestBottom);
    constexpr Int kEndBytes = sizeof(ForestBottom) / kTopLanes;  // from one number of a lane on
    const Int place = at * kEndBytes + lane * (kTreeBytes - kEndBytes);
    const auto& bottom = *reinterpret_cast<const ForestBottom*>(bottoms + place);
    const Int first = keys[bottom.slots[0]] > bottom.keys[0] ? 1 : 0;
    const Int second = keys[bottom.slots[1 + first]] > bottom.keys[1 + first] ? 1 : 0;
    return bottom.leaves[2 * first + second];
  }

  TFAOT_INLINE void walk_bottoms(const ForestTop& top, const TopEnds& at, Int block, Int row,
                                 Element* sums) const {
    const char* const bottoms = reinterpret_cast<const char*>(nodes_ + top.bottoms);
    const Key* const keys = keys_ + row * call_.slots;
    const Int trees = blocks_[block].trees;
    Element* const of_row = sums + row * call_.targets;
    const auto leaf = [&](Int tree) __attribute__((always_inline)) {
      return bottom_leaf(bottoms, tree, at[tree], keys);
    };
    if (call_.vectors != 0) {
      for (Int tree = 0; tree < trees; ++tree) add_leaf(leaf(tree), of_row);
      return;
    }
    Element total = of_row[blocks_[block].target];
    for (Int tree = 0; tree < trees; tree += kFew) {
      total += few_weights(
          trees - tree, [&](Int i)
                            __attribute__((always_inline)) { return weight_in(leaf(tree + i)); });
    }
    of_row[blocks_[block].target] = total;
  }
#endif

  void make_keys(const Element* x, Int row) {
    Key* const keys = keys_ + row * call_.slots;
    Key* const missing_first =
        call_.slots > 1 + call_.features ? keys + 1 + call_.features : nullptr;
    keys[0] = kSmallestKey;
#if TFAOT_HAS_FOREST_TOPS
    make_keys_of_vectors(x, call_.features, keys + 1, missing_first);
#else
    constexpr Element kInfinity = static_cast<Element>(__builtin_inf());
    Key infinity;
    __builtin_memcpy(&infinity, &kInfinity, sizeof infinity);
    for (Int i = 0; i < call_.features; ++i) {
      Key bits;
      __builtin_memcpy(&bits, x + i, sizeof bits);
      const bool is_missing = (bits & kLargestKey) > infinity;
      const Key key = bits ^ ((bits >> (kKeyBits - 1)) & kLargestKey);
      keys[1 + i] = is_missing ? kLargestKey : key;
      if (missing_first != nullptr) missing_first[i] = is_missing ? kSmallestKey : key;
    }
#endif
  }

  // Through some trees of a block, kTrees at a time. start(r, tree): where the walk of the r-th row
  // from `row` on begins.
  template <int kRows, int kTrees, typename Start>
  TFAOT_INLINE void walk(const ForestBlock& block, const Range& trees, Int row, Element* sums,
                         Int steps, const Start& start) const {
    Element* const of_row = sums + row * call_.targets;
    Element* const target = of_row + block.target;
    Element totals[kRows];
    for (int r = 0; r < kRows; ++r) totals[r] = target[r * call_.targets];
    for (Int skip = trees.first; skip < trees.end; skip += kTrees) {
      Word at[kRows * kTrees];
      for_each<kRows * kTrees>([&](auto i) {
        at[i] = start(i / kTrees, skip + i % kTrees);
        asm("" : "+r"(at[i]));  // g++ would collect them in vectors, from which it takes them again
      });
      const Key* const keys = keys_ + row * call_.slots;
      for (Int step = 0; step < steps; ++step) {
        for_each<kRows * kTrees>([&](auto i) {
          const ForestNode node = nodes_[at[i]];
          const Key key = keys[i / kTrees * call_.slots + static_cast<Int>(node.word & kSlotMask)];
          at[i] = (node.word >> kSlotBits) + static_cast<Word>(key > node.key);
        });
      }
      if (call_.vectors != 0) {
        add_leaves<kRows, kTrees>(at, smaller(kTrees, block.trees - skip), of_row);
        continue;
      }
      for_each<kRows * kTrees / kFew>([&](auto few) {
        constexpr int i = few * kFew;
        totals[i / kTrees] += few_weights(
            block.trees - skip - i % kTrees, [&](Int k) __attribute__((always_inline)) {
              return weight_in(nodes_[at[i + k]].key);
            });
      });
    }
    if (call_.vectors != 0) return;
    for (int r = 0; r < kRows; ++r) target[r * call_.targets] = totals[r];
  }

  // `sums`: of the first row.
  template <int kRows, int kTrees>
  TFAOT_INLINE void add_leaves(const Word* at, Int trees, Element* sums) const {
    for (int r = 0; r < kRows; ++r) {
      Element* const sum = sums + r * call_.targets;
      for (Int k = 0; k < trees; ++k) add_leaf(nodes_[at[r * kTrees + k]].key, sum);
    }
  }

  TFAOT_INLINE void add_leaf(Key number, Element* sum) const {
    const Element* const leaf = leaves_ + number * call_.targets;
    for (Int target = 0; target < call_.targets; ++target) sum[target] += leaf[target];
  }

  // In fours, so that a row's result is the same in every batch. Of them, the first `trees` count.
  template <typename Weight>
  static TFAOT_INLINE Element few_weights(Int trees, const Weight& weight) {
    if (trees >= kFew) return (weight(0) + weight(1)) + (weight(2) + weight(3));
    if (trees <= 0) return 0;
    return (weight(0) + (trees > 1 ? weight(1) : 0)) + (trees > 2 ? weight(2) : 0);
  }

  static TFAOT_INLINE Element weight_in(Key bits) {
    Element weight;
    __builtin_memcpy(&weight, &bits, sizeof weight);
    return weight;
  }

  const ForestCall& call_;
  const ForestBlock* blocks_;
  const Element* x_;
  const ForestNode* nodes_;
  const Element* leaves_;
  Element* result_;
  Key* keys_;
};

}  // namespace

extern "C" void TFAOT_KERNEL(forest)(void* out, const void** in) {
  const auto& call = *static_cast<const ForestCall*>(in[0]);
  Int rows = call.rows;
  if (call.live_rows != 0) {
    const auto& live = *static_cast<const Int*>(in[call.vectors != 0 ? 4 : 3]);
    rows = smaller(rows, live * call.live_rows);
  }
  Forest(call, in, static_cast<void* const*>(out)).run(rows);
}
