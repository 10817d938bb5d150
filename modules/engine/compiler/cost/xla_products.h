// SPDX-License-Identifier: Apache-2.0
// Products and convolutions that no kernel of ours computes, since none takes their types or forms:
// XLA does, more slowly. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "compiler/cost/static_cost.h"
#include "compiler/kernels/machine_model.h"

namespace tfaot::toolkit::engine {

// The cycles of its multiply-adds. REQUIRES: a dot or a convolution.
double xla_product_cycles(const Machine& machine, const xla::HloInstruction& product);

struct XlaProduct {
  std::string text;  // "op 'Conv' (node 'conv1')"
  double share = 0;  // of the estimated time of a call, in all turns of its loop
};
// In the order of the program, without those of less than a hundredth of the time.
std::vector<XlaProduct> products_of_xla(const xla::HloModule& module, const CodeSize& code);

// For users; empty: there are none. Shares are rounded, so that several batch sizes say the same.
std::string warning_of(const std::vector<XlaProduct>& products);

}  // namespace tfaot::toolkit::engine
