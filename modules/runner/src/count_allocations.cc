// SPDX-License-Identifier: Apache-2.0
// Preloaded into a runner: counts what the process asks the allocator for, and hands it on.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> allocated{0};

void count(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated.fetch_add(bytes, std::memory_order_relaxed);
}

// The allocator's own function; dlsym() itself allocates nothing.
template <class Function>
Function* next(std::atomic<Function*>& kept, const char* name) {
  Function* found = kept.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    kept.store(found, std::memory_order_relaxed);
  }
  return found;
}

using Malloc = void*(std::size_t);
using Calloc = void*(std::size_t, std::size_t);
using Realloc = void*(void*, std::size_t);
using Memalign = int(void**, std::size_t, std::size_t);

std::atomic<Malloc*> next_malloc{nullptr};
std::atomic<Calloc*> next_calloc{nullptr};
std::atomic<Realloc*> next_realloc{nullptr};
std::atomic<Calloc*> next_aligned_alloc{nullptr};
std::atomic<Memalign*> next_posix_memalign{nullptr};

}  // namespace

extern "C" {

void tfaot_allocation_counts(std::uint64_t* count, std::uint64_t* bytes) {
  *count = allocations.load();
  *bytes = allocated.load();
}

// The names of parameters in the C library's headers are reserved.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
void* malloc(std::size_t bytes) {
  count(bytes);
  return next(next_malloc, "malloc")(bytes);
}

void* calloc(std::size_t number, std::size_t bytes) {
  count(number * bytes);
  return next(next_calloc, "calloc")(number, bytes);
}

void* realloc(void* memory, std::size_t bytes) {
  count(bytes);
  return next(next_realloc, "realloc")(memory, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count(bytes);
  return next(next_aligned_alloc, "aligned_alloc")(alignment, bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count(bytes);
  return next(next_posix_memalign, "posix_memalign")(memory, alignment, bytes);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
