// SPDX-License-Identifier: Apache-2.0
// How evenly calls take their time, and what they ask the system for: a package's, and ONNX
// Runtime's beside it. Each call is followed by an empty loop of equal length, so that what the
// machine does hits both alike. Built and run by real_time.sh.
//   real_time CALLS                         the package
//   real_time CALLS LIBRARY MODEL.onnx      ONNX Runtime's shared library, in one thread
#include <dlfcn.h>
#include <sys/resource.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include TFAOT_HEADER
#include "tests/support/watched_calls.h"
#include "tfaot/runtime/model.h"

namespace {

using Model = tfaot::native::Model<TFAOT_CLASS>;

// ONNX Runtime's C interface: places in its table of functions, which never change.
class OnnxRuntime {
 public:
  OnnxRuntime(const char* library, const char* model, std::vector<float>& x,
              std::vector<float>& y) {
    struct ApiBase {
      void* const* (*get_api)(std::uint32_t version);
    };
    void* const handle = dlopen(library, RTLD_NOW);
    if (handle == nullptr) fail(dlerror());
    table_ = reinterpret_cast<const ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"))()->get_api(1);
    void *environment = nullptr, *options = nullptr, *memory = nullptr, *allocator = nullptr;
    call(3, 2, "tfaot", &environment);
    call(10, &options);
    call(24, options, 1);
    call(25, options, 1);
    call(23, options, 99);
    call(7, environment, model, options, &session_);
    call(69, 0, 0, &memory);
    call(78, &allocator);
    call(36, session_, std::size_t{0}, allocator, &input_);
    call(37, session_, std::size_t{0}, allocator, &output_);
    x_ = tensor(memory, x);
    y_ = tensor(memory, y);
  }

  void run() {
    call(9, session_, static_cast<void*>(nullptr), &input_, &x_, std::size_t{1}, &output_,
         std::size_t{1}, &y_);
  }

 private:
  void* tensor(void* memory, std::vector<float>& values) {
    const std::int64_t shape[] = {1, static_cast<std::int64_t>(values.size())};
    void* made = nullptr;
    call(49, memory, static_cast<void*>(values.data()), values.size() * sizeof(float), shape,
         std::size_t{2}, 1, &made);
    return made;
  }

  template <class... Arguments>
  void call(std::size_t entry, Arguments... arguments) {
    void* const status = reinterpret_cast<void* (*)(Arguments...)>(table_[entry])(arguments...);
    if (status != nullptr) fail(reinterpret_cast<const char* (*)(void*)>(table_[2])(status));
  }
  [[noreturn]] static void fail(const char* text) {
    std::fprintf(stderr, "ONNX Runtime: %s\n", text);
    std::exit(1);
  }

  void* const* table_ = nullptr;
  void *session_ = nullptr, *x_ = nullptr, *y_ = nullptr;
  char *input_ = nullptr, *output_ = nullptr;
};

void spin(std::uint64_t turns) {
  for (std::uint64_t i = 0; i < turns; ++i) asm volatile("" : : "r"(i));
}

template <class Call>
std::uint32_t ticks_of(const Call& call) {
  const std::uint64_t start = __rdtsc();
  call();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(__rdtsc() - start, UINT32_MAX));
}

template <class Call>
std::uint32_t median_ticks(const Call& call) {
  std::vector<std::uint32_t> ticks(10001);
  for (auto& one : ticks) one = ticks_of(call);
  std::nth_element(ticks.begin(), ticks.begin() + 5000, ticks.end());
  return ticks[5000];
}

void print(const char* name, std::vector<std::uint32_t>& ticks) {
  std::sort(ticks.begin(), ticks.end());
  const double median = ticks[ticks.size() / 2];
  std::printf("%-12s", name);
  for (const double share : {0.99, 0.999, 0.9999, 0.99999, 0.999999}) {
    const auto place = static_cast<std::size_t>(share * static_cast<double>(ticks.size() - 1));
    std::printf(" %9.2f", ticks[place] / median);
  }
  std::printf(" %9.0f", ticks.back() / median);
  for (const double times : {2.0, 10.0}) {
    const auto first =
        std::upper_bound(ticks.begin(), ticks.end(), static_cast<std::uint32_t>(median * times));
    std::printf(" %9ld", static_cast<long>(ticks.end() - first));
  }
  std::printf("\n");
}

template <class Call>
void measure(std::size_t calls, const Call& call) {
  const std::uint32_t length = median_ticks(call);
  std::uint64_t turns = 1;
  while (median_ticks([&] { spin(turns); }) < length) turns += 1 + turns / 20;
  std::vector<std::uint32_t> of_calls(calls), of_loops(calls);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const tfaot_test::AskedCalls asked = tfaot_test::asked_calls();
  for (std::size_t i = 0; i < calls; ++i) {
    of_calls[i] = ticks_of(call);
    of_loops[i] = ticks_of([&] { spin(turns); });
  }
  const tfaot_test::AskedCalls now = tfaot_test::asked_calls();
  getrusage(RUSAGE_SELF, &after);
  std::printf("%zu calls of %u ticks: %.3f allocations, %.3f locks, %.3f clocks a call\n", calls,
              length, static_cast<double>(now.allocations - asked.allocations) / calls,
              static_cast<double>(now.locks - asked.locks) / calls,
              static_cast<double>(now.clocks - asked.clocks) / calls);
  std::printf(
      "over the median    99 %%    99.9 %%   99.99 %%  99.999 %% 99.9999 %%   longest     "
      "2-fold   10-fold\n");
  print("calls", of_calls);
  print("empty loops", of_loops);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t calls = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 10'000'000;
  const tfaot::Description& description = TFAOT_CLASS::description();
  std::vector<float> x(description.inputs[0].row_elements, 0.5F);
  std::vector<float> y(description.outputs[0].row_elements);
  if (count > 3) {
    OnnxRuntime runtime(arguments[2], arguments[3], x, y);
    measure(calls, [&] { runtime.run(); });
  } else {
    Model model;
    model.prepare(1);
    measure(calls, [&] { model.run(1, x, y); });
  }
  return 0;
}
