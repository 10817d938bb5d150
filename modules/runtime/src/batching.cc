// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/batching.h"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <string_view>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

[[noreturn]] void invalid(const std::string& rule, const std::string& why) {
  throw Error(Category::kInvalidBatchRule,
              "'" + rule + "': " + why + "; a rule is 'batch size:size,...', like '5:2,4'");
}

std::size_t parse_number(std::string_view text, const std::string& rule) {
  const std::string_view whole = text;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    invalid(rule, "'" + std::string(whole) + "' is not a number");
  }
  return value;
}

// False if the sum does not fit.
bool add_up(const std::vector<std::size_t>& sizes, std::size_t* sum) {
  *sum = 0;
  return std::none_of(sizes.begin(), sizes.end(),
                      [&](std::size_t size) { return __builtin_add_overflow(*sum, size, sum); });
}

}  // namespace

BatchRule::BatchRule(std::size_t batchSize, std::vector<std::size_t> sizes, std::size_t lastPadding)
    : batch_size_(batchSize), sizes_(std::move(sizes)), last_padding_(lastPadding) {
  validate();
}

BatchRule::BatchRule(const std::string& rule) {
  const std::string_view text = rule;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) invalid(rule, "':' is missing");
  batch_size_ = parse_number(text.substr(0, colon), rule);
  for (std::size_t start = colon; start != std::string_view::npos;) {
    const std::size_t comma = text.find(',', start + 1);
    const std::size_t end = std::min(comma, text.size());
    sizes_.push_back(parse_number(text.substr(start + 1, end - start - 1), rule));
    start = comma;
  }
  std::size_t sum = 0;
  if (!add_up(sizes_, &sum)) invalid(rule, "the sum of the sizes is too large");
  if (sum < batch_size_) invalid(rule, "the sizes add up to " + std::to_string(sum) + " only");
  last_padding_ = sum - batch_size_;
  validate();
}

void BatchRule::validate() const {
  const std::string who = "batch rule for " + std::to_string(batch_size_);
  if (sizes_.empty()) throw Error(Category::kEmptySizes, who + " has no sizes");
  if (last_padding_ >= sizes_.back()) {
    throw Error(Category::kWrongPadding, who + ": padding " + std::to_string(last_padding_) +
                                             " must be smaller than the last size, " +
                                             std::to_string(sizes_.back()));
  }
  if (std::find(sizes_.begin(), sizes_.end(), 0U) != sizes_.end()) {
    throw Error(Category::kInvalidBatchRule, who + " has a size 0");
  }
  std::size_t sum = 0;
  const bool fits = add_up(sizes_, &sum);
  if (!fits || sum - last_padding_ != batch_size_) {
    throw Error(Category::kWrongBatchSize,
                who + ": the sizes minus the padding add up to " +
                    (fits ? std::to_string(sum - last_padding_) : "more than fits a number"));
  }
}

std::ostream& operator<<(std::ostream& out, const BatchRule& rule) {
  out << "BatchRule(batchSize=" << rule.getBatchSize() << ", sizes=";
  for (std::size_t i = 0; i < rule.nSizes(); ++i) out << (i == 0 ? "" : ",") << rule.getSize(i);
  return out << ", lastPadding=" << rule.getLastPadding() << ")";
}

void check_sizes(const BatchRule& rule, const std::vector<std::size_t>& compiled,
                 const std::string& model) {
  for (const std::size_t size : rule.getSizes()) {
    if (std::find(compiled.begin(), compiled.end(), size) != compiled.end()) continue;
    std::string known;
    for (const std::size_t one : compiled)
      known += (known.empty() ? "" : ", ") + std::to_string(one);
    throw Error(Category::kUnknownBatchSize, "model '" + model + "': the rule for batch size " +
                                                 std::to_string(rule.getBatchSize()) +
                                                 " uses size " + std::to_string(size) +
                                                 ", but compiled sizes are " + known);
  }
}

void check_rule(const BatchRule& rule, const BatchPlan& plan, const std::string& model) {
  check_sizes(rule, plan.sizes(), model);
  if (plan.composes() || (rule.nSizes() == 1 && rule.getLastPadding() == 0)) return;
  throw Error(Category::kInvalidBatchRule,
              "model '" + model + "': the rule for batch size " +
                  std::to_string(rule.getBatchSize()) +
                  " composes it, but rows of a batch depend on each other "
                  "(compilation.rows: coupled)");
}

const BatchRule& BatchStrategy::getRule(std::size_t batchSize) const {
  const BatchRule* rule = findRule(batchSize);
  if (rule == nullptr) {
    throw Error(Category::kUnknownBatchSize,
                "the batch strategy has no rule for batch size " + std::to_string(batchSize));
  }
  return *rule;
}

void BatchStrategy::setDefaultRule(std::size_t batchSize,
                                   const std::vector<std::size_t>& availableBatchSizes) {
  std::vector<std::size_t> available = availableBatchSizes;
  available.erase(std::remove(available.begin(), available.end(), 0U), available.end());
  std::sort(available.begin(), available.end());
  setDefaultRule(batchSize, BatchPlan(std::move(available)));
}

void BatchStrategy::setDefaultRule(std::size_t batchSize, const BatchPlan& plan) {
  std::vector<std::size_t> sizes;
  std::size_t rest = batchSize;
  std::size_t padding = 0;
  while (rest > 0) {
    sizes.push_back(plan.sizes()[plan.next(rest)]);
    padding = std::max(sizes.back(), rest) - rest;
    rest -= std::min(sizes.back(), rest);
  }
  setRule(BatchRule(batchSize, std::move(sizes), padding));
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
