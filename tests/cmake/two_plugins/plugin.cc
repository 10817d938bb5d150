// SPDX-License-Identifier: Apache-2.0
// A plugin with a model of 4 floats a row. FLAVOUR_CMSSW: by CMSSW's own tfaot::Model.
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#ifdef FLAVOUR_CMSSW
#include "PhysicsTools/TensorFlowAOT/interface/Model.h"
#endif
#include "tfaot-model-twin/model.h"

#define PLUGIN_API extern "C" __attribute__((visibility("default")))

// What users write: a model as a member of a class that others see. Must not warn.
struct Holder {
  tfaot::Model<tfaot_model::twin> model;
};

namespace {

// A standard template over the model.
class Predictor {
 public:
  tfaot::FloatArrays run(const tfaot::FloatArrays& x) {
    return std::get<0>(model_->run<tfaot::FloatArrays>(x.size(), x));
  }

 private:
  std::unique_ptr<tfaot::Model<tfaot_model::twin>> model_ =
      std::make_unique<tfaot::Model<tfaot_model::twin>>();
};

}  // namespace

// The predictions of `rows` rows, one after the other; their number is returned. The compatible and
// the native API give the same ones, else 0 is returned.
PLUGIN_API std::size_t predict(const float* x, std::size_t rows, float* y) {
  tfaot::FloatArrays input;
  for (std::size_t row = 0; row < rows; ++row) input.emplace_back(x + row * 4, x + row * 4 + 4);
  Predictor predictor;
  std::vector<float> flat;
  for (const auto& row : predictor.run(input)) flat.insert(flat.end(), row.begin(), row.end());
#ifndef FLAVOUR_CMSSW
  tfaot::native::Model<tfaot_model::twin> native;
  if (native.version() != TWIN_VERSION) return 0;
  const std::vector<float> in(x, x + rows * 4);
  std::vector<float> out(rows * OUTPUTS);
  native.run(rows, tfaot::inputs(in), tfaot::outputs(out));
  if (out != flat) return 0;
#endif
  for (std::size_t i = 0; i < flat.size(); ++i) y[i] = flat[i];
  return flat.size();
}
