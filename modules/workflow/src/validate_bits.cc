// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/validate_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "bits_batches.h"
#include "changed_package.h"
#include "first_operations.h"
#include "tfaot/arrays/compare.h"
#include "tfaot/arrays/fill.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/load/predictor.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/run_package.h"
#include "validated_model.h"

namespace tfaot::toolkit {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kHashedRows = 64;
constexpr std::size_t kMostBitsThreads = 4;
// A call with other inputs that takes longer never ends, and so many times longer than usual.
constexpr milliseconds kEndlessAfter{10'000};
constexpr int kEndlessTimes = 100;

using RowNumbers = std::vector<std::int64_t>;
using Outputs = std::vector<Array>;

RowNumbers first_rows(std::int64_t rows) {
  RowNumbers first(static_cast<std::size_t>(rows));
  std::iota(first.begin(), first.end(), 0);
  return first;
}

// Every second row, from the first or the second one on.
RowNumbers every_second(std::int64_t rows, std::int64_t first) {
  RowNumbers picked;
  for (std::int64_t row = first; row < rows; row += 2) picked.push_back(row);
  return picked;
}

// One call: the first rows of the inputs, composed by a rule.
struct BitsCall {
  std::string level;
  std::int64_t rows = 0;
  std::string rule;  // of the runtime; empty: the runtime chooses

  // Empty: the runtime chooses them.
  std::vector<std::int64_t> chunks() const {
    if (rule.empty()) return {};
    return mapped(split_words(rule.substr(rule.find(':') + 1), ","),
                  [](const std::string& word) { return std::int64_t{std::stol(word)}; });
  }
  // "x86-64-v3, batch of 9 (2 x 4, 1)"
  std::string text() const {
    return fmt::format("{}, batch of {} ({})", level, rows, composition());
  }

 private:
  std::string composition() const {
    const std::vector<std::int64_t> all = chunks();
    if (all.empty()) return "as planned";
    std::vector<std::string> parts;
    for (auto chunk = all.begin(); chunk != all.end();) {
      const auto end = std::find_if(chunk, all.end(), [&](auto other) { return other != *chunk; });
      const auto count = end - chunk;
      parts.push_back(count == 1 ? std::to_string(*chunk) : fmt::format("{} x {}", count, *chunk));
      chunk = end;
    }
    return join(parts, ", ");
  }
};

// Elements by which inputs and outputs are moved from a cache line's start. Some stay aligned
// enough that the runtime works in place.
struct Moved {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};
constexpr Moved kMoved[] = {{1, 0}, {0, 1}, {3, 2}, {4, 4}, {8, 12}};

// Memory for an array, moved by some elements.
class MovedMemory {
 public:
  MovedMemory(const Array& array, std::size_t elements)
      : memory_(array.bytes.size() + kLine + elements * size_of(array.dtype), '\0') {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    start_ = (kLine - address % kLine) % kLine + elements * size_of(array.dtype);
    std::memcpy(data(), array.bytes.data(), array.bytes.size());
  }
  char* data() { return memory_.data() + start_; }

 private:
  static constexpr std::size_t kLine = 64;
  std::vector<char> memory_;
  std::size_t start_ = 0;
};

Result<Outputs> predict_moved(Predictor& predictor, const ModelInputs& inputs, Moved moved) {
  Outputs outputs = mapped(predictor.model().manifest().signature.outputs,
                           [&](const TensorSpec& one) { return make_array(one, inputs.rows); });
  std::vector<MovedMemory> in;
  std::vector<MovedMemory> out;
  for (const Array& array : inputs.arrays) in.emplace_back(array, moved.inputs);
  for (const Array& array : outputs) out.emplace_back(array, moved.outputs);
  std::vector<const void*> from;
  std::vector<void*> to;
  for (MovedMemory& memory : in) from.push_back(memory.data());
  for (MovedMemory& memory : out) to.push_back(memory.data());
  TFAOT_TRY(predictor.run(static_cast<std::uint64_t>(inputs.rows), from, to));
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::memcpy(outputs[i].bytes.data(), out[i].data(), outputs[i].bytes.size());
  }
  return outputs;
}

struct ComparedCalls {
  BitsAspect aspect;
  std::string level;
  std::string one;
  std::string other;
  RowNumbers rows;  // of the inputs
  // Of the first call; the last one repeats; empty: the runtime chooses them.
  std::vector<std::int64_t> chunks = {};
};

class BitsValidator {
 public:
  BitsValidator(Context& context, const BitsRequest& request, LoadedPackage package)
      : context_(context),
        request_(request),
        model_(std::move(package.model)),
        spec_(std::move(package.spec)) {}

  Result<BitsResult> run() {
    result_.manifest = manifest();
    composes_ = composes_batches(manifest());
    TFAOT_ASSIGN(const LevelsHere levels, levels_here(*model_, request_.package.package));
    result_.skipped_levels = levels.skipped;
    result_.levels = comparable_levels(model_->compiled(), manifest().compute, levels.run);
    result_.summary.rows = bits_sizes(manifest());
    result_.summary.threads = kMostBitsThreads;
    TFAOT_TRY(make_inputs());
    TFAOT_TRY(try_other_rows(levels.run.back()));
    for (const std::int64_t rows : result_.summary.rows) {
      const std::vector<std::string> rules =
          composes_ ? bits_rules(rows, manifest().batch_sizes) : std::vector<std::string>{""};
      for (const std::string& rule : rules) calls_.push_back({"", rows, rule});
    }
    steps_ = levels.run.size() * calls_.size();
    for (const auto& group : result_.levels) TFAOT_TRY(compare_levels(group));
    if (!request_.model.empty()) TFAOT_TRY(find_operations(levels.run));
    return std::move(result_);
  }

 private:
  const Manifest& manifest() const { return model_->manifest(); }

  Status make_inputs() {
    const std::vector<TensorSpec>& tensors = manifest().signature.inputs;
    result_.rows = result_.summary.rows.back();
    if (!request_.inputs.empty()) {
      TFAOT_ASSIGN(const ModelInputs file,
                   rows_of_file(context_.files, request_.inputs, {tensors}));
      result_.rows = std::max(result_.rows, composes_ ? file.rows : 0);
      inputs_ =
          mapped(file.arrays, [&](const Array& array) { return repeated(array, result_.rows); });
    }
    TFAOT_TRY(check_row_count(result_.rows, tensors));
    TFAOT_TRY(check_row_count(result_.rows, manifest().signature.outputs));
    if (request_.inputs.empty()) inputs_ = counted_arrays(tensors, result_.rows, request_.seed);
    const std::int64_t hashed = composes_ ? std::min(result_.rows, kHashedRows) : result_.rows;
    result_.summary.inputs_sha256 = sha256_of_arrays(rows_of(inputs_, first_rows(hashed)));
    return {};
  }

  // A loop may wait for each row to become small, and infinities never do.
  Status try_other_rows(const std::string& level) {
    TFAOT_ASSIGN(Predictor runs, predictor(level));
    const ModelInputs inputs = inputs_of({level, result_.summary.rows.back(), ""});
    const auto start = std::chrono::steady_clock::now();
    TFAOT_TRY(predict(runs, inputs));
    const auto usual = std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - start);
    const milliseconds limit = std::max(kEndlessAfter, usual * kEndlessTimes);
    for (const OtherRows by : {OtherRows::kNan, OtherRows::kInfinite, OtherRows::kZeros}) {
      const ModelInputs others{inputs.rows,
                               with_other_rows(inputs.arrays, first_rows(inputs.rows), by)};
      const bool ends = is_done_in_time([&] { static_cast<void>(predict(runs, others)); }, limit);
      (ends ? other_rows_ : result_.endless).push_back(by);
      TFAOT_TRY(check_interrupts());
    }
    return {};
  }

  Result<Predictor> predictor(const std::string& level, const std::string& rule = "") const {
    PredictorOptions options{.cpu_level = level, .batch_rules = {}};
    if (!rule.empty()) options.batch_rules.push_back(rule);
    return Predictor::create(model_, options);
  }

  // All levels run each call one after the other, so that only one call's outputs are kept.
  Status compare_levels(const std::vector<std::string>& levels) {
    std::vector<Outputs> alone(levels.size());
    std::vector<Outputs> hashed(levels.size());
    for (std::size_t i = 0; composes_ && i < levels.size(); ++i) {
      TFAOT_ASSIGN(alone[i], predict_alone(levels[i]));
      const RowNumbers rows = first_rows(result_.rows);
      hashed[i] = rows_of(alone[i], first_rows(std::min(result_.rows, kHashedRows)));
      if (i == 0) continue;
      compare(
          {BitsAspect::kLevels, levels[i], levels[i] + ", alone", levels[0] + ", alone", rows, {1}},
          alone[i], alone[0]);
    }
    for (BitsCall call : calls_) {
      BitsCall lowest = call;
      Outputs of_lowest;
      for (std::size_t i = 0; i < levels.size(); ++i) {
        call.level = levels[i];
        TFAOT_ASSIGN(Predictor runs, predictor(call.level, call.rule));
        TFAOT_ASSIGN(const Outputs outputs, predict(runs, inputs_of(call)));
        if (i == 0) {
          lowest = call;
          of_lowest = outputs;
        } else {
          compare({BitsAspect::kLevels, call.level, call.text(), lowest.text(),
                   first_rows(call.rows), chunks_of(call)},
                  outputs, of_lowest);
        }
        if (composes_) compare_with_alone(call, outputs, alone[i]);
        if (!composes_) hashed[i].insert(hashed[i].end(), outputs.begin(), outputs.end());
        TFAOT_TRY(compare_ways(runs, call, outputs));
        TFAOT_TRY(check_interrupts());
        context_.diagnostics.progress(++done_, steps_, call.text());
      }
    }
    for (std::size_t i = 0; i < levels.size(); ++i) add_hash(levels[i], hashed[i]);
    return {};
  }

  ModelInputs inputs_of(const BitsCall& call) const {
    return {call.rows, rows_of(inputs_, first_rows(call.rows))};
  }

  Result<Outputs> predict_alone(const std::string& level) {
    TFAOT_ASSIGN(Predictor runs, predictor(level));
    Outputs all = mapped(manifest().signature.outputs,
                         [](const TensorSpec& tensor) { return make_array(tensor, 0); });
    for (std::int64_t row = 0; row < result_.rows; ++row) {
      TFAOT_ASSIGN(const Outputs outputs, predict(runs, {1, rows_of(inputs_, {row})}));
      for (std::size_t i = 0; i < all.size(); ++i) all[i].bytes += outputs[i].bytes;
    }
    for (Array& array : all) array.shape.front() = result_.rows;
    warn_of_no_numbers(all);
    return all;
  }

  void warn_of_no_numbers(const Outputs& outputs) {
    for (const Array& array : outputs) {
      if (has_numbers(array)) continue;
      context_.diagnostics.warning(
          fmt::format("output '{}': all numbers are nan or infinite, so nothing is proved of it; "
                      "give other inputs with --inputs FILE",
                      shown(array.name)));
    }
  }

  void compare_with_alone(const BitsCall& call, const Outputs& outputs, const Outputs& alone) {
    if (call.rows == 1 && call.rule.empty()) return;  // is alone
    const RowNumbers rows = first_rows(call.rows);
    compare({BitsAspect::kBatches, call.level, call.text(), call.level + ", alone", rows,
             chunks_of(call)},
            outputs, rows_of(alone, rows));
  }

  // The ways that keep the level and how the batch is composed.
  Status compare_ways(Predictor& runs, const BitsCall& call, const Outputs& outputs) {
    TFAOT_TRY(compare_runs(runs, call, outputs));
    if (composes_ && call.rows > 1) {
      TFAOT_TRY(compare_places(runs, call, outputs));
      for (const OtherRows by : other_rows_) {
        TFAOT_TRY(compare_neighbours(runs, call, outputs, by));
      }
    }
    if (!call.rule.empty()) return {};
    TFAOT_TRY(compare_addresses(runs, call, outputs));
    return compare_threads(runs, call, outputs);
  }

  // What a call leaves in memory must not matter to the next one.
  Status compare_runs(Predictor& runs, const BitsCall& call, const Outputs& outputs) {
    ModelInputs inputs = inputs_of(call);
    const RowNumbers rows = first_rows(call.rows);
    std::string after;
    if (!other_rows_.empty()) {
      const OtherRows by = other_rows_.front();
      TFAOT_TRY(predict(runs, {call.rows, with_other_rows(inputs.arrays, rows, by)}));
      after = fmt::format(" after {}", word_of(by));
    }
    TFAOT_ASSIGN(const Outputs again, predict(runs, inputs));
    compare({BitsAspect::kRuns, call.level, fmt::format("{} again{}", call.text(), after),
             call.text(), rows},
            again, outputs);
    return {};
  }

  Status compare_places(Predictor& runs, const BitsCall& call, const Outputs& outputs) {
    const RowNumbers order = shuffled_rows(call.rows);
    TFAOT_ASSIGN(const Outputs shuffled, predict(runs, {call.rows, rows_of(inputs_, order)}));
    compare({BitsAspect::kPlaces, call.level, call.text() + " shuffled", call.text(), order},
            shuffled, rows_of(outputs, order));
    return {};
  }

  Status compare_neighbours(Predictor& runs, const BitsCall& call, const Outputs& outputs,
                            OtherRows by) {
    const std::int64_t kept_from = by == OtherRows::kInfinite ? 1 : 0;
    const RowNumbers kept = every_second(call.rows, kept_from);
    const RowNumbers others = every_second(call.rows, 1 - kept_from);
    TFAOT_ASSIGN(const Outputs beside,
                 predict(runs, {call.rows, with_other_rows(inputs_of(call).arrays, others, by)}));
    compare({BitsAspect::kNeighbours, call.level,
             fmt::format("{} beside {}", call.text(), word_of(by)), call.text(), kept},
            rows_of(beside, kept), rows_of(outputs, kept));
    return {};
  }

  Status compare_addresses(Predictor& runs, const BitsCall& call, const Outputs& outputs) {
    for (const Moved& moved : kMoved) {
      TFAOT_ASSIGN(const Outputs found, predict_moved(runs, inputs_of(call), moved));
      compare({BitsAspect::kAddresses, call.level,
               fmt::format("{}, inputs moved by {} and outputs by {} elements", call.text(),
                           moved.inputs, moved.outputs),
               call.text(), first_rows(call.rows)},
              found, outputs);
    }
    return {};
  }

  Status compare_threads(Predictor& runs, const BitsCall& call, const Outputs& outputs) {
    for (std::size_t threads = 2; threads <= kMostBitsThreads; ++threads) {
      for (const Shared shared : {Shared::kRows, Shared::kKernels}) {
        runs.share(shared, threads);
        TFAOT_ASSIGN(const Outputs found, predict(runs, inputs_of(call)));
        compare({BitsAspect::kThreads, call.level,
                 fmt::format("{}, {} threads share {}", call.text(), threads,
                             shared == Shared::kRows ? "rows" : "kernels"),
                 call.text(), first_rows(call.rows)},
                found, outputs);
      }
    }
    runs.share_nothing();
    return {};
  }

  // REQUIRES: both have what.rows, in this order.
  void compare(const ComparedCalls& what, const Outputs& found, const Outputs& expected) {
    ComparedBits& total = total_of(what.aspect);
    ++total.calls;
    total.rows += what.rows.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      total.numbers += found[i].bytes.size() / size_of(found[i].dtype);
      if (found[i].bytes == expected[i].bytes) continue;
      for (std::size_t place = 0; place < what.rows.size(); ++place) {
        const RowNumbers row = {static_cast<std::int64_t>(place)};
        const BitsDifference difference =
            compare_bits(rows_of({found[i]}, row).front(), rows_of({expected[i]}, row).front());
        if (difference.unequal == 0) continue;
        total.unequal += difference.unequal;
        add_difference(what, found[i].name, what.rows[place], difference);
        keep_chunk(what, place);
      }
    }
  }

  ComparedBits& total_of(BitsAspect aspect) {
    std::vector<ComparedBits>& all = result_.compared;
    const auto found = std::ranges::find(all, aspect, &ComparedBits::aspect);
    if (found != all.end()) return *found;
    const auto place = std::ranges::upper_bound(all, aspect, {}, &ComparedBits::aspect);
    return *all.insert(place, {.aspect = aspect});
  }

  void add_difference(const ComparedCalls& what, const std::string& output, std::int64_t row,
                      const BitsDifference& difference) {
    auto found = std::ranges::find_if(result_.differences, [&](const DifferentBits& one) {
      return one.aspect == what.aspect && one.cpu_level == what.level && one.output == output;
    });
    if (found == result_.differences.end()) {
      DifferentBits made;
      made.aspect = what.aspect;
      made.cpu_level = what.level;
      made.output = output;
      made.row = row;
      made.one = what.one;
      made.other = what.other;
      found = result_.differences.insert(found, std::move(made));
    }
    ++found->rows;
    found->numbers += difference.numbers;
    found->unequal += difference.unequal;
    found->nonfinite += difference.nonfinite;
    found->ulps = std::max(found->ulps, difference.ulps);
  }

  std::vector<std::int64_t> chunks_of(const BitsCall& call) const {
    return composes_ ? call.chunks() : std::vector{call.rows};
  }

  // Keeps the rows of the call's chunk with this row, if it is the first one that differs, and has
  // no padding.
  void keep_chunk(const ComparedCalls& what, std::size_t place) {
    const std::pair key(what.aspect, what.level);
    const bool is_batch = what.aspect == BitsAspect::kBatches;
    if (what.aspect != BitsAspect::kLevels && !is_batch) return;
    if (request_.model.empty() || what.chunks.empty() || chunks_.contains(key)) return;
    std::size_t start = 0;
    for (std::size_t i = 0;; ++i) {
      const std::int64_t size = what.chunks[std::min(i, what.chunks.size() - 1)];
      const std::size_t end = start + static_cast<std::size_t>(size);
      if (end > what.rows.size()) return;
      if (place < end) {
        const auto first = what.rows.begin() + static_cast<std::ptrdiff_t>(start);
        if (!is_batch || size > 1) chunks_[key] = RowNumbers(first, first + size);
        return;
      }
      start = end;
    }
  }

  // Compiles the model again, so only for rows that were compared in one call of a compiled size.
  Status find_operations(const std::vector<std::string>& levels) {
    result_.has_model = true;
    if (chunks_.empty()) return {};
    TFAOT_ASSIGN(spec_.model, model_source(context_, {request_.model}, std::move(spec_.model)));
    TFAOT_ASSIGN(FirstOperations first,
                 FirstOperations::create(context_, request_.engine, spec_, levels, inputs_));
    for (const auto& [what, rows] : chunks_) {
      const auto& [aspect, level] = what;
      std::optional<DifferentOperation> found;
      if (aspect == BitsAspect::kLevels) {
        TFAOT_ASSIGN(found, first.between_levels(level, lowest_beside(level), rows));
      } else if (manifest().batch_sizes.front() == 1) {
        TFAOT_ASSIGN(found, first.between_batches(level, rows));
      }
      if (!found) continue;
      found->aspect = aspect;
      found->cpu_level = level;
      found->size = std::ssize(rows);
      result_.operations.push_back(*std::move(found));
    }
    return {};
  }

  // The level that this one is compared with.
  const std::string& lowest_beside(const std::string& level) const {
    return std::ranges::find_if(result_.levels,
                                [&](const auto& group) { return contains(group, level); })
        ->front();
  }

  void add_hash(const std::string& level, const Outputs& outputs) {
    std::string sha256 = sha256_of_arrays(outputs);
    std::vector<LevelBits>& hashes = result_.summary.outputs;
    const auto found = std::ranges::find(hashes, sha256, &LevelBits::sha256);
    if (found == hashes.end()) {
      hashes.push_back({{level}, std::move(sha256)});
    } else {
      found->cpu_levels.push_back(level);
    }
  }

  Context& context_;
  const BitsRequest& request_;
  std::shared_ptr<const LoadedModel> model_;
  ModelSpec spec_;
  bool composes_ = true;
  std::vector<Array> inputs_;
  std::vector<OtherRows> other_rows_;  // for which the package ends
  std::vector<BitsCall> calls_;        // without levels
  // By aspect and level: rows of a call of a compiled size that differ.
  std::map<std::pair<BitsAspect, std::string>, RowNumbers> chunks_;
  std::size_t steps_ = 0;
  std::size_t done_ = 0;
  BitsResult result_;
};

}  // namespace

Result<BitsResult> validate_bits(Context& context, const BitsRequest& request) {
  TFAOT_ASSIGN(const FoundPackage found, find_validated(context, request.package, request.record));
  TFAOT_ASSIGN(LoadedPackage package, load_whole_package(context, found));
  TFAOT_ASSIGN(BitsResult result, BitsValidator(context, request, std::move(package)).run());
  result.path = found.path;
  return result;
}

Status record_bits(Context& context, const BitsRequest& request, const BitsResult& result) {
  return record_in_manifest(context, {result.path, result.manifest, request.package.allow_large},
                            [&](Manifest& manifest) { manifest.bits = result.summary; });
}

}  // namespace tfaot::toolkit
