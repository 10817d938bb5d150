// SPDX-License-Identifier: Apache-2.0
// Never run: the golden headers, and their usage examples, must compile without a warning.
#include <type_traits>
#include <vector>

#include "tfaot-model-MixedNet/model.h"
#include "tfaot-model-embedded-net/model.h"
#include "tfaot-model-hostile/model.h"
#include "tfaot-model-sized/model.h"
#include "tfaot-model-test/model.h"
#include "tfaot-model-typed/model.h"
#include "tfaot-model-whole/model.h"

static_assert(std::is_base_of_v<tfaot::Wrapper, tfaot_model::test>);
static_assert(std::is_same_v<cms::models::MixedNet::Inputs::Types,
                             tfaot::TensorList<tfaot::Tensor<float, 28, 28, 3>,
                                               tfaot::Tensor<bool, 5>, tfaot::Tensor<double>>>);
static_assert(tfaot_model::test_bs4::kProgram.batch_size == 4 &&
              tfaot_model::test_bs4::kProgram.code_count == 2);
static_assert(tfaot_model::test_bs4::kCodes[1].scratch_bytes % tfaot::kAlignment == 0);

static_assert(std::is_same_v<
              tfaot_model::typed::Outputs::Types,
              tfaot::TensorList<tfaot::Tensor<tfaot::float16>, tfaot::Tensor<tfaot::bfloat16, 3>,
                                tfaot::Tensor<std::uint8_t>>>);

void use(std::size_t rows);
void use(std::size_t rows) {
  {
    tfaot::native::Model<tfaot_model::test> model;
    std::vector<float> x(rows * 4);
    std::vector<float> y(rows * 2);
#if __cplusplus >= 202002L
    model.run(rows, {.x = x}, {.y = y});
#endif
    model.run(rows, tfaot::inputs(x), tfaot::outputs(y));
    model.run(rows, x, y);
  }
  {
    bool* your_bools = nullptr;
    tfaot::native::Model<cms::models::MixedNet> model;
    std::vector<float> image(rows * 28 * 28 * 3);
    tfaot::Span<bool> mask(your_bools, rows * 5);
    std::vector<double> weight(rows);
    std::vector<std::int64_t> class_(rows);
    std::vector<std::int32_t> counts(rows * 2 * 3);
    tfaot::Span<bool> valid(your_bools, rows);
#if __cplusplus >= 202002L
    model.run(rows, {.image = image, .mask = mask, .weight = weight},
              {.class_ = class_, .counts = counts, .valid = valid});
#endif
    model.run(rows, tfaot::inputs(image, mask, weight), tfaot::outputs(class_, counts, valid));
    cms::models::MixedNet::Inputs in;
    in.weight = weight;
    in.image = image;
    in.mask = mask;
    model.run(rows, in, {class_, counts, valid});
  }
  {
    bool* your_bools = nullptr;
    tfaot::native::Model<tfaot_model::whole> model;
    std::vector<float> image(28 * 28 * 3);
    tfaot::Span<bool> mask(your_bools, 5);
    std::vector<double> weight(1);
    std::vector<std::int64_t> class_(1);
    std::vector<std::int32_t> counts(2 * 3);
    tfaot::Span<bool> valid(your_bools, 1);
#if __cplusplus >= 202002L
    model.run({.image = image, .mask = mask, .weight = weight},
              {.class_ = class_, .counts = counts, .valid = valid});
#endif
    model.run(tfaot::inputs(image, mask, weight), tfaot::outputs(class_, counts, valid));
  }
  {
    tfaot::native::Model<tfaot_model::sized> model;
    std::vector<float> x(rows * 7 * 3);
    std::vector<float> w(rows * 2);
    std::vector<float> total(rows * 2);
    std::vector<float> pairs(rows * 23);
    const std::vector<std::size_t> offsets(rows + 1);
#if __cplusplus >= 202002L
    model.run(rows, {.n_tracks = x.size() / 3 / rows, .k = 2}, {.x = x, .w = w},
              {.total = total, .pairs = pairs});
    model.run_ragged(rows, {.n_tracks = offsets, .k = offsets}, {.x = x, .w = w},
                     {.total = total, .pairs = pairs});
#endif
    tfaot_model::sized::Sizes sizes;
    sizes.n_tracks = 7;
    model.run(rows, sizes, tfaot::inputs(x, w), tfaot::outputs(total, pairs));
    static_assert(sizeof sizes == 16);
  }
  {
    bool* your_bools = nullptr;
    tfaot::native::Model<tfaot_model::typed> model;
    tfaot::Span<bool> bool_in(your_bools, rows * 2);
    std::vector<std::int8_t> int8_in(rows * 2);
    std::vector<std::int16_t> int16_in(rows * 2);
    std::vector<std::int32_t> int32_in(rows * 2);
    std::vector<std::int64_t> int64_in(rows * 2);
    std::vector<std::uint8_t> uint8_in(rows * 2);
    std::vector<std::uint16_t> uint16_in(rows * 2);
    std::vector<std::uint32_t> uint32_in(rows * 2);
    std::vector<std::uint64_t> uint64_in(rows * 2);
    std::vector<tfaot::float16> float16_in(rows * 2);
    std::vector<tfaot::bfloat16> bfloat16_in(rows * 2);
    std::vector<float> float32_in(rows * 2);
    std::vector<double> float64_in(rows * 2);
    std::vector<tfaot::float16> half(rows);
    std::vector<tfaot::bfloat16> brain(rows * 3);
    std::vector<std::uint8_t> byte(rows);
    model.run(rows,
              tfaot::inputs(bool_in, int8_in, int16_in, int32_in, int64_in, uint8_in, uint16_in,
                            uint32_in, uint64_in, float16_in, bfloat16_in, float32_in, float64_in),
              tfaot::outputs(half, brain, byte));
  }
  tfaot::Model<tfaot_model::embedded_net> upstream_api;
  tfaot::FloatArrays input(rows, std::vector<float>(4));
  const tfaot::FloatArrays output = std::get<0>(upstream_api.run<tfaot::FloatArrays>(rows, input));
  const tfaot_model::hostile hostile;
  static_cast<void>(hostile.nArgs() + output.size());
}
