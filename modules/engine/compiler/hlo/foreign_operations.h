// SPDX-License-Identifier: Apache-2.0
// Instructions that compiled code cannot contain, in a model of any format: calls of functions that
// are not XLA's own, exchange with a host, random numbers; and their names in messages. Pure
// functions.
#pragma once

#include <string>
#include <string_view>

#include "compiler/hlo/hlo.h"
#include "tfaot/base/result.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla_data.pb.h"

namespace tfaot::toolkit::engine {

// True if a list of words, with a blank between them, has the word.
bool is_listed(std::string_view words, std::string_view word);

// For messages: names come from the model and may have any length.
std::string shortened(const std::string& name);

// "op 'Mean' (node 'model/mean', HLO reduce 'reduce.1')", as far as TensorFlow kept the names.
struct HloName {
  std::string_view opcode;
  std::string_view name;
};
std::string describe_instruction(const HloName& name, const xla::OpMetadata& metadata);

// The name of the model's node, or if that is not known of the instruction.
template <typename Instruction>
std::string name_of_node(const Instruction& one) {
  const std::string& node = one.metadata().op_name();
  return node.empty() ? std::string(one.name()) : node;
}
// "op 'Mean' (node 'model/mean')", or without the operation, which JAX does not name, the name.
std::string describe_node(const HloInstruction& one);

// XLA's numbers differ from those of TensorFlow's kernels, also for stateless operations.
bool draws_random_numbers(std::string_view operation);

// Error: names the first instruction that calls a function other than XLA's own, or that exchanges
// data with a host. `label`: the model, "MODEL" in "MODEL cannot be compiled".
Status check_calls(const xla::HloModuleProto& module, const std::string& label);

// Fails if a result depends on random numbers, and names the operations that draw them. Numbers
// that TensorFlow computed ahead are constants here. REQUIRES: code that never runs has been
// simplified away.
Status check_random_numbers(const xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
