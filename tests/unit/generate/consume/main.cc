// SPDX-License-Identifier: Apache-2.0
// Calls every code of both models; each stand-in adds what its kernel returns.
#include <cstdio>

#include "tfaot-model-MixedNet/model.h"
#include "tfaot-model-test/model.h"

const tfaot::Description& of_second_unit();

int main() {
  std::int64_t sum = 0;
  for (const tfaot::Description* model :
       {&tfaot_model::test::description(), &cms::models::MixedNet::description()}) {
    for (std::size_t i = 0; i < model->program_count; ++i) {
      for (std::size_t j = 0; j < model->programs[i].code_count; ++j) {
        model->programs[i].codes[j].entry(nullptr, nullptr, nullptr, nullptr, nullptr, &sum);
      }
    }
  }
  const bool same = of_second_unit().weights == tfaot_model::test::description().weights;
  std::printf("%lld %s %d\n", static_cast<long long>(sum), same ? "same" : "other",
              of_second_unit().weights[0]);
}
