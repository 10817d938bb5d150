// SPDX-License-Identifier: Apache-2.0
#include "Demo/Tagger/interface/Scorer.h"

#include "tfaot-model-minimal/model.h"

namespace demo {

struct Scorer::Impl {
  tfaot::native::Model<tfaot_model::minimal> model;
};

Scorer::Scorer() : impl_(std::make_unique<Impl>()) {}
Scorer::~Scorer() = default;

std::vector<float> Scorer::score(const std::vector<float>& x) {
  const std::size_t rows = x.size() / 4;
  std::vector<float> y(rows * 2);
  tfaot_model::minimal::Inputs in;
  in.x = x;
  tfaot_model::minimal::Outputs out;
  out.y = y;
  impl_->model.run(rows, in, out);
  return y;
}

}  // namespace demo
