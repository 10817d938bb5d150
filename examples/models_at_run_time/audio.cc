// SPDX-License-Identifier: Apache-2.0
// A callback as an audio driver calls it, every 1.3 ms: it may not allocate, or sound would break
// off. All memory is made by prepare(); a counter in place of malloc() shows that.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tfaot/runtime/models.h"

// glibc's own functions, under which ours count.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
namespace {
std::atomic<int> allocations{0};
void count() { ++allocations; }
}  // namespace
extern "C" {
void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? 12 : 0;  // ENOMEM
}
}

namespace {

constexpr std::size_t kFrames = 64;  // samples of a call, at 48 kHz

class Gate {
 public:
  explicit Gate(tfaot::LoadedModel model) : model_(std::move(model)) {}

  // Four samples are a row; the model's first output scales them.
  bool process(const std::array<float, kFrames>& in, std::array<float, kFrames>& out) {
    if (!model_.run(kFrames / 4, {{"x", in}}, {{"y", scores_}})) return false;
    for (std::size_t i = 0; i < kFrames; ++i) out[i] = in[i] * scores_[i / 4 * 2];
    return true;
  }
  const std::array<float, kFrames / 2>& scores() const { return scores_; }

 private:
  tfaot::LoadedModel model_;
  std::array<float, kFrames / 2> scores_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: audio AREA\n"), 2;
  auto model = tfaot::Models(argv[1]).load("minimal", ">=1");
  if (!model) return std::fprintf(stderr, "%s\n", model.error().text.c_str()), 1;
  if (const auto ready = model->prepare(kFrames / 4); !ready) {
    return std::fprintf(stderr, "%s\n", ready.error().text.c_str()), 1;
  }
  const int for_loading = allocations;
  Gate gate(*std::move(model));
  alignas(16) std::array<float, kFrames> in = {1.921875F, -1.6875F, -0.859375F, -0.390625F,
                                               -1.09375F, 0.40625F, 1.578125F,  -1.421875F};
  alignas(16) std::array<float, kFrames> out{};
  using Clock = std::chrono::steady_clock;
  Clock::duration longest{};
  constexpr int kCalls = 10000;
  const int before = allocations;
  for (int call = 0; call < kCalls; ++call) {
    const auto start = Clock::now();
    if (!gate.process(in, out)) return 1;
    longest = std::max(longest, Clock::now() - start);
  }
  const int in_calls = allocations - before;
  std::printf("audio y: %.9g %.9g %.9g %.9g\n", static_cast<double>(gate.scores()[0]),
              static_cast<double>(gate.scores()[1]), static_cast<double>(gate.scores()[2]),
              static_cast<double>(gate.scores()[3]));
  std::printf("%d allocations to load it, %d in %d calls, the longest of %.0f us\n", for_loading,
              in_calls, kCalls, std::chrono::duration<double, std::micro>(longest).count());
  return in_calls == 0 ? 0 : 1;
}
