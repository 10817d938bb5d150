// SPDX-License-Identifier: Apache-2.0
// Usage: host local|global PLUGIN...: loads all plugins, and then prints what each predicts.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

using Predict = std::size_t (*)(const float*, std::size_t, float*);

int main(int count, char** words) {
  const int mode = RTLD_NOW | (std::strcmp(words[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
  std::vector<void*> plugins;
  for (int i = 2; i < count; ++i) {
    plugins.push_back(dlopen(words[i], mode));
    if (plugins.back() == nullptr) return std::fprintf(stderr, "%s\n", dlerror());
  }
  const float x[] = {0.5f, -1.5f, 2.f, 0.25f, 1.f, 0.125f, -0.75f, 3.f, -2.f, 1.f, 0.f, 0.5f};
  for (std::size_t i = 0; i < plugins.size(); ++i) {
    const auto predict = reinterpret_cast<Predict>(dlsym(plugins[i], "predict"));
    if (predict == nullptr) return std::fprintf(stderr, "%s\n", dlerror());
    std::vector<float> y(100, 99.f);
    const std::size_t written = predict(x, 3, y.data());
    std::printf("%s:", words[i + 2]);
    for (std::size_t j = 0; j < written; ++j) std::printf(" %.6g", static_cast<double>(y[j]));
    std::printf("\n");
  }
  return 0;
}
