// SPDX-License-Identifier: Apache-2.0
#include "inspect/run_pass.h"

#include "compiler/code/optimize.h"
#include "compiler/hlo/canonical.h"
#include "inspect/read_hlo.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

Result<const Pass*> pass_named(const std::string& name) {
  if (const Pass* const pass = find_pass(name)) return pass;
  Error error("there is no pass '" + name + "'");
  for (const Pass& pass : passes()) {
    error.note(std::string(pass.name) + ": " + std::string(pass.why));
  }
  return fail(std::move(error));
}

Result<std::int64_t> input_count(const std::string& word, std::int64_t parameters) {
  if (word.empty()) return parameters;
  const auto inputs = parse_number<std::int64_t>(word);
  if (inputs && *inputs >= 0 && *inputs <= parameters) return *inputs;
  return fail(Error("'" + word + "' is no number of inputs: the module has " +
                    std::to_string(parameters) + " parameters"));
}

}  // namespace

Result<std::string> run_pass(const FileSystem& fs, const PassQuestion& question) {
  TFAOT_ASSIGN(const Pass* const pass, pass_named(question.pass));
  TFAOT_ASSIGN(const std::string contents, read_limited(fs, question.file, kDumpFileLimit));
  const auto module = parse_module(contents, question.file.ends_with(".pb"));
  if (!module) return fail(Error(module.error()).moved_to({question.file}));
  TFAOT_ASSIGN(const std::int64_t inputs,
               input_count(question.inputs, (*module)->entry_computation()->num_parameters()));
  const Choices choices;
  PassContext state{**module, inputs, choices};
  TFAOT_TRY(pass->run(state));
  return hlo_text(**module);
}

}  // namespace tfaot::toolkit::engine
