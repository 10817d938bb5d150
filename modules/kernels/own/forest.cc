// SPDX-License-Identifier: Apache-2.0
// tfaot_forest of abi.h. Eight walks go on at the same time, without a branch, so that none waits
// for the loads of another: two rows through four trees, or one row through eight. Vectors do not
// help: a gather takes longer than the loads that it replaces (docs/measurements.md).
#include "gemm.h"

namespace {

using tfaot::kernels::ForestBlock;
using tfaot::kernels::ForestCall;

#if TFAOT_IS_F32
using Key = std::int32_t;
using Word = std::uint32_t;
#else
using Key = std::int64_t;
using Word = std::uint64_t;
#endif

constexpr int kHalf = tfaot::kernels::kForestBlockTrees / 2;
constexpr int kSlotBits = tfaot::kernels::forest_slot_bits(sizeof(Element));
constexpr Word kSlotMask = (Word{1} << kSlotBits) - 1;
constexpr int kKeyBits = sizeof(Key) * 8;
constexpr Key kLargestKey = static_cast<Key>(~Word{0} >> 1);
constexpr Key kSmallestKey = -kLargestKey - 1;

struct ForestNode {
  Key key;  // of a leaf: what it holds
  Word word;
};

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
  void run_tile(Int first, Int rows) {
    for (Int row = 0; row < rows; ++row) make_keys(x_ + (first + row) * call_.features, row);
    Element* const sums = result_ + first * call_.targets;
    for (Int i = 0; i < rows * call_.targets; ++i) sums[i] = 0;
    for (const ForestBlock* block = blocks_; block != blocks_ + call_.blocks; ++block) {
      for (int half = 0; half < 2 && half * kHalf < block->trees; ++half) {
        for (Int row = 0; row + 2 <= rows; row += 2) {
          walk<2, kHalf>(*block, half * kHalf, row, sums + row * call_.targets);
        }
      }
      if (rows % 2 != 0) {
        walk<1, 2 * kHalf>(*block, 0, rows - 1, sums + (rows - 1) * call_.targets);
      }
    }
  }

  void make_keys(const Element* x, Int row) {
    Key* const keys = keys_ + row * call_.slots;
    Key* const missing_first =
        call_.slots > 1 + call_.features ? keys + 1 + call_.features : nullptr;
    constexpr Element kInfinity = static_cast<Element>(__builtin_inf());
    Key infinity;
    __builtin_memcpy(&infinity, &kInfinity, sizeof infinity);
    keys[0] = kSmallestKey;
    for (Int i = 0; i < call_.features; ++i) {
      Key bits;
      __builtin_memcpy(&bits, x + i, sizeof bits);
      const bool is_missing = (bits & kLargestKey) > infinity;
      const Key key = bits ^ ((bits >> (kKeyBits - 1)) & kLargestKey);
      keys[1 + i] = is_missing ? kLargestKey : key;
      if (missing_first != nullptr) missing_first[i] = is_missing ? kSmallestKey : key;
    }
  }

  // Of the block, trees from `skip` on. `sums`: of the rows.
  template <int kRows, int kTrees>
  TFAOT_INLINE void walk(const ForestBlock& block, Int skip, Int row, Element* sums) const {
    const Key* const keys = keys_ + row * call_.slots;
    Word at[kRows * kTrees];
    TFAOT_UNROLL
    for (int i = 0; i < kRows * kTrees; ++i) {
      // The last tree stands in for those that a short block lacks.
      at[i] = static_cast<Word>(block.first + smaller(skip + i % kTrees, block.trees - 1));
    }
    for (Int step = 0; step < block.depth; ++step) {
      TFAOT_UNROLL
      for (int i = 0; i < kRows * kTrees; ++i) {
        const ForestNode node = nodes_[at[i]];
        const Key key = keys[i / kTrees * call_.slots + static_cast<Int>(node.word & kSlotMask)];
        at[i] = (node.word >> kSlotBits) + static_cast<Word>(key > node.key);
      }
    }
    TFAOT_UNROLL
    for (int r = 0; r < kRows; ++r) {
      Element* const sum = sums + r * call_.targets;
      if (call_.vectors != 0) {
        for (Int k = 0; k < smaller(kTrees, block.trees - skip); ++k) {
          const Element* const leaf = leaves_ + nodes_[at[r * kTrees + k]].key * call_.targets;
          for (Int target = 0; target < call_.targets; ++target) sum[target] += leaf[target];
        }
        continue;
      }
      // In fours, so that a row's result is the same in every batch.
      TFAOT_UNROLL
      for (int k = 0; k < kTrees; k += kHalf) {
        const Word* const ends = at + r * kTrees + k;
        const Int trees = block.trees - skip - k;
        sum[block.target] += (weight(ends[0], 0 < trees) + weight(ends[1], 1 < trees)) +
                             (weight(ends[2], 2 < trees) + weight(ends[3], 3 < trees));
      }
    }
  }

  TFAOT_INLINE Element weight(Word leaf, bool counts) const {
    Element weight;
    __builtin_memcpy(&weight, &nodes_[leaf].key, sizeof weight);
    return counts ? weight : 0;
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
