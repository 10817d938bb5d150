// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_check.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

void add_problem(std::vector<ModelProblem>& problems, ModelProblem problem) {
  const auto known = std::ranges::find_if(problems, [&](const ModelProblem& other) {
    return other.kind == problem.kind && other.places == problem.places &&
           (!problem.places.empty() || other.message == problem.message);
  });
  if (known == problems.end()) {
    problems.push_back(std::move(problem));
    return;
  }
  if (problem.batch_sizes.empty()) known->batch_sizes.clear();
  if (known->batch_sizes.empty()) return;  // already said of all
  for (const std::int64_t size : problem.batch_sizes) {
    add_new(known->batch_sizes, size);
  }
}

void add_check(EngineCheck& check, EngineCheck more) {
  std::ranges::move(more.operations, std::back_inserter(check.operations));
  std::ranges::move(more.codes, std::back_inserter(check.codes));
  for (ModelProblem& problem : more.problems) add_problem(check.problems, std::move(problem));
}

}  // namespace tfaot::toolkit
