// SPDX-License-Identifier: Apache-2.0
// Loads the plugin given as argument, as a framework does, and runs it.
#include <dlfcn.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: demoLoadPlugin PLUGIN\n";
    return 2;
  }
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* run = plugin == nullptr ? nullptr : dlsym(plugin, "produce");
  if (run == nullptr) {
    std::cerr << dlerror() << '\n';
    return 1;
  }
  reinterpret_cast<void (*)()>(run)();
  return 0;
}
