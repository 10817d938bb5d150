// SPDX-License-Identifier: Apache-2.0
// Stands in for CMSSW's: runs a wrapper in chunks, a std::vector per row, with CMSSW's checks and
// no others.
#pragma once
// CMSSW's guard, which our headers look at.
#define PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "FWCore/Utilities/interface/Exception.h"
#include "PhysicsTools/TensorFlowAOT/interface/Batching.h"
#include "PhysicsTools/TensorFlowAOT/interface/Util.h"

namespace tfaot {

template <class W>
class Model {
 public:
  explicit Model() : wrapper_(std::make_unique<W>()) {}

  const std::string& name() const { return wrapper_->name(); }
  const BatchStrategy& getBatchStrategy() const { return strategy_; }
  void setBatchStrategy(const BatchStrategy& strategy) { strategy_ = strategy; }
  void setBatchRule(std::size_t batchSize, const std::vector<std::size_t>& sizes,
                    std::size_t lastPadding = 0) {
    strategy_.setRule(BatchRule(batchSize, sizes, lastPadding));
  }
  void setBatchRule(const std::string& rule) { strategy_.setRule(BatchRule(rule)); }

  template <class... Outputs, class... Inputs>
  std::tuple<Outputs...> run(std::size_t batchSize, Inputs&&... inputs) {
    if (sizeof...(Inputs) != wrapper_->nArgs()) throw cms::Exception("InputMismatch");
    if (sizeof...(Outputs) != wrapper_->nResults()) throw cms::Exception("OutputMismatch");
    if (!strategy_.hasRule(batchSize)) {
      strategy_.setDefaultRule(batchSize, wrapper_->batchSizes());
    }
    std::tuple<Outputs...> outputs{Outputs(batchSize)...};
    std::size_t first = 0;
    for (const std::size_t size : strategy_.getRule(batchSize).getSizes()) {
      const std::size_t rows = std::min(size, batchSize - first);
      for (std::size_t row = 0; row < rows; ++row) {
        std::size_t index = 0;
        (fill(size, index++, row, inputs[first + row]), ...);
      }
      wrapper_->run(size);
      for (std::size_t row = 0; row < rows; ++row) {
        std::size_t index = 0;
        std::apply(
            [&](Outputs&... output) { (take(size, index++, row, output[first + row]), ...); },
            outputs);
      }
      first += rows;
    }
    return outputs;
  }

 private:
  template <class T>
  void fill(std::size_t size, std::size_t index, std::size_t row, const std::vector<T>& values) {
    const std::size_t elements = wrapper_->argCountsNoBatch()[index];
    if (values.size() != elements) throw cms::Exception("InputMismatch");
    std::copy(values.begin(), values.end(),
              wrapper_->template argData<T>(size, index) + row * elements);
  }
  template <class T>
  void take(std::size_t size, std::size_t index, std::size_t row, std::vector<T>& values) {
    const std::size_t elements = wrapper_->resultCountsNoBatch()[index];
    const T* from = wrapper_->template resultData<T>(size, index) + row * elements;
    values.assign(from, from + elements);
  }

  std::unique_ptr<W> wrapper_;
  BatchStrategy strategy_;
};

}  // namespace tfaot
