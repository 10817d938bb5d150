// SPDX-License-Identifier: Apache-2.0
// Usage: host local|global AREA LIBRARY COUNT PLUGIN: loads all models, which others see or not,
// runs them in 8 threads, and lets go of them in another order.
//        host chosen AREA RANGE...: prints which version of `twin` each range chooses.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tfaot-model-twin/model.h"
#include "tfaot/runtime/models.h"

namespace {

using Models = std::vector<tfaot::LoadedModel>;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}

template <class T>
T value_of(tfaot::Expected<T> result) {
  if (!result) fail(result.error().text);
  return *std::move(result);
}
void check(const tfaot::Expected<void>& result) {
  if (!result) fail(result.error().text);
}

// Of two rows, in the test's references.
const std::array<float, 8> kX = {1.921875F, -1.6875F, -0.859375F, -0.390625F,
                                 -1.09375F, 0.40625F, 1.578125F,  -1.421875F};

template <class Numbers>
void print(const std::string& label, const Numbers& y) {
  std::printf("%s y:", label.c_str());
  for (const float number : y) std::printf(" %.9g", static_cast<double>(number));
  std::printf("\n");
}

// y = n / 4 * x - n, for the model of each name.
bool is_right(tfaot::LoadedModel& model, int n, std::size_t rows) {
  std::vector<float> x(3 * rows);
  std::vector<float> y(3 * rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 64);
  if (!model.run(rows, {{"x", x}}, {{"y", y}})) return false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != static_cast<float>(n) / 4 * x[i] - static_cast<float>(n)) return false;
  }
  return true;
}

bool is_loaded(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(name) != std::string::npos;
}

// 8 threads, each with models of its own: half of them copies, half loaded again.
void run_in_threads(const tfaot::Models& library, const Models& models) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&, seed] {
      Models own;
      std::vector<int> numbers;
      for (std::size_t i = 0; i < models.size(); ++i) {
        numbers.push_back(static_cast<int>(i) + 1);
        own.push_back(seed % 2 == 0 ? value_of(models[i].another())
                                    : value_of(library.load("model_" + std::to_string(i + 1))));
      }
      std::mt19937 random(seed);
      while (!own.empty()) {
        const std::size_t i = random() % own.size();
        for (std::size_t rows = 1; rows < 10; ++rows) {
          if (!is_right(own[i], numbers[i], rows)) ++wrong;
        }
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(i));
        numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (wrong != 0) fail(std::to_string(wrong) + " calls are wrong");
  std::printf("%zu models are right in 8 threads\n", models.size());
}

void run_plugin(void* plugin) {
  using Predict = std::size_t (*)(const float*, std::size_t, float*);
  const auto predict = reinterpret_cast<Predict>(dlsym(plugin, "predict"));
  std::array<float, 2> y{};
  if (predict == nullptr || predict(kX.data(), 2, y.data()) != 2) fail("the plugin is wrong");
  print("plugin", y);
}

void run_twins(const tfaot::Models& area, void* plugin) {
  auto typed = value_of(area.load<tfaot_model::twin>("twin", "<1.1"));
  tfaot::LoadedModel second = value_of(area.load("twin", ">=1.1 <2"));
  tfaot::LoadedModel third = value_of(area.load("twin"));
  // The header is of a model with one output number: it does not fit version 2.
  if (area.load<tfaot_model::twin>("twin", ">=2")) fail("another signature was taken");
  std::array<float, 2> one{};
  tfaot_model::twin::Inputs inputs;
  inputs.x = kX;
  check(typed.run(2, inputs, {one}));
  print("1.0.0", one);
  check(second.run(2, {{"x", kX}}, {{"y", one}}));
  print("1.1.0", one);
  std::array<float, 4> two{};
  check(third.run(2, tfaot::inputs(kX), tfaot::outputs(two)));
  print("2.0.0", two);
  run_plugin(plugin);
  std::array<float, 2> again{};  // the plugin has changed nothing
  check(typed.run(2, inputs, {again}));
  print("again", again);
}

int choose(const std::string& area, int count, char** ranges) {
  for (int i = 0; i < count; ++i) {
    const auto model = tfaot::Models(area).load("twin", ranges[i]);
    std::printf("%s: %s\n", ranges[i],
                model ? std::string(model->version()).c_str() : model.error().text.c_str());
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string mode = words[1];
  const std::string area = words[2];
  if (mode == "chosen") return choose(area, count - 3, words + 3);
  const std::string library = words[3];
  std::vector<void*> opened;
  const auto open = [&](const std::string& file) {
    opened.push_back(
        dlopen(file.c_str(), RTLD_NOW | (mode == "global" ? RTLD_GLOBAL : RTLD_LOCAL)));
    if (opened.back() == nullptr) fail(dlerror());
  };
  for (const char* const version : {"2.0.0", "1.0.0", "1.1.0"}) {
    open(area + "/tfaot-model-twin/" + version + "/lib/twin.so");
  }
  open("./" + library);
  open(words[5]);
  run_twins(tfaot::Models(area), opened.back());
  {
    const tfaot::Models models(library);
    Models all;
    for (int n = 1; n <= std::atoi(words[4]); ++n) {
      all.push_back(value_of(models.load("model_" + std::to_string(n))));
    }
    run_in_threads(models, all);
    // The handles of dlopen() go first: the models keep their library.
    for (void* handle : opened) dlclose(handle);
    if (!is_loaded(library)) fail("the library is gone");
    if (is_loaded("twin.so") || is_loaded("plugin.so")) fail("an unused library stays");
    if (!is_right(all.back(), static_cast<int>(all.size()), 5)) fail("the last model is wrong");
  }
  if (is_loaded(library)) fail("the library stays");
  std::printf("nothing is loaded any more\n");
  return 0;
}
