// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_verdict.h"

#include <fmt/format.h>

#include <optional>

#include "compiler/hlo/foreign_operations.h"
#include "tfaot/records/model_check.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace tfaot::toolkit::engine {
namespace {

std::string operation(const xla::HloInstruction& one) {
  return describe_instruction({xla::HloOpcodeString(one.opcode()), one.name()}, one.metadata());
}

std::string explained(const RowCause& cause) {
  return fmt::format("{} {}", operation(*cause.at), cause.why);
}

constexpr const char* kRule =
    "batches are composed of the compiled sizes, which is right only when each row is treated "
    "alone";
constexpr const char* kAdvice =
    "export the model so that it treats each row alone, for example in inference mode "
    "(training=False), or set 'compilation.rows: coupled', or '--rows coupled': then only batches "
    "of the compiled sizes run";

constexpr const char* kStaticQuantization =
    "the model is quantized dynamically, by a scale of the whole batch; quantize it statically "
    "(QDQ: onnxruntime.quantization.quantize_static), so that its scales are in the file";

// An ONNX operator, by the name that its instructions have.
bool is_dynamic_quantization(const xla::HloInstruction& at) {
  return at.metadata().op_type().starts_with("DynamicQuantize");
}

constexpr const char* kIfRowsMix =
    ". If rows do mix, batches of other sizes than the compiled ones give wrong results: set "
    "'compilation.rows: coupled', or '--rows coupled'";

struct Mixing {
  const RowDoubt* doubt = nullptr;
  std::optional<std::string> seen;
};

Error refusal(const std::vector<Mixing>& mixing) {
  const RowDoubt& first = *mixing.front().doubt;
  Error error(fmt::format("output '{}' mixes the rows of a batch: {}", first.output,
                          explained(*first.cause)));
  if (mixing.front().seen) error.note("seen in a trial run: " + *mixing.front().seen);
  for (std::size_t i = 1; i < mixing.size(); ++i) {
    error.note(fmt::format("so does output '{}': {}", mixing[i].doubt->output,
                           explained(*mixing[i].doubt->cause)));
  }
  if (is_dynamic_quantization(*first.cause->at)) error.note(kStaticQuantization);
  std::vector<std::string> nodes;
  for (const Mixing& one : mixing) {
    const xla::HloInstruction& at = *one.doubt->cause->at;
    const std::string& node = at.metadata().op_name();
    nodes.push_back(node.empty() ? std::string(at.name()) : node);
  }
  return std::move(error.note(kRule))
      .note(kAdvice)
      .about(word_of(ProblemKind::kRowsMix), std::move(nodes));
}

void not_tried(const std::vector<RowDoubt>& doubts, const Error& why, const RowMessages& messages) {
  for (const RowDoubt& one : doubts) {
    messages.warning(
        fmt::format("output '{}' may mix the rows of a batch: {}, and it could not be tried ({}){}",
                    one.output, explained(*one.cause), why.message(), kIfRowsMix));
  }
}

}  // namespace

Status judge_rows(const std::vector<RowDoubt>& doubts, const Result<TrialFindings>& tried,
                  const RowMessages& messages) {
  if (!tried) {
    not_tried(doubts, tried.error(), messages);
    return {};
  }
  std::vector<Mixing> mixing;
  for (const RowDoubt& one : doubts) {
    const auto& seen = (*tried)[one.index];
    if (seen) {
      mixing.push_back({&one, seen});
      continue;
    }
    const std::string doubt = fmt::format(
        "output '{}' is not proved to treat each row alone, since {}; in trial runs each row was "
        "treated alone",
        one.output, explained(*one.cause));
    if (one.cause->mixes) {
      messages.warning(doubt + kIfRowsMix);
    } else {
      messages.detail(doubt);
    }
  }
  if (!mixing.empty()) return fail(refusal(mixing));
  return {};
}

}  // namespace tfaot::toolkit::engine
