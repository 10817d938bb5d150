// SPDX-License-Identifier: Apache-2.0
// Estimates the cost of a call of compiled code from its HLO, for packages that nobody measured. It
// is a roofline over the calls of our kernels (multiply-adds against reading weights), over the
// loops that XLA makes (by elements and kind of operation), and over waiting for caches that are
// too small. It only compares sizes of one model at one CPU level; machine_model.h has the
// constants. Pure function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

struct CodeSize {
  std::int64_t inputs = 0;         // parameters after these are weights
  std::int64_t scratch_bytes = 0;  // all temporaries of the code
  std::string kernels = "x86_64";  // of the level (JobLevel::kernels)
};

// Every level has the same HLO, and shares hardly depend on it: the one in the middle decides.
inline constexpr const char* kUsualKernels = "x86_64_v3";

struct StaticCost {
  std::uint64_t picoseconds = 1;      // of a call, at least 1
  std::uint32_t live_permille = 0;    // the share of products that skip rows of padding
  std::uint32_t shared_permille = 0;  // the share of kernels that share their work
};

// Kernel calls of `module` are in the form of add_kernel_call(), with or without a level.
StaticCost static_cost(const xla::HloModule& module, const CodeSize& code);

// The share of each instruction, in picoseconds: of a loop with all its turns, of a fusion with all
// it holds, of an instruction inside of them once.
std::map<const HloInstruction*, double> instruction_costs(const xla::HloModule& module,
                                                          const CodeSize& code);

// A product or a convolution that no kernel of ours computes, since none takes its types or form:
// XLA does, more slowly.
struct XlaProduct {
  std::string text;  // "op 'Conv' (node 'conv1')"
  double share = 0;  // of the estimated time of a call, in all turns of its loop
};
// In the order of the program, without those of less than a hundredth of the time.
std::vector<XlaProduct> products_of_xla(const xla::HloModule& module, const CodeSize& code);

// For users; empty: there are none. Shares are rounded, so that several batch sizes say the same.
std::string warning_of(const std::vector<XlaProduct>& products);

}  // namespace tfaot::toolkit::engine
