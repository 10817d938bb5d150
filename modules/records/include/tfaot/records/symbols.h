// SPDX-License-Identifier: Apache-2.0
// The names of the symbols of compiled code. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

// All our symbols begin with it: the models' entries and weights, and the runtime's kernels.
inline constexpr std::string_view kSymbolPrefix = "tfaot_";

// "tfaot_a_b_test" for namespace a::b and model test: all symbols of the model begin with it. No
// leading "__": XLA would rename it.
std::string symbol_prefix(const std::string& namespace_name, const std::string& model_name);

// "tfaot_tfaot_model_test_bs4_x86_64_v3"; `prefix` is the model's.
std::string entry_symbol(const std::string& prefix, std::int64_t batch_size,
                         const std::string& cpu_level);

// "tfaot_tfaot_model_test_weights"
std::string weights_symbol(const std::string& prefix);

// What the engine calls the entry of every object, because the same code serves models of any name.
// The compile room replaces it by CompiledCode::entry_symbol.
inline constexpr const char* kNeutralEntrySymbol = "tfaot_entry";

}  // namespace tfaot::toolkit
