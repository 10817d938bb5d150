// SPDX-License-Identifier: Apache-2.0
// tfaot_forest of abi.h. Eight walks go on at the same time, without a branch, so that none
// waits for the loads of another: two rows through four trees, or one row through eight. Vectors
// help with the first steps only (ForestTop of abi.h): further down a tree has too many nodes,
// and a gather takes longer than the loads that it replaces (16 trees in a vector: 1.7 to 2.6 times
// as long).
#include "simd/kernel.h"

#define TFAOT_HAS_FOREST_TOPS (TFAOT_IS_F32 && TFAOT_HAS_MASKS)

namespace {

constexpr int kFew = 4;  // trees whose results are added up together
constexpr int kBlockTrees = static_cast<int>(kForestBlockTrees);
constexpr int kSlotBits = forest_slot_bits(sizeof(Element));
constexpr Word kSlotMask = (Word{1} << kSlotBits) - 1;

struct ForestNode {
  Key key;  // of a leaf: its value
  Word word;
};

#if TFAOT_HAS_FOREST_TOPS

// The first steps through the trees of a block, a tree in each lane of a vector. The features' keys
// are in registers, where a permutation finds them. A step selects among the nodes of its level by
// the masks of the steps before, so no lane reads memory of its own.

constexpr int kTopLanes = static_cast<int>(kForestBlockTrees);
constexpr __mmask16 kAllLanes = 0xFFFF;  // g++ 12 warns of the intrinsics without a mask

TFAOT_INLINE __mmask16 first_lanes(Int count) {
  return static_cast<__mmask16>((1U << larger(0, smaller(count, kTopLanes))) - 1);
}

// The keys of up to 16 features. `missing`: the lanes that are NaN; their key is the largest one.
TFAOT_INLINE __m512i keys_of_features(const float* x, __mmask16 lanes, __mmask16& missing) {
  const __m512 values = _mm512_maskz_loadu_ps(lanes, x);
  const __m512i bits = _mm512_castps_si512(values);
  const __m512i largest = _mm512_set1_epi32(0x7FFFFFFF);
  missing = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  const __m512i turned = _mm512_and_si512(_mm512_maskz_srai_epi32(kAllLanes, bits, 31), largest);
  return _mm512_mask_mov_epi32(_mm512_xor_si512(bits, turned), missing, largest);
}

// A row for the tops, with up to 16 * kVectors features.
template <int kVectors>
class TopRow {
 public:
  TFAOT_INLINE TopRow(const float* x, Int features) {
    TFAOT_EACH (v, kVectors) {
      const __mmask16 lanes = first_lanes(features - v * kTopLanes);
      __mmask16 missing = 0;
      keys_[v] = keys_of_features(x + v * kTopLanes, lanes, missing);
      has_missing_ = has_missing_ || missing != 0;
    }
  }

  // Finds the place in top.ends at which the row leaves the top, for each tree.
  TFAOT_INLINE void find(const ForestTop& top, std::uint32_t* ends) const {
    __mmask16 right[ForestTop::kSteps];
    right[0] = step<0>(top, right);
    right[1] = step<1>(top, right);
    right[2] = step<2>(top, right);
    right[3] = step<3>(top, right);
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    TFAOT_EACH (i, ForestTop::kSteps) {
      const int skipped = kTopLanes << (ForestTop::kSteps - 1 - i);
      at = _mm512_mask_add_epi32(at, right[i], at, _mm512_set1_epi32(skipped));
    }
    _mm512_storeu_si512(ends, at);
  }

 private:
  static TFAOT_INLINE __m512i either(__mmask16 right, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi32(right, a, b);
  }
  static TFAOT_INLINE __m128i either(__mmask16 right, __m128i a, __m128i b) {
    return _mm_mask_blend_epi8(right, a, b);
  }

  // Contents of the nodes that kLevel steps from node `first` lead to.
  template <int kLevel, typename Of>
  static TFAOT_INLINE auto reached(const __mmask16* right, int first, const Of& of) {
    if constexpr (kLevel == 0) {
      return of(first);
    } else {
      const auto a = reached<kLevel - 1>(right + 1, first, of);
      return either(*right, a, reached<kLevel - 1>(right + 1, first + (1 << (kLevel - 1)), of));
    }
  }

  // The lanes that go on to the right end.
  template <int kLevel>
  TFAOT_INLINE __mmask16 step(const ForestTop& top, const __mmask16* right) const {
    constexpr int kFirst = (1 << kLevel) - 1;
    const __m512i limits = reached<kLevel>(
        right, kFirst, [&](int node) { return _mm512_loadu_si512(top.keys[node]); });
    const __m512i slots = _mm512_maskz_cvtepi8_epi32(
        kAllLanes, reached<kLevel>(right, kFirst, [&](int node) {
          return _mm_loadu_si128(reinterpret_cast<const __m128i*>(top.slots[node]));
        }));
    const __m512i keys = keys_at(slots);
    const __mmask16 larger = _mm512_cmpgt_epi32_mask(keys, limits);
    if (!has_missing_) return larger;
    const __mmask16 is_largest = _mm512_cmpeq_epi32_mask(keys, _mm512_set1_epi32(0x7FFFFFFF));
    return static_cast<__mmask16>(larger & ~(is_largest & _mm512_movepi32_mask(slots)));
  }

  TFAOT_INLINE __m512i keys_at(__m512i slots) const {
    const __m512i low = _mm512_permutex2var_epi32(keys_[0], slots, keys_[1]);
    if constexpr (kVectors == 2) return low;
    const __m512i high = _mm512_permutex2var_epi32(keys_[kVectors - 2], slots, keys_[kVectors - 1]);
    const __mmask16 is_high = _mm512_test_epi32_mask(slots, _mm512_set1_epi32(2 * kTopLanes));
    return _mm512_mask_mov_epi32(low, is_high, high);
  }

  __m512i keys_[kVectors];
  bool has_missing_ = false;
};

using TopEnds = std::uint32_t[kTopLanes];

// For one row and the tops of some blocks.
template <int kVectors>
__attribute__((noinline)) void find_ends(const ForestTop* tops, Int count, const float* x,
                                         Int features, TopEnds* ends) {
  const TopRow<kVectors> row(x, features);
  for (Int i = 0; i < count; ++i) row.find(tops[i], ends[i]);
}

#endif

class Forest {
 public:
  Forest(const ForestCall& call, void* out, const void** in)
      : call_(call),
        blocks_(reinterpret_cast<const ForestBlock*>(&call + 1)),
        x_(operand(in, 1)),
        nodes_(operand<ForestNode>(in, 2)),
        leaves_(call.vectors != 0 ? operand(in, 3) : nullptr),
        result_(result(out, 0)),
        keys_(result<Key>(out, 1)) {}

  void run(Int rows) {
    const Int tile = forest_tile_rows(call_, sizeof(Element));
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
        // The last tree fills up a short block.
        return static_cast<Word>(block->first + smaller(tree, block->trees - 1));
      };
      // This many trees stay in the first-level cache while all rows go through them.
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
  // Several tops are searched before the walks from there, so that these do not wait for them.
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

  // The leaf of a row in a tree, from the end of the tree's top on. `at`: of the tree's lane.
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
    const auto leaf = [&](Int tree)
                          TFAOT_ALWAYS { return bottom_leaf(bottoms, tree, at[tree], keys); };
    if (call_.vectors != 0) {
      for (Int tree = 0; tree < trees; ++tree) add_leaf(leaf(tree), of_row);
      return;
    }
    Element total = of_row[blocks_[block].target];
    for (Int tree = 0; tree < trees; tree += kFew) {
      total +=
          few_weights(trees - tree, [&](Int i) TFAOT_ALWAYS { return weight_in(leaf(tree + i)); });
    }
    of_row[blocks_[block].target] = total;
  }
#endif

  void make_keys(const Element* x, Int row) {
    Key* const keys = keys_ + row * call_.slots;
    Key* const missing_first =
        call_.slots > 1 + call_.features ? keys + 1 + call_.features : nullptr;
    keys[0] = kSmallestKey;
    for (Int i = 0; i < call_.features; ++i) {
      const auto bits = read_as<Key>(x + i);
      const bool is_missing = (bits & kLargestKey) > kInfinityKey;
      const Key key = ordered(bits);
      keys[1 + i] = is_missing ? kLargestKey : key;
      if (missing_first != nullptr) missing_first[i] = is_missing ? kSmallestKey : key;
    }
  }

  // Walks through some trees of a block, kTrees at a time. start(r, tree): the node at which the
  // walk of row `row` + r begins.
  template <int kRows, int kTrees, typename Start>
  TFAOT_INLINE void walk(const ForestBlock& block, const Range& trees, Int row, Element* sums,
                         Int steps, const Start& start) const {
    Element* const of_row = sums + row * call_.targets;
    Element* const target = of_row + block.target;
    Element totals[kRows];
    for (int r = 0; r < kRows; ++r) totals[r] = target[r * call_.targets];
    for (Int skip = trees.first; skip < trees.end; skip += kTrees) {
      Word at[kRows * kTrees];
      for_each<kRows * kTrees>([&](auto i) {  // unrolled so early that at[i] needs no memory
        at[i] = start(i / kTrees, skip + i % kTrees);
        asm("" : "+r"(at[i]));  // g++ would pack them into vectors and unpack them again
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
        totals[i / kTrees] += few_weights(block.trees - skip - i % kTrees, [&](Int k) TFAOT_ALWAYS {
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

  // Adds up the first `trees` of four weights; in fours, so that a row's result is the same in
  // every batch.
  template <typename Weight>
  static TFAOT_INLINE Element few_weights(Int trees, const Weight& weight) {
    if (trees >= kFew) return (weight(0) + weight(1)) + (weight(2) + weight(3));
    if (trees <= 0) return 0;
    return (weight(0) + (trees > 1 ? weight(1) : 0)) + (trees > 2 ? weight(2) : 0);
  }

  static TFAOT_INLINE Element weight_in(Key bits) { return read_as<Element>(&bits); }

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
  const auto& call = call_of<ForestCall>(in);
  const void* const* const live = in + (call.vectors != 0 ? 4 : 3);
  Forest(call, out, in).run(live_rows(call.rows, call.live_rows, live));
}
