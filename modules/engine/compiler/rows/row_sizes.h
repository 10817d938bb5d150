// SPDX-License-Identifier: Apache-2.0
// Compares the HLO of one model at two batch sizes: finds differences other than the number of
// rows. Used by one thread.
#pragma once

#include <map>
#include <set>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

// All from the first module. Both modules must outlive it.
struct RowSizes {
  std::set<const xla::HloInstruction*> numbers;  // constants whose value follows the batch size
  std::set<const xla::HloInstruction*> others;   // operations that differ between both
  std::map<const xla::HloInstruction*, const xla::HloInstruction*> twins;

  // True if this dimension is as long as the batch, or a multiple of it.
  bool follows_batch(const xla::HloInstruction& one, std::int64_t dimension) const;
};

// `small` and `large` are the modules with `sizes.first` and `sizes.second` rows. These must be
// primes of which no other dimension of the model is a multiple.
RowSizes compare_sizes(const xla::HloModule& small, const xla::HloModule& large,
                       std::pair<std::int64_t, std::int64_t> sizes);

// The same model at a third size, which need not be a prime.
struct OtherSize {
  const xla::HloModule& module;
  std::int64_t rows;
};
// The first operation of `small` that is another one at the other size; null: there is none.
// Reshapes and broadcasts do not count, since one row needs fewer. Numbers count that do not follow
// the batch size from `small` to `large`, and for one row all.
const xla::HloInstruction* difference_at(const OtherSize& other, const xla::HloModule& small,
                                         const xla::HloModule& large,
                                         std::pair<std::int64_t, std::int64_t> sizes);

}  // namespace tfaot::toolkit::engine
