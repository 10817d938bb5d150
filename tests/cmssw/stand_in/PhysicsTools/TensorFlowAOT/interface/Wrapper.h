// SPDX-License-Identifier: Apache-2.0
// Stands in for CMSSW's: the base of generated classes.
#pragma once
// CMSSW's guard, which our headers look at.
#define PHYSICSTOOLS_TENSORFLOWAOT_WRAPPER_H

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "FWCore/Utilities/interface/Exception.h"
#include "PhysicsTools/TensorFlowAOT/interface/Util.h"

namespace tfaot {

class Wrapper {
 public:
  explicit Wrapper(std::string name) : name_(std::move(name)) {}
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
  virtual ~Wrapper() = default;

  const std::string& name() const { return name_; }
  AllocMode allocMode() const { return AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS; }

  virtual const std::vector<std::size_t>& batchSizes() const = 0;
  virtual std::size_t nArgs() const = 0;
  virtual const std::map<std::size_t, std::vector<std::size_t>>& argCounts() const = 0;
  virtual const std::vector<std::size_t>& argCountsNoBatch() const = 0;
  virtual std::size_t nResults() const = 0;
  virtual const std::map<std::size_t, std::vector<std::size_t>>& resultCounts() const = 0;
  virtual const std::vector<std::size_t>& resultCountsNoBatch() const = 0;
  virtual bool runSilent(std::size_t batchSize) = 0;

  void run(std::size_t batchSize) {
    if (!runSilent(batchSize)) throw cms::Exception("FailedRun") << batchSize;
  }

 protected:
  void unknownBatchSize(std::size_t batchSize, const std::string& method) const {
    throw cms::Exception("UnknownBatchSize") << batchSize << " in " << method;
  }
  void unknownArgument(std::size_t index, const std::string& method) const {
    throw cms::Exception("UnknownArgument") << index << " in " << method;
  }
  void unknownResult(std::size_t index, const std::string& method) const {
    throw cms::Exception("UnknownResult") << index << " in " << method;
  }

 private:
  std::string name_;
};

}  // namespace tfaot
