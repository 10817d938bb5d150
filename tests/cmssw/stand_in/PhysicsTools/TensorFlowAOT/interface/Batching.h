// SPDX-License-Identifier: Apache-2.0
// Stands in for CMSSW's. What user code of the tests calls, with the rules of CMSSW: the smallest
// size repeated by default, and nothing checked against the model.
#pragma once
// CMSSW's guard, which our headers look at.
#define PHYSICSTOOLS_TENSORFLOWAOT_BATCHING_H

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "FWCore/Utilities/interface/Exception.h"

namespace tfaot {

class BatchRule {
 public:
  explicit BatchRule(std::size_t batchSize, std::vector<std::size_t> sizes,
                     std::size_t lastPadding = 0)
      : batch_size_(batchSize), sizes_(std::move(sizes)), last_padding_(lastPadding) {
    validate();
  }
  BatchRule(const std::string& rule) {
    char separator = 0;
    std::istringstream text(rule);
    if (!(text >> batch_size_ >> separator) || separator != ':') {
      throw cms::Exception("InvalidBatchRule") << rule;
    }
    for (std::size_t size = 0; text >> size; text >> separator) sizes_.push_back(size);
    last_padding_ = sum() - batch_size_;
    if (sum() < batch_size_) throw cms::Exception("InvalidBatchRule") << rule;
    validate();
  }

  std::size_t getBatchSize() const { return batch_size_; }
  const std::vector<std::size_t>& getSizes() const { return sizes_; }
  std::size_t getLastPadding() const { return last_padding_; }
  std::size_t nSizes() const { return sizes_.size(); }
  std::size_t getSize(std::size_t i) const { return sizes_[i]; }

 private:
  std::size_t sum() const { return std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0}); }
  void validate() const {
    if (sizes_.empty()) throw cms::Exception("EmptySizes");
    if (last_padding_ >= sizes_.back()) throw cms::Exception("WrongPadding");
    if (sum() - last_padding_ != batch_size_) throw cms::Exception("WrongBatchSize");
  }

  std::size_t batch_size_ = 0;
  std::vector<std::size_t> sizes_;
  std::size_t last_padding_ = 0;
};

class BatchStrategy {
 public:
  void setRule(const BatchRule& rule) { rules_.insert_or_assign(rule.getBatchSize(), rule); }
  bool hasRule(std::size_t batchSize) const { return rules_.count(batchSize) > 0; }
  const BatchRule& getRule(std::size_t batchSize) const {
    if (!hasRule(batchSize)) throw cms::Exception("UnknownBatchSize") << batchSize;
    return rules_.at(batchSize);
  }
  void setDefaultRule(std::size_t batchSize, const std::vector<std::size_t>& available) {
    std::vector<std::size_t> sizes{batchSize};
    if (std::count(available.begin(), available.end(), batchSize) == 0) {
      const std::size_t smallest = *std::min_element(available.begin(), available.end());
      sizes.assign((batchSize + smallest - 1) / smallest, smallest);
    }
    const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    setRule(BatchRule(batchSize, sizes, sum - batchSize));
  }

 private:
  std::map<std::size_t, BatchRule> rules_;
};

}  // namespace tfaot
