// SPDX-License-Identifier: Apache-2.0
// LLVM IR and assembly with the calls of kernels marked. Safe from many threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct CodeListing {
  std::string text;
  std::vector<std::size_t> calls;  // lines that call a kernel, counted from 1
};

// True if a function that an object calls computes tensors: a kernel of ours or XLA's. Others
// report errors, trace or start threads.
bool is_kernel_symbol(const std::string& symbol);

// `kernels`: the symbols.
CodeListing marked_listing(std::string text, const std::vector<std::string>& kernels);

// The instructions of an object. Starts binutils' objdump. Error: it is not installed, or cannot
// read the object.
Result<CodeListing> disassembled(const Path& object, const std::vector<std::string>& kernels);

}  // namespace tfaot::toolkit
