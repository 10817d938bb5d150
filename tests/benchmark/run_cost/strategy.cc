// SPDX-License-Identifier: Apache-2.0
// Is the default strategy the fastest? For a batch of 64 rows (or argv[1]) it searches the
// compositions of compiled sizes: every size is timed, every composition is ranked by the sum of
// those times, and the best 30, and each size alone, are timed alternately. The fastest of them is
// then timed once more beside the default strategy, alternately, as what wins among so many has
// been lucky, too. Prints the shortest times, which other work on the machine changes least, and
// their ratio: at most about 1 when nothing is faster than the default.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include TFAOT_BENCHMARK_HEADER

namespace {

using Clock = std::chrono::steady_clock;
using M = TFAOT_BENCHMARK_MODEL;
using Sizes = std::vector<std::size_t>;
constexpr std::size_t kKept = 30;
constexpr int kRounds = 51;
constexpr std::chrono::microseconds kEnough(200);  // for a timing

struct Composition {
  Sizes sizes;
  double estimate = 0;
  std::vector<double> times = {};
};

// What a composition is timed with: a model with that rule, and a batch.
class Bench {
 public:
  explicit Bench(std::size_t rows)
      : rows_(rows),
        x_(rows * M::description().inputs[0].row_elements, 0.5F),
        y_(rows * M::description().outputs[0].row_elements) {}

  // Microseconds of a call. Without sizes by the default strategy.
  double time(const Sizes& sizes) {
    model_.set_batch_strategy({});
    if (!sizes.empty()) {
      std::size_t sum = 0;
      for (const std::size_t size : sizes) sum += size;
      model_.set_batch_rule(tfaot::BatchRule(rows_, sizes, sum - rows_));
    }
    model_.run(rows_, x_, y_);
    const Clock::time_point start = Clock::now();
    std::chrono::duration<double, std::micro> passed{};
    int calls = 0;
    for (; passed < kEnough; ++calls) {
      model_.run(rows_, x_, y_);
      passed = Clock::now() - start;
    }
    return passed.count() / calls;
  }
  const Sizes& sizes() const { return model_.batch_sizes(); }

 private:
  tfaot::native::Model<M> model_;
  std::size_t rows_;
  std::vector<float> x_;
  std::vector<float> y_;
};

double shortest(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

// Every composition with larger sizes first; too dear ones are left out on the way.
class Search {
 public:
  Search(const Sizes& sizes, const std::vector<double>& costs) : sizes_(sizes), costs_(costs) {}

  std::vector<Composition> best(std::size_t rows) {
    extend({}, 0, rows, sizes_.size() - 1);
    std::sort(found_.begin(), found_.end(), by_estimate);
    return found_;
  }

 private:
  static bool by_estimate(const Composition& a, const Composition& b) {
    return a.estimate < b.estimate;
  }
  void keep(Composition one) {
    found_.push_back(std::move(one));
    if (found_.size() <= kKept) return;
    found_.erase(std::max_element(found_.begin(), found_.end(), by_estimate));
  }
  void extend(Sizes sizes, double cost, std::size_t rest, std::size_t largest) {
    if (found_.size() == kKept &&
        cost >= std::max_element(found_.begin(), found_.end(), by_estimate)->estimate) {
      return;
    }
    if (rest == 0) return keep({std::move(sizes), cost});
    for (std::size_t i = largest + 1; i-- > 0;) {
      sizes.push_back(sizes_[i]);
      extend(sizes, cost + costs_[i], rest - std::min(rest, sizes_[i]), i);
      sizes.pop_back();
    }
  }

  Sizes sizes_;
  std::vector<double> costs_;
  std::vector<Composition> found_;
};

std::vector<Composition> candidates(std::size_t rows, const Sizes& sizes) {
  std::vector<double> costs;
  for (const std::size_t size : sizes) {
    Bench one(size);
    std::vector<double> times;
    for (int i = 0; i < kRounds; ++i) times.push_back(one.time({size}));
    costs.push_back(shortest(times));
  }
  std::vector<Composition> all = Search(sizes, costs).best(rows);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t count = (rows + sizes[i] - 1) / sizes[i];
    all.push_back({Sizes(count, sizes[i]), costs[i] * static_cast<double>(count)});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 64;
  Bench bench(rows);
  std::vector<Composition> all = candidates(rows, bench.sizes());
  for (int round = 0; round < kRounds; ++round) {
    for (Composition& one : all) one.times.push_back(bench.time(one.sizes));
  }
  Composition& best = *std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return shortest(a.times) < shortest(b.times);
  });
  Composition strategy;
  best.times.clear();
  for (int round = 0; round < 4 * kRounds; ++round) {
    strategy.times.push_back(bench.time(strategy.sizes));
    best.times.push_back(bench.time(best.sizes));
  }
  const double ours = shortest(strategy.times);
  const double theirs = shortest(best.times);
  std::printf("%zu rows, %zu compositions\ndefault strategy  %9.3f us\nbest composition  %9.3f us:",
              rows, all.size(), ours, theirs);
  for (const std::size_t size : best.sizes) std::printf(" %zu", size);
  std::printf("\ndefault / best    %9.3f\n", ours / theirs);
  return 0;
}
