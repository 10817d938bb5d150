// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/allocations.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  ++count;
  void* data = nullptr;
  if (::posix_memalign(&data, alignment, size == 0 ? 1 : size) != 0) throw std::bad_alloc();
  return data;
}

}  // namespace

namespace tfaot_test {

std::size_t allocations() noexcept { return count; }

}  // namespace tfaot_test

void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new[](std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
