// SPDX-License-Identifier: Apache-2.0
// Rows that are shared out, each of which is computed alone.
#pragma once

#include "gemm.h"

namespace {

template <typename Work>
TFAOT_ONE_COPY void work_on(const Work& work, Int first, Int end) {
  work(first, end);
}

// work(first, end) for some of the rows at a time. `shared` and `word`: of the call, and the in[]
// after all others. Pieces begin at multiples of `unit`.
template <typename Work>
TFAOT_INLINE void share_rows(Int rows, Int unit, Int shared, const void* const* word,
                             const Work& work) {
  tfaot::Tasks* const tasks = shared != 0 ? tasks_at(*word) : nullptr;
  if (tasks == nullptr) return work_on(work, 0, rows);
  struct Pieces {
    const Work& work;
    Int rows, unit, units, parts;
  };
  const Int units = ceil_div(rows, unit);
  Pieces pieces = {work, rows, unit, units, smaller(units, kLanePieces * tasks->lanes)};
  tasks->run(
      *tasks, pieces.parts,
      [](void* context, Int piece, Int /*lane*/) {
        const auto& p = *static_cast<const Pieces*>(context);
        const Int first = p.units * piece / p.parts * p.unit;
        work_on(p.work, first, smaller(p.rows, p.units * (piece + 1) / p.parts * p.unit));
      },
      &pieces);
}

}  // namespace
