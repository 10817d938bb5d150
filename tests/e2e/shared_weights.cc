// SPDX-License-Identifier: Apache-2.0
// A process that uses a model in a shared library: reads all of its weights, prints where they are,
// and runs until it is ended.
#include <unistd.h>

#include <cstdint>
#include <iostream>

#include "tfaot-model-many-weights/model.h"

int main() {
  const auto& description = tfaot_shared::many_weights::description();
  unsigned sum = 0;
  for (std::size_t i = 0; i < description.weights_bytes; ++i) {
    sum += description.weights[i];
  }
  std::cout << getpid() << ' ' << reinterpret_cast<std::uintptr_t>(description.weights) << ' '
            << description.weights_bytes << ' ' << sum << std::endl;
  for (;;) pause();
}
