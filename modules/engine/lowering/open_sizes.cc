// SPDX-License-Identifier: Apache-2.0
#include "lowering/open_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lowering/config_fault.h"
#include "tfaot/base/printable.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

struct OpenSize {
  std::string name;
  std::vector<std::string> inputs;
};

std::string open_name(const ModelTensor& input, std::size_t axis) {
  const bool has_name = axis < input.dimensions.size() && !input.dimensions[axis].empty();
  return has_name ? input.dimensions[axis] : fmt::format("{}:{}", input.name, axis);
}

std::vector<OpenSize> open_sizes(const std::vector<ModelTensor>& inputs, bool fixed_shapes) {
  std::vector<OpenSize> open;
  for (const ModelTensor& input : inputs) {
    for (std::size_t i = fixed_shapes ? 0 : 1; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0) continue;
      const std::string name = open_name(input, i);
      auto found = std::ranges::find(open, name, &OpenSize::name);
      if (found == open.end()) found = open.insert(found, {name, {}});
      auto& owners = found->inputs;
      if (owners.empty() || owners.back() != input.name) owners.push_back(input.name);
    }
  }
  return open;
}

// "'n_pf' of input 'x'"
std::string size_and_inputs(const OpenSize& size) {
  std::vector<std::string> names;
  for (const std::string& input : size.inputs) names.push_back(fmt::format("'{}'", shown(input)));
  return fmt::format("'{}' of {} {}", shown(size.name), names.size() == 1 ? "input" : "inputs",
                     join(names, ", "));
}

// A key of a map in a config.
std::string config_map_key(const std::string& name) {
  const bool is_plain =
      !name.empty() && !is_digit(name.front()) &&
      std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || c == '_'; });
  return is_plain ? name : "'" + replace_all(name, "'", "''") + "'";
}

}  // namespace

void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name) {
  tensor.shape.push_back(size < 0 ? -1 : size);
  tensor.dimensions.push_back(size < 0 ? name : "");
}

Status set_open_sizes(std::vector<ModelTensor>& inputs, const EngineJob& job) {
  std::set<std::string> names;
  for (ModelTensor& input : inputs) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0) continue;
      const bool has_name = i < input.dimensions.size() && !input.dimensions[i].empty();
      if (i == 0 && !job.fixed_shapes && !has_name) continue;  // the batch
      const std::string name = open_name(input, i);
      input.dimensions.resize(input.shape.size());
      input.dimensions[i] = name;
      names.insert(name);
      const auto given = std::ranges::find(job.dimensions, name, &DimensionSize::name);
      if (given != job.dimensions.end()) input.shape[i] = given->size;
    }
  }
  for (const DimensionSize& given : job.dimensions) {
    if (names.contains(given.name)) continue;
    const std::vector<std::string> known(names.begin(), names.end());
    Error error = config_fault(
        "model.dimensions", fmt::format("no input has an open dimension '{}'", shown(given.name)));
    if (const auto close = closest_match(given.name, known)) {
      error.note(fmt::format("did you mean '{}'?", shown(*close)));
    }
    return fail(std::move(error).note(listed("open dimensions", known)));
  }
  return {};
}

Status check_open_sizes(const std::vector<ModelTensor>& inputs, bool fixed_shapes) {
  const std::vector<OpenSize> open = open_sizes(inputs, fixed_shapes);
  if (open.empty()) return {};
  std::vector<std::string> texts;
  std::vector<std::string> keys;
  std::vector<std::string> options;
  std::vector<std::string> owners;
  for (const OpenSize& size : open) {
    texts.push_back(size_and_inputs(size));
    keys.push_back(config_map_key(size.name) + ": 10");
    options.push_back("--dimension " + shell_quoted(size.name + "=10"));
    owners.insert(owners.end(), size.inputs.begin(), size.inputs.end());
  }
  std::ranges::sort(owners);
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  return fail(Error(open.size() == 1 ? fmt::format("the dimension {} has no size", texts.front())
                                     : fmt::format("{} dimensions have no size: {}", open.size(),
                                                   join(texts, ", ")))
                  .note(fmt::format("give each a size, such as 10, in the config: "
                                    "model.dimensions: {{{}}}",
                                    join(keys, ", ")))
                  .note("or on the command line: " + join(options, " "))
                  .about(word_of(ProblemKind::kUnknownShape), std::move(owners)));
}

}  // namespace tfaot::toolkit::engine
