// SPDX-License-Identifier: Apache-2.0
// Compares the HLO of one model at two batch sizes: what differs but for the number of rows. Used
// by one thread.
#pragma once

#include <map>
#include <set>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Of the first module. Both must outlive it.
struct RowSizes {
  std::set<const xla::HloInstruction*> numbers;  // constants whose value follows the batch size
  std::set<const xla::HloInstruction*> others;   // operations that are not the same in both
  std::map<const xla::HloInstruction*, const xla::HloInstruction*> twins;

  // This dimension is as long as the batch, or a multiple.
  bool follows_batch(const xla::HloInstruction& one, std::int64_t dimension) const;
};

// `small` and `large` are the modules of `sizes.first` and `sizes.second` rows; primes which no
// other dimension of the model is a multiple of.
RowSizes compare_sizes(const xla::HloModule& small, const xla::HloModule& large,
                       std::pair<std::int64_t, std::int64_t> sizes);

}  // namespace tfaot::toolkit::engine
