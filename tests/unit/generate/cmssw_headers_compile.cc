// SPDX-License-Identifier: Apache-2.0
// Never run: the golden headers for CMSSW, and their usage example, must compile without a warning.
#include <tuple>
#include <type_traits>

#include "tfaot-model-TagNet/model.h"

using cms::models::TagNet;
using cms::models::TagNet_bs8;

static_assert(std::is_base_of_v<tfaot::Wrapper, TagNet>);
static_assert(std::is_base_of_v<tensorflow::XlaCompiledCpuFunction, TagNet_bs8>);
static_assert(TagNet_bs8::kNumArgs == 3 && TagNet_bs8::kNumVariables == 0);

void use(std::size_t rows);
void use(std::size_t rows) {
  tfaot::Model<TagNet> model;
  tfaot::FloatArrays x0(rows, std::vector<float>(28 * 28 * 3));
  tfaot::BoolArrays x1(rows, std::vector<bool>(5));
  tfaot::DoubleArrays x2(rows, std::vector<double>(1));
  auto [y0, y1, y2] =
      model.run<tfaot::Int64Arrays, tfaot::Int32Arrays, tfaot::BoolArrays>(rows, x0, x1, x2);
  TagNet_bs8 function;
  function.arg0(7, 27, 27, 2) = static_cast<float>(y0[0][0] + y1[0][0] + y2[0][0]);
  function.arg2(7) = function.arg0_count() + function.result1_size();
  TagNet wrapper("mine");
  const TagNet& same = wrapper;
  wrapper.argData<long long>(8, 0)[0] = same.resultData<long long>(8, 0)[0];
}
