// SPDX-License-Identifier: Apache-2.0
// Included first by each kernel's source: the symbol and the element type of the object that it is
// compiled to, operands and functions of epilogues, and work shared among threads.
#pragma once

#include "simd/vec.h"
#include "tfaot/kernels/abi.h"
#include "tfaot/runtime/detail/tasks.h"

#define TFAOT_JOIN_(a, b, c) tfaot_##a##_##b##_##c
#define TFAOT_JOIN(a, b, c) TFAOT_JOIN_(a, b, c)
// The symbol of a kernel of this source's type and level, such as tfaot_matmul_f32_x86_64_v3.
#define TFAOT_KERNEL(name) TFAOT_JOIN(name, TFAOT_TYPE, TFAOT_LEVEL)

namespace {

#define TFAOT_IS_f32 1
#define TFAOT_IS_f64 0
#define TFAOT_IS_(type) TFAOT_IS_##type
#define TFAOT_IS(type) TFAOT_IS_(type)
#define TFAOT_IS_F32 TFAOT_IS(TFAOT_TYPE)

using f32 = float;
using f64 = double;
using Element = TFAOT_TYPE;

// Integers as large as the elements.
using Key = std::conditional_t<TFAOT_IS_F32, std::int32_t, std::int64_t>;
using Word = std::make_unsigned_t<Key>;
constexpr Key kLargestKey = static_cast<Key>(~Word{0} >> 1);
constexpr Key kSmallestKey = -kLargestKey - 1;
constexpr auto kInfinityKey =
    static_cast<Key>(TFAOT_IS_F32 ? std::uint64_t{0xFF} << 23 : std::uint64_t{0x7FF} << 52);

// The bits of numbers as integers of the same order, or vectors of them.
template <typename K>
TFAOT_INLINE K ordered(K bits) {
  return bits ^ ((bits >> (8 * sizeof(Key) - 1)) & kLargestKey);
}

// The struct of a call, an operand, and a result or the scratch memory (abi.h).
template <typename Call>
TFAOT_INLINE const Call& call_of(const void** in) {
  return *static_cast<const Call*>(in[0]);
}
template <typename T = Element>
TFAOT_INLINE const T* operand(const void** in, Int i) {
  return static_cast<const T*>(in[i]);
}
template <typename T = Element>
TFAOT_INLINE T* result(void* out, int i) {
  return static_cast<T*>(static_cast<void* const*>(out)[i]);
}

// With kEpilogueShared, `word` is the in[] with the address of the tasks; null: there are none.
TFAOT_INLINE tfaot::Tasks* tasks_at(const void* word) { return read_as<tfaot::Tasks*>(word); }

// The first of `rows` that count: in a padded batch, `each` for each row of the model's batch,
// whose number is at *word. `each` is 0 if all count; there is no word then.
TFAOT_INLINE Int live_rows(Int rows, Int each, const void* const* word) {
  return each == 0 ? rows : smaller(rows, each * *static_cast<const Int*>(*word));
}

// The operands of an epilogue; null: none. Each of the functions moves `next` past its operand.
TFAOT_INLINE const Element* bias_at(Int epilogue, const void**& next) {
  if ((epilogue & kEpilogueBias) == 0) return nullptr;
  return static_cast<const Element*>(*next++);
}
TFAOT_INLINE const ResultFunction* function_at(Int epilogue, const void**& next) {
  if ((epilogue & kEpilogueFunction) == 0) return nullptr;
  return static_cast<const ResultFunction*>(*next++);
}

struct EpilogueOperands {
  const Element* bias;
  const Element* row_bias;
  const Element* addends;
  const ResultFunction* function;
  Int rows;             // that count, or images
  tfaot::Tasks* tasks;  // null: the caller computes them alone
};

// `each`: of live_rows().
TFAOT_INLINE EpilogueOperands epilogue_operands(Int epilogue, Int rows, Int each,
                                                const void** next) {
  EpilogueOperands made = {bias_at(epilogue, next), nullptr, nullptr, nullptr, rows, nullptr};
  if ((epilogue & kEpilogueRowBias) != 0) made.row_bias = static_cast<const Element*>(*next++);
  if ((epilogue & kEpilogueSum) != 0) made.addends = static_cast<const Element*>(*next++);
  made.function = function_at(epilogue, next);
  made.rows = live_rows(rows, each, next);
  if ((epilogue & kEpilogueShared) != 0) made.tasks = tasks_at(next[each == 0 ? 0 : 1]);
  return made;
}

// Results, row by row, that a function is applied to in place.
struct Activated {
  Element* y;
  Int row, rows, columns;  // from one row to the next; how many; of each
  const ResultFunction* function;
};

}  // namespace

// Functions of results that a kernel has just stored, while they are in the caches: in registers,
// in each kind of tile, they would be much code and no faster. Not in a struct: for a few results
// that would take as long as the function.
extern "C" __attribute__((visibility("hidden"))) void TFAOT_KERNEL(activation)(
    float* y, Int row, Int rows, Int columns, const ResultFunction* function);

namespace {

// Without a function, results stay what they are; float64 has none.
TFAOT_INLINE void activate([[maybe_unused]] const Activated& of) {
#if TFAOT_IS_F32
  if (of.function == nullptr) return;
  const bool is_one = of.row == of.columns;  // as if it were one row
  TFAOT_KERNEL(activation)
  (of.y, of.row, is_one ? 1 : of.rows, is_one ? of.rows * of.columns : of.columns, of.function);
#endif
}

// Pieces for each lane, so that all end at about the same time.
constexpr Int kLanePieces = 4;

// True if this many equal pieces keep all lanes busy until the end.
TFAOT_INLINE bool are_enough(Int pieces, const tfaot::Tasks& tasks) {
  return pieces % tasks.lanes == 0 || pieces >= kLanePieces * tasks.lanes;
}

// Keeps one copy of code that computes pieces as well as the whole.
#if defined(__clang__)
#define TFAOT_ONE_COPY __attribute__((noinline))
#else
#define TFAOT_ONE_COPY __attribute__((noinline, noclone))
#endif

// The scratch memory of a lane.
TFAOT_INLINE Element* scratch_of(const tfaot::Tasks& tasks, Int lane) {
  return reinterpret_cast<Element*>(tasks.scratch) +
         static_cast<unsigned long>(lane) * (tasks.lane_bytes / sizeof(Element));
}

// Calls work(piece, lane) for each of `pieces` pieces, by all lanes.
template <typename Work>
TFAOT_INLINE void share(tfaot::Tasks& tasks, Int pieces, Work work) {
  tasks.run(
      tasks, pieces,
      [](void* context, Int piece, Int lane) { (*static_cast<const Work*>(context))(piece, lane); },
      &work);
}

// Calls work(piece, scratch memory) for each of `pieces` pieces, by all lanes or, without tasks, by
// the caller alone.
template <typename Work>
TFAOT_INLINE void share_or_run(tfaot::Tasks* tasks, Int pieces, Element* scratch,
                               const Work& work) {
  if (tasks == nullptr) {
    for (Int i = 0; i < pieces; ++i) work(i, scratch);
  } else {
    share(*tasks, pieces, [&](Int piece, Int lane) { work(piece, scratch_of(*tasks, lane)); });
  }
}

template <typename Work>
TFAOT_ONE_COPY void work_on(const Work& work, Int first, Int end) {
  work(first, end);
}

// Calls work(first, end) for some of the rows at a time. `shared`: of the call; `word`: the in[]
// after all others. Pieces begin at multiples of `unit`.
template <typename Work>
TFAOT_INLINE void share_rows(Int rows, Int unit, Int shared, const void* const* word,
                             const Work& work) {
  tfaot::Tasks* const tasks = shared != 0 ? tasks_at(*word) : nullptr;
  if (tasks == nullptr) return work_on(work, 0, rows);
  const Int units = ceil_div(rows, unit);
  const Int parts = smaller(units, kLanePieces * tasks->lanes);
  share(*tasks, parts, [&](Int piece, Int /*lane*/) {
    const Int first = units * piece / parts * unit;
    work_on(work, first, smaller(rows, units * (piece + 1) / parts * unit));
  });
}

}  // namespace
