// SPDX-License-Identifier: Apache-2.0
#include "shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tfaot::toolkit {
namespace {

constexpr std::array<std::string_view, 4> kStandardLibraries = {"libm.so.", "libstdc++.so.",
                                                                "libgcc_s.so.", "libc.so."};

int add_if_standard(dl_phdr_info* info, std::size_t, void* found) {
  const Path file = info->dlpi_name;
  const std::string name = file.filename().string();
  if (std::ranges::any_of(kStandardLibraries,
                          [&](std::string_view start) { return name.starts_with(start); })) {
    static_cast<std::vector<Path>*>(found)->push_back(file);
  }
  return 0;
}

std::string loader_error() {
  const char* const text = ::dlerror();
  return text == nullptr ? "no reason is known" : text;
}

}  // namespace

void SharedLibrary::Close::operator()(void* handle) const { ::dlclose(handle); }

Result<SharedLibrary> SharedLibrary::open(const Path& file) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(file, handle);
  return fail(Error::at({file.string()}, "the library cannot be loaded").note(loader_error()));
}

Result<void*> SharedLibrary::symbol(const std::string& name) const {
  if (void* const address = ::dlsym(handle_.get(), name.c_str()); address != nullptr) {
    return address;
  }
  return fail(Error::at({file_.string()}, fmt::format("the library has no symbol '{}'", name))
                  .note("the package's record is of another code"));
}

std::vector<Path> loaded_standard_libraries() {
  std::vector<Path> found;
  ::dl_iterate_phdr(add_if_standard, &found);
  return found;
}

}  // namespace tfaot::toolkit
