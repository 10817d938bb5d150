// SPDX-License-Identifier: Apache-2.0
// Never run: the golden headers, and their usage examples, must compile without a warning.
#include <type_traits>
#include <vector>

#include "tfaot-model-MixedNet/model.h"
#include "tfaot-model-embedded-net/model.h"
#include "tfaot-model-hostile/model.h"
#include "tfaot-model-test/model.h"

static_assert(std::is_base_of_v<tfaot::Wrapper, tfaot_model::test>);
static_assert(std::is_same_v<cms::models::MixedNet::Inputs,
                             tfaot::TensorList<tfaot::Tensor<float, 28, 28, 3>,
                                               tfaot::Tensor<bool, 5>, tfaot::Tensor<double>>>);
static_assert(tfaot_model::test_bs4::kProgram.batch_size == 4 &&
              tfaot_model::test_bs4::kProgram.code_count == 2);
static_assert(tfaot_model::test_bs4::kCodes[1].scratch_bytes % tfaot::kAlignment == 0);

void use(std::size_t rows);
void use(std::size_t rows) {
  {
    tfaot::native::Model<tfaot_model::test> model;
    std::vector<float> x0(rows * 4);
    std::vector<float> y0(rows * 2);
    model.run(rows, tfaot::inputs(x0), tfaot::outputs(y0));
  }
  {
    bool* your_bools = nullptr;
    tfaot::native::Model<cms::models::MixedNet> model;
    std::vector<float> x0(rows * 28 * 28 * 3);
    tfaot::Span<bool> x1(your_bools, rows * 5);
    std::vector<double> x2(rows);
    std::vector<std::int64_t> y0(rows);
    std::vector<std::int32_t> y1(rows * 2 * 3);
    tfaot::Span<bool> y2(your_bools, rows);
    model.run(rows, tfaot::inputs(x0, x1, x2), tfaot::outputs(y0, y1, y2));
  }
  tfaot::Model<tfaot_model::embedded_net> upstream_api;
  tfaot::FloatArrays input(rows, std::vector<float>(4));
  const tfaot::FloatArrays output = std::get<0>(upstream_api.run<tfaot::FloatArrays>(rows, input));
  const tfaot_model::hostile hostile;
  static_cast<void>(hostile.nArgs() + output.size());
}
