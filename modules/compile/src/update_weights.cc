// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/update_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tfaot/base/text.h"
#include "tfaot/compile/compile.h"
#include "tfaot/records/dtype.h"

namespace tfaot::toolkit {
namespace {

// The package's settings, such as the sizes of open dimensions, did fit the model that it was made
// from.
Error as_told(Error error) {
  if (error.where().key.empty()) return error;
  Error told = Error::at(error.where(), "another model than the package was made from");
  told.note(error.message());
  for (const std::string& note : error.notes()) told.note(note);
  return told;
}

using Lines = std::vector<std::string>;

constexpr std::size_t kShownWeights = 5;

std::string describe(const TensorSpec& tensor) {
  return fmt::format("{} [{}]", word_of(tensor.dtype), fmt::join(tensor.row_shape, ", "));
}
std::string describe(const Variable& variable) {
  return fmt::format("{} [{}]", variable.dtype, fmt::join(variable.shape, ", "));
}

using Tensors = std::map<std::string, std::string>;
Tensors by_name(const std::vector<TensorSpec>& tensors) {
  Tensors described;
  for (const TensorSpec& tensor : tensors) described[tensor.name] = describe(tensor);
  return described;
}

void compare_tensors(const char* role, const std::vector<TensorSpec>& package,
                     const std::vector<TensorSpec>& model, Lines& lines) {
  const Tensors ours = by_name(package);
  const Tensors theirs = by_name(model);
  for (const auto& [name, what] : ours) {
    const auto found = theirs.find(name);
    if (found == theirs.end()) {
      lines.push_back(fmt::format("{} '{}' is missing in the model", role, name));
    } else if (found->second != what) {
      lines.push_back(fmt::format("rows of {} '{}' are {} in the package, {} in the model", role,
                                  name, what, found->second));
    }
  }
  for (const auto& [name, what] : theirs) {
    if (!ours.contains(name)) {
      lines.push_back(fmt::format("{} '{}' is missing in the package", role, name));
    }
  }
}

void compare_variables(const std::vector<Variable>& package, const std::vector<Variable>& model,
                       Lines& lines) {
  if (package.size() != model.size()) {
    lines.push_back(
        fmt::format("the package has {} weights, the model {}", package.size(), model.size()));
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(package.size(), model.size()); ++i) {
    const std::string ours = describe(package[i]);
    const std::string theirs = describe(model[i]);
    if (ours == theirs || ++count > kShownWeights) continue;
    lines.push_back(fmt::format("weight '{}' is {} in the package, '{}' is {} in the model",
                                package[i].name, ours, model[i].name, theirs));
  }
  if (count > kShownWeights) {
    const std::size_t more = count - kShownWeights;
    lines.push_back(fmt::format("and {} more weight{}", more, more == 1 ? "" : "s"));
  }
}

// The name before the number: "add" of "  ROOT add.12 = f32[4] add(...)".
std::optional<std::string> operation_of(const std::string& line) {
  const std::string text = trim(line);
  const auto equals = text.find(" = ");
  if (equals == std::string::npos) return std::nullopt;
  const auto start = text.starts_with("ROOT ") ? std::string("ROOT ").size() : 0;
  return text.substr(start, text.rfind('.', equals) - start);
}

Lines operations_of(const std::string& hlo) {
  Lines lines = split_lines(hlo);
  std::erase_if(lines, [](const std::string& line) { return !operation_of(line); });
  return lines;
}

// "2 tanh instead of 1". REQUIRES: lines of operations_of().
Lines count_differences(const Lines& package, const Lines& model) {
  struct Counts {
    int package = 0;
    int model = 0;
  };
  std::map<std::string, Counts> counts;
  for (const std::string& line : package) ++counts[*operation_of(line)].package;
  for (const std::string& line : model) ++counts[*operation_of(line)].model;
  Lines differences;
  for (const auto& [name, count] : counts) {
    if (count.package == count.model) continue;
    differences.push_back(fmt::format("{} {} instead of {}", count.model, name, count.package));
  }
  return differences;
}

void compare_text(const CompiledModel& package, const CompiledModel& model, Lines& lines) {
  const Lines ours = operations_of(package.hlo_text);
  const Lines theirs = operations_of(model.hlo_text);
  const Lines counts = count_differences(ours, theirs);
  if (!counts.empty()) lines.push_back("operations of the model: " + join(counts, ", "));
  const auto [here, there] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  if (here == ours.end() && there == theirs.end()) {
    lines.push_back("the operations are the same, but a constant inside the code differs");
    return;
  }
  lines.push_back("the first operation that differs:");
  lines.push_back("  package: " + (here == ours.end() ? "(none)" : trim(*here)));
  lines.push_back("  model:   " + (there == theirs.end() ? "(none)" : trim(*there)));
}

std::map<std::int64_t, std::string> hashes_of(const CompiledModel& compiled) {
  std::map<std::int64_t, std::string> hashes;
  for (const CompiledCode& code : compiled.codes) hashes[code.batch_size] = code.hlo_sha256;
  return hashes;
}

}  // namespace

Result<CompiledModel> update_weights(FileSystem& fs, const ModelSpec& spec,
                                     const CompiledModel& package, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  auto lowered = lower_model(fs, spec, options, diagnostics);
  if (!lowered) return fail(as_told(std::move(lowered).error()));
  CompiledModel model = *std::move(lowered);
  if (model.engine != package.engine) {
    return fail(Error(fmt::format("the package's code was made by {}, but the engine here is {}",
                                  package.engine, model.engine))
                    .note("compile the model again: tfaot compile"));
  }
  const auto differences = architecture_differences(package, model);
  if (!differences.empty()) {
    Error error = Error::at({spec.model.source.string()},
                            "the model's architecture differs from that of the package's code");
    for (const std::string& line : differences) error.note(line);
    return fail(error.note("compile the model again: tfaot compile"));
  }
  // The new weights for each batch size, as lowering found them. Equal weights are stored once, so
  // the table changes if other ones are equal now.
  std::map<std::int64_t, std::vector<std::uint32_t>> weights;
  for (const CompiledCode& code : model.codes) weights[code.batch_size] = code.weights;
  model.codes = package.codes;
  for (CompiledCode& code : model.codes) code.weights = weights.at(code.batch_size);
  return model;
}

Lines architecture_differences(const CompiledModel& package, const CompiledModel& model) {
  Lines lines;
  compare_tensors("input", package.signature.inputs, model.signature.inputs, lines);
  compare_tensors("output", package.signature.outputs, model.signature.outputs, lines);
  const auto theirs = hashes_of(model);
  std::vector<std::int64_t> sizes;
  for (const auto& [batch_size, hash] : hashes_of(package)) {
    const auto found = theirs.find(batch_size);
    if (found == theirs.end() || found->second != hash) sizes.push_back(batch_size);
  }
  if (sizes.empty()) return lines;  // the HLO contains the shapes of the weights too
  compare_variables(package.variables, model.variables, lines);
  lines.push_back(
      fmt::format("the computation (HLO) of batch sizes {} differs", fmt::join(sizes, ", ")));
  // The text belongs to the smallest batch size.
  if (sizes.front() == package.batch_sizes.front()) compare_text(package, model, lines);
  return lines;
}

}  // namespace tfaot::toolkit
