// SPDX-License-Identifier: Apache-2.0
// Batch rules set by the user, with the names of CMSSW's PhysicsTools/TensorFlowAOT: how one batch
// size is composed of compiled ones. A rule always takes precedence over the default. Values; no
// thread rule of their own.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tfaot/runtime/batch_plan.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Runs batches of one size as chunks of `sizes`; the last chunk has `lastPadding` extra rows. A
/// value.
class BatchRule {
 public:
  /// Throws Error: EmptySizes; WrongPadding, also if the last size is 0, as in CMSSW;
  /// WrongBatchSize; InvalidBatchRule if another size is 0.
  explicit BatchRule(std::size_t batchSize, std::vector<std::size_t> sizes,
                     std::size_t lastPadding = 0);
  /// From text such as "5:2,4"; the padding follows from the sizes. Throws Error as above, and
  /// InvalidBatchRule if the text is not a rule or the sizes add up to less than the batch size.
  /// Spaces before a number are allowed. A text converts to a rule implicitly, as in CMSSW.
  BatchRule(const std::string& rule);

  /// Rows of the batch.
  std::size_t getBatchSize() const noexcept { return batch_size_; }
  /// Sizes of the chunks, in order.
  const std::vector<std::size_t>& getSizes() const noexcept { return sizes_; }
  /// Rows of padding in the last chunk.
  std::size_t getLastPadding() const noexcept { return last_padding_; }
  /// Number of chunks.
  std::size_t nSizes() const noexcept { return sizes_.size(); }
  /// Size of chunk `i`, which is not checked.
  std::size_t getSize(std::size_t i) const noexcept { return sizes_[i]; }

 private:
  void validate() const;

  std::size_t batch_size_ = 0;
  std::vector<std::size_t> sizes_;
  std::size_t last_padding_ = 0;
};

/// Writes "BatchRule(batchSize=5, sizes=2,4, lastPadding=1)".
std::ostream& operator<<(std::ostream& out, const BatchRule& rule);

/// Throws Error (UnknownBatchSize), naming `model`, if the rule uses a size that is not compiled.
void check_sizes(const BatchRule& rule, const std::vector<std::size_t>& compiled,
                 const std::string& model);

/// The same, and Error (InvalidBatchRule) if the rule composes a batch that `plan` does not allow.
void check_rule(const BatchRule& rule, const BatchPlan& plan, const std::string& model);

/// Rules for several batch sizes, at most one each. A value.
class BatchStrategy {
 public:
  /// Sets the rule of its batch size; replaces an earlier one.
  void setRule(const BatchRule& rule) { rules_.insert_or_assign(rule.getBatchSize(), rule); }
  /// The same from text. Throws Error like BatchRule.
  void setRule(const std::string& rule) { setRule(BatchRule(rule)); }
  /// True if there is a rule for this batch size.
  bool hasRule(std::size_t batchSize) const { return findRule(batchSize) != nullptr; }
  /// The rule for this batch size. Throws Error (UnknownBatchSize) if there is none.
  const BatchRule& getRule(std::size_t batchSize) const;
  /// Sets the cheapest composition by BatchPlan's default costs. For a model, its wrapper's
  /// batchPlan() has better ones. Throws Error (EmptySizes).
  void setDefaultRule(std::size_t batchSize, const std::vector<std::size_t>& availableBatchSizes);
  /// Sets the cheapest composition by `plan`. Throws Error (UnknownBatchSize) if the plan has none,
  /// because rows are coupled.
  void setDefaultRule(std::size_t batchSize, const BatchPlan& plan);

  /// The rule for this batch size; null if there is none.
  const BatchRule* findRule(std::size_t batchSize) const {
    const auto found = rules_.find(batchSize);
    return found == rules_.end() ? nullptr : &found->second;
  }
  /// All rules by batch size.
  const std::map<std::size_t, BatchRule>& rules() const noexcept { return rules_; }

 private:
  std::map<std::size_t, BatchRule> rules_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
