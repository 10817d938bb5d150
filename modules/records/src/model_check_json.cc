// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_check_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(ModelProblem, kind, message, notes, places, batch_sizes);
TFAOT_MEMBERS(CheckedType, attribute, allowed, used);
TFAOT_MEMBERS(CheckedNode, name, function);
TFAOT_MEMBERS(CheckedOperation, operation, support, types, constant_inputs, traits, advice, nodes,
              oldest_opset);
TFAOT_MEMBERS(CheckedCode, batch_size, cpu_level, object);
TFAOT_MEMBERS(EngineCheck, operations, codes, problems);

std::string engine_check_to_json(const EngineCheck& check) { return tagged_line("check", check); }

std::optional<EngineCheck> engine_check_from_json(const std::string& line) {
  return from_tagged_line<EngineCheck>("check", line);
}

nlohmann::ordered_json operations_to_json(const std::vector<CheckedOperation>& operations) {
  auto json = json_of(operations);
  for (auto& operation : json) {
    if (operation["oldest_opset"] == 0) operation.erase("oldest_opset");
  }
  return json;
}

nlohmann::ordered_json problems_to_json(const std::vector<ModelProblem>& problems) {
  return json_of(problems);
}

std::vector<ModelProblem> problems_of(const Error& error, std::int64_t batch_size) {
  std::vector<ModelProblem> problems;
  const auto add = [&](const Error& one) {
    ModelProblem problem;
    problem.kind = parse_word<ProblemKind>(one.topic()).value_or(ProblemKind::kModel);
    problem.message = one.message();
    problem.notes = one.notes();
    problem.places = one.places();
    if (batch_size > 0) problem.batch_sizes = {batch_size};
    problems.push_back(std::move(problem));
  };
  add(error);
  for (const Error& other : error.others()) add(other);
  return problems;
}

}  // namespace tfaot::toolkit
