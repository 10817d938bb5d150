// SPDX-License-Identifier: Apache-2.0
// What run() adds to compiled code: a model whose entry function does next to nothing, called bare
// and through each API.
//   run_cost                 nanoseconds of a call, the smallest of many timings
//   run_cost WHAT CALLS      one loop alone, for counting its instructions: bare, native, named, or
//   none
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/unit/runtime/fake_model.h"

namespace {

using Clock = std::chrono::steady_clock;

alignas(64) float x[4] = {1, 2, 3, 4};
alignas(64) float y[4];

void entry(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  *static_cast<float*>(table[1]) = *static_cast<const float*>(table[0]);
}

}  // namespace

namespace tfaot_model {
class tiny : public plain_of<plain_bs<1, &entry>, plain_bs<2, &entry>> {
 public:
  struct Inputs {
    tfaot::Span<const float> x;

    using Types = tfaot::TensorList<tfaot::Tensor<float, 4>>;
    constexpr auto in_order() const noexcept { return std::tie(x); }
  };
  struct Outputs {
    tfaot::Span<float> y;

    using Types = tfaot::TensorList<tfaot::Tensor<float, 4>>;
    constexpr auto in_order() const noexcept { return std::tie(y); }
  };
};
}  // namespace tfaot_model

namespace {

// Through a pointer that the compiler cannot see through, as compiled code is called.
[[gnu::noinline]] void run_bare(std::size_t calls) {
  void* table[2] = {};
  tfaot::EntryFunction volatile function = &entry;
  for (std::size_t i = 0; i < calls; ++i) {
    table[0] = x;
    table[1] = y;
    function(y, nullptr, nullptr, table, nullptr, nullptr);
  }
}

[[gnu::noinline]] void run_native(tfaot::native::Model<tfaot_model::tiny>& model,
                                  std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) model.run(1, x, y);
}

[[gnu::noinline]] void run_named(tfaot::native::Model<tfaot_model::tiny>& model,
                                 std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) {
    tfaot_model::tiny::Inputs in;
    in.x = x;
    tfaot_model::tiny::Outputs out;
    out.y = y;
    model.run(1, in, out);
  }
}

template <class Loop>
double nanoseconds(const Loop& loop) {
  constexpr std::size_t kCalls = 100000;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Clock::time_point start = Clock::now();
    loop(kCalls);
    const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
    best = std::min(best, taken.count() / kCalls);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  tfaot::native::Model<tfaot_model::tiny> model;
  if (argc == 3) {
    const auto calls = static_cast<std::size_t>(std::atol(argv[2]));
    if (std::strcmp(argv[1], "bare") == 0) run_bare(calls);
    if (std::strcmp(argv[1], "native") == 0) run_native(model, calls);
    if (std::strcmp(argv[1], "named") == 0) run_named(model, calls);
    return 0;
  }
  const double bare = nanoseconds(run_bare);
  const double native = nanoseconds([&](std::size_t calls) { run_native(model, calls); });
  const double named = nanoseconds([&](std::size_t calls) { run_named(model, calls); });
  std::printf(
      "bare entry   %6.2f ns\nnative run   %6.2f ns\nnamed run    %6.2f ns\nrun() adds   %6.2f "
      "ns\n",
      bare, native, named, native - bare);
  return 0;
}
